//! Another size of an image, by one of four filters: along y, then along x.

use crate::app::{App, Edges, Setting, Settings, Shows, Takes, schedules};
use crate::input::{Input, White};
use halide::prelude::*;

/// The app.
pub const APP: App = App {
    name: "resize",
    about: "resizes RGB of u8, u16 or f32",
    settings: &[
        Setting { name: "filter", values: &["cubic", "box", "linear", "lanczos"] },
        Setting { name: "type", values: &["f32", "u8", "u16"] },
        Setting { name: "scale", values: &["1/2", "1/3", "3/4", "4/3", "2"] },
    ],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["resize": cpu, root],
    pipeline,
    inputs: |settings, width, height| {
        let (up, down) = scale(settings);
        // With a border, the input is that of which the output is the scaled image.
        let size = |n: i64| if settings.edges == Edges::Inside { (n * down + up - 1) / up } else { n };
        vec![Input::pixels("input", element(settings), &[size(width), size(height), 3], White::At(white(settings)))]
    },
    output: |settings, width, height| {
        let (up, down) = scale(settings);
        let size = |n: i64| if settings.edges == Edges::Repeat { ((2 * n * up + down) / (2 * down)).max(1) } else { n };
        vec![size(width), size(height), 3]
    },
    size: (768, 1280),
};

fn element(settings: &Settings) -> ScalarType {
    match settings.get("type") {
        "u8" => U8,
        "u16" => U16,
        _ => F32,
    }
}

fn white(settings: &Settings) -> u32 {
    match element(settings) {
        U8 => 255,
        U16 => 65535,
        _ => 1,
    }
}

/// Numerator and denominator of the factor.
fn scale(settings: &Settings) -> (i64, i64) {
    let (up, down) = settings.get("scale").split_once('/').unwrap_or((settings.get("scale"), "1"));
    let number = |text: &str| text.parse().unwrap_or(1);
    (number(up), number(down))
}

/// How far a filter reaches, and its value at a distance.
fn filter(name: &str, distance: Expr) -> (f32, Expr) {
    let x = max(distance, -distance);
    let (x2, x3) = (x * x, x * x * x);
    match name {
        "box" => (0.5, select(x.le(0.5), 1f32, 0f32)),
        "linear" => (1.0, max(1.0 - x, 0.0)),
        "lanczos" => {
            let sinc = |x: Expr| sin(x * std::f32::consts::PI) / (x * std::f32::consts::PI);
            (3.0, select(x.lt(1e-6), 1f32, select(x.lt(3.0), sinc(x) * sinc(x / 3.0), 0f32)))
        }
        _ => {
            let (near, far) = (1.5 * x3 - 2.5 * x2 + 1.0, -0.5 * x3 + 2.5 * x2 - 4.0 * x + 2.0);
            (2.0, select(x.lt(1.0), near, select(x.lt(2.0), far, 0f32)))
        }
    }
}

/// The algorithm.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c, i, k) = vars!(x, y, c, i, k);
    let input = ImageParam::new("input", element(settings), 3);
    let (up, down) = scale(settings);
    let scale = up as f32 / down as f32;
    // A filter is wider where pixels of the input are closer together than those of the output.
    let wider = (1.0 / scale).max(1.0);
    let radius = filter(settings.get("filter"), 0f32.expr()).0 * wider;
    let taps = (2.0 * radius).ceil() as i32;

    // Where pixel i of the output lies in the input, and the first pixel there that counts for it.
    let center = |i: Expr| (cast::<f32>(i) + 0.5) / scale - 0.5;
    let first = |i: Expr| cast::<i32>(ceil(center(i) - radius));
    let (mut kernel, mut weight) = (Func::new("kernel"), Func::new("weight"));
    let r = RDom::new([(0, taps)]);
    let distance = cast::<f32>(first(i.expr()) + k) - center(i.expr());
    kernel[(i, k)] = filter(settings.get("filter"), distance / wider).1;
    weight[(i, k)] = kernel[(i, k)] / sum(kernel[(i, r.x)]);

    let clamped = repeat_edge(&input);
    let (mut resized_y, mut resized_x) = (Func::new("resized_y"), Func::new("resized_x"));
    let value = |x: Expr, y: Expr| cast::<f32>(clamped[(x, y, c.expr())]);
    let terms = |of: &dyn Fn(i32) -> Expr| (1..taps).fold(of(0), |sum, k| sum + of(k));
    resized_y[(x, y, c)] = terms(&|k| weight[(y, k)] * value(x.expr(), first(y.expr()) + k));
    resized_x[(x, y, c)] = terms(&|k| weight[(x, k)] * resized_y[(first(x.expr()) + k, y.expr(), c.expr())]);

    let mut output = Func::new("output");
    output[(x, y, c)] = match element(settings) {
        F32 => resized_x[(x, y, c)],
        U8 => saturating_cast::<u8>(resized_x[(x, y, c)] + 0.5),
        _ => saturating_cast::<u16>(resized_x[(x, y, c)] + 0.5),
    };
    Pipeline::new([&output])
}
