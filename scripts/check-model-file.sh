#!/bin/sh
# Every key and word that readers of model files know is in docs/reference/model-file.md: the texts in the tables of names of
# src/io/model/read_*.c and file.c (keys), and those of the library (joint types, couplings, steppers, solvers, ...). Those of study files
# (src/study) are in docs/reference/study-file.md.
set -eu
cd "$(dirname "$0")/.."
page=docs/reference/model-file.md

# names_in PATTERN FILE...: texts of arrays of names whose declaration matches, and of the macros that go into them
names_in() {
    pattern=$1; shift
    awk -v pattern="$pattern" '
        /^#define [A-Z_]*KEYS "/ || (/const char\* const [A-Za-z_]+\[[^]]*\] = \{/ && $0 ~ pattern) { is_table = 1 }
        is_table {
            line = $0
            while (match(line, /"[a-z][a-z0-9_-]*"/)) { print FILENAME, substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) }
        }
        is_table && (/;/ || (/^#define/ && !/\\$/)) { is_table = 0 }' "$@"
}

names=$({ names_in . src/io/model/read_*.c src/io/model/file.c; names_in '[^T]_NAMES\[|[^_]NAMES\[' $(ls src/*/*.c | grep -vE "^src/(io|report|study)/"); } | sort -u)
missing=$(echo "$names" | while read -r file name; do
    grep -qE "(^|[^A-Za-z0-9_-])$name([^A-Za-z0-9_-]|\$)" $page || echo "  '$name' of $file"
done)
# the same for study files
studies=$(names_in . src/study/*.c | sort -u)
missing="$missing$(echo "$studies" | while read -r file name; do
    grep -qE "(^|[^A-Za-z0-9_-])$name([^A-Za-z0-9_-]|\$)" docs/reference/study-file.md || echo "  '$name' of $file"
done)"
echo "$(echo "$names" | cut -d' ' -f2 | sort -u | wc -l) keys and words"
[ -z "$missing" ] || { printf 'not in %s or study-file.md:\n%s\n' "$page" "$missing"; exit 1; }
