//! A chain of 5x5 stencils of 16-bit values, whose sums wrap: every stage reads every other one's border.

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The number of stencils that follow each other.
pub const STAGES: usize = 32;

/// The app.
pub const APP: App = App {
    name: "stencil_chain",
    about: "32 stencils of 5x5 u16 values one after the other",
    settings: &[],
    takes: Takes::EachChannel,
    // Sums wrap in every stage, so that no shade of the image is left.
    shows: Shows::Nothing,
    schedules: schedules!["schedules/stencil_chain": cpu, sliding, root],
    pipeline: |_: &Settings| pipeline(STAGES),
    inputs: |_, width, height| vec![Input::pixels("input", U16, &[width, height], White::AsStored)],
    output: plane,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm of this many stages, at least 1: `s1` to the output.
pub fn pipeline(stages: usize) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U16, 2);
    let mut last = repeat_edge(&input);
    for stage in 1..=stages {
        let name = if stage == stages { "output".to_string() } else { format!("s{stage}") };
        let mut next = Func::new(name);
        let taps = (-2..=2).flat_map(|dx| (-2..=2).map(move |dy| (dx, dy)));
        let sum = taps.fold(0u16.expr(), |sum, (dx, dy)| sum + last[(x + dx, y + dy)] * ((dx + 3) * (dy + 3)));
        next[(x, y)] = sum;
        last = next;
    }
    Pipeline::new([&last])
}
