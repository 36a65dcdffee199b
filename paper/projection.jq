# What MUTANTS and EVALUATIONS would take at the rates that were measured on the GPU. $times is times.tsv and $bench what
# bench_gpu printed, as text; $small and $official count the evaluations that were run; inputs: the scores. Time is that of
# one GPU. Inputs and references are made once a problem, so their time goes with the mutants.
def MUTANTS: 10000;
def EVALUATIONS: 120000;
def ratio($a; $b): if $a and $b and $b > 0 then $a / $b else null end;

(reduce inputs as $score ({}; .[$score.problem] = $score.mutants.generated)) as $generated
| [$times / "\n" | .[] | select(. != "") / "\t" | {problem: .[0], step: .[1], seconds: (.[2] | tonumber)}] as $steps
# Problems compile side by side; the line `all` that follows them has the time of the whole.
| (reduce ($steps[] | select(.step == "compile")) as $s ({mutants: 0, seconds: 0, waiting: 0};
     if $s.problem == "all" then .mutants += .waiting | .seconds += $s.seconds | .waiting = 0
     else .waiting += ($generated[$s.problem] // 0) end)) as $compile
| def seconds($step): [$steps[] | select(.step == $step).seconds] | add;
  def mutants($step): [$steps[] | select(.step == $step).problem] | unique | map($generated[.] // 0) | add;
  def part($gate; $witness; $evaluations):
    {evaluations_per_s: ratio($evaluations; seconds($witness)), prepare_s: ratio(MUTANTS; ratio(mutants($gate); seconds($gate)))}
    | .evaluate_s = ratio(EVALUATIONS; .evaluations_per_s)
    | .gpu_hours = if .prepare_s and .evaluate_s then (.prepare_s + .evaluate_s) / 3600 else null end;
{mutants: MUTANTS, evaluations: EVALUATIONS,
 compile: ({mutants_per_s: ratio($compile.mutants; $compile.seconds)} | .compile_s = ratio(MUTANTS; .mutants_per_s)),
 small: part("gate"; "witness"; $small), official: part("official-gate"; "official-witness"; $official),
 bench: ({evaluations_per_s: ([$bench | scan("(?:^|\n)small evaluations[^\n]*? ([0-9.]+) a second")[] | tonumber] | max)}
         | .evaluate_s = ratio(EVALUATIONS; .evaluations_per_s))}
