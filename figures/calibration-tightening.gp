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
set linetype 2 linecolor rgb "#d55e00" linewidth 1.5 pointtype 4 pointsize 0.7
set linetype 3 linecolor rgb "#009e73" linewidth 1.5 pointtype 8 pointsize 0.9
set linetype 4 linecolor rgb "#000000" linewidth 1.5 pointtype 12 pointsize 0.9
plot for [k=0:*] data index k using 2:0:ytic(1) with points linetype k+1 title columnheader(1)
