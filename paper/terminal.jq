# One problem's score, for the terminal.
def percent($of): if $of == 0 then "" else "  \(. * 1000 / $of + 0.5 | floor | "\(. / 10 | floor).\(. % 10)") %" end;
def line($name; $value): "  \($name)\(" " * (34 - ($name | length)))\($value)";
.mutants as $m | .protocols as $k |
"\(.problem)",
(("generated", "uncompilable", "equivalent", "duplicate", "indistinguishable", "distinguishable", "witnessed", "quarantined") | line(.; $m[.])),
"killed, of \($m.witnessed) witnessed:",
($k | to_entries[] | select(.value.inputs > 0) | line(.key; "\(.value.killed)\(.value.killed | percent($m.witnessed))\(if .value.false_rejections > 0 then "   rejects the correct kernel \(.value.false_rejections) times" else "" end)")),
"missed by the official check:",
([.fates[] | select(.status == "witnessed" and (.class | startswith("killed") | not))] | group_by(.class)[] | line(.[0].class; length)),
"  show one: build/bin/mutate --diff ID KERNEL.cu, such as \([.fates[] | select(.status == "witnessed" and (.class | startswith("killed") | not))][0].id // "none")"
