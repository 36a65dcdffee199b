# The headline of the calibration study. The public script has its own idea of which entries are controls.
def documents: [["published", "published"], ["public_script", "as its script"], ["public", "corrected"], ["h200", "h200"], ["cpu", "cpu"]]
  | map(select(.[0] as $d | calibration | has($d)));
def lines_of: [
  ["buggy rows", "buggy_rows", null], ["\\quad flagged, tolerances in use", "flagged_current", "buggy_rows"],
  ["\\quad flagged, calibrated", "flagged_calibrated", "buggy_rows"], ["rows of correct kernels", "control_rows", null],
  ["\\quad rejected, tolerances in use", "false_positives_current", "control_rows"],
  ["\\quad rejected, calibrated", "false_positives_calibrated", "control_rows"]];
"\\begin{tabular}{l\(" r@{\\ }r" * (documents | length))}\\toprule",
(["", "", "", "\\multicolumn{4}{c}{public rows (H200)}"] + [documents[3:][] | "", ""] | row),
([""] + [documents[][1] | "\\multicolumn{2}{r}{\(.)}"] | row), "\\midrule",
(lines_of[] as [$name, $part, $whole]
 | [$name] + [documents[][0] as $d | calibration[$d].headline
     | (.[$part] | count), (if $whole then "(\([.[$part], .[$whole]] | share)\\,\\%)" else "" end)] | row),
"\\bottomrule\\end{tabular}"
