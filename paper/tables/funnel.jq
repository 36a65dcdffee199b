# The funnel: what becomes of every mutant.
def stages: [
  ["generated", "generated"], ["uncompilable", "\\quad not compilable"],
  ["equivalent", "\\quad equivalent (same code as the original)"], ["duplicate", "\\quad duplicate (same code as another mutant)"],
  ["indistinguishable", "\\quad indistinguishable (same bits on every input)"],
  ["distinguishable", "distinguishable"], ["witnessed", "\\quad witnessed"], ["quarantined", "\\quad quarantined"]];
"\\begin{tabular}{l r\(profiles | map(" r") | add)}\\toprule",
(["", "published"] + profiles | row), "\\midrule",
(stages[] as [$key, $name] | [$name, (published.mutants[$key] | count)] + [profiles[] as $f | of($f).mutants[$key] | count] | row),
"\\midrule",
(["problems", (published.problems | count)] + [profiles[] as $f | of($f).problems | length | count] | row),
"\\bottomrule\\end{tabular}"
