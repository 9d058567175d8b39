#!/bin/sh
# Regenerate the table in docs/reference/advice.md: predicted largest stable macro steps compared with runs.
#   scripts/advice-table.sh [BUILD]     BUILD: directory with interim and tests/advice_runs (default: build); takes about a minute
# Exits with status 1 if a prediction and a run differ; the table marks the cell.
# SPDX-License-Identifier: Apache-2.0
set -eu
cd "$(dirname "$0")/.."
build=${1:-build}
page=docs/reference/advice.md
table=$(mktemp)
trap 'rm -f "$table" "$table.page"' EXIT
status=0
"$build/tests/advice_runs" "$build/interim" >"$table" || status=$?
[ "$status" -le 1 ] || exit "$status"
awk -v table="$table" '
/^<!-- table: end/ { skips = 0 }
!skips { print }
/^<!-- table: begin/ { skips = 1; while ((getline line < table) > 0) print line }
' "$page" >"$table.page"
cp "$table.page" "$page"
exit "$status"
