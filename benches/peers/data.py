"""Inputs and files that both sides agree on.

Random images come from splitmix64: value number `i` (x fastest, then y, then channel) is the 16-bit slice `i % 4`, lowest
first, of the generator's output number `i // 4` after the seed. `halide run --random SEED` makes the same values.
Results travel as 16-bit PNM files, which are raw big-endian values behind a three-line header.
"""

import numpy as np

_GAMMA = np.uint64(0x9E3779B97F4A7C15)


def random_u16(seed, shape):
    """An array of `shape` (slowest dimension first, as numpy has it) filled from the stream of `seed`."""
    count = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, (count + 3) // 4 + 1, dtype=np.uint64) * _GAMMA
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return z.view(np.dtype("<u2"))[:count].reshape(shape).copy()


def random(seed, kind, shape, white):
    """As `random_u16`, of another type: from 0 to `white`."""
    slices = random_u16(seed, shape)
    if np.dtype(kind).kind == "f":
        return (slices.astype(np.float64) / 65536.0 * white).astype(kind)
    return ((slices.astype(np.uint64) * np.uint64(white + 1)) >> np.uint64(16)).astype(kind)


def aligned(shape, fill=None, kind=np.uint16):
    """An array whose rows (the last dimension) start on 64-byte boundaries: the layout that suits every engine."""
    *outer, width = shape
    size = np.dtype(kind).itemsize
    line = 64 // size
    pitch = -(-width // line) * line
    count = int(np.prod(outer)) * pitch
    raw = np.zeros(count + line, kind)
    raw.fill(0)  # Touches every page, so that no run pays for that.
    start = -raw.ctypes.data // size % line
    array = raw[start : start + count].reshape(*outer, pitch)[..., :width]
    if fill is not None:
        array[...] = fill
    return array


def dense(shape, kind):
    """An array without gaps that starts on a 64-byte boundary."""
    count, size = int(np.prod(shape)), np.dtype(kind).itemsize
    raw = np.zeros(count + 64 // size, kind)
    raw.fill(0)  # Touches every page, so that no run pays for that.
    start = -raw.ctypes.data // size % (64 // size)
    return raw[start : start + count].reshape(shape)


def read_pnm(path):
    """A binary PGM or PPM file of 8 or 16 bits as an array [channel, y, x] (grey: [y, x])."""
    data = open(path, "rb").read()
    fields, at = [], 0
    while len(fields) < 4:
        end = at
        while data[end : end + 1] not in (b" ", b"\n", b"\t", b"\r"):
            end += 1
        if data[at : at + 1] == b"#":
            end = data.index(b"\n", at)
        elif end > at:
            fields.append(data[at:end])
        at = end + 1
    width, height, largest = (int(f) for f in fields[1:])
    channels = {b"P5": 1, b"P6": 3}[fields[0]]
    pixels = np.frombuffer(data, ">u2" if largest > 255 else "u1", width * height * channels, at)
    pixels = pixels.reshape(height, width, channels).astype(np.uint16)
    return pixels[:, :, 0] if channels == 1 else np.ascontiguousarray(pixels.transpose(2, 0, 1))


def sixteen_bits(image, white):
    """What `halide run` writes of an output whose brightest value is `white`."""
    if image.dtype == np.uint16 and white == 65535:
        return image
    return np.rint(np.clip(image.astype(np.float64) / white, 0.0, 1.0) * 65535.0)


def write_pnm(path, image):
    """Writes [y, x] as 16-bit PGM or [3, y, x] as 16-bit PPM."""
    grey = image.ndim == 2
    height, width = image.shape[-2:]
    with open(path, "wb") as f:
        f.write(b"%s\n%d %d\n65535\n" % (b"P5" if grey else b"P6", width, height))
        f.write((image if grey else image.transpose(1, 2, 0)).astype(">u2").tobytes())
