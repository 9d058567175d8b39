#!/bin/sh
# Reports in a real browser: test_web.sh SOURCE INTERIM. Skipped, with the reason, where there is no chromium, no node or no viewer.
. "$1/tests/shell.sh"
dir=$1/tests/web
chromium=$(command -v chromium || command -v chromium-browser || true)

# why_not: the reason that there is nothing to try
why_not() {
    [ -n "$chromium" ] || { echo "no chromium"; return; }
    command -v node >/dev/null || { echo "no node"; return; }
    "$2" run -q "$1/examples/pendulum.yaml" --until 10ms --report "$work/r.html"
    grep -q '<main id="app">' "$work/r.html" || echo "the reports of this build have no viewer (npm could not fetch its packages)"
}

reason=$(why_not "$1" "$2")
if [ -n "$reason" ]; then
    for name in $(sed -nE 's/^  async ([a-z0-9_]+)\(\) \{$/\1/p' "$dir/test_web.mjs"); do skip_case "$name" "$reason"; done
    finish
fi
node "$dir/test_web.mjs" "$1" "$2" "$chromium"
