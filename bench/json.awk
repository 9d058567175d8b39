# Figures of a run as JSON, one record per line, so that `bench/compare A.json B.json` reads them without a parser:
#   awk -v commit=... -f bench/json.awk ROUND-SUBJECT.txt... PROGRAM.txt...
# Lines "subject scene n metric value" of rounds give minimum and number of rounds; rows of the other programs' tables give
# their label and all numbers in it.

function quote(text) {
    gsub(/\\/, "\\\\", text)
    gsub(/"/, "\\\"", text)
    gsub(/\t/, " ", text)
    return "\"" text "\""
}

FNR == 1 {
    name = FILENAME
    sub(/.*\//, "", name)
    sub(/\.txt$/, "", name)
    is_round = name ~ /^[0-9]+-/
}

is_round && NF == 5 {
    key = $1 "|" $2 "|" $3 "|" $4
    if (!(key in low) || $5 + 0 < low[key]) low[key] = $5 + 0
    count[key]++
    next
}

!is_round && /[0-9]/ {
    label = $0
    values = ""
    n = split($0, words, /[ ,]+/)
    start = 0
    for (i = 1; i <= n; i++) {
        if (words[i] ~ /^-?[0-9]+(\.[0-9]+)?(e[-+]?[0-9]+)?$/) {
            start = start ? start : i
            values = values (values == "" ? "" : ",") words[i]
        }
    }
    if (values == "") next
    label = ""
    for (i = 1; i < start; i++) label = label (label == "" ? "" : " ") words[i]
    repeat[name, label]++
    rows[++nrow] = "{\"program\":" quote(name) ",\"row\":" quote(label (repeat[name, label] > 1 ? " #" repeat[name, label] : "")) \
        ",\"values\":[" values "]}"
}

END {
    print "{\"commit\":" quote(commit) "}"
    for (key in low) {
        split(key, part, "|")
        printf "{\"subject\":%s,\"scene\":%s,\"n\":%s,\"metric\":%s,\"min\":%.9g,\"rounds\":%d}\n", quote(part[1]), quote(part[2]), \
            part[3], quote(part[4]), low[key], count[key] | "sort"
    }
    close("sort")
    for (i = 1; i <= nrow; i++) print rows[i]
}
