#!/bin/sh
# page.sh: put the tables of the last run of bench/run.sh (out/bench) into docs/benchmarks.md. A block
#   <!-- bench NAME -->  ...  <!-- end -->
# becomes the text of out/bench/NAME.txt; "run" becomes a line about the run itself.
set -eu
cd "$(dirname "$0")/.."
out=out/bench page=docs/benchmarks.md
commit=$(sed -n '1s/.*"commit":"\([^"]*\)".*/\1/p' "$out/figures.json")
cpu=$(sed -n 's/^model name[[:space:]]*: //p' /proc/cpuinfo | head -n 1)
rounds=$(find "$out" -name '*-interim.txt' | wc -l)
{
    echo "$(date -u -r "$out/figures.json" '+%-d %B %Y'), commit $commit, $(nproc) cores of $cpu, $(. /etc/os-release && echo "$PRETTY_NAME"), $(cc --version | head -n 1)."
    echo "Rounds: $rounds."
} >"$out/run.line"
awk -v out="$out" '
    /^<!-- bench [a-z]+ -->$/ {
        print
        file = $3 == "run" ? out "/run.line" : out "/" $3 ".txt"
        if ($3 != "run") print "```"
        while ((getline line < file) > 0) print line
        if ($3 != "run") print "```"
        close(file)
        is_skipping = 1
        next
    }
    /^<!-- end -->$/ { is_skipping = 0 }
    !is_skipping
' "$page" >"$page.part"
mv "$page.part" "$page"
