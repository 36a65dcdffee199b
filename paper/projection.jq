# What MUTANTS and EVALUATIONS would take at the rates that were measured on the GPU. $times is times.tsv and $bench what
# bench_gpu printed, as text; $small and $official count the evaluations that were run; inputs: the scores. Time is that of
# one GPU, in which inputs and references are made, too.
def MUTANTS: 10000;
def EVALUATIONS: 120000;
def ratio($a; $b): if $a and $b and $b > 0 then $a / $b else null end;

(reduce inputs as $score ({}; .[$score.problem] = $score.mutants.generated)) as $generated
| [$times / "\n" | .[] | select(. != "") / "\t" | {problem: .[0], step: .[1], seconds: (.[2] | tonumber)}] as $steps
# Problems compile side by side; the line `all` that follows them has the time of the whole.
| (reduce ($steps[] | select(.step == "compile")) as $s ({mutants: 0, seconds: 0, waiting: 0};
     if $s.problem == "all" then .mutants += .waiting | .seconds += $s.seconds | .waiting = 0
     else .waiting += ($generated[$s.problem] // 0) end)) as $compile
| def part($wanted; $evaluations):
    {evaluations_per_s: ratio($evaluations; [$steps[] | select(.step | IN($wanted[])).seconds] | add)}
    | .evaluate_s = ratio(EVALUATIONS; .evaluations_per_s)
    | .gpu_hours = if .evaluate_s then .evaluate_s / 3600 else null end;
{mutants: MUTANTS, evaluations: EVALUATIONS,
 compile: ({mutants_per_s: ratio($compile.mutants; $compile.seconds)} | .compile_s = ratio(MUTANTS; .mutants_per_s)),
 small: part(["witness"]; $small), official: part(["official-first", "official-others"]; $official),
 bench: ({evaluations_per_s: ([$bench | scan("(?:^|\n)small evaluations[^\n]*? ([0-9.]+) a second")[] | tonumber] | max)}
         | .evaluate_s = ratio(EVALUATIONS; .evaluations_per_s))}
