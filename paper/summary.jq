# build/summary.json: the summary of the cpu profile with what else there is, each in a list.
.profiles += $h200[0].profiles
| .profiles.h200.lacks = $lacks[0]
| .disagreements = $disagreements[0]
| .projection = $projection[0]
| .calibration = $calibration[0]
