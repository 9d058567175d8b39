#!/bin/sh
# build.sh OUT: bundle the viewer of reports into one script. Without its packages OUT is empty, and the build goes on:
# reports then have plots as pictures and no 3-D view.
set -eu
out=$1
cd "$(dirname "$0")"

if ! ./fetch.sh; then
    : >"$out"
    exit 0
fi

# the licences of what is bundled travel with it
licences=$(for package in three; do
    echo "$package:"
    cat node_modules/$package/LICENSE
done | sed 's,\*/,* /,')
node_modules/.bin/esbuild src/main.js --bundle --minify --format=iife --target=es2020 --loader:.css=text \
    --banner:js="/* $licences */" --log-level=warning --outfile="$out"
