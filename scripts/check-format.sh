#!/bin/sh
# Every C file is formatted by .clang-format at the root.
set -eu
cd "$(dirname "$0")/.."
command -v clang-format >/dev/null || { echo "clang-format is not installed"; exit 1; }
files=$(git ls-files '*.c' '*.h' 2>/dev/null | grep -E '^(src|include|app|tests|bench|scenes|examples)/' || find src include app tests bench scenes examples -name '*.[ch]')
bad=$(for file in $files; do clang-format --dry-run -Werror "$file" >/dev/null 2>&1 || echo "  $file"; done)
echo "$(echo "$files" | wc -l) files"
[ -z "$bad" ] || { printf 'run clang-format -i on:\n%s\n' "$bad"; exit 1; }
