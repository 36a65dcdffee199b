# The same lines from calibrate's JSON.
(.cells | map({key: (.kernel + .dtype), value: .}) | from_entries) as $cell
| [.recall[], .false_positives[]] | sort_by([.kernel, .dtype])[]
| $cell[.kernel + .dtype] as $c
| (if has("flagged_current") then [.flagged_current, .flagged_calibrated] else [.false_positives_current, .false_positives_calibrated] end)
  as [$now, $calibrated]
| [.kernel, .dtype, .rows, .current_atol, $now, .calibrated_atol, $calibrated]
  + (if has("flagged_current") then [] else [$c.n_passing, $c.p50_abs, $c.tightening // "exact"] end)
| map(tostring) | join(" ")
