//! Loops that cannot be so.

use super::check;
use crate::plan::tests::samples::{blur, histogram, updates};
use expect_test::expect;
use halide_core::types::{F32, I32};

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
