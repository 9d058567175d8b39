#!/bin/sh
# Every function of the public headers has a comment of its own on the line before it.
set -eu
cd "$(dirname "$0")/.."
awk '
    /^ITM_API/ {
        total++
        if (previous !~ /^(\/\/| *\*)/) {
            match($0, /itm_[a-z0-9_]+/)
            printf "  %s:%d: %s has no comment\n", FILENAME, FNR, substr($0, RSTART, RLENGTH); bad++
        }
    }
    { previous = $0 }
    END { printf "%d public functions, %d of them without a comment\n", total, bad; exit bad > 0 }' include/interim/*.h
