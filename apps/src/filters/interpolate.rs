//! Colours for pixels that have none: where alpha is 0, what coarser levels of a pyramid have is shown.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, Picture, White};
use halide_tool::schedules;

/// Levels of the pyramid that the app uses.
pub const LEVELS: usize = 10;

/// The level that reads no more of the one before than there is of the image.
const KEPT_LEVEL: usize = 4;

/// The app.
pub const APP: App = App {
    name: "interpolate",
    about: "fills the transparent parts of f32 RGBA on 10 pyramid levels",
    settings: &[],
    takes: Takes::Rgba,
    shows: Shows::Full(1),
    schedules: schedules!["schedules/interpolate": cpu, root],
    pipeline: |_: &Settings| pipeline(LEVELS),
    inputs: |_, width, height| {
        let pixels = Input::pixels("input", F32, &[width, height, 4], White::At(1));
        let holes = |picture: &Picture| {
            (!picture.has(ALPHA as usize)).then_some("pixels of which one of four is missing, and is filled")
        };
        vec![Input { of_picture: with_holes, taken_as: holes, ..pixels }]
    },
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The picture; one without alpha gets holes, so that there is something to fill: one of four pixels has no colour.
fn with_holes(picture: &Picture, at: &[i32]) -> f32 {
    let (x, y, c) = (at[0], at[1], at[2]);
    let is_hole = c == ALPHA && !picture.has(ALPHA as usize) && scattered(x, y).is_multiple_of(4);
    if is_hole { 0.0 } else { picture.at(x, y, c) }
}

/// The number of the channel that says how much of a pixel there is.
const ALPHA: i32 = 3;

/// A number for each pixel, without a pattern: the last step of splitmix64.
fn scattered(x: i32, y: i32) -> u64 {
    let z = (x as u32 as u64) << 32 | y as u32 as u64;
    let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// The algorithm on this many levels, at least 1.
pub fn pipeline(levels: usize) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let input = ImageParam::new("input", F32, 3);
    let clamped = repeat_edge(&input);

    // Colours times alpha, and alpha itself: what is transparent counts for nothing.
    let mut down = vec![Func::new("down0")];
    let alpha = clamped[(x, y, 3)];
    down[0][(x, y, c)] = select(c.lt(3), clamped[(x, y, c)] * alpha, alpha);
    for level in 1..levels {
        let mut previous = &down[level - 1];
        // Coarse levels reach far beyond the image; from here on that is no longer computed on the finer ones.
        let edge = |size: Expr| bounds(0, size / (1 << (level - 1)) + 1);
        let kept = repeat_edge_in(previous, &[edge(input.width()), edge(input.height())]);
        if level == KEPT_LEVEL {
            previous = &kept;
        }
        let (mut in_x, mut next) = (Func::new(format!("down{level}_x")), Func::new(format!("down{level}")));
        in_x[(x, y, c)] =
            (previous[(x * 2 - 1, y, c)] + 2.0 * previous[(x * 2, y, c)] + previous[(x * 2 + 1, y, c)]) * 0.25;
        next[(x, y, c)] = (in_x[(x, y * 2 - 1, c)] + 2.0 * in_x[(x, y * 2, c)] + in_x[(x, y * 2 + 1, c)]) * 0.25;
        down.push(next);
    }

    // From the coarsest level on: what a level lacks, the next coarser one gives.
    let mut filled = Func::new(format!("filled{}", levels - 1));
    filled[(x, y, c)] = down[levels - 1][(x, y, c)];
    for level in (0..levels - 1).rev() {
        let (mut up_x, mut up) = (Func::new(format!("up{level}_x")), Func::new(format!("up{level}")));
        up_x[(x, y, c)] = (filled[(x / 2, y, c)] + filled[((x + 1) / 2, y, c)]) / 2.0;
        up[(x, y, c)] = (up_x[(x, y / 2, c)] + up_x[(x, (y + 1) / 2, c)]) / 2.0;
        let mut next = Func::new(format!("filled{level}"));
        let here = &down[level];
        next[(x, y, c)] = here[(x, y, c)] + (1.0 - here[(x, y, 3)]) * up[(x, y, c)];
        filled = next;
    }

    let mut output = Func::new("output");
    output[(x, y, c)] = filled[(x, y, c)] / filled[(x, y, 3)];
    Pipeline::new([&output])
}
