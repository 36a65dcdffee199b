# Every rule's yield, as a table over several pages.
profiles[-1] as $f |
"\\begin{longtable}{l rrrr}\\toprule",
(["rule", "mutants", "witnessed", "missed", "quarantined"] | row), "\\midrule\\endhead",
(of($f).rules | to_entries | sort_by(.value.family, .key)[]
 | [(.key | tex | "\\texttt{\(.)}"), (.value.generated | count), (.value.witnessed | count), (.value.missed_official | count), (.value.quarantined | count)] | row),
"\\bottomrule\\end{longtable}"
