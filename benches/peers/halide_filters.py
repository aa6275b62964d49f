"""More apps in Halide: the same algorithms as `apps/src/filters`, with the best CPU schedules we know for Halide.

Each has `inputs(width, height)`, a list of (name, type, shape with the slowest dimension first, brightest value) in the order
of `build(schedule, target) -> (output Func, its ImageParams)`, and `output(width, height)`, its type, shape and what is white.
"""

import math

import halide as hl

x, y, z, c, i, k, n = (hl.Var(name) for name in "xyzcikn")
yo, yi, xo, xi, xv, t = (hl.Var(name) for name in ("yo", "yi", "xo", "xi", "xv", "t"))


def f32(e):
    return hl.f32(e)


def lanes_of(target, kind=None):
    return target.natural_vector_size(kind or hl.Float(32))


def gray_of(f):
    gray = hl.Func("gray")
    gray[x, y] = f32(0.299) * f[x, y, 0] + f32(0.587) * f[x, y, 1] + f32(0.114) * f[x, y, 2]
    return gray


def total(terms):
    terms = list(terms)
    sum_of = terms[0]
    for term in terms[1:]:
        sum_of = sum_of + term
    return sum_of


class Rgb:
    """f32 RGB to f32 RGB of the same size."""

    schedules = ["cpu"]
    params = {}

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (3, height, width), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (3, height, width), 1


class Unsharp(Rgb):
    name = "unsharp"

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        sigma = 1.5
        kernel = hl.Func("kernel")
        kernel[x] = hl.exp(-f32(x) * f32(x) / f32(2.0 * sigma * sigma)) / f32(math.sqrt(math.tau) * sigma)
        clamped = hl.BoundaryConditions.repeat_edge(image)
        gray = gray_of(clamped)
        weighted = lambda at: total([kernel[0] * at(0)] + [kernel[d] * (at(-d) + at(d)) for d in (1, 2, 3)])
        blur_y, blur, ratio, output = (hl.Func(s) for s in ("blur_y", "blur", "ratio", "output"))
        blur_y[x, y] = weighted(lambda d: gray[x, y + d])
        blur[x, y] = weighted(lambda d: blur_y[x + d, y])
        ratio[x, y] = (2.0 * gray[x, y] - blur[x, y]) / gray[x, y]
        output[x, y, c] = ratio[x, y] * clamped[x, y, c]
        v = lanes_of(target)
        kernel.compute_root()
        output.bound(c, 0, 3).split(y, yo, yi, 32).reorder(x, c, yi, yo).parallel(yo).vectorize(x, v)
        gray.store_at(output, yo).compute_at(output, yi).vectorize(x, v)
        blur_y.compute_at(output, yi).vectorize(x, v)
        ratio.compute_at(output, yi).vectorize(x, v)
        return output, [image]


class Harris(Rgb):
    name = "harris"

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (3, height + 6, width + 6), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (height, width), None

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        inside = hl.Func("inside")
        inside[x, y, c] = image[x + 3, y + 3, c]
        gray = gray_of(inside)
        smooth = lambda a, b, c: a * f32(1 / 12) + b * f32(2 / 12) + c * f32(1 / 12)
        at = lambda dx, dy: gray[x + dx, y + dy]
        column = lambda dx: smooth(at(dx, -1), at(dx, 0), at(dx, 1))
        row = lambda dy: smooth(at(-1, dy), at(0, dy), at(1, dy))
        slope_x, slope_y, output = hl.Func("slope_x"), hl.Func("slope_y"), hl.Func("output")
        slope_x[x, y] = column(1) - column(-1)
        slope_y[x, y] = row(1) - row(-1)
        box = lambda a, b: total(a[x + dx, y + dy] * b[x + dx, y + dy] for dy in (-1, 0, 1) for dx in (-1, 0, 1))
        xx, yy, xy = box(slope_x, slope_x), box(slope_y, slope_y), box(slope_x, slope_y)
        trace = xx + yy
        output[x, y] = xx * yy - xy * xy - f32(0.04) * trace * trace
        v = lanes_of(target)
        output.split(y, yo, yi, 32).parallel(yo).vectorize(x, v)
        gray.store_at(output, yo).compute_at(output, yi).vectorize(x, v)
        slope_x.store_at(output, yo).compute_at(output, yi).vectorize(x, v)
        slope_y.store_at(output, yo).compute_at(output, yi).vectorize(x, v).compute_with(slope_x, x)
        return output, [image]


class Hist:
    name = "hist"
    schedules = ["cpu"]
    params = {}

    @staticmethod
    def inputs(width, height):
        return [("input", "uint8", (3, height, width), 255)]

    @staticmethod
    def output(width, height):
        return "uint8", (3, height, width), 255

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.UInt(8), 3, "input")
        value = lambda ch: f32(image[x, y, ch])
        bright, red, blue = hl.Func("bright"), hl.Func("red"), hl.Func("blue")
        limited = lambda e: hl.u8(hl.clamp(e, 0.0, 255.0))
        bright[x, y] = hl.u8(f32(0.299) * value(0) + f32(0.587) * value(1) + f32(0.114) * value(2))
        level = f32(bright[x, y])
        red[x, y] = limited((value(0) - level) * f32(0.713) + 128.0)
        blue[x, y] = limited((value(2) - level) * f32(0.564) + 128.0)
        rows, hist, rank, output = (hl.Func(s) for s in ("rows", "hist", "rank", "output"))
        rx, ry, b = hl.RDom([(0, image.width())]), hl.RDom([(0, image.height())]), hl.RDom([(1, 255)])
        rows[i, y] = 0
        rows[hl.i32(bright[rx.x, y]), y] += 1
        hist[i] = 0
        hist[i] += rows[i, ry.x]
        rank[i] = hist[i]
        rank[b.x] = rank[b.x - 1] + rank[b.x]
        equal = hl.clamp(f32(rank[hl.i32(bright[x, y])]) * (f32(255.0) / f32(image.width() * image.height())), 0.0, 255.0)
        dr, db = f32(red[x, y]) - 128.0, f32(blue[x, y]) - 128.0
        colors = [equal + f32(1.4) * dr, equal - f32(0.343) * db - f32(0.711) * dr, equal + f32(1.765) * db]
        output[x, y, c] = limited(hl.mux(c, colors))
        v = lanes_of(target)
        bright.compute_root().parallel(y, 16).vectorize(x, lanes_of(target, hl.UInt(8)))
        rows.compute_root().vectorize(i, v).parallel(y, 16)
        rows.update(0).parallel(y, 16)
        hist.compute_root().vectorize(i, v)
        hist.update(0).reorder(i, ry.x).vectorize(i, v)
        rank.compute_root()
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).parallel(y, 16).vectorize(x, lanes_of(target, hl.UInt(8)))
        return output, [image]


class MaxFilter(Rgb):
    name = "max_filter"

    @staticmethod
    def build(schedule, target):
        radius = 26
        image = hl.ImageParam(hl.Float(32), 3, "input")
        down = [hl.BoundaryConditions.repeat_edge(image)]
        while (2 << (len(down) - 1)) <= 2 * radius + 1:
            half, lines = down[-1], 1 << len(down)
            down.append(hl.Func(f"down{lines}"))
            down[-1][x, y, c] = hl.max(half[x, y, c], half[x, y + lines // 2, c])

        def column(dx):
            high = sum(1 for dy in range(radius + 1) if dx * dx + dy * dy < (radius + 0.25) ** 2) - 1
            step = (2 * high + 1).bit_length() - 1
            return hl.max(down[step][x + dx, y - high, c], down[step][x + dx, y + high + 1 - (1 << step), c])

        output = hl.Func("output")
        value = column(-radius)
        for dx in range(1 - radius, radius + 1):
            value = hl.max(value, column(dx))
        output[x, y, c] = value
        v = lanes_of(target)
        output.compute_root().tile(x, y, xo, yo, xi, yi, 8 * v, 64).reorder(xi, yi, xo, yo, c).fuse(yo, c, t).parallel(t)
        output.vectorize(xi, v)
        for f in down[1:]:
            f.compute_at(output, xo).vectorize(x, v)
        return output, [image]


class StencilChain:
    name = "stencil_chain"
    schedules = ["tiles"]
    params = {}
    stages = 32

    @staticmethod
    def inputs(width, height):
        return [("input", "uint16", (height, width), 65535)]

    @staticmethod
    def output(width, height):
        return "uint16", (height, width), 65535

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.UInt(16), 2, "input")
        chain = [hl.BoundaryConditions.repeat_edge(image)]
        for stage in range(cls.stages):
            f = hl.Func(f"s{stage}")
            taps = [(dx, dy) for dx in range(-2, 3) for dy in range(-2, 3)]
            f[x, y] = total(chain[-1][x + dx, y + dy] * hl.u16((dx + 3) * (dy + 3)) for dx, dy in taps)
            chain.append(f)
        output = chain[-1]
        v = lanes_of(target, hl.UInt(16))
        group, width, height = 4, 8 * v, 128
        for at in range(group, cls.stages + 1, group):
            whole = chain[at]
            whole.compute_root().tile(x, y, xo, yo, xi, yi, width, height).fuse(xo, yo, t).parallel(t).vectorize(xi, v)
            for f in chain[at - group + 1 : at]:
                f.compute_at(whole, t).vectorize(x, v)
        return output, [image]


class IirBlur(Rgb):
    name = "iir_blur"

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        alpha = f32(0.1)
        v = lanes_of(target)

        def columns(f, height):
            blur, transposed = hl.Func("blur"), hl.Func("transposed")
            down, up = hl.RDom([(1, height - 1)]), hl.RDom([(1, height - 1)])
            line = height - 1 - up
            blur[x, y, c] = hl.undef(hl.Float(32))
            blur[x, 0, c] = f[x, 0, c]
            blur[x, down, c] = (1 - alpha) * blur[x, down - 1, c] + alpha * f[x, down, c]
            blur[x, line, c] = (1 - alpha) * blur[x, line + 1, c] + alpha * blur[x, line, c]
            transposed[x, y, c] = blur[y, x, c]
            transposed.compute_root().split(y, yo, yi, 2 * v).split(x, xo, xi, v).reorder(xi, yi, xo, yo, c)
            transposed.vectorize(xi).unroll(yi, v).fuse(yo, c, t).parallel(t)
            blur.compute_at(transposed, t)
            blur.update(0).vectorize(x, v)
            blur.update(1).reorder(x, down.x, c).vectorize(x, v)
            blur.update(2).reorder(x, up.x, c).vectorize(x, v)
            return transposed

        source = hl.Func("source")
        source[x, y, c] = image[x, y, c]
        output = columns(columns(source, image.height()), image.width())
        return output, [image]


class BilateralGrid:
    name = "bilateral_grid"
    schedules = ["cpu"]
    params = {}

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (height, width), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (height, width), 1

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.Float(32), 2, "input")
        r_sigma, cell = hl.Param(hl.Float(32), "r_sigma", 0.1), 8
        clamped = hl.BoundaryConditions.repeat_edge(image)
        r = hl.RDom([(0, cell), (0, cell)])
        pixel = hl.clamp(clamped[x * cell + r.x - cell // 2, y * cell + r.y - cell // 2], 0.0, 1.0)
        level = hl.i32(pixel * (f32(1.0) / r_sigma) + f32(0.5))
        histogram, blur_z, blur_x, blur_y = (hl.Func(s) for s in ("histogram", "blur_z", "blur_x", "blur_y"))
        histogram[x, y, z, c] = f32(0)
        histogram[x, y, level, c] += hl.mux(c, [pixel, f32(1)])
        weighted = lambda at: at(-2) + at(-1) * 4.0 + at(0) * 6.0 + at(1) * 4.0 + at(2)
        blur_z[x, y, z, c] = weighted(lambda d: histogram[x, y, z + d, c])
        blur_x[x, y, z, c] = weighted(lambda d: blur_z[x + d, y, z, c])
        blur_y[x, y, z, c] = weighted(lambda d: blur_x[x, y + d, z, c])
        place = hl.clamp(image[x, y], 0.0, 1.0) * (f32(1.0) / r_sigma)
        low = hl.i32(place)
        part_z, part = place - f32(low), lambda v: f32(v % cell) / cell
        at = lambda dx, dy, dz: blur_y[x // cell + dx, y // cell + dy, low + dz, c]
        row = lambda dy, dz: hl.lerp(at(0, dy, dz), at(1, dy, dz), part(x))
        layer = lambda dz: hl.lerp(row(0, dz), row(1, dz), part(y))
        interpolated, output = hl.Func("interpolated"), hl.Func("output")
        interpolated[x, y, c] = hl.lerp(layer(0), layer(1), part_z)
        output[x, y] = interpolated[x, y, 0] / interpolated[x, y, 1]
        v = lanes_of(target)
        blur_z.compute_root().bound(c, 0, 2).reorder(c, z, x, y).parallel(y).vectorize(x, v).unroll(c)
        histogram.compute_at(blur_z, y).bound(c, 0, 2)
        histogram.update(0).reorder(c, r.x, r.y, x, y).unroll(c)
        for f in (blur_x, blur_y):
            f.compute_root().bound(c, 0, 2).reorder(c, x, y, z).parallel(z).vectorize(x, v).unroll(c)
        output.compute_root().parallel(y, 8).vectorize(x, v)
        return output, [image]


class Interpolate(Rgb):
    name = "interpolate"
    levels = 10

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (4, height, width), 1)]

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        clamped = hl.BoundaryConditions.repeat_edge(image)
        down, in_x = [hl.Func("down0")], [None]
        alpha = clamped[x, y, 3]
        down[0][x, y, c] = hl.select(c < 3, clamped[x, y, c] * alpha, alpha)
        for level in range(1, cls.levels):
            previous = down[-1]
            if level == 4:
                sizes = [(0, image.width() // 8 + 1), (0, image.height() // 8 + 1)]
                previous = hl.BoundaryConditions.repeat_edge(previous, sizes)
            a, b = hl.Func(f"down{level}_x"), hl.Func(f"down{level}")
            a[x, y, c] = (previous[2 * x - 1, y, c] + 2.0 * previous[2 * x, y, c] + previous[2 * x + 1, y, c]) * f32(0.25)
            b[x, y, c] = (a[x, 2 * y - 1, c] + 2.0 * a[x, 2 * y, c] + a[x, 2 * y + 1, c]) * f32(0.25)
            down.append(b)
            in_x.append(a)
        filled = [None] * cls.levels
        filled[-1] = hl.Func("filled_top")
        filled[-1][x, y, c] = down[-1][x, y, c]
        for level in reversed(range(cls.levels - 1)):
            up_x, up, f = hl.Func(f"up{level}_x"), hl.Func(f"up{level}"), hl.Func(f"filled{level}")
            coarse = filled[level + 1]
            up_x[x, y, c] = (coarse[x // 2, y, c] + coarse[(x + 1) // 2, y, c]) / 2.0
            up[x, y, c] = (up_x[x, y // 2, c] + up_x[x, (y + 1) // 2, c]) / 2.0
            f[x, y, c] = down[level][x, y, c] + (1.0 - down[level][x, y, 3]) * up[x, y, c]
            filled[level] = f
        output = hl.Func("output")
        output[x, y, c] = filled[0][x, y, c] / filled[0][x, y, 3]
        v = lanes_of(target)
        for level in range(1, cls.levels):
            down[level].compute_root().reorder(x, c, y).split(y, yo, yi, 8).parallel(yo).vectorize(x, v)
            in_x[level].store_at(down[level], yo).compute_at(down[level], yi).vectorize(x, v)
            if level == 1:
                in_x[level].bound(c, 0, 4).reorder(c, x, y).unroll(c)
            else:
                in_x[level].reorder(x, c, y)
        for level in range(1, cls.levels):
            filled[level].compute_root().reorder(x, c, y).parallel(y, 8).unroll(x, 2).vectorize(x, v)
        output.bound(c, 0, 3).reorder(c, x, y).unroll(c).unroll(x, 2).parallel(y, 8).vectorize(x, v)
        return output, [image]


class NlMeans(Rgb):
    name = "nl_means"

    @staticmethod
    def build(schedule, target):
        patch, search, sigma = 7, 7, f32(0.12)
        dx, dy = hl.Var("dx"), hl.Var("dy")
        image = hl.ImageParam(hl.Float(32), 3, "input")
        clamped = hl.BoundaryConditions.repeat_edge(image)
        d, d_y, d_xy, weight, mean, output = (hl.Func(s) for s in ("d", "d_y", "d_xy", "weight", "mean", "output"))
        difference = lambda ch: clamped[x, y, ch] - clamped[x + dx, y + dy, ch]
        d[x, y, dx, dy] = total(difference(ch) * difference(ch) for ch in range(3))
        over = range(-(patch // 2), patch // 2 + 1)
        d_y[x, y, dx, dy] = total(d[x, y + e, dx, dy] for e in over)
        d_xy[x, y, dx, dy] = total(d_y[x + e, y, dx, dy] for e in over)
        weight[x, y, dx, dy] = hl.fast_exp(d_xy[x, y, dx, dy] * (f32(-1.0) / (sigma * sigma * f32(patch * patch))))
        s = hl.RDom([(-(search // 2), search), (-(search // 2), search)])
        color = hl.select(c < 3, clamped[x + s.x, y + s.y, hl.min(c, 2)], f32(1))
        mean[x, y, c] = f32(0)
        mean[x, y, c] += weight[x, y, s.x, s.y] * color
        output[x, y, c] = hl.clamp(mean[x, y, c] / mean[x, y, 3], 0.0, 1.0)
        v = lanes_of(target)
        output.bound(c, 0, 3).tile(x, y, xo, yo, xi, yi, 8 * v, 32).reorder(xi, yi, c, xo, yo).parallel(yo).vectorize(xi, v)
        mean.compute_at(output, xo).bound(c, 0, 4).vectorize(x, v)
        mean.update(0).reorder(x, c, y, s.x, s.y).unroll(c).vectorize(x, v)
        weight.compute_at(mean, y).vectorize(x, v)
        d_y.compute_at(mean, s.x).vectorize(x, v)
        d.compute_at(mean, s.x).vectorize(x, v)
        return output, [image]


class Matmul:
    name = "matmul"
    schedules = ["cpu"]
    params = {}

    @staticmethod
    def inputs(width, height):
        return [("a", "float32", (height, width), 1), ("b", "float32", (width, width), 1)]

    @staticmethod
    def output(width, height):
        return "float32", (height, width), None

    @staticmethod
    def build(schedule, target):
        a, b = hl.ImageParam(hl.Float(32), 2, "a"), hl.ImageParam(hl.Float(32), 2, "b")
        product, output = hl.Func("product"), hl.Func("output")
        r = hl.RDom([(0, a.width())])
        product[x, y] = f32(0)
        product[x, y] += a[r, y] * b[x, r]
        output[x, y] = product[x, y]
        v = lanes_of(target)
        wide, high = (2 * v, 12) if target.has_feature(hl.TargetFeature.AVX512) else (2 * v, 6)
        output.tile(x, y, xo, yo, xi, yi, wide, high).reorder(xi, yi, yo, xo).vectorize(xi, v).unroll(xi).unroll(yi).parallel(xo)
        product.compute_at(output, yo).vectorize(x, v).unroll(x).unroll(y)
        product.update(0).reorder(x, y, r.x).vectorize(x, v).unroll(x).unroll(y)
        packed = b.in_()
        packed.compute_at(output, xo).vectorize(packed.args()[0], v).unroll(packed.args()[0])
        return output, [a, b]


class ConvLayer:
    name = "conv_layer"
    schedules = ["cpu"]
    params = {}

    @staticmethod
    def inputs(width, height):
        return [
            ("input", "float32", (5, height + 2, width + 2, 128), 1),
            ("filter", "float32", (128, 3, 3, 128), 1),
            ("bias", "float32", (128,), 1),
        ]

    @staticmethod
    def output(width, height):
        return "float32", (5, height, width, 128), None

    @staticmethod
    def build(schedule, target):
        image, weights = hl.ImageParam(hl.Float(32), 4, "input"), hl.ImageParam(hl.Float(32), 4, "filter")
        bias = hl.ImageParam(hl.Float(32), 1, "bias")
        r = hl.RDom([(0, 128), (0, 3), (0, 3)])
        conv, output = hl.Func("conv"), hl.Func("output")
        conv[c, x, y, n] = bias[c]
        conv[c, x, y, n] += weights[c, r.y, r.z, r.x] * image[r.x, x + r.y, y + r.z, n]
        output[c, x, y, n] = hl.max(conv[c, x, y, n], 0.0)
        co, ci = hl.Var("co"), hl.Var("ci")
        v = lanes_of(target)
        vectors, pixels = (4, 5) if target.has_feature(hl.TargetFeature.AVX512) else (2, 5)
        output.split(c, co, ci, vectors * v).split(x, xo, xi, pixels).reorder(ci, xi, xo, y, n, co)
        output.vectorize(ci, v).unroll(ci).unroll(xi).fuse(y, n, t).parallel(t)
        conv.compute_at(output, xo).vectorize(c, v).unroll(c).unroll(x)
        conv.update(0).reorder(c, x, r.x, r.y, r.z).vectorize(c, v).unroll(c).unroll(x)
        return output, [image, weights, bias]


class CameraPipe:
    name = "camera_pipe"
    schedules = ["cpu"]
    params = {}
    tungsten = [[1.6697, -0.2693, -0.4004, -42.4346], [-0.3576, 1.0615, 1.5949, -37.1158], [-0.2175, -1.8751, 6.9640, -26.6970]]
    daylight = [[2.2997, -0.4478, 0.1706, -39.0923], [-0.3826, 1.5906, -0.2080, -25.4311], [-0.0888, -0.7344, 2.2832, -20.0826]]

    @staticmethod
    def inputs(width, height):
        return [("input", "uint16", (height + 24, width + 32), 1023)]

    @staticmethod
    def output(width, height):
        return "uint8", (3, height, width), 255

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.UInt(16), 2, "input")
        raw, denoised = hl.Func("raw"), hl.Func("denoised")
        raw[x, y] = hl.i16(image[x + 16, y + 12])
        most = hl.max(hl.max(raw[x - 2, y], raw[x + 2, y]), hl.max(raw[x, y - 2], raw[x, y + 2]))
        denoised[x, y] = hl.clamp(raw[x, y], hl.i16(0), most)
        planes, greens, colors = cls.demosaic(denoised)
        corrected, matrix = cls.correct(colors)
        curved, curve = cls.apply_curve(corrected)
        output = cls.sharpen(curved)

        v, v2 = lanes_of(target, hl.Int(16)), lanes_of(target, hl.UInt(8))
        matrix.compute_root()
        curve.compute_root()
        output.bound(c, 0, 3).split(y, yo, yi, 64).split(yi, yi, xv, 2).reorder(x, xv, c, yi, yo).unroll(xv).unroll(c)
        output.parallel(yo).vectorize(x, v2)
        for f in [denoised] + planes + greens:
            f.store_at(output, yo).compute_at(output, yi).vectorize(x, v)
        curved.store_at(output, yo).compute_at(output, yi).reorder(x, c, y).bound(c, 0, 3).unroll(c)
        curved.split(x, x, xi, 2 * v, hl.TailStrategy.RoundUp).split(xi, xi, xo, 2).reorder(xo, xi, x).unroll(xo).vectorize(xi)
        curved.align_bounds(x, 2).align_bounds(y, 2).unroll(y, 2)
        return output, [image]

    @staticmethod
    def demosaic(raw):
        mean = hl.rounding_halving_add

        def func(name, value):
            f = hl.Func(name)
            f[x, y] = value
            return f

        plane = lambda name, dx, dy: func(name, raw[2 * x + dx, 2 * y + dy])
        g_gr, r_r, b_b, g_gb = plane("g_gr", 0, 0), plane("r_r", 1, 0), plane("b_b", 0, 1), plane("g_gb", 1, 1)
        smoother = lambda name, a, b, p, q: func(name, hl.select(hl.absd(p, q) < hl.absd(a, b), mean(p, q), mean(a, b)))
        g_r = smoother("g_r", g_gb[x, y - 1], g_gb[x, y], g_gr[x + 1, y], g_gr[x, y])
        g_b = smoother("g_b", g_gr[x, y + 1], g_gr[x, y], g_gb[x - 1, y], g_gb[x, y])

        def at_green(name, green, greens, colors, dx, dy):
            correction = green[x, y] - mean(greens[x, y], greens[x + dx, y + dy])
            return func(name, correction + mean(colors[x, y], colors[x + dx, y + dy]))

        r_gr = at_green("r_gr", g_gr, g_r, r_r, -1, 0)
        b_gr = at_green("b_gr", g_gr, g_b, b_b, 0, -1)
        r_gb = at_green("r_gb", g_gb, g_r, r_r, 0, 1)
        b_gb = at_green("b_gb", g_gb, g_b, b_b, 1, 0)

        def across(name, green, greens, colors, dx, dy):
            def diagonal(ax, ay, bx, by):
                a, b = colors[x + ax, y + ay], colors[x + bx, y + by]
                correction = green[x, y] - mean(greens[x + ax, y + ay], greens[x + bx, y + by])
                return hl.absd(a, b), correction + mean(a, b)

            (change, value), (other_change, other) = diagonal(0, 0, dx, dy), diagonal(dx, 0, 0, dy)
            return func(name, hl.select(change < other_change, value, other))

        r_b, b_r = across("r_b", g_b, g_r, r_r, -1, 1), across("b_r", g_r, g_b, b_b, 1, -1)

        def woven(even, odd, below, below_odd):
            at = lambda f: f[x // 2, y // 2]
            line = lambda a, b: hl.select(x % 2 == 0, at(a), at(b))
            return hl.select(y % 2 == 0, line(even, odd), line(below, below_odd))

        colors = hl.Func("colors")
        colors[x, y, c] = hl.mux(
            c, [woven(r_gr, r_r, r_b, r_gb), woven(g_gr, g_r, g_b, g_gb), woven(b_gr, b_r, b_b, b_gb)]
        )
        return [g_gr, r_r, b_b, g_gb], [g_r, g_b], colors

    @classmethod
    def correct(cls, colors):
        matrix, corrected = hl.Func("matrix"), hl.Func("corrected")
        of = lambda table: hl.mux(k, [hl.mux(i, [f32(e) for e in row]) for row in table])
        temperature = hl.Param(hl.Float(32), "temperature", 3700.0)
        part = (f32(1) / temperature - f32(1 / 3200)) / (f32(1) / f32(7000) - f32(1 / 3200))
        matrix[i, k] = hl.i16((of(cls.tungsten) * (f32(1) - part) + of(cls.daylight) * part) * f32(256))
        weight = lambda d: hl.i32(matrix[d, c])
        color = lambda d: hl.i32(colors[x, y, d])
        value = weight(3) + weight(0) * color(0) + weight(1) * color(1) + weight(2) * color(2)
        corrected[x, y, c] = hl.i16(value / 256)
        return corrected, matrix

    @staticmethod
    def apply_curve(corrected):
        gamma, contrast, black, white = f32(2), f32(50), 25, 1023
        curve, curved = hl.Func("curve"), hl.Func("curved")
        linear = hl.clamp(f32(x - black) / f32(white - black), f32(0), f32(1))
        bright = hl.pow(linear, f32(1) / gamma)
        b = f32(2) - hl.pow(f32(2), contrast / f32(100))
        a = f32(2) - f32(2) * b
        dark = f32(1) - bright
        s = hl.select(bright > f32(0.5), f32(1) - (a * dark * dark + b * dark), a * bright * bright + b * bright)
        level = hl.u8(hl.clamp(s * f32(255) + f32(0.5), f32(0), f32(255)))
        curve[x] = hl.select(x <= black, hl.u8(0), hl.select(x > white, hl.u8(255), level))
        curved[x, y, c] = curve[hl.i32(hl.clamp(corrected[x, y, c], hl.i16(0), hl.i16(1023)))]
        return curved, curve

    @staticmethod
    def sharpen(curved):
        parts = hl.i16(hl.u8(f32(1) * f32(32)))
        blur = lambda a, b, c: hl.rounding_halving_add(hl.rounding_halving_add(a, c), b)
        blur_y, blur_xy, output = hl.Func("blur_y"), hl.Func("blur_xy"), hl.Func("output")
        blur_y[x, y, c] = blur(curved[x, y - 1, c], curved[x, y, c], curved[x, y + 1, c])
        blur_xy[x, y, c] = blur(blur_y[x - 1, y, c], blur_y[x, y, c], blur_y[x + 1, y, c])
        mask = hl.i16(curved[x, y, c]) - hl.i16(blur_xy[x, y, c])
        value = hl.i16(curved[x, y, c]) + mask * parts / hl.i16(32)
        output[x, y, c] = hl.u8(hl.clamp(value, hl.i16(0), hl.i16(255)))
        return output


APPS = {
    app.name: app
    for app in (
        Unsharp,
        Harris,
        Hist,
        MaxFilter,
        StencilChain,
        IirBlur,
        BilateralGrid,
        Interpolate,
        NlMeans,
        Matmul,
        ConvLayer,
        CameraPipe,
    )
}
