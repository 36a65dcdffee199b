# The protocol with the tolerances that our rows of the corpus's correct kernels justify, by operator.
# Input: build/calibration/cpu.json; $O: inputs/operators.json; $C: kernels/gpuemu/corpus.json.
(INDEX($C[0].entries[]; .name) | map_values(.operator)) as $operator
| ([.cells[] | select(.dtype == "float32")] | group_by($operator[.kernel])
   | map({key: $operator[.[0].kernel], value: map(.calibrated_atol) | max}) | from_entries) as $limit
| {schema: "assay/protocol", schema_version: "1.0", id: "calibrated",
   name: "calibrated tolerances by operator",
   means: "official draws; for an operator of the gpuemu corpus the largest calibrated float32 tolerance of its controls, else 1e-4",
   source: "the rule of gpuemu's calibration study on rows of its corpus, run here",
   suites: ["official"],
   accept: {rule: "max_abs", limit: 1e-4, limit_for: ($O[0].operators | map_values($limit[.]))},
   looks_at: []}
