load "figures/style.gp"
set logscale xy
set format x "10^{%L}"
set format y "10^{%L}"
set xlabel "scale of normal inputs"
set ylabel "critical tolerance of the correct kernel"
set yrange [1e-9:1e3]
set key off
set arrow from graph 0,first 0.01 to graph 1,first 0.01 nohead linecolor rgb "#d55e00" dashtype 2
set label "official tolerance" at graph 0.02,first 0.03 font "sans,7"
plot for [k=0:19] data index k using 1:2 with lines linetype 1 linewidth 0.7
