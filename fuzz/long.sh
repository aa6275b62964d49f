#!/bin/sh
# A long run of one of the tests of `checks/`, which goes on after cases that the process does not survive: crashes of
# machine code, memory that runs out, compilation without end. Prints their seeds; their cases are drawn again by
# `HALIDE_FUZZ_CASES=1 HALIDE_FUZZ_SEED=...`.
#
# fuzz/long.sh TEST FIRST COUNT [PROGRAM]
# HALIDE_FUZZ_MEMORY: kilobytes of address space, 16000000 otherwise. HALIDE_FUZZ_LIMIT: seconds of a case, 120 otherwise.
test=$1 first=$2 end=$(($2 + $3)) program=$4 step=${HALIDE_FUZZ_STEP:-1}
cd "$(dirname "$0")/../checks" || exit 1
if [ -z "$program" ]; then
    cargo test --release -p halide-checks --no-run || exit 1
    program="cargo test --release -p halide-checks"
fi
HALIDE_FUZZ_LAST=$(mktemp)
export HALIDE_FUZZ_LAST HALIDE_FUZZ_LIMIT="${HALIDE_FUZZ_LIMIT:-120}"
ulimit -v "${HALIDE_FUZZ_MEMORY:-16000000}"
ulimit -c 0
while [ "$first" -lt "$end" ]; do
    echo "$first" > "$HALIDE_FUZZ_LAST"
    export HALIDE_FUZZ_SEED=$first HALIDE_FUZZ_CASES=$((end - first))
    case $program in
        cargo*) $program "$test" -- --exact --nocapture ;;
        *) "$program" "$test" --exact --nocapture ;;
    esac
    status=$?
    last=$(cat "$HALIDE_FUZZ_LAST")
    if [ "$status" -eq 0 ]; then
        break
    fi
    if [ "$status" -le 101 ] && [ "$status" -ne 99 ] && [ "$((last + step))" -ge "$end" ]; then
        break
    fi
    echo "== seed $last: the process ended with $status"
    first=$((last + step))
done
rm -f "$HALIDE_FUZZ_LAST"
