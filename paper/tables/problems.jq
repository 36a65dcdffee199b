# Problem by problem: what the official check misses, what it could see, and where the ceiling is.
def name: split("/") | (.[0] | ltrimstr("level")) + "/" + (.[1] | split("_") | .[0]) + " " + (.[1] | split("_") | .[1:5] | join(" "));
profiles[-1] as $f |
"\\begin{tabular}{l rrr l rr}\\toprule",
(["problem", "witnessed", "missed", "\\%", "zeros pass", "blind error", "ceiling"] | row), "\\midrule",
(of($f).problems | to_entries | sort_by(-(.value.missed_share // 0))[]
 | [(.key | name), (.value.mutants.witnessed | count), (.value.missed_official | count), (.value.missed_share | percent),
    (if .value.official.zero_passes then "yes" else "no" end), (.value.official.blind_rel | short), (.value.ceiling | short)] | row),
"\\bottomrule\\end{tabular}"
