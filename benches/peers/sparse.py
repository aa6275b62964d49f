#!/usr/bin/env python3
"""Times products of sparse matrices by procs (`frontends/seq`) beside SciPy, Numba and a loop in Rust.

    cargo build --release -p halide-benches --bin sparse && python3 benches/peers/sparse.py

Runs inside the `.venv` that `run.py` makes, into which `pip install scipy` goes. Every matrix runs in rounds, one batch
of each, each in a process of its own. Ratios are the peer's time over that of the better of our nests: above 1 we are
faster. One thread.
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from contractions import Engine, processor
from run import ROOT, enter_venv

WORKER = Path(__file__).resolve().parent / "sparse_worker.py"
# Runs of a batch take about so many milliseconds, at so many elements per millisecond.
BATCH, RATE = 100, 1e6
OURS = ("scalar", "vector")


def measure(case, options, folder):
    """Interleaved rounds of all: the row of a matrix."""
    path = Path(folder) / f"{case['name']}.bin"
    subprocess.run([options.binary, case["name"], "--write", path], check=True)
    commands = {how: [options.binary, case["name"], "--how", how] for how in (*OURS, "loop")}
    commands |= {peer: [sys.executable, WORKER, peer, path] for peer in ("scipy", "numba")}
    engines = {name: Engine(name, command, 1) for name, command in commands.items()}
    runs = max(3, round(BATCH * RATE / case["elements"]))
    for _ in range(options.rounds):
        for engine in engines.values():
            engine.batch(runs)
    path.unlink()
    return {name: engine.close() for name, engine in engines.items()}


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=ROOT / "target" / "release" / "sparse", type=Path)
    options.add_argument("--only", action="append", metavar="PREFIX", help="only matrices whose names start so")
    options.add_argument("--rounds", default=3, type=int)
    options = options.parse_args()
    enter_venv()
    print(processor())
    cases = json.loads(subprocess.run([options.binary, "--list"], capture_output=True, check=True).stdout)
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            if options.only and not case["name"].startswith(tuple(options.only)):
                continue
            row = measure(case, options, folder)
            times = {name: engine["min_ms"] for name, engine in row.items() if "min_ms" in engine}
            ours = min(times[how] for how in OURS)
            parts = [f"{name} {time:.3f}" for name, time in times.items()]
            for peer in sorted(set(times) - set(OURS)):
                found.setdefault(peer, []).append(times[peer] / ours)
                parts.append(f"{peer} x{times[peer] / ours:.2f}")
            failed = [f"{name} fails: {engine['failed']}" for name, engine in row.items() if "failed" in engine]
            print(f"{case['name']:13}", "  ".join(parts + failed), flush=True)
    for peer, ratios in found.items():
        print(f"{peer}: geometric mean x{statistics.geometric_mean(ratios):.2f}, worst x{min(ratios):.2f}")


if __name__ == "__main__":
    main()
