//! Skewed loops: wavefronts of updates that read what they stored before, and loops of pure definitions.

use crate::matrix::{check, random_image};
use crate::support::{hold_at, illegal, lowered, stencil};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::eval;

/// Gauss-Seidel: each point from its neighbours, of which two are new already.
fn seidel(w: i32, h: i32) -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, w - 2), (1, h - 2)]);
    let sides = f[(r.x - 1, r.y)] + f[(r.x, r.y - 1)] * 3 + f[(r.x + 1, r.y)] * 5 + f[(r.x, r.y + 1)] * 7;
    f[(r.x, r.y)] = sides + f[(r.x, r.y)] * 11;
    Pipeline::new([&f]).unwrap()
}

fn sweep(pipeline: &Pipeline, schedules: &[&str], (w, h): (i32, i32)) {
    for schedule in schedules {
        let image = random_image(I32, &Region::of_spans([(-1, w + 2), (-1, h + 2)]), 7);
        check(pipeline, schedule, &[("in", image)], &Region::of_spans([(0, w), (0, h)]));
    }
}

#[test]
fn wavefronts_run_at_once() {
    for (w, h) in [(3, 3), (9, 6), (4, 11), (12, 12)] {
        sweep(
            &seidel(w, h),
            &[
                "f.update(0): skew(r.x, 1, r.y, t)",
                "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t)",
                "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) parallel(r.y)",
                "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) vectorize(r.y, 4)",
                "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) split(r.y, yo, yi, 4) parallel(yo) vectorize(yi)",
                "f.update(0): skew(r.y, 1, r.x, t) parallel(r.x)",
                "f.update(0): skew(r.x, 2, r.y, t) reorder(r.y, t) parallel(r.y, 2)",
                "f.update(0): skew(r.x, 2, r.y, t) reorder(r.y, t) parallel(r.y, 2, Balanced)",
                // Tiles in wavefronts of tiles.
                "f.update(0): split(r.x, xo, xi, 4) split(r.y, yo, yi, 2) reorder(xi, yi, xo, yo) skew(xo, 1, yo, t) \
                 reorder(yo, t) parallel(yo)",
                // Wavefronts in tiles of their own coordinates.
                "f.update(0): skew(r.x, 1, r.y, t) split(t, to, ti, 3) split(r.y, yo, yi, 2) reorder(yi, ti, yo, to)",
            ],
            (w, h),
        );
    }
}

/// Time steps of a one-dimensional stencil, in place: tiles of skewed space.
#[test]
fn time_tiles() {
    for n in [4, 9, 16] {
        let input = ImageParam::new("in", I32, 2);
        let x = vars!(x);
        let mut f = Func::new("f");
        f[x] = input[(x, 0)];
        let r = RDom::named("r", [(1, n - 2), (0, 5)]);
        f[r.x] = f[r.x - 1] + f[r.x] * 3 + f[r.x + 1] * 5;
        let p = Pipeline::new([&f]).unwrap();
        for schedule in [
            "f.update(0): skew(r.x, 1, r.y, t) split(t, to, ti, 4) reorder(ti, r.y, to)",
            "f.update(0): skew(r.x, 2, r.y, t) reorder(r.y, t) parallel(r.y)",
            "f.update(0): skew(r.x, 2, r.y, t) reorder(r.y, t) vectorize(r.y, 4)",
        ] {
            let image = random_image(I32, &Region::of_spans([(0, n), (0, 1)]), 7);
            check(&p, schedule, &[("in", image)], &Region::of_spans([(0, n)]));
        }
        if n == 9 {
            let tiles = "f.update(0): split(r.x, xo, xi, 4) reorder(xi, r.y, xo)";
            assert!(illegal(&p, tiles).contains("two iterations would change places"), "{}", illegal(&p, tiles));
            let unskewed = illegal(&p, "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) parallel(r.y)");
            assert!(unskewed.contains("`r.y` cannot be run in parallel"), "{unskewed}");
        }
    }
}

/// Loops of pure definitions, in all directions, with what they need computed at each of them.
#[test]
fn pure_loops() {
    let p = stencil();
    let mut schedules = Vec::new();
    for loops in [
        "skew(x, 1, y, t)",
        "skew(x, -1, y, t)",
        "skew(x, 3, y, t) reorder(y, t)",
        "skew(y, 2, x, t)",
        "skew(y, -2, x, t) reorder(t, x)",
        "skew(x, 1, y, t) reorder(y, t) vectorize(y, 4)",
        "skew(x, 1, y, t) vectorize(t, 4)",
        "split(x, xo, xi, 4) skew(xo, 1, y, t) reorder(xi, y, t) vectorize(xi)",
        "skew(x, 1, y, t) split(t, to, ti, 3) parallel(to)",
        "skew(x, 1, y, t) fuse(t, y, z)",
    ] {
        schedules.push(format!("g: {loops}"));
        schedules.push(format!("g: {loops}\n f: compute_root() {loops}"));
        for at in ["t", "y", "x", "to", "xi", "yi", "z"] {
            for store in ["", "store_root() "] {
                schedules.push(format!("g: {loops}\n f: {store}compute_at(g, {at})"));
            }
        }
    }
    for tail in ["RoundUp", "GuardWithIf", "Balanced", "ShiftInwards"] {
        let loops = format!("split(y, yo, yi, 2, {tail}) skew(x, 1, yo, t) reorder(yi, yo, t)");
        schedules.push(format!("f: compute_root() {loops}"));
        schedules.push(format!("f: compute_at(g, y) {loops}"));
    }
    let taken: Vec<&String> = schedules.iter().filter(|s| crate::support::why_not_taken(&p, s).is_none()).collect();
    assert!(taken.len() > 60, "{} of {}", taken.len(), schedules.len());
    hold_at(&p, &taken, &[&[(0, 9), (0, 6)], &[(2, 1), (3, 8)], &[(-3, 8), (5, 1)]]);
}

#[test]
fn what_is_refused() {
    let p = seidel(9, 9);
    let without_lines = |text: String| {
        let mut plain = String::new();
        for (n, part) in text.split("skewed.rs:").enumerate() {
            plain += if n == 0 { "" } else { "skewed.rs" };
            plain += if n == 0 { part } else { part.trim_start_matches(|c: char| c == ':' || c.is_ascii_digit()) };
        }
        plain
    };
    let refused = |schedule: &str| without_lines(illegal(&p, schedule));
    expect_test::expect![[r#"
        test:1:14: f.update(0): parallel(r.y)
          `r.y` cannot be run in parallel: one of its iterations may load an element of `f.update(0)` that another one stores to; one stores to `f(r.x, r.y)` and another one loads `f(r.x, r.y - 1)`, at halide-sched/tests/it/skewed.rs
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]].assert_eq(&refused("f.update(0): parallel(r.y)"));
    expect_test::expect![[r#"
        test:1:51: f.update(0): parallel(t)
          `t` cannot be run in parallel: one of its iterations may load an element of `f.update(0)` that another one stores to; one stores to `f(r.x, r.y)` and another one loads `f(r.x - 1, r.y)`, at halide-sched/tests/it/skewed.rs
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]].assert_eq(&refused("f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) parallel(t)"));
    expect_test::expect![[r#"
        test:1:36: f.update(0): reorder(r.y, t)
          this changes the order of the reduction over `t`, `r.y`, but the update of `f.update(0)` is no associative and commutative operation on the old value alone, and two iterations would change places: one stores to `f(r.x, r.y)` and another one loads `f(r.x, r.y - 1)`, at halide-sched/tests/it/skewed.rs
          help: keep the reduction variables in their order"#]].assert_eq(&refused("f.update(0): skew(r.x, -1, r.y, t) reorder(r.y, t)"));
    expect_test::expect![[r#"
        test:1:14: f.update(0): skew(r.x, 1, r.x, t)
          `r.x` cannot be skewed by itself
          help: name another loop of the stage"#]]
    .assert_eq(&refused("f.update(0): skew(r.x, 1, r.x, t)"));
    expect_test::expect![[r#"
        test:1:14: f.update(0): skew(r.x, 0, r.y, t)
          `r.x` and 0 times `r.y` is `r.x` itself
          help: skew by 1 or more, or by less than 0, or use rename"#]]
    .assert_eq(&refused("f.update(0): skew(r.x, 0, r.y, t)"));
    expect_test::expect![[r#"
        test:1:14: f.update(0): skew(r.x, 1, r.z, t)
          `f.update(0)` has no loop `r.z`; its loops, outermost first: `r.y`, `r.x`
          help: did you mean `r.y`?"#]]
    .assert_eq(&refused("f.update(0): skew(r.x, 1, r.z, t)"));
    expect_test::expect![[r#"
        test:1:14: f.update(0): skew(r.x, 1, r.y, r.y)
          `f.update(0)` has a variable `r.y` already
          help: choose another name"#]]
    .assert_eq(&refused("f.update(0): skew(r.x, 1, r.y, r.y)"));
    expect_test::expect![[r#"
        test:1:14: f.update(0): skew(r.x, 100000, r.y, t)
          the factor of a skew must be at most 65536, not 100000"#]]
    .assert_eq(&refused("f.update(0): skew(r.x, 100000, r.y, t)"));
}

/// Stores of which the last one counts: the skewed loop orders them, although its own variable does not.
#[test]
fn last_stores_stay_last() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(0, 6), (0, 5)]);
    f[(1, r.y)] = input[(r.x, r.y)] + r.x;
    let p = Pipeline::new([&f]).unwrap();
    hold_at(
        &p,
        &[
            "f.update(0): skew(r.y, 1, r.x, t)",
            "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t)",
            "f.update(0): skew(r.y, 1, r.x, t) split(t, to, ti, 4) reorder(r.x, ti, to)",
        ],
        &[&[(0, 7), (0, 5)]],
    );
    for schedule in ["skew(r.y, 1, r.x, t) split(t, to, ti, 4) reorder(r.x, to, ti)", "skew(r.y, -1, r.x, t)"] {
        let text = illegal(&p, &format!("f.update(0): {schedule}"));
        assert!(text.contains("both store to `f(1, r.y)`"), "{text}");
    }
}

/// The loop over a wavefront runs over its points only: conditions of points become bounds of the loop.
#[test]
fn wavefronts_have_no_other_points() {
    let (w, h) = (12, 9);
    let p = seidel(w, h);
    let program = lowered(&p, "f.update(0): skew(r.x, 1, r.y, t) reorder(r.y, t) parallel(r.y)");
    let image = random_image(I32, &Region::of_spans([(-1, w + 2), (-1, h + 2)]), 7);
    let mut outputs = [AnyBuffer::with_region(I32, &Region::of_spans([(0, w), (0, h)])).unwrap()];
    let stats = eval::run(&program, &[], &[image], &mut outputs).unwrap();
    let iterations = |name: &str| -> u64 {
        program.loops.enumerate().filter(|(_, l)| l.name == name).map(|(id, _)| stats.iterations[id]).sum()
    };
    assert_eq!(iterations("f.update(0).t"), (w - 2 + h - 2 - 1) as u64);
    assert_eq!(iterations("f.update(0).r.y"), ((w - 2) * (h - 2)) as u64);
}

/// Iterations of a skewed loop may be of one point, where the other variable says which of them: a sum over it races.
#[test]
fn iterations_of_one_point_race() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    let r = RDom::named("r", [(1, 4)]);
    f[(x, y)] = x + y;
    f[(x, y)] += r.x;
    let p = Pipeline::new([&f]).unwrap();
    let region = Region::of_extents([5, 7]);
    for schedule in [
        "f.update(0): skew(y, 1, r.x, t) parallel(t)",
        "f.update(0): skew(y, 1, r.x, t) vectorize(t, 4)",
        "f.update(0): skew(y, 1, r.x, t) reorder(x, t) parallel(t)",
        "f.update(0): skew(x, 2, r.x, t) split(t, to, ti, 2) parallel(to)",
    ] {
        let refused = illegal(&p, schedule);
        assert!(refused.contains("two of its iterations may store to the same element"), "{schedule}: {refused}");
    }
    for schedule in ["f.update(0): skew(y, 1, r.x, t) parallel(x)", "f.update(0): skew(y, 1, x, t) parallel(t)"] {
        check(&p, schedule, &[], &region);
    }
}

/// A domain without points, skewed: what is kept of a producer in a circle is nothing, and the circle has a length.
#[test]
fn domains_without_points() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::named("r", [(-1, 2), (2, 0)]);
    g[(x, y)] = x * y;
    f[x] = x + 0;
    f[r.x + 1] += g[(r.x, r.y)];
    let p = Pipeline::new([&f]).unwrap();
    for schedule in [
        "f.update(0): split(r.x, r.x, t, 4) skew(r.y, 1, t, r.y)
         g: compute_at(f.update(0), t) store_root()",
        "f.update(0): skew(r.y, 1, r.x, t)
         g: compute_at(f.update(0), r.x) store_root()",
    ] {
        check(&p, schedule, &[], &Region::of_extents([5]));
    }
}

/// Loops that are skewed by each other, and one that is skewed by the same one twice: each is made of both.
#[test]
fn loops_that_are_skewed_by_each_other() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x + 10 * y;
    let p = Pipeline::new([&f]).unwrap();
    for schedule in [
        "f: skew(x, 1, y, t) skew(t, 1, y, u) parallel(u)",
        "f: skew(x, 1, y, t) skew(t, -1, y, u) vectorize(y, 4)",
        "f: skew(x, 1, y, t) skew(y, 1, t, u) parallel(u)",
        "f: skew(x, 1, y, t) skew(y, -1, t, u) skew(t, 2, u, v) vectorize(v, 4)",
        "f: split(y, yo, yi, 2) skew(x, 1, yi, t) skew(yi, 1, t, u) skew(t, 1, u, v) skew(yo, 1, v, w) parallel(w)",
    ] {
        check(&p, schedule, &[], &Region::of_extents([5, 7]));
    }
}

/// Directives of reduction variables that do not come before `rfactor`.
#[test]
fn what_comes_before_rfactor_is_refused() {
    let (mut f, r) = (Func::new("f"), RDom::named("r", [(0, 16), (0, 8)]));
    f[()] += r.x * r.y;
    let p = Pipeline::new([&f]).unwrap();
    for (before, said) in [
        ("skew(r.x, 1, r.y, t)", "skew(r.x, 1, r.y, t)"),
        ("split(r.x, xo, xi, 4, Balanced)", "split(r.x, xo, xi, 4, Balanced)"),
        ("use(fma_f32, j=r.x)", "use(fma_f32, j=r.x)"),
    ] {
        let refused = illegal(&p, &format!("f.update(0): {before} rfactor(r.y, u)"));
        assert!(refused.contains(&format!("`{said}`")) && refused.contains("rfactor"), "{refused}");
    }
}
