#!/bin/sh
# A run of SECONDS (clock), whose resident memory is noted every SECONDS/60: it may not grow by more than a tenth of its value after the
# first sixth, in which buffers and caches of contacts reach their size. Stopped with TERM, it leaves rows that can be read.
#   soak.sh MODEL INTERIM SECONDS OUT [OPTION...]      OUT: the memory, a line per sample (s, kB)
set -u
model=$1 interim=$2 seconds=$3 out=$4; shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$interim" run "$model" -q --until 10000000s -e 1s "$@" -o "$work/soak.csv" >"$work/out.txt" 2>"$work/err.txt" &
pid=$!
started=$(date +%s) every=$((seconds / 60 > 0 ? seconds / 60 : 1))
: >"$out"
while kill -0 $pid 2>/dev/null && [ $(($(date +%s) - started)) -lt "$seconds" ]; do
    sleep $every
    memory=$(sed -n 's/^VmRSS:[^0-9]*\([0-9]*\).*/\1/p' /proc/$pid/status 2>/dev/null)
    [ -n "$memory" ] && echo "$(($(date +%s) - started)) $memory" >>"$out"
done
kill -TERM $pid 2>/dev/null
wait $pid
status=$?
simulated=$(tail -n 1 "$work/soak.csv" "$work/soak.part.csv" 2>/dev/null | sed -n 's/^\([0-9.e+]*\),.*/\1/p' | tail -n 1)
[ $status -eq 143 ] && [ -n "$simulated" ] || { echo "soak: status $status before its time, at $simulated s"; cat "$work/err.txt"; exit 1; }
awk -v name="$(basename "$model" .yaml)" -v seconds="$seconds" -v simulated="$simulated" '
    $1 <= seconds / 6 {early = $2 > early ? $2 : early}
    $1 > seconds / 6 {late = $2 > late ? $2 : late; n++}
    END {
        printf "soak: %s: %d s (%g s simulated), at most %d kB in the first sixth, %d kB after it, %d samples\n", name, seconds, simulated, early, late, NR
        exit !(n > 0 && early > 0 && late < 1.1 * early)
    }' "$out"
