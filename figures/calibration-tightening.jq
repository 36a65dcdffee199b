# Times tighter than the tolerance in use, by cell, a block a column.
([("public", "cpu") as $c | calibration[$c].cells[] | select(.tightening) | [.kernel, .dtype]] | unique
 | sort_by([kernel("public", "cpu"; "cells"; .).tightening | numbers] | max)) as $names
| ["public", "cpu", "published", "h200"] - (["public", "cpu", "published", "h200"] - columns) | .[] as $c
| ($c | column_name), ($names[] | [join(" "), (kernel($c; "cells"; .).tightening // "nan")] | @tsv), "", ""
