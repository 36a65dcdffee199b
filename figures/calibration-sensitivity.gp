load "figures/style.gp"
set xlabel "rows of correct kernels rejected, %"
set ylabel "buggy rows flagged, %"
set logscale x
set xrange [0.03:100]
set yrange [*:88]
set key top left
set linetype 5 linecolor rgb "#e69f00" linewidth 1.5
set linetype 6 linecolor rgb "#cc79a7" linewidth 1.5
plot for [k=0:5] data index k using 1:2 with lines linetype k+1 title columnheader(1), \
     data index 6 using 1:2 with lines linecolor rgb "#000000" linewidth 0.8 dashtype 2 title columnheader(1), \
     data index 3 using 1:3 with points linecolor rgb "#000000" pointtype 6 pointsize 0.9 title "published rule"
