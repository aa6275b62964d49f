//! Columns of memory as vectors: loads and stores of lanes that are far apart, of which several neighbours are read or
//! written in one loop. What `interleave` makes tiles of.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A transpose in tiles, channels that are taken apart, or channels that are put together.
pub(super) fn columns(random: &mut Random) -> Drawn {
    match random.below(3) {
        0 => transpose(random),
        1 => apart(random),
        _ => together(random),
    }
}

fn element(random: &mut Random) -> ScalarType {
    random.pick(&[U8, I16, F32, I64, U16, F64])
}

fn lanes(random: &mut Random) -> i64 {
    random.pick(&[2, 3, 4, 4, 6, 8, 8, 12, 16, 16, 32])
}

fn tail(random: &mut Random) -> &'static str {
    random.pick(&["", "", ", GuardWithIf", ", Predicate"])
}

/// Several columns of an image, whose rows are of unknown length, or of a stage in between.
fn transpose(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", element(random), 2);
    let (x, y) = (var("x"), var("y"));
    let f = func("f", &[x, y], image.read([x, y]) * 3);
    let mut value = f.read([y + random.between(-2, 3) as i32, x]);
    for _ in 0..random.below(4) {
        value += f.read([y + random.between(-9, 9) as i32, x]);
    }
    let g = func("g", &[x, y], value);
    let (n, m) = (lanes(random), random.between(1, 17));
    let (first, second) = (tail(random), tail(random));
    let tiles = format!("g: split(y, yo, yi, {m}{first}) split(x, xo, xi, {n}{second}) reorder(xi, yi, xo, yo)");
    let across = if random.one_in(3) { "vectorize(yi) unroll(xi)" } else { "vectorize(xi) unroll(yi)" };
    let lines = vec![
        format!("{tiles} {across}"),
        format!(
            "f: {}",
            random.pick(&["compute_root()", "compute_inline()", "compute_at(g, xo)", "compute_at(g, yo)"])
        ),
        if random.one_in(3) { "g: parallel(yo)".into() } else { "g: unroll(yi)".into() },
    ];
    Drawn::new(g, lines)
}

/// Sums of elements at a stride.
fn apart(random: &mut Random) -> Drawn {
    let a = ImageParam::new("a", element(random), 1);
    let x = var("x");
    let stride = random.between(5, 20) as i32 * if random.one_in(5) { -1 } else { 1 };
    let offset = |random: &mut Random| random.between(-3, 3 + i64::from(stride.abs())) as i32;
    let mut value = a.read([x * stride + offset(random)]);
    for _ in 0..random.below(9) {
        value = value * 3 - a.read([x * stride + offset(random)]);
    }
    let line = format!("f: vectorize(x, {}{})", lanes(random), tail(random));
    Drawn::new(func("f", &[x], value), vec![line])
}

/// Channels beside each other, all or some of which are computed in one loop, and taken apart again.
fn together(random: &mut Random) -> Drawn {
    let ty = element(random);
    let a = ImageParam::new("a", ty, 1);
    let (x, c) = (var("x"), var("c"));
    let channels = random.between(5, 17);
    let f = func("f", &[c, x], a.read([x + c * 2]) + cast_to(ty, c * 3));
    let g = func("g", &[x, c], f.read([clamp(c, 0, channels as i32 - 1), x]));
    let (n, m) = (lanes(random), lanes(random));
    let part = random.pick(&["unroll(c)", "unroll(c, 4)", "unroll(c, 2)"]);
    let lines = vec![
        format!("f: {}", random.pick(&["compute_root()", "compute_at(g, xo)"])),
        format!("f: bound_extent(c, {channels}) reorder(c, x) vectorize(x, {n}) {part}"),
        format!("g: split(x, xo, xi, {m}{}) reorder(xi, c, xo)", tail(random)),
        "g: vectorize(xi) unroll(c, 4)".into(),
    ];
    Drawn::new(g, lines)
}
