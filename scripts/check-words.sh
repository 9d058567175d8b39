#!/bin/sh
# Words that the glossary replaces do not occur in their old sense in documentation, public headers, or messages:
#   scripts/check-words.sh            number of places per file
#   scripts/check-words.sh FILE...    every place in these files, with the term to use instead
# Checked text: pages without code and link targets, the manual page, comments of public headers and of examples, comments and string
# literals of code.
# shellcheck disable=SC2016  # backquotes and dollars are part of patterns
set -eu
cd "$(dirname "$0")/.."

# pattern (extended, GNU) = term to use
words() {
    cat <<'END'
\bmeetings?\b|\bmeets?\b|\bmet\b = communication point; collide, touch, connect
\b(ride|rides|riding|rode|ridden)\b = RIM contacts
\bsurpris(e|es|ed|ing)\b = misprediction
\bloose\b|\bloosely\b = joint with clearance
\bplay\b = clearance
\bsettl(e|es|ed|ing)\b = name the pass by what it solves; become steady
\bstates? of rest\b|\bhow far from rest\b = static equilibrium
\bprefers? rest\b|\brest (comes )?first\b = prefer sticking
\bspurious\b|\bcouplings? (has|have|had) added\b|\bmade up\b = coupling energy error
\bbooked\b|\bbooks\b = counted in the energy balance
\b(follow|follows|followed|following) from others\b = redundant constraints
\bheld rates?\b|\brates? (are |is )?held\b = zero-order hold, extrapolation
\bfreedoms\b = degrees of freedom
\bmembers?\b = subsystem
\bclusters?\b = assembly
\bcouplers?\b = interface model
\bcuts?\b = interface
\bcontrolled (stepper|steps?)\b = adaptive
\bfrom (the )?outside\b = external signal, external input
\bticks?\b|\bsub-?steps?\b = micro step
\bsure to hold\b = active, tight
\bundo(es|ing|ne)?( of)?( a| the)? penetrations?\b|\bpushes that\b|\b(a|the) push\b = position correction, impulse
\bcontacts?(,| and| or) stops?\b|\bstops?,? (and |or )?(dry )?(frictions?|motors?)\b|\bjoint stops?\b|\brows of stops?\b = joint limit
\btold\b|\btells?\b|\btelling\b = report, return, print, set
\bknows?\b|\bknew\b = hold, use, support, depend on
\banswer(s|ed|ing)?\b = respond, react, return; result
\bwants?\b = require, request
\bsays?\b|\bsaid\b = report, print, state, show
\bgo(es|ing)? by\b|\bwent by\b = use, depend on
\bon end\b = consecutive, in a row
\bwhat (there is|becomes? of|became of)\b = a noun
\ban? [a-z]+ an? (step|micro|macro|run|row|file|solver|key|paper|subcommand|combination|frame|side|box|bond|body|contact|joint|point|unit|sample|panel)\b = per, each
\b(once|twice|times|one|two|three|four|five|six|[0-9]+|ns|us|µs|microseconds|ms|cm|mm|row|rows|modes|iterations|flops|loads|J) an? (step|micro|macro|run|row|file|solver|key|frame|side|plane|corner|shape|box|bond|body|contact|joint|interface|turn|sample|second|minute)\b = per, each
END
}

# phrase that is fine (extended, GNU) = reason
allowed() {
    cat <<'END'
(play|plays|playing|played) back|plays and pauses|replay = animations and recordings
(meets?|met) (the |its |their |a )?(tolerance|requirements?|conditions?) = a requirement is met
cut[- ]?off|short ?cuts? = frequency or length of truncation, keys
seen from (the )?outside|facing outside = orientation of a surface
struct members? = C
crane-cut = a file name
(coupler rods?|coupler and rocker|.coupler. away|of the coupler above|coupler and the) = link of a four-bar mechanism
settling (time|velocity)|set-up = terms of control and fluids
made up of = consists of
\b(you|we|users?) (want|know|say) = people do
END
}

comments_of() { sed -nE 's/^.*\/\/ ?/\n/; T; s/^\n//; =; p' "$1" | paste -d: - - | sed "s|^|$1:|"; }

# In comments of code, a tick is the common step of a group or a mark of an axis, and structs, lists and sets have members.
code_comments_of() { comments_of "$1" | sed -E 's/\b([Tt]icks?|[Mm]embers?)\b//g'; }

# "file:line:text" of the text in a file
text_of() {
    case $1 in
        *.md) awk -v file="$1" '
            /^ *(```|~~~)/ { is_code = !is_code; next }
            is_code || /^    [^ ]/ && is_gap { next }
            { is_gap = /^[ \t]*$/ || /^    / && is_gap
              gsub(/`[^`]*`/, ""); gsub(/\]\([^)]*\)/, "]"); print file ":" FNR ":" $0 }' "$1" ;;
        *.yaml) sed -nE 's/^(.*[ \t])?#[ ]?/\n/; T; s/^\n//; =; p' "$1" | paste -d: - - | sed "s|^|$1:|" ;;
        include/*.h | examples/*.c) comments_of "$1" ;;
        *.h) code_comments_of "$1" ;;
        *.c) code_comments_of "$1"
            awk -v file="$1" '
            /^[ \t]*(\/\/|#include)/ { next }
            { line = $0; text = ""
              while (match(line, /"([^"\\]|\\.)*"/)) {
                  literal = substr(line, RSTART + 1, RLENGTH - 2); line = substr(line, RSTART + RLENGTH)
                  gsub(/\\n/, " ", literal); if (literal ~ /[a-z] [a-z]/) text = text " " literal }
              if (text != "") print file ":" FNR ":" text }' "$1" ;;
        *) sed 's/\\-/-/g' "$1" | awk -v file="$1" '{ print file ":" FNR ":" $0 }' ;;
    esac
}

files() {
    ls README.md CONTRIBUTING.md docs/man/* include/interim/*.h
    find docs -name '*.md'
    find app src host fmu -name '*.[ch]'
    find examples -name '*.yaml' -o -name '*.c'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
{ if [ $# -gt 0 ]; then printf '%s\n' "$@"; else files; fi; } | sort -u | while read -r file; do text_of "$file"; done |
    sed -E "$(allowed | sed -E 's/ = .*//; s/.*/s~&~~Ig/')" >"$work/text"
words | while IFS= read -r line; do
    grep -iE -- ":[0-9]+:.*(${line%% = *})" "$work/text" | while IFS= read -r place; do
        text=${place#*:}; text=${text#*:}
        printf '%s\n' "$text" | grep -oiE -- "${line%% = *}" | sed "s|^|${place%":$text"}: |; s|\$| -> ${line#* = }|"
    done || true
done | sort -t: -k1,1 -k2,2n >"$work/places"

if [ $# -gt 0 ]; then cat "$work/places"; else cut -d: -f1 "$work/places" | sort | uniq -c | sort -rn; fi
echo "$(wc -l <"$work/places") places with a word that the glossary replaces"
[ ! -s "$work/places" ]
