# Times tighter than the tolerance in use, by cell: H200, cpu, published.
[("public", "cpu") as $c | calibration[$c].cells[] | select(.tightening) | [.kernel, .dtype]] | unique
| map(. as $n | [($n[0] + " " + $n[1])] + [("public", "cpu", "published") as $c | kernel($c; "cells"; $n).tightening // "nan"])
| sort_by(.[1:3] | map(numbers) | max)[] | @tsv
