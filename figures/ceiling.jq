# The critical tolerance of each correct kernel on normal inputs of growing scale, a block a problem.
inputs | if .schema then ("", "", .problem | if . == "" then . else "# " + . end)
         else select(.suite == "ladder-mixed") | [(.input | ltrimstr("mixed-x")), (.original.t | if type == "number" then . else 1e3 end)] | @tsv end
