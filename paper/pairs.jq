# The cases that the CPU and a GPU have both run: the same kernel on the same inputs. Input: rows of fuzz behind their
# headers, numbers that are not finite in quotes.
def case: "\(.kernel) \(.dtype) \(.strategy) \(.layout) \(.seed) \(.iteration)";
def verdicts: [.passed, .passed_matching];
def close($a; $b): $a == $b or (($a | type) == "number" and ($b | type) == "number" and $a <= 2 * $b and $b <= 2 * $a);
[foreach inputs as $line (null;
   if $line.schema then {backend: $line.backend} else {backend, row: $line} end;
   select(.row) | {backend, case: (.row | case), verdicts: (.row | verdicts), error_stats: .row.error_stats})]
| group_by(.case) | map(INDEX(.backend) | select(.cpu and .cuda))
| {cases: length,
   same_verdicts: map(select(.cpu.verdicts == .cuda.verdicts)) | length,
   same_errors: map(select(.cpu.error_stats == .cuda.error_stats)) | length,
   close_errors: map(select(close(.cpu.error_stats.max_abs; .cuda.error_stats.max_abs))) | length}
