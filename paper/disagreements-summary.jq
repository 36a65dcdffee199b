# What build/summary.json says about where two profiles part. Input: build/h200/*/*/disagreements.json, in a list.
def ran: IN("indistinguishable", "quarantined", "missed", "killed");
def only($a; $b; $fates): map(select((.[$a] | IN($fates[])) and (.[$b] | ran and (IN($fates[]) | not)))) | length;
def count: {mutants: length, witnessed_cpu_only: only("cpu"; "h200"; ["missed", "killed"]),
            witnessed_h200_only: only("h200"; "cpu"; ["missed", "killed"]),
            killed_cpu_only: only("cpu"; "h200"; ["killed"]), killed_h200_only: only("h200"; "cpu"; ["killed"])};
(map(.judged) | add) as $judged | map(.mutants[])
| {judged: $judged, parted: count, reasons: (group_by(.reason) | map({key: .[0].reason, value: count}) | from_entries),
   unexplained: map(select(.reason == "unexplained") | "\(.problem) \(.mutant)")}
