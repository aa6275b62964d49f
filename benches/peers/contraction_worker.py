"""Runs one contraction of NumPy (OpenBLAS) or PyTorch (oneDNN, MKL) in a process of its own: PEER KIND SIZES.

Then reads one number of runs per line of stdin and prints the milliseconds of each run as a JSON list; the same
protocol as `other_worker.py`. Sizes are M N K of a product of N rows of K by M columns, or FROM TO SIZE TAPS STRIDE
IMAGES of a layer. Where a peer has several ways, a short trial picks the fastest, whose name goes to stderr.
"""

import functools
import json
import sys
import time

# How long each way runs in each round of the trial, in seconds, and the number of rounds.
TRIAL, TRIAL_ROUNDS = 0.03, 3
# What oneDNN would do with its results besides.
PLAIN = ("none", [], "")


def openblas_gemm(m, n, k):
    import numpy as np

    random = np.random.default_rng(1)
    a, b = (random.random(shape, dtype=np.float32) for shape in ((n, k), (k, m)))
    result = np.empty((n, m), dtype=np.float32)
    return {"matmul": lambda: np.matmul(a, b, out=result)}


def torch_gemm(m, n, k):
    """Ways that take both matrices as they are, as ours and OpenBLAS do: MKL, and oneDNN."""
    import torch

    a, b, result = torch.rand(n, k), torch.rand(k, m), torch.empty(n, m)
    columns, linear = b.t(), torch.ops.mkldnn._linear_pointwise
    return {
        "mkl": lambda: torch.matmul(a, b, out=result),
        "onednn": lambda: linear(a, columns, None, *PLAIN),
    }


def torch_layer(inputs, outputs, size, taps, stride, images):
    """Ways with images as usual and channels last; with these and weights packed before; with images in blocks."""
    import torch

    image, weights = torch.rand(images, inputs, size, size), torch.rand(outputs, inputs, taps, taps)
    last = image.to(memory_format=torch.channels_last)
    weights_last = weights.to(memory_format=torch.channels_last)
    geometry = ([taps // 2] * 2, [stride] * 2, [1, 1], 1)
    conv = functools.partial(torch.nn.functional.conv2d, stride=stride, padding=taps // 2)
    pack = torch._C._nn.mkldnn_reorder_conv2d_weight
    packed = functools.cache(lambda: pack(weights.to_mkldnn(), *geometry, list(image.shape)))
    blocked = functools.cache(lambda: torch.mkldnn_convolution(image.to_mkldnn(), *unchanged(torch, inputs)))
    return {
        "contiguous": lambda: conv(image, weights),
        "channels_last": lambda: conv(last, weights_last),
        "packed": lambda: torch.ops.mkldnn._convolution_pointwise(last, packed(), None, *geometry, *PLAIN),
        "blocked": lambda: torch.mkldnn_convolution(blocked(), packed(), None, *geometry),
    }


def unchanged(torch, channels):
    """Weights and geometry of a layer that changes nothing but the layout: what comes out of oneDNN stays in blocks."""
    weights = torch.eye(channels).reshape(channels, channels, 1, 1)
    return weights.to_mkldnn(), None, [0, 0], [1, 1], [1, 1], 1


def torch_int8(m, n, k):
    """Ways to exact sums, and to floats by weights packed before."""
    import torch

    a = torch.randint(0, 256, (n, k), dtype=torch.uint8)
    b = torch.randint(-128, 128, (k, m), dtype=torch.int8)
    result = torch.empty(n, m, dtype=torch.int32)
    scales, zeros = torch.ones(m), torch.zeros(m, dtype=torch.int64)
    packed = functools.cache(lambda: torch.ops.onednn.qlinear_prepack(b.t().contiguous(), [n, k]))
    to_float = (scales, zeros, None, 1.0, 0, torch.float32, *PLAIN)
    return {
        "int_mm": lambda: torch._int_mm(a, b, out=result),
        "qlinear": lambda: torch.ops.onednn.qlinear_pointwise(a, 1.0, 0, packed(), *to_float),
    }


WAYS = {
    ("openblas", "gemm"): openblas_gemm,
    ("torch", "gemm"): torch_gemm,
    ("torch", "layer"): torch_layer,
    ("torch", "int8"): torch_int8,
}


def timed(run):
    """The milliseconds of one run."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) * 1e3


def least(run):
    """The least milliseconds of a batch of the trial."""
    end, times = time.perf_counter() + TRIAL, []
    while not times or time.perf_counter() < end:
        times.append(timed(run))
    return min(times)


def works(run):
    """Whether this build of the peer has this way; runs it once."""
    try:
        run()
    except (AttributeError, RuntimeError):
        return False
    return True


def fastest(ways):
    """The fastest way and its name."""
    ways = {name: run for name, run in ways.items() if works(run)}
    if not ways:
        raise SystemExit("none of its ways works here")
    if len(ways) > 1:
        times = [[least(run) for run in ways.values()] for _ in range(TRIAL_ROUNDS)]
        best = [min(column) for column in zip(*times)]
        name = list(ways)[best.index(min(best))]
    else:
        (name,) = ways
    return name, ways[name]


def serve(ways):
    name, run = fastest(ways)
    print(name, file=sys.stderr, flush=True)
    for line in sys.stdin:
        print(json.dumps([timed(run) for _ in range(int(line))]), flush=True)


def main():
    peer, kind, sizes = sys.argv[1], sys.argv[2], map(int, sys.argv[3:])
    if peer == "torch":
        import torch

        with torch.inference_mode():
            serve(WAYS[peer, kind](*sizes))
    else:
        serve(WAYS[peer, kind](*sizes))


if __name__ == "__main__":
    main()
