load "figures/style.gp"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "terms in the reduction"
set ylabel "largest relative error that passes"
set key top left
plot data index 0 using 1:2 with linespoints linetype 1 title columnheader(1), \
     data index 1 using 1:2 with linespoints linetype 2 title columnheader(1), \
     data index 2 using 1:2 with linespoints linetype 3 title columnheader(1), \
     data index 3 using 1:2 with points linetype 4 pointsize 1 title columnheader(1)
