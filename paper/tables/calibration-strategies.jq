# The fuzzer's strategies: with a validator that fails any NaN, and with one that accepts those of the reference.
def names: [["default", "default"], ["boundary", "boundary"], ["regular", "regular"], ["f32", "single_dtype_f32"], ["f16", "single_dtype_f16"],
            ["nan_injected", "nan_injected"], ["adversarial", "adversarial"]];
def two: ([.flagged, .buggy_rows] | share), ([.false_positives, .control_rows] | share);
def find($list; $name): [$list[] | select(.strategy == $name)][0];
"\\begin{tabular}{l rr rr rr}\\toprule",
(["", "\\multicolumn{2}{c}{published, strict}", "\\multicolumn{2}{c}{cpu, strict}", "\\multicolumn{2}{c}{cpu, matching}"] | row),
(["strategy"] + [range(3) | "flagged, \\%", "rejected, \\%"] | row), "\\midrule",
(names[] as [$theirs, $ours] | find(calibration.cpu.strategies; $ours) as $c
 | [($theirs | tex), (find(calibration.published.strategies; $theirs) | two), ($c | two), ($c.matching | two)] | row),
"\\bottomrule\\end{tabular}"
