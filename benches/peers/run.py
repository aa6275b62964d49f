#!/usr/bin/env python3
"""Times our apps and the same algorithms in Halide (pip `halide`) side by side, and compares their pixels; then our apps
beside OpenCV, OpenBLAS and Rust crates (`--others` for these alone, `--kernel` for some of them).

    cargo build --release -p halide-apps && python3 benches/peers/run.py

Makes `.venv` beside itself on first use. Every pairing runs in rounds: one batch of ours, one of each Halide target, so
that a slow minute of the machine hits all of them. Halide runs with our schedules for it on three targets, and with those of
its autoschedulers on `host` (`--autoschedulers ""`: without these). Prints tables and a summary, and keeps the summary in
`target/peers.md` and all numbers in `target/peers.json`. `--halide-only` needs no build of ours.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import others
import report

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
VENV = HERE / ".venv"
PACKAGES = ["halide==21.0.0", "numpy==2.4.6", "opencv-python-headless==5.0.0.93", "numba==0.68.1"]

TARGETS = {
    "sse41": "x86-64-linux-sse41",
    "avx2": "x86-64-linux-sse41-avx-avx2-f16c-fma",
    "host": "host",
}
# App: output size, timed runs per round, and the pairs of (our schedule, Halide's schedule).
CASES = {
    "blur": ((6400, 4800), 10, [("columns", "columns"), ("strips", "strips"), ("tiles", "tiles")]),
    "local_laplacian": ((2560, 1536), 3, [("cpu", "cpu"), ("single_thread", "single_thread"), ("rows", "rows"), ("root", "root")]),
    "unsharp": ((1536, 2560), 10, [("cpu", "cpu")]),
    "harris": ((1530, 2554), 10, [("cpu", "cpu")]),
    "hist": ((1536, 2560), 10, [("cpu", "cpu")]),
    "max_filter": ((1536, 2560), 3, [("cpu", "cpu")]),
    "stencil_chain": ((1536, 2560), 3, [("cpu", "tiles")]),
    "iir_blur": ((1536, 2560), 5, [("cpu", "cpu")]),
    "bilateral_grid": ((1536, 2560), 5, [("cpu", "cpu")]),
    "interpolate": ((1536, 2560), 5, [("cpu", "cpu")]),
    "nl_means": ((1536, 2560), 2, [("cpu", "cpu")]),
    "matmul": ((1024, 1024), 5, [("cpu", "cpu")]),
    "camera_pipe": ((2560, 1920), 5, [("cpu", "cpu")]),
    "conv_layer": ((100, 80), 3, [("cpu", "cpu")]),
    "resize": ((1280, 768), 10, [("cpu", "cpu")]),
    "lens_blur": ((192, 320), 5, [("cpu", "cpu")]),
}
# How far the results may be apart: largest difference, and the share of values that may differ at all.
TOLERANCE = {"blur": (0, 0.0), "hist": (0, 0.0), "camera_pipe": (0, 0.0), "stencil_chain": (0, 0.0)}
USUAL_TOLERANCE = (1, 0.01)
# Their outputs are no images that could be compared, or random numbers decide them.
NOT_COMPARED = ["harris", "matmul", "conv_layer", "lens_blur"]


def enter_venv():
    """Starts this script again inside its own environment, made on first use."""
    if Path(sys.prefix).resolve() == VENV.resolve():
        return
    python = VENV / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", VENV], check=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
    os.execv(python, [str(python), *sys.argv])


class Worker:
    """Halide in a process of its own."""

    def __init__(self, threads):
        environment = dict(os.environ, HL_NUM_THREADS=str(threads))
        self.process = subprocess.Popen(
            [sys.executable, HERE / "halide_worker.py"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def __call__(self, **command):
        print(json.dumps(command), file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"the Halide worker died on {command}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def ours(binary, app, schedule, size, threads, seed, runs, out=None, settings=()):
    """One run of our binary: its JSON."""
    command = [binary, "run", app, *([out] if out else []), "--schedule", schedule, "--threads", threads]
    for setting in settings:
        command += ["--param", setting]
    command += ["--size", "%dx%d" % size, "--random", seed, "--bench", runs, "--json"]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return json.loads(done.stdout)


def measure(case, options, threads):
    """Times one app with `threads`: a list of rows, one per engine, target and schedule."""
    app, (size, runs, pairs) = case
    pairs = [p for p in pairs if not options.schedule or p[0] in options.schedule]
    workers, times, rows = {}, {}, {}
    kinds = [("halide-" + target, TARGETS[target], s, None) for _, s in pairs for target in options.targets]
    kinds += [(f"halide-{name}", "host", "auto", name) for name in options.autoschedulers]
    for engine, target, schedule, auto in kinds:
        key, worker = (engine, schedule), Worker(threads)
        command = {"app": app, "schedule": schedule, "target": target, "auto": auto, "threads": threads}
        compiled = worker(do="compile", width=size[0], height=size[1], seed=options.seed, **command)
        if "failed" in compiled:
            print(f"{app}: {engine} fails: {compiled['failed']}", file=sys.stderr)
            worker.close()
            continue
        worker(do="run", runs=1)
        workers[key], times[key] = worker, []
        rows[key] = {"compile_ms": compiled["next_ms"], "first_compile_ms": compiled["first_ms"]}
        rows[key] |= {"peak_mb": compiled["peak_mb"], "autoscheduler_ms": compiled["autoscheduler_ms"]}
    for _ in range(options.rounds):
        for schedule, _ in pairs if not options.halide_only else []:
            key = ("ours", schedule)
            answer = ours(options.binary, app, schedule, size, threads, options.seed, runs)
            times.setdefault(key, []).append((answer["min_ms"], answer["median_ms"]))
            compiled = {"compile_ms": answer["next_compile_ms"], "first_compile_ms": answer["compile_ms"]}
            row = rows.setdefault(key, compiled | {"peak_mb": answer.get("peak_mb")})
            row.update({k: min(row[k], ms) for k, ms in compiled.items()})
        for key, worker in workers.items():
            batch = worker(do="run", runs=runs)["ms"]
            times[key].append((min(batch), statistics.median(batch)))
    compared = not options.halide_only and app not in NOT_COMPARED
    differences = compare(app, pairs, workers, options, size, threads) if compared else {}
    for worker in workers.values():
        worker.close()
    for key, row in rows.items():
        row["engine"], row["schedule"] = key
        row.update(app=app, threads=threads, size=list(size))
        row["min_ms"] = min(t[0] for t in times[key])
        row["median_ms"] = statistics.median(t[1] for t in times[key])
        row.update(differences.get(key, {}))
    return list(rows.values())


def compare(app, pairs, workers, options, size, threads):
    """How far each of our results is from Halide's.

    It must agree with Halide's `strict_float` build. Halide's usual one folds and reorders floats; where that moves a
    value over a truncation to a table index, Halide's builds differ from one another, so that is reported only.
    """
    import numpy as np

    import data

    differences = {}
    with tempfile.TemporaryDirectory() as folder:
        for mine, theirs in pairs:
            a, b = Path(folder, "ours.pnm"), Path(folder, "halide.pnm")
            ours(options.binary, app, mine, size, threads, options.seed, 1, a)
            result = differences["ours", mine] = {}
            for strict in (True, False):
                workers["halide-" + options.targets[0], theirs](do="write", path=str(b), strict=strict)
                delta = np.abs(data.read_pnm(a).astype(np.int32) - data.read_pnm(b))
                name = "strict" if strict else "fast_math"
                result[name] = {
                    "largest": int(delta.max()),
                    "share": float((delta > 0).mean()),
                    "share_beyond": float((delta > tolerance(app)[0]).mean()),
                }
            result["agrees"] = within(app, result["strict"])
    return differences


def tolerance(app):
    return TOLERANCE.get(app, USUAL_TOLERANCE)


def within(app, difference):
    largest, share = tolerance(app)
    return difference["largest"] <= largest and difference["share"] <= share


def best_of_ours(options):
    """A function that times an app under its best schedule for one thread: (min, median) ms."""

    def run(app, settings, size, runs, threads):
        schedule = CASES[app][2][0][0] if app in CASES else others.SCHEDULES.get(app, "cpu")
        answer = ours(options.binary, app, schedule, size, threads, options.seed, runs, settings=settings)
        return answer["min_ms"], answer["median_ms"]

    return run


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=ROOT / "target" / "release" / "halide", type=Path)
    options.add_argument("--app", action="append", choices=list(CASES))
    options.add_argument("--schedule", action="append", help="only these of our schedules, with their partners")
    options.add_argument("--targets", default="sse41,avx2,host", type=lambda s: s.split(","))
    options.add_argument("--threads", default=[1, 2], type=lambda s: [int(n) for n in s.split(",")])
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--seed", default=1, type=int)
    names = lambda text: [name for name in text.split(",") if name]
    options.add_argument("--autoschedulers", default=["mullapudi2016", "adams2019"], type=names, help="also li2018")
    options.add_argument("--halide-only", action="store_true")
    options.add_argument("--others", action="store_true", help="only what is no Halide")
    options.add_argument("--kernel", action="append", choices=list(others.CASES), help="only these beside what is no Halide")
    options.add_argument("--json", type=Path, default=ROOT / "target" / "peers.json")
    options.add_argument("--markdown", type=Path, default=ROOT / "target" / "peers.md")
    options = options.parse_args()
    enter_venv()
    if not options.halide_only and not options.binary.exists():
        raise SystemExit(f"{options.binary} is not there: cargo build --release -p halide-apps")
    everything = []
    apps = [] if options.others or options.kernel else options.app or CASES
    for app in apps:
        for threads in options.threads:
            rows = measure((app, CASES[app]), options, threads)
            report.show(rows, CASES[app][2])
            everything += rows
    if not options.app and not options.halide_only:
        everything += others.run_all(options.kernel or others.CASES, best_of_ours(options), options.rounds, options.threads)
    summary = report.summary(everything)
    print("\n" + summary)
    options.json.parent.mkdir(exist_ok=True)
    options.markdown.write_text(summary + "\n")
    options.json.write_text(json.dumps(everything, indent=1) + "\n")
    if not all(row.get("agrees", True) for row in everything):
        raise SystemExit("results do not agree")


if __name__ == "__main__":
    main()
