#!/bin/sh
# test_install.sh SOURCE BUILD: what is installed can be used through pkg-config, through CMake, and by C++.
. "$1/tests/shell.sh"
source=$1 build=$2
prefix=$work/prefix
WARNINGS="-Wall -Wextra -Wpedantic -Werror"

everything_is_installed() {
    cmake --install "$build" --prefix "$prefix" >install.log
    for file in bin/interim include/interim/interim.h share/man/man1/interim.1; do
        [ -f "$prefix/$file" ] || fail "missing: $file"
    done
    for name in libinterim.so libinterim.a libinterim_engine.so libinterim_engine.a interim.pc interim-engine.pc interim-config.cmake; do
        [ -n "$(find "$prefix" -name "$name")" ] || fail "missing: $name"
    done
}

find_libdir() {
    dirname "$(find "$prefix" -name libinterim.so)"
}

pkg_config_builds_a_consumer() {
    libdir=$(find_libdir)
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    cc -std=c17 $WARNINGS $(pkg-config --cflags interim) "$source/tests/install/consumer.c" -o consumer \
        $(pkg-config --libs interim)
    LD_LIBRARY_PATH="$libdir" ./consumer | grep -q '^interim [0-9]'
}

pkg_config_knows_what_the_static_library_needs() {
    libdir=$(find_libdir)
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    cc -std=c17 $WARNINGS $(pkg-config --cflags interim) "$source/tests/install/consumer.c" -o consumer \
        -Wl,--whole-archive "$libdir/libinterim.a" -Wl,--no-whole-archive $(pkg-config --static --libs interim | sed 's/-linterim//')
    ./consumer | grep -q '^interim [0-9]'
}

the_engine_needs_libm_and_libc_only() {
    libdir=$(find_libdir)
    export PKG_CONFIG_PATH="$libdir/pkgconfig"
    flags="-std=c17 $WARNINGS $(pkg-config --cflags interim-engine)"
    cc $flags "$source/tests/install/engine.c" -o engine $(pkg-config --libs interim-engine)
    cc $flags "$source/tests/install/engine.c" -o engine_static "$libdir/libinterim_engine.a" -lm
    LD_LIBRARY_PATH="$libdir" ./engine | grep -q "needs SUNDIALS"
    ./engine_static | grep -q "needs SUNDIALS"
    for binary in "$libdir/libinterim_engine.so" engine_static; do
        others=$(LC_ALL=C readelf -d "$binary" | grep NEEDED | grep -vE '\[(libm|libc|ld-linux[^]]*)\.so\.[0-9]+\]' || true)
        [ -z "$others" ] || fail "$binary needs $others"
    done
}

# it brings forty other libraries along, which only .h5 files need
nothing_is_linked_with_hdf5() {
    for binary in "$prefix/bin/interim" "$(find_libdir)/libinterim.so"; do
        ! LC_ALL=C readelf -d "$binary" | grep NEEDED | grep -i hdf5 || fail "$binary is linked with HDF5"
    done
}

find_package_builds_a_shared_and_a_static_consumer() {
    cmake -G Ninja -S "$source/tests/install" -B . -DCMAKE_PREFIX_PATH="$prefix" >cmake.log 2>&1 || { cat cmake.log; return 1; }
    cmake --build . >cmake.log 2>&1 || { cat cmake.log; return 1; }
    ./consumer | grep -q '^interim [0-9]'
    ./consumer_static | grep -q '^interim [0-9]'
}

every_public_header_stands_alone_in_c() {
    for header in "$prefix"/include/interim/*.h; do
        echo "#include <interim/$(basename "$header")>" >one.c
        echo "typedef int not_empty;" >>one.c
        cc -std=c17 $WARNINGS -fsyntax-only -I"$prefix/include" one.c
    done
}

every_public_header_stands_alone_in_cxx() {
    for header in "$prefix"/include/interim/*.h; do
        echo "#include <interim/$(basename "$header")>" >one.cc
        "$cxx" -std=c++17 $WARNINGS -fsyntax-only -I"$prefix/include" one.cc
    done
}

only_the_api_is_visible() {
    nm -D --defined-only "$(find_libdir)/libinterim.so" | awk '{print $3}' >symbols
    grep -q '^itm_version$' symbols
    ! grep -v '^itm_' symbols
}

# An empty entry of the run path is the current directory: whoever runs us in a folder of somebody else would run their libraries.
no_run_path_is_empty_or_relative() {
    find "$build" "$prefix" -type f \( -perm -u+x -o -name '*.so*' \) >files.txt
    while read -r file; do
        readelf -d "$file" 2>/dev/null | sed -nE 's/.*\(R(UN)?PATH\).*\[(.*)\]$/\2/p' >path.txt
        [ ! -s path.txt ] || ! tr : '\n' <path.txt | grep -vE '^(/|\$ORIGIN)' || fail "$file: run path $(cat path.txt)"
    done <files.txt
    grep -q '/interim$' files.txt
}

# Full RELRO, immediate binding and stack protectors in what is installed.
binaries_are_hardened() {
    for file in "$prefix/bin/interim" "$(find_libdir)"/libinterim.so "$(find_libdir)"/libinterim_engine.so; do
        LC_ALL=C readelf -lW "$file" | grep -q GNU_RELRO || fail "$file: no RELRO"
        LC_ALL=C readelf -dW "$file" | grep -qE 'BIND_NOW|Flags:.*NOW' || fail "$file: no immediate binding"
        LC_ALL=C readelf -sW "$file" | grep -q __stack_chk_fail || fail "$file: no stack protector"
    done
}

run_case everything_is_installed
run_case no_run_path_is_empty_or_relative
if grep -q '^INTERIM_SANITIZE:[A-Z]*=..*' "$build/CMakeCache.txt"; then
    skip_case binaries_are_hardened "sanitizers"
else
    run_case binaries_are_hardened
fi
run_case pkg_config_builds_a_consumer
run_case pkg_config_knows_what_the_static_library_needs
run_case the_engine_needs_libm_and_libc_only
run_case nothing_is_linked_with_hdf5
run_case find_package_builds_a_shared_and_a_static_consumer
run_case every_public_header_stands_alone_in_c
cxx=$(command -v g++ || command -v clang++ || true)
if [ -n "$cxx" ]; then
    run_case every_public_header_stands_alone_in_cxx
else
    skip_case every_public_header_stands_alone_in_cxx "no C++ compiler"
fi
run_case only_the_api_is_visible
finish
