//! Sums of all numbers up to each: a prefix scan.

use halide::prelude::*;
use halide_tool::app::{App, Setting, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "cumsum",
    about: "sums of the first 1, 2, 3 ... of width times height numbers of f32, f64 or i32",
    settings: &[Setting { name: "type", values: &["f32", "f64", "i32"] }],
    takes: Takes::Nothing,
    shows: Shows::Nothing,
    schedules: schedules!["schedules/cumsum": cpu, lanes, root],
    pipeline,
    inputs: |settings, width, height| vec![Input::pixels("input", element(settings), &[width * height], White::At(1))],
    output: |_, width, height| vec![width * height],
    size: (4000, 2500),
    operations: Some(|_| 1),
};

fn element(settings: &Settings) -> ScalarType {
    match settings.get("type") {
        "f64" => F64,
        "i32" => I32,
        _ => F32,
    }
}

/// The algorithm.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let input = ImageParam::new("input", element(settings), 1);
    let (x, mut output) = (vars!(x), Func::new("output"));
    output[x] = match element(settings) {
        F64 => undef::<f64>(),
        I32 => undef::<i32>(),
        _ => undef::<f32>(),
    };
    output[0] = input[0];
    let r = RDom::named("r", [(1.expr(), input.width() - 1)]);
    output[r.x] = output[r.x - 1] + input[r.x];
    // Chunks of the scan are then tiles of the output.
    output.output().dim(0).set_min(0);
    Pipeline::new([&output])
}
