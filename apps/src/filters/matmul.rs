//! The product of two matrices.

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Setting, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "matmul",
    about: "product of matrices of f32 or f64; the size is that of the product, whose width is also the length of the sums",
    settings: &[Setting { name: "type", values: &["f32", "f64"] }],
    takes: Takes::Nothing,
    shows: Shows::Nothing,
    schedules: schedules!["schedules/matmul": cpu, cpu_avx2, strict, root],
    pipeline,
    inputs: |settings, width, height| {
        let matrix = |name, extents: [i64; 2]| Input::pixels(name, element(settings), &extents, White::At(1));
        vec![matrix("a", [width, height]), matrix("b", [width, width])]
    },
    output: plane,
    size: (1024, 1024),
    // A product and a sum for each element of a row of `a`, which is as long as one of the output.
    operations: Some(|extents| 2 * extents[0]),
};

fn element(settings: &Settings) -> ScalarType {
    if settings.get("type") == "f64" { F64 } else { F32 }
}

/// The algorithm: row y of `a` by column x of `b`.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let (a, b) = (ImageParam::new("a", element(settings), 2), ImageParam::new("b", element(settings), 2));
    let k = RDom::named("k", [(0.expr(), a.width())]);
    let (mut product, mut output) = (Func::new("product"), Func::new("output"));
    product[(x, y)] = cast_to(element(settings), 0);
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    output[(x, y)] = product[(x, y)];
    Pipeline::new([&output])
}
