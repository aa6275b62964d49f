#!/bin/sh
# Takes back the mends of the faults that strangers' cases found, one at a time, and asks the fuzzers to find each
# again.
#
# fuzz/faults.sh build                  a copy of the tree in which each mend can be taken back (fuzz/faults/*.patch)
# fuzz/faults.sh run SECONDS [NUMBERS]  each fault for so long, or until it is found; one line each, in Markdown
#
# HALIDE_FAULTS: a folder for all of it (target/faults). CARGO_TARGET_DIR: where the copy is built (target).
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
work=${HALIDE_FAULTS:-$root/target/faults}
tree=$work/tree
mkdir -p "$work"

build() {
    rm -rf "$tree"
    mkdir -p "$tree"
    (cd "$root" && git ls-files -z | tar c --null -T -) | tar x -C "$tree"
    # In a repository around the copy, `git apply` would look for its files there, and skip them without a word.
    (cd "$tree" && GIT_CEILING_DIRECTORIES="$work" git apply "$root"/fuzz/faults/*.patch)
    export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$root/target}" CARGO_PROFILE_DEV_OPT_LEVEL=2
    (cd "$tree" && cargo test --offline -p halide-checks --test it --no-run > "$work/build.log" 2>&1) || {
        tail -n 40 "$work/build.log"
        exit 1
    }
    cp "$(grep -oE '[^ (]*/deps/it-[0-9a-f]+' "$work/build.log" | tail -n 1)" "$work/checks"
}

# Looks for one fault (0: none, which nothing must find); prints its row.
one() {
    log=$work/log.$1
    status=0
    begun=$(date +%s)
    (ulimit -v 8000000; ulimit -c 0; cd "$tree/checks" && HALIDE_FAULT=$1 HALIDE_FUZZ_SECONDS=$2 HALIDE_FUZZ_LIMIT=100 \
        timeout -k 5 $(($2 + 90)) "$work/checks" all_checks_in_turn --exact --nocapture) > "$log" 2>&1 || status=$?
    took=$(($(date +%s) - begun))
    found=$(grep -a -m 1 -o 'FOUND	.*' "$log" | cut -f2,3,5 | tr '\t' ' ' | cut -c1-100) || true
    [ -n "$found" ] || case $status in
        0) found='not found' ;;
        99 | 124) found='a case without end' ;;
        *) found="the process ends with status $status" ;;
    esac
    name=$(basename "$root"/fuzz/faults/"$(printf %02d "$1")"-*.patch .patch)
    printf '| %s | %s | %s s |\n' "$name" "$found" "$took"
}

run() {
    seconds=$1; shift
    [ $# -gt 0 ] || set -- 1 2 3 4 5 6 7 10 11
    echo "| mend taken back | found by, seed, as | after |"
    echo "|---|---|---|"
    for number; do one "$number" "$seconds"; done
}

command=$1
[ $# -eq 0 ] || shift
case $command in
    build) build ;;
    run) run "$@" ;;
    *) sed -n '2,8p' "$0"; exit 1 ;;
esac
