//! Cases of Halide's own tests restated: loops that are split, fused and guarded, what is computed inside of them, and
//! accesses that become shuffles. Each with sizes from one to three times its factors.

use crate::matrix::{TARGET, check, random_image};
use expect_test::expect;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::value::Scalar;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};
use halide_ir::eval::{self, EvalError};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

fn sweep(pipeline: &Pipeline, ty: ScalarType, schedules: &[&str], sizes: &[(i32, i32)]) {
    for schedule in schedules {
        for &(w, h) in sizes {
            let input = random_image(ty, &Region::of_spans([(-20, 3 * w + 60), (-20, 3 * h + 60)]), 11);
            check(pipeline, schedule, &[("in", input)], &Region::of_spans([(-3, w), (1, h)]));
        }
    }
}

/// A fused reduction variable split again, and parts of one fused again.
#[test]
fn split_and_fused_reduction_variables() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 6), (-1, 7)]);
    f[(x, y)] = cast::<i32>(0);
    f[(x, y)] += input[(x + r.x, y - r.y)] * (r.x + 2 * r.y);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f.update(0): fuse(r.x, r.y, t) split(t, to, ti, 5) unroll(ti)",
        "f.update(0): split(r.x, ro, ri, 4) fuse(ri, ro, t) split(t, to, ti, 3)",
        "f.update(0): split(r.y, ro, ri, 3) reorder(ri, r.x, ro) fuse(r.x, ro, t) split(t, to, ti, 4)",
        "f.update(0): fuse(x, y, t) split(t, to, ti, 6, GuardWithIf) parallel(to) reorder(ti, r.x, r.y, to)",
        "f.update(0): fuse(r.x, x, t) split(t, to, ti, 4, GuardWithIf)",
        "f.update(0): reorder(r.y, r.x, x, y) fuse(r.x, x, t) parallel(y)",
    ];
    sweep(&p, I32, &schedules, &[(1, 1), (4, 5), (7, 3), (12, 9)]);
}

/// Tiles that are counted by one loop, split again.
#[test]
fn fused_tiles() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3 + x;
    g[(x, y)] = f[(x, y)] - f[(x + 2, y - 1)];
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "g: tile(x, y, xo, yo, xi, yi, 4, 3) fuse(xo, yo, t) split(t, to, ti, 3, GuardWithIf) parallel(to)\n f: compute_at(g, ti)",
        "g: tile(x, y, xo, yo, xi, yi, 4, 3) fuse(xi, yi, i) vectorize(i)\n f: compute_at(g, xo)",
        "g: tile(x, y, xo, yo, xi, yi, 5, 2, GuardWithIf) fuse(xi, yi, i) unroll(i) fuse(xo, yo, o)\n f: compute_at(g, o) vectorize(x, 4)",
        "g: fuse(x, y, t) split(t, to, ti, 8, GuardWithIf) vectorize(ti)\n f: compute_root()",
    ];
    sweep(&p, I32, &schedules, &[(1, 1), (4, 3), (9, 7), (13, 8)]);
}

/// Producers inside of a guard that leaves one iteration compute one point; consumers with updates compute in theirs.
#[test]
fn producers_in_guards_and_updates() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] ^ (x - y);
    let r = RDom::named("r", [(0, 4)]);
    g[(x, y)] = f[(x, y)] + 1;
    g[(x, y)] += f[(x + r.x, y)] * 2;
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "g: split(x, xo, xi, 3, GuardWithIf)\n g.update(0): split(x, xo, xi, 3, GuardWithIf)\n f: clone_in(g) compute_root()",
        "f: in(g) compute_root()\n f.in(g): compute_root()\n g.update(0): split(x, xo, xi, 4, GuardWithIf) reorder(r.x, xi, y, xo)",
        "g: vectorize(x, 4, GuardWithIf)\n g.update(0): vectorize(x, 4, Predicate)\n f: compute_root() vectorize(x, 4, PredicateStores)",
    ];
    sweep(&p, I32, &schedules, &[(1, 1), (3, 4), (8, 5), (10, 3)]);
    let (mut h, mut k) = (Func::new("h"), Func::new("k"));
    h[(x, y)] = input[(x, y)] * 7;
    k[(x, y)] = cast::<i32>(5);
    k[(x, y)] += h[(x + r.x, y)];
    let p = Pipeline::new([&k]).unwrap();
    let schedules = [
        "h: compute_at(k.update(0), x)",
        "h: compute_at(k.update(0), r.x)",
        "k.update(0): split(x, xo, xi, 4, GuardWithIf) reorder(r.x, xi, xo, y)\n h: compute_at(k.update(0), xo) vectorize(x)",
        "k.update(0): split(x, xo, xi, 4, GuardWithIf) reorder(r.x, xi, xo, y)\n h: store_at(k.update(0), xo) compute_at(k.update(0), xi)",
    ];
    sweep(&p, I32, &schedules, &[(1, 1), (3, 4), (8, 5), (10, 3)]);
}

/// Factors that are known when a run begins, and are no factors.
#[test]
fn factors_that_are_not_positive() {
    let (x, n) = (vars!(x), Param::<i32>::new("n"));
    let mut f = Func::new("f");
    f[x] = x * 2 + n - n;
    let p = Pipeline::new([&f]).unwrap();
    let run = |n: i32| {
        let text = "f: specialize(f.extent(0) < 2)\n f: split(x, xo, xi, n, GuardWithIf)";
        let schedule = Schedule::parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
        let plan = resolve(&p, &schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
        let program = lower(&plan, &LowerOptions { exact_tails: true, ..Default::default() }).unwrap().program;
        move |extent: i32| {
            let mut outputs = [AnyBuffer::with_region(I32, &Region::of_spans([(0, extent)])).unwrap()];
            match eval::run(&program, &[Scalar::from(n)], &[], &mut outputs) {
                Ok(_) => (0..extent).all(|i| outputs[0].get([i]) == Some(Scalar::from(2 * i))).to_string(),
                Err(EvalError::Fault { fault, args, .. }) => program.faults[fault].message(&program, &args),
                Err(e) => e.to_string(),
            }
        }
    };
    for n in [1, 3, 7, 100] {
        assert_eq!(run(n)(7), "true", "{n}");
    }
    expect!["the schedule promises what does not hold: test:2:5: the factor by which `x` of `f` is split is at least 1 and at most 2147483647 (here 0); drop the promise or change the call"].assert_eq(&run(0)(7));
    expect!["the schedule promises what does not hold: test:2:5: the factor by which `x` of `f` is split is at least 1 and at most 2147483647 (here -4); drop the promise or change the call"].assert_eq(&run(-4)(7));
    // Where the specialisation applies, nothing is split.
    assert_eq!(run(0)(1), "true");
}

/// A factor that is none is told as such before anything that is computed of it is found to be too large. (Seed 905373
/// of changed_schedules.)
#[test]
fn factors_are_checked_before_what_they_make() {
    let (y, wide) = (vars!(y), Param::<i64>::new("wide"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[y] = cast::<i16>(1);
    f[y] = cast::<i16>(wide);
    g[y] = f[y];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = Schedule::parse("f: compute_root()\n f.update(0): split(y, yo, yi, wide, RoundUp)", "test").unwrap();
    let plan = resolve(&p, &schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
    let program = lower(&plan, &LowerOptions { exact_tails: true, ..Default::default() }).unwrap().program;
    for wide in [-7_945_238_565_013_927_853, -1, 0, 1 << 31, i64::MAX] {
        let mut outputs = [AnyBuffer::with_region(I16, &Region::of_spans([(0, 1)])).unwrap()];
        let Err(EvalError::Fault { fault, args, .. }) = eval::run(&program, &[Scalar::from(wide)], &[], &mut outputs)
        else {
            panic!("{wide} is no factor")
        };
        let text = "the schedule promises what does not hold: test:2:15: the factor by which `y` of `f` is split is at least 1 \
                    and at most 2147483647";
        assert_eq!(
            program.faults[fault].message(&program, &args),
            format!("{text} (here {wide}); drop the promise or change the call")
        );
    }
}

/// Regions and assertions do not count the factor of a specialisation that does not apply. (Seed 770020374 of
/// `random_schedules`.)
#[test]
fn factors_of_variants_that_do_not_run() {
    let (y, wide) = (vars!(y), Param::<i64>::new("wide"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[y] = y * 2 + cast::<i32>(wide) - cast::<i32>(wide);
    g[y] = f[y] + 1;
    let p = Pipeline::new([&g]).unwrap();
    for text in [
        "f: compute_root()\n f.specialize(wide == 4): split(y, yo, yi, wide, RoundUp)",
        "f: compute_root()\n f.specialize(wide == 4): split(y, yo, yi, 4, RoundUp) split(yo, yoo, yoi, wide, RoundUp)",
        "g: unroll(y, 4, RoundUp)\n g.specialize(wide == 4): split(y, yo, yi, wide, RoundUp)",
        "g: unroll(y, 4, RoundUp) split(y, yo, yi, wide, RoundUp) specialize(wide != 4) specialize_fail(\"four\")",
    ] {
        let schedule = Schedule::parse(text, "test").unwrap_or_else(|e| panic!("{e}"));
        let plan = resolve(&p, &schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
        let program = lower(&plan, &LowerOptions { exact_tails: true, ..Default::default() }).unwrap().program;
        for wide in [4, 3, 0, -5, 1 << 40, i64::MAX, i64::MIN] {
            let mut outputs = [AnyBuffer::with_region(I32, &Region::of_spans([(0, 16)])).unwrap()];
            let ended = eval::run(&program, &[Scalar::from(wide)], &[], &mut outputs);
            if text.contains("specialize_fail") {
                // Only where it is 4, the factor is no matter.
                let is_fault = matches!(ended, Err(EvalError::Fault { .. }));
                assert!(is_fault, "{text}, {wide}: {ended:?}");
                continue;
            }
            ended.unwrap_or_else(|e| panic!("{text}, {wide}: {e}"));
            assert!((0..16).all(|i| outputs[0].get([i]) == Some(Scalar::from(2 * i + 1))), "{text}, {wide}");
        }
    }
}

/// A producer that one arm of a condition needs, which a parameter decides.
#[test]
fn stages_that_are_needed_or_not() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut out) = (Func::new("a"), Func::new("b"), Func::new("out"));
    a[(x, y)] = input[(x, y)] + 1;
    b[(x, y)] = a[(x, y)] * 2;
    out[(x, y)] = select(input.dim(0).extent().gt(40), b[(x, y)], a[(x + 1, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let schedules = [
        "a: compute_root()\n b: compute_root()",
        "a: compute_at(out, y)\n b: compute_at(out, y)",
        "a: compute_root()\n b: compute_root()\n out: specialize(in.extent(0) > 40)",
        "a: store_root() compute_at(out, y)\n b: compute_at(out, x)",
    ];
    sweep(&p, I32, &schedules, &[(1, 1), (5, 4), (9, 3)]);
}

/// Loads and stores at strides, transpositions, and what is interleaved.
#[test]
fn interleaved_and_transposed() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut out) = (Func::new("a"), Func::new("b"), Func::new("out"));
    a[(x, y)] = input[(2 * x, y)] + 3;
    b[(x, y)] = input[(2 * x + 1, y)] * 5;
    out[(x, y)] = select((x % 2).eq(0), a[(x / 2, y)], b[(x / 2, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let schedules = [
        "out: vectorize(x, 16)\n a: compute_root() vectorize(x, 8)\n b: compute_root() vectorize(x, 8)",
        "out: split(x, xo, xi, 2) unroll(xi) vectorize(xo, 8)\n a: compute_at(out, y) vectorize(x, 4)",
        "out: vectorize(x, 4)\n a: compute_at(out, x) vectorize(x)\n b: compute_at(out, x) vectorize(x)",
    ];
    sweep(&p, U8, &schedules, &[(1, 1), (8, 3), (17, 2), (48, 2)]);
    // The cells of a mosaic in several planes.
    let c = vars!(c);
    let (mut cells, mut last) = (Func::new("cells"), Func::new("last"));
    let plane = cast::<u8>(c);
    let even_line = select((x % 2).eq(0), input[(x / 2, y / 2)] + plane, input[(x / 2 + 1, y / 2)] * 3);
    cells[(x, y, c)] = select((y % 2).eq(0), even_line, input[(x / 2, y / 2 + 1)] ^ plane);
    last[(x, y)] = cells[(x - 1, y + 1, 0)] + cells[(x + 2, y, 1)] - cells[(x, y + 3, 2)];
    let p = Pipeline::new([&last]).unwrap();
    let schedules = [
        "cells: compute_at(last, y) bound(c, 0, 3) align_bounds(x, 2) split(x, x, xi, 16) split(xi, xi, xe, 2) reorder(xe, c, xi, x, y) unroll(xe) unroll(c) vectorize(xi)",
        "last: split(y, y, yi, 4)\n cells: store_at(last, y) compute_at(last, yi) bound(c, 0, 3) align_bounds(x, 2) align_bounds(y, 2) split(x, x, xe, 2) split(y, y, ye, 2) reorder(xe, c, x, ye, y) unroll(xe) unroll(c) unroll(ye) vectorize(x, 8)",
        "cells: compute_root() bound(c, 0, 3) align_bounds(x, 2, 1) split(x, x, xe, 2) reorder(c, xe, x, y) unroll(xe) unroll(c) vectorize(x, 4)",
    ];
    sweep(&p, U8, &schedules, &[(1, 1), (8, 3), (17, 2), (40, 9)]);
    let (mut block, mut t) = (Func::new("block"), Func::new("t"));
    block[(x, y)] = input[(x, y)];
    t[(x, y)] = block[(y, x)];
    let p = Pipeline::new([&t]).unwrap();
    let schedules = [
        "t: tile(x, y, xo, yo, xi, yi, 8, 8) vectorize(xi) unroll(yi)",
        "t: tile(x, y, xo, yo, xi, yi, 8, 8) vectorize(yi) unroll(xi)",
        "t: tile(x, y, xo, yo, xi, yi, 4, 4) vectorize(xi) unroll(yi)\n block: compute_at(t, xo) vectorize(x) unroll(y)",
        "t: tile(x, y, xo, yo, xi, yi, 4, 4) vectorize(xi) vectorize(yi)\n block: compute_at(t, xo) reorder_storage(y, x) vectorize(x) unroll(y)",
        "block: in(t) compute_root() reorder_storage(y, x)\n t: vectorize(x, 8)",
    ];
    sweep(&p, U8, &schedules, &[(1, 1), (8, 8), (11, 13), (16, 24)]);
}

/// A convolution of bytes that is summed in 32 bits and saturated at the end.
#[test]
fn widening_sums() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    let r = RDom::named("r", [(0, 4), (0, 3)]);
    sum[(x, y)] = cast::<i32>(0);
    let weight = cast::<i32>(cast::<i8>(r.x * 37 - r.y * 50));
    sum[(x, y)] += cast::<i32>(input[(x + r.x, y + r.y)]) * weight;
    out[(x, y)] = saturating_cast::<u8>(sum[(x, y)] / 16 + 100);
    let p = Pipeline::new([&out]).unwrap();
    let schedules = [
        "out: vectorize(x, 8)\n sum: compute_at(out, x) vectorize(x)\n sum.update(0): vectorize(x) unroll(r.x) unroll(r.y)",
        "sum: compute_root()\n sum.update(0): atomic() vectorize(r.x) unroll(r.y)",
        "sum: compute_root()\n sum.update(0): reorder(r.x, x, r.y, y) atomic() vectorize(r.x) vectorize(x, 4)",
        "out: vectorize(x, 16)\n sum: compute_at(out, y) vectorize(x, 8)\n sum.update(0): reorder(x, r.x, r.y, y) vectorize(x, 8)",
    ];
    sweep(&p, U8, &schedules, &[(1, 1), (8, 3), (16, 2), (21, 4)]);
}
