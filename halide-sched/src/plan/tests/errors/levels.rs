//! Places that cannot be, and wrappers.

use super::check;
use crate::plan::resolve;
use crate::plan::tests::samples::{blur, histogram, inline_sums, pyramid};
use crate::plan::tests::{TARGET, parse};
use expect_test::expect;

#[test]
fn levels() {
    let p = blur();
    check(
        &p,
        "blur_y: compute_inline() store_at(blur_x, y) hoist_storage(blur_x, y)",
        expect![[r#"
        test:1:9: blur_y: compute_inline()
          `blur_y` is an output, which is computed and stored at the root
        test:1:26: blur_y: store_at(blur_x, y)
          `blur_y` is an output, which is computed and stored at the root
        test:1:46: blur_y: hoist_storage(blur_x, y)
          `blur_y` is an output, which is computed and stored at the root"#]],
    );
    check(
        &p,
        "blur_y: fold_storage(x, 4)",
        expect![[r#"
        test:1:9: blur_y: fold_storage(x, 4)
          `blur_y` is an output, whose memory the caller gives"#]],
    );
    check(
        &p,
        "blur_x: vectorize(x, 8) parallel(y)",
        expect![[r#"
        test:1:9: blur_x: vectorize(x, 8)
          `blur_x` is computed inline, so it has no loops and no storage of its own
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
    check(
        &p,
        "blur_x: store_root()",
        expect![[r#"
        test:1:9: blur_x: store_root()
          `blur_x` is computed inline, so nothing is stored
          help: give `blur_x` a place with compute_root() or compute_at(...)"#]],
    );
    check(
        &p,
        "blur_x: compute_at(blur_x, y)",
        expect![[r#"
        test:1:9: blur_x: compute_at(blur_x, y)
          `blur_x` cannot be placed in a loop of its own"#]],
    );
    check(
        &p,
        "blur_x: compute_at(blur_y, yo)",
        expect![[r#"
        test:1:9: blur_x: compute_at(blur_y, yo)
          `blur_y` has no loop `yo`; its loops, outermost first: `y`, `x`"#]],
    );
    check(
        &p,
        "blur_y: split(y, yo, yi, 8) blur_x: compute_at(blur_y, yo) store_at(blur_y, yi)",
        expect![[r#"
        test:1:60: blur_x: store_at(blur_y, yi)
          store at `yi` of `blur_y` is not around compute at `yo` of `blur_y`
          help: store at the same loop or one around it"#]],
    );
    check(
        &p,
        "blur_x: compute_at(blur_y, y) store_root() hoist_storage(blur_y, y)",
        expect![[r#"
        test:1:44: blur_x: hoist_storage(blur_y, y)
          hoist_storage at `y` of `blur_y` is not around store at the root
          help: hoist_storage at the same loop or one around it"#]],
    );
    check(
        &p,
        "blur_x: compute_root() store_at(blur_y, y)",
        expect![[r#"
        test:1:24: blur_x: store_at(blur_y, y)
          store at `y` of `blur_y` is not around compute at the root
          help: store at the same loop or one around it"#]],
    );
    check(
        &p,
        "blur_y.specialize(fast): split(y, yo, yi, 8) blur_x: compute_at(blur_y, y)",
        expect![[r#"
            test:1:54: blur_x: compute_at(blur_y, y)
              `blur_y` has no loop `y` where it is specialised for `fast`
              help: make `y` there too, or before specialize"#]],
    );
}

#[test]
fn levels_that_are_not_around_all_consumers() {
    let p = pyramid();
    check(
        &p,
        "base: compute_at(out, y)  up: compute_root()",
        expect![[r#"
        test:1:7: base: compute_at(out, y)
          `up` uses `base` too, and is not computed inside of loop `y` of `out`
          help: compute it at a loop that is around all its consumers, or at the root"#]],
    );
    check(
        &p,
        "base: compute_at(up, y)",
        expect![[r#"
        test:1:7: base: compute_at(up, y)
          `up` is computed inline, so it has no loops
          help: give `up` a place with compute_root() or compute_at(...)"#]],
    );
    check(
        &p,
        "base: compute_root() out: parallel(y) down: compute_at(base, y)",
        expect![[r#"
        test:1:45: down: compute_at(base, y)
          `base` does not use `down`"#]],
    );
    check(
        &p,
        "down: compute_at(up, x) up: compute_at(down, y)",
        expect![[r#"
        test:1:29: up: compute_at(down, y)
          `down` does not use `up`"#]],
    );
    let p = inline_sums();
    check(
        &p,
        "b: compute_root() a: compute_root() sum: compute_at(b, y)",
        expect![[r#"
        test:1:42: sum: compute_at(b, y)
          `a` uses `sum` too, and is not computed inside of loop `y` of `b`
          help: compute it at a loop that is around all its consumers, or at the root"#]],
    );
    check(
        &p,
        "a: compute_at(b, y)",
        expect![[r#"
        test:1:4: a: compute_at(b, y)
          `b` does not use `a`"#]],
    );
    check(
        &p,
        "sum: store_root()",
        expect![[r#"
        test:1:6: sum: store_root()
          `sum` is computed inline, so nothing is stored
          help: give `sum` a place with compute_root() or compute_at(...)"#]],
    );
}

#[test]
fn sharing() {
    let text = "blur_y: parallel(y) blur_x: compute_at(blur_y, x) store_root()";
    let p = blur();
    assert!(resolve(&p, &parse(text), &TARGET).is_ok(), "values that are stored twice are the same");
    check(
        &p,
        &format!("{text} fold_storage(y, 4)"),
        expect![[r#"
        test:1:51: blur_x: store_root()
          the iterations of `y` run at the same time, and `blur_x` is folded outside of it and computed inside, so iterations would overwrite each other's values
          help: store it at that loop or inside of it"#]],
    );
    check(
        &p,
        "blur_y: parallel(y) blur_x: compute_at(blur_y, x) store_at(blur_y, x) hoist_storage_root()",
        expect![[r#"
            test:1:71: blur_x: hoist_storage_root()
              the iterations of `y` run at the same time, and `blur_x` keeps values of its own in each, so they cannot share memory allocated outside
              help: hoist it to a loop inside of that one"#]],
    );
    let text = "hist: compute_at(cdf, i) store_root() cdf: compute_root() parallel(i)";
    check(
        &histogram(),
        text,
        expect![[r#"
        test:1:26: hist: store_root()
          the iterations of `i` run at the same time, and `hist` is stored outside of it and updated inside, so iterations would disturb each other
          help: store it at that loop or inside of it"#]],
    );
}

#[test]
fn wrappers() {
    let p = pyramid();
    check(
        &p,
        "up.in(down): compute_root()",
        expect![[r#"
        test:1:1: up: in(down)
          `down` does not call `up`"#]],
    );
    check(
        &p,
        "up.in(up): compute_root()",
        expect![[r#"
        test:1:1: up: in(up)
          `up` cannot be wrapped for itself"#]],
    );
    check(
        &p,
        "out.in(): compute_root()",
        expect![[r#"
        test:1:1: out: in()
          no Func calls `out`"#]],
    );
    check(
        &p,
        "uo.in(out): compute_root()",
        expect![[r#"
        test:1:1: uo: in(out)
          the pipeline has no Func `uo`
          help: did you mean `up`?"#]],
    );
    check(
        &p,
        "input: compute_root()",
        expect![[r#"
        test:1:8: input: compute_root()
          the pipeline has no Func `input`
          help: did you mean `input.in()`?"#]],
    );
    check(
        &p,
        "input.in(out): compute_root()",
        expect![[r#"
        test:1:1: input: in(out)
          `out` does not call `input`"#]],
    );
    check(
        &p,
        "base.in(out, out): compute_root()",
        expect![[r#"
        test:1:1: base: in(out, out)
          `out` is listed twice"#]],
    );
    check(
        &p,
        "base.in(down): compute_root() base.clone_in(down): compute_root()",
        expect![[r#"
        test:1:31: base: clone_in(down)
          the calls of `base` from `down` go to another wrapper already"#]],
    );
    check(
        &p,
        "base.in(nobody): compute_root() parallel(y)",
        expect![[r#"
        test:1:1: base: in(nobody)
          the pipeline has no Func `nobody`"#]],
    );
}
