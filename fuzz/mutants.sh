#!/bin/sh
# Breaks the compiler in many places, one at a time, and asks all checks of `checks/` in turn to find each.
#
# fuzz/mutants.sh build [COUNT]          a copy of the tree with all mutants in it (200), built once
# fuzz/mutants.sh run SECONDS [NUMBERS]  each mutant for so long, but for those that were found; results are kept
# fuzz/mutants.sh test NAME [NUMBERS]    each mutant that was not found through one test of checks/tests/it
# fuzz/mutants.sh table                  the results in Markdown
#
# HALIDE_MUTANTS: a folder for all of it (target/mutants). CARGO_TARGET_DIR: where the copy is built (target, so that
# what it depends on need not be built again).
set -e
root=$(cd "$(dirname "$0")/.." && pwd)
work=${HALIDE_MUTANTS:-$root/target/mutants}
tree=$work/tree
target=${CARGO_TARGET_DIR:-$root/target}
mkdir -p "$work"
# The records are of this tree, so a count that falls is a difference as well.
export HALIDE_FUZZ_EXACT=1

# Prints the numbers of the mutants at which a compiler's errors stand: the nearest one before each error.
refused() {
    grep -oE '(-->|^) *[^ ]*halide-(sched|solve)/src/[^:]*:[0-9]+:[0-9]+|^error.*' "$1" | awk '
        /^error/ { bad = 1; next }
        bad { sub(/.*halide-s/, "halide-s"); print; bad = 0 }' | while IFS=: read -r file line column; do
        head -n "$line" "$tree/$file" | grep -oE 'crate::mutant\([0-9]+\)' | tail -n 1 | tr -dc '0-9\n'
    done | sort -un
}

build() {
    (cd "$root/fuzz/mutants" && CARGO_TARGET_DIR="$work/tool" cargo build)
    tool=$work/tool/debug/halide-mutants
    mkdir -p "$tree"
    (cd "$root" && git ls-files -co --exclude-standard -z | tar c --null -T - --ignore-failed-read) | tar x -C "$tree" \
        --keep-newer-files 2> /dev/null || true
    touch "$work/without"
    export CARGO_TARGET_DIR="$target" CARGO_INCREMENTAL=1 CARGO_PROFILE_DEV_OPT_LEVEL=2
    # Which mutants are of the right types, the compiler knows.
    while true; do
        "$tool" make "$root" "$tree" "$1" "$work/without" > "$work/mutants.tsv"
        if (cd "$tree" && cargo check --offline -p halide-sched --lib 2> "$work/check.log"); then break; fi
        refused "$work/check.log" > "$work/refused"
        if ! [ -s "$work/refused" ]; then tail -n 40 "$work/check.log"; exit 1; fi
        echo "of the wrong types: $(wc -l < "$work/refused")"
        awk -F'\t' 'NR == FNR { bad[$1] = 1; next } bad[$1] { print $6 }' "$work/refused" "$work/mutants.tsv" \
            >> "$work/without"
    done
    (cd "$tree" && cargo test --offline -p halide-checks --test it --no-run > "$work/build.log" 2>&1) || {
        tail -n 40 "$work/build.log"
        exit 1
    }
    program=$(grep -oE '[^ (]*/deps/it-[0-9a-f]+' "$work/build.log" | tail -n 1)
    cp "$program" "$work/checks"
}

# Runs one mutant (none: `right`) for some seconds; prints its line of results.
one() {
    log=$work/log.$1
    status=0
    (ulimit -v 8000000; ulimit -c 0; cd "$tree/checks" && HALIDE_MUTANT=$1 HALIDE_FUZZ_SECONDS=$2 HALIDE_FUZZ_LIMIT=30 \
        timeout -k 5 $(($2 + 60)) "$work/checks" all_checks_in_turn --exact --nocapture) > "$log" 2>&1 || status=$?
    found=$(grep -a -m 1 -o 'FOUND	.*' "$log" | cut -f2-5 | cut -c1-160) || true
    if [ -n "$found" ]; then printf '%s\tfound\t%s\n' "$1" "$found"
    elif [ "$status" -eq 99 ] || [ "$status" -eq 124 ]; then printf '%s\tfound\thang\t-\t-\tstatus %s\n' "$1" "$status"
    elif [ "$status" -ne 0 ]; then printf '%s\tfound\tcrash\t-\t-\tstatus %s\n' "$1" "$status"
    else printf '%s\tkept\t%s\t%s\n' "$1" "$2" "$(share "$log")"; fi
}

# Runs one mutant through a test; prints its line of results.
one_test() {
    log=$work/log.$1.$2
    status=0
    begun=$(date +%s)
    (ulimit -v 8000000; ulimit -c 0; cd "$tree/checks" && HALIDE_MUTANT=$1 HALIDE_FUZZ_LIMIT=30 \
        timeout -k 5 300 "$work/checks" "$2" --exact --nocapture) > "$log" 2>&1 || status=$?
    seconds=$(($(date +%s) - begun))
    said='^(case|kernels|family|refused|more work|another|other words|no words|.*, seed [0-9]+:)'
    line=$(grep -a -m 1 -E "$said" "$log" | tr '\t' ' ' | cut -c1-120) || true
    if [ "$status" -ne 0 ]; then printf '%s\tfound\t%s\t-\t%s\tstatus %s: %s\n' "$1" "$2" "$seconds" "$status" "$line"
    else printf '%s\tpassed\t%s\t%s\n' "$1" "$2" "$seconds"; fi
}

# Of the cases that the right compiler compares, the share in per mille that a log says are refused.
share() {
    grep -a OUTCOMES "$work/log.right" > "$work/right.outcomes"
    grep -a OUTCOMES "$1" | awk -F'\t' 'NR == FNR { right[$2] = $3; next } {
        n = length($3); if (length(right[$2]) < n) n = length(right[$2])
        for (i = 1; i <= n; i++) if (substr(right[$2], i, 1) == "c") {
            all++; if (substr($3, i, 1) == "r") more++
        }
    } END { printf "%d", all ? 1000 * more / all : 0 }' "$work/right.outcomes" -
}

run() {
    touch "$work/results.tsv"
    seconds=$1; shift
    [ -f "$work/log.right" ] || one right 60
    grep -q KEPT "$work/log.right" || { echo "the right compiler fails"; tail -n 5 "$work/log.right"; exit 1; }
    [ $# -gt 0 ] || set -- $(cut -f1 "$work/mutants.tsv")
    for number; do
        if awk -F'\t' -v n="$number" '$1 == n && ($2 == "found" || $2 == "kept" && $3 >= '"$seconds"') { done = 1 }
            END { exit !done }' "$work/results.tsv"; then continue; fi
        one "$number" "$seconds" | tee -a "$work/results.tsv"
    done
}

run_test() {
    touch "$work/results.tsv"
    name=$1; shift
    one_test right "$name" | tee "$work/right.$name"
    ! grep -q found "$work/right.$name" || { echo "the right compiler fails"; exit 1; }
    [ $# -gt 0 ] || set -- $(cut -f1 "$work/mutants.tsv")
    for number; do
        if awk -F'\t' -v n="$number" '$1 == n && $2 == "found" { done = 1 } END { exit !done }' "$work/results.tsv"
        then continue; fi
        one_test "$number" "$name" | tee -a "$work/results.tsv"
    done
}

table() {
    echo "| mutant | place | mistake | right | result |"
    echo "|---|---|---|---|---|"
    awk -F'\t' 'NR == FNR { last[$1] = $0; next } {
        split(last[$1], r, "\t"); gsub(/\|/, "\\|", $4)
        how = r[2] == "found" ? r[3] ", " r[5] " s, seed " r[4] : r[2] " " r[3] " s, " r[4] " per mille refused"
        print "| " $1 " | `" $2 "` | " $3 " | `" substr($4, 1, 70) "` | " how " |"
    }' "$work/results.tsv" "$work/mutants.tsv"
}

command=$1
[ $# -eq 0 ] || shift
case $command in
    build) build "${1:-200}" ;;
    run) run "$@" ;;
    test) run_test "$@" ;;
    table) table ;;
    *) sed -n '2,11p' "$0"; exit 1 ;;
esac
