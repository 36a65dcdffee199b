load "figures/style.gp"
set ylabel "missed by the official check, %"
set yrange [0:100]
set style data histograms
set style histogram clustered gap 1
set xtics scale 0
set key top left
plot data using 2:xtic(1) title "published", data using 3 title "cpu"
