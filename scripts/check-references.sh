#!/bin/sh
# Every work cited in a comment or document is an entry of docs/references.bib: [key, eq. 3] anywhere, or [key] alone at
# the end of a line after two spaces.
set -eu
cd "$(dirname "$0")/.."

# "file:line:key" of every citation, in C files only in comments
citations() {
    find app bench docs examples include scenes src tests README.md \( -name '*.[ch]' -o -name '*.md' \) \
        2>/dev/null | while read -r file; do
        case $file in
            *.md) text='s/^/ /' ;;
            *) text='s/^.*\/\///;t;s/.*//' ;;
        esac
        sed "$text" "$file" |
            grep -noE '\[[a-z][a-z-]{3,}, (eq|sec|ch|fig|table|alg|app|p\.)[^]]*\]|  \[[a-z][a-z-]{3,}\]$' |
            sed -E "s|^([0-9]+):[^[]*\[([a-z-]+).*|$file:\1:\2|" || true
    done
}

keys=$(sed -nE 's/^@[a-z]+\{([^,]+),$/\1/p' docs/references.bib)
missing=0 count=0
for citation in $(citations); do
    count=$((count + 1))
    if ! echo "$keys" | grep -qx "${citation##*:}"; then
        echo "$citation: not in docs/references.bib"
        missing=1
    fi
done
echo "$count citations"
exit $missing
