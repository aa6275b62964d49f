//! Local Laplacian filters: a pipeline with pyramids, a lookup table and data-dependent reads, against plain arrays.

use halide_core::boundary::repeat_edge;
use halide_core::buffer::{Buffer, Region};
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, Var, vars};

const ALPHA: f32 = 1.0 / 7.0;

/// [1 3 3 1] / 8, in y and then in x; `more` are dimensions beyond x and y.
fn downsample(f: &Func, more: &[Var]) -> Func {
    let (x, y) = vars!(x, y);
    let at = |x: Expr, y: Expr| [x, y].into_iter().chain(more.iter().map(|v| v.expr())).collect::<Vec<_>>();
    let (mut rows, mut both) = (Func::new("down_y"), Func::new("down_x"));
    let tap = |d: i32| f.read(at(x.expr(), y * 2 + d));
    rows[&at(x.expr(), y.expr())] = (tap(-1) + (tap(0) + tap(1)) * 3.0f32 + tap(2)) / 8.0f32;
    let tap = |d: i32| rows.read(at(x * 2 + d, y.expr()));
    both[&at(x.expr(), y.expr())] = (tap(-1) + (tap(0) + tap(1)) * 3.0f32 + tap(2)) / 8.0f32;
    both
}

/// Bilinear, in x and then in y.
fn upsample(f: &Func, more: &[Var]) -> Func {
    let (x, y) = vars!(x, y);
    let at = |x: Expr, y: Expr| [x, y].into_iter().chain(more.iter().map(|v| v.expr())).collect::<Vec<_>>();
    let weight = |c: Var| ((c % 2) * 2 + 1).cast(F32) / 4.0f32;
    let (mut columns, mut both) = (Func::new("up_x"), Func::new("up_y"));
    let (p, q) = (f.read(at((x + 1) / 2, y.expr())), f.read(at((x - 1) / 2, y.expr())));
    columns[&at(x.expr(), y.expr())] = lerp(p, q, weight(x));
    let (p, q) = (columns.read(at(x.expr(), (y + 1) / 2)), columns.read(at(x.expr(), (y - 1) / 2)));
    both[&at(x.expr(), y.expr())] = lerp(p, q, weight(y));
    both
}

/// The filter of a grey image.
fn pipeline(input: &ImageParam, levels: i32, depth: usize) -> Func {
    let (x, y, k, i) = vars!(x, y, k, i);
    let top = levels - 1;
    let edge = repeat_edge(input);
    let mut gray = Func::new("gray");
    gray[(x, y)] = edge[(x, y)].cast(F32) / 65535.0f32;
    let mut remap = Func::new("remap");
    let f = i.cast(F32) / 256.0f32;
    remap[i] = f * ALPHA * exp(-f * f / 2.0f32);
    let mut g0 = Func::new("g0");
    let level = k.cast(F32) * (1.0 / top as f32);
    let index = clamp((gray[(x, y)] * (top as f32 * 256.0)).cast(I32), 0, top * 256);
    g0[(x, y, k)] = (gray[(x, y)] - level) + level + remap[index - k * 256];

    let (mut pyramid, mut grays) = (vec![g0], vec![gray]);
    for l in 1..depth {
        pyramid.push(downsample(&pyramid[l - 1], &[k]));
        grays.push(downsample(&grays[l - 1], &[]));
    }
    let mut out: Option<Func> = None;
    for l in (0..depth).rev() {
        let mut laplacian = Func::new("laplacian");
        let g = pyramid[l][(x, y, k)];
        laplacian[(x, y, k)] = match pyramid.get(l + 1) {
            Some(coarser) => g - upsample(coarser, &[k])[(x, y, k)],
            None => g,
        };
        let at = grays[l][(x, y)] * top as f32;
        let li = clamp(at.cast(I32), 0, top - 1);
        let lf = at - li.cast(F32);
        let mixed = (1.0f32 - lf) * laplacian[(x, y, li)] + lf * laplacian[(x, y, li + 1)];
        let mut sum = Func::new("out");
        sum[(x, y)] = match &out {
            Some(coarser) => upsample(coarser, &[])[(x, y)] + mixed,
            None => mixed,
        };
        out = Some(sum);
    }
    out.unwrap()
}

/// A function of x and y on a box that is large enough for all reads.
struct Plane {
    min: i32,
    size: i32,
    values: Vec<f32>,
}

impl Plane {
    fn new(min: i32, size: i32, mut f: impl FnMut(i32, i32) -> f32) -> Plane {
        let at = (0..size * size).map(|i| (i % size + min, i / size + min));
        Plane { min, size, values: at.map(|(x, y)| f(x, y)).collect() }
    }
    fn at(&self, x: i32, y: i32) -> f32 {
        self.values[((y - self.min) * self.size + x - self.min) as usize]
    }
    fn down(&self) -> Plane {
        let (min, end) = ((self.min + 2).div_euclid(2), (self.min + self.size - 3).div_euclid(2) + 1);
        let taps = |f: &dyn Fn(i32) -> f32| (f(-1) + (f(0) + f(1)) * 3.0 + f(2)) / 8.0;
        let rows = |x: i32, y: i32| taps(&|d| self.at(x, y * 2 + d));
        Plane::new(min, end - min, |x, y| taps(&|d| rows(x * 2 + d, y)))
    }
    fn up(&self, x: i32, y: i32) -> f32 {
        let weight = |c: i32| (c.rem_euclid(2) * 2 + 1) as f32 / 4.0;
        let lerp = |a: f32, b: f32, w: f32| a * (1.0 - w) + b * w;
        let columns = |y| lerp(self.at((x + 1).div_euclid(2), y), self.at((x - 1).div_euclid(2), y), weight(x));
        lerp(columns((y + 1).div_euclid(2)), columns((y - 1).div_euclid(2)), weight(y))
    }
}

/// The same filter on arrays, at one point of the finest level.
fn reference(gray: Vec<Plane>, pyramids: Vec<Vec<Plane>>, x: i32, y: i32) -> f32 {
    let (depth, top) = (gray.len(), pyramids.len() as i32 - 1);
    let mut coarser: Option<Plane> = None;
    for l in (0..depth).rev() {
        let reach = if l == 0 { 1 } else { 4 };
        let (cx, cy) = (x.div_euclid(1 << l), y.div_euclid(1 << l));
        let laplacian = |k: i32, x: i32, y: i32| {
            let g = pyramids[k as usize][l].at(x, y);
            if l + 1 == depth { g } else { g - pyramids[k as usize][l + 1].up(x, y) }
        };
        let corner = cx.min(cy) - reach;
        let size = (cx.max(cy) + reach + 1) - corner;
        coarser = Some(Plane::new(corner, size, |x, y| {
            if (x - cx).abs() > reach || (y - cy).abs() > reach {
                return 0.0;
            }
            let at = gray[l].at(x, y) * top as f32;
            let li = (at as i32).clamp(0, top - 1);
            let lf = at - li as f32;
            let mixed = (1.0 - lf) * laplacian(li, x, y) + lf * laplacian(li + 1, x, y);
            coarser.as_ref().map_or(mixed, |c| c.up(x, y) + mixed)
        }));
    }
    coarser.unwrap().at(x, y)
}

#[test]
fn agrees_with_plain_arrays_bit_for_bit() {
    let (w, h, levels, depth) = (23, 17, 4, 3);
    let pixel = |x: i32, y: i32| ((x * 2971 + y * 3907 + x * y * 97) % 65536) as u16;
    let photo = Buffer::from_fn(&Region::of_extents([w, h]), |at| pixel(at[0], at[1])).unwrap();
    let input = ImageParam::new("input", U16, 2);
    let p = Pipeline::new([&pipeline(&input, levels, depth)]).unwrap();
    let out = run(&p, &Inputs::new().image("input", &photo), &[Region::of_extents([w, h])]).unwrap().remove(0);

    let grayscale = |x: i32, y: i32| pixel(x.clamp(0, w - 1), y.clamp(0, h - 1)) as f32 / 65535.0;
    let remap = |i: i32| {
        let f = i as f32 / 256.0;
        f * ALPHA * halide_core::math::eval_f32(halide_core::ops::MathFn::Exp, &[-f * f / 2.0])
    };
    let top = levels - 1;
    let g0 = |k: i32| {
        move |x: i32, y: i32| {
            let (g, level) = (grayscale(x, y), k as f32 * (1.0 / top as f32));
            let index = ((g * (top as f32 * 256.0)) as i32).clamp(0, top * 256);
            (g - level) + level + remap(index - k * 256)
        }
    };
    let pyramid = |base: &dyn Fn(i32, i32) -> f32| {
        let mut planes = vec![Plane::new(-40, 110, base)];
        (1..depth).for_each(|l| planes.push(planes[l - 1].down()));
        planes
    };
    for (x, y) in [(0, 0), (w - 1, h - 1), (7, 5), (8, 5), (22, 0), (13, 16)] {
        let expected = reference(pyramid(&grayscale), (0..levels).map(|k| pyramid(&g0(k))).collect(), x, y);
        let got = out.get([x, y]).unwrap();
        assert_eq!(got, expected.into(), "at {x}, {y}");
    }
}

#[test]
fn six_levels_of_a_flat_photo() {
    let input = ImageParam::new("input", U16, 2);
    let p = Pipeline::new([&pipeline(&input, 8, 6)]).unwrap();
    let region = Region::of_extents([40, 24]);
    let flat = Buffer::from_fn(&region, |_| 30_000u16).unwrap();
    let out = run(&p, &Inputs::new().image("input", &flat), &[region]).unwrap().remove(0);
    let first = out.get([0, 0]).unwrap();
    assert!((first.as_f64() - 30_000.0 / 65_535.0).abs() < 0.1, "{first}");
    assert!(out.coords().all(|at| (out.get(at).unwrap().as_f64() - first.as_f64()).abs() < 1e-6));
}
