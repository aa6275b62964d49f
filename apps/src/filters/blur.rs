//! A 3x3 box blur of 16-bit values in two passes: the smallest pipeline in which the schedule matters.

use super::{framed, plane};
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "blur",
    about: "3x3 box blur of u16 values in two passes",
    settings: &[],
    takes: Takes::EachChannel,
    shows: Shows::AsInput,
    schedules: schedules![
        "schedules/blur": columns, columns_avx2, strips, tiles, sliding_window, full_fusion, breadth_first, root,
        gpu, gpu_words, gpu_tiles, gpu_slide, gpu_inline
    ],
    pipeline,
    inputs: |settings, width, height| {
        let more = settings.border(2);
        vec![Input::pixels("input", U16, &[width + more, height + more], White::AtMost(SUMMED))]
    },
    output: plane,
    size: (6400, 4800),
    operations: None,
};

/// The largest value of which three fit in 16 bits: an image that is brighter is scaled to it.
const SUMMED: u32 = 65535 / 3;

/// The algorithm. Sums wrap: values above 21845 overflow 16 bits.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U16, 2);
    let image = framed(&input, settings.edges, 0);

    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (image[(x, y)] + image[(x + 1, y)] + image[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;

    Pipeline::new([&blur_y])
}
