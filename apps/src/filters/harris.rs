//! Harris corners: how much brightness changes in every direction around a pixel.

use super::{framed, gray, plane};
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "harris",
    about: "Harris corner response of f32 RGB",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Signed,
    schedules: schedules!["schedules/harris": cpu, root],
    pipeline,
    inputs: |settings, width, height| {
        let more = settings.border(6);
        vec![Input::pixels("input", F32, &[width + more, height + more, 3], White::At(1))]
    },
    output: plane,
    size: (1530, 2554),
    operations: None,
};

/// The algorithm.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", F32, 3);
    let gray = gray(&framed(&input, settings.edges, 3));

    // Slopes by Sobel's filter.
    let (mut slope_x, mut slope_y) = (Func::new("slope_x"), Func::new("slope_y"));
    let smooth = |a: Expr, b: Expr, c: Expr| a * (1.0 / 12.0) + b * (2.0 / 12.0) + c * (1.0 / 12.0);
    let at = |dx: i32, dy: i32| gray[(x + dx, y + dy)];
    let column = |dx| smooth(at(dx, -1), at(dx, 0), at(dx, 1));
    let row = |dy| smooth(at(-1, dy), at(0, dy), at(1, dy));
    slope_x[(x, y)] = column(1) - column(-1);
    slope_y[(x, y)] = row(1) - row(-1);

    // Their products, summed over 3 x 3 pixels.
    let sum = |a: &Func, b: &Func| {
        let product = |dx, dy| a[(x + dx, y + dy)] * b[(x + dx, y + dy)];
        let all = (-1..=1).flat_map(|dy| (-1..=1).map(move |dx| (dx, dy)));
        all.map(|(dx, dy)| product(dx, dy)).reduce(|a, b| a + b).unwrap_or_else(|| 0f32.expr())
    };
    let (xx, yy, xy) = (sum(&slope_x, &slope_x), sum(&slope_y, &slope_y), sum(&slope_x, &slope_y));

    let mut output = Func::new("output");
    let trace = xx + yy;
    output[(x, y)] = xx * yy - xy * xy - 0.04 * trace * trace;
    Pipeline::new([&output])
}
