["arithmetic", "index", "semantic", "boundary", "sync", "precision"][] as $k
| [$k, published.families[$k].missed_share * 100, (of("cpu").families[$k].missed_share // 0) * 100] | @tsv
