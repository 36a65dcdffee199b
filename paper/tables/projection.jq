# What a campaign of the published size would take at the rates measured on the H200.
def one: . * 10 + 0.5 | floor | "\(. / 10 | floor).\(. % 10)";
def duration: if . == null then absent elif . < 60 then "\(one) s" elif . < 3600 then "\(. / 60 | one) min" else "\(. / 3600 | one) h" end;
def rate: if . == null then absent elif . < 100 then one else . + 0.5 | floor | count end;
$s.projection as $j | published.campaign as $q |
"\\begin{tabular}{l r r}\\toprule",
(["", "a second", "\($j.mutants | count) mutants, \($j.evaluations | count) evaluations"] | row), "\\midrule",
(["compiling, on all cores of the machine", ($j.compile.mutants_per_s | rate), ($j.compile.compile_s | duration)],
 ["evaluating at small sizes, crashes and hangs among them", ($j.small.evaluations_per_s | rate), ($j.small.evaluate_s | duration)],
 ["evaluating at official sizes what the small ones do not kill", ($j.official.evaluations_per_s | rate), ($j.official.evaluate_s | duration)],
 ["what an evaluation costs at least: poison, launch, compare", ($j.bench.evaluations_per_s | rate), ($j.bench.evaluate_s | duration)] | row), "\\midrule",
(["published: the campaign, at official sizes, on an H100", "", "about \($q.gpu_hours) h"] | row),
"\\bottomrule\\end{tabular}"
