#!/bin/sh
# Every FMU below a folder against the reference beside it, in the layout of the FMI cross-check:
#   .../<tool>/<version>/<model>/<model>.fmu with <model>_ref.csv, and perhaps <model>_in.csv and <model>_ref.opt
#   scripts/crosscheck.sh INTERIM FOLDER
# One line per FMU (tool, model, verdict, reason); the last line is "N passed, M failed, K refused". Exit status 1 if any failed.
# An FMU passes when every reference signal is met within 1 % of its range, with one sample of shift at events. It is refused
# when Interim cannot run it here: FMI 1.0, no library for this machine, no reference.
set -eu
interim=$1 folder=$2
limit=${CROSSCHECK_LIMIT:-120} # s of wall time per FMU
[ -d "$folder" ] || { echo "./do crosscheck: '$folder' is not a folder" >&2; exit 1; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM

# option FILE NAME: a value of a *_ref.opt file, "StopTime, 2.5"
option() {
    [ -f "$1" ] || return 0
    sed -n "s/^[[:space:]]*$2[[:space:]]*[,=][[:space:]]*\\([^[:space:],]*\\).*/\\1/p" "$1" | tr -d '\r' | head -n 1
}

# last_time FILE ABSENT: the time of the last row of a table
last_time() {
    time=$(tr -d '\r"' <"$1" | awk -F, 'NF > 1 && $1 + 0 == $1 { last = $1 } END { print last }')
    echo "${time:-$2}"
}

# first existing file
first() {
    for file; do
        if [ -f "$file" ]; then
            echo "$file"
            return
        fi
    done
}

# Run one FMU; prints "passed: ...", "failed: ..." or "refused: ..."
judge() {
    fmu=$1
    base=${fmu%.fmu}
    reference=$(first "$base"_ref.csv "$(dirname "$fmu")"/*_ref.csv)
    input=$(first "$base"_in.csv "$(dirname "$fmu")"/*_in.csv)
    options=$(first "$base"_ref.opt "$(dirname "$fmu")"/*_ref.opt)
    if [ -z "$reference" ]; then
        echo "refused: there is no $(basename "$base")_ref.csv"
        return
    fi
    set -- --reference "$reference"
    [ -z "$input" ] || set -- "$@" --input "$input"
    case $fmu in
        */cs/*) set -- "$@" --kind co-simulation ;;
        */me/*) set -- "$@" --kind model-exchange ;;
    esac
    for pair in StartTime:--start StopTime:--until StepSize:--step RelTol:--tolerance; do
        value=$(option "$options" "${pair%%:*}")
        # what counts is the end of the reference, not that of the options
        [ "${pair%%:*}" != StopTime ] || value=$(last_time "$reference" "$value")
        case $value in
            *[1-9]*) set -- "$@" "${pair#*:}" "$value" ;;
        esac
    done
    status=0
    timeout -k 5 "$limit" "$interim" fmu compare "$fmu" "$@" >"$work/out" 2>"$work/err" || status=$?
    line=$(grep -E '^(passed|failed|refused): ' "$work/out" | tail -n 1)
    if [ $status -eq 124 ] || [ $status -eq 137 ]; then
        echo "failed: not finished within $limit s"
    elif [ -n "$line" ]; then
        echo "$line"
    elif [ $status -eq 1 ]; then
        echo "refused: $(tail -n 1 "$work/err" | sed 's/^interim: //')"
    else
        echo "failed: status $status: $(tail -n 1 "$work/err" | sed 's/^interim: //')"
    fi
}

npassed=0 nfailed=0 nrefused=0
find "$folder" -name '*.fmu' | sort >"$work/list"
printf '%-28s %-28s %-8s %s\n' tool model verdict reason
while IFS= read -r fmu; do
    version=$(dirname "$(dirname "$fmu")")
    tool=$(basename "$(dirname "$version")")/$(basename "$version")
    verdict=$(judge "$fmu")
    case $verdict in
        passed:*) npassed=$((npassed + 1)) ;;
        failed:*) nfailed=$((nfailed + 1)) ;;
        *) nrefused=$((nrefused + 1)) ;;
    esac
    printf '%-28.28s %-28.28s %-8s %s\n' "$tool" "$(basename "$fmu" .fmu)" "${verdict%%:*}" "$(printf '%s' "${verdict#*: }" | cut -c 1-200)"
done <"$work/list"
echo "$npassed passed, $nfailed failed, $nrefused refused"
[ $nfailed -eq 0 ]
