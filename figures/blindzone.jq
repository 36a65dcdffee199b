# The largest relative error that the official tolerance cannot see, against the length of the reduction:
# t + t / (largest reference value) on one native draw. Then the published points.
def block($title; $lines): "\"\($title)\"", $lines[], "", "";
[inputs] | (map(select(.schema)) | map(.problem)) as $problems
| ( ["level1/023_softmax", "softmax"], ["level1/024_logsoftmax", "log-softmax"], ["level1/094_mseloss", "MSE loss"] ) as [$p, $title]
| . as $all | block($title; [
    range(0; $all | length) as $i | $all[$i] | select(.suite == "ladder-length")
    | select([$all[:$i][] | select(.schema)][-1].problem == $p)
    | [(.input | ltrimstr("length-x")), 0.01 + 0.01 / .ref_max] | @tsv ]),
  ( select($title == "MSE loss") | block("softmax, published"; [$P[0]["kernelbench-m"].blind_zone[] | [.reduction, .unseen_rel] | @tsv]) )
