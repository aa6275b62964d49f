//! Non-local means (Buades, Coll and Morel 2005): a pixel becomes the mean of those around it, of which those count
//! most whose neighbourhoods are like its own.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// Width and height of the neighbourhoods that are compared.
const PATCH: i32 = 7;
/// Width and height of the area in which they are looked for.
const SEARCH: i32 = 7;

/// The app.
pub const APP: App = App {
    name: "nl_means",
    about: "non-local means denoising of f32 RGB, 7x7 patches within 7x7 pixels",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/nl_means": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm. Parameter: `sigma`, how unlike neighbourhoods may be.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c, dx, dy) = vars!(x, y, c, dx, dy);
    let input = ImageParam::new("input", F32, 3);
    let sigma = Param::<f32>::new("sigma").with_default(0.12).with_range(0.001, 10.0);
    let clamped = repeat_edge(&input);

    // How unlike pixels at a distance (dx, dy) are, and then their neighbourhoods.
    let (mut d, mut d_y, mut d_xy) = (Func::new("d"), Func::new("d_y"), Func::new("d_xy"));
    let difference = |c: i32| clamped[(x, y, c)] - clamped[(x + dx, y + dy, c)];
    let square = |e: Expr| e * e;
    d[(x, y, dx, dy)] = square(difference(0)) + square(difference(1)) + square(difference(2));
    let over_patch =
        |of: &dyn Fn(i32) -> Expr| (1 - PATCH / 2..=PATCH / 2).fold(of(-(PATCH / 2)), |sum, i| sum + of(i));
    d_y[(x, y, dx, dy)] = over_patch(&|i| d[(x, y + i, dx, dy)]);
    d_xy[(x, y, dx, dy)] = over_patch(&|i| d_y[(x + i, y, dx, dy)]);
    let mut weight = Func::new("weight");
    weight[(x, y, dx, dy)] = fast_exp(d_xy[(x, y, dx, dy)] * (-1.0 / (sigma * sigma * (PATCH * PATCH) as f32)));

    // The sums of weighted colours, and of the weights.
    let mut mean = Func::new("mean");
    let s = RDom::named("s", [(-(SEARCH / 2), SEARCH), (-(SEARCH / 2), SEARCH)]);
    let color = select(c.lt(3), clamped[(x + s.x, y + s.y, min(c, 2))], 1f32);
    mean[(x, y, c)] = 0f32.expr();
    mean[(x, y, c)] += weight[(x, y, s.x, s.y)] * color;
    let mut output = Func::new("output");
    output[(x, y, c)] = clamp(mean[(x, y, c)] / mean[(x, y, 3)], 0.0, 1.0);
    Pipeline::new([&output])
}
