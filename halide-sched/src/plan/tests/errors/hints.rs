//! Hints, estimates, room and operations that cannot be.

use super::{check, check_blur};
use crate::plan::tests::samples::updates;
use expect_test::expect;
use halide_core::expr::*;
use halide_core::pipeline::Pipeline;
use halide_core::types::I32;
use halide_core::{Func, ImageParam, RDom, vars};

#[test]
fn estimates() {
    check_blur(
        "blur_y: set_estimate(xx, 0, 8)",
        expect![[r#"
        test:1:9: blur_y: set_estimate(xx, 0, 8)
          `blur_y` has no dimension `xx`; its dimensions: `x`, `y`"#]],
    );
    check_blur(
        "blur_y: set_estimate(x, 0, 0)",
        expect![[r#"
        test:1:9: blur_y: set_estimate(x, 0, 0)
          the extent must be at least 1, not 0"#]],
    );
    check_blur(
        "blur_y: set_estimate(x, 2147483000, 1000)",
        expect![[r#"
        test:1:9: blur_y: set_estimate(x, 2147483000, 1000)
          the last coordinate must be at most 2147483647, not 2147483999"#]],
    );
    check_blur(
        "blur_y: set_estimates([0, 8])",
        expect![[r#"
        test:1:9: blur_y: set_estimates([0, 8])
          `blur_y` has 2 dimensions, and 1 are estimated"#]],
    );
    check(
        &updates(I32),
        "f.update(0): set_estimate(x, 0, 8)",
        expect![[r#"
        test:1:14: f.update(0): set_estimate(x, 0, 8)
          this is said of `f` as a whole, not of one of its stages
          help: write it under `f:`"#]],
    );
}

#[test]
fn room() {
    check_blur(
        "blur_x: compute_root() bound_storage(z, 8)",
        expect![[r#"
        test:1:24: blur_x: bound_storage(z, 8)
          `blur_x` has no dimension `z`; its dimensions: `x`, `y`"#]],
    );
    check_blur(
        "blur_x: compute_root() bound_storage(x, 0)",
        expect![[r#"
        test:1:24: blur_x: bound_storage(x, 0)
          the extent must be at least 1, not 0"#]],
    );
    check_blur(
        "blur_y: bound_storage(x, 8)",
        expect![[r#"
        test:1:9: blur_y: bound_storage(x, 8)
          `blur_y` is an output, whose memory the caller gives"#]],
    );
    check_blur(
        "blur_x: bound_storage(x, 8)",
        expect![[r#"
        test:1:9: blur_x: bound_storage(x, 8)
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
}

#[test]
fn prefetches_and_streams() {
    check_blur(
        "blur_y: prefetch(blur_z, x, y, 2)",
        expect![[r#"
        test:1:9: blur_y: prefetch(blur_z, x, y, 2)
          there is no Func and no image `blur_z`
          help: did you mean `blur_x`?"#]],
    );
    check_blur(
        "blur_y: prefetch(blur_x, xo, y, 2)",
        expect![[r#"
        test:1:9: blur_y: prefetch(blur_x, xo, y, 2)
          `blur_y` has no loop `xo`; its loops, outermost first: `y`, `x`"#]],
    );
    check_blur(
        "blur_y: prefetch(blur_x, x, yo, 2)",
        expect![[r#"
        test:1:9: blur_y: prefetch(blur_x, x, yo, 2)
          `blur_y` has no loop `yo`; its loops, outermost first: `y`, `x`"#]],
    );
    check_blur(
        "blur_y: prefetch(blur_x, y, x, 2)",
        expect![[r#"
            test:1:9: blur_y: prefetch(blur_x, y, x, 2)
              `x` is inside of `y`, and must be `y` or a loop around it
              help: say it the other way round, `x` before `y`"#]],
    );
    check_blur(
        "blur_x: compute_root() prefetch(blur_y, x, y, 2)",
        expect![[r#"
        test:1:24: blur_x: prefetch(blur_y, x, y, 2)
          `blur_x` does not read `blur_y`"#]],
    );
    for offset in ["9223372036854775807", "-9223372036854775808"] {
        check_blur(
            &format!("blur_y: prefetch(blur_x, x, y, {offset})"),
            match offset.starts_with('-') {
                true => expect![[r#"
                    test:1:9: blur_y: prefetch(blur_x, x, y, -9223372036854775808)
                      the distance of a prefetch must be at most 65536, not 9223372036854775807"#]],
                false => expect![[r#"
                    test:1:9: blur_y: prefetch(blur_x, x, y, 9223372036854775807)
                      the distance of a prefetch must be at most 65536, not 9223372036854775807"#]],
            },
        );
    }
    check_blur(
        "blur_x: stream_stores()",
        expect![[r#"
        test:1:9: blur_x: stream_stores()
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
    check_blur(
        "blur_x: never_unroll()",
        expect![[r#"
        test:1:9: blur_x: never_unroll()
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
}

/// `f(x) = f(x) * 2 + in(r)`-like updates, and a matrix product of tuples.
fn operations() -> Pipeline {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::named("r", [(0, 9)]);
    f[x] = cast::<i32>(0);
    f[x] = f[x] * 2 + input[r.x];
    f[x] -= input[r.x];
    f[r.x] = f[r.x + 1] + input[r.x];
    f[x] = absd(f[x], input[r.x]).cast(I32);
    g[x] = (f[x], 1).into();
    g[x] = (g[x].at(0) * input[r.x], g[x].at(1) + 1).into();
    Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn operations_that_are_not_what_is_said() {
    let p = operations();
    check(
        &p,
        "f: compute_root() monoid(0)",
        expect![[r#"
        test:1:19: f: monoid(0)
          `f` is no update, so it has no operation on old values
          help: say it of an update"#]],
    );
    check(
        &p,
        "f: compute_root()\n f.update(0): monoid(0)",
        expect![[r#"
            test:2:15: f.update(0): monoid(0)
              the update of `f.update(0)` does not leave values as they are under the identity, for a = -1581685260"#]],
    );
    check(
        &p,
        "f: compute_root()\n f.update(1): monoid(0)",
        expect![[r#"
            test:2:15: f.update(1): monoid(0)
              the update of `f.update(1)` does not leave values as they are under the identity, for a = -1581685260"#]],
    );
    check(
        &p,
        "f: compute_root()\n f.update(2): monoid(0)",
        expect![[r#"
        test:2:15: f.update(2): monoid(0)
          the update of `f.update(2)` reads other elements than the one that it stores, or chooses that by old values"#]],
    );
    check(
        &p,
        "f: compute_root()\n f.update(3): monoid(0)",
        expect![[r#"
            test:2:15: f.update(3): monoid(0)
              the update of `f.update(3)` does not leave values as they are under the identity, for a = -1581685260"#]],
    );
    check(
        &p,
        "g.update(0): monoid(1)",
        expect![[r#"
        test:1:14: g.update(0): monoid(1)
          an element of `g.update(0)` has 2 values, and the identity 1"#]],
    );
    check(
        &p,
        "g.update(0): monoid([1, 0])",
        expect![[r#"
        test:1:14: g.update(0): monoid([1, 0])
          the update of `g.update(0)` does not show how two partial results are put together: each value needs one new part, under arithmetic alone"#]],
    );
}

#[test]
fn steps_of_what_is_no_update() {
    check_blur(
        "blur_y: atomic() parallel(y)",
        expect![[r#"
        test:1:9: blur_y: atomic()
          `blur_y` is no update, so nothing is changed that could be changed in steps
          help: say it of an update, or leave it out"#]],
    );
}

#[test]
fn specialisations_that_end_the_run() {
    let text = "blur_y: specialize_fail(\"too small\") specialize(input.extent(0) > 8) specialize_fail(\"again\")";
    check_blur(
        text,
        expect![[r#"
        test:1:38: blur_y: specialize(input.extent(0) > 8)
          nothing can be specialised after specialize_fail, which ends the run"#]],
    );
    let text = "blur_y: specialize(input.extent(0) > 8)\n blur_y.specialize(input.extent(0) > 8): specialize_fail(\"a\") specialize(input.extent(1) > 8)";
    check_blur(
        text,
        expect![[r#"
        test:2:63: blur_y.specialize(input.extent(0) > 8): specialize(input.extent(1) > 8)
          nothing can be specialised after specialize_fail, which ends the run"#]],
    );
}
