# Why the official check misses what it misses, and what the quarantined ones are; no figure for races where no oracle looked.
def classes: [
  ["survivors", "blind_zone", "the error is there, within the tolerance"],
  ["survivors", "value", "no official value shows it, others of the same sizes do"],
  ["survivors", "size", "only inputs of other sizes show it"],
  ["survivors", "memory", "it strays, diverges or writes an input; no value shows it"],
  ["survivors", "schedule", "it races; its values are luck"],
  ["quarantined", "below_tolerance", "wrong, nowhere by more than the tolerance"],
  ["quarantined", "rounding", "as near to the reference as the original"],
  ["quarantined", "race", "it races"],
  ["quarantined", "memory", "it strays, diverges or writes an input"],
  ["indistinguishable", "silent", "nothing was seen"],
  ["indistinguishable", "race", "it races"],
  ["indistinguishable", "memory", "it strays, diverges or writes an input"]];
"\\begin{tabular}{l l\(profiles | map(" r") | add)}\\toprule",
(["status", "mechanism"] + profiles | row), "\\midrule",
(classes[] as [$status, $class, $means] | [$status, $means] + [profiles[] as $f | of($f)
     | if ($class | . == "race" or . == "schedule") and .protocols["kernelbench-v0.1-racecheck"].not_looked > 0 then absent
       else .[$status][$class] // 0 | count end] | row),
"\\bottomrule\\end{tabular}"
