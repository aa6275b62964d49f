"""The apps in Halide: the same algorithms as `apps/src/filters`, with the best CPU schedules we know for Halide.

Each app gives `inputs(width, height)`, a list of (name, type, shape with the slowest dimension first, brightest value) in the
order of `build(schedule, target) -> (output Func, its ImageParams)`, and `output(width, height)`: type, shape, what is white.
"""

import halide as hl

import halide_filters
import halide_views

x, y, c, k = hl.Var("x"), hl.Var("y"), hl.Var("c"), hl.Var("k")
yo, yi, xo, xi = hl.Var("yo"), hl.Var("yi"), hl.Var("xo"), hl.Var("xi")


class Blur:
    """3x3 box of u16; the input is large enough, so there is no boundary condition."""

    name = "blur"
    schedules = ["columns", "strips", "unrolled_strips", "tiles"]

    @staticmethod
    def inputs(width, height):
        return [("input", "uint16", (height + 2, width + 2), 65535)]

    @staticmethod
    def output(width, height):
        return "uint16", (height, width), 65535

    @staticmethod
    def build(schedule, target):
        image = hl.ImageParam(hl.UInt(16), 2, "input")
        blur_x, blur_y = hl.Func("blur_x"), hl.Func("blur_y")
        three = hl.u16(3)
        blur_x[x, y] = (image[x, y] + image[x + 1, y] + image[x + 2, y]) / three
        blur_y[x, y] = (blur_x[x, y] + blur_x[x, y + 1] + blur_x[x, y + 2]) / three
        lanes = target.natural_vector_size(hl.UInt(16))
        if schedule == "columns":
            # One vector wide, eight lines high: the ten lines of blur_x it needs stay in registers.
            blur_y.tile(x, y, xo, yo, xi, yi, lanes, 8).reorder(xi, yi, xo, yo).vectorize(xi).unroll(yi).parallel(yo)
            blur_x.compute_at(blur_y, xo).vectorize(x, lanes).unroll(y)
        elif schedule == "strips":
            # Strips of 32 lines; the three live lines of blur_x slide through a fold.
            blur_y.split(y, y, yi, 32).parallel(y).vectorize(x, lanes)
            blur_x.store_at(blur_y, y).compute_at(blur_y, yi).vectorize(x, lanes)
        elif schedule == "unrolled_strips":
            # As strips, four lines at a time.
            blur_y.split(y, y, yi, 64).split(yi, yi, yo, 4).reorder(yo, x, yi, y).unroll(yo).parallel(y)
            blur_y.vectorize(x, lanes)
            blur_x.store_at(blur_y, y).compute_at(blur_y, yi).vectorize(x, lanes).unroll(y)
        elif schedule == "tiles":
            # Tiles of 256 x 32, each with its own 258 x 34 part of blur_x.
            blur_y.tile(x, y, xo, yo, xi, yi, 256, 32).parallel(yo).vectorize(xi, lanes)
            blur_x.compute_at(blur_y, xo).vectorize(x, lanes)
        return blur_y, [image]


class LocalLaplacian:
    """u16 RGB; 8 pyramid levels; `levels` intensity levels, alpha and beta are run-time parameters."""

    name = "local_laplacian"
    schedules = ["cpu", "single_thread", "rows", "root", "classic"]
    pyramid_levels = 8

    @staticmethod
    def inputs(width, height):
        return [("input", "uint16", (3, height, width), 65535)]

    @staticmethod
    def output(width, height):
        return "uint16", (3, height, width), 65535

    @classmethod
    def build(cls, schedule, target, levels_value=8, alpha_value=1 / 7, beta_value=1.0):
        top = cls.pyramid_levels - 1
        image = hl.ImageParam(hl.UInt(16), 3, "input")
        levels = hl.Param(hl.Int(32), "levels", levels_value)
        alpha = hl.Param(hl.Float(32), "alpha", alpha_value)
        beta = hl.Param(hl.Float(32), "beta", beta_value)

        remap = hl.Func("remap")
        f = hl.f32(x) / 256.0
        remap[x] = alpha * f * hl.exp(-f * f / 2.0)

        clamped = hl.BoundaryConditions.repeat_edge(image)
        floating = hl.Func("floating")
        floating[x, y, c] = hl.f32(clamped[x, y, c]) / 65535.0
        gray = hl.Func("gray")
        gray[x, y] = hl.f32(0.299) * floating[x, y, 0] + hl.f32(0.587) * floating[x, y, 1] + hl.f32(0.114) * floating[x, y, 2]

        g = [hl.Func(f"g{j}") for j in range(top + 1)]
        level = hl.f32(k) / hl.f32(levels - 1)
        index = hl.clamp(hl.i32(gray[x, y] * hl.f32(levels - 1) * 256.0), 0, (levels - 1) * 256)
        g[0][x, y, k] = beta * (gray[x, y] - level) + level + remap[index - 256 * k]
        down_y = [None] * (top + 1)
        for j in range(1, top + 1):
            down_y[j], down = downsample(g[j - 1])
            g[j][x, y, k] = down[x, y, k]

        lap = [hl.Func(f"l{j}") for j in range(top + 1)]
        lap[top][x, y, k] = g[top][x, y, k]
        for j in reversed(range(top)):
            lap[j][x, y, k] = g[j][x, y, k] - upsample(g[j + 1])[x, y, k]

        gray_g = [hl.Func(f"gray{j}") for j in range(top + 1)]
        gray_g[0][x, y] = gray[x, y]
        for j in range(1, top + 1):
            gray_g[j][x, y] = downsample(gray_g[j - 1])[1][x, y]

        out_l = [hl.Func(f"out_l{j}") for j in range(top + 1)]
        for j in range(top + 1):
            lev = gray_g[j][x, y] * hl.f32(levels - 1)
            li = hl.clamp(hl.i32(lev), 0, levels - 2)
            lf = lev - hl.f32(li)
            out_l[j][x, y] = (1.0 - lf) * lap[j][x, y, li] + lf * lap[j][x, y, li + 1]

        out = [hl.Func(f"out{j}") for j in range(top + 1)]
        out[top][x, y] = out_l[top][x, y]
        for j in reversed(range(top)):
            out[j][x, y] = upsample(out[j + 1])[x, y] + out_l[j][x, y]

        output = hl.Func("output")
        eps = hl.f32(0.01)
        color = floating[x, y, c] * (out[0][x, y] + eps) / (gray[x, y] + eps)
        output[x, y, c] = hl.u16(hl.clamp(color * 65535.0, 0.0, 65535.0))

        cls.schedule(schedule, target, remap, gray, g, down_y, gray_g, out, output)
        return output, [image]

    @classmethod
    def schedule(cls, name, target, remap, gray, g, down_y, gray_g, out, output):
        lanes = target.natural_vector_size(hl.Float(32))
        top = cls.pyramid_levels - 1
        fine = 5  # Levels from here on are small: computed whole, and with short vectors.
        serial = name == "single_thread"
        remap.compute_root()
        parallel(gray.compute_root(), 32, serial).vectorize(x, lanes)
        for j in range(1, top + 1):
            vector = lanes if j < fine else 4
            parallel(gray_g[j].compute_root(), 32 if j < 3 else 4, serial).vectorize(x, vector)
            g[j].compute_root().reorder_storage(x, k, y).reorder(k, y).vectorize(x, vector)
            if not serial:
                g[j].split(y, yo, y, 8 if j < 4 else 2).parallel(yo)
        if name == "rows":
            # The lines filtered along y are kept, so that each value of g0 is computed twice instead of four times.
            down_y[1].compute_at(g[1], k).vectorize(x, lanes)
        if name in ("cpu", "single_thread"):
            # g0 slides down g1 (each strip of it) in a fold: each of its values is computed once.
            once = g[0].in_(down_y[1])
            once = once.store_root() if serial else once.store_at(g[1], yo)
            once.compute_at(g[1], y).reorder_storage(x, k, y).reorder(x, k, y).vectorize(x, lanes)
        if name == "root":
            output.reorder(c, x, y).parallel(y, 8).vectorize(x, lanes)
            for j in range(top + 1):
                out[j].compute_root().parallel(y, 8).vectorize(x, lanes if j < fine else 4)
            return
        # Fine levels of the output pyramid live in a fold inside the output, or inside each strip of its lines.
        output.reorder(c, x, y).vectorize(x, lanes)
        if not serial:
            output.split(y, yo, y, 64).parallel(yo)
        for j in range(1, fine):
            folded = out[j].store_root() if serial else out[j].store_at(output, yo)
            folded.compute_at(output, y).fold_storage(y, 8).vectorize(x, lanes)
        out[0].compute_at(output, y).vectorize(x, lanes)
        for j in range(fine, top + 1):
            out[j].compute_root()


def parallel(f, lines, serial):
    return f if serial else f.parallel(y, lines)


def downsample(f):
    """[1 3 3 1]/8 at 2x-1 .. 2x+2, first along y, then along x."""
    down_y, down_x = hl.Func("down_y"), hl.Func("down_x")
    rest = [k] if f.dimensions() == 3 else []
    down_y[[x, y] + rest] = (
        f[[x, 2 * y - 1] + rest] + 3.0 * (f[[x, 2 * y] + rest] + f[[x, 2 * y + 1] + rest]) + f[[x, 2 * y + 2] + rest]
    ) / 8.0
    down_x[[x, y] + rest] = (
        down_y[[2 * x - 1, y] + rest]
        + 3.0 * (down_y[[2 * x, y] + rest] + down_y[[2 * x + 1, y] + rest])
        + down_y[[2 * x + 2, y] + rest]
    ) / 8.0
    return down_y, down_x


def upsample(f):
    """Bilinear, first along x, then along y."""
    up_x, up_y = hl.Func("up_x"), hl.Func("up_y")
    rest = [k] if f.dimensions() == 3 else []
    up_x[[x, y] + rest] = hl.lerp(
        f[[(x + 1) // 2, y] + rest], f[[(x - 1) // 2, y] + rest], hl.f32((x % 2) * 2 + 1) / 4.0
    )
    up_y[[x, y] + rest] = hl.lerp(
        up_x[[x, (y + 1) // 2] + rest], up_x[[x, (y - 1) // 2] + rest], hl.f32((y % 2) * 2 + 1) / 4.0
    )
    return up_y


APPS = {app.name: app for app in (Blur, LocalLaplacian)} | halide_filters.APPS | halide_views.APPS
