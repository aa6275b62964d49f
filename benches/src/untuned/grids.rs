//! Many stages over one grid.

use super::case::{plain, total, untuned};
use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings};
use halide_apps::input::{Input, White};

/// The motion between two images by least squares in windows of 5 x 5 pixels (Lucas and Kanade, 1981).
pub(super) const FLOW: App = untuned(
    "flow",
    "motion between two planes of f32 by least squares in 5x5 windows",
    plain!("flow"),
    flow,
    |_, width, height| {
        let image = |name| Input::pixels(name, F32, &[width + 6, height + 6], White::At(1));
        vec![image("first"), image("second")]
    },
    |_, width, height| vec![width, height, 2],
    (1024, 768),
);

fn flow(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let (first, second) = (ImageParam::new("first", F32, 2), ImageParam::new("second", F32, 2));
    let (mut dx, mut dy, mut dt) = (Func::new("dx"), Func::new("dy"), Func::new("dt"));
    dx[(x, y)] = (first[(x + 2, y + 1)] - first[(x, y + 1)]) * 0.5;
    dy[(x, y)] = (first[(x + 1, y + 2)] - first[(x + 1, y)]) * 0.5;
    dt[(x, y)] = second[(x + 1, y + 1)] - first[(x + 1, y + 1)];
    let window = |name: &str, a: &Func, b: &Func| {
        let (mut columns, mut sums) = (Func::new(format!("{name}_columns")), Func::new(name));
        columns[(x, y)] = total((0..5).map(|k| a[(x, y + k)] * b[(x, y + k)]));
        sums[(x, y)] = total((0..5).map(|k| columns[(x + k, y)]));
        sums
    };
    let (xx, xy, yy) = (window("xx", &dx, &dx), window("xy", &dx, &dy), window("yy", &dy, &dy));
    let (xt, yt) = (window("xt", &dx, &dt), window("yt", &dy, &dt));
    let at = |f: &Func| f[(x, y)];
    let mut output = Func::new("output");
    // More than nothing, so that even places stay at rest.
    let scale: Expr = 1.0 / (at(&xx) * at(&yy) - at(&xy) * at(&xy) + 0.0001);
    let right = (at(&xy) * at(&yt) - at(&yy) * at(&xt)) * scale;
    let down = (at(&xy) * at(&xt) - at(&xx) * at(&yt)) * scale;
    output[(x, y, c)] = select(c.eq(0), right, down);
    Pipeline::new([&output])
}

/// Directions of slopes.
const DIRECTIONS: i64 = 9;

/// Histograms of slopes by direction, in cells of 8 x 8 pixels (Dalal and Triggs, 2005).
pub(super) const GRADIENTS: App = untuned(
    "gradients",
    "histograms of slopes by nine directions in 8x8 cells of a plane of u8",
    plain!("gradients"),
    gradients,
    |_, width, height| vec![Input::pixels("input", U8, &[width + 2, height + 2], White::At(255))],
    |_, width, height| vec![DIRECTIONS, width / 8, height / 8],
    (1024, 1024),
);

fn gradients(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, bin) = vars!(x, y, bin);
    let input = ImageParam::new("input", U8, 2);
    let (mut slope, mut strength, mut direction) = (Func::new("slope"), Func::new("strength"), Func::new("direction"));
    let at = |dx: i32, dy: i32| cast::<f32>(input[(x + dx, y + dy)]);
    let down = at(1, 2) - at(1, 0);
    let right = at(2, 1) - at(0, 1);
    // Opposite directions are one.
    let sign = select(down.lt(0.0), -1f32, 1f32);
    slope[(x, y)] = tuple([right * sign, down * sign]);
    let (right, down) = (slope[(x, y)].at(0), slope[(x, y)].at(1));
    strength[(x, y)] = sqrt(right * right + down * down);
    let beyond = |k: i64| {
        let angle = k as f32 * std::f32::consts::PI / DIRECTIONS as f32;
        cast::<u8>((down * angle.cos() - right * angle.sin()).ge(0.0))
    };
    direction[(x, y)] = total((1..DIRECTIONS).map(beyond));
    let r = RDom::named("r", [(0, 8), (0, 8)]);
    let mut output = Func::new("output");
    output[(bin, x, y)] = cast::<f32>(0);
    let (px, py): (Expr, Expr) = (8 * x + r.x, 8 * y + r.y);
    let which = clamp(cast::<i32>(direction[(px, py)]), 0, DIRECTIONS as i32 - 1);
    output[(which, x, y)] += strength[(px, py)];
    Pipeline::new([&output])
}
