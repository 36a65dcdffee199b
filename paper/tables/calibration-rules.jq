# Other ways to set a tolerance, on the same rows.
def rules: [
  ["tolerance in use", (.headline | {buggy_rows, control_rows, flagged: .flagged_current, false_positives: .false_positives_current})],
  ["calibrated, absolute", (.headline | {buggy_rows, control_rows, flagged: .flagged_calibrated, false_positives: .false_positives_calibrated})],
  ["\\quad each run by the others", .leave_one_run_out.total],
  ["calibrated, relative", .scaled.relative],
  ["calibrated, $a+r\\,|x|$, at least", .scaled.sum.at_least],
  ["calibrated, $a+r\\,|x|$, at most", .scaled.sum.at_most],
  (("1e-4", "1e-2", "1", "10") as $ratio
   | ["calibrated, $t\\,(\($ratio | {"1e-4": "10^{-4}", "1e-2": "10^{-2}"}[.] // .)+|x|)$", [.scaled.ratios[] | select(.ratio == ($ratio | tonumber))][0]]),
  ["length of the sum times $\\varepsilon$", .bounds.totals.length],
  ["rounding bound, worst case", .bounds.totals.worst],
  ["rounding bound, 95\\,\\% probable", .bounds.totals.probable]];
def measured: columns - ["published"];
[calibration[measured[]] | rules] as $column
| "\\begin{tabular}{l\(" rr" * ($column | length))}\\toprule",
([""] + [measured[] | "\\multicolumn{2}{c}{\(column_name)}"] | row),
(["tolerance"] + [measured[] | "flagged, \\%", "rejected, \\%"] | row), "\\midrule",
(range($column[0] | length) as $i
 | [$column[0][$i][0], ($column[][$i][1] | ([.flagged, .buggy_rows] | share), ([.false_positives, .control_rows] | share))] | row),
"\\bottomrule\\end{tabular}"
