# The one style of all figures: readable in print, in grey too. A figure's script loads it, sets its labels and
# plots files that Make has built; nothing is computed in gnuplot.
set terminal pdfcairo size 8.6cm,5.6cm font "sans,8" linewidth 1.2 rounded
set encoding utf8
set datafile separator "\t"
set border 3 linewidth 0.6
set tics nomirror out scale 0.5
set key top right samplen 1.5 spacing 1.1
set grid y linewidth 0.3 linecolor rgb "#d0d0d0"
set style fill solid 0.85 noborder
# Okabe and Ito's colours, told apart by the colour-blind; different greys in print
set linetype 1 linecolor rgb "#0072b2" linewidth 1.5 pointtype 7 pointsize 0.45
set linetype 2 linecolor rgb "#d55e00" linewidth 1.5 pointtype 5 pointsize 0.45
set linetype 3 linecolor rgb "#009e73" linewidth 1.5 pointtype 9 pointsize 0.5
set linetype 4 linecolor rgb "#999999" linewidth 1.5 pointtype 13 pointsize 0.5
