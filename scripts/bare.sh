#!/bin/sh
# The commands of the README on a bare Debian 12: a minimal system without compiler, libraries or node, made for this and removed after it.
#   scripts/bare.sh [run | test | both] [--offline-npm]      (default: both; the commit HEAD is taken, not the working tree)
#   --offline-npm   without a registry of npm, as behind a firewall
# Needs root, mmdebstrap (installed where it is missing) and a mirror of Debian. Where no such system can be made the exit status is
# 75, and the reason is printed; otherwise it is that of the commands.
set -eu
cd "$(dirname "$0")/.."
CANNOT=75

usage() {
    sed -n '2,4s/^# \{0,1\}//p' "$0" >&2
    exit 1
}

cannot() {
    echo "cannot make a bare Debian 12: $*" >&2
    exit $CANNOT
}

what=both npm=online
for word; do
    case $word in
        run | test | both) what=$word ;;
        --offline-npm) npm=offline ;;
        *) usage ;;
    esac
done

# ---------------------------------------------------------------------------- the system

# Everything is mounted and run in namespaces of its own: mounts and processes end with the first process there, and are never
# visible where the folder is removed.
child='' root=''
cleanup() {
    trap '' HUP INT TERM
    [ -z "$child" ] || { kill -KILL "$child" 2>/dev/null && wait "$child" 2>/dev/null; } || true
    [ -z "$root" ] || rm -rf --one-file-system "$root" "$root.log"
}

# apart COMMAND...: run it in namespaces of its own, and wait for it in a way that lets signals through
apart() {
    setpriv --pdeathsig KILL unshare --mount --pid --fork --kill-child --mount-proc "$@" </dev/null &
    child=$!
    status=0
    wait "$child" || status=$?
    child=''
    return $status
}

# inside COMMAND...: run it in the system
inside() {
    # shellcheck disable=SC2016  # expanded there
    apart sh -eu -c '
        root=$1 beside=$2
        shift 2
        mount -t proc proc "$root/proc"
        mount --rbind /dev "$root/dev"
        if [ -n "$beside" ]; then
            mkdir -p "$root/src/shared"
            mount --bind "$beside" "$root/src/shared"
            mount -o remount,bind,ro "$root/src/shared"
        fi
        exec chroot "$root" "$@"' inside "$root" "$beside" "$@"
}

need_mmdebstrap() {
    command -v mmdebstrap >/dev/null && return
    command -v apt-get >/dev/null || cannot "mmdebstrap is not installed"
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends mmdebstrap; } >/dev/null 2>&1 ||
        cannot "mmdebstrap cannot be installed"
}

# The mirrors of this machine where it is a Debian 12 itself, otherwise Debian's own.
mirrors() {
    if grep -qs '^VERSION_CODENAME=bookworm' /etc/os-release; then
        for file in /etc/apt/sources.list.d/debian.sources /etc/apt/sources.list; do
            [ -s $file ] && { echo $file; return; }
        done
    fi
    echo http://deb.debian.org/debian
}

make_system() {
    [ "$(id -u)" -eq 0 ] || cannot "only root can"
    apart true 2>/dev/null || cannot "this machine allows no mounts"
    need_mmdebstrap
    root=$(mktemp -d "${TMPDIR:-/tmp}/bare.XXXXXX")
    chmod 755 "$root"
    apart timeout 900 mmdebstrap --quiet --variant=apt --aptopt='Acquire::Check-Valid-Until "false"' --aptopt='Acquire::Retries "3"' \
        bookworm "$root" "$(mirrors)" >"$root.log" 2>&1 || { tail -n 5 "$root.log" >&2; rm -f "$root.log"; cannot "mmdebstrap failed"; }
    rm -f "$root.log"
    cp /etc/resolv.conf /etc/hosts "$root/etc/" 2>/dev/null || true
    mkdir -p "$root/src/interim"
    git -c safe.directory='*' archive HEAD | tar -x -C "$root/src/interim" || cannot "git cannot read HEAD"
    inside true || cannot "this machine allows no mounts"
}

# ---------------------------------------------------------------------------- its environment

# NAME=VALUE per line: nothing of this machine's, except how its network is reached
environment() {
    printf '%s\n' HOME=/root LC_ALL=C.UTF-8 CI=true PATH=/usr/sbin:/usr/bin:/sbin:/bin
    env | grep -iE '^(https?|no)_proxy=' || true
    if [ $npm = offline ]; then
        echo npm_config_registry=http://127.0.0.1:9 # nobody listens there
        return
    fi
    registry=$(npm config get registry 2>/dev/null || true)
    [ -z "$registry" ] || echo "npm_config_registry=$registry"
    # certificates that this machine's network needs
    if cp /etc/ssl/certs/ca-certificates.crt "$root/src/ca.crt" 2>/dev/null; then echo npm_config_cafile=/src/ca.crt; fi
}

do_inside() {
    echo "./do $1 in a bare Debian 12"
    # shellcheck disable=SC2086  # one word per line
    inside env -i $environment sh -c "cd /src/interim && ./do $1"
}

beside=
[ ! -d ../shared ] || beside=$(cd ../shared && pwd) # files that some tests read
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' HUP TERM
echo "making a bare Debian 12"
make_system
environment=$(environment)
case $what in
    run) do_inside run ;;
    test) do_inside setup || cannot "packages cannot be installed"; do_inside test ;;
    both) do_inside run; do_inside test ;;
esac
