#!/usr/bin/env python3
"""Times our contractions beside OpenBLAS (of NumPy), PyTorch (its oneDNN and MKL) and LIBXSMM: products of DeepBench,
layers of ResNet-50, products of bytes, blocks of a transformer, and gated recurrent units (beside OpenBLAS and Numba).

    cargo build --release -p halide-benches && python3 benches/peers/contractions.py --torch DIR/bin/python

Runs inside the `.venv` that `run.py` makes. Every case runs in rounds: one batch of ours, one of each peer, each in a
process of its own, so that a slow minute of the machine hits all of them. Ratios are the peer's time over ours: above 1
we are faster. Ours have schedules of the mapper (`auto-isa`). A peer that is not there is named and left out.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from run import ROOT, enter_venv

HERE = Path(__file__).resolve().parent
WORKER = HERE / "contraction_worker.py"

# Seconds that a batch should take, and the most runs in one.
BATCH, MOST_RUNS = 0.1, 1000
# What a core is taken to do per second: operations, and bytes from memory.
OPERATIONS, BYTES = 1e11, 1e10
# The most operations of a case under `--quick`.
QUICK = 3e9
# The most rows of a product that counts as small.
FEW_ROWS = 64
# Seconds until the threads of a batch that is over no longer spin.
REST = 0.1
# A layer of PyTorch makes its own result: memory is kept, rather than got from the system anew for each.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
KEYS = ("min_ms", "median_ms")
# The sizes of each kind of case, in the order in which peers take them.
PRODUCT = ("m", "n", "k")
SIZES = {"gemm": PRODUCT, "int8": PRODUCT, "layer": ("from", "to", "size", "taps", "stride", "images")}
SIZES |= {"block": ("tokens", "channels"), "gru": ("hidden", "batch")}


class Engine:
    """One contraction by ours or by a peer in a process of its own; `failed` says why it is over."""

    def __init__(self, name, command, threads):
        environment = dict(os.environ, **(KEEP_MEMORY if name == "torch" else {}))
        for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
            environment[variable] = str(threads)
        self.said, self.failed, self.batches = tempfile.TemporaryFile("w+"), None, []
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": self.said, "text": True}
        self.process = subprocess.Popen([str(c) for c in command], env=environment, **pipes)
        self.run(1)

    def run(self, runs):
        """The milliseconds of each run; none where it failed."""
        line = ""
        try:
            print(runs, file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            pass
        if not line:
            self.failed = (self.lines() or ["died"])[-1]
            return []
        return json.loads(line)

    def batch(self, runs):
        """Notes the least and the median milliseconds of some runs."""
        times = [] if self.failed else self.run(runs)
        if times:
            self.batches.append((min(times), statistics.median(times)))

    def lines(self):
        self.said.seek(0)
        return [line.strip() for line in self.said if line.strip()]

    def close(self):
        """Ends the process: its row."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        self.process.wait()
        if self.failed:
            return {"failed": self.failed}
        note = self.lines()[:1]
        least, median = min(b[0] for b in self.batches), statistics.median(b[1] for b in self.batches)
        return {"min_ms": least, "median_ms": median, "note": note[0] if note else ""}


def listed(binary):
    """Our contractions: their names, kinds, sizes and operations."""
    done = subprocess.run([binary, "--list"], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{binary} --list\n{done.stderr}")
    return json.loads(done.stdout)


def chosen(cases, options):
    def wanted(case):
        if case["kind"] == "layer" and case["sizes"]["images"] not in options.images:
            return False
        if options.quick and case["operations"] > QUICK:
            return False
        return not options.only or case["name"].startswith(tuple(options.only))

    return [case for case in cases if wanted(case)]


def torch_version(python):
    """The version of PyTorch that a Python has, or none."""
    show = "import torch; print(torch.__version__)"
    try:
        done = subprocess.run([python, "-W", "ignore", "-c", show], capture_output=True, text=True)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def find_torch(python):
    """A Python that has PyTorch, or none, which it says."""
    version = torch_version(python)
    if version is None:
        print(f"torch is missing in {python}: python3 -m venv DIR && DIR/bin/pip install torch,")
        print("  then --torch DIR/bin/python")
        return None
    print(f"torch {version}")
    return python


def has_libxsmm():
    """Whether the system's folders have it."""
    try:
        check = ["cc", "-E", "-x", "c", "-"]
        return subprocess.run(check, input="#include <libxsmm.h>\n", capture_output=True, text=True).returncode == 0
    except OSError:
        return False


def find_libxsmm(folder, target):
    """The worker of LIBXSMM, built by the library in this folder or in those of the system; or none, which it says."""
    if folder is None and not has_libxsmm():
        print("libxsmm is missing: apt-get install libxsmm-dev; or, without rights for that,")
        print("  apt-get download libxsmm-dev && dpkg -x libxsmm-dev_*.deb DIR, then --libxsmm DIR/usr")
        return None
    worker = target / "libxsmm_worker"
    places = ["-I", folder / "include", "-L", folder / "lib"] if folder else []
    libraries = ["-lxsmm", "-lxsmmnoblas", "-lpthread", "-ldl", "-lm"]
    target.mkdir(exist_ok=True)
    subprocess.run(["cc", "-O2", HERE / "libxsmm_worker.c", *places, *libraries, "-o", worker], check=True)
    return worker


def commands(case, options, threads):
    """What runs a case: ours first, then each peer."""
    kind = case["kind"]
    sizes = [case["sizes"][name] for name in SIZES[kind]]
    found = {"ours": [options.binary, case["name"], "--shapes", "--schedule", "auto-isa", "--threads", threads]}
    if kind in ("gemm", "gru"):
        found["openblas"] = [sys.executable, WORKER, "openblas", kind, *sizes]
    if options.torch:
        found["torch"] = [options.torch, "-W", "ignore", WORKER, "torch", kind, *sizes]
    if options.libxsmm and kind == "layer" and threads == 1:
        found["libxsmm"] = [options.libxsmm, *sizes]
    return found


def bytes_of(case):
    """The bytes of the inputs and the output of a case, about."""
    s = case["sizes"]
    if case["kind"] == "layer":
        pixels = s["images"] * s["size"] ** 2
        return 4 * (pixels * (s["from"] + s["to"] / s["stride"] ** 2) + s["taps"] ** 2 * s["from"] * s["to"])
    if case["kind"] == "gru":
        # The weights once in each of 128 steps.
        return 4 * 3 * s["hidden"] ** 2 * 128
    if case["kind"] == "block":
        return 4 * 12 * s["channels"] ** 2
    factor = 1 if case["kind"] == "int8" else 4
    return factor * s["k"] * (s["m"] + s["n"]) + 4 * s["m"] * s["n"]


def runs_of(case):
    """The number of runs in a batch."""
    seconds = max(case["operations"] / OPERATIONS, bytes_of(case) / BYTES)
    return min(MOST_RUNS, max(1, round(BATCH / seconds)))


def measure(case, options, threads):
    """Interleaved rounds of ours and of every peer: the case's row."""
    engines = {name: Engine(name, command, threads) for name, command in commands(case, options, threads).items()}
    for _ in range(options.rounds):
        for engine in engines.values():
            if threads > 1:
                time.sleep(REST)
            engine.batch(runs_of(case))
    row = case | {"threads": threads, "engines": {name: engine.close() for name, engine in engines.items()}}
    row["ratios"] = ratios(row["engines"])
    return row


def ratios(engines):
    """The times of each peer over ours."""
    ours = engines["ours"]
    peers = {name: e for name, e in engines.items() if name != "ours" and "failed" not in e}
    return {} if "failed" in ours else {name: {key: e[key] / ours[key] for key in KEYS} for name, e in peers.items()}


def speed(operations, milliseconds):
    """GFLOP/s."""
    return operations / milliseconds / 1e6


def show(row):
    parts, notes = [f"{row['name']:19}"], []
    for name, engine in row["engines"].items():
        if "failed" in engine:
            notes.append(f"{name} fails: {engine['failed']}")
            continue
        part, note = f"{name} {engine['min_ms']:8.3f} {engine['median_ms']:8.3f}", engine["note"]
        if name == "ours":
            part += f" {speed(row['operations'], engine['min_ms']):5.1f} GFLOP/s"
            notes.append(note[max(0, note.find("tile")) :])
        elif name in row["ratios"]:
            part += " x{min_ms:.2f} x{median_ms:.2f}".format(**row["ratios"][name])
        if name == "torch":
            notes.append(f"torch {note}")
        parts.append(part)
    print("  ".join(parts) + f"  ({'; '.join(notes)})", flush=True)


def show_layers(rows, peer):
    """How fast all layers are beside a peer: by the time of all of them, and as the mean by operations."""
    rows = [row for row in rows if peer in row["ratios"]]
    operations = sum(row["operations"] for row in rows)
    for key in KEYS:
        total = {name: sum(row["engines"][name][key] for row in rows) for name in ("ours", peer)}
        weighted = sum(row["operations"] * row["ratios"][peer][key] for row in rows) / operations
        speeds = ", ".join(f"{name} {speed(operations, total[name]):.1f}" for name in total)
        print(f"  {key[:-3]:7}{speeds} GFLOP/s: x{total[peer] / total['ours']:.3f}; by operations x{weighted:.3f}")


def show_products(rows, peer):
    """Geometric means of the ratios beside a peer, how many are at least 2, and the worst."""
    for key in KEYS:
        found = [(row["ratios"][peer][key], row) for row in rows if peer in row["ratios"]]
        few = [ratio for ratio, row in found if row["sizes"].get("n", FEW_ROWS + 1) <= FEW_ROWS]
        worst, at = min(found, key=lambda pair: pair[0])
        means = f"all {len(found)} x{statistics.geometric_mean(ratio for ratio, _ in found):.3f}"
        if few:
            means = f"{len(few)} of n <= {FEW_ROWS} x{statistics.geometric_mean(few):.3f}, {means}"
        twice = sum(ratio >= 2 for ratio, _ in found)
        print(f"  {key[:-3]:7}{means}; {twice} at least x2; worst x{worst:.3f} ({at['name']})")


def summarise(rows):
    """Tables of each kind of case, number of images, number of threads, and peer."""
    groups = {}
    for row in rows:
        for peer in row["ratios"]:
            groups.setdefault((row["kind"], row["sizes"].get("images"), row["threads"], peer), []).append(row)
    for (kind, images, threads, peer), group in groups.items():
        of = f" of {images} image(s)" if images else ""
        print(f"\n{kind}{of}, {threads} thread(s), {len(group)} case(s), beside {peer}")
        (show_layers if kind == "layer" else show_products)(group, peer)


def processor():
    """The processor's model."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    return next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), "unknown processor")


def parse():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--binary", default=ROOT / "target" / "release" / "contraction", type=Path)
    options.add_argument("--only", action="append", metavar="PREFIX", help="only cases whose names start so")
    options.add_argument("--images", default=[1, 28], nargs="+", type=int, help="of the layers")
    options.add_argument("--quick", action="store_true", help=f"no cases of more than {QUICK:.0e} operations")
    options.add_argument("--threads", default=[1], type=lambda s: [int(n) for n in s.split(",")])
    options.add_argument("--rounds", default=5, type=int)
    options.add_argument("--torch", default=sys.executable, metavar="PYTHON", help="a Python that has PyTorch")
    options.add_argument("--libxsmm", type=Path, metavar="FOLDER", help="where its include/ and lib/ are")
    options.add_argument("--json", type=Path, default=ROOT / "target" / "contractions.json", metavar="FILE")
    return options.parse_args()


def main():
    options = parse()
    enter_venv()
    if not options.binary.exists():
        raise SystemExit(f"{options.binary} is not there: cargo build --release -p halide-benches")
    print(processor())
    cases = chosen(listed(options.binary), options)
    options.torch = find_torch(options.torch)
    options.libxsmm = find_libxsmm(options.libxsmm, ROOT / "target")
    if options.libxsmm and max(options.threads) > 1:
        print("libxsmm has one thread here: it is left out where there are more")
    rows = []
    for threads in options.threads:
        for case in cases:
            rows.append(measure(case, options, threads))
            show(rows[-1])
    options.json.parent.mkdir(exist_ok=True)
    options.json.write_text(json.dumps({"processor": processor(), "rows": rows}, indent=1) + "\n")
    summarise(rows)


if __name__ == "__main__":
    main()
