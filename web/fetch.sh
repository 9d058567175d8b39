#!/bin/sh
# fetch.sh: install the packages of the viewer (package-lock.json) in node_modules, unless they are there. Where the registry
# cannot be reached it fails within seconds, with one sentence: npm's own defaults wait for more than a minute.
# shellcheck disable=SC3013  # every sh of Debian has -nt
set -eu
cd "$(dirname "$0")"

stamp=node_modules/.package-lock.json
[ -e $stamp ] && [ ! package-lock.json -nt $stamp ] && exit 0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier --loglevel=error --fetch-timeout=10000 --fetch-retries=1 \
    --fetch-retry-mintimeout=1000 --fetch-retry-maxtimeout=2000 >"$log" 2>&1; then
    touch $stamp
else
    reason=$(sed -nE 's/^npm (ERR!|error) code //p' "$log" | head -n 1)
    echo "npm cannot fetch the packages of the viewer (${reason:-see npm ci in web/}): reports have plots as pictures and no 3-D view" >&2
    exit 1
fi
