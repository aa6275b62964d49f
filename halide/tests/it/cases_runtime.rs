//! Restated cases of runs: parameters, extern stages, several outputs, requirements, random numbers.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::externs::Extern;
use halide::prelude::*;

/// Parameters of every type, at the ends of their types, in one expression.
#[test]
fn parameters_of_every_type_together() {
    let x = vars!(x);
    let (a, b, c) = (Param::<u8>::new("a"), Param::<i16>::new("b"), Param::<u32>::new("c"));
    let (d, e, t) = (Param::<i64>::new("d"), Param::<f32>::new("e"), Param::<bool>::new("t"));
    let mut f = Func::new("f");
    let whole = cast::<i64>(a) + cast::<i64>(b) * 3 + cast::<i64>(c) + d;
    f[x] = tuple([select(t, whole, -whole) + x, cast::<i64>(e * 2.0f32) + x, cast::<i64>(a + cast::<u8>(x))]);
    let schedules = ["", "f: vectorize(x, 8)", "f: split(x, xo, xi, 3) parallel(xo)"];
    let sets = [
        (0u8, 0i16, 0u32, 0i64, 0f32, false),
        (255, i16::MIN, u32::MAX, i64::MIN, -1e9, true),
        (128, i16::MAX, 1, i64::MAX, f32::NAN, false),
    ];
    for (va, vb, vc, vd, ve, vt) in sets {
        let case = Case::new([&f]).param(a, va).param(b, vb).param(c, vc).param(d, vd).param(e, ve).param(t, vt);
        let whole = (i64::from(va) + i64::from(vb) * 3 + i64::from(vc)).wrapping_add(vd);
        let signed = if vt { whole } else { whole.wrapping_neg() };
        case.holds(&schedules, &rows(), |p| {
            [signed.wrapping_add(p[0]), ((ve * 2.0) as i64).wrapping_add(p[0]), i64::from(va.wrapping_add(p[0] as u8))]
        });
    }
}

/// Forty extern stages in a row, each over a region one larger than what its consumer asks for.
#[test]
fn many_small_extern_stages() {
    let x = vars!(x);
    let mut last = Func::new("first");
    last[x] = x * 2;
    for i in 0..40 {
        let stage = Extern::new(&format!("stage{i}"), [I32], 1).input(&last);
        let stage = stage.needs(|query| {
            let span = query.region().spans()[0];
            Ok(vec![Region::of_spans([(span.min, span.extent + 1)])])
        });
        last = stage.compute(move |call| {
            let (from, wanted) = (call.input(0).typed::<i32>()?, call.region().clone());
            for at in wanted.coords() {
                let pair = from.get([at[0]]).zip(from.get([at[0] + 1])).ok_or("the input is too small")?;
                call.output(0).set(&at, Scalar::from(pair.1 - pair.0 + pair.1 % (i + 2)))?;
            }
            Ok(())
        });
    }
    let mut out = Func::new("out");
    out[x] = last[x] + last[x + 1];
    let mut list: Vec<i32> = (-20..100).map(|i| i * 2).collect();
    for i in 0..40 {
        list = list.windows(2).map(|w| w[1] - w[0] + w[1] % (i + 2)).collect();
    }
    let value = |p: &[i64]| {
        let at = (p[0] + 20) as usize;
        [i64::from(list[at] + list[at + 1])]
    };
    Case::new([&out]).holds(&["", "first: compute_root() vectorize(x, 8)\n out: vectorize(x, 4)"], &rows(), value);
}

/// An extern stage that sorts, between a gather before and a choice after it.
#[test]
fn a_sort_between_funcs() {
    let (x, input) = (vars!(x), ImageParam::new("input", U16, 1));
    let n = 29;
    let mut before = Func::new("before");
    before[x] = input[(x * 5) % n] / 7;
    let sorted = Extern::new("sorted", [U16], 1).input(&before);
    let sorted = sorted.needs(move |_| Ok(vec![Region::of_extents([n])])).compute(move |call| {
        let mut list = call.input(0).crop(&Region::of_extents([n]))?.typed::<u16>()?.to_vec();
        list.sort_unstable();
        for at in call.region().clone().coords() {
            call.output(0).set(&at, Scalar::from(*list.get(at[0] as usize).ok_or("beyond the list")?))?;
        }
        Ok(())
    });
    let mut f = Func::new("f");
    f[x] = sorted[clamp(x, 0, n - 1)] + select(x.expr().gt(3), sorted[3], 0);
    let image = noise(U16, &Region::of_extents([n]), 6).typed::<u16>().unwrap();
    let mut list: Vec<i64> = image.to_vec().into_iter().map(|v| i64::from(v / 7)).collect();
    list.sort_unstable();
    let schedules = ["", "before: compute_root() vectorize(x, 8)\n f: vectorize(x, 8)", "f: parallel(x)"];
    let value = |p: &[i64]| [list[p[0].clamp(0, 28) as usize] + if p[0] > 3 { list[3] } else { 0 }];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules, &rows(), value);
}

/// Several outputs that read each other, a tuple and an update among them.
#[test]
fn outputs_that_read_each_other() {
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    a[(x, y)] = x * 100 + y;
    b[(x, y)] = tuple([a[(x, y)] % 7, cast::<i32>(cast::<u8>(a[(x, y)]))]);
    b[(x, y)] = tuple([b.read((x, y)).at(1), b.read((x, y)).at(0) + 1]);
    c[(x, y)] = b[(x, y)].at(0) * a[(x, y)] + b[(x, y)].at(1);
    let value = |p: &[i64]| {
        let a = p[0] * 100 + p[1];
        let (first, second) = (i64::from(a as u8), a.rem_euclid(7) + 1);
        [a, first, second, first * a + second]
    };
    let schedules = [
        "",
        "a: vectorize(x, 8)\n b: vectorize(x, 4)\n b.update(0): vectorize(x, 8)\n c: vectorize(x, 16) parallel(y)",
        "b: split(x, xo, xi, 3)\n b.update(0): parallel(y)\n c: reorder(y, x)",
    ];
    Case::new([&a, &b, &c]).holds(&schedules, &planes(), value);
}

/// A requirement that data breaks says the coordinate; one that holds changes nothing.
#[test]
fn requirements_on_every_element() {
    let (x, input, most) = (vars!(x), ImageParam::new("input", U8, 1), Param::<u8>::new("most"));
    let (mut g, mut f) = (Func::new("g"), Func::new("f"));
    g[x] = require(input[x].le(most.expr()), input[x], ("too bright:", input[x]));
    f[x] = cast::<i32>(g[x]) + cast::<i32>(g[x + 1]);
    let mut image = Buffer::<u8>::from_fn(&Region::of_spans([(-7, 46)]), |at| (at[0].rem_euclid(50)) as u8).unwrap();
    let schedules = [
        "",
        "g: compute_root() vectorize(x, 8)",
        "g: compute_at(f, xo) vectorize(x, 4)\n f: split(x, xo, xi, 4) parallel(xo)",
    ];
    let at = image.clone();
    let value = |p: &[i64]| [i64::from(at.get([p[0]]).unwrap()) + i64::from(at.get([p[0] + 1]).unwrap())];
    Case::new([&f]).image(&input, image.clone()).param(most, 49).holds(&schedules, &rows(), value);
    image.set([5], 250).unwrap();
    let case = Case::new([&f]).image(&input, image).param(most, 100);
    case.fails(&schedules, &Region::of_spans([(-3, 17)]), &["too bright: 250", "x = 5"]);
    // The point is not among those of which the output is made.
    case.agrees(&schedules, &[Region::of_spans([(6, 9)]), Region::of_spans([(-5, 10 - 1)])]);
}

/// Rows of half lines, whole pages apart and not, in outputs that are larger than the caches.
#[test]
fn large_outputs_in_rows_of_half_lines() {
    let (x, y) = vars!(x, y);
    let mut out = Func::new("out");
    out[(x, y)] = x + 3 * y;
    let pipeline = Pipeline::new([&out]).unwrap();
    for rows in [1, 2, 8] {
        let text = format!("out: split(y, y, yi, {rows}) reorder(yi, x, y) vectorize(x, 8) unroll(yi)");
        let compiled = pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap();
        for width in [2048, 2056] {
            let found: Buffer<i32> = compiled.inputs().realize([width, 2112]).unwrap();
            for at in [[0, 0], [7, 1], [8, 2111], [width - 1, 2111], [width / 2, 1000]] {
                assert_eq!(found.get(at), Some(at[0] + 3 * at[1]), "{rows} rows of {width} at {at:?}");
            }
        }
    }
}
