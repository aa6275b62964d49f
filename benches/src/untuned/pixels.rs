//! Arithmetic of pixels: alpha of 8 and of 16 bits, and colours.

use super::case::{plain, untuned};
use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings};
use halide_apps::input::{Input, White};

/// Pixels of one image over those of another, by the alpha of the first.
pub(super) const OVER: App = untuned(
    "over",
    "RGBA of u8 over RGBA, colours multiplied by alpha, channels interleaved",
    plain!("over"),
    over,
    |_, width, height| {
        let image = |name| Input::pixels(name, U8, &[4 * width, height], White::At(255));
        vec![image("above"), image("below")]
    },
    |_, width, height| vec![4, width, height],
    (2048, 1024),
);

fn over(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (c, x, y) = vars!(c, x, y);
    let (above, below) = (ImageParam::new("above", U8, 2), ImageParam::new("below", U8, 2));
    let mut output = Func::new("output");
    let clear = cast::<u16>(255 - above[(4 * x + 3, y)]);
    let product = cast::<u16>(below[(4 * x + c, y)]) * clear + 128;
    let part = (product + (product >> 8)) >> 8;
    output[(c, x, y)] = cast::<u8>(min(cast::<u16>(above[(4 * x + c, y)]) + part, 255));
    output.output().dim(1).set_stride(4);
    Pipeline::new([&output])
}

/// Two images of u16 mixed by a third.
pub(super) const BLEND: App = untuned(
    "blend",
    "two planes of u16 mixed by a plane of u16, in u32",
    plain!("blend"),
    blend,
    |_, width, height| {
        let image = |name| Input::pixels(name, U16, &[width, height], White::At(65535));
        vec![image("a"), image("b"), image("mask")]
    },
    |_, width, height| vec![width, height],
    (2048, 1024),
);

fn blend(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let image = |name| ImageParam::new(name, U16, 2);
    let (a, b, mask) = (image("a"), image("b"), image("mask"));
    let mut output = Func::new("output");
    let wide = |image: &ImageParam| cast::<u32>(image[(x, y)]);
    // Together at most 65535 * 65535.
    let product = wide(&a) * wide(&mask) + wide(&b) * cast::<u32>(65535 - mask[(x, y)]);
    output[(x, y)] = cast::<u16>(((product >> 16) + product + 32768) >> 16);
    Pipeline::new([&output])
}

/// A change of colours: a sum over the channels for each channel.
pub(super) const COLORS: App = untuned(
    "colors",
    "planes of u8 by a 3x3 matrix of f32 and an offset, rounded and saturated",
    plain!("colors"),
    colors,
    |_, width, height| {
        vec![
            Input::pixels("input", U8, &[width, height, 3], White::At(255)),
            Input::pixels("matrix", F32, &[4, 3], White::At(1)),
        ]
    },
    |_, width, height| vec![width, height, 3],
    (1536, 1024),
);

fn colors(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c) = vars!(x, y, c);
    let (input, matrix) = (ImageParam::new("input", U8, 3), ImageParam::new("matrix", F32, 2));
    let k = RDom::named("k", [(0, 3)]);
    let (mut mixed, mut output) = (Func::new("mixed"), Func::new("output"));
    mixed[(x, y, c)] = matrix[(3, c)];
    mixed[(x, y, c)] += matrix[(k.x, c)] * cast::<f32>(input[(x, y, k.x)]);
    output[(x, y, c)] = cast::<u8>(clamp(mixed[(x, y, c)] + 0.5, 0.0, 255.0));
    Pipeline::new([&output])
}
