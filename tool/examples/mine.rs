//! A photograph, sharpened: `run photo.jpg` writes `out/mine.png`. Change the algorithm here, and how it is computed in
//! the files of `schedules`; `--help` lists what else there is.

use halide::prelude::*;
use halide_tool::{App, Tool, schedules};
use std::process::ExitCode;

/// The name and the description are those of the command line.
const APPS: [App; 1] =
    [App::new("mine", "Sharpens a photograph", |_| sharpen()).schedules(schedules!["schedules": strips, stages])];

/// The algorithm: what a mean over 3 x 3 pixels takes away is added once more.
fn sharpen() -> Result<Pipeline, AlgorithmErrors> {
    let input = ImageParam::new("input", U8, 3);
    let amount = Param::<f32>::new("amount").with_default(1.0).with_range(0.0, 10.0);
    let (x, y, c) = vars!(x, y, c);
    let (mut photo, mut across, mut sharp) = (Func::new("photo"), Func::new("across"), Func::new("sharp"));

    // Beyond the edges, the nearest pixel.
    photo[(x, y, c)] = cast::<f32>(repeat_edge(&input)[(x, y, c)]);
    across[(x, y, c)] = (photo[(x - 1, y, c)] + photo[(x, y, c)] + photo[(x + 1, y, c)]) / 3.0;
    let mean = (across[(x, y - 1, c)] + across[(x, y, c)] + across[(x, y + 1, c)]) / 3.0;
    let sharper = photo[(x, y, c)] + (photo[(x, y, c)] - mean) * amount;
    sharp[(x, y, c)] = cast::<u8>(clamp(sharper, 0.0, 255.0));
    Pipeline::new([&sharp])
}

/// The command line.
pub(crate) fn tool() -> Tool {
    Tool::new("mine", &APPS)
}

fn main() -> ExitCode {
    tool().main()
}
