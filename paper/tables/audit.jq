# Every protocol on one denominator (no figure where a race was not looked for); then with the families weighed as in real faults.
def names: [
  ["kernelbench-v0.1", "KernelBench v0.1: 5 inputs, $10^{-2}$"],
  ["kernelbench-2025-11", "KernelBench since 2025-11: $10^{-4}$"],
  ["kbv-inputs", "KernelBench-Verified, its inputs alone"],
  ["kbv-tolerance", "KernelBench-Verified, its tolerance alone"],
  ["kbv", "KernelBench-Verified, whole"],
  ["robust-kbench-runner", "robust-kbench, runner: $10^{-3}$"],
  ["robust-kbench-api", "robust-kbench, API: $10^{-5}$"],
  ["fuzzer", "CI-style fuzzer"],
  ["flash-attention", "official inputs, FlashAttention's rule"],
  ["ggml-nmse", "official inputs, ggml's NMSE"],
  ["matched-ratio", "official inputs, 95\\,\\% matched"],
  ["kernelbench-v0.1-memcheck", "official and stray accesses"],
  ["kernelbench-v0.1-synccheck", "official and divergent barriers"],
  ["kernelbench-v0.1-racecheck", "official and races"],
  ["calibrated", "official inputs, calibrated by operator"],
  ["calibrated-abs", "official inputs, calibrated on the kernel, absolute"],
  ["calibrated-t", "official inputs, calibrated on the kernel, critical"],
  ["targeted", "all targeted inputs, $10^{-2}$"],
  ["best-1", "best input a problem"], ["best-2", "best 2 inputs"], ["best-3", "best 3 inputs"], ["best-5", "best 5 inputs"]];
"\\begin{tabular}{l rr\(profiles | map(" rrrr") | add)}\\toprule",
(["", "\\multicolumn{2}{c}{published}"] + [profiles[] | "\\multicolumn{4}{c}{\(.)}"] | row),
(["protocol", "killed, \\%", "false"] + [profiles[] | "killed, \\%", "as real", "with groups", "false"] | row), "\\midrule",
(names[] as [$k, $name] | published.audit.protocols[$k] as $q
 | [$name, ($q.share | percent), ($q.false_rejections | count)]
   + [profiles[] as $f | of($f) | (.protocols[$k].not_looked // 0) as $unseen
      | (.protocols[$k].share, .real_mix.as_read[$k], .real_mix.with_auto_groups[$k] | if $unseen > 0 then absent else percent end),
        (.protocols[$k].false_rejections | count)] | row),
"\\bottomrule\\end{tabular}"
