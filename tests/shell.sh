# What every shell test sources: cases that report themselves as cmocka's do, and a directory that goes away.
#   run_case NAME          calls the function NAME in a fresh directory; it fails if a command in it fails
#   finish                 last line of a test
set -u
cases_failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "    $*" >&2
    return 1
}

run_case() {
    echo "[ RUN      ] $1"
    mkdir -p "$work/$1"
    # not inside an `if`: that would switch set -e off
    (cd "$work/$1" || exit; set -e; "$1")
    status=$?
    if [ $status -eq 0 ]; then
        echo "[       OK ] $1"
    else
        echo "[  FAILED  ] $1"
        cases_failed=$((cases_failed + 1))
    fi
}

skip_case() {
    echo "[ RUN      ] $1"
    echo "[  SKIPPED ] $1"
    echo "[  SKIPPED ] $1"
}

finish() {
    [ "$cases_failed" -eq 0 ]
    exit $?
}
