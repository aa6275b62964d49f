//! The text of every error.

use super::samples::{blur, histogram, inline_sums, pyramid, updates};
use super::{TARGET, parse};
use crate::plan::resolve;
use expect_test::{Expect, expect};
use halide_core::pipeline::Pipeline;
use halide_core::types::{F32, I32};

fn check(pipeline: &Pipeline, schedule: &str, expected: Expect) {
    let errors = resolve(pipeline, &parse(schedule), &TARGET).expect_err(schedule);
    let text: Vec<String> = errors.iter().map(|e| format!("{e}")).collect();
    expected.assert_eq(&text.join("\n"));
}

#[test]
fn names() {
    let p = blur();
    check(
        &p,
        "blr_y: parallel(y) vectorize(x, 8)",
        expect![[r#"
        test:1:8: blr_y: parallel(y)
          the pipeline has no Func `blr_y`
          help: did you mean `blur_y`?"#]],
    );
    check(
        &p,
        "blur_y.update(0): parallel(y)",
        expect![[r#"
        test:1:19: blur_y.update(0): parallel(y)
          `blur_y` has no updates"#]],
    );
    check(
        &updates(I32),
        "f.update(7): parallel(y)",
        expect![[r#"
        test:1:14: f.update(7): parallel(y)
          `f` has 4 updates, numbers 0 to 3"#]],
    );
    check(
        &p,
        "blur_y.specialize(2): parallel(y)",
        expect![[r#"
        test:1:23: blur_y.specialize(2): parallel(y)
          there is no specialisation number 2; 0 have been opened before this"#]],
    );
    check(
        &p,
        "blur_y: split(y, yo, yi, 8) parallel(y0) parallel(y)",
        expect![[r#"
        test:1:29: blur_y: parallel(y0)
          `blur_y` has no loop `y0`; its loops, outermost first: `yo`, `yi`, `x`
          help: did you mean `yo`?
        test:1:42: blur_y: parallel(y)
          `blur_y` has no loop `y` any more, because of `split(y, yo, yi, 8)`"#]],
    );
    check(
        &p,
        "blur_y: split(z, zo, zi, 8) parallel(zo) rename(zi, k) unroll(k)",
        expect![[r#"
        test:1:9: blur_y: split(z, zo, zi, 8)
          `blur_y` has no loop `z`; its loops, outermost first: `y`, `x`"#]],
    );
    check(
        &p,
        "blur_y: bound(w, 0, 8) reorder_storage(y, yy)",
        expect![[r#"
        test:1:9: blur_y: bound(w, 0, 8)
          `blur_y` has no dimension `w`; its dimensions: `x`, `y`
        test:1:24: blur_y: reorder_storage(y, yy)
          `blur_y` has no dimension `yy`; its dimensions: `x`, `y`"#]],
    );
    check(
        &p,
        "blur_y: split(y, x, yi, 8)",
        expect![[r#"
        test:1:9: blur_y: split(y, x, yi, 8)
          `blur_y` has a variable `x` already
          help: choose another name"#]],
    );
    check(
        &p,
        "blur_y: split(y, a, a, 8) split(y, y, b, 8) rename(b, x) fuse(x, y, y) split(y, c, b, 2)",
        expect![[r#"
        test:1:9: blur_y: split(y, a, a, 8)
          `blur_y` has a variable `a` already
          help: choose another name
        test:1:45: blur_y: rename(b, x)
          `blur_y` has a variable `x` already
          help: choose another name
        test:1:72: blur_y: split(y, c, b, 2)
          `blur_y` has a variable `b` already
          help: choose another name"#]],
    );
    check(
        &p,
        "blur_y: reorder(x, y, x)",
        expect![[r#"
        test:1:9: blur_y: reorder(x, y, x)
          `x` is listed twice"#]],
    );
    check(
        &p,
        "blur_y: fuse(x, x, t)",
        expect![[r#"
        test:1:9: blur_y: fuse(x, x, t)
          `x` cannot be fused with itself"#]],
    );
    check(
        &p,
        "blur_y: tile([x, y], [xo, yo], [xi], [8, 8])",
        expect![[r#"
        test:1:9: blur_y: split(y, yo, "", 8)
          a loop needs a name; lists of different lengths leave some out"#]],
    );
    check(
        &p,
        "blur_x: compute_at(blury, y) store_at(blur_y.update(0), y)",
        expect![[r#"
        test:1:9: blur_x: compute_at(blury, y)
          the pipeline has no Func `blury`
          help: did you mean `blur_y`?
        test:1:30: blur_x: store_at(blur_y.update(0), y)
          `blur_y` has no updates"#]],
    );
    check(
        &updates(I32),
        "f.update(0): compute_root() store_in(Heap)",
        expect![[r#"
        test:1:14: f.update(0): compute_root()
          this is said of `f` as a whole, not of one of its stages
          help: write it under `f:`
        test:1:29: f.update(0): store_in(Heap)
          this is said of `f` as a whole, not of one of its stages
          help: write it under `f:`"#]],
    );
}

#[test]
fn numbers_and_conditions() {
    let p = blur();
    check(
        &p,
        "blur_y: split(x, xo, xi, 0) vectorize(x, -4) parallel(y, 3000000000)",
        expect![[r#"
        test:1:9: blur_y: split(x, xo, xi, 0)
          the factor must be at least 1, not 0
        test:1:29: blur_y: vectorize(x, -4)
          the factor must be at least 1, not -4
        test:1:46: blur_y: parallel(y, 3000000000)
          the factor must be at most 2147483647, not 3000000000"#]],
    );
    check(
        &p,
        "blur_y: bound(x, 0, 0) align_bounds(x, 0, 1) align_extent(y, -1) bound_extent(y, 0)",
        expect![[r#"
        test:1:9: blur_y: bound(x, 0, 0)
          the extent must be at least 1, not 0
        test:1:24: blur_y: align_bounds(x, 0, 1)
          the modulus must be at least 1, not 0
        test:1:46: blur_y: align_extent(y, -1)
          the modulus must be at least 1, not -1
        test:1:66: blur_y: bound_extent(y, 0)
          the extent must be at least 1, not 0"#]],
    );
    check(
        &p,
        "blur_x: compute_root() align_storage(x, 0) fold_storage(y, -3) align_storage(x, 5000000000)",
        expect![[r#"
            test:1:24: blur_x: align_storage(x, 0)
              the multiple must be at least 1, not 0
            test:1:44: blur_x: fold_storage(y, -3)
              the factor must be at least 1, not -3
            test:1:64: blur_x: align_storage(x, 5000000000)
              the multiple must be at most 2147483647, not 5000000000"#]],
    );
    check(
        &p,
        "blur_y: split(x, xo, xi, q) vectorize(y, gain)",
        expect![[r#"
        test:1:9: blur_y: split(x, xo, xi, q)
          the pipeline has no scalar parameter `q`
        test:1:29: blur_y: vectorize(y, gain)
          parameter `gain` is f32, where an integer is needed"#]],
    );
    check(
        &p,
        "blur_y: specialize(p2 > 3) specialize(p) specialize(fast > 1) specialize(gain == 1)",
        expect![[r#"
        test:1:9: blur_y: specialize(p2 > 3)
          the pipeline has no scalar parameter `p2`
        test:1:28: blur_y: specialize(p)
          parameter `p` is i32, where a bool is needed
        test:1:42: blur_y: specialize(fast > 1)
          parameter `fast` is bool, where an integer is needed
        test:1:63: blur_y: specialize(gain == 1)
          parameter `gain` is f32, where an integer is needed"#]],
    );
    check(
        &p,
        "blur_y: specialize(inptu.extent(0) > 3) specialize(input.min(2) == 0)",
        expect![[r#"
        test:1:9: blur_y: specialize(inptu.extent(0) > 3)
          the pipeline has no input image or output `inptu`
          help: did you mean `input`?
        test:1:41: blur_y: specialize(input.min(2) == 0)
          `input` has 2 dimensions, so none number 2"#]],
    );
    check(
        &p,
        "blur_y: specialize(blur_y.extent(0) > 3) specialize(blur_x.extent(0) > 3)",
        expect![[r#"
        test:1:42: blur_y: specialize(blur_x.extent(0) > 3)
          the pipeline has no input image or output `blur_x`
          help: did you mean `blur_y`?"#]],
    );
    check(
        &p,
        "blur_y: specialize(fast) specialize(p > 3) specialize(fast)",
        expect![[r#"
        test:1:44: blur_y: specialize(fast)
          there is a specialisation for `fast` before this one"#]],
    );
    check(
        &p,
        "blur_y: specialize_fail(\"no\") specialize(fast)",
        expect![[r#"
        test:1:31: blur_y: specialize(fast)
          nothing can be specialised after specialize_fail, which ends the run"#]],
    );
    check(
        &p,
        "blur_y: specialize(invalid(\"it is f32, not bool\"))",
        expect![[r#"
        test:1:9: blur_y: specialize(invalid("it is f32, not bool"))
          this is not a condition: it is f32, not bool"#]],
    );
}

#[test]
fn tails() {
    let p = updates(I32);
    check(
        &p,
        "f.update(0): split(r.x, a, b, 4, RoundUp) split(r.y, c, d, 4, ShiftInwardsAndBlend)",
        expect![[r#"
        test:1:14: f.update(0): split(r.x, a, b, 4, RoundUp)
          RoundUp would run iterations of the reduction variable `r.x` twice or beyond its domain
          help: use GuardWithIf or Predicate, or leave the tail out
        test:1:43: f.update(0): split(r.y, c, d, 4, ShiftInwardsAndBlend)
          ShiftInwardsAndBlend would run iterations of the reduction variable `r.y` twice or beyond its domain
          help: use GuardWithIf or Predicate, or leave the tail out"#]],
    );
    check(
        &p,
        "f.update(0): split(x, xo, xi, 4, ShiftInwards)",
        expect![[r#"
        test:1:14: f.update(0): split(x, xo, xi, 4, ShiftInwards)
          ShiftInwards computes points of `x` twice, and an update must not be applied twice
          help: use GuardWithIf or ShiftInwardsAndBlend, or leave the tail out"#]],
    );
    check(
        &p,
        "f.update(0): split(x, xo, xi, 4, RoundUp) split(xi, a, b, 3, RoundUp)",
        expect![[r#"
        test:1:43: f.update(0): split(xi, a, b, 3, RoundUp)
          `xi` is part of a split: RoundUp would apply the update to points of the next chunk, which are then updated twice
          help: use GuardWithIf or RoundUpAndBlend, or leave the tail out"#]],
    );
    check(
        &p,
        "f: split(x, xo, xi, 8) split(xi, a, b, 3, PredicateLoads)",
        expect![[r#"
        test:1:24: f: split(xi, a, b, 3, PredicateLoads)
          `xi` is the inner part of a split, so its stores would reach into the next chunk
          help: use Predicate or GuardWithIf"#]],
    );
    check(
        &p,
        "f: split(x, xo, xi, 8, PredicateStores) vectorize(xi, 4)",
        expect![[r#"
        test:1:41: f: vectorize(xi, 4)
          `xi` comes from a split of `x` with PredicateStores, whose parts cannot be split again
          help: use Predicate for the first split"#]],
    );
    check(
        &p,
        "f.update(0): split(x, xo, xi, 8, ShiftInwardsAndBlend) parallel(xo)",
        expect![[r#"
        test:1:14: f.update(0): split(x, xo, xi, 8, ShiftInwardsAndBlend)
          ShiftInwardsAndBlend reads back points of `x` that other iterations of parallel `xo` store
          help: use GuardWithIf, or do not run that loop in parallel"#]],
    );
    check(
        &p,
        "f.update(0): vectorize(x, 8, RoundUpAndBlend) fuse(x, y, t) parallel(t)",
        expect![[r#"
        test:1:14: f.update(0): vectorize(x, 8, RoundUpAndBlend)
          RoundUpAndBlend reads back points of `x$whole` that other iterations of parallel `t` store
          help: use GuardWithIf, or do not run that loop in parallel"#]],
    );
}

#[test]
fn order_of_reductions() {
    let p = updates(I32);
    check(
        &p,
        "f.update(1): reorder(r.y, r.x)",
        expect![[r#"
        test:1:14: f.update(1): reorder(r.y, r.x)
          this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]],
    );
    check(
        &p,
        "f.update(1): split(r.x, a, b, 4) reorder(a, x, b)",
        expect![[r#"
        test:1:34: f.update(1): reorder(a, x, b)
          this changes the order of the reduction over `b`, `r.y`, `a`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]],
    );
    check(
        &p,
        "f.update(1): fuse(r.y, r.x, t)",
        expect![[r#"
        test:1:14: f.update(1): fuse(r.y, r.x, t)
          this changes the order of the reduction over `r.y`, `r.x`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]],
    );
    check(
        &p,
        "f.update(1): split(r.x, a, b, 4) fuse(b, r.y, t)",
        expect![[r#"
        test:1:34: f.update(1): fuse(b, r.y, t)
          this changes the order of the reduction over `b`, `r.y`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]],
    );
    check(
        &updates(F32),
        "f.update(0): reorder(r.y, r.x)",
        expect![[r#"
        test:1:14: f.update(0): reorder(r.y, r.x)
          this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(0)` rounds differently in another order
          help: say float(relaxed) if that may be"#]],
    );
    check(
        &histogram(),
        "cdf: compute_root() cdf.update(0): split(s.x, a, b, 5) reorder(a, b)",
        expect![[r#"
        test:1:56: cdf.update(0): reorder(a, b)
          this changes the order of the reduction over `b`, `a`, but the update of `cdf.update(0)` is no associative and commutative operation on the old value alone
          help: keep the reduction variables in their order"#]],
    );
}

#[test]
fn races() {
    let p = updates(I32);
    check(
        &p,
        "f.update(0): parallel(r.y) vectorize(r.x)",
        expect![[r#"
        test:1:14: f.update(0): parallel(r.y)
          `r.y` cannot be run in parallel: two of its iterations may store to, or load and store, the same element of `f.update(0)`
          help: choose a loop over a dimension that the update stores to by that variable
        test:1:28: f.update(0): vectorize(r.x)
          `r.x` cannot be vectorized: two of its iterations may store to, or load and store, the same element of `f.update(0)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
    check(
        &p,
        "f.update(0): fuse(x, r.x, t) parallel(t)",
        expect![[r#"
        test:1:30: f.update(0): parallel(t)
          `t` cannot be run in parallel: two of its iterations may store to, or load and store, the same element of `f.update(0)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
    check(
        &p,
        "f.update(1): parallel(r.x)",
        expect![[r#"
        test:1:14: f.update(1): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to, or load and store, the same element of `f.update(1)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
    check(
        &p,
        "f.update(3): vectorize(r.x, 4)",
        expect![[r#"
        test:1:14: f.update(3): vectorize(r.x, 4)
          `r.x$v` cannot be vectorized: two of its iterations may store to, or load and store, the same element of `f.update(3)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
    check(
        &histogram(),
        "hist: compute_root() hist.update(0): parallel(r.y) cdf: compute_root()",
        expect![[r#"
        test:1:38: hist.update(0): parallel(r.y)
          `r.y` cannot be run in parallel: two of its iterations may store to, or load and store, the same element of `hist.update(0)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
    check(
        &histogram(),
        "cdf: compute_root() cdf.update(0): vectorize(s.x, 8)",
        expect![[r#"
        test:1:36: cdf.update(0): vectorize(s.x, 8)
          `s.x$v` cannot be vectorized: two of its iterations may store to, or load and store, the same element of `cdf.update(0)`
          help: choose a loop over a dimension that the update stores to by that variable"#]],
    );
}

#[test]
fn extents_and_nesting() {
    let p = blur();
    check(
        &p,
        "blur_y: vectorize(x) unroll(y)",
        expect![[r#"
        test:1:9: blur_y: vectorize(x)
          loop `x` of `blur_y` cannot be vectorized: its extent is not a constant
          help: split by a factor, as in `vectorize(x, 8)`, or promise it with bound_extent
        test:1:22: blur_y: unroll(y)
          loop `y` of `blur_y` cannot be unrolled: its extent is not a constant
          help: split by a factor, as in `unroll(y, 8)`, or promise it with bound_extent"#]],
    );
    check(
        &p,
        "blur_y: split(x, xo, xi, p) vectorize(xi)",
        expect![[r#"
        test:1:29: blur_y: vectorize(xi)
          loop `xi` of `blur_y` cannot be vectorized: its extent is not a constant
          help: split by a factor, as in `vectorize(xi, 8)`, or promise it with bound_extent"#]],
    );
    check(
        &p,
        "blur_y: vectorize(x, 5000) unroll(y, 10000)",
        expect![[r#"
        test:1:9: blur_y: vectorize(x, 5000)
          the number of lanes must be at most 4096, not 5000
        test:1:28: blur_y: unroll(y, 10000)
          the number of copies must be at most 4096, not 10000"#]],
    );
    check(
        &p,
        "blur_y: vectorize(x, 8) vectorize(y, 2)",
        expect![[r#"
        test:1:9: blur_y: vectorize(x, 8)
          `x$v` is vectorized inside of `y$v`, which is vectorized too
          help: vectorize one of them and unroll the other"#]],
    );
    check(
        &p,
        "blur_y: vectorize(x, 8) reorder(y, x$v) parallel(y)",
        expect![[r#"
        test:1:41: blur_y: parallel(y)
          `y` is parallel inside of vectorized `x$v`
          help: move `x$v` inside with reorder, or do not vectorize it"#]],
    );
    check(
        &p,
        "blur_y: vectorize(x, 8) blur_x: compute_at(blur_y, x$v) vectorize(x, 8) parallel(y)",
        expect![[r#"
        test:1:57: blur_x: vectorize(x, 8)
          `x$v` is vectorized inside of `x$v`, which is vectorized too
          help: vectorize one of them and unroll the other
        test:1:73: blur_x: parallel(y)
          `y` is parallel inside of vectorized `x$v`
          help: move `x$v` inside with reorder, or do not vectorize it"#]],
    );
}

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

#[test]
fn places() {
    let mut s = crate::schedule::Schedule::new();
    s.func("blur_y").parallel("z");
    let errors = resolve(&blur(), &s, &TARGET).expect_err("no loop");
    let at = errors[0].at.expect("a place");
    assert!(at.file.ends_with("errors.rs") && at.column == 22, "{at}");
    let nowhere = crate::schedule::Directive { at: None, ..s.directives()[0].clone() };
    let errors = resolve(&blur(), &vec![nowhere].into(), &TARGET).expect_err("no loop");
    expect![[r#"
        directive 1: blur_y: parallel(z)
          `blur_y` has no loop `z`; its loops, outermost first: `y`, `x`"#]]
    .assert_eq(&errors[0].to_string());
}
