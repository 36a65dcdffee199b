of("cpu").setcover as $c
| ("1", "2", "3", "5", "8") as $k
| [$k, ($c.pool[$k], $c.heldout[$k], published.setcover.pool[$k], $c.official.pool | if . == null then "nan" else . * 100 end)] | @tsv
