load "figures/style.gp"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "calibrated on the public rows (H200)"
set ylabel "calibrated elsewhere"
set key top left
plot x with lines linetype 4 linewidth 0.7 notitle, \
     for [k=0:*] data index k using 1:2 with points linetype k+1 title columnheader(1)
