#!/bin/sh
# Every equation that a comment or theory page cites, [key, eq. n], is in the table of docs/reference/equations.md; every function of
# the table exists; src/rim and src/cosim cite single equations, not ranges.
set -eu
cd "$(dirname "$0")/.."
table=docs/reference/equations.md
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# "file:line:[...]" of every citation of equations
grep -rnoE '\[[a-z][a-z-]{3,}, eqs?\. [^]]*\]' src include app docs/theory*.md >"$work/citations"
# "file:line key n" of every equation in them; a range names both its ends
awk -F'[][]' '{
    n = split($2, works, ";")
    for (i = 1; i <= n; i++) {
        key = works[i]; sub(/^ */, "", key); rest = key; sub(/,.*/, "", key); sub(/^[^.]*\. */, "", rest)
        gsub(/–|-| to |,/, " ", rest); m = split(rest, numbers, " ")
        for (k = 1; k <= m; k++) print $1, key, numbers[k]
    }
}' "$work/citations" >"$work/cited"
sed -nE 's/^\| ([a-z-]+), eq\. ([0-9a-z]+) \|.*/\1 \2/p' "$table" | sort -u >"$work/listed"
status=0
while read -r place key number; do
    grep -qx "$key $number" "$work/listed" || { echo "  $place $key, eq. $number is not in $table"; status=1; }
done <"$work/cited"
for function in $(grep '^|' "$table" | grep -oE '`itm_[a-z0-9_]+`' | tr -d '`' | sort -u); do
    grep -rqE "^[A-Za-z].*[ *]$function\(" src --include='*.c' || { echo "  $table: there is no function $function"; status=1; }
done
ranges=$(grep -E '^src/(rim|cosim)/.*[0-9] ?(-|–|to) ?[0-9]' "$work/citations" || true)
[ -z "$ranges" ] || { printf 'ranges of equations:\n%s\n' "$ranges"; status=1; }
echo "$(wc -l <"$work/cited") citations of $(wc -l <"$work/listed") equations"
exit $status
