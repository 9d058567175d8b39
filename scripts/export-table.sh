#!/bin/sh
# Error of the crane in two FMUs against the macro step, for every coupling, as a table for docs/guide/export.md:
#   scripts/export-table.sh [build/interim]
# Largest distance of the cylinder's length from the native run that exchanges data every 0.1 ms, over 3 s.
set -eu
cd "$(dirname "$0")/.."
interim=$(realpath "${1:-build/interim}")
model=$PWD/examples/crane-single.yaml
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$interim" run "$model" --set cosim.coupling=monolithic --set run.output_interval=20ms --until 3s -q -o reference.csv
"$interim" export "$model" --part hydraulics --fmi 2 --set cosim.macro_step=0.1ms -q -o hydraulics.fmu

# column of a CSV file at the times of the reference
column() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { k = $1 / 0.02; if (k - int(k + 0.5) < 1e-6 && int(k + 0.5) - k < 1e-6) print int(k + 0.5), $c }' "$1"
}
column reference.csv crane.cyl1.length >reference.txt

# one run: macro step in ms, step of the crane's FMU in ms, keys of the crane, coupling
run() {
    "$interim" export "$model" --part crane --set cosim.macro_step="$2ms" -q -o crane.fmu
    cat >pair.yaml <<END
subsystems:
  crane:
    type: fmu
    file: crane.fmu
    ports: {cyl1: {force: crane-cyl1.force, rate: crane-cyl1.rate, position: crane-cyl1.position}}
    $3
  hydraulics:
    type: fmu
    file: hydraulics.fmu
    step: 0.1 ms
    ports: {cyl1: {force: hydraulics-cyl1.force, rate: hydraulics-cyl1.rate, position: hydraulics-cyl1.position}}
cosim: {macro_step: $1 ms, coupling: $4, bonds: {crane.cyl1: hydraulics.cyl1}}
run: {duration: 3 s}
END
    if "$interim" run pair.yaml -q -o pair.csv 2>/dev/null; then
        column pair.csv crane.cyl1.length | join -j 1 reference.txt - |
            awk '{ d = $2 - $3; d = d < 0 ? -d : d; if (d > most) most = d } END { printf " %.1e |", most }'
    else
        printf ' breaks down |'
    fi
}

steps='1 2 5 10 20'
printf '| coupling |'
for H in $steps; do printf ' %s ms |' "$H"; done
printf '\n|---|'
for H in $steps; do printf -- '---|'; done
printf '\n| zero-order hold |'
for H in $steps; do run "$H" "$H" '' zoh; done
printf '\n| linear extrapolation |'
for H in $steps; do run "$H" "$H" '' linear; done
printf '\n| interface model, port |'
for H in $steps; do run "$H" "$H" '' rim; done
printf '\n| interface model, derivatives |'
for H in $steps; do run "$H" "$(awk -v H="$H" 'BEGIN { print H / 2 }')" 'mobility: derivatives' rim; done
printf '\n| interface model, probing |'
for H in $steps; do run "$H" "$(awk -v H="$H" 'BEGIN { print H / 2 }')" 'mobility: probing' rim; done
printf '\n| interface model, identified |'
for H in $steps; do run "$H" "$(awk -v H="$H" 'BEGIN { print H / 2 }')" 'mobility: identified' rim; done
printf '\n'
