//! Restated cases of values: operators, conversions and functions inside of whole pipelines.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::prelude::*;

const ROWS: [&str; 4] =
    ["", "f: vectorize(x, 8)", "f: split(x, xo, xi, 5) parallel(xo) unroll(xi)", "f: vectorize(x, 16) parallel(x)"];

/// Bits are counted in every integer type, at zero and at all ones as well.
#[test]
fn counts_of_bits_of_every_type() {
    let x = vars!(x);
    for ty in [U8, I8, U16, I16, U32, I32, U64, I64] {
        let input = ImageParam::new("input", ty, 1);
        let mut image = noise(ty, &Region::of_spans([(-7, 44)]), 31);
        for (at, value) in [(-7, 0), (-1, -1), (0, 1), (2, i128::MIN >> (128 - ty.bits()))] {
            image.set([at], Scalar::int(ty, value)).unwrap();
        }
        let mut f = Func::new("f");
        f[x] = tuple([popcount(input[x]), clz(input[x]), ctz(input[x])].map(cast::<i32>));
        let bits = i64::from(ty.bits());
        let expected = |at: &[i64]| {
            let v = image.get([at[0]]).unwrap().bits();
            let ends = (i64::from(v.leading_zeros()) - (64 - bits), i64::from(v.trailing_zeros()).min(bits));
            [i64::from(v.count_ones()), ends.0, ends.1]
        };
        Case::new([&f]).image(&input, image.clone()).holds(&ROWS, &rows(), expected);
    }
}

/// Truth values that are stored, combined and become numbers.
#[test]
fn truth_values_are_stored_and_combined() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let (mut even, mut big, mut f) = (Func::new("even"), Func::new("big"), Func::new("f"));
    even[(x, y)] = (input[(x, y)] % 2).eq(0);
    big[(x, y)] = input[(x, y)].gt(99).and(!even[(x, y)]);
    let either = even[(x, y)].or(big[(x + 1, y)]) ^ (x.expr().lt(y));
    f[(x, y)] = tuple([cast::<u8>(either), select(big[(x, y)].eq(even[(x, y)]), 3u8, 4u8), cast::<u8>(!either)]);
    let image = noise(U8, &Region::of_spans([(-9, 30), (-9, 30)]), 4).typed::<u8>().unwrap();
    let at = |x: i64, y: i64| image.get([x, y]).unwrap();
    let (is_even, is_big) = (|v: u8| v.is_multiple_of(2), |v: u8| v > 99 && v % 2 == 1);
    let expected = |p: &[i64]| {
        let (v, next) = (at(p[0], p[1]), at(p[0] + 1, p[1]));
        let either = (is_even(v) || is_big(next)) ^ (p[0] < p[1]);
        [i64::from(either), if is_big(v) == is_even(v) { 3 } else { 4 }, i64::from(!either)]
    };
    let schedules = [
        "even: compute_root()\n big: compute_root()",
        "even: compute_root() vectorize(x, 16)\n big: compute_root() vectorize(x, 8)\n f: vectorize(x, 32)",
        "even: compute_at(f, y) vectorize(x, 4)\n big: compute_at(f, xo)\n f: split(x, xo, xi, 4) vectorize(xi) parallel(y)",
    ];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &planes(), expected);
}

/// Quotients and remainders by constants, by values and by zero keep `a == b * (a / b) + a % b` but for zero.
#[test]
fn quotients_and_remainders_of_coordinates() {
    let (x, y, d) = (vars!(x), vars!(y), Param::<i32>::new("d"));
    let mut f = Func::new("f");
    f[(x, y)] = tuple([x / d, x % d, x / y, x % y, div_round_to_zero(x, y), mod_round_to_zero(x, y), (x * 5 - 3) / 7]);
    for by in [-6, -1, 0, 1, 4, i32::MIN] {
        let euclid = |a: i64, b: i64| if b == 0 { (0, 0) } else { (a.div_euclid(b), a.rem_euclid(b)) };
        let expected = |p: &[i64]| {
            let (a, b) = (euclid(p[0], i64::from(by)), euclid(p[0], p[1]));
            let trunc = if p[1] == 0 { (0, 0) } else { (p[0] / p[1], p[0] % p[1]) };
            [a.0, a.1, b.0, b.1, trunc.0, trunc.1, (p[0] * 5 - 3).div_euclid(7)]
        };
        Case::new([&f]).param(d, by).holds(&ROWS, &planes(), expected);
    }
}

/// Shifts by signed amounts turn around; by negated unsigned ones as well, since these wrap to large amounts.
#[test]
fn shifts_by_amounts_of_either_sign() {
    let x = vars!(x);
    let (input, amounts) = (ImageParam::new("input", I32, 1), ImageParam::new("amounts", I8, 1));
    let mut f = Func::new("f");
    let by = cast::<i32>(amounts[x] % 40 - 20);
    let counts = cast::<u32>(amounts[x] & 7);
    f[x] = tuple([input[x] << by, input[x] >> by, cast::<i32>(cast::<u32>(input[x]) >> -by), input[x] << counts]);
    let region = Region::of_spans([(-7, 44)]);
    let (image, shifts) = (noise(I32, &region, 5), noise(I8, &region, 6));
    let left = |v: i64, by: i64| {
        let end = if v < 0 { -1 } else { 0 };
        match by {
            32.. => 0,
            0.. => i64::from((v << by) as i32),
            ..=-32 => end,
            _ => v >> -by,
        }
    };
    let logical = |v: i64, by: i64| if by < 0 { left(v, -by) } else { i64::from((v as u32 >> by) as i32) };
    let expected = |p: &[i64]| {
        let (v, s) = (image.get([p[0]]).unwrap().as_i64(), shifts.get([p[0]]).unwrap().as_i64());
        let by = s.rem_euclid(40) - 20;
        [left(v, by), left(v, -by), logical(v, -by), left(v, s & 7)]
    };
    Case::new([&f]).image(&input, image.clone()).image(&amounts, shifts.clone()).holds(&ROWS, &rows(), expected);
}

/// Random words cut into bytes and nibbles, and put together again.
#[test]
fn noise_of_few_bits_out_of_words() {
    let (x, seed) = (vars!(x), Param::<i32>::new("seed"));
    let (mut words, mut f) = (Func::new("words"), Func::new("f"));
    words[x] = random_u32(seed);
    let byte = |i: i32| extract_bits::<u8>(words[x], 8 * i);
    let nibble = extract_bits::<u8>(words[x / 8], 4 * (x % 8)) & 15;
    let again = concat_bits([byte(0), byte(1), byte(2), byte(3)]);
    f[x] = tuple([select(again.eq(words[x]), 1u8, 0u8), nibble, extract_bits::<u8>(words[x / 4], 8 * (x % 4))]);
    let schedules = [
        "words: compute_root()",
        "words: compute_root() vectorize(x, 4)\n f: vectorize(x, 16)",
        "words: compute_at(f, xo)\n f: split(x, xo, xi, 16) vectorize(xi, 8)",
    ];
    let case = Case::new([&f]).param(seed, 77);
    let long = [Region::of_spans([(-1000, 4096)])];
    for out in case.agrees(&schedules, &rows()).iter().chain(&case.agrees(&schedules[1..2], &long)) {
        assert!(out[0].typed::<u8>().unwrap().to_vec().iter().all(|v| *v == 1));
    }
    let out = &case.agrees(&[], &long)[0];
    let mean = |n: usize| {
        let list = out[n].typed::<u8>().unwrap().to_vec();
        list.iter().map(|v| f64::from(*v)).sum::<f64>() / list.len() as f64
    };
    assert!((mean(1) - 7.5).abs() < 0.4 && (mean(2) - 127.5).abs() < 6.0, "{} {}", mean(1), mean(2));
}

/// NaN among the arms of choices, comparisons and extremes, of what is known when compiling and of what is not.
#[test]
fn values_that_are_no_numbers() {
    let (x, input) = (vars!(x), ImageParam::new("input", F32, 1));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    let v = input[x];
    g[x] = select(x.expr().lt(2), v, v / 0.0);
    let known = f32::NAN.expr();
    f[x] = tuple([
        cast::<i32>(is_nan(g[x])),
        cast::<i32>(g[x].eq(g[x])),
        cast::<i32>(g[x].lt(g[x]).or(g[x].ge(g[x]))),
        cast::<i32>(is_nan(known + v)),
        cast::<i32>(is_nan(select(is_nan(g[x]), 1.0f32, g[x]))),
        cast::<i32>(is_finite(g[x])) * 2 + cast::<i32>(is_inf(g[x])),
    ]);
    let pool = [0.0, -0.0, 1.5, f32::NAN, f32::INFINITY, -2.25e-41, f32::MAX];
    let image = Buffer::<f32>::from_fn(&Region::of_spans([(-7, 44)]), |at| pool[at[0].rem_euclid(7) as usize]).unwrap();
    let expected = |p: &[i64]| {
        let v = image.get([p[0]]).unwrap();
        let g = if p[0] < 2 { v } else { v / 0.0 };
        let (nan, number) = (i64::from(g.is_nan()), i64::from(!g.is_nan()));
        [nan, number, number, 1, 0, i64::from(g.is_finite()) * 2 + i64::from(g.is_infinite())]
    };
    let schedules =
        ["g: compute_root()", "g: compute_root() vectorize(x, 8)\n f: vectorize(x, 8)", "f: vectorize(x, 4)"];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &rows(), expected);
}

/// Lanes of several widths in one expression.
#[test]
fn conversions_between_widths_in_one_expression() {
    let (x, input) = (vars!(x), ImageParam::new("input", I16, 1));
    let mut f = Func::new("f");
    let v = input[x];
    let narrow = cast::<i32>(cast::<i8>(v)) + cast::<i32>(cast::<u8>(v)) * 1000;
    let wide = cast::<i64>(v) * 1_000_003 + cast::<i64>(cast::<u32>(v));
    let floats = cast::<i32>(cast::<f32>(v) * 0.5) - cast::<i32>(cast::<f64>(cast::<u16>(v)) / 3.0);
    f[x] = tuple([narrow, cast::<i32>(wide >> 7), floats, cast::<i32>(saturating_cast::<u8>(v))]);
    let image = noise(I16, &Region::of_spans([(-7, 44)]), 9).typed::<i16>().unwrap();
    let expected = |p: &[i64]| {
        let v = image.get([p[0]]).unwrap();
        let wide = i64::from(v) * 1_000_003 + i64::from(v as i32 as u32);
        let floats = (f32::from(v) * 0.5) as i32 - (f64::from(v as u16) / 3.0) as i32;
        let narrow = i32::from(v as i8) + i32::from(v as u8) * 1000;
        [narrow as i64, (wide >> 7) as i32 as i64, floats as i64, i64::from(v.clamp(0, 255))]
    };
    Case::new([&f]).image(&input, image.clone()).holds(&ROWS, &rows(), expected);
}

/// Powers by repeated products, and by the function where the exponent is whole.
#[test]
fn powers_with_whole_exponents() {
    let x = vars!(x);
    let mut f = Func::new("f");
    let power = |n: usize| (0..n).fold(1.expr(), |p, _| p * (x % 9 - 4));
    let by_function = |n: i32| cast::<i32>(round(pow(cast::<f64>(x % 9 - 4), cast::<f64>(n.expr()))));
    f[x] = tuple([power(0), power(3), power(7), by_function(3), by_function(6), by_function(0)]);
    let expected = |p: &[i64]| {
        let base = p[0].rem_euclid(9) - 4;
        [1, base.pow(3), base.pow(7), base.pow(3), base.pow(6), 1]
    };
    Case::new([&f]).holds(&ROWS, &rows(), expected);
}

/// Sums of products in wider types that a saturating conversion makes narrow, alone and as elements of tuples.
#[test]
fn widening_sums_made_narrow() {
    let (x, y) = vars!(x, y);
    let (input, kernel) = (ImageParam::new("input", U8, 2), ImageParam::new("kernel", I8, 2));
    let (mut both, mut f) = (Func::new("both"), Func::new("f"));
    let (r, s) = (RDom::named("r", [(-1, 3), (-2, 4)]), RDom::named("s", [(-1, 3), (-2, 4)]));
    let product = |r: &RDom| cast::<i16>(input[(x + r.x, y + r.y)]) * (kernel[(r.x, r.y)] / 16);
    both[(x, y)] = tuple([0i16.expr(), 0i8.expr()]);
    let old = both.read((x, y));
    both[(x, y)] = tuple([old.at(0) + product(&s), old.at(1) - kernel[(s.x, s.y)]]);
    let (first, second) = (both[(x, y)].at(0), both[(x, y)].at(1));
    let narrow = |e: Expr| saturating_cast::<u8>(e / 16);
    f[(x, y)] = tuple([narrow(sum_over(&r, product(&r))), narrow(first + cast::<i16>(second))]);
    let image = noise(U8, &Region::of_spans([(-12, 40), (-8, 24)]), 61);
    let taps = noise(I8, &Region::of_spans([(-1, 3), (-2, 4)]), 62);
    let value = |p: &[i64]| {
        let places = (-1..2).flat_map(|dx| (-2..2).map(move |dy| (dx, dy)));
        let tap = |d: (i64, i64)| taps.get([d.0, d.1]).unwrap().as_i64();
        let at = |d: (i64, i64)| image.get([p[0] + d.0, p[1] + d.1]).unwrap().as_i64();
        let total = places.clone().map(|d| at(d) * tap(d).div_euclid(16)).sum::<i64>() as i16;
        let all = -places.map(tap).sum::<i64>() as i8;
        let narrow = |v: i16| i64::from(v.div_euclid(16).clamp(0, 255));
        [narrow(total), narrow(total.wrapping_add(i16::from(all)))]
    };
    let schedules = [
        "both: compute_root()",
        "both: compute_root() vectorize(x, 8)\n both.update(0): reorder(x, s.x, s.y, y) vectorize(x, 16)\n f: vectorize(x, 16)",
        "both: compute_at(f, xo) vectorize(x, 4)\n f: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)",
        "both: compute_root()\n both.update(0): unroll(s.x) unroll(s.y, 2)\n sum: compute_at(f, x)\n f: parallel(y)",
    ];
    let case = Case::new([&f]).image(&input, image.clone()).image(&kernel, taps.clone());
    case.holds(&schedules, &planes(), value);
}

/// Arithmetic updates of the elements of a tuple, which all read the state before.
#[test]
fn arithmetic_updates_of_tuples() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = tuple([5i16.expr(), cast::<i16>(y) * 3]);
    let by = |f: &Func, of: fn(Expr, Expr, Expr) -> Expr| {
        let old = f.read((x, y));
        tuple([of(old.at(0), old.at(1), cast::<i16>(x)), of(old.at(1), old.at(0), cast::<i16>(y))])
    };
    f[(x, y)] = by(&f, |a, b, c| a * (c + 13) + b);
    f[(x, y)] = by(&f, |a, b, c| a - b / (c + 1));
    f[(x, y)] = by(&f, |a, b, _| (a % 1000) * (b % 7));
    let value = |p: &[i64]| {
        let (x, y) = (p[0] as i16, p[1] as i16);
        let (mut a, mut b) = (5i16, y * 3);
        let div = |a: i16, b: i16| if b == 0 { 0 } else { a.div_euclid(b) };
        (a, b) = (a.wrapping_mul(x + 13).wrapping_add(b), b.wrapping_mul(y + 13).wrapping_add(a));
        (a, b) = (a.wrapping_sub(div(b, x + 1)), b.wrapping_sub(div(a, y + 1)));
        (a, b) = (a.rem_euclid(1000) * b.rem_euclid(7), b.rem_euclid(1000) * a.rem_euclid(7));
        [a.into(), b.into()]
    };
    let schedules = [
        "",
        "f: vectorize(x, 8)\n f.update(0): vectorize(x, 16)\n f.update(1): vectorize(x, 4)\n f.update(2): vectorize(y, 8)",
        "f: parallel(y)\n f.update(0): parallel(y)\n f.update(1): unroll(x, 3)\n f.update(2): reorder(y, x)",
    ];
    Case::new([&f]).holds(&schedules, &planes(), value);
}
