//! Restated cases of bounds: the regions that inputs need, found through values, conversions and monotonic functions.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::prelude::*;

/// The first coordinate and the extent of each dimension of what `input` must have for `region`.
#[track_caller]
fn needs(case: &Case, schedule: &str, region: &Region) -> Vec<(i64, i64)> {
    let compiled = case.compile(crate::CPU, schedule);
    let needs = case.call(&compiled).infer_input_bounds(std::slice::from_ref(region));
    let needs = needs.unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    needs.iter().flat_map(|n| n.region.spans().iter().map(|s| (s.min, s.extent))).collect()
}

/// The coordinate's values span exactly the region needed, which is run on under every schedule.
#[track_caller]
fn spans_what_it_takes(build: impl Fn(Expr) -> Expr, coordinate: impl Fn(i64) -> i64) {
    spans(build, coordinate, true);
}

/// As [`spans_what_it_takes`]; less than `is_exact`, the region needed holds the coordinate's values.
#[track_caller]
fn spans(build: impl Fn(Expr) -> Expr, coordinate: impl Fn(i64) -> i64, is_exact: bool) {
    let (x, input) = (vars!(x), ImageParam::new("input", U16, 1));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[x] = input[build(x.expr())] + 1;
    f[x] = g[x] * 3;
    let schedules = [
        "g: compute_root()",
        "g: compute_root() vectorize(x, 8)\n f: vectorize(x, 4)",
        "g: compute_at(f, xo)\n f: split(x, xo, xi, 6) vectorize(xi, 2)",
    ];
    for region in rows() {
        let span = region.spans()[0];
        let taken: Vec<i64> = (span.min..span.end()).map(&coordinate).collect();
        let (low, high) = (*taken.iter().min().unwrap(), *taken.iter().max().unwrap());
        let mut whole = (0, 0);
        for schedule in ["", schedules[0]] {
            let found = needs(&Case::new([&f]), schedule, &region)[0];
            let holds = found.0 <= low && high < found.0 + found.1;
            assert!(if is_exact { found == (low, high - low + 1) } else { holds }, "{found:?} of {region:?}");
            whole = found;
        }
        let image = noise(U16, &Region::of_spans([whole]), 3);
        let value = |at: &[i64]| {
            let v = image.get([coordinate(at[0])]).unwrap().as_i64() as u16;
            [i64::from(v.wrapping_add(1).wrapping_mul(3))]
        };
        Case::new([&f]).image(&input, image.clone()).holds(&schedules, &[region], value);
    }
}

#[test]
fn absolute_values_and_differences_bound_coordinates() {
    spans_what_it_takes(|x| cast::<i32>(abs(x - 2)), |x| (x - 2).abs());
    spans_what_it_takes(|x| -cast::<i32>(absd(x, 5)), |x| -(x - 5).abs());
    // An arm that no point takes is in the region as well.
    spans(|x| select(x.lt(4), 4 - x, x + 9), |x| if x < 4 { 4 - x } else { x + 9 }, false);
}

#[test]
fn conversions_of_values_in_range_bound_coordinates() {
    // What a run's coordinates could wrap to in few bits is in the region as well.
    spans(|x| cast::<i32>(cast::<u8>(x + 40)), |x| x + 40, false);
    spans(|x| cast::<i32>(cast::<i16>(x * 3)) - 1, |x| x * 3 - 1, false);
    spans_what_it_takes(|x| cast::<i32>(cast::<i64>(x) * 4) + 2, |x| x * 4 + 2);
    spans(|x| cast::<i32>(saturating_cast::<u8>(x * 9)), |x| (x * 9).clamp(0, 255), false);
}

#[test]
fn monotonic_functions_bound_coordinates() {
    let steps = |x: i64| (0.7f32 * (0.25f32 * (x as f32 * 11.5).floor()).ceil()).floor() as i64;
    let f = |x: Expr| cast::<i32>(floor(0.7f32.expr() * ceil(0.25f32.expr() * floor(cast::<f32>(x) * 11.5f32))));
    spans_what_it_takes(f, steps);
    let root = |x: Expr| cast::<i32>(sqrt(cast::<f32>(x + 64)) * 4.0f32);
    spans_what_it_takes(root, |x| (((x + 64) as f32).sqrt() * 4.0) as i64);
    spans_what_it_takes(|x| cast::<i32>(round(cast::<f64>(x) / -3.0)), |x| (x as f64 / -3.0).round_ties_even() as i64);
}

/// Limits that parameters say, of i32 and of i16, whose products are exact as coordinates.
#[test]
fn limits_that_parameters_say() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (n, m) = (Param::<i32>::new("n"), Param::<i16>::new("m"));
    let mut f = Func::new("f");
    f[x] = input[clamp(x, 0, n * 2 - 1)] + input[clamp(x, 0, cast::<i32>(m) * 3 - 1)];
    let image = noise(U8, &Region::of_extents([12]), 3).typed::<u8>().unwrap();
    let at = |x: i64, most: i64| image.get([x.clamp(0, most)]).unwrap();
    let case = Case::new([&f]).image(&input, image.clone()).param(n, 6).param(m, 4i16);
    let schedules = ["", "f: vectorize(x, 8)", "f: split(x, xo, xi, 5) unroll(xi)"];
    case.holds(&schedules, &rows(), |p| [at(p[0], 11).wrapping_add(at(p[0], 11)) as i64]);
    let short = Case::new([&f]).image(&input, image.clone()).param(n, 2).param(m, 1i16);
    short.holds(&schedules, &rows(), |p| [at(p[0], 3).wrapping_add(at(p[0], 2)) as i64]);
    assert_eq!(needs(&short, "f: vectorize(x, 8)", &Region::of_spans([(-50, 100)])), [(0, 4)]);
    let long = Case::new([&f]).image(&input, image.clone()).param(n, 7).param(m, 1i16);
    long.fails(&schedules, &Region::of_extents([20]), &["`input`"]);
}

/// The range of the values of a Func that becomes a coordinate, through several Funcs and elements of tuples.
#[test]
fn ranges_of_values_of_funcs() {
    let (x, input, p) = (vars!(x), ImageParam::new("input", U8, 1), Param::<i32>::new("p"));
    let (mut a, mut b, mut f) = (Func::new("a"), Func::new("b"), Func::new("f"));
    a[x] = tuple([clamp(x * 7, 3, p), min(x, 20)]);
    let (first, second) = (a[x].at(0), a[x].at(1));
    b[x] = tuple([first - 1, max(second, -2) * 2]);
    let (low, high) = (b[x].at(0), b[x].at(1));
    f[x] = input[low] + input[low + high];
    let case = Case::new([&f]).param(p, 9);
    let wide = Region::of_spans([(-100, 300)]);
    // low is in 2..=8, high in -4..=40.
    assert_eq!(needs(&case, "a: compute_root()\n b: compute_root()", &wide), [(-2, 51)]);
    let image = noise(U8, &Region::of_spans([(-2, 51)]), 3).typed::<u8>().unwrap();
    let value = |at: &[i64]| {
        let low = (at[0] * 7).clamp(3, 9) - 1;
        let high = at[0].clamp(-2, 20) * 2;
        [image.get([low]).unwrap().wrapping_add(image.get([low + high]).unwrap()) as i64]
    };
    let schedules = [
        "a: compute_root()\n b: compute_root()",
        "a: compute_root() vectorize(x, 16)\n b: compute_root() vectorize(x, 8)\n f: vectorize(x, 8)",
        "b: compute_at(f, xo) vectorize(x, 4)\n f: split(x, xo, xi, 8) vectorize(xi)",
    ];
    case.image(&input, image.clone()).holds(&schedules, &rows(), value);
}

/// Counts of bits are bounded by the width of their type.
#[test]
fn counts_of_bits_bound_coordinates() {
    let (x, data, table) = (vars!(x), ImageParam::new("data", U16, 1), ImageParam::new("table", U8, 1));
    let mut f = Func::new("f");
    let count = |e: Expr| cast::<i32>(e);
    f[x] = table[count(popcount(data[x])) + count(clz(data[x])) * 2] + table[-count(ctz(data[x]))];
    let image = noise(U16, &Region::of_spans([(-7, 60)]), 4);
    let small = noise(U8, &Region::of_spans([(-16, 65)]), 5);
    let value = |at: &[i64]| {
        let v = image.get([at[0]]).unwrap().bits() as u16;
        let place = i64::from(v.count_ones() + v.leading_zeros() * 2);
        let other = -i64::from(v.trailing_zeros());
        [(small.get([place]).unwrap().as_i64() + small.get([other]).unwrap().as_i64()) & 255]
    };
    let schedules = ["", "f: vectorize(x, 16)", "f: parallel(x)"];
    let case = Case::new([&f]).image(&data, image.clone()).image(&table, small.clone());
    case.holds(&schedules, &rows(), value);
    let region = Region::of_extents([4]);
    assert_eq!(needs(&case, "", &region)[1], (-16, 16 + 3 * 16 + 1));
}

/// Values that memory beyond a stage's region could hold do not become accesses outside.
#[test]
fn values_beyond_the_region_never_become_accesses() {
    let x = vars!(x);
    let (mut h, mut g, mut f, mut out) = (Func::new("h"), Func::new("g"), Func::new("f"), Func::new("out"));
    let (low, high) = (-3_000_000, -2_999_975);
    h[x] = clamp(x, low, high);
    g[x] = x * 3;
    f[x] = g[h[x]];
    out[x] = f[x] + 1;
    let all = "h: compute_root()\n g: compute_root()\n";
    let schedules = [
        format!("{all} f: compute_root()"),
        format!("{all} f: compute_root() vectorize(x, 32, RoundUp)"),
        format!("{all} f: compute_at(out, xo) vectorize(x, 16, RoundUp)\n out: split(x, xo, xi, 8)"),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    let value = |p: &[i64]| [p[0].clamp(low.into(), high.into()) * 3 + 1];
    Case::new([&out]).holds(&schedules, &[rows(), vec![Region::of_spans([(-2_999_990, 21)])]].concat(), value);
}

/// A coordinate given twice, and the diagonal of a Func of two dimensions.
#[test]
fn one_variable_as_two_coordinates() {
    let (x, y) = vars!(x, y);
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[(x, y)] = x * 2 + y * y;
    f[(x, y)] = g[(x, x)] - g[(x - 1, x + y)];
    let schedules = [
        "",
        "f: vectorize(x, 4)",
        "g: compute_root() vectorize(x, 4)\n f: vectorize(x, 8)",
        "g: compute_at(f, xo) vectorize(y, 4)\n f: tile(x, y, xo, yo, xi, yi, 4, 2) vectorize(xi)",
    ];
    let g = |x: i64, y: i64| x * 2 + y * y;
    Case::new([&f]).holds(&schedules, &planes(), |p| [g(p[0], p[0]) - g(p[0] - 1, p[0] + p[1])]);
}

/// Rules of an input that hold of each other and of what an output's region needs.
#[test]
fn an_input_larger_than_what_is_read_of_it() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    input.dim(0).set_bounds(input.dim(1).min() - 4, input.dim(1).extent() * 2 + 3);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x + 1, y + 1)] - input[(x - 1, y - 1)];
    f[(x, y)] *= 3;
    let case = Case::new([&f]);
    let schedules = ["", "f: vectorize(x, 8)\n f.update(0): vectorize(x, 4)", "f: parallel(y)"];
    for schedule in schedules {
        let region = Region::of_spans([(2, 7), (3, 5)]);
        // Rows 2..9: from -2 on, 17 columns; columns 1..10 are read.
        assert_eq!(needs(&case, schedule, &region), [(-2, 17), (2, 7)]);
    }
    let image = noise(U8, &Region::of_spans([(-2, 17), (2, 7)]), 6).typed::<u8>().unwrap();
    let at = |x: i64, y: i64| image.get([x, y]).unwrap();
    let value = |p: &[i64]| [at(p[0] + 1, p[1] + 1).wrapping_sub(at(p[0] - 1, p[1] - 1)).wrapping_mul(3) as i64];
    let regions = [Region::of_spans([(2, 7), (3, 5)]), Region::of_spans([(-1, 13), (4, 1)])];
    case.image(&input, image.clone()).holds(&schedules, &regions, value);
}

/// Magnitudes of data, whose least value has one that its own type cannot hold.
#[test]
fn magnitudes_of_data_bound_coordinates() {
    let (x, data, table) = (vars!(x), ImageParam::new("data", I8, 1), ImageParam::new("table", U8, 1));
    let mut f = Func::new("f");
    let apart = absd(data[x], data[x + 1]);
    f[x] = table[cast::<i32>(abs(data[x]))] + table[-cast::<i32>(apart) / 2] * 3;
    let mut signed = noise(I8, &Region::of_spans([(-9, 60)]), 4);
    for (at, value) in [(0, -128), (1, 127), (3, 127), (4, -128)] {
        signed.set([at], Scalar::int(I8, value)).unwrap();
    }
    let small = noise(U8, &Region::of_spans([(-128, 257)]), 5);
    let value = |p: &[i64]| {
        let at = |i: i64| signed.get([i]).unwrap().as_i64();
        let (first, second) = (at(p[0]).abs(), (-(at(p[0]) - at(p[0] + 1)).abs()).div_euclid(2));
        [(small.get([first]).unwrap().as_i64() + small.get([second]).unwrap().as_i64() * 3) & 255]
    };
    let case = Case::new([&f]).image(&data, signed.clone()).image(&table, small.clone());
    assert_eq!(needs(&case, "", &Region::of_extents([4]))[1], (-128, 257));
    case.holds(&["", "f: vectorize(x, 16)", "f: split(x, xo, xi, 7) parallel(xo)"], &rows(), value);
}

/// A Func whose values are its own coordinates, read through itself, also while every step of the run is told.
#[test]
fn a_func_read_at_its_own_values() {
    let (x, p) = (vars!(x), Param::<i32>::new("p"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = 50 - clamp(x * 2, 1, p);
    g[x] = f[f[x]] + f[f[f[x] - 3]];
    let schedules = [
        "",
        "f: compute_root()",
        "f: compute_root() vectorize(x, 8)\n g: vectorize(x, 8)",
        "f: compute_root() parallel(x)\n g: split(x, xo, xi, 3) unroll(xi)",
    ];
    for most in [44, 1] {
        let f = |x: i64| 50 - (x * 2).clamp(1, most);
        let case = Case::new([&g]).param(p, most as i32);
        case.holds(&schedules, &rows(), |at| [f(f(at[0])) + f(f(f(at[0]) - 3))]);
        let compiled = case.compile(Engine::Interp, schedules[1]);
        let region = Region::of_spans([(-3, 9)]);
        let told = case.call(&compiled).trace(std::slice::from_ref(&region), &mut |_| {}).unwrap();
        let untold = case.call(&compiled).realize_all(&[region]).unwrap();
        assert_eq!(told, untold);
    }
}

/// Limits that cross: the later one of the two decides.
#[test]
fn limits_that_cross() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (low, high) = (Param::<i32>::new("low"), Param::<i32>::new("high"));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[x] = input[clamp(x, low, high)] + input[max(min(x, high), low)];
    f[x] = g[x] + g[x - 1];
    let image = noise(U8, &Region::of_spans([(-8, 20)]), 8);
    let schedules = [
        "g: compute_root()",
        "g: compute_root() vectorize(x, 8)\n f: vectorize(x, 4)",
        "g: store_root() compute_at(f, x)",
        "g: compute_at(f, xo) vectorize(x, 4)\n f: split(x, xo, xi, 8)",
    ];
    for (least, most) in [(-8, 11), (5, 2), (11, -8), (3, 3)] {
        let at = |i: i64| image.get([i]).unwrap().as_i64();
        let g = |x: i64| at(x.max(least).min(most)) + at(x.min(most).max(least));
        let case = Case::new([&f]).image(&input, image.clone()).param(low, least as i32).param(high, most as i32);
        case.holds(&schedules, &rows(), |p| [(g(p[0]) + g(p[0] - 1)) & 255]);
    }
}
