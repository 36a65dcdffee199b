# Where the cpu and the h200 profile give a mutant of one problem different fates, and why: the first rule of `reason` that
# holds. $cpu and $h200 are the scores, $cpu_rows and $h200_rows the rows of these mutants, $race what the CPU's race oracle
# saw of them, each in a list.
def fate: if .status != "witnessed" then .status elif .class | startswith("killed") then "killed" else "missed" end;
def by_mutant: group_by(.mutant) | map({key: .[0].mutant, value: .}) | from_entries;
def letters($score): [$score.inputs, ((.inputs // "") / "")] | transpose | map({key: .[0].input, value: .[1]}) | from_entries;

# The inputs that part the two: where one fails and the other does not; without any, where one differs and the other does not.
def parting($a; $b; $suites):
  [$cpu[0].inputs[] | select(.suite | test($suites)).input]
  | map(select(($a[.] | IN("x", "t")) != ($b[.] | IN("x", "t")))), map(select($a[.] != $b[.]))
  | select(. != []);

def reason:
  if any(.cpu, .h200; IN("uncompilable", "equivalent", "duplicate")) then "code"
  elif any(.rows[].detail; . // "" | test("MISALIGNED")) then "alignment"
  elif .rule | test("^boundary/(shared_.*_short|bytes_for_elements)$") then "shared"
  elif any(.rows[].detail; . // "" | test("^access |ILLEGAL_ADDRESS")) or any(.parting[]; .stray_read or .stray_write) then "stray"
  elif any(.rows[]; .divergence or .outcome == "deadlock") or .rule == "sync/barrier_in_condition" then "barrier"
  elif [.parting[] | select(.outcome != "finished" and (.detail | startswith("not run") | not)).outcome] | unique == ["timeout"] then "budget"
  elif .race then "race"
  elif any(.parting[]; .nonfinite > 0) or (.rule | IN("semantic/zero_not_written", "sync/shared_dropped")) then "unwritten"
  elif .parting != [] and all(.parting[].t; type == "number" and . >= 1e-3 and . <= 1e-1) then "tolerance"
  elif all(.cpu, .h200; IN("indistinguishable", "quarantined")) then "rounding"
  elif .family == "sync" then "race"
  else "unexplained" end;

INDEX($h200[0].fates[]; .id) as $there | ($cpu_rows | by_mutant) as $cpu_of | ($h200_rows | by_mutant) as $h200_of
| INDEX($race[] | select(.race); .mutant) as $races
| def compared: . as $c | $there[.id] as $h
    | {problem: $cpu[0].problem, mutant: .id, family, rule, cpu: fate, h200: ($h | fate)} | select(.cpu != .h200)
    | (if [.cpu, .h200] - ["killed", "missed"] == [] then "^official$" else "" end) as $suites
    | [first(parting($c | letters($cpu[0]); $h | letters($h200[0]); $suites))[]] as $inputs
    | .rows = [($cpu_of, $h200_of)[.mutant] | .[]?] | .parting = [.rows[] | select(.input | IN($inputs[]))]
    | .race = $races[.mutant] != null
    | .reason = reason | del(.rows, .parting, .race, .rule);
  [$cpu[0].fates[] | select($there[.id])] | {judged: length, mutants: map(compared)}
