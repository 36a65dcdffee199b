# What the official check misses, by family.
def order: ["arithmetic", "index", "semantic", "boundary", "sync", "precision"];
def interval: if . == null then absent else "\(.[0] | percent)--\(.[1] | percent)" end;
"\\begin{tabular}{l rrr\(profiles | map(" rrrr") | add)}\\toprule",
(["", "\\multicolumn{3}{c}{published}"] + [profiles[] | "\\multicolumn{4}{c}{\(.)}"] | row),
(["family", "rules", "witnessed", "missed, \\%"] + [profiles[] | "rules", "witnessed", "missed, \\%", "95\\,\\% interval"] | row), "\\midrule",
(order[] as $k | published.families[$k] as $q
 | [$k, ($q.rules | count), ($q.witnessed | count), ($q.missed_share | percent)]
   + [profiles[] as $f | of($f).families[$k] | (.rules | count), (.witnessed | count), (.missed_share | percent), (.missed_interval | interval)] | row),
"\\midrule",
(["all", (published.rules | count), (published.official.witnessed | count), (published.official.missed_share | percent)]
 + [profiles[] as $f | of($f) | (.rules | length | count), (.mutants.witnessed | count), (.missed.share | percent), ""] | row),
"\\bottomrule\\end{tabular}"
