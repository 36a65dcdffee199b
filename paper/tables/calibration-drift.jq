# How far apart the tolerances of two columns are, and the first one's rows judged by the second one's tolerances.
def pairs: [["cpu", "h200", "machine", calibration.drift.cpu_h200], ["public", "published", "machine", null],
            ["h200", "public", "kernels", calibration.h200.drift], ["cpu", "public", "both", calibration.cpu.drift]]
  | map(select(.[0:2] - columns == []));
def factors($a; $b): [calibration[$a].cells[] | .calibrated_atol as $x | kernel($b; "cells"; [.kernel, .dtype]).calibrated_atol as $y
  | select($x != null and $y != null and $x > 0 and $y > 0) | $x / $y | if . < 1 then 1 / . else . end];
"\\begin{tabular}{l l l rrrr rr}\\toprule",
(["", "", "", "\\multicolumn{4}{c}{tolerances above 0}", "\\multicolumn{2}{c}{rows by the others'}"] | row),
(["calibrated on", "and on", "differ in", "both", "within 2", "within 10", "at most", "flagged, \\%", "rejected, \\%"] | row), "\\midrule",
(pairs[] as [$a, $b, $what, $drift] | factors($a; $b) as $f
 | [($a, $b | column_name), $what, ($f | length, (map(select(. <= 2)) | length), (map(select(. <= 10)) | length) | count), ($f | max + 0.5 | floor | count),
    ($drift.judged_by_other | ([.flagged, .buggy_rows] | share), ([.false_positives, .control_rows] | share))] | row),
"\\bottomrule\\end{tabular}"
