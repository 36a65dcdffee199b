of("cpu").missed as $m | $m.band[] | [.problems, .low * 100, .high * 100, $m.share * 100] | @tsv
