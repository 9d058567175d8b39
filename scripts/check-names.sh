#!/bin/sh
# The word after itm_ is the file or its folder: itm_narrow_find_axis is in narrow*.c, itm_cosim_step in src/cosim.
# Verbs of the whole system (itm_step) and defaults (itm_default_body_def in default.c, or in the file of what they are of) are fine.
set -eu
cd "$(dirname "$0")/.."
find src -name '*.c' | sort | xargs awk '
    FNR == 1 {
        n = split(FILENAME, parts, "/")
        file = parts[n]; sub(/\.c$/, "", file)
        split(file, words, "_")
    }
    /^[A-Za-z_].*[ *]itm_[a-z0-9_]+\(/ && !/^static/ && !/;[ \t]*$/ {
        match($0, /itm_[a-z0-9_]+\(/)
        name = substr($0, RSTART + 4, RLENGTH - 5)
        total++
        if (name !~ /_/ || (name ~ /^default_/ && words[1] == "default")) { next }
        rest = name; sub(/^default_/, "", rest)
        split(rest, first, "_")
        good = first[1] == words[1] || index(rest "_", file "_") == 1
        for (i = 2; i < n; i++) { good = good || index(rest "_", parts[i] "_") == 1 }
        if (!good) { printf "  itm_%s is in %s\n", name, FILENAME; bad++ }
    }
    END { printf "%d functions, %d of them elsewhere than their name says\n", total, bad; exit bad > 0 }'
