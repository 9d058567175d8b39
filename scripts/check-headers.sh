#!/bin/sh
# The command and the C examples use the public headers only: no include of app/ or examples/ names a header of src/.
set -eu
cd "$(dirname "$0")/.."
places=$(grep -nE '^#include ["<]' app/*.[ch] examples/*.c examples/c/*.c | while IFS= read -r place; do
    header=$(printf '%s\n' "$place" | sed -E 's/.*#include ["<]([^">]*)[">].*/\1/')
    [ ! -e "src/$header" ] || echo "  $place"
done)
echo "$(ls app/*.[ch] examples/*.c examples/c/*.c | wc -l) files"
[ -z "$places" ] || { printf 'private headers:\n%s\n' "$places"; exit 1; }
