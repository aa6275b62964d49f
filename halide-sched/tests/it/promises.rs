//! Promises of extents (`bound_extent`) of what is computed again and again: each holds for one computation.

use crate::matrix::{check, random_image};
use crate::support::fault;
use halide_core::buffer::Region;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};

fn stencil() -> Pipeline {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2;
    g[(x, y)] = f[(x, y)] + f[(x, y + 1)];
    Pipeline::new([&g]).unwrap()
}

/// A Func that is computed per iteration of a loop has its promised extent there, and more of it over the whole run.
#[test]
fn a_promised_extent_is_that_of_one_computation() {
    let p = stencil();
    for schedule in [
        "f: compute_at(g, y) bound_extent(y, 2)",
        "f: compute_at(g, y) bound_extent(y, 2) vectorize(x, 4)",
        "f: compute_at(g, x) bound_extent(x, 1) bound_extent(y, 2)",
        "f: compute_at(g, y) store_root() bound_extent(y, 2)",
        "g: split(y, yo, yi, 4, RoundUp)\n f: compute_at(g, yo) bound_extent(y, 5)",
        "g: tile(x, y, xo, yo, xi, yi, 4, 2, RoundUp)\n f: compute_at(g, xo) bound_extent(x, 4) bound_extent(y, 3)",
        "g: split(y, yo, yi, 4, RoundUp)\n f: compute_at(g, yi) store_at(g, yo) bound_extent(y, 2)",
        "g: split(y, yo, yi, 4, RoundUp)\n f: compute_at(g, yi) hoist_storage(g, yo) bound_extent(y, 2)",
    ] {
        // No more of the input is asked for than what is read.
        let image = random_image(I16, &Region::of_extents([8, 9]), 1);
        check(&p, schedule, &[("in", image)], &Region::of_extents([8, 8]));
    }
}

/// A promise that is too small for one computation is refused as before.
#[test]
fn a_promised_extent_that_is_too_small_is_refused() {
    let p = stencil();
    for schedule in [
        "f: compute_at(g, y) bound_extent(y, 1)",
        "f: compute_root() bound_extent(y, 8)",
        "g: split(y, yo, yi, 4, RoundUp)\n f: compute_at(g, yo) bound_extent(y, 4)",
    ] {
        let text = fault(&p, schedule, &Region::of_extents([8, 8])).expect("the promise does not hold");
        assert!(text.contains("is not inside its bound"), "{text}");
    }
}

/// Loops of earlier definitions run over the promised extent as well, so what updates touch must lie within it.
#[test]
fn a_promised_extent_holds_what_updates_touch() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2;
    f[(x, 1)] += 1;
    g[(x, y)] = f[(x, y)] + 3;
    let p = Pipeline::new([&g]).unwrap();
    for schedule in ["f: compute_at(g, y) bound_extent(y, 1)", "f: compute_at(g, x) bound_extent(y, 2)"] {
        let text = fault(&p, schedule, &Region::of_extents([4, 4])).expect("the promise does not hold");
        assert!(text.contains("is not inside its bound"), "{text}");
    }
    let image = random_image(I16, &Region::of_spans([(-8, 30), (-8, 30)]), 1);
    check(&p, "f: compute_root() bound_extent(y, 4)", &[("in", image.clone())], &Region::of_extents([4, 4]));
    check(&p, "f: compute_at(g, y) bound_extent(y, 2)", &[("in", image)], &Region::of_extents([4, 2]));
}

/// An extent that is promised larger than needed is computed from where each iteration begins.
#[test]
fn a_larger_promise_reaches_further_in_each_iteration() {
    let p = stencil();
    for schedule in [
        "f: compute_at(g, y) bound_extent(y, 4)",
        "f: compute_at(g, y) store_root() bound_extent(y, 4)",
        "g: split(y, yo, yi, 4, GuardWithIf)\n f: compute_at(g, yo) bound_extent(y, 7)",
    ] {
        for h in [1, 4, 8, 9] {
            let image = random_image(I16, &Region::of_spans([(-8, 30), (-8, 30)]), 1);
            check(&p, schedule, &[("in", image)], &Region::of_extents([5, h]));
        }
    }
}

/// Iterations that guards leave nothing to do are no place for the extent that is promised of a producer.
#[test]
fn iterations_of_nothing_compute_no_promised_extent() {
    let (input, x) = (ImageParam::new("in", I32, 1), vars!(x));
    let [mut p, mut f] = ["p", "f"].map(Func::new);
    p[x] = input[x] * 3;
    f[x] = p[x] + 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    for (loops, at) in [
        ("split(x, o, i, 1)", "o"),
        ("split(x, a, b, 1) split(a, c, d, 1) parallel(b, 2) fuse(c, b$p, t)", "t"),
        ("split(x, o, i, 8, GuardWithIf) split(i, j, k, 2)", "j"),
        ("split(x, o, i, 3, GuardWithIf) reorder(o, i)", "i"),
        ("split(x, o, i, 2, GuardWithIf) split(o, o, j, 3)", "j"),
    ] {
        for extent in ["bound_extent(x, 5)", "bound_extent(x, 5) vectorize(x, 4)", "vectorize(x, 8)"] {
            // Where the region is larger than what is promised, the promise is refused.
            if loops.contains("reorder") && extent.contains("bound") {
                continue;
            }
            for width in 1..20 {
                let image = random_image(I32, &Region::of_extents([width + 8]), 1);
                let schedule = format!("f: {loops}\n p: compute_at(f, {at}) {extent}");
                check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
            }
        }
    }
}
