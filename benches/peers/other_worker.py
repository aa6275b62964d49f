"""Runs one kernel of OpenCV or NumPy in a process of its own: KERNEL PEER WIDTH HEIGHT THREADS.

Then reads one number of runs per line of stdin and prints the milliseconds of each run as a JSON list; the same protocol as
`rust/src/main.rs`. Width and height are those of the output.
"""

import json
import sys
import time

import numpy as np

KERNELS = {}


def kernel(name, peer):
    def note(function):
        KERNELS[name, peer] = function
        return function

    return note


def noise(shape, kind="f32"):
    random = np.random.default_rng(1)
    if kind == "f32":
        return random.random(shape, dtype=np.float32)
    return random.integers(0, np.iinfo(kind).max + 1, shape, dtype=kind)


def product(kind):
    def set_up(width, height):
        a, b = noise((height, width)).astype(kind), noise((width, width)).astype(kind)
        result = np.empty((height, width), dtype=kind)
        return lambda: np.matmul(a, b, out=result)

    return set_up


KERNELS["matmul", "openblas"] = product(np.float32)
KERNELS["matmul_f64", "openblas"] = product(np.float64)


def prefix_sum(width, height):
    values, result = noise((width,)), np.empty(width, dtype=np.float32)
    return lambda: np.cumsum(values, out=result)


KERNELS["cumsum", "numpy"] = prefix_sum
KERNELS["cumsum_large", "numpy"] = prefix_sum


@kernel("blur", "opencv")
def blur(width, height):
    import cv2

    image = noise((height, width), np.uint16)
    result = np.empty_like(image)
    return lambda: cv2.blur(image, (3, 3), dst=result)


@kernel("resize_half_f32", "opencv")
def half(width, height):
    import cv2

    image = noise((2 * height, 2 * width, 3))
    return lambda: cv2.resize(image, (width, height), interpolation=cv2.INTER_CUBIC)


@kernel("resize_double_u8", "opencv")
def double(width, height):
    import cv2

    image = noise((height // 2, width // 2, 3), np.uint8)
    return lambda: cv2.resize(image, (width, height), interpolation=cv2.INTER_CUBIC)


@kernel("harris", "opencv")
def harris(width, height):
    import cv2

    image = noise((height, width))
    return lambda: cv2.cornerHarris(image, 3, 3, 0.04)


@kernel("hist", "opencv")
def equalise(width, height):
    import cv2

    image = noise((height, width), np.uint8)
    return lambda: cv2.equalizeHist(image)


@kernel("max_filter", "opencv")
def dilate(width, height):
    import cv2

    image = noise((height, width, 3))
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (53, 53))
    return lambda: cv2.dilate(image, disc)


@kernel("bilateral_grid", "opencv")
def bilateral(width, height):
    import cv2

    image = noise((height, width))
    return lambda: cv2.bilateralFilter(image, 9, 0.1, 8)


@kernel("nl_means", "opencv")
def means(width, height):
    import cv2

    image = noise((height, width, 3), np.uint8)
    return lambda: cv2.fastNlMeansDenoisingColored(image, None, 3, 3, 7, 7)


def main():
    name, peer, width, height, threads = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
    if peer == "opencv":
        import cv2

        cv2.setNumThreads(threads)
    run = KERNELS[name, peer](width, height)
    run()
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            start = time.perf_counter()
            run()
            times.append((time.perf_counter() - start) * 1e3)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
