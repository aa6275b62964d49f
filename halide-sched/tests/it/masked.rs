//! Conditions that differ from lane to lane, of definitions that change what the conditions read.

use crate::matrix::{check, random_image};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// A tuple whose first element decides whether the second is stored: the condition is asked once, before either.
#[test]
fn a_predicate_is_asked_before_any_element_is_stored() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let (mut first, mut out) = (Func::new("first"), Func::new("out"));
    first[(x, y)] = ((input[(x, y)] % 2).eq(0), cast::<i16>(0), cast::<i16>(x)).into();
    r.where_(!first[(x, y)].at(0));
    let third = first[(x, y)].at(2);
    first[(x, y)] = (cast::<bool>(1), input[(x, y + r.x)], third + 1).into();
    out[(x, y)] = first[(x, y)].at(1) * 3 + first[(x, y)].at(2);
    let p = Pipeline::new([&out]).unwrap();
    for schedule in [
        "first: compute_root()",
        "first: compute_root()\n first.update(0): vectorize(x, 4)",
        "first: compute_root()\n first.update(0): vectorize(x, 4, GuardWithIf)",
        "first: compute_root()\n first.update(0): vectorize(y, 3)",
        "first: compute_root()\n first.update(0): reorder(x, r.x) vectorize(x, 8)",
        "first: compute_root()\n first.update(0): reorder(r.x, x) vectorize(x, 8)",
        "first: compute_at(out, y)\n first.update(0): unroll(x, 2) vectorize(x$u)",
        "out: vectorize(x, 4)\n first: compute_at(out, x)\n first.update(0): vectorize(x)",
        "out: vectorize(x, 4)\n first: compute_at(out, x$v)",
    ] {
        for (w, h) in [(1, 1), (4, 3), (9, 2), (13, 5)] {
            let input = random_image(I16, &Region::of_spans([(-9, 60), (-9, 60)]), 3);
            check(&p, schedule, &[("in", input)], &Region::of_extents([w, h]));
        }
    }
}

/// The same of a loop inside, whose length is data that it changes.
#[test]
fn lengths_of_inner_loops_are_asked_once() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = (clamp(input[(x, y)] % 5, 0, 4), input[(x, y)]).into();
    let r = RDom::named("r", [(0, 5)]);
    r.where_(r.x.lt(f[(x, y)].at(0)));
    let (length, sum) = (f[(x, y)].at(0), f[(x, y)].at(1));
    f[(x, y)] = (length - 1, sum + r.x * 7).into();
    g[(x, y)] = f[(x, y)].at(0) * 100 + f[(x, y)].at(1);
    let p = Pipeline::new([&g]).unwrap();
    for schedule in [
        "f: compute_root()\n f.update(0): reorder(r.x, x) vectorize(x, 4)",
        "f: compute_root()\n f.update(0): reorder(x, r.x) vectorize(x, 4)",
        "f: compute_root()\n f.update(0): reorder(r.x, x) vectorize(x, 4, GuardWithIf) unroll(r.x)",
        "g: vectorize(x, 4)\n f: compute_at(g, x$v)",
    ] {
        for (w, h) in [(1, 1), (4, 3), (9, 2)] {
            let input = random_image(I32, &Region::of_spans([(-9, 60), (-9, 60)]), 3);
            check(&p, schedule, &[("in", input)], &Region::of_extents([w, h]));
        }
    }
}
