#!/bin/sh
# Reports in a real browser: test_web.sh SOURCE INTERIM. Skipped, saying so, where there is no chromium or no node.
dir=$(dirname "$0")
chromium=$(command -v chromium || command -v chromium-browser || true)
if [ -z "$chromium" ] || ! command -v node >/dev/null; then
    # shellcheck source=../shell.sh
    . "$dir/../shell.sh"
    echo "no $([ -z "$chromium" ] && echo chromium || echo node): reports are not tried in a browser" >&2
    skip_case reports_in_a_browser
    finish
fi
exec node "$dir/test_web.mjs" "$1" "$2" "$chromium"
