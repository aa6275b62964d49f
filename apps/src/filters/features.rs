//! Features of an image: many channels by a 3 x 3 convolution, smoothed one by one, and back to three. One algorithm,
//! whose schedules keep the features in planes, interleaved, or in blocks.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The number of features.
const FEATURES: i32 = 32;

/// The app.
pub const APP: App = App {
    name: "features",
    about: "32 features of an f32 RGB image by a 3x3 convolution, smoothed, and summed up in three channels",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/features": blocks, planes, interleaved],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: rgb,
    size: (768, 640),
    // A product and a sum for each tap of each feature and colour, sums of 9, and a product and a sum for each colour.
    operations: Some(|_| i64::from(FEATURES) * (2 * 3 * 9 + 3 * 10 + 3 * 2)),
};

/// The algorithm. Weights are made of coordinates, since only what is stored where matters here.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (k, x, y, c) = vars!(k, x, y, c);
    let input = ImageParam::new("input", F32, 3);
    let clamped = repeat_edge(&input);

    let (mut weight, mut conv) = (Func::new("weight"), Func::new("conv"));
    weight[(k, x, y, c)] = cast::<f32>((k * 7 + x * 3 + y * 11 + c * 5) % 13 - 6) / 32.0;
    let r = RDom::named("r", [(-1, 3), (-1, 3), (0, 3)]);
    conv[(k, x, y)] = 0.0f32.expr();
    conv[(k, x, y)] += weight[(k, r.x + 1, r.y + 1, r.z)] * clamped[(x + r.x, y + r.y, r.z)];

    let (mut active, mut smooth) = (Func::new("active"), Func::new("smooth"));
    active[(k, x, y)] = max(conv[(k, x, y)], 0.0);
    let row = |y: Expr| active[(k, x - 1, y)] + active[(k, x, y)] + active[(k, x + 1, y)];
    smooth[(k, x, y)] = (row(y - 1) + row(y.expr()) + row(y + 1)) / 9.0;

    let (mut back, mut output) = (Func::new("back"), Func::new("output"));
    back[(k, c)] = cast::<f32>((k * 5 + c * 3) % 7) / 64.0;
    let s = RDom::named("s", [(0, FEATURES)]);
    output[(x, y, c)] = 0.0f32.expr();
    output[(x, y, c)] += back[(s.x, c)] * smooth[(s.x, x, y)];
    Pipeline::new([&output])
}
