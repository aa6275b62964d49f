//! A step of the method of conjugate gradients for Poisson's equation on a grid: five points, and nothing beyond.

use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "cg_step",
    about: "a step of conjugate gradients on a grid of f32: solution, residual and direction, planes 0, 1 and 2",
    settings: &[],
    takes: Takes::Nothing,
    shows: Shows::Nothing,
    schedules: schedules!["schedules/cg_step": cpu, apart, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: |_, width, height| vec![width, height, 3],
    size: (2048, 2048),
    operations: None,
};

/// The algorithm.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let input = ImageParam::new("input", F32, 3);
    let (mut product, mut residual, mut output) = (Func::new("product"), Func::new("residual"), Func::new("output"));
    // The grid is surrounded by zeros.
    let edges = constant_exterior(&input, 0.0);
    let around = |dx: i32, dy: i32| edges[(x + dx, y + dy, 2)];
    product[(x, y)] = 4.0 * around(0, 0) - around(-1, 0) - around(1, 0) - around(0, -1) - around(0, 1);

    let r = RDom::named("r", [(0.expr(), input.width()), (0.expr(), input.height())]);
    let (mut curvature, mut before, mut after) = (Func::new("curvature"), Func::new("before"), Func::new("after"));
    curvature[()] = 0.0f32.expr();
    curvature[()] += input[(r.x, r.y, 2)] * product[(r.x, r.y)];
    let square = |e: Expr| e * e;
    before[()] = 0.0f32.expr();
    before[()] += square(input[(r.x, r.y, 1)]);
    let length = before[()] / curvature[()];
    residual[(x, y)] = input[(x, y, 1)] - length * product[(x, y)];
    after[()] = 0.0f32.expr();
    after[()] += square(residual[(r.x, r.y)]);

    let turned = residual[(x, y)] + after[()] / before[()] * input[(x, y, 2)];
    let moved = input[(x, y, 0)] + length * input[(x, y, 2)];
    output[(x, y, c)] = mux(c, [moved, residual[(x, y)], turned]);
    Pipeline::new([&output])
}
