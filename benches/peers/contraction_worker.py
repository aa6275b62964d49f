"""Runs one contraction of NumPy (OpenBLAS) or PyTorch (oneDNN, MKL) in a process of its own: PEER KIND SIZES.

Then reads one number of runs per line of stdin and prints the milliseconds of each run as a JSON list; the same
protocol as `other_worker.py`. Sizes are M N K of a product of N rows of K by M columns, FROM TO SIZE TAPS STRIDE IMAGES of a
layer, HIDDEN BATCH of gated recurrent units, or TOKENS CHANNELS of a block of a transformer. Where a peer has several ways, a short trial picks the fastest, whose name goes to stderr.
"""

import functools
import json
import sys
import time

# How long each way runs in each round of the trial, in seconds, and the number of rounds.
TRIAL, TRIAL_ROUNDS = 0.03, 3
# What oneDNN would do with its results besides.
PLAIN = ("none", [], "")
# The steps of a sequence, the heads of a block, and the numbers between its layers over those of a token.
STEPS, HEADS, WIDER = 128, 8, 4


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


def openblas_gru(hidden, batch):
    """Products of all inputs by one product of matrices, those of a state by one in each step, and gates by Numba."""
    import math

    import numpy as np

    try:
        import numba
    except ImportError:
        raise SystemExit("numba is missing: benches/peers/.venv/bin/pip install numba") from None

    random = np.random.default_rng(1)
    scale = np.float32(hidden**-0.5)
    numbers = lambda *shape: random.random(shape, dtype=np.float32) * 2 - 1
    x = numbers(STEPS * batch, hidden)
    from_input, from_state = (numbers(hidden, 3 * hidden) * scale for _ in range(2))
    input_bias, bias = (numbers(3 * hidden) * scale for _ in range(2))

    @numba.njit(fastmath=True)
    def step(gates, sums, input_bias, bias, h):
        one, n = np.float32(1), h.shape[1]
        for b in range(h.shape[0]):
            for j in range(n):
                r = one / (one + math.exp(-(gates[b, j] + input_bias[j] + sums[b, j] + bias[j])))
                k = j + n
                z = one / (one + math.exp(-(gates[b, k] + input_bias[k] + sums[b, k] + bias[k])))
                k = j + 2 * n
                new = math.tanh(gates[b, k] + input_bias[k] + r * (sums[b, k] + bias[k]))
                h[b, j] = (one - z) * new + z * h[b, j]

    gates = np.empty((STEPS * batch, 3 * hidden), np.float32)
    sums, h = np.empty((batch, 3 * hidden), np.float32), np.empty((batch, hidden), np.float32)

    def run():
        np.matmul(x, from_input, out=gates)
        h[:] = 0
        for t in range(STEPS):
            np.matmul(h, from_state, out=sums)
            step(gates[t * batch : (t + 1) * batch], sums, input_bias, bias, h)

    return {"numba": run}


def torch_gru(hidden, batch):
    import torch

    layer, x = torch.nn.GRU(hidden, hidden).eval(), torch.rand(STEPS, batch, hidden) * 2 - 1
    return {"gru": lambda: layer(x)}


def torch_block(tokens, channels):
    """Its layer for encoders, and the same of a fused attention."""
    import torch

    layer = torch.nn.TransformerEncoderLayer(channels, HEADS, WIDER * channels, dropout=0, batch_first=True).eval()
    x, own, linear = torch.rand(1, tokens, channels) * 2 - 1, layer.self_attn, torch.nn.functional.linear
    attention = torch.nn.functional.scaled_dot_product_attention

    def fused():
        heads = linear(x, own.in_proj_weight, own.in_proj_bias).view(1, tokens, 3, HEADS, channels // HEADS)
        mixed = attention(*heads.permute(2, 0, 3, 1, 4)).transpose(1, 2).reshape(1, tokens, channels)
        first = layer.norm1(x + own.out_proj(mixed))
        return layer.norm2(first + layer.linear2(torch.relu(layer.linear1(first))))

    return {"encoder": lambda: layer(x), "fused": fused}


WAYS = {
    ("openblas", "gru"): openblas_gru,
    ("torch", "gru"): torch_gru,
    ("torch", "block"): torch_block,
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
