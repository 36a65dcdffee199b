# Inputs a problem that are needed, chosen greedily and exactly, on the whole pool and held out.
"\\begin{tabular}{l rr\(profiles | map(" rrr") | add)}\\toprule",
(["", "\\multicolumn{2}{c}{published}"] + [profiles[] | "\\multicolumn{3}{c}{\(.)}"] | row),
(["inputs a problem", "pool", "held out"] + [profiles[] | "greedy", "exact", "held out"] | row), "\\midrule",
("1", "2", "3", "5", "8" | . as $k | published.setcover as $q
 | [$k, ($q.pool[$k] | percent), ($q.heldout[$k] | percent)]
   + [profiles[] as $f | of($f).setcover | (.greedy.pool[$k] | percent), (.pool[$k] | percent), (.heldout[$k] | percent)] | row),
"\\midrule",
(published.setcover.official as $q | ["5 official", ($q.pool | percent), ($q.heldout | percent)]
   + [profiles[] as $f | of($f).setcover.official | "", (.pool | percent), (.heldout | percent)] | row),
"\\bottomrule\\end{tabular}"
