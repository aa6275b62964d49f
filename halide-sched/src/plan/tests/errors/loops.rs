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
              this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone, and two iterations would change places: one stores to `f(x, r.x)` and another one loads `f(x, r.x + -1)`, at sample:1:1
              help: keep the reduction variables in their order"#]],
    );
    check(
        &p,
        "f.update(1): split(r.x, a, b, 4) reorder(a, x, b)",
        expect![[r#"
            test:1:34: f.update(1): reorder(a, x, b)
              this changes the order of the reduction over `b`, `r.y`, `a`, but the update of `f.update(1)` is no associative and commutative operation on the old value alone, and two iterations would change places: one stores to `f(x, r.x)` and another one loads `f(x, r.x + -1)`, at sample:1:1
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
              this changes the order of the reduction over `r.x`, `r.y`, but the update of `f.update(0)` rounds differently in another order, and two iterations would change places: both store to `f(x, y)`, at sample:1:1
              help: say float(relaxed) if that may be"#]],
    );
    check(
        &histogram(),
        "cdf: compute_root() cdf.update(0): split(s.x, a, b, 5) reorder(a, b)",
        expect![[r#"
            test:1:56: cdf.update(0): reorder(a, b)
              this changes the order of the reduction over `b`, `a`, but the update of `cdf.update(0)` is no associative and commutative operation on the old value alone, and two iterations would change places: one stores to `cdf(s.x + 1)` and another one loads `cdf(s.x)`, at sample:1:1
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
              `r.y` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(x, y)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
            test:1:28: f.update(0): vectorize(r.x)
              `r.x` cannot be vectorized: two of its iterations may store to the same element of `f.update(0)`; both store to `f(x, y)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
    );
    check(
        &p,
        "f.update(0): fuse(x, r.x, t) parallel(t)",
        expect![[r#"
            test:1:30: f.update(0): parallel(t)
              `t` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(x, y)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
    );
    check(
        &p,
        "f.update(1): parallel(r.x)",
        expect![[r#"
            test:1:14: f.update(1): parallel(r.x)
              `r.x` cannot be run in parallel: one of its iterations may load an element of `f.update(1)` that another one stores to; one stores to `f(x, r.x)` and another one loads `f(x, r.x + -1)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
    );
    check(
        &p,
        "f.update(3): reorder(r.y, r.x) vectorize(r.x, 4)",
        expect![[r#"
            test:1:32: f.update(3): vectorize(r.x, 4)
              `r.x$v` cannot be vectorized: two of its iterations may store to the same element of `f.update(3)`; both store to `f(r.x + r.y, y)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
    );
    check(
        &histogram(),
        "hist: compute_root() hist.update(0): parallel(r.y) cdf: compute_root()",
        expect![[r#"
            test:1:38: hist.update(0): parallel(r.y)
              `r.y` cannot be run in parallel: two of its iterations may store to the same element of `hist.update(0)`; both store to `hist(i32(input(r.x, r.y)))`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
    );
    check(
        &histogram(),
        "cdf: compute_root() cdf.update(0): parallel(s.x, 8)",
        expect![[r#"
            test:1:36: cdf.update(0): parallel(s.x, 8)
              `s.x` cannot be run in parallel: one of its iterations may load an element of `cdf.update(0)` that another one stores to; one stores to `cdf(s.x + 1)` and another one loads `cdf(s.x)`, at sample:1:1
              help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]],
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
        "blur_y: vectorize(x, 128) vectorize(y, 64)",
        expect![[r#"
        test:1:9: blur_y: vectorize(x, 128)
          the number of lanes of all vectorized loops must be at most 4096, not 8192"#]],
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
        test:1:73: blur_x: parallel(y)
          `y` is parallel inside of vectorized `x$v`
          help: move `x$v` inside with reorder, or do not vectorize it"#]],
    );
}

#[test]
fn reductions_in_parts() {
    let p = updates(I32);
    let all = expect![[r#"
        test:1:4: f: rfactor(r.x, u)
          `f` has no reduction here that could be done in parts
          help: say it of an update over a reduction domain
        test:2:23: f.update(0): rfactor(ry, u)
          `f.update(0)` has no reduction variable `ry` here; its reduction variables, outermost first: `r.y`, `r.x`
          help: did you mean `r.y`?
        test:2:38: f.update(0): parallel(r.y)
          `r.y` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(x, y)`, at sample:1:1
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:2:52: f.update(0): rfactor(r.y, u)
          `parallel(r.y)` is said before this of a reduction variable, whose loop goes to another Func now
          help: before rfactor, only split, fuse neighbours and rename them; say the rest after it
        test:2:68: f.update(0): rfactor([r.x, r.y], [u, v])
          no reduction variable of `f.update(0)` would be left, so the parts would reduce nothing
          help: split one of them and factor out a part of it
        test:2:96: f.update(0): rfactor([r.x, r.y], [u])
          this needs a new variable for each reduction variable, at least one; there are 1 for 2
        test:3:23: f.update(0): rfactor(r.x, y)
          `f.update(0)` has a variable `y` already
          help: choose another name
        test:3:39: f.update(0): rfactor(r.x, r.y)
          `f.update(0)` has a variable `r.y` already
          help: choose another name
        test:3:57: f.update(0): rfactor([r.x, r.x], [u, v])
          `r.x` is listed twice
        test:5:23: f.update(1): rfactor(r.x, u)
          `f.update(1)` reads the element before the one that it stores to, and its Func has other updates than some of single elements before it
          help: give the scan a Func of its own"#]];
    check(
        &p,
        "f: rfactor(r.x, u)
         f.update(0): rfactor(ry, u) parallel(r.y) rfactor(r.y, u) rfactor([r.x, r.y], [u, v]) rfactor([r.x, r.y], [u])
         f.update(0): rfactor(r.x, y) rfactor(r.x, r.y) rfactor([r.x, r.x], [u, v])
         f.rfactor(u): compute_root()
         f.update(1): rfactor(r.x, u)",
        all,
    );
    check(
        &p,
        "f.update(0): split(r.x, a, b, p) rfactor(b, u)
         f.update(3): fuse(y, r.y, t) rfactor(r.x, u)
         f.update(0): specialize(p > 3)
         f.update(0).specialize(p > 3): rfactor(r.x, u)
         f.update(4): rfactor(r.x, u)",
        expect![[r#"
            test:1:34: f.update(0): rfactor(b, u)
              a split by parameter `p` is said before this, and the parts must be of constant size
            test:2:39: f.update(3): rfactor(r.x, u)
              `fuse(y, r.y, t)` is said before this of a reduction variable, whose loop goes to another Func now
              help: before rfactor, only split, fuse neighbours and rename them; say the rest after it
            test:4:41: f.update(0).specialize(p > 3): rfactor(r.x, u)
              `f.update(0).specialize(p > 3)` is a specialisation, and this is said of the stage as a whole
              help: say it of the stage
            test:5:23: f.update(4): rfactor(r.x, u)
              `f` has 4 updates, numbers 0 to 3"#]],
    );
    check(
        &p,
        "f.update(0): rfactor(r.x, u)
         f.update(3): rfactor(r.y, u)
         f.rfactor(u): compute_root()",
        expect![[r#"
            test:2:23: f.update(3): rfactor(r.y, u)
              there is a Func `f.rfactor(u)` already
              help: choose other new variables"#]],
    );
    check(
        &updates(F32),
        "f.update(0): rfactor(r.x, u)",
        expect![[r#"
        test:1:14: f.update(0): rfactor(r.x, u)
          this changes the order of the reduction over `r.x`, but the update of `f.update(0)` rounds differently in another order
          help: say float(relaxed) if that may be"#]],
    );
    check(
        &histogram(),
        "cdf: compute_root() cdf.update(0): split(s.x, a, b, 5) rfactor(b, u)",
        expect![[r#"
            test:1:56: cdf.update(0): rfactor(b, u)
              `cdf.update(0)` reads the element before the one that it stores to, and only chunks of `s.x`, along which it goes, can be scanned for themselves
              help: say `split(s.x, ro, ri, 1024) rfactor(ro, u)`"#]],
    );
}

#[test]
fn atomic_steps() {
    let p = updates(I32);
    check(
        &p,
        "f.update(0): atomic() gpu_blocks(r.x)
         f.update(1): atomic(any_order) parallel(r.x)
         f.update(2): atomic() parallel(r.y)
         f.update(3): atomic() reorder(r.y, r.x) vectorize(r.y, 4)",
        expect![[r#"
            test:2:41: f.update(1): parallel(r.x)
              the update of `f.update(1)` reads other elements than the one that it stores, which cannot be one step"#]],
    );
    check(
        &updates(F32),
        "f.update(0): atomic() parallel(r.x)",
        expect![[r#"
        test:1:23: f.update(0): parallel(r.x)
          the iterations of `r.x` would come in any order, but the update of `f.update(0)` rounds differently in another order
          help: say float(relaxed) if that may be"#]],
    );
}
