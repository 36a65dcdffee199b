load "figures/style.gp"
set terminal pdfcairo size 12cm,7cm font "sans,8" linewidth 1.2 rounded
set xlabel "missed by the official check, %"
set xrange [0:100]
set yrange [*:*] reverse
set grid x noy
set key off
set ytics scale 0 font "sans,7"
set boxwidth 0.7
plot data using (0.5*$2):0:(0.5*$2):(0.35):ytic(1) with boxxyerror linetype 1
