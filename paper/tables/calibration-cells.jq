# The tolerance that each correct kernel earns, and how much tighter it is than the one in use.
def names: [("published", "public") as $c | calibration[$c].cells[] | [.kernel, .dtype]] | unique;
def factor: if . == null then absent elif . >= 10 then . + 0.5 | floor | count else . * 10 + 0.5 | floor | . / 10 | tostring end;
def short_names: columns | map({published: "publ."}[.] // .);
def all($what): "\\multicolumn{\(columns | length)}{c}{\($what)}";
"\\begin{tabular}{l l r @{\\quad}\("r" * (columns | length)) @{\\quad}r @{\\quad}\("r" * (columns | length))}\\toprule",
(["", "", "", all("calibrated"), "public 95\\,\\%", all("times tighter")] | row),
(["kernel", "dtype", "in use"] + short_names + ["interval"] + short_names | row), "\\midrule",
(names[] as $n | kernel("public"; "cells"; $n) as $h
 | [($n[0] | tex), $n[1], ($h.current_atol | short)]
   + [columns[] as $c | kernel($c; "cells"; $n).calibrated_atol | short]
   + [$h.calibrated_atol_interval | if . == null then absent elif .low == .high then "point" else "\(.low | short) to \(.high | short)" end]
   + [columns[] as $c | kernel($c; "cells"; $n).tightening | factor] | row),
"\\bottomrule\\end{tabular}"
