//! Stores at coordinates that are elements of inputs without equal elements.

use crate::matrix::check;
use crate::support::illegal;
use expect_test::expect;
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::value::Scalar;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// An image of `ty` whose elements are all different, from 0 on.
fn order(ty: ScalarType, region: &Region) -> AnyBuffer {
    let mut image = AnyBuffer::with_region(ty, region).unwrap();
    let count = region.coords().count() as i128;
    let mut view = image.view_mut().unwrap();
    for (number, at) in region.coords().enumerate() {
        view.set(&at, Scalar::int(ty, number as i128 * 7 % count)).unwrap();
    }
    drop(view);
    image
}

/// `f[order[r] + 3] op= r` under schedules that let iterations run at once.
#[test]
fn stores_at_once() {
    for ty in [I32, U8, I16, U32] {
        let image = ImageParam::new("order", ty, 1);
        image.promise_values(0, 99);
        image.promise_distinct();
        let (x, mut f) = (vars!(x), Func::new("f"));
        f[x] = x * 5;
        let r = RDom::named("r", [(0, 19)]);
        let at = cast::<i32>(image[r.x]) + 3;
        f[at] = f[at] * 2 + r.x;
        let p = Pipeline::new([&f]).unwrap();
        for schedule in [
            "f.update(0): parallel(r.x)",
            "f.update(0): vectorize(r.x, 4)",
            "f.update(0): split(r.x, ro, ri, 4) reorder(ro, ri) parallel(ri)",
            "f: compute_root()",
        ] {
            let images = [("order", order(ty, &Region::of_extents([22])))];
            check(&p, schedule, &images, &Region::of_spans([(0, 103)]));
        }
    }
}

/// A permutation of a plane: the place is two numbers, of which one is distinct for all elements.
#[test]
fn places_of_several_dimensions() {
    let image = ImageParam::new("order", I32, 2);
    image.promise_values(0, 99);
    image.promise_distinct();
    let (x, y, mut f) = (vars!(x), vars!(y), Func::new("f"));
    f[(x, y)] = 0.expr();
    let r = RDom::named("r", [(0, 5), (0, 4)]);
    f[(image[(r.x, r.y)], r.x)] += r.y + 1;
    let p = Pipeline::new([&f]).unwrap();
    for schedule in ["f.update(0): parallel(r.y) vectorize(r.x, 4)", "f.update(0): fuse(r.x, r.y, t) parallel(t)"] {
        let images = [("order", order(I32, &Region::of_extents([5, 4])))];
        check(&p, schedule, &images, &Region::of_extents([100, 6]));
    }
}

/// Coordinates that may be equal although elements are not.
#[test]
fn what_is_not_told_apart() {
    let image = ImageParam::new("order", I32, 1);
    image.promise_values(0, 99);
    image.promise_distinct();
    let refused = |at: &dyn Fn(Expr) -> Expr, more: &dyn Fn(&Func, Expr) -> Expr| {
        let (x, mut f) = (vars!(x), Func::new("f"));
        f[x] = 0.expr();
        let r = RDom::named("r", [(0, 19)]);
        let value = more(&f, r.x.expr());
        f[at(r.x.expr())] = value;
        illegal(&Pipeline::new([&f]).unwrap(), "f.update(0): parallel(r.x)")
    };
    let all = [
        refused(&|r| clamp(image.read([r]), 3, 9), &|_, r| r),
        refused(&|r| image.read([r / 2]), &|_, r| r),
        refused(&|r| cast::<i32>(cast::<u8>(image.read([r]))), &|_, r| r),
        refused(&|r| image.read([r]) / 2, &|_, r| r),
        refused(&|r| image.read([r]), &|f, r| f.read([image.read([r + 1])])),
        refused(&|r| image.read([r]), &|f, r| f.read([image.read([r]) + 1])),
    ];
    expect![[r#"
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(min(max(order(r.x), 3), 9))`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(order(r.x / 2))`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(i32(u8(order(r.x))))`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(order(r.x) / 2)`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: one of its iterations may load an element of `f.update(0)` that another one stores to; one stores to `f(order(r.x))` and another one loads `f(order(r.x + 1))`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it
        test:1:14: f.update(0): parallel(r.x)
          `r.x` cannot be run in parallel: two of its iterations may store to the same element of `f.update(0)`; both store to `f(order(r.x))`, at halide-sched/tests/it/distinct.rs:77:10
          help: choose a loop over a dimension that the update stores to by that variable; or say atomic(), or allow_race_conditions() if no result depends on it"#]].assert_eq(&all.join("\n"));
}
