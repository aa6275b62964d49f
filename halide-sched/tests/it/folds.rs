//! Circular storage of what is computed in pieces that are longer than what is asked of each.

use crate::matrix::check;
use crate::sliding::{around, images};
use crate::support::{stencil, sweep};
use halide_core::buffer::Region;
use halide_core::{Func, Pipeline, vars};

/// An iteration of an inner loop computes at least a whole piece, from where its own region begins.
#[test]
fn pieces_of_inner_iterations_are_as_long_as_their_factor() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x + 10 * y;
    g[(x, y)] = f[(x, y)] * 2 + f[(x, y + 1)];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g: split(x, xo, xi, 4) reorder(xi, y, xo)\n f: store_root() compute_at(g, xi) unroll(x, 3)";
    for (w, h) in [(4, 1), (8, 2), (13, 5)] {
        check(&p, schedule, &[], &Region::of_extents([w, h]));
    }
}

#[test]
fn pieces_of_any_factor_in_any_order() {
    let pieces = [
        "unroll(x, 2)",
        "unroll(x, 3)",
        "unroll(x, 5)",
        "split(x, x, t, 3, RoundUp)",
        "split(x, x, t, 7, ShiftInwards)",
    ];
    let loops = [
        "split(x, xo, xi, 4) reorder(xi, y, xo)",
        "split(x, xo, xi, 3, GuardWithIf) reorder(xi, y, xo)",
        "split(x, xo, xi, 4, GuardWithIf) reorder(y, xi, xo)",
        "split(x, xo, xi, 1) reorder(xi, y, xo)",
        "split(x, xo, xi, 6, GuardWithIf) split(xi, xi, xj, 2) reorder(xj, y, xi, xo)",
        "reorder(y, x) split(x, xo, xi, 5, GuardWithIf) unroll(xi)",
    ];
    let pipelines = [
        around(|f, x, y| f[(x, y)] * 2 - f[(x, y + 1)]),
        around(|f, x, y| f[(x - 1, y)] + f[(x + 1, y)]),
        around(|f, x, y| f[(-x, y)] - f[(1 - x, y - 1)]),
        around(|f, x, y| f[(2 * x, y)] + f[(x * 2 + 1, y + 1)]),
        around(|f, x, y| f[(x / 2, y)]),
    ];
    for p in &pipelines {
        for (i, order) in loops.into_iter().enumerate() {
            for (j, piece) in pieces.into_iter().enumerate() {
                let inner = if order.contains("xi") { "xi" } else { "x" };
                let place = [inner, inner, "y", "xo"][if i < 3 { 0 } else { (i + j) % 4 }];
                let schedule = format!("g: {order}\n f: store_root() compute_at(g, {place}) {piece}");
                for (w, h) in [(7, 2), (12, 3)] {
                    check(p, &schedule, &images(p), &Region::of_spans([(-3, w), (2, h)]));
                }
            }
        }
    }
}

/// Pieces of an iteration which a guard leaves nothing to compute lie no further than those of others.
#[test]
fn pieces_of_iterations_with_nothing_to_do() {
    let places = ["store_root()", "store_at(g, xi)", "store_at(g, y)"];
    let pieces = ["", "vectorize(x, 4)", "unroll(x, 3)", "split(x, x, t, 5, RoundUp)"];
    let mut schedules = Vec::new();
    for place in places {
        for piece in pieces {
            for tail in ["GuardWithIf", "Predicate"] {
                let order = if place.contains("xi") { "reorder(xo, y, xi)" } else { "reorder(xo, xi, y)" };
                let inner = if place.contains("xi") { "y" } else { "xi" };
                schedules.push(format!(
                    "g: split(x, xo, xi, 4, {tail}) {order}\n f: {place} compute_at(g, {inner}) {piece}"
                ));
            }
        }
    }
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&stencil(), &schedules, &[(1, 1), (2, 2), (3, 1), (5, 3), (9, 2)]);
}
