//! Bilateral grid (Chen, Paris and Durand 2007): a blur that keeps edges. Pixels are gathered in a coarse grid of place
//! and brightness, the grid is blurred, and every pixel reads it at its own brightness.

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// Pixels per cell of the grid, in each direction.
const CELL: i32 = 8;

/// The app.
pub const APP: App = App {
    name: "bilateral_grid",
    about: "edge-preserving blur of f32 grey on a grid of 8 x 8 pixels",
    settings: &[],
    takes: Takes::EachChannel,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/bilateral_grid": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height], White::At(1))],
    output: plane,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm. Parameter: `r_sigma`, what difference of brightness is an edge.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, z, c) = vars!(x, y, z, c);
    let input = ImageParam::new("input", F32, 2);
    let r_sigma = Param::<f32>::new("r_sigma").with_default(0.1).with_range(0.01, 1.0);
    let clamped = repeat_edge(&input);

    // In each cell of the grid the sum of its pixels, and how many there are.
    let mut histogram = Func::new("histogram");
    let r = RDom::new([(0, CELL), (0, CELL)]);
    let pixel = clamp(clamped[(x * CELL + r.x - CELL / 2, y * CELL + r.y - CELL / 2)], 0.0, 1.0);
    let level = cast::<i32>(pixel * (1.0 / r_sigma) + 0.5);
    histogram[(x, y, z, c)] = 0f32.expr();
    histogram[(x, y, level, c)] += mux(c, [pixel, 1f32.expr()]);

    // The grid blurred along each of its three directions by [1 4 6 4 1].
    let weighted = |at: &dyn Fn(i32) -> Expr| at(-2) + at(-1) * 4.0 + at(0) * 6.0 + at(1) * 4.0 + at(2);
    let (mut blur_z, mut blur_x, mut blur_y) = (Func::new("blur_z"), Func::new("blur_x"), Func::new("blur_y"));
    blur_z[(x, y, z, c)] = weighted(&|i| histogram[(x, y, z + i, c)]);
    blur_x[(x, y, z, c)] = weighted(&|i| blur_z[(x + i, y, z, c)]);
    blur_y[(x, y, z, c)] = weighted(&|i| blur_x[(x, y + i, z, c)]);

    // The grid between its eight cells around a pixel.
    let place = clamp(input[(x, y)], 0.0, 1.0) * (1.0 / r_sigma);
    let low = cast::<i32>(place);
    let (part_z, part) = (place - cast::<f32>(low), |v: Var| cast::<f32>(v % CELL) / CELL as f32);
    let (px, py) = (x / CELL, y / CELL);
    let mut interpolated = Func::new("interpolated");
    let row = |dy: i32, dz: i32| {
        let at = |dx: i32| blur_y[(px + dx, py + dy, low + dz, c)];
        lerp(at(0), at(1), part(x))
    };
    let layer = |dz: i32| lerp(row(0, dz), row(1, dz), part(y));
    interpolated[(x, y, c)] = lerp(layer(0), layer(1), part_z);

    let mut output = Func::new("output");
    output[(x, y)] = interpolated[(x, y, 0)] / interpolated[(x, y, 1)];
    Pipeline::new([&output])
}
