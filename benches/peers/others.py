"""Our apps beside what a user would pick instead: OpenCV, NumPy with OpenBLAS, Rust crates, and loops by hand."""

import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
RUST = HERE / "rust"

# Kernel: our app, its settings, the size of the output, timed runs per round, and what the peers do differently.
CASES = {
    "matmul": ("matmul", [], (1024, 1024), 5, ""),
    "matmul_f64": ("matmul", ["type=f64"], (1024, 1024), 5, ""),
    "blur": ("blur", [], (6400, 4800), 10, "opencv: rounds to nearest, has borders; imageproc: of u8, has borders"),
    "resize_half_f32": ("resize", [], (1280, 768), 10, "opencv: 4 taps, so that the result has aliases"),
    "resize_double_u8": ("resize", ["type=u8", "scale=2"], (5120, 3072), 5, ""),
    "harris": ("harris", [], (1530, 2554), 10, "from one channel, ours from RGB"),
    "hist": ("hist", [], (1536, 2560), 10, "one channel of u8, ours RGB of u8"),
    "max_filter": ("max_filter", [], (1536, 2560), 2, "imageproc: one channel of u8"),
    "bilateral_grid": ("bilateral_grid", [], (1536, 2560), 2, "exact, 9 x 9; ours over a grid, wider; imageproc: of u8"),
    "nl_means": ("nl_means", [], (1536, 2560), 1, "u8 in Lab, ours RGB of f32"),
    "cumsum": ("cumsum", [], (100_000, 1), 200, "by hand: one after the other"),
    "cumsum_large": ("cumsum", [], (10_000_000, 1), 5, "by hand: one after the other"),
    "mandelbrot": ("mandelbrot", [], (1536, 1024), 5, "by hand: in vectors of AVX-512, on one thread"),
}
PYTHON = {
    "opencv": ["blur", "resize_half_f32", "resize_double_u8", "harris", "hist", "max_filter", "bilateral_grid", "nl_means"],
    "openblas": ["matmul", "matmul_f64"],
    "numpy": ["cumsum", "cumsum_large"],
}
CRATES = {
    "faer": ["matmul", "matmul_f64"],
    "gemm": ["matmul", "matmul_f64"],
    "matrixmultiply": ["matmul", "matmul_f64"],
    "fast_image_resize": ["resize_half_f32", "resize_double_u8"],
    "image": ["resize_double_u8"],
    "by_hand": ["cumsum", "cumsum_large", "mandelbrot"],
    "imageproc": ["blur", "hist", "max_filter", "bilateral_grid"],
}
# Our schedules of apps, where it is not `cpu`: of an app beside Halide the first one of `run.py`.
SCHEDULES = {"cumsum": "lanes"}
# Sizes of products besides the usual one.
MORE_SIZES = {"matmul": [1023, 2048, 3199]}


def crates_binary():
    """The peers among Rust crates, built for this machine."""
    environment = dict(os.environ, RUSTFLAGS="-C target-cpu=native")
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=RUST, env=environment, check=True)
    target = Path(os.environ.get("CARGO_TARGET_DIR", RUST / "target"))
    return target / "release" / "halide-peers"


class Peer:
    """One kernel of a peer in a process of its own."""

    def __init__(self, command, threads):
        environment = dict(os.environ)
        for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MATMUL_NUM_THREADS", "RAYON_NUM_THREADS"):
            environment[name] = str(threads)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
        self.process = subprocess.Popen([str(c) for c in command], env=environment, **pipes)

    def run(self, runs):
        print(runs, file=self.process.stdin, flush=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.process.args} died")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def measure(kernel, size, ours, crates, rounds, threads):
    """Interleaved rounds of ours and of every peer of a kernel; `ours(app, settings, size, runs)` gives (min, median) ms."""
    app, settings, _, runs, differs = CASES[kernel]
    numbers = [*size, threads]
    peers = {}
    for name, kernels in PYTHON.items():
        if kernel in kernels:
            peers[name] = Peer([sys.executable, HERE / "other_worker.py", kernel, name, *numbers], threads)
    for name, kernels in CRATES.items():
        if kernel in kernels:
            peers[name] = Peer([crates, kernel, name, *numbers], threads)
    times = {name: [] for name in ["ours", *peers]}
    for _ in range(rounds):
        times["ours"].append(ours(app, settings, size, runs))
        for name, peer in peers.items():
            batch = peer.run(runs)
            times[name].append((min(batch), statistics.median(batch)))
    for peer in peers.values():
        peer.close()
    rows = []
    for name, found in times.items():
        least, median = min(t[0] for t in found), statistics.median(t[1] for t in found)
        rows.append({"kernel": kernel, "engine": name, "threads": threads, "size": list(size), "differs": differs})
        rows[-1].update(min_ms=least, median_ms=median)
    for row in rows[1:]:
        row["ours_over_this"] = {k: rows[0][k] / row[k] for k in ("min_ms", "median_ms")}
    return rows


def show(rows):
    first = rows[0]
    print(f"\n{first['kernel']} {first['size'][0]}x{first['size'][1]}, {first['threads']} thread(s)", end="")
    print(f" (the peer: {first['differs']})" if first["differs"] else "")
    for row in rows:
        line = f"  {row['engine']:18}{row['min_ms']:9.2f}{row['median_ms']:9.2f}"
        if "ours_over_this" in row:
            line += f"   ours/this: {row['ours_over_this']['min_ms']:.2f}  {row['ours_over_this']['median_ms']:.2f}"
        print(line)


def run_all(kernels, ours, rounds, threads):
    """Every kernel by every peer: rows as `measure` makes them."""
    crates, everything = crates_binary(), []
    for kernel in kernels:
        usual = CASES[kernel][2]
        for size in [usual] + [(n, n) for n in MORE_SIZES.get(kernel, [])]:
            for count in threads:
                few = lambda app, settings, size, runs, count=count: ours(app, settings, size, runs, count)
                rows = measure(kernel, size, few, crates, rounds, count)
                show(rows)
                everything += rows
    return everything
