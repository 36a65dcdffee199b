load "figures/style.gp"
set ylabel "witnessed mutants killed, %"
set xlabel "inputs a problem"
set yrange [50:100]
set xrange [0.8:8.2]
set key bottom right
plot data using 1:2 with linespoints linetype 1 title "exact, whole pool", \
     data using 1:3 with linespoints linetype 2 title "held out", \
     data using 1:4 with linespoints linetype 4 title "published, whole pool", \
     data using 1:5 with lines linetype 3 dashtype 2 title "5 official inputs"
