# What all tables share. $s: build/summary.json; $p: results/published/papers.json.
def profiles: ["h200", "cpu"] - (["h200", "cpu"] - ($s.profiles | keys));
def of($profile): $s.profiles[$profile];
def published: $p["kernelbench-m"];
# Of the calibration study: its columns, what they are called, and one record of a list in one of them.
def calibration: $s.calibration;
def columns: ["published", "public", "h200", "cpu"] | map(select(. as $c | calibration | has($c)));
def column_name: {published: "published (RTX 3060)", public: "public rows (H200)", h200: "h200", cpu: "cpu"}[.];
def kernel($column; $list; $name): [calibration[$column][$list][]? | select([.kernel, .dtype] == $name)][0];

def tex: tostring | gsub("_"; "\\_") | gsub("%"; "\\%") | gsub("&"; "\\&");
def absent: "--";
# 12345 as 12\,345
def count: if . == null then absent else tostring | [match("^(\\d{1,3})((?:\\d{3})*)$").captures[].string]
           | .[0] + (.[1] | gsub("(?<d>\\d{3})"; "\\,\(.d)")) end;
# 0.1691 as 16.9
def percent: if . == null then absent
             else . * 1000 + 0.5 | floor | "\(. / 10 | floor).\(. % 10)" end;
# 2487.05 as 2.5e3
def short: if . == null then absent elif . == 0 then "0"
           elif type == "string" then .
           else (fabs | log10 | floor) as $e
           | if $e >= -2 and $e < 4 then (. * 1000 + 0.5 | floor) / 1000 | tostring
             else (. / pow(10; $e) * 10 + 0.5 | floor) as $m
             | if $m == 100 then "1.0\\cdot10^{\($e + 1)}" else "\($m / 10 | floor).\($m % 10)\\cdot10^{\($e)}" end
             | "$\(.)$" end end;
# [part, whole] as 16.9
def share: if .[0] == null or .[1] == null or .[1] == 0 then absent else .[0] / .[1] | percent end;
def row: join(" & ") + " \\\\";
def lines: join("\n");
