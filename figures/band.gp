load "figures/style.gp"
set ylabel "missed, % (90 % bootstrap band)"
set xlabel "problems drawn"
set yrange [0:*]
set xrange [1:*]
plot data using 1:2:3 with filledcurves linecolor rgb "#0072b2" fillstyle solid 0.25 title "cpu", \
     data using 1:4 with lines linetype 1 title "all problems"
