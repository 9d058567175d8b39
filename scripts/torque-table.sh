#!/bin/sh
# A table of feed-forward torques, as the arm examples replay them, from results of a run with prescribed motions:
#   scripts/torque-table.sh RESULTS.csv [TIME] > TABLE.csv
# A row holds until the next one: its value is the mean of the torques at its two ends. Torque i is that of the motion drive<i> or of
# the coupling follow<i>. At TIME a load is taken up at once, and the row before it ends with the torque it began with.
# SPDX-License-Identifier: Apache-2.0
set -eu
[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,3s/^# //p' "$0" >&2; exit 1; }
awk -F, -v jump="${2:--1}" '
function round6(x) { x = sprintf("%.6f", x) + 0; return x == 0 ? 0 : x }
NR == 1 {
    for (i = 1; i <= NF; i++)
        if (match($i, /(drive|follow)[0-9]+\.torque$/)) { split(substr($i, RSTART), word, /[a-z.]+/); at[word[2]] = i; n++ }
    for (i = 1; i <= n || i == 1; i++)
        if (!(i in at)) { print FILENAME ": no column drive" i ".torque or follow" i ".torque" > "/dev/stderr"; exit is_bad = 1 }
    printf "time"
    for (i = 1; i <= n; i++) printf ",torque%d", i
    print ""
    next
}
{
    if (NR > 2) write($1 > jump - 1e-9 && t < jump - 1e-9)
    t = $1
    for (i = 1; i <= n; i++) x[i] = $(at[i])
}
END { if (NR > 1 && !is_bad) write(1); exit is_bad }
function write(is_last,    i) {
    printf "%s", t
    for (i = 1; i <= n; i++) printf ",%.9g", round6(is_last ? x[i] : (x[i] + $(at[i])) / 2)
    print ""
}' "$1"
