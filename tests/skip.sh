#!/bin/sh
# skip.sh SOURCE REASON CASE...: cases that cannot be run on this machine.
. "$1/tests/shell.sh"
reason=$2
shift 2
for name; do skip_case "$name" "$reason"; done
finish
