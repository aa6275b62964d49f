//! Stages that cannot be computed together.

use super::check;
use expect_test::expect;
use halide_core::pipeline::Pipeline;
use halide_core::types::I16;
use halide_core::{Func, ImageParam, RDom, vars};

/// `p` is used by `a` and `b`, `c` by none of them; all are used by `out`. `mid` stands between `c` and `b`.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b, mut c, mut mid, mut out) =
        (Func::new("p"), Func::new("a"), Func::new("b"), Func::new("c"), Func::new("mid"), Func::new("out"));
    p[(x, y)] = input[(x, y)];
    a[(x, y)] = p[(x, y)] + 1;
    c[(x, y)] = input[(x, y)] * 2;
    mid[(x, y)] = c[(x, y)];
    b[(x, y)] = p[(x, y)] ^ mid[(x, y)];
    let r = RDom::named("r", [(0, 3)]);
    a[(x, y)] += input[(x + r.x, y)];
    b[(x, y)] += input[(x, y + r.x)];
    out[(x, y)] = a[(x, y)] + b[(x, y)] + c[(x, y)];
    Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"))
}

const ROOTS: &str = "p: compute_root() a: compute_root() b: compute_root() c: compute_root()";

fn check_with(schedule: &str, expected: expect_test::Expect) {
    check(&pipeline(), &format!("{ROOTS}\n{schedule}"), expected);
}

#[test]
fn names() {
    check_with(
        "b: compute_with(aa, y)",
        expect![[r#"
        test:2:4: b: compute_with(aa, y)
          the pipeline has no Func `aa`"#]],
    );
    check_with(
        "b: compute_with(a, yy)",
        expect![[r#"
        test:2:4: b: compute_with(a, yy)
          `a` has no loop `yy`; its loops, outermost first: `y`, `x`"#]],
    );
    check_with(
        "b: compute_with(a.update(3), y)",
        expect![[r#"
        test:2:4: b: compute_with(a.update(3), y)
          `a` has one update, number 0"#]],
    );
    check_with(
        "b: compute_with(a, x, [y, AlignStart], [yo, AlignEnd])",
        expect![[r#"
        test:2:4: b: compute_with(a, x, [y, AlignStart], [yo, AlignEnd])
          `yo` is no loop that runs as one; those that do, outermost first: `y`, `x`"#]],
    );
    check_with(
        "b: compute_with(a, x, [y, AlignStart], [y, AlignEnd])",
        expect![[r#"
        test:2:4: b: compute_with(a, x, [y, AlignStart], [y, AlignEnd])
          `y` is listed twice"#]],
    );
}

#[test]
fn places() {
    check_with(
        "b: compute_at(out, y) compute_with(a, y)",
        expect![[r#"
        test:2:23: b: compute_with(a, y)
          `b` is computed at `y` of `out`, and `a` at the root
          help: compute both at the same loop, or both at the root"#]],
    );
    check_with(
        "mid: compute_with(a, y)",
        expect![[r#"
        test:2:6: mid: compute_with(a, y)
          `mid` has no place of its own, so nothing is computed together with it
          help: give `mid` a place with compute_root() or compute_at(...)
        test:2:6: mid: compute_with(a, y)
          `mid` is computed inline, so it has no loops and no storage of its own
          help: give `mid` a place with compute_root() or compute_at(...)"#]],
    );
    check_with(
        "a: compute_with(mid, y)",
        expect![[r#"
        test:2:4: a: compute_with(mid, y)
          `mid` has no place of its own, so nothing is computed together with it
          help: give `mid` a place with compute_root() or compute_at(...)"#]],
    );
    check_with(
        "a.update(0): compute_with(a, y)",
        expect![[r#"
        test:2:14: a.update(0): compute_with(a, y)
          stages of `a` depend on each other, so they cannot be computed together"#]],
    );
}

#[test]
fn dependences() {
    check_with(
        "p: compute_with(a, y)",
        expect![[r#"
            test:2:4: p: compute_with(a, y)
              `a` needs values of `p`: it would not come behind the last stage of `p`
              help: compute its stages that need `p` with the last stage of `p`, or none of them"#]],
    );
    check_with(
        "a: compute_with(b, y) b: compute_with(a, y)",
        expect![[r#"
        test:2:26: b: compute_with(a, y)
          `a` is computed with `b` already"#]],
    );
    check_with(
        "b: compute_with(a, y) c: compute_with(a, y)",
        expect![[r#"
            test:2:26: c: compute_with(a, y)
              `b` needs values of `c`: it would not come behind the last stage of `c`
              help: compute its stages that need `c` with the last stage of `c`, or none of them"#]],
    );
    check_with(
        "b: compute_with(a.update(0), y) b.update(0): compute_with(a, y)",
        expect![[r#"
        test:2:46: b.update(0): compute_with(a, y)
          the stages of `b` would not come in their order any more"#]],
    );
}

/// `a` and `c`, and `b` and `d`, are independent; but `b` needs `a`, and `c` needs `d`.
#[test]
fn groups_that_need_each_other() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut d, mut out) =
        (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"), Func::new("out"));
    a[(x, y)] = input[(x, y)];
    b[(x, y)] = a[(x, y)] + 1;
    d[(x, y)] = input[(x, y)] * 2;
    c[(x, y)] = d[(x, y)] + 3;
    out[(x, y)] = b[(x, y)] + c[(x, y)];
    let p = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let roots = "a: compute_root() b: compute_root() c: compute_root() d: compute_root()";
    check(
        &p,
        &format!("{roots}\nc: compute_with(a, y) d: compute_with(b, y)"),
        expect![[r#"
        test:2:26: d: compute_with(b, y)
          `d` and `b` cannot be computed together: other Funcs that are computed together stand between them, needed by one and needing the other"#]],
    );
}

#[test]
fn loops_that_differ() {
    check_with(
        "b: reorder(y, x) compute_with(a, x)",
        expect![[r#"
        test:2:18: b: compute_with(a, x)
          only loops of the same names and kinds run as one; outermost first, `b` has `x`, `y`, and `a` has `y`, `x`
          help: split, reorder, rename and mark the loops of both in the same way"#]],
    );
    check_with(
        "b: parallel(y) compute_with(a, x)",
        expect![[r#"
        test:2:16: b: compute_with(a, x)
          only loops of the same names and kinds run as one; outermost first, `b` has `parallel y`, `x`, and `a` has `y`, `x`
          help: split, reorder, rename and mark the loops of both in the same way"#]],
    );
    check_with(
        "b: split(y, yo, yi, 4) compute_with(a, y)",
        expect![[r#"
        test:2:24: b: compute_with(a, y)
          only loops of the same names and kinds run as one; outermost first, `b` has `yo`, and `a` has `y`
          help: split, reorder, rename and mark the loops of both in the same way"#]],
    );
    check_with(
        "b.update(0): compute_with(a.update(0), r.x)\n b: fuse(x, y, t) compute_with(a, x)",
        expect![[r#"
        test:3:19: b: compute_with(a, x)
          only loops of the same names and kinds run as one; outermost first, `b` has `t`, and `a` has `y`, `x`
          help: split, reorder, rename and mark the loops of both in the same way"#]],
    );
    check_with(
        "b: specialize(in.extent(0) > 4)\n b: compute_with(a, y)",
        expect![[r#"
        test:3:5: b: compute_with(a, y)
          `b` is specialised, and what is computed together has one set of loops"#]],
    );
    check_with(
        "a: specialize_fail(\"no\")\n b: compute_with(a, y)",
        expect![[r#"
        test:3:5: b: compute_with(a, y)
          `a` is specialised, and what is computed together has one set of loops"#]],
    );
    check_with(
        "b: specialize(in.extent(0) > 4)\n b.specialize(in.extent(0) > 4): compute_with(a, y)",
        expect![[r#"
            test:3:34: b.specialize(in.extent(0) > 4): compute_with(a, y)
              `b.specialize(in.extent(0) > 4)` is a specialisation, and this is said of the stage as a whole
              help: say it of the stage"#]],
    );
}

#[test]
fn producers_of_what_is_computed_together() {
    let p = pipeline();
    let text = "a: compute_root() b: compute_root() compute_with(a, y)\n p: compute_at(a, x)";
    check(
        &p,
        text,
        expect![[r#"
        test:2:5: p: compute_at(a, x)
          `b` uses `p` too, and is not computed inside of loop `x` of `a`
          help: compute it at a loop that is around all its consumers, or at the root"#]],
    );
    let text = "a: compute_root() b: compute_root() compute_with(a, y)\n p: store_at(b, x) compute_at(a, y)";
    check(
        &p,
        text,
        expect![[r#"
        test:2:5: p: store_at(b, x)
          store at `x` of `b` is not around compute at `y` of `a`
          help: store at the same loop or one around it"#]],
    );
}

/// A loop that runs for several stages is cut as one of them says.
#[test]
fn cuts_of_loops_that_run_as_one() {
    check_with(
        "a: never_partition(y)\n b: always_partition(y) compute_with(a, x)",
        expect![[r#"
        test:3:25: b: compute_with(a, x)
          one loop is cut in one way: of `y`, `b` says always_partition, and `a`, which runs in it too, never_partition
          help: say it of one of them, or the same of both"#]],
    );
    let three = "a: rename(x, u)\n a: rename(u, x) never_partition(x)\n b: compute_with(a, x)\n \
                 a.update(0): never_partition(y)\n b.update(0): always_partition(y) compute_with(a.update(0), y)";
    check_with(
        three,
        expect![[r#"
        test:6:35: b.update(0): compute_with(a.update(0), y)
          one loop is cut in one way: of `y`, `b.update(0)` says always_partition, and `a.update(0)`, which runs in it too, never_partition
          help: say it of one of them, or the same of both"#]],
    );
    for fine in [
        "a: never_partition(y)\n b: compute_with(a, x)",
        "b: never_partition(y) compute_with(a, x)",
        "a: never_partition(y)\n b: never_partition(y) always_partition(x) compute_with(a, x)",
        "a: never_partition(x)\n b: always_partition(x) compute_with(a, y)",
    ] {
        let schedule = crate::plan::tests::parse(&format!("{ROOTS}\n{fine}"));
        let plan = crate::plan::resolve(&pipeline(), &schedule, &crate::plan::tests::TARGET);
        assert!(plan.is_ok(), "{fine}: {:?}", plan.err());
    }
}
