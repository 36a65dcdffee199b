# Why a mutant has another fate on the GPU; and those that no rule explains, by name.
def names: [
  ["race", "a race, in which the hardware nearly always keeps one order"],
  ["barrier", "not all threads reach a barrier or a warp operation; the GPU goes on, or hangs"],
  ["stray", "outside a buffer lies spare memory, another buffer, or a fault"],
  ["shared", "behind too short an array in shared memory, the same"],
  ["code", "its code is that of another or of the original to one compiler only"],
  ["unwritten", "what was never written is NaN, or left over"],
  ["rounding", "the last bits: contraction, fast functions, library"],
  ["alignment", "a vector is read where none may begin; the GPU faults"],
  ["tolerance", "wrong on both, by a tenth of the tolerance to ten times as much"],
  ["budget", "it ends, on one of them not within its budget of iterations or time"],
  ["unexplained", "none of these"]];
def cells($counted): [.mutants // 0] + if $counted then [.witnessed_cpu_only, .witnessed_h200_only, .killed_cpu_only, .killed_h200_only | . // 0]
                     else [null, null, null, null] end | map(count);
$s.disagreements as $d |
"\\begin{tabular}{l r rr rr}\\toprule",
(["", "", "\\multicolumn{2}{c}{witnessed}", "\\multicolumn{2}{c}{killed}"] | row),
(["reason", "mutants", "cpu", "h200", "cpu", "h200"] | row), "\\midrule",
(names[] as [$id, $means] | [$means] + ($d.reasons[$id] | cells($id != "code")) | row), "\\midrule",
(["all"] + ($d.parted | cells(true)) | row), "\\bottomrule\\end{tabular}",
($d.unexplained | select(. != []) | "\\par\\smallskip\\parbox{.9\\linewidth}{\\raggedright None of these: \(map(tex | "\\texttt{\(.)}") | join(", ")).}")
