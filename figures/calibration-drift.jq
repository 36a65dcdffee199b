# Calibrated tolerances of three machines: H200, cpu, published.
[calibration.public.cells[] | [.kernel, .dtype]]
| map(. as $n | [("public", "cpu", "published") as $c | kernel($c; "cells"; $n).calibrated_atol | if . == null or . == 0 then "nan" else . end])[] | @tsv
