#!/bin/sh
# Every field in the notation table of docs/theory*.md (symbol | size | meaning | field) is a word of the sources.
set -eu
cd "$(dirname "$0")/.."

# The words between backquotes in the last column: `ItmData.v` gives ItmData and v
fields() {
    sed -nE 's/^\|.*\|([^|]*`[^|]*)\|[[:space:]]*$/\1/p' docs/theory*.md |
        grep -oE '`[^`]+`' | grep -oE '[A-Za-z_][A-Za-z0-9_]*' | sort -u
}

missing=0 count=0
for field in $(fields); do
    count=$((count + 1))
    if ! grep -rqw -- "$field" include src; then
        echo "docs/theory*.md: no field '$field' in the sources"
        missing=1
    fi
done
echo "$count fields"
[ $count -gt 0 ] || { echo "docs/theory*.md: found no notation table"; missing=1; }
exit $missing
