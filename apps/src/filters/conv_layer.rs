//! A layer of a neural network: 3 x 3 convolution of many channels, with bias, and negative values cut off.

use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The number of images, and the number of channels that come in and go out.
const IMAGES: i64 = 5;
const CHANNELS: i64 = 128;

/// The app.
pub const APP: App = App {
    name: "conv_layer",
    about: "3x3 convolution of 5 images of 128 to 128 channels of f32, with bias and ReLU",
    settings: &[],
    takes: Takes::Nothing,
    shows: Shows::Nothing,
    schedules: schedules!["schedules/conv_layer": cpu, cpu_avx2, root],
    pipeline,
    inputs: |_, width, height| {
        let numbers = |name, extents: &[i64]| Input::pixels(name, F32, extents, White::At(1));
        vec![
            numbers("input", &[CHANNELS, width + 2, height + 2, IMAGES]),
            numbers("filter", &[CHANNELS, 3, 3, CHANNELS]),
            numbers("bias", &[CHANNELS]),
        ]
    },
    output: |_, width, height| vec![CHANNELS, width, height, IMAGES],
    size: (100, 80),
    // A product and a sum for each tap of each channel.
    operations: Some(|_| 2 * 3 * 3 * CHANNELS),
};

/// The algorithm. The dimensions of `input` are channel, x, y and image, those of `filter` output channel, x, y and
/// input channel.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (c, x, y, n) = vars!(c, x, y, n);
    let (input, filter) = (ImageParam::new("input", F32, 4), ImageParam::new("filter", F32, 4));
    let bias = ImageParam::new("bias", F32, 1);
    let r = RDom::new([(0.expr(), input.dim(0).extent()), (0.expr(), 3.expr()), (0.expr(), 3.expr())]);

    let (mut conv, mut output) = (Func::new("conv"), Func::new("output"));
    conv[(c, x, y, n)] = bias[c];
    conv[(c, x, y, n)] += filter[(c, r.y, r.z, r.x)] * input[(r.x, x + r.y, y + r.z, n)];
    output[(c, x, y, n)] = max(conv[(c, x, y, n)], 0.0);
    Pipeline::new([&output])
}
