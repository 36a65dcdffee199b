# Buggy rows that are flagged, with the tolerance in use and with the calibrated one.
def names: [("published", "public") as $c | calibration[$c].recall[] | [.kernel, .dtype]] | unique;
"\\begin{tabular}{l l\(" rrr" * (columns | length))}\\toprule",
(["", ""] + [columns[] | "\\multicolumn{3}{c}{\(column_name)}"] | row),
(["buggy kernel", "dtype"] + [columns[] | "rows", "in use, \\%", "calibr., \\%"] | row), "\\midrule",
(names[] as $n
 | [($n[0] | tex), $n[1]]
   + [columns[] as $c | kernel($c; "recall"; $n) | (.rows | count), ([.flagged_current, .rows] | share), ([.flagged_calibrated, .rows] | share)] | row),
"\\bottomrule\\end{tabular}"
