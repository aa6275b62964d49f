//! Restated cases of buffers: crops, strides, shifted and many dimensions, boundary conditions, neighbourhoods.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::prelude::*;

const PLANES: [&str; 4] = [
    "",
    "f: vectorize(x, 8) parallel(y)",
    "f: tile(x, y, xo, yo, xi, yi, 5, 3) unroll(yi)",
    "f: reorder(y, x) vectorize(y, 4)",
];

/// Inputs that are crops, transposed, interleaved, padded and moved views of larger memory.
#[test]
fn views_of_larger_memory() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U16, 2));
    let mut f = Func::new("f");
    f[(x, y)] = input[(x + 1, y)] * 3 + input[(x, y - 1)] + cast::<u16>(input.dim(0).min() + input.dim(1).extent());
    let whole = Region::of_spans([(-12, 50), (-12, 40)]);
    let dense = noise(U16, &whole, 41);
    let padded = {
        let mut b = AnyBuffer::with_strides(U16, &whole, &[3, 200]).unwrap();
        b.view_mut().unwrap().copy_from(&dense).unwrap();
        b
    };
    let turned = {
        let mut b = AnyBuffer::with_layout(U16, &whole, &[1, 0]).unwrap();
        b.view_mut().unwrap().copy_from(&dense).unwrap();
        b
    };
    let window = Region::of_spans([(-10, 36), (-6, 24)]);
    let square = noise(U16, &Region::of_spans([(-12, 40), (-12, 40)]), 42);
    let views = [
        dense.crop(&window).unwrap(),
        padded.crop(&window).unwrap(),
        turned.crop(&window).unwrap(),
        square.transpose(&[1, 0]).unwrap().crop(&Region::of_spans([(-11, 36), (-9, 30)])).unwrap(),
        noise(U16, &Region::of_extents([40, 3, 40]), 43).slice(1, 2).unwrap().with_mins([-11, -9]).unwrap(),
        dense.translate([1, 2]).unwrap(),
    ];
    for view in views {
        let at = |x: i64, y: i64| view.get([x, y]).unwrap().as_i64();
        let extra = view.min(0) + view.extent(1);
        let value = |p: &[i64]| [(at(p[0] + 1, p[1]) * 3 + at(p[0], p[1] - 1) + extra) & 0xffff];
        Case::new([&f]).image(&input, view.clone()).holds(&PLANES, &planes(), value);
    }
}

/// Results written into views: of a crop, with gaps, interleaved and transposed; nothing else is touched.
#[test]
fn results_written_into_views() {
    let (x, y, p) = (vars!(x), vars!(y), Param::<i16>::new("p"));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[(x, y)] = cast::<i16>(x * 100 + y);
    f[(x, y)] = g[(x, y)] + g[(x, y + 1)] + p;
    let whole = Region::of_spans([(-20, 60), (-10, 30)]);
    let layouts = [
        AnyBuffer::with_region(I16, &whole).unwrap(),
        AnyBuffer::with_strides(I16, &whole, &[2, 121]).unwrap(),
        AnyBuffer::with_layout(I16, &whole, &[1, 0]).unwrap(),
        AnyBuffer::with_strides(I16, &whole, &[40, 1]).unwrap(),
    ];
    let case = Case::new([&f]).param(p, 5i16);
    for schedule in PLANES.iter().chain(&["g: compute_root() vectorize(x, 8)\n f: vectorize(x, 16)"]) {
        for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
            let compiled = case.compile(engine, schedule);
            for layout in &layouts {
                for region in planes() {
                    let mut views = AnyBuffer::like(I16, layout.dims()).unwrap();
                    views.fill(Scalar::from(-77i16)).unwrap();
                    let view = views.view_mut().unwrap().crop(&region).unwrap();
                    case.call(&compiled).realize_all_into(&mut [view]).unwrap_or_else(|e| panic!("{schedule}: {e}"));
                    for at in whole.coords() {
                        let want = match region.contains(&at) {
                            true => (at[0] * 200 + at[1] * 2 + 6) as i64,
                            false => -77,
                        };
                        let got = views.get(&at).unwrap().as_i64();
                        assert_eq!(got, want, "{at:?} of {region:?}\n{schedule} {engine:?}");
                    }
                }
            }
        }
    }
}

/// Eight dimensions, some of extent one, and none at all.
#[test]
fn as_many_dimensions_as_there_may_be() {
    let v: Vec<Var> = (0..8).map(|i| Var::new(format!("v{i}"))).collect();
    let input = ImageParam::new("input", I32, 8);
    let place = |from: usize, by: i32| {
        let at = |i: usize| if i == from { v[i] + by } else { v[i].expr() };
        (at(0), at(1), at(2), at(3), at(4), at(5), at(6), at(7))
    };
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[place(9, 0)] = input[place(9, 0)] * 2 + v[7];
    f[place(9, 0)] = g[place(0, 1)] - g[place(3, -1)] + g[place(7, 2)] * v[5];
    let spans = [(-3, 9), (0, 2), (4, 1), (-1, 3), (0, 1), (7, 2), (0, 1), (-5, 2)];
    let wanted = Region::of_spans(spans);
    let more: Vec<(i64, i64)> = spans.iter().map(|s| (s.0 - 2, s.1 + 5)).collect();
    let image = noise(I32, &Region::of_spans(&more), 17);
    let read = |p: &[i64], d: usize, by: i64| {
        let mut at = p.to_vec();
        at[d] += by;
        (image.get(&at).unwrap().as_i64() as i32).wrapping_mul(2).wrapping_add(at[7] as i32)
    };
    let value = |p: &[i64]| {
        let last = read(p, 7, 2).wrapping_mul(p[5] as i32);
        [i64::from(read(p, 0, 1).wrapping_sub(read(p, 3, -1)).wrapping_add(last))]
    };
    let schedules = [
        "",
        "g: compute_root() vectorize(v0, 4) parallel(v7)\n f: vectorize(v0, 8)",
        "g: compute_at(f, t)\n f: reorder(v0, v1, v2, v4, v5, v6, v7, v3) fuse(v7, v3, t)",
        "g: compute_root() reorder_storage(v7, v0, v3, v1, v2, v4, v5, v6)\n f: split(v0, xo, xi, 2) vectorize(xi)",
    ];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &[wanted], value);
    let r = RDom::named("r", [(0, 9)]);
    let mut point = Func::new("point");
    point[()] = sum_over(&r, r.x * r.x + 4);
    Case::new([&point]).holds(&["", "sum: compute_root()"], &[Region::new([])], |_| [204 + 36]);
}

/// All five boundary conditions around one image, also where it is asked for far outside.
#[test]
fn boundary_conditions_far_outside() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let around = [
        repeat_edge(&input),
        repeat_image(&input),
        mirror_image(&input),
        mirror_interior(&input),
        constant_exterior(&input, 9u8),
    ];
    let mut f = Func::new("f");
    f[(x, y)] = tuple(around.iter().map(|b| b[(x, y)]));
    for spans in [[(0, 1), (0, 1)], [(-2, 3), (4, 2)], [(3, 7), (-1, 5)]] {
        let region = Region::of_spans(spans);
        let image = noise(U8, &region, 51);
        let mirrored = |c: i64, n: i64| {
            if c.rem_euclid(2 * n) < n { c.rem_euclid(2 * n) } else { 2 * n - 1 - c.rem_euclid(2 * n) }
        };
        let inside = |c: i64, n: i64| {
            let period = (2 * n - 2).max(1);
            let at = c.rem_euclid(period);
            if at < n { at } else { period - at }
        };
        let at = |p: &[i64], place: &dyn Fn(i64, i64) -> i64| {
            let coordinate = |d: usize| spans[d].0 + place(p[d] - spans[d].0, spans[d].1);
            image.get([coordinate(0), coordinate(1)]).unwrap().as_i64()
        };
        let value = |p: &[i64]| {
            let known = image.get([p[0], p[1]]).map_or(9, Scalar::as_i64);
            let clamped = at(p, &|c, n| c.clamp(0, n - 1));
            [clamped, at(p, &|c, n| c.rem_euclid(n)), at(p, &mirrored), at(p, &inside), known]
        };
        let far = Region::of_spans([(-60, 33), (40, 4)]);
        let schedules =
            [PLANES[0], PLANES[1], "f: vectorize(x, 16)", "f: split(x, xo, xi, 6) vectorize(xi, 2) parallel(xo)"];
        let case = Case::new([&f]).image(&input, image.clone());
        case.holds(&schedules, &[planes(), vec![far]].concat(), value);
    }
}

/// A window of Funcs side by side: what one output holds is put together from three Funcs by ranges of coordinates.
#[test]
fn funcs_side_by_side() {
    let (x, p) = (vars!(x), Param::<i32>::new("p").with_range(-4, 9));
    let (mut a, mut b, mut c, mut f) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("f"));
    a[x] = x * 3;
    b[x] = x - 100;
    c[x] = x * x;
    f[x] = select_first([(x.expr().lt(p), a[x]), (x.expr().lt(p + 7), b[x - p])], c[x - p - 7]);
    let schedules = [
        "",
        "a: compute_root()\n b: compute_root() vectorize(x, 4)\n c: compute_root()\n f: vectorize(x, 8)",
        "a: compute_at(f, xo)\n b: compute_at(f, xo)\n c: compute_at(f, xo) vectorize(x, 4)\n f: split(x, xo, xi, 4)",
    ];
    for value in [-4i32, 0, 9] {
        let p = (p, i64::from(value));
        let case = Case::new([&f]).param(p.0, value);
        case.holds(&schedules, &rows(), |at| {
            let x = at[0];
            let rest = x - p.1 - 7;
            [if x < p.1 {
                x * 3
            } else if x < p.1 + 7 {
                x - p.1 - 100
            } else {
                rest * rest
            }]
        });
    }
}

/// Median, dilation and erosion of neighbourhoods by chains of extremes.
#[test]
fn order_statistics_of_neighbourhoods() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let (mut g, mut column, mut f) = (Func::new("g"), Func::new("column"), Func::new("f"));
    g[(x, y)] = input[(x, y)] ^ 85;
    let three = |i: i32| g[(x, y + i)];
    let (low, high) = (min(three(-1), three(0)), max(three(-1), three(0)));
    column[(x, y)] = tuple([min(low, three(1)), max(low, min(high, three(1))), max(high, three(1))]);
    let part = |i: i32, n: usize| column[(x + i, y)].at(n);
    let median = |a: Expr, b: Expr, c: Expr| max(min(a, b), min(max(a, b), c));
    let least = max(max(part(-1, 0), part(0, 0)), part(1, 0));
    let middle = median(part(-1, 1), part(0, 1), part(1, 1));
    let most = min(min(part(-1, 2), part(0, 2)), part(1, 2));
    let dilated = max(max(part(-1, 2), part(0, 2)), part(1, 2));
    f[(x, y)] = tuple([median(least, middle, most), dilated]);
    let image = noise(U8, &Region::of_spans([(-12, 40), (-8, 24)]), 61);
    let value = |p: &[i64]| {
        let at = |i: i64| image.get([p[0] + i % 3 - 1, p[1] + i / 3 - 1]).unwrap().as_i64() ^ 85;
        let mut list: Vec<i64> = (0..9).map(at).collect();
        list.sort_unstable();
        [list[4], list[8]]
    };
    let schedules = [
        "column: compute_root()",
        "g: compute_root() vectorize(x, 16)\n column: compute_at(f, y) vectorize(x, 8)\n f: vectorize(x, 32)",
        "f: tile(x, y, xo, yo, xi, yi, 16, 4) vectorize(xi) parallel(yo)\n column: compute_at(f, xo) vectorize(x, 8)",
        "g: store_root() compute_at(f, y) fold_storage(y, 4)\n column: compute_at(f, y)",
    ];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &planes(), value);
}

/// Reads with steps, backwards and of both parities, of the memory of another Func and of an image.
#[test]
fn reads_with_steps_and_backwards() {
    let (x, input) = (vars!(x), ImageParam::new("input", I16, 1));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[x] = input[3 * x + 1] - input[-2 * x];
    f[x] = g[2 * x] + g[2 * x + 1] * 5 - g[7 - x] + g[(x / 2) * 3 - x % 2];
    let image = noise(I16, &Region::of_spans([(-400, 900)]), 71);
    let at = |i: i64| image.get([i]).unwrap().as_i64() as i16;
    let g = |x: i64| at(3 * x + 1).wrapping_sub(at(-2 * x));
    let value = |p: &[i64]| {
        let x = p[0];
        let (near, far) =
            (g(2 * x).wrapping_add(g(2 * x + 1).wrapping_mul(5)), g(x.div_euclid(2) * 3 - x.rem_euclid(2)));
        [i64::from(near.wrapping_sub(g(7 - x)).wrapping_add(far))]
    };
    let schedules = [
        "",
        "g: compute_root() vectorize(x, 8)\n f: vectorize(x, 16)",
        "g: compute_root() vectorize(x, 16)\n f: vectorize(x, 4) parallel(x)",
        "g: compute_at(f, xo)\n f: split(x, xo, xi, 7) vectorize(xi, 2)",
    ];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &rows(), value);
}
