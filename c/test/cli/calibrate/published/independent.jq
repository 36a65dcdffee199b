# The published calibration once more, in a few lines: rows in (slurped), one line of numbers for each cell.
# Usage: jq -rs --arg mode parity|corrected --slurpfile corpus corpus.json -f independent.jq
def even: floor as $f | if . - $f == 0.5 then $f + $f % 2 else round end;
def percentile($p): sort | .[$p * (length - 1) | even];
def above($t): map(select(.error > $t)) | length;
($corpus[0].entries | map({key: .name, value: .}) | from_entries) as $entry
| (["gelu", "l2norm", "leaky_relu", "rmsnorm", "silu", "softmax"] | map(. + "_triton_buggy") + ["softmax_llm_buggy"])
  as $paired
| map(select(.error_stats) | {kernel, dtype, passed, error: .error_stats.max_abs})
| group_by([.kernel, .dtype]) as $cells
| $cells[]
| .[0].kernel as $kernel | .[0].dtype as $dtype
| (if $mode == "parity" then $paired | index($kernel) != null else $entry[$kernel].kind == "buggy" end) as $buggy
| (if $buggy then $entry[$kernel].calibrate_against else $kernel end) as $control
| [$cells[][] | select(.kernel == $control and .dtype == $dtype and .passed) | .error] as $errors
| ($errors | percentile(0.95)) as $p95
| (1.5 * (if $mode == "corrected" and $p95 == 0 then [$errors[] | select(. > 0)] | min // 0 else $p95 end)) as $atol
| $entry[$kernel].tolerance[$dtype] as $now
| [$kernel, $dtype, length, $now, above($now), $atol, above($atol)]
  + (if $buggy then []
     else [($errors | length), ($errors | percentile(0.5)), (if $atol > 0 then $now / $atol else "exact" end)] end)
| map(tostring) | join(" ")
