//! Stages that are computed together (`compute_with`): loops that run as one change when points are computed, never
//! what.

use crate::matrix::{TARGET, check, check_outputs, random_image};
use expect_test::expect;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

/// Two outputs of a producer, one of which needs more of it than the other.
fn two_outputs() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut f, mut g) = (Func::new("p"), Func::new("f"), Func::new("g"));
    p[(x, y)] = input[(x, y)] * 3 - input[(x + 1, y)] + cast::<i16>(x + 7 * y);
    f[(x, y)] = p[(x, y)] + p[(x, y + 1)];
    g[(x, y)] = p[(x + 1, y - 1)] ^ p[(x, y)];
    Pipeline::new([&f, &g]).unwrap()
}

#[test]
fn outputs_of_different_sizes() {
    let p = two_outputs();
    let aligns = ["", ", AlignStart", ", AlignEnd", ", [y, AlignEnd]", ", NoAlign"];
    let places = [
        "p: compute_root()",
        "p: compute_at(f, y)",
        "p: store_root() compute_at(f, y)",
        "p: store_root() compute_at(g, y)",
        "",
    ];
    for align in aligns {
        for place in places {
            let schedule = format!("g: compute_with(f, y{align})\n {place}");
            sizes(&p, &schedule);
        }
        sizes(&p, &format!("g: compute_with(f, x{align})\n p: compute_at(f, x)"));
        sizes(&p, &format!("g: compute_with(f, x{align})\n p: store_at(f, y) compute_at(g, x)"));
        sizes(&p, &format!("f: parallel(y)\n g: parallel(y) compute_with(f, y{align})\n p: compute_at(f, y)"));
    }
}

#[test]
fn split_and_vectorized_loops() {
    let p = two_outputs();
    let schedules = [
        "f: vectorize(x, 4)\n g: vectorize(x, 4) compute_with(f, y)",
        "f: vectorize(x, 4)\n g: vectorize(x, 4) compute_with(f, x)\n p: compute_at(f, x)",
        "f: vectorize(x, 4)\n g: vectorize(x, 4) compute_with(f, x$v)",
        "f: split(y, yo, yi, 3) parallel(yo)\n g: split(y, yo, yi, 3) parallel(yo) compute_with(f, yo)\n p: compute_at(f, yo)",
        "f: split(y, yo, yi, 3) parallel(yo)\n g: split(y, yo, yi, 3) parallel(yo) compute_with(f, yi)\n p: store_at(f, yo) compute_at(f, yi)",
        "f: split(y, yo, yi, 3, GuardWithIf)\n g: split(y, yo, yi, 2, GuardWithIf) compute_with(f, yi, AlignEnd)\n p: compute_at(g, yi)",
        "f: split(y, yo, yi, 3, GuardWithIf) unroll(yi)\n g: split(y, yo, yi, 2, GuardWithIf) unroll(yi) compute_with(f, yi)\n p: compute_at(g, yo)",
        "f: tile(x, y, xo, yo, xi, yi, 4, 2) fuse(xo, yo, t)\n g: tile(x, y, xo, yo, xi, yi, 8, 2) fuse(xo, yo, t) compute_with(f, t)\n p: compute_at(f, t)",
        "f: split(x, xo, xi, 4, GuardWithIf) vectorize(xi)\n g: split(x, xo, xi, 8, GuardWithIf) vectorize(xi) compute_with(f, xi)",
        "f: reorder(y, x)\n g: reorder(y, x) compute_with(f, y, AlignStart)\n p: compute_at(f, y)",
    ];
    for schedule in schedules {
        sizes(&p, schedule);
    }
}

/// Kernels of several stages: blocks and threads that run as one.
#[test]
fn blocks_and_threads() {
    let p = two_outputs();
    for schedule in [
        "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4) compute_with(f, xo)",
        "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4) compute_with(f, xi)",
        "f: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n g: gpu_tile(x, y, xo, yo, xi, yi, 4, 4) compute_with(f, xi, AlignStart)",
    ] {
        sizes(&p, schedule);
    }
}

/// Runs a pipeline of two outputs over sizes, the same and different ones.
fn sizes(p: &Pipeline, schedule: &str) {
    for (f, g) in [((1, 1), (1, 1)), ((5, 4), (5, 4)), ((8, 3), (4, 9)), ((9, 7), (11, 4))] {
        let input = random_image(I16, &Region::of_spans([(-9, 60), (-16, 70)]), 5);
        let regions = [Region::of_spans([(-1, f.0), (2, f.1)]), Region::of_spans([(1, g.0), (-3, g.1)])];
        check_outputs(p, schedule, &[("in", input.clone())], &regions);
        let regions = [Region::of_spans([(0, f.0), (2, f.1)]), Region::of_spans([(0, g.0), (4, g.1)])];
        check_outputs(p, schedule, &[("in", input)], &regions);
    }
}

/// Inner stages with updates, of which one is wider than the others.
fn inner() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b, mut c, mut out) =
        (Func::new("p"), Func::new("a"), Func::new("b"), Func::new("c"), Func::new("out"));
    p[(x, y)] = input[(x, y)] - input[(x + 1, y)];
    a[(x, y)] = p[(x, y)] + 1;
    let r = RDom::named("r", [(0, 3), (0, 2)]);
    a[(x, y)] += p[(x + r.x, y + r.y)] * cast::<i16>(r.x + 1);
    b[(x, y)] = p[(x, y + 2)] ^ 5;
    let s = RDom::named("s", [(0, 3), (0, 4)]);
    b[(x, y)] += p[(x + s.x, y + s.y)] - cast::<i16>(s.y);
    c[(x, y)] = p[(x - 1, y)] * 3;
    out[(x, y)] = a[(x, y)] + b[(x + 2, y - 1)] * 2 - b[(x, y + 1)] + c[(x, y)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn inner_stages_and_updates() {
    let p = inner();
    let places = ["compute_root()", "compute_at(out, y)", "store_root() compute_at(out, y)", "compute_at(out, x)"];
    let withs = [
        "b: compute_with(a, y)",
        "b: compute_with(a, x, AlignStart) c: compute_with(a, y)",
        "b: compute_with(a, y, AlignStart) c: compute_with(b, x, [y, AlignEnd])",
        "b.update(0): compute_with(a.update(0), y)",
        "b: compute_with(a, x) b.update(0): compute_with(a.update(0), x, AlignEnd)",
        "b: compute_with(a.update(0), y)",
        "a.update(0): rename(r.x, u) rename(r.y, v)\n b.update(0): rename(s.x, u) rename(s.y, v) compute_with(a.update(0), u) c: compute_with(b, x)",
        "a.update(0): rename(r.x, u) rename(r.y, v)\n b.update(0): rename(s.x, u) rename(s.y, v) compute_with(a.update(0), v, AlignEnd)",
        "c: compute_with(a.update(0), x) b: compute_with(a, y)",
    ];
    for place in places {
        for with in withs {
            let schedule = format!("a: {place} b: {place} c: {place}\n {with}");
            for (w, h) in [(1, 1), (4, 5), (9, 7)] {
                let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
                check(&p, &schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
            }
        }
    }
}

#[test]
fn producers_in_loops_of_several_stages() {
    let p = inner();
    let schedules = [
        "a: compute_root() b: compute_root() compute_with(a, y) b.update(0): compute_with(a.update(0), y) c: compute_root() compute_with(a.update(0), y) p: compute_root()",
        "a: store_root() compute_at(out, y) b: store_root() compute_at(out, y) compute_with(a, y) p: store_root() compute_at(out, y)",
        "c: compute_root() p: clone_in(c) p.clone_in(c): compute_at(c, y)\n a: compute_root() b: compute_root() compute_with(a, y) p: compute_root()",
    ];
    for schedule in schedules {
        for (w, h) in [(1, 1), (4, 5), (9, 7)] {
            let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
            check(&p, schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
        }
    }
}

/// Two stages that read a producer, used by one consumer.
fn diamond() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b, mut out) = (Func::new("p"), Func::new("a"), Func::new("b"), Func::new("out"));
    p[(x, y)] = input[(x, y)] * 3;
    a[(x, y)] = p[(x, y)] + p[(x, y + 1)];
    b[(x, y)] = p[(x + 1, y - 1)] ^ p[(x, y)];
    out[(x, y)] = a[(x, y)] + b[(x, y)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn a_producer_slides_and_folds_in_loops_of_several_stages() {
    let schedule: Schedule =
        "a: compute_root() b: compute_root() compute_with(a, y) p: store_root() compute_at(a, y)".parse().unwrap();
    let plan = resolve(&diamond(), &schedule, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
    let lowered = lower(&plan, &LowerOptions::default()).unwrap();
    let decisions = lowered.trace.passes.iter().flat_map(|pass| &pass.decisions);
    let text: Vec<String> = decisions.map(|d| d.to_string()).filter(|d| d.contains("a.y")).collect();
    expect![[r#"
        a.y: runs for `b` as well
        p along a.y: computes only what is new in `y`
        p along a.y: not started early, because several stages share the loop
        p along a.y: keeps 3 of `y`"#]]
    .assert_eq(&text.join("\n"));
}

/// The guest of a Func that nobody needs takes its place, with the other guests of that.
#[test]
fn guests_of_what_is_not_needed() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut d) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"));
    a[(x, y)] = input[(x, y)] + 1;
    b[(x, y)] = input[(x + 1, y)] * 3;
    c[(x, y)] = input[(x, y + 1)] - 5;
    d[(x, y)] = a[(x, y)] * cast::<i16>(0) + b[(x, y)] + c[(x, y + 1)];
    let p = Pipeline::new([&d]).unwrap();
    for schedule in [
        "a: compute_root()\n b: compute_root() compute_with(a, y)\n c: compute_root() compute_with(a, x)",
        "a: compute_root()\n b: compute_root() compute_with(a, x)\n c: compute_root() compute_with(b, y)",
        "b: compute_root()\n a: compute_root() compute_with(b, y)\n c: compute_root() compute_with(a, x)",
        "a: compute_at(d, y)\n b: compute_at(d, y) compute_with(a, x)\n c: compute_at(d, y)",
    ] {
        for (w, h) in [(1, 1), (4, 3), (7, 9)] {
            let image = random_image(I16, &Region::of_extents([12, 12]), 3);
            check(&p, schedule, &[("in", image)], &Region::of_extents([w, h]));
        }
    }
}

/// Chains and trees in which members share fewer loops with their hosts than these do with theirs.
#[test]
fn members_of_members_that_share_fewer_loops() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let names = ["a", "b", "c", "d", "e"];
    let mut stages = names.map(Func::new);
    for (i, f) in stages.iter_mut().enumerate() {
        let i = i as i32;
        f[(x, y)] = input[(x + i, y - i)] * cast::<i16>(i + 2);
    }
    let [a, b, c, d, e] = &stages;
    let mut out = Func::new("out");
    out[(x, y)] = a[(x, y)] + b[(x + 1, y)] * 3 - c[(x, y - 1)] + d[(x - 2, y + 3)] * 5 + (e[(x, y + 1)] ^ d[(x, y)]);
    let p = Pipeline::new([&out]).unwrap();
    let withs = [
        "c: compute_with(b, x)\n d: compute_with(c, y)",
        "b: compute_with(a, x)\n c: compute_with(b, x)\n d: compute_with(c, y)\n e: compute_with(d, y)",
        "b: compute_with(a, x)\n c: compute_with(b, y)\n d: compute_with(c, x)\n e: compute_with(d, y)",
        "b: compute_with(a, y)\n c: compute_with(b, x)\n d: compute_with(c, y)\n e: compute_with(d, x)",
        "b: compute_with(a, x, AlignEnd)\n c: compute_with(b, y, AlignStart)\n d: compute_with(b, x, AlignStart)\n e: compute_with(d, y, AlignEnd)",
        "d: compute_with(e, x, AlignStart)\n c: compute_with(d, y, AlignEnd)\n b: compute_with(c, y)\n a: compute_with(d, y)",
        "b: compute_with(a, x)\n d: compute_with(b, y)\n c: compute_with(b, y)\n e: compute_with(b, x)",
    ];
    let places = ["compute_root()", "compute_at(out, y)", "store_root() compute_at(out, y)", "compute_at(out, x)"];
    for place in places {
        let all: Vec<String> = names.iter().map(|n| format!("{n}: {place}")).collect();
        for with in withs {
            for split in ["", "split(y, y, yi, 2, GuardWithIf) reorder(x, yi, y)"] {
                if !split.is_empty() && place != "compute_root()" {
                    continue;
                }
                let cut: Vec<String> =
                    names.iter().filter(|_| !split.is_empty()).map(|n| format!("{n}: {split}")).collect();
                let schedule = format!("{}\n{}\n{with}", all.join("\n"), cut.join("\n"));
                for (w, h) in [(1, 1), (4, 5), (9, 7)] {
                    let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
                    check(&p, &schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
                }
            }
        }
    }
}

/// Producers in the loops of such members, and members that nobody needs.
#[test]
fn producers_of_members_that_share_fewer_loops() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b, mut c, mut d, mut out) =
        (Func::new("p"), Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"), Func::new("out"));
    p[(x, y)] = input[(x, y)] + 1;
    a[(x, y)] = p[(x, y)] * 3;
    b[(x, y)] = p[(x + 1, y)] - 2;
    c[(x, y)] = p[(x, y + 1)] ^ 5;
    d[(x, y)] = p[(x - 1, y - 1)] + p[(x, y)];
    let same = "a: compute_root() b: compute_root() c: compute_root() d: compute_root()\n";
    let withs = [
        "b: compute_with(a, x)\n c: compute_with(b, y)\n d: compute_with(c, y)",
        "c: compute_with(b, x)\n d: compute_with(c, y)\n a: compute_with(d, y)",
        "d: compute_with(c, x, AlignStart)\n b: compute_with(d, y)\n a: compute_with(b, y)",
    ];
    for zero in [None, Some("a"), Some("b"), Some("c"), Some("d")] {
        let factor = |name: &str| cast::<i16>(if zero == Some(name) { 0 } else { 7 });
        let mut out_now = std::mem::replace(&mut out, Func::new("out"));
        out_now[(x, y)] = a[(x, y)] * factor("a")
            + b[(x, y + 1)] * factor("b")
            + c[(x + 2, y)] * factor("c")
            + d[(x, y - 1)] * factor("d");
        let pipeline = Pipeline::new([&out_now]).unwrap();
        for with in withs {
            let places = if zero.is_none() {
                &["p: compute_root()", "p: compute_at(a, y)", "p: compute_at(d, y)", "p: store_root() compute_at(c, y)"]
                    [..]
            } else {
                &["p: compute_root()"][..]
            };
            for place in places {
                let schedule = format!("{same}{with}\n{place}");
                for (w, h) in [(1, 1), (4, 5), (9, 7)] {
                    let input = random_image(I16, &Region::of_spans([(-30, 90), (-30, 90)]), 5);
                    check(&pipeline, &schedule, &[("in", input)], &Region::of_spans([(-1, w), (2, h)]));
                }
            }
        }
    }
}
