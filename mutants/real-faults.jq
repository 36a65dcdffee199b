# Fails when a rule names a real fault that there is not. $faults: results/published/real-faults.json, in a list; inputs: the
# rules as `mutate --list-rules --json` prints them.
[$faults[0].sub_classes[].name] as $known
| [inputs | .id as $id | .real[] | select(IN($known[]) | not) | "\($id): 'real' names no real fault: \(.)\n"]
| select(. != []) | add | halt_error(1)
