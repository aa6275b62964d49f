//! The algorithms, a file each.

pub mod bilateral_grid;
pub mod blur;
pub mod box_filter;
pub mod camera_pipe;
pub mod cg_step;
pub mod collatz;
pub mod conv_layer;
pub mod cumsum;
pub mod features;
pub mod harris;
pub mod hist;
pub mod iir_blur;
pub mod interpolate;
pub mod lens_blur;
pub mod local_laplacian;
pub mod mandelbrot;
pub mod matmul;
pub mod max_filter;
pub mod nl_means;
pub mod resize;
pub mod stencil_chain;
pub mod unsharp;

use halide::prelude::*;
use halide_tool::app::{Edges, Settings};

/// `input` with `border` more pixels on each side than the output: in the middle of them is the point (0, 0). With
/// [`Edges::Repeat`] the input has no border, and its nearest pixel is read there.
pub(crate) fn framed(input: &ImageParam, edges: Edges, border: i32) -> Func {
    if edges == Edges::Repeat {
        return repeat_edge(input);
    }
    let (x, y, c) = vars!(x, y, c);
    let mut inside = Func::new("inside");
    match input.dims() {
        2 => inside[(x, y)] = input[(x + border, y + border)],
        _ => inside[(x, y, c)] = input[(x + border, y + border, c)],
    }
    inside
}

/// The brightness of the RGB image `f`, as the Func `gray`.
pub(crate) fn gray(f: &Func) -> Func {
    let (x, y) = vars!(x, y);
    let mut gray = Func::new("gray");
    gray[(x, y)] = 0.299 * f[(x, y, 0)] + 0.587 * f[(x, y, 1)] + 0.114 * f[(x, y, 2)];
    gray
}

/// An output of one plane.
pub(crate) fn plane(_: &Settings, width: i64, height: i64) -> Vec<i64> {
    vec![width, height]
}

/// An output of red, green and blue.
pub(crate) fn rgb(_: &Settings, width: i64, height: i64) -> Vec<i64> {
    vec![width, height, 3]
}
