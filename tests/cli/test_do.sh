#!/bin/sh
# test_do.sh SOURCE: ./do on a tree that was moved, without npm's registry, and without root.
. "$1/tests/shell.sh"
source=$1

# A tree with ./do and a build folder of another tree, in which cmake only notes how it was called.
make_moved_tree() {
    mkdir -p tree/build/CMakeFiles tree/web tools
    cp "$source/do" tree
    printf 'CMAKE_HOME_DIRECTORY:INTERNAL=%s\nCMAKE_CACHEFILE_DIR:INTERNAL=%s/build\n' "$1" "$1" >tree/build/CMakeCache.txt
    printf '#!/bin/sh\nexit 1\n' >tree/web/fetch.sh
    printf '#!/bin/sh\n[ ! -e build/CMakeCache.txt ] || echo stale\necho "$@"\nexit 1\n' >tools/cmake
    # set-up has nothing to install: everything is there
    printf '#!/bin/sh\necho installed\n' >tools/dpkg-query
    for tool in apt-get node npm; do printf '#!/bin/sh\nexit 1\n' >tools/$tool; done
    chmod +x tree/web/fetch.sh tools/*
}

out_lacks() {
    if grep -F -- "$1" out.txt; then fail "stdout says: $1"; fi
}

do_in_tree() {
    (cd tree && expect 1 env PATH="$PWD/../tools:$PATH" ./do run && cp out.txt ..)
}

a_moved_tree_is_said_and_configured_afresh() {
    make_moved_tree /nowhere/interim
    do_in_tree
    out_has "build was configured for a source tree in /nowhere/interim; this one is in "
    out_lacks stale
    # and a tree that stayed is left as it is
    rm -r tree
    make_moved_tree "$PWD/tree"
    do_in_tree
    out_lacks 'source tree'
    out_has stale
}

without_the_viewer_the_build_is_told() {
    make_moved_tree /nowhere/interim
    do_in_tree
    out_has -DINTERIM_WEB=OFF
}

# npm's own defaults would take 70 s
without_a_registry_npm_gives_up_within_seconds() {
    mkdir web
    cp "$source/web/fetch.sh" "$source/web/package.json" "$source/web/package-lock.json" web
    started=$(date +%s)
    expect 1 env npm_config_registry=http://127.0.0.1:9 npm_config_cache="$PWD/cache" web/fetch.sh
    [ $(($(date +%s) - started)) -lt 40 ] || fail "it took $(($(date +%s) - started)) s"
    [ "$(wc -l <err.txt)" -eq 1 ] || fail "not one sentence: $(cat err.txt)"
    err_has "npm cannot fetch the packages of the viewer (ECONNREFUSED): reports have plots as pictures and no 3-D view"
}

a_bare_system_that_cannot_be_made_is_status_75_and_said() {
    mkdir tools
    printf '#!/bin/sh\necho 1000\n' >tools/id
    chmod +x tools/id
    expect 75 env PATH="$PWD/tools:$PATH" "$source/scripts/bare.sh" test
    err_has "cannot make a bare Debian 12: only root can"
    expect 1 "$source/scripts/bare.sh" nonsense
    err_has "scripts/bare.sh [run | test | both] [--offline-npm]"
}

run_case a_moved_tree_is_said_and_configured_afresh
run_case without_the_viewer_the_build_is_told
run_case a_bare_system_that_cannot_be_made_is_status_75_and_said
if command -v npm >/dev/null; then
    run_case without_a_registry_npm_gives_up_within_seconds
else
    skip_case without_a_registry_npm_gives_up_within_seconds "no npm"
fi
finish
