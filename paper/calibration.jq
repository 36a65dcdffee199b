# What build/summary.json says about calibration. Input: the scores. $published, $public, $parity, $cpu and $strategies are
# documents of calibrate's form, $operators is inputs/operators.json, each in a list of one. So are $h200, $h200_strategies,
# $cpu_h200 (the cpu's rows against the H200's) and $pairs (of pairs.jq), or in an empty list: there are no such rows.

# Of one score: what the official check misses, what of that a protocol kills, and what it loses.
def against_official($id):
  (.protocols | keys) as $keys | ($keys | index("kernelbench-v0.1")) as $o | ($keys | index($id)) as $k
  | [.fates[] | select(.status == "witnessed").protocols | [.[$o:$o + 1], .[$k:$k + 1]] | map(test("[xt]"))]
  | {missed: map(select(.[0] | not)) | length, recovered: map(select(. == [false, true])) | length,
     lost: map(select(. == [true, false])) | length};
def sums: . as $all | reduce (.[0] | keys[]) as $key ({}; .[$key] = ([$all[][$key]] | add));
def body: del(.schema, .schema_version, .provenance);

[inputs] as $scores
| ([$scores[0].protocols | keys[] | . as $id | {key: $id, value: [$scores[] | against_official($id)] | sums}] | from_entries) as $protocols
| {published: ($published[0] | body), public: ($public[0] | body), public_script: ($parity[0] | body),
   cpu: ($cpu[0] | body | .strategies = $strategies[0].strategies)}
  + (if $h200 == [] then {} else {h200: ($h200[0] | body | .strategies = $h200_strategies[0].strategies),
                                  drift: {cpu_h200: ($cpu_h200[0].drift | {judged_by_other})}, pairs: $pairs[0]} end)
  + {protocols: $protocols,
   problems_with_operator: ([$scores[].problem | select($operators[0].operators[.])] | length)}
