"""Multiplies a sparse matrix by SciPy or Numba: the protocol of `contraction_worker.py`."""

import json
import sys
import time

import numpy


def read(path):
    """Offsets, columns, values and the vector, as `sparse --write` writes them."""
    with open(path, "rb") as file:
        found = []
        for kind in (numpy.int32, numpy.int32, numpy.float64, numpy.float64):
            count = int.from_bytes(file.read(8), "little")
            found.append(numpy.fromfile(file, dtype=kind, count=count))
    return found


def of_scipy(offsets, columns, values, vector):
    import scipy
    from scipy.sparse import csr_matrix

    print(f"scipy {scipy.__version__}", file=sys.stderr, flush=True)
    matrix = csr_matrix((values, columns, offsets), shape=(len(offsets) - 1, len(vector)))
    return lambda: matrix @ vector


def of_numba(offsets, columns, values, vector):
    import numba

    print(f"numba {numba.__version__}", file=sys.stderr, flush=True)

    @numba.njit(error_model="numpy")
    def multiply(offsets, columns, values, vector):
        out = numpy.empty(len(offsets) - 1)
        for row in range(len(out)):
            total = 0.0
            for k in range(offsets[row], offsets[row + 1]):
                total += values[k] * vector[columns[k]]
            out[row] = total
        return out

    return lambda: multiply(offsets, columns, values, vector)


def main():
    peer, path = sys.argv[1:]
    multiply = {"scipy": of_scipy, "numba": of_numba}[peer](*read(path))
    for line in sys.stdin:
        times = []
        for _ in range(int(line)):
            begin = time.perf_counter()
            multiply()
            times.append((time.perf_counter() - begin) * 1e3)
        print(json.dumps(times), flush=True)


if __name__ == "__main__":
    main()
