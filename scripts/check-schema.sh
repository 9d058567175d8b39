#!/bin/sh
# The JSON Schemas of model and study files are what docs/reference/model-file.md and study-file.md give, and have every key that the
# readers know.
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || { echo "no python3: not checked"; exit 0; }
$python scripts/schema.py --check
$python scripts/schema_study.py --check

# lacking SCHEMA FILE...: keys of readers that a schema does not have; the texts of tables that are called KEYS, section tables of the
# reader have other names
lacking() {
    schema=$1; shift
    awk '
        /const char\* const [A-Z_]*KEYS\[[^]]*\] = \{/ || /^#define [A-Z_]*KEYS "/ { is_table = 1 }
        is_table { line = $0; while (match(line, /"[a-z][a-z0-9_]*"/)) { print substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) } }
        is_table && (/;/ || (/^#define/ && !/\\$/)) { is_table = 0 }' "$@" | sort -u |
        while read -r key; do grep -q "\"$key\"" "docs/reference/$schema" || echo "  '$key' in $schema"; done
}
missing=$(lacking model.schema.json src/io/model/read_*.c src/io/model/file.c; lacking study.schema.json src/study/read_study.c)
[ -z "$missing" ] || { printf 'keys that the schema lacks:\n%s\n' "$missing"; exit 1; }
