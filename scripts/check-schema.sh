#!/bin/sh
# The JSON Schema of model files is what docs/reference/model-file.md gives, and has every key that the readers know.
set -eu
cd "$(dirname "$0")/.."
python=/usr/bin/python3
[ -x $python ] || { echo "no python3: not checked"; exit 0; }
$python scripts/schema.py --check

# keys: the texts of tables that are called KEYS; section tables of the reader have other names
missing=$(awk '
    /const char\* const [A-Z_]*KEYS\[[^]]*\] = \{/ || /^#define [A-Z_]*KEYS "/ { is_table = 1 }
    is_table { line = $0; while (match(line, /"[a-z][a-z0-9_]*"/)) { print substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH) } }
    is_table && (/;/ || (/^#define/ && !/\\$/)) { is_table = 0 }' src/io/model/read_*.c src/io/model/file.c | sort -u |
    while read -r key; do grep -q "\"$key\"" docs/reference/model.schema.json || echo "  '$key'"; done)
[ -z "$missing" ] || { printf 'keys that the schema lacks:\n%s\n' "$missing"; exit 1; }
