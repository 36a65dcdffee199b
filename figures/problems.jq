of("cpu").problems | to_entries | sort_by(-(.value.missed_share // 0))[]
| [(.key | split("/") | (.[0] | ltrimstr("level")) + "/" + (.[1] | split("_") | .[1:4] | join(" "))), (.value.missed_share // 0) * 100] | @tsv
