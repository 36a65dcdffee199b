load "figures/style.gp"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "calibrated on the H200"
set ylabel "calibrated elsewhere"
set key top left
plot x with lines linetype 4 linewidth 0.7 notitle, \
     data using 1:2 with points linetype 1 title "cpu", \
     data using 1:3 with points linetype 2 title "published (RTX 3060)"
