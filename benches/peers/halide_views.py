"""Two more apps in Halide: another size of an image, and the blur of a large lens; as `halide_filters`."""

import halide as hl

from halide_filters import Rgb, c, f32, k, lanes_of, total, x, xi, xo, y, yi, yo, z

i = hl.Var("i")


class Resize(Rgb):
    """To half the size by a cubic filter of 8 taps: along y, then along x."""

    name = "resize"
    schedules = ["cpu", "tiles"]

    @staticmethod
    def inputs(width, height):
        return [("input", "float32", (3, 2 * height, 2 * width), 1)]

    @staticmethod
    def cubic(distance):
        d = hl.max(distance, -distance)
        near = f32(1.5) * d * d * d - f32(2.5) * d * d + f32(1)
        far = f32(-0.5) * d * d * d + f32(2.5) * d * d - f32(4) * d + f32(2)
        return hl.select(d < f32(1), near, hl.select(d < f32(2), far, f32(0)))

    @classmethod
    def build(cls, schedule, target):
        image = hl.ImageParam(hl.Float(32), 3, "input")
        taps = 8
        # In halves of pixels of the input.
        center = lambda at: at * 4 + 1
        first = lambda at: (center(at) - 7) // 2
        kernel, weight, resized_y, output = (hl.Func(s) for s in ("kernel", "weight", "resized_y", "output"))
        kernel[i, k] = cls.cubic(f32((first(i) + k) * 2 - center(i)) / f32(4))
        weight[i, k] = kernel[i, k] / total(kernel[i, n] for n in range(taps))
        clamped = hl.BoundaryConditions.repeat_edge(image)
        resized_y[x, y, c] = total(weight[y, n] * clamped[x, first(y) + n, c] for n in range(taps))
        output[x, y, c] = total(weight[x, n] * resized_y[first(x) + n, y, c] for n in range(taps))
        v = lanes_of(target)
        kernel.compute_root().vectorize(i, v)
        weight.compute_root().vectorize(i, v)
        output.bound(c, 0, 3)
        if schedule == "cpu":
            # Strips of 32 lines in parallel; a line that was resized along y is resized along x at once.
            output.split(y, yo, yi, 32).reorder(x, c, yi, yo).parallel(yo).vectorize(x, v)
            resized_y.compute_at(output, c).vectorize(x, v)
        else:
            output.tile(x, y, xo, yo, xi, yi, 64, 32).reorder(xi, yi, c, xo, yo).parallel(yo).vectorize(xi, v)
            resized_y.compute_at(output, c).vectorize(x, v)
        return output, [image]


class LensBlur:
    """32 depths, 32 samples per pixel. The random numbers are Halide's own, so pixels differ from ours."""

    name = "lens_blur"
    schedules = ["cpu"]
    levels = 8

    @staticmethod
    def inputs(width, height):
        return [(view, "uint8", (3, height, width), 255) for view in ("left", "right")]

    @staticmethod
    def output(width, height):
        return "float32", (3, height, width), None

    @classmethod
    def build(cls, schedule, target):
        left_image, right_image = (hl.ImageParam(hl.UInt(8), 3, s) for s in ("left", "right"))
        slices, focus, samples = (
            hl.Param(hl.Int(32), *p) for p in (("slices", 32), ("focus", 13), ("samples", 32))
        )
        radius = hl.Param(hl.Float(32), "radius", 0.5)
        left, right = (hl.BoundaryConditions.repeat_edge(v) for v in (left_image, right_image))
        size = (left_image.width(), left_image.height())
        r = hl.RDom([(0, slices)])
        cost, confidence, down, down_y, likely, depth = cls.depth(left, right, size, slices, r)
        spread, far_y, far = hl.Func("spread"), hl.Func("far_y"), hl.Func("far")
        most = hl.i32(f32(hl.max(slices - focus, focus)) * radius)
        w = hl.RDom([(-most, 2 * most + 1)])
        spread[x, y] = f32(hl.abs(depth[x, y] - focus)) * radius
        far_y[x, y] = hl.maximum(spread[x, y + w])
        far[x, y] = hl.maximum(far_y[x + w, y])

        color, offset, light, output = (hl.Func(s) for s in ("color", "offset", "light", "output"))
        color[x, y, c] = hl.select(c < 3, f32(left[x, y, hl.min(c, 2)]), f32(255))
        at_random = lambda: hl.clamp(hl.i32((hl.random_float() - f32(0.5)) * f32(2) * far[x, y]), -most, most)
        offset[x, y, z] = (at_random(), at_random())
        s = hl.RDom([(0, samples)])
        u, v = offset[x, y, s][0], offset[x, y, s][1]
        distance = f32(u * u + v * v)
        square = lambda e: e * e
        reaches = lambda ax, ay: distance < square(spread[ax, ay])
        counts = (reaches(x, y) | (depth[x + u, y + v] < depth[x, y])) & reaches(x + u, y + v)
        light[x, y, c] = color[x, y, c]
        light[x, y, c] += hl.select(counts, f32(1), f32(0)) * color[x + u, y + v, c]
        output[x, y, c] = f32(255) * (light[x, y, c] / light[x, y, 3])

        lanes = lanes_of(target)
        cls.schedule_depth(cost, confidence, down, down_y, likely, depth, lanes)
        for f in (far_y, far):
            f.compute_root().parallel(y, 8).vectorize(x, lanes)
        color.compute_root().reorder(c, x, y).bound(c, 0, 4).unroll(c).parallel(y, 8).vectorize(x, lanes)
        light.compute_at(output, y).bound(c, 0, 4).vectorize(x, lanes)
        light.update().reorder(c, x, s, y).unroll(c).vectorize(x, lanes)
        offset.compute_at(light, s).vectorize(x, lanes)
        output.bound(c, 0, 3).reorder(x, c, y).parallel(y, 8).vectorize(x, lanes)
        return output, [left_image, right_image]

    @classmethod
    def depth(cls, left, right, size, slices, r):
        cost, confidence = hl.Func("cost"), hl.Func("confidence")
        near = lambda ch, dx: hl.absd(left[x, y, ch], right[x + 2 * z + dx, y, ch])
        apart = lambda ch: f32(hl.min(near(ch, 0), near(ch, 1)))
        square = lambda e: e * e
        cost[x, y, z] = total(square(apart(ch)) for ch in range(3))
        count = f32(slices)
        confidence[x, y] = hl.sum(square(cost[x, y, r])) / count - square(hl.sum(cost[x, y, r] / count))
        down, down_y = [hl.Func("down0")], []
        down[0][x, y, z, c] = hl.mux(c, [cost[x, y, z] * confidence[x, y], confidence[x, y]])
        weighted = lambda at: (at(-1) + f32(3) * (at(0) + at(1)) + at(2)) / f32(8)
        for level in range(1, cls.levels):
            finer = cls.within(down[-1], size, 1 << (level - 1))
            in_y, following = hl.Func(f"down{level}_y"), hl.Func(f"down{level}")
            in_y[x, y, z, c] = weighted(lambda d: finer[x, 2 * y + d, z, c])
            following[x, y, z, c] = weighted(lambda d: in_y[2 * x + d, y, z, c])
            down.append(following)
            down_y.append(in_y)
        coarse = hl.Func(f"up{cls.levels - 1}")
        coarse[x, y, z, c] = down[-1][x, y, z, c]
        cls.up = [coarse]
        between = lambda near, far: f32(0.75) * near + f32(0.25) * far
        for level in reversed(range(cls.levels - 1)):
            in_y, following = hl.Func(f"up{level}_y"), hl.Func(f"up{level}")
            inner = cls.within(coarse, size, 2 << level)
            in_y[x, y, z, c] = between(inner[x, y // 2, z, c], inner[x, y // 2 - 1 + 2 * (y % 2), z, c])
            up = between(in_y[x // 2, y, z, c], in_y[x // 2 - 1 + 2 * (x % 2), y, z, c])
            following[x, y, z, c] = hl.lerp(up, down[level][x, y, z, c], f32(0.5))
            coarse = following
            cls.up.append(coarse)
        likely, depth = hl.Func("likely_cost"), hl.Func("depth")
        likely[x, y, z] = coarse[x, y, z, 0] / coarse[x, y, z, 1]
        depth[x, y] = hl.argmin(likely[x, y, r])[0]
        return cost, confidence, down, down_y, likely, depth

    @staticmethod
    def within(f, size, scale):
        edges = [(0, hl.max(n // scale, 1)) for n in size]
        return hl.BoundaryConditions.repeat_edge(f, edges)

    @classmethod
    def schedule_depth(cls, cost, confidence, down, down_y, likely, depth, lanes):
        cost.compute_root().reorder(x, y, z).parallel(z).vectorize(x, lanes)
        confidence.compute_root().parallel(y, 8).vectorize(x, lanes)
        for level, in_y in zip(down[1:], down_y):
            level.compute_root().bound(c, 0, 2).reorder(x, c, y, z).unroll(c).parallel(z).vectorize(x, lanes)
            in_y.compute_at(level, y).reorder(x, c, y, z).vectorize(x, lanes)
        for level in cls.up[:-1]:
            level.compute_root().bound(c, 0, 2).reorder(x, c, y, z).unroll(c).parallel(z).vectorize(x, lanes)
        depth.compute_root().parallel(y, 8).vectorize(x, lanes)


APPS = {app.name: app for app in (Resize, LensBlur)}
