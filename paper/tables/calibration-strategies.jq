# The fuzzer's strategies: with a validator that fails any NaN, and with one that accepts those of the reference.
def names: [["default", "default"], ["boundary", "boundary"], ["regular", "regular"], ["f32", "single_dtype_f32"], ["f16", "single_dtype_f16"],
            ["nan_injected", "nan_injected"], ["adversarial", "adversarial"]];
def two: ([.flagged, .buggy_rows] | share), ([.false_positives, .control_rows] | share);
def find($list; $name): [$list[] | select(.strategy == $name)][0];
def measured: columns - ["published", "public"];
"\\begin{tabular}{l rr\(" rr rr" * (measured | length))}\\toprule",
(["", "\\multicolumn{2}{c}{published, strict}"] + [measured[] | . + (", strict", ", matching") | "\\multicolumn{2}{c}{\(.)}"] | row),
(["strategy"] + [range(1 + 2 * (measured | length)) | "flagged, \\%", "rejected, \\%"] | row), "\\midrule",
(names[] as [$theirs, $ours]
 | [($theirs | tex), (find(calibration.published.strategies; $theirs) | two)]
   + [find(calibration[measured[]].strategies; $ours) | two, (.matching | two)] | row),
"\\bottomrule\\end{tabular}"
