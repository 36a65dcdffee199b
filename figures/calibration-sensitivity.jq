# Recall against false positives while the factor grows from 1 to 3: a block a percentile, then each run judged by the
# others. Column 3 marks the published rule.
def points: . as $c | range($c.factors | length) as $i
  | [100 * $c.false_positives[$i] / $c.control_rows, 100 * $c.flagged[$i] / $c.buggy_rows,
     (if $c.rule and $c.factors[$i] == 1.5 then 100 * $c.flagged[$i] / $c.buggy_rows else "nan" end)] | @tsv;
calibration.public
| (.sweep | .factors as $factors | .percentiles[] | select([.percentile] | inside([50, 75, 90, 95, 99, 100]))
   | "\"p = \(.percentile)\"", (. + {factors: $factors, rule: (.percentile == 95)} | points), "", ""),
  "\"p = 95, held out\"", (.leave_one_run_out.curve | points)
