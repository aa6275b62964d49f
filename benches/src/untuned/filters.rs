//! Short filters and stencils.

use super::case::{plain, total, untuned};
use halide::prelude::*;
use halide_apps::app::{App, NamedSchedule, Settings};
use halide_apps::input::{Input, White};

/// A separable filter of 11 x 11 taps that are 2 apart.
pub(super) const DILATED: App = untuned(
    "dilated",
    "separable 11x11 filter of f32 whose taps are 2 apart",
    plain!("dilated"),
    dilated,
    |_, width, height| vec![Input::pixels("input", F32, &[width + 20, height + 20], White::At(1))],
    |_, width, height| vec![width, height],
    (1536, 1024),
);

const TAPS: [f32; 11] = [0.01, 0.03, 0.07, 0.12, 0.17, 0.2, 0.17, 0.12, 0.07, 0.03, 0.01];

fn dilated(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", F32, 2);
    let (mut rows, mut output) = (Func::new("rows"), Func::new("output"));
    rows[(x, y)] = total((0..11).map(|k| input[(x + 2 * k, y)] * TAPS[k as usize]));
    output[(x, y)] = total((0..11).map(|k| rows[(x, y + 2 * k)] * TAPS[k as usize]));
    Pipeline::new([&output])
}

/// A binomial filter of 5 x 5 pixels of u8.
pub(super) const BINOMIAL: App = untuned(
    "binomial",
    "binomial 5x5 filter of u8, in u16",
    plain!("binomial"),
    binomial,
    |_, width, height| vec![Input::pixels("input", U8, &[width + 4, height + 4], White::At(255))],
    |_, width, height| vec![width, height],
    (2048, 1536),
);

fn binomial(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let (mut rows, mut output) = (Func::new("rows"), Func::new("output"));
    let wide = |dx: i32| cast::<u16>(input[(x + dx, y)]);
    rows[(x, y)] = wide(0) + wide(1) * 4 + wide(2) * 6 + wide(3) * 4 + wide(4);
    let row = |dy: i32| rows[(x, y + dy)];
    output[(x, y)] = cast::<u8>((row(0) + row(1) * 4 + row(2) * 6 + row(3) * 4 + row(4) + 128) >> 8);
    Pipeline::new([&output])
}

/// Planes of the box in which heat spreads.
const DEPTH: i64 = 64;
const STEPS: i32 = 4;

/// Heat that spreads in a box for some steps.
pub(super) const HEAT: App = untuned(
    "heat",
    "four steps of a 7-point stencil of f32 in three dimensions",
    plain!("heat"),
    heat,
    |_, width, height| {
        let more = 2 * i64::from(STEPS);
        vec![Input::pixels("input", F32, &[width + more, height + more, DEPTH + more], White::At(1))]
    },
    |_, width, height| vec![width, height, DEPTH],
    (192, 192),
);

fn heat(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, z) = vars!(x, y, z);
    let input = ImageParam::new("input", F32, 3);
    let mut before = Func::new("step0");
    before[(x, y, z)] = input[(x, y, z)];
    for step in 1..=STEPS {
        let name = if step == STEPS { "output".to_string() } else { format!("step{step}") };
        let mut after = Func::new(name);
        let at = |dx: i32, dy: i32, dz: i32| before[(x + dx, y + dy, z + dz)];
        let around = at(0, 1, 1) + at(2, 1, 1) + at(1, 0, 1) + at(1, 2, 1) + at(1, 1, 0) + at(1, 1, 2);
        after[(x, y, z)] = at(1, 1, 1) * 0.4 + around * 0.1;
        before = after;
    }
    Pipeline::new([&before])
}
