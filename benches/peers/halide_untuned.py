"""Pipelines that nobody tuned in Halide: those of `benches/src/untuned` under the schedules of `benches/schedules`.

Each has `inputs(width, height)`, `output(width, height)` and `build(schedule, target)` as those of `halide_filters`.
"""

import math

import halide as hl

from halide_filters import f32, lanes_of, total

x, y, z, c, i, j, k, n, u, v, b, bx, by, bins = (hl.Var(s) for s in "x y z c i j k n u v b bx by bins".split())
yo, xi, bi = (hl.Var(s) for s in ("yo", "xi", "bi"))


def wide(e, kind=hl.UInt(16)):
    return hl.cast(kind, e)


class Plain:
    schedules = ["plain"]
    params = {}
    dense = True


class Dilated(Plain):
    name, size = "dilated", (1536, 1024)
    taps = [0.01, 0.03, 0.07, 0.12, 0.17, 0.2, 0.17, 0.12, 0.07, 0.03, 0.01]

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (height + 20, width + 20), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (height, width), 1

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.Float(32), 2, "input")
        rows, output = hl.Func("rows"), hl.Func("output")
        rows[x, y] = total(image[x + 2 * t, y] * f32(w) for t, w in enumerate(cls.taps))
        output[x, y] = total(rows[x, y + 2 * t] * f32(w) for t, w in enumerate(cls.taps))
        lanes = lanes_of(target)
        output.split(y, yo, y, 64).parallel(yo).vectorize(x, lanes)
        rows.store_at(output, yo).compute_at(output, y).vectorize(x, lanes)
        return output, [image]


class Binomial(Plain):
    name, size = "binomial", (2048, 1536)

    @staticmethod
    def inputs(width, height):
        return [("input", "uint8", (height + 4, width + 4), 255)]

    @staticmethod
    def output(width, height):
        return "uint8", (height, width), 255

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.UInt(8), 2, "input")
        rows, output = hl.Func("rows"), hl.Func("output")
        w = lambda dx: wide(image[x + dx, y])
        rows[x, y] = w(0) + w(1) * 4 + w(2) * 6 + w(3) * 4 + w(4)
        r = lambda dy: rows[x, y + dy]
        output[x, y] = hl.cast(hl.UInt(8), (r(0) + r(1) * 4 + r(2) * 6 + r(3) * 4 + r(4) + 128) >> 8)
        output.split(y, yo, y, 64).parallel(yo).vectorize(x, 32)
        rows.store_at(output, yo).compute_at(output, y).vectorize(x, 32)
        return output, [image]


class Heat(Plain):
    name, size = "heat", (192, 192)
    steps, depth = 4, 64

    @classmethod
    def inputs(cls, width, height):
        more = 2 * cls.steps
        return [("input", "float32", (cls.depth + more, height + more, width + more), 1)]

    @classmethod
    def output(cls, width, height):
        return "float32", (cls.depth, height, width), 1

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        before, lanes = hl.Func("step0"), lanes_of(target)
        before[x, y, z] = image[x, y, z]
        for step in range(1, cls.steps + 1):
            after = hl.Func(f"step{step}")
            at = lambda dx, dy, dz: before[x + dx, y + dy, z + dz]
            around = at(0, 1, 1) + at(2, 1, 1) + at(1, 0, 1) + at(1, 2, 1) + at(1, 1, 0) + at(1, 1, 2)
            after[x, y, z] = at(1, 1, 1) * f32(0.4) + around * f32(0.1)
            if step < cls.steps:
                after.compute_root()
            after.parallel(z).vectorize(x, lanes)
            before = after
        return before, [image]


class Over(Plain):
    name, size = "over", (2048, 1024)

    @staticmethod
    def inputs(width, height):
        return [(name, "uint8", (height, 4 * width), 255) for name in ("above", "below")]

    @staticmethod
    def output(width, height):
        return "uint8", (height, width, 4), 255

    @staticmethod
    def build(schedule, target):
        above, below = (hl.ImageParam(hl.UInt(8), 2, name) for name in ("above", "below"))
        output = hl.Func("output")
        clear = wide(255 - above[4 * x + 3, y])
        product = wide(below[4 * x + c, y]) * clear + 128
        part = (product + (product >> 8)) >> 8
        output[c, x, y] = hl.cast(hl.UInt(8), hl.min(wide(above[4 * x + c, y]) + part, 255))
        output.output_buffer().dim(1).set_stride(4)
        output.bound(c, 0, 4).reorder(c, x, y).unroll(c).vectorize(x, 32).parallel(y, 16)
        return output, [above, below]


class Blend(Plain):
    name, size = "blend", (2048, 1024)

    @staticmethod
    def inputs(width, height):
        return [(name, "uint16", (height, width), 65535) for name in ("a", "b", "mask")]

    @staticmethod
    def output(width, height):
        return "uint16", (height, width), 65535

    @staticmethod
    def build(schedule, target):
        a, b, mask = (hl.ImageParam(hl.UInt(16), 2, name) for name in ("a", "b", "mask"))
        output = hl.Func("output")
        w = lambda image: wide(image[x, y], hl.UInt(32))
        product = w(a) * w(mask) + w(b) * wide(65535 - mask[x, y], hl.UInt(32))
        output[x, y] = hl.cast(hl.UInt(16), ((product >> 16) + product + 32768) >> 16)
        output.vectorize(x, 32).parallel(y, 16)
        return output, [a, b, mask]


class Colors(Plain):
    name, size = "colors", (1536, 1024)

    @staticmethod
    def inputs(width, height):
        return [("input", "uint8", (3, height, width), 255), ("matrix", "float32", (3, 4), 1)]

    @staticmethod
    def output(width, height):
        return "uint8", (3, height, width), 255

    @staticmethod
    def build(schedule, target):
        image, matrix = hl.ImageParam(hl.UInt(8), 3, "input"), hl.ImageParam(hl.Float(32), 2, "matrix")
        r = hl.RDom([(0, 3)])
        mixed, output = hl.Func("mixed"), hl.Func("output")
        mixed[x, y, c] = matrix[3, c]
        mixed[x, y, c] += matrix[r.x, c] * f32(image[x, y, r.x])
        output[x, y, c] = hl.cast(hl.UInt(8), hl.clamp(mixed[x, y, c] + f32(0.5), f32(0.0), f32(255.0)))
        lanes = lanes_of(target)
        output.bound(c, 0, 3).split(x, x, xi, lanes).reorder(xi, c, x, y).vectorize(xi).unroll(c).parallel(y, 16)
        mixed.compute_at(output, x).vectorize(x).unroll(c)
        mixed.update(0).reorder(x, c, r.x, y).vectorize(x).unroll(c).unroll(r.x)
        return output, [image, matrix]


class Matrices(Plain):
    name, size = "matrices", (256, 256)

    @staticmethod
    def inputs(width, height):
        return [(name, "float32", (width * height, 16), 1) for name in ("a", "b")]

    @staticmethod
    def output(width, height):
        return "float32", (width * height, 4, 4), 1

    @staticmethod
    def build(schedule, target):
        a, b = (hl.ImageParam(hl.Float(32), 2, name) for name in ("a", "b"))
        r = hl.RDom([(0, 4)])
        output = hl.Func("output")
        output[i, j, n] = f32(0.0)
        output[i, j, n] += a[4 * j + r.x, n] * b[4 * r.x + i, n]
        output.bound(i, 0, 4).bound(j, 0, 4).vectorize(i).unroll(j).parallel(n, 256)
        output.update(0).reorder(i, j, r.x, n).vectorize(i).unroll(j).unroll(r.x).parallel(n, 256)
        return output, [a, b]


class Cosines(Plain):
    name, size = "cosines", (1024, 1024)

    @staticmethod
    def inputs(width, height):
        return [("input", "int16", (height, width), 255), ("basis", "float32", (8, 8), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (height // 8, width // 8, 8, 8), 1

    @staticmethod
    def build(schedule, target):
        image, basis = hl.ImageParam(hl.Int(16), 2, "input"), hl.ImageParam(hl.Float(32), 2, "basis")
        r, l = hl.RDom([(0, 8)]), hl.RDom([(0, 8)])
        rows, output = hl.Func("rows"), hl.Func("output")
        rows[u, v, bx, by] = f32(0.0)
        rows[u, v, bx, by] += basis[u, r.x] * f32(image[8 * bx + r.x, 8 * by + v])
        output[u, v, bx, by] = f32(0.0)
        output[u, v, bx, by] += basis[v, l.x] * rows[u, l.x, bx, by]
        output.bound(u, 0, 8).bound(v, 0, 8).vectorize(u).unroll(v).parallel(by)
        output.update(0).reorder(u, v, l.x, bx, by).vectorize(u).unroll(v).unroll(l.x).parallel(by)
        rows.compute_at(output, bx).vectorize(u).unroll(v)
        rows.update(0).reorder(u, v, r.x).vectorize(u).unroll(v).unroll(r.x)
        return output, [image, basis]


class Hadamard(Plain):
    name, size = "hadamard", (2048, 1024)

    @staticmethod
    def inputs(width, height):
        return [("input", "int16", (height, width), 255)]

    @staticmethod
    def output(width, height):
        return "int16", (height, width // 8, 8), 255

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.Int(16), 2, "input")
        before = hl.Func("pass0")
        before[k, b, y] = image[8 * b + k, y]
        passes = []
        for step, name in [(1, "pass1"), (2, "pass2"), (4, "output")]:
            after = hl.Func(name)
            first = k // step % 2 == 0
            other = lambda distance: before[hl.clamp(k + distance, 0, 7), b, y]
            after[k, b, y] = hl.select(first, other(0) + other(step), other(-step) - other(0))
            passes.append(after)
            before = after
        output = passes.pop()
        output.output_buffer().dim(1).set_stride(8)
        output.bound(k, 0, 8).split(b, b, bi, 16).reorder(k, bi, b, y).unroll(k).vectorize(bi).parallel(y, 16)
        for stage in passes:
            stage.compute_at(output, b).unroll(k).vectorize(b)
        return output, [image]


class Flow(Plain):
    name, size = "flow", (1024, 768)

    @staticmethod
    def inputs(width, height):
        return [(name, "float32", (height + 6, width + 6), 1) for name in ("first", "second")]

    @staticmethod
    def output(width, height):
        return "float32", (2, height, width), 1

    @staticmethod
    def build(schedule, target):
        first, second = (hl.ImageParam(hl.Float(32), 2, name) for name in ("first", "second"))
        dx, dy, dt = hl.Func("dx"), hl.Func("dy"), hl.Func("dt")
        dx[x, y] = (first[x + 2, y + 1] - first[x, y + 1]) * f32(0.5)
        dy[x, y] = (first[x + 1, y + 2] - first[x + 1, y]) * f32(0.5)
        dt[x, y] = second[x + 1, y + 1] - first[x + 1, y + 1]
        halves = []

        def window(name, p, q):
            columns, sums = hl.Func(name + "_columns"), hl.Func(name)
            columns[x, y] = total(p[x, y + t] * q[x, y + t] for t in range(5))
            sums[x, y] = total(columns[x + t, y] for t in range(5))
            halves.append(columns)
            return sums[x, y]

        xx, xy, yy = window("xx", dx, dx), window("xy", dx, dy), window("yy", dy, dy)
        xt, yt = window("xt", dx, dt), window("yt", dy, dt)
        scale = f32(1.0) / (xx * yy - xy * xy + f32(0.0001))
        output = hl.Func("output")
        output[x, y, c] = hl.select(c == 0, (xy * yt - yy * xt) * scale, (xy * xt - xx * yt) * scale)
        lanes = lanes_of(target)
        output.bound(c, 0, 2).split(y, yo, y, 32).reorder(c, x, y, yo).unroll(c).vectorize(x, lanes).parallel(yo)
        for stage in (dx, dy, dt):
            stage.compute_at(output, yo).vectorize(x, lanes)
        for stage in halves:
            stage.compute_at(output, y).vectorize(x, lanes)
        return output, [first, second]


class Gradients(Plain):
    name, size, directions = "gradients", (1024, 1024), 9

    @staticmethod
    def inputs(width, height):
        return [("input", "uint8", (height + 2, width + 2), 255)]

    @classmethod
    def output(cls, width, height):
        return "float32", (height // 8, width // 8, cls.directions), 1

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.UInt(8), 2, "input")
        slope, strength, direction = hl.Func("slope"), hl.Func("strength"), hl.Func("direction")
        at = lambda dx, dy: f32(image[x + dx, y + dy])
        down, right = at(1, 2) - at(1, 0), at(2, 1) - at(0, 1)
        sign = hl.select(down < f32(0.0), f32(-1.0), f32(1.0))
        slope[x, y] = (right * sign, down * sign)
        right, down = slope[x, y][0], slope[x, y][1]
        strength[x, y] = hl.sqrt(right * right + down * down)
        angles = [t * math.pi / cls.directions for t in range(1, cls.directions)]
        beyond = lambda a: down * f32(math.cos(a)) - right * f32(math.sin(a)) >= f32(0.0)
        direction[x, y] = total(hl.cast(hl.UInt(8), beyond(a)) for a in angles)
        r = hl.RDom([(0, 8), (0, 8)])
        output = hl.Func("output")
        output[bins, x, y] = f32(0.0)
        px, py = 8 * x + r.x, 8 * y + r.y
        which = hl.clamp(hl.cast(hl.Int(32), direction[px, py]), 0, cls.directions - 1)
        output[which, x, y] += strength[px, py]
        lanes = lanes_of(target)
        output.bound(bins, 0, cls.directions).parallel(y)
        output.update(0).reorder(r.x, r.y, x, y).parallel(y)
        strength.compute_at(output, y).vectorize(x, lanes)
        direction.compute_at(output, y).vectorize(x, lanes)
        return output, [image]


APPS = {p.name: p for p in (Dilated, Binomial, Heat, Over, Blend, Colors, Matrices, Cosines, Hadamard, Flow, Gradients)}
