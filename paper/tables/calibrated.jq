# Calibrated tolerances as protocols, beside those that they would replace.
def names: [
  ["kernelbench-v0.1", "KernelBench v0.1: $10^{-2}$", "official draws"],
  ["kernelbench-2025-11", "KernelBench since 2025-11: $10^{-4}$", "official draws"],
  ["calibrated", "absolute, by operator of the corpus", "official draws"],
  ["calibrated-abs-draws", "absolute, from the other official draws", "official draws"],
  ["calibrated-abs", "absolute, from all other inputs", "official draws"],
  ["calibrated-t-draws", "critical, from the other official draws", "official draws"],
  ["calibrated-t", "critical, from all other inputs", "official draws"],
  ["calibrated-abs-all", "absolute, from all other inputs", "all inputs"],
  ["calibrated-t-all", "critical, from all other inputs", "all inputs"]];
"\\begin{tabular}{l l rrrr r@{ of }l}\\toprule",
(["tolerance", "run on", "killed, \\%", "recovered", "of the missed, \\%", "lost", "\\multicolumn{2}{c}{false rejections}"] | row), "\\midrule",
(names[] as [$id, $name, $inputs] | of("cpu").protocols[$id] as $k | calibration.protocols[$id] as $r
 | [$name, $inputs, ($k.share | percent), ($r.recovered | count), ([$r.recovered, $r.missed] | share), ($r.lost | count),
    ($k.false_rejections | count), ($k.inputs | count)] | row),
"\\bottomrule\\end{tabular}"
