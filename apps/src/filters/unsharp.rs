//! Unsharp mask: brightness is moved away from its Gaussian blur, and colours keep their proportions.

use super::{gray, rgb};
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "unsharp",
    about: "unsharp mask of f32 RGB with a 7x7 Gaussian",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/unsharp": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm. Parameter: `sigma` of the Gaussian.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let input = ImageParam::new("input", F32, 3);
    let sigma = Param::<f32>::new("sigma").with_default(1.5).with_range(0.1, 100.0);

    let mut kernel = Func::new("kernel");
    let distance = cast::<f32>(x);
    kernel[x] = exp(-distance * distance / (2.0 * sigma * sigma)) / (std::f32::consts::TAU.sqrt() * sigma);

    let clamped = repeat_edge(&input);
    let gray = gray(&clamped);
    let (mut blur_y, mut blur) = (Func::new("blur_y"), Func::new("blur"));
    let weighted =
        |at: &dyn Fn(i32) -> Expr| (1..4).fold(kernel[0] * at(0), |sum, i| sum + kernel[i] * (at(-i) + at(i)));
    blur_y[(x, y)] = weighted(&|i| gray[(x, y + i)]);
    blur[(x, y)] = weighted(&|i| blur_y[(x + i, y)]);

    let (mut ratio, mut output) = (Func::new("ratio"), Func::new("output"));
    ratio[(x, y)] = (2.0 * gray[(x, y)] - blur[(x, y)]) / gray[(x, y)];
    output[(x, y, c)] = ratio[(x, y)] * clamped[(x, y, c)];
    Pipeline::new([&output])
}
