//! The Mandelbrot set, each point shaded by how soon it escapes.

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Setting, Settings, Shows, Takes};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "mandelbrot",
    about: "escape times of the Mandelbrot set as u8; loops end as points escape",
    settings: &[Setting { name: "view", values: &["whole", "valley"] }],
    takes: Takes::Nothing,
    shows: Shows::Full(255),
    schedules: schedules!["schedules/mandelbrot": cpu, rows, root, gpu],
    pipeline,
    inputs: |_, _, _| Vec::new(),
    output: plane,
    size: (1536, 1024),
    operations: None,
};

/// The algorithm. Parameters: the point at the upper left, the distance of neighbours, and the number of steps after
/// which a point counts as one of the set.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (left, top, step) = match settings.get("view") {
        "valley" => (-0.749, 0.095, 1e-4),
        _ => (-2.0, -1.0, 1.0 / 512.0),
    };
    let left = Param::<f32>::new("left").with_default(left);
    let top = Param::<f32>::new("top").with_default(top);
    let step = Param::<f32>::new("step").with_default(step);
    let steps = Param::<i32>::new("steps").with_default(256).with_range(1, 1 << 20);

    let (x, y) = vars!(x, y);
    let (mut z, mut output) = (Func::new("z"), Func::new("output"));
    let (real, imaginary) = (left + cast::<f32>(x) * step, top + cast::<f32>(y) * step);
    z[(x, y)] = tuple([0.0f32.expr(), 0.0f32.expr(), 0.expr()]);
    let r = RDom::named("r", [(0.expr(), steps.expr())]);
    let (re, im) = (z[(x, y)].at(0), z[(x, y)].at(1));
    r.where_((re * re + im * im).le(4.0f32));
    z[(x, y)] = tuple([re * re - im * im + real, re * im * 2.0f32 + imaginary, r.x + 1]);

    let escaped = z[(x, y)].at(2);
    output[(x, y)] = cast::<u8>(select(escaped.eq(steps), 0, escaped * 8 % 224 + 32));
    Pipeline::new([&output])
}
