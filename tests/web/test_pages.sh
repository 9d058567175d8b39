#!/bin/sh
# test_pages.sh SOURCE INTERIM: the documentation site and the reproduction page are made, whole, and fetch nothing.
. "$1/tests/shell.sh"
source=$1
interim=$2
chromium=$(command -v chromium || command -v chromium-browser || true)

every_link_of_the_site_leads_somewhere() {
    node "$source/scripts/docs.mjs" "$interim" site --few >out.txt || fail "$(cat out.txt)"
    grep -qE '^[0-9]+ pages, [1-9][0-9]* reports$' out.txt
    node "$source/tests/web/links.mjs" site >out.txt || fail "$(cat out.txt)"
    grep -q 'itm_model_build' site/api/model.h.html
    # no markup of comments is left as it is
    ! grep -nE '\*\*[a-z]' site/api/*.html || fail "literal asterisks"
    grep -q '"itm_model_build","api/model.h.html#itm_model_build"' site/search.js
    grep -q '<span class="h-key">multibody</span>' site/index.html
    grep -q '<aside class="index"' site/reference/model-file.html
    grep -q '<h1 id="getting-started' site/guide/getting-started.html
}

# search, copy buttons, menu, gallery and saved figures in a real browser
the_site_and_the_page_of_a_sweep_work_in_a_browser() {
    expect 0 "$interim" sweep -q "$source/examples/pendulum.yaml" --until 0.5s --every 16ms --over run.step=1ms,2ms,8ms \
        --over multibody.coordinates=absolute,joint --signals hinge.angle,rod.velocity.x -o sweep.csv --report sweep.html
    # the site that every_link_of_the_site_leads_somewhere has made
    node "$source/tests/web/test_site.mjs" "$work/every_link_of_the_site_leads_somewhere/site" "$PWD/sweep.html" "$chromium" >out.txt 2>&1 || fail "$(cat out.txt)"
}

every_entry_of_the_papers_is_complete() {
    cat >check.mjs <<END
import { readdirSync } from "node:fs";
for (const file of readdirSync("$source/reproduce").filter((f) => f.endsWith(".mjs"))) {
  const { default: entry } = await import("$source/reproduce/" + file);
  for (const key of ["paper", "item", "title", "says"]) if (typeof entry[key] !== "string" || !entry[key]) throw new Error(file + ": no " + key);
  if (typeof entry.run !== "function") throw new Error(file + ": no run");
}
END
    # versions of node that guess would take a script for a module; the oldest that we run with does not
    strict=--no-experimental-detect-module
    node $strict -e 0 2>/dev/null || strict=
    node $strict check.mjs
}

the_reproduction_page_holds_what_was_measured() {
    node "$source/scripts/reproduce.mjs" "$interim" out manipulator-statics >out.txt || fail "$(cat out.txt)"
    grep -qE 'matched \([0-9.]+ s\); 0.441599 and 0.487108' out.txt
    grep -q '<span class="verdict finished">matched</span>' out/index.html
    [ -s out/manipulator-statics.html ]
    ! node "$source/scripts/reproduce.mjs" "$interim" out nonsense 2>err.txt
    grep -q "no entry begins with 'nonsense'" err.txt
}

if ! command -v node >/dev/null; then
    for name in every_link_of_the_site_leads_somewhere the_site_and_the_page_of_a_sweep_work_in_a_browser every_entry_of_the_papers_is_complete the_reproduction_page_holds_what_was_measured; do
        skip_case $name "no node"
    done
    finish
fi
if [ -d "$source/web/node_modules/marked" ]; then
    run_case every_link_of_the_site_leads_somewhere
else
    skip_case every_link_of_the_site_leads_somewhere "npm could not fetch the packages of web/"
fi
if [ ! -d "$source/web/node_modules/marked" ]; then
    skip_case the_site_and_the_page_of_a_sweep_work_in_a_browser "npm could not fetch the packages of web/"
elif [ -z "$chromium" ]; then
    skip_case the_site_and_the_page_of_a_sweep_work_in_a_browser "no chromium"
else
    run_case the_site_and_the_page_of_a_sweep_work_in_a_browser
fi
run_case every_entry_of_the_papers_is_complete
run_case the_reproduction_page_holds_what_was_measured
finish
