#!/bin/sh
# The short form of ./do torture, as a test.
source=$1 build=$2
. "$source/tests/shell.sh"

short_campaigns_have_no_failure() {
    "$source/tests/torture/torture.sh" "$source" "$build" out --short
}

run_case short_campaigns_have_no_failure
finish
