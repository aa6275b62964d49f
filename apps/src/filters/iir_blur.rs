//! A recursive blur: every pixel is mixed with the one before it, down and up the columns, then along the rows.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "iir_blur",
    about: "recursive blur of f32 RGB in four passes",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/iir_blur": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm. Parameter: `alpha`, how much of a pixel is its own.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let input = ImageParam::new("input", F32, 3);
    let alpha = Param::<f32>::new("alpha").with_default(0.1).with_range(0.0, 1.0);
    let mut source = Func::new("source");
    source[(x, y, c)] = input[(x, y, c)];

    let columns = blur_columns("columns", &source, input.height(), alpha);
    let rows = blur_columns("rows", &columns, input.width(), alpha);
    let mut output = Func::new("output");
    output[(x, y, c)] = rows[(x, y, c)];
    Pipeline::new([&output])
}

/// `f` blurred along y, where it has `height` lines from 0 on, down and up again; the result is transposed. The blur is
/// the Func `NAME_blur`, what is transposed `NAME`.
fn blur_columns(name: &str, f: &Func, height: Expr, alpha: Param<f32>) -> Func {
    let (x, y, c) = vars!(x, y, c);
    let mut blur = Func::new(format!("{name}_blur"));
    blur[(x, y, c)] = undef::<f32>();
    blur[(x, 0, c)] = f[(x, 0, c)];
    let down = RDom::named("down", [(1.expr(), height - 1)]);
    blur[(x, down.x, c)] = (1.0 - alpha) * blur[(x, down.x - 1, c)] + alpha * f[(x, down.x, c)];
    let up = RDom::named("up", [(1.expr(), height - 1)]);
    let line = height - 1 - up.x;
    blur[(x, line, c)] = (1.0 - alpha) * blur[(x, line + 1, c)] + alpha * blur[(x, line, c)];

    let mut transposed = Func::new(name);
    transposed[(x, y, c)] = blur[(y, x, c)];
    transposed
}
