# What the rows of a GPU lack of today's mutants: those that are new, changed (the same edit of another text) and gone, by
# problem and in all. Inputs: the manifests of today, build/mutants/G/P.jsonl, and of the rows, build/h200/G/P/manifest.jsonl.
def of($manifest): map(select(.manifest == $manifest)) | INDEX(.id);
def lacks: of("mutants") as $now | of("h200") as $measured
  | {new: (($now | keys) - ($measured | keys) | length), gone: (($measured | keys) - ($now | keys) | length),
     changed: [$measured[] | select($now[.id] and $now[.id].sha256 != .sha256)] | length};
[inputs | select(.id) | {id, sha256} + (input_filename | capture("build/(?<manifest>mutants|h200)/(?<problem>[^/]+/[^/.]+)"))]
| group_by(.problem) | map({key: .[0].problem, value: lacks} | select(any(.value[]; . > 0))) | from_entries
| . as $problems | [{new: 0, changed: 0, gone: 0}, .[]]
| {new: map(.new) | add, changed: map(.changed) | add, gone: map(.gone) | add, problems: $problems}
