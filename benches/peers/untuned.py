"""Times the pipelines that nobody tuned, ours and the same in Halide under the same plain schedule and under those of
its autoschedulers, side by side; and compares their results.

    cargo build --release -p halide-benches --bench runtime && python3 benches/peers/untuned.py

Every pipeline runs in rounds: one batch of ours, one of each Halide target. Prints a table, and keeps it in
`target/untuned.md`.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import run



def ours(binary, name, threads, seconds, write=None):
    """One batch of ours: (min, median) ms."""
    command = [binary, "--untuned", "--app", name, "--threads", threads, "--seconds", seconds, "--json", "-"]
    command += ["--write", write] if write else []
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    (row,) = json.loads(done.stdout)["runs"]
    return row["min_ms"], row["median_ms"]


def compare(name, mine, theirs, kind):
    """The largest difference relative to the largest value, and 1 for integers that differ by 1."""
    import numpy as np

    a, b = (np.fromfile(path, kind).astype(np.float64) for path in (mine, theirs))
    if a.shape != b.shape:
        raise SystemExit(f"{name}: ours has {a.size} values, Halide {b.size}")
    largest = float(np.abs(a - b).max())
    allowed = 1.0 if np.dtype(kind).kind in "iu" else 1e-3 * max(1.0, float(np.abs(b).max()))
    if largest > allowed:
        raise SystemExit(f"{name}: ours and Halide differ by {largest}")
    return largest


def measure(name, options, threads):
    import halide_untuned

    workers, times, runs = {}, {"ours": []}, {}
    kinds = [(target, run.TARGETS[target], None) for target in options.targets]
    kinds += [(auto, "host", auto) for auto in options.autoschedulers]
    for engine, target, auto in kinds:
        worker = run.Worker(threads)
        command = {"app": name, "schedule": "plain", "target": target, "auto": auto, "threads": threads}
        width, height = halide_untuned.APPS[name].size
        answer = worker(do="compile", width=width, height=height, seed=1, **command)
        if "failed" in answer:
            print(f"{name}: {engine} fails: {answer['failed']}", file=sys.stderr)
            worker.close()
            continue
        least = min(worker(do="run", runs=3)["ms"])
        workers[engine], times[engine] = worker, []
        runs[engine] = max(3, int(options.seconds * 1e3 / least))
    for _ in range(options.rounds):
        times["ours"].append(ours(options.binary, name, threads, options.seconds))
        for engine, worker in workers.items():
            batch = worker(do="run", runs=runs[engine])["ms"]
            times[engine].append((min(batch), statistics.median(batch)))
    with tempfile.TemporaryDirectory() as folder:
        mine, theirs = Path(folder, "ours"), Path(folder, "halide")
        ours(options.binary, name, threads, 0, mine)
        kind = workers[options.targets[0]](do="save", path=str(theirs))["kind"]
        difference = compare(name, mine, theirs, kind)
    for worker in workers.values():
        worker.close()
    found = {engine: (min(t[0] for t in all), statistics.median(t[1] for t in all)) for engine, all in times.items()}
    return {"name": name, "threads": threads, "difference": difference, "ms": found}


def table(rows, engines):
    """Rows of ours, of each engine, and of ours over the best of the others."""
    lines = ["| pipeline | threads | ours ms | " + " | ".join(engines) + " | ours / best |"]
    lines.append("|---" * (len(engines) + 4) + "|")
    ratios = {}
    for row in rows:
        ms = row["ms"]
        ratio = ms["ours"][0] / min(ms[e][0] for e in engines if e in ms)
        ratios.setdefault(row["threads"], []).append(ratio)
        cells = [f"{ms[e][0]:.3f}" if e in ms else "-" for e in engines]
        lines.append(f"| {row['name']} | {row['threads']} | {ms['ours'][0]:.3f} | {' | '.join(cells)} | {ratio:.2f} |")
    for threads, all in ratios.items():
        mean = math.exp(sum(map(math.log, all)) / len(all))
        lines.append(f"\nGeometric mean of ours / best with {threads} thread(s): {mean:.3f}")
    return "\n".join(lines)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", type=Path, help="the bench `runtime`; the newest that was built, otherwise")
    options.add_argument("--only", action="append")
    options.add_argument("--targets", default="sse41,avx2,host", type=lambda s: s.split(","))
    options.add_argument("--threads", default=[1], type=lambda s: [int(n) for n in s.split(",")])
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--seconds", default=0.5, type=float, help="of one batch")
    names = lambda text: [name for name in text.split(",") if name]
    options.add_argument("--autoschedulers", default=["mullapudi2016", "adams2019"], type=names, help="also li2018")
    options.add_argument("--markdown", type=Path, default=run.ROOT / "target" / "untuned.md")
    options = options.parse_args()
    run.enter_venv()
    if options.binary is None:
        target = Path(os.environ.get("CARGO_TARGET_DIR", run.ROOT / "target"))
        built = [p for p in (target / "release" / "deps").glob("runtime-*") if not p.suffix]
        if not built:
            raise SystemExit("no bench is there: cargo build --release -p halide-benches --bench runtime")
        options.binary = max(built, key=lambda p: p.stat().st_mtime)
    import halide_untuned

    names = [n for n in halide_untuned.APPS if not options.only or n in options.only]
    rows = [measure(name, options, threads) for threads in options.threads for name in names]
    text = table(rows, [*options.targets, *options.autoschedulers])
    print(text)
    options.markdown.parent.mkdir(exist_ok=True)
    options.markdown.write_text(text + "\n")


if __name__ == "__main__":
    main()
