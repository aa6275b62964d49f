//! Maximum over a disc. Every column of the disc is two windows of a power of two lines, whose maxima come from those
//! of half as many.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// Radius of the disc in pixels.
pub const RADIUS: i32 = 26;

/// The app.
pub const APP: App = App {
    name: "max_filter",
    about: "maximum of f32 RGB over a disc of radius 26",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/max_filter": cpu, root],
    pipeline: |_: &Settings| pipeline(RADIUS),
    inputs: |_, width, height| vec![Input::pixels("input", F32, &[width, height, 3], White::At(1))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm for a disc of this radius, at least 1.
pub fn pipeline(radius: i32) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let input = ImageParam::new("input", F32, 3);

    // down2, down4, ...: the maximum of so many lines from y on.
    let mut down = vec![repeat_edge(&input)];
    while (2 << (down.len() - 1)) <= 2 * radius + 1 {
        let (half, lines) = (&down[down.len() - 1], 1 << down.len());
        let mut next = Func::new(format!("down{lines}"));
        next[(x, y, c)] = max(half[(x, y, c)], half[(x, y + lines / 2, c)]);
        down.push(next);
    }

    // The column of the disc at each distance, of which two windows that overlap cover all lines.
    let column = |dx: i32| {
        let high = half_height(radius, dx);
        let lines = 2 * high + 1;
        let step = lines.ilog2() as usize;
        max(down[step][(x + dx, y - high, c)], down[step][(x + dx, y + high + 1 - (1 << step), c)])
    };
    let mut output = Func::new("output");
    output[(x, y, c)] = (1 - radius..=radius).fold(column(-radius), |most, dx| max(most, column(dx)));
    Pipeline::new([&output])
}

/// Returns the number of lines that the disc reaches above the middle, at a distance of `dx` columns from that.
pub fn half_height(radius: i32, dx: i32) -> i32 {
    let within = |dy: i32| f64::from(dx * dx + dy * dy) < (f64::from(radius) + 0.25).powi(2);
    (0..=radius).take_while(|&dy| within(dy)).count() as i32 - 1
}
