//! A blur in two passes: means of three neighbours across, and of three of these down.

use halide::prelude::*;

/// The pipeline.
pub fn algorithm() -> Result<Pipeline, Error> {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Ok(Pipeline::new([&blur_y])?)
}
