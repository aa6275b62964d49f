//! Small transforms and products, many of them at once.

use super::case::{plain, untuned};
use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings};
use halide_apps::input::{Input, White};

/// Products of 4 x 4 matrices.
pub(super) const MATRICES: App = untuned(
    "matrices",
    "products of many pairs of 4x4 matrices of f32",
    plain!("matrices"),
    matrices,
    |_, width, height| {
        let many = |name| Input::pixels(name, F32, &[16, width * height], White::At(1));
        vec![many("a"), many("b")]
    },
    |_, width, height| vec![4, 4, width * height],
    (256, 256),
);

fn matrices(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (i, j, n) = vars!(i, j, n);
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let k = RDom::named("k", [(0, 4)]);
    let mut output = Func::new("output");
    output[(i, j, n)] = cast::<f32>(0);
    output[(i, j, n)] += a[(4 * j + k.x, n)] * b[(4 * k.x + i, n)];
    Pipeline::new([&output])
}

/// Cosine transforms of blocks of 8 x 8 pixels.
pub(super) const COSINES: App = untuned(
    "cosines",
    "8x8 cosine transforms of the blocks of a plane of i16, in f32",
    plain!("cosines"),
    cosines,
    |_, width, height| {
        vec![
            Input::pixels("input", I16, &[width, height], White::At(255)),
            Input::pixels("basis", F32, &[8, 8], White::At(1)),
        ]
    },
    |_, width, height| vec![8, 8, width / 8, height / 8],
    (1024, 1024),
);

fn cosines(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (u, v, bx, by) = vars!(u, v, bx, by);
    let (input, basis) = (ImageParam::new("input", I16, 2), ImageParam::new("basis", F32, 2));
    let (k, l) = (RDom::named("k", [(0, 8)]), RDom::named("l", [(0, 8)]));
    let (mut rows, mut output) = (Func::new("rows"), Func::new("output"));
    rows[(u, v, bx, by)] = cast::<f32>(0);
    rows[(u, v, bx, by)] += basis[(u, k.x)] * cast::<f32>(input[(8 * bx + k.x, 8 * by + v)]);
    output[(u, v, bx, by)] = cast::<f32>(0);
    output[(u, v, bx, by)] += basis[(v, l.x)] * rows[(u, l.x, bx, by)];
    Pipeline::new([&output])
}

/// Hadamard transforms of eight pixels in a row.
pub(super) const HADAMARD: App = untuned(
    "hadamard",
    "Hadamard transforms of eight i16 in a row, in three passes",
    plain!("hadamard"),
    hadamard,
    |_, width, height| vec![Input::pixels("input", I16, &[width, height], White::At(255))],
    |_, width, height| vec![8, width / 8, height],
    (2048, 1024),
);

fn hadamard(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (k, b, y) = vars!(k, b, y);
    let input = ImageParam::new("input", I16, 2);
    let mut before = Func::new("pass0");
    before[(k, b, y)] = input[(8 * b + k, y)];
    for (step, name) in [(1, "pass1"), (2, "pass2"), (4, "output")] {
        let mut after = Func::new(name);
        // The first of each pair is the sum of both, the second the difference.
        let is_first = (k / step % 2).eq(0);
        let other = |distance: i32| before[(clamp(k + distance, 0, 7), b, y)];
        after[(k, b, y)] = select(is_first, other(0) + other(step), other(-step) - other(0));
        before = after;
    }
    before.output().dim(1).set_stride(8);
    Pipeline::new([&before])
}
