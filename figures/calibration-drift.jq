# Calibrated tolerances above 0: of the public rows from an H200 and of the same cells elsewhere, a block a column.
def tolerance($column): kernel($column; "cells"; [.kernel, .dtype]).calibrated_atol // 0;
["cpu", "published", "h200"] - (["cpu", "published", "h200"] - columns) | .[] as $c
| ($c | column_name), (calibration.public.cells[] | [tolerance("public"), tolerance($c)] | select(min > 0) | @tsv), "", ""
