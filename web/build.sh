#!/bin/sh
# build.sh OUT: the viewer of reports as one script. Without its packages (npm cannot reach them) OUT is empty and a build
# goes on: reports then have no 3-D view.
set -eu
out=$1
cd "$(dirname "$0")"

stamp=node_modules/.package-lock.json
if [ ! -e $stamp ] || [ package-lock.json -nt $stamp ]; then
    if ! npm ci --ignore-scripts --no-audit --no-fund --loglevel=error; then
        echo "npm could not get the packages of the viewer: reports will have plots as pictures and no 3-D view" >&2
        : >"$out"
        exit 0
    fi
    touch $stamp
fi

# the licences of what is bundled travel with it
licences=$(for package in three uplot; do
    echo "$package:"
    cat node_modules/$package/LICENSE
done | sed 's,\*/,* /,')
node_modules/.bin/esbuild src/main.js --bundle --minify --format=iife --target=es2020 --loader:.css=text \
    --banner:js="/* $licences */" --log-level=warning --outfile="$out"
