load "figures/style.gp"
set terminal pdfcairo size 13cm,13cm font "sans,8" linewidth 1.2 rounded
set logscale x
set format x "10^{%L}"
set xlabel "tolerance in use / calibrated tolerance"
set ytics scale 0 font "sans,7" noenhanced
set yrange [-1:*]
set grid x y linewidth 0.3 linecolor rgb "#d0d0d0"
set key bottom right
set arrow from 1,graph 0 to 1,graph 1 nohead linecolor rgb "#999999"
plot data using 2:0:ytic(1) with points linetype 1 title "public rows (H200)", \
     data using 3:0 with points linetype 2 pointtype 4 pointsize 0.7 title "cpu", \
     data using 4:0 with points linetype 3 pointtype 8 pointsize 0.9 title "published (RTX 3060)"
