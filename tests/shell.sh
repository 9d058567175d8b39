# What every shell test sources: cases that report themselves as cmocka's do, and a directory that goes away.
#   run_case NAME          calls the function NAME in a fresh directory; it fails if a command in it fails
#   skip_case NAME REASON  counts the case NAME as skipped
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
    # a process that a case has in the background ($pid) ends with it, also where the case fails
    (cd "$work/$1" || exit; pid=''; trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null || true' EXIT; set -e; "$1")
    status=$?
    if [ $status -eq 0 ]; then
        echo "[       OK ] $1"
    else
        echo "[  FAILED  ] $1"
        cases_failed=$((cases_failed + 1))
    fi
}

# skip_case NAME REASON: two lines as cmocka has them; the reason is what `./do test` prints
skip_case() {
    echo "[ RUN      ] $1"
    echo "skipped: $1: $2"
    echo "[  SKIPPED ] $1"
    echo "[  SKIPPED ] $1"
}

finish() {
    [ "$cases_failed" -eq 0 ]
    exit $?
}

# ---------------------------------------------------------------------------- a command and its output

# expect STATUS COMMAND...: run it, output in out.txt and err.txt
expect() {
    want=$1; shift
    got=0
    "$@" >out.txt 2>err.txt || got=$?
    [ "$got" -eq "$want" ] || { cat out.txt err.txt; fail "status $got, not $want: $*"; }
}

err_has() {
    grep -qF -- "$1" err.txt || { cat err.txt; fail "stderr does not say: $1"; }
}

out_has() {
    grep -qF -- "$1" out.txt || { cat out.txt; fail "stdout does not say: $1"; }
}

# first_line_has FILE TEXT: a column of a CSV file
first_line_has() {
    head -n 1 "$1" | grep -qF -- "$2" || fail "$1 has no column $2"
}

rows() {
    echo $(($(wc -l <"$1") - 1))
}

# Every line of a CSV file has as many fields as the first, and ends.
is_whole() {
    awk -F, 'NR == 1 {n = NF} NF != n {exit 1}' "$1" || fail "$1 has a broken row"
    [ "$(tail -c 1 "$1" | od -An -c | tr -d ' ')" = '\n' ] || fail "$1 ends within a row"
}
