//! Loops in chunks whose sizes differ by at most one.

use crate::matrix::{check, random_image};
use crate::support::{hold, hold_at, illegal, lowered_whole};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};
use halide_ir::eval::{Event, run_watched};
use halide_sched::lower::{LowerOptions, Snapshots, lower};

/// `g` of `f`, which reads the input.
fn two_stages() -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 5 - y;
    g[(x, y)] = f[(x + 1, y)] - f[(x, y - 2)] * 3;
    Pipeline::new([&g]).unwrap()
}

/// The numbers of iterations of the inner loop, chunk by chunk.
fn sizes(extent: usize, schedule: &str) -> Vec<usize> {
    let (x, mut f) = (vars!(x), Func::new("f"));
    f[x] = x * 3;
    let p = Pipeline::new([&f]).unwrap();
    let plan = crate::support::planned(&p, schedule);
    let options = LowerOptions { snapshots: Snapshots::All, ..LowerOptions::default() };
    let lowered = lower(&plan, &options).unwrap();
    let bounded = lowered.trace.passes.into_iter().find(|pass| pass.name == "infer_bounds").unwrap().after.unwrap();
    let mut outputs = vec![AnyBuffer::with_region(I32, &Region::of_extents([extent])).unwrap()];
    let (mut sizes, mut depth) = (Vec::new(), 0);
    let mut tell = |event: Event| match event {
        Event::Iterate { .. } => {
            depth += 1;
            if depth == 1 {
                sizes.push(0);
            } else {
                *sizes.last_mut().unwrap() += 1;
            }
        }
        Event::Iterated => depth -= 1,
        _ => {}
    };
    run_watched(&bounded, &[], &[], &mut outputs, &Default::default(), &mut tell, true).unwrap();
    sizes
}

#[test]
fn sizes_differ_by_one_at_most() {
    let by_four = "f: split(x, xo, xi, 4, Balanced)";
    assert_eq!(sizes(10, by_four), [3, 3, 2, 2]);
    assert_eq!(sizes(12, by_four), [3, 3, 3, 3]);
    assert_eq!(sizes(3, by_four), [1, 1, 1, 0]);
    assert_eq!(sizes(101, "f: parallel(x, 3, Balanced)"), [34, 34, 33]);
    assert_eq!(sizes(5, "f: serial(x, 1, Balanced)"), [5]);
}

/// Chunks of dimensions, of parts of other splits, and of reductions; with Funcs computed for each chunk.
#[test]
fn values_are_the_same() {
    let p = two_stages();
    hold_at(
        &p,
        &[
            "g: parallel(y, 4, Balanced)",
            "g: split(y, yo, yi, 3, Balanced) parallel(yo) vectorize(x, 4)\n f: compute_at(g, yo)",
            "g: split(x, xo, xi, 3, Balanced) vectorize(xi, 4)\n f: compute_at(g, xo) parallel(x, 2, Balanced)",
            "g: split(y, yo, yi, 2, Balanced) reorder(yo, yi)\n f: compute_at(g, yi)",
            "g: split(y, yo, yi, 5, Balanced)\n f: store_root() compute_at(g, yi)",
            "g: split(x, xo, xi, 4, Balanced) split(xi, a, b, 2, Balanced) split(xo, c, d, 3)\n f: compute_at(g, c)",
            "g: split(x, xo, xi, 4) split(xo, a, b, 2, Balanced) vectorize(xi)\n f: compute_at(g, b) store_at(g, a)",
            "g: tile(x, y, xo, yo, xi, yi, 3, 2, Balanced) fuse(xo, yo, t) parallel(t)\n f: compute_at(g, t)",
            "g: serial(y, 1, Balanced)\n f: compute_root() split(x, xo, xi, 100, Balanced)",
        ],
        &[&[(0, 17), (3, 11)], &[(2, 1), (0, 2)], &[(-3, 8), (5, 5)]],
    );
    let input = ImageParam::new("in", I32, 1);
    let (x, r) = (vars!(x), RDom::named("r", [(-1, 11)]));
    let mut f = Func::new("f");
    f[x] = input[x] + 2;
    f[x] += input[x + r.x] * (r.x + 3);
    let sums = Pipeline::new([&f]).unwrap();
    hold(
        &sums,
        &[
            "f.update(0): split(r.x, ro, ri, 3, Balanced) reorder(ri, x, ro)",
            "f.update(0): split(r.x, ro, ri, 4, Balanced) split(x, xo, xi, 3, Balanced) reorder(xi, ri, ro, xo) parallel(xo)",
            "f.update(0): unroll(r.x, 2, Balanced)",
            "f.update(0): split(r.x, ro, ri, 2, Balanced) reorder(ri, x, ro) vectorize(x, 4)",
        ],
    );
}

/// A constant extent makes the size of the largest chunk a constant, so chunks can be vectors; a parameter may be the
/// number of chunks.
#[test]
fn constants_and_parameters() {
    let p = two_stages();
    hold_at(
        &p,
        &["g: bound_extent(x, 10) split(x, xo, xi, 4, Balanced) vectorize(xi) unroll(xo)"],
        &[&[(1, 10), (3, 11)]],
    );
    let (x, n) = (vars!(x), Param::<i32>::new("n"));
    let mut f = Func::new("f");
    f[x] = x + n;
    let p = Pipeline::new([&f]).unwrap();
    let text = lowered_whole(&p, "f: parallel(x, n, Balanced)").program.to_string();
    assert!(text.contains("the factor by which `x$whole` of `f` is split is at least 1"), "{text}");
}

#[test]
fn what_is_refused() {
    let p = two_stages();
    expect_test::expect![[r#"
        test:1:4: g: vectorize(x, 4, Balanced)
          loop `x$v` of `g` cannot be vectorized: its extent is not a constant
          help: split by a factor, as in `vectorize(x$v, 8)`, or promise it with bound_extent"#]]
    .assert_eq(&illegal(&p, "g: vectorize(x, 4, Balanced)"));
    expect_test::expect![[r#"
        test:1:4: g: split(x, xo, xi, 0, Balanced)
          the factor must be at least 1, not 0"#]]
    .assert_eq(&illegal(&p, "g: split(x, xo, xi, 0, Balanced)"));
    let image = random_image(I32, &Region::of_spans([(0, 20), (-2, 20)]), 3);
    check(&p, "g: parallel(y, 3, Balanced)", &[("in", image)], &Region::of_extents([9, 7]));
}

/// Chunks of an update that reads what it stored before: in the order of the definition where that matters.
#[test]
fn order_in_chunks() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = input[(x, y)];
    let r = RDom::named("r", [(1, 10), (0, 7)]);
    f[(r.x, r.y)] = f[(r.x, r.y)] + f[(r.x - 1, r.y)] * 3;
    let p = Pipeline::new([&f]).unwrap();
    hold_at(
        &p,
        &[
            "f.update(0): parallel(r.y, 3, Balanced)",
            "f.update(0): split(r.x, xo, xi, 3, Balanced)",
            "f.update(0): split(r.x, xo, xi, 3, Balanced) reorder(xi, r.y, xo) vectorize(r.y, 4)",
        ],
        &[&[(0, 11), (0, 7)]],
    );
    for schedule in ["parallel(r.x, 3, Balanced)", "split(r.x, xo, xi, 3, Balanced) reorder(xo, xi)"] {
        let text = illegal(&p, &format!("f.update(0): {schedule}"));
        assert!(text.contains("one stores to `f(r.x, r.y)` and another one loads `f(r.x - 1, r.y)`"), "{text}");
    }
}
