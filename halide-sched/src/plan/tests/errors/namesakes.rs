//! Errors about Funcs that users called alike, and about loops of another stage of the same Func.

use super::check;
use crate::plan::resolve;
use crate::plan::tests::samples::updates;
use crate::plan::tests::{TARGET, parse};
use expect_test::{Expect, expect};
use halide_core::types::I32;
use halide_core::{Func, Pipeline, vars};

/// Two Funcs that are called `f`, with the line of the first.
fn two() -> (Pipeline, u32) {
    let (x, y) = vars!(x, y);
    let start = line!() + 1;
    let mut f = Func::new("f");
    let mut g = Func::new("f");
    let mut out = Func::new("out");
    f[(x, y)] = x + y;
    g[(x, y)] = f[(x, y)] * 2;
    out[(x, y)] = g[(x, y)] + f[(x, y)];
    (Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}")), start)
}

/// The errors of a schedule for [`two`], with lines relative to the first Func.
fn check_two(schedule: &str, expected: Expect) {
    let (pipeline, start) = two();
    let errors = resolve(&pipeline, &parse(schedule), &TARGET).map(drop).expect_err(schedule);
    let mut text = errors.iter().map(|e| e.to_string()).collect::<Vec<String>>().join("\n");
    for line in 0..2 {
        text = text.replace(&format!("{}:{}", file!(), start + line), &format!("FILE:+{line}"));
    }
    expected.assert_eq(&text);
}

#[test]
fn funcs_of_one_name_are_listed_with_their_places() {
    check_two(
        "f: compute_root() vectorize(q, 8)",
        expect![[r#"
        test:1:19: f: vectorize(q, 8)
          `f` has no loop `q`; its loops, outermost first: `y`, `x`
          help: 2 Funcs are called `f`: write `f` for that of FILE:+0:17, `f$1` for that of FILE:+1:17"#]],
    );
    check_two(
        "f$1: compute_root() parallel(q)",
        expect![[r#"
        test:1:21: f$1: parallel(q)
          `f$1` has no loop `q`; its loops, outermost first: `y`, `x`
          help: 2 Funcs are called `f`: write `f` for that of FILE:+0:17, `f$1` for that of FILE:+1:17"#]],
    );
    check_two(
        "f$1: compute_root() f: compute_at(f, y)",
        expect![[r#"
        test:1:24: f: compute_at(f, y)
          `f` cannot be placed in a loop of its own
          help: 2 Funcs are called `f`: write `f` for that of FILE:+0:17, `f$1` for that of FILE:+1:17"#]],
    );
    check_two(
        "out: parallel(q)",
        expect![[r#"
        test:1:6: out: parallel(q)
          `out` has no loop `q`; its loops, outermost first: `y`, `x`"#]],
    );
}

#[test]
fn a_loop_of_another_stage_is_told_with_the_directive_to_write() {
    let p = updates(I32);
    check(
        &p,
        "f: vectorize(r.x, 8)",
        expect![[r#"
        test:1:4: f: vectorize(r.x, 8)
          `f` has no loop `r.x`, which is a loop of `f.update(0)`; its loops, outermost first: `y`, `x`
          help: write `f.update(0): vectorize(r.x, 8)`"#]],
    );
    check(
        &p,
        "f.update(2): parallel(x)",
        expect![[r#"
        test:1:14: f.update(2): parallel(x)
          `f.update(2)` has no loop `x`, which is a loop of `f`; its loops, outermost first: `y`, `r.y`, `r.x`
          help: write `f: parallel(x)`"#]],
    );
    check(
        &p,
        "f: specialize(p > 1) f.specialize(0): unroll(r.y)",
        expect![[r#"
        test:1:39: f.specialize(p > 1): unroll(r.y)
          `f.specialize(p > 1)` has no loop `r.y`, which is a loop of `f.update(0)`; its loops, outermost first: `y`, `x`
          help: write `f.update(0): unroll(r.y)`"#]],
    );
    check(
        &super::super::samples::inline_sums(),
        "a: compute_root() sum: compute_at(b, q)",
        expect![[r#"
        test:1:24: sum: compute_at(b, q)
          `b` has no loop `q`; its loops, outermost first: `y`, `x`"#]],
    );
}

/// The place of a Func may be a loop of an update of its consumer.
#[test]
fn a_place_in_an_update_is_told_with_the_directive_to_write() {
    let (x, y) = vars!(x, y);
    let r = halide_core::RDom::named("r", [(0, 4), (0, 3)]);
    let (mut a, mut f) = (Func::new("a"), Func::new("f"));
    a.define((x, y), x + y);
    f.define((x, y), 0);
    f[(x, y)] += a[(x + r.x, y + r.y)];
    let p = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    check(
        &p,
        "a: compute_at(f, r.y)",
        expect![[r#"
        test:1:4: a: compute_at(f, r.y)
          `f` has no loop `r.y`, which is a loop of `f.update(0)`; its loops, outermost first: `y`, `x`
          help: write `a: compute_at(f.update(0), r.y)`"#]],
    );
    check(
        &p,
        "a: compute_at(f.update(0), x) store_at(f, r.y)",
        expect![[r#"
        test:1:31: a: store_at(f, r.y)
          `f` has no loop `r.y`, which is a loop of `f.update(0)`; its loops, outermost first: `y`, `x`
          help: write `a: store_at(f.update(0), r.y)`"#]],
    );
}
