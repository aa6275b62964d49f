//! One algorithm under several schedules: the same values by other loops, timed.

use halide::prelude::*;
use std::time::Instant;

/// Schedules of the same two stages, from none at all to a sliding window on every core.
const SCHEDULES: [(&str, &str); 4] = [
    ("inline", ""),
    ("stage by stage", "across: compute_root() vectorize(x, natural)\n down: vectorize(x, natural)"),
    (
        "in tiles",
        "down: tile(x, y, xo, yo, xi, yi, 256, 32) vectorize(xi, natural)
         across: compute_at(down, xo) vectorize(x, natural)",
    ),
    (
        "sliding window",
        "down: split(y, yo, yi, 64) parallel(yo) vectorize(x, natural)
         across: store_at(down, yo) compute_at(down, yi) vectorize(x, natural)",
    ),
];

fn main() -> Result<(), Error> {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    let pipeline = Pipeline::new([&down])?;

    let (width, height) = (1280, 960);
    let image = Buffer::from_fn(&Region::of_extents([width + 2, height + 2]), |at| (at[0] * 37 + at[1] * 101) as u16)?;
    let mut first: Option<Buffer<u16>> = None;
    for (name, text) in SCHEDULES {
        let compiled = pipeline.compile(&text.parse()?, &Target::host())?;
        let call = compiled.inputs().image(&input, &image);
        let start = Instant::now();
        let out = call.realize([width, height])?;
        println!("{name}: {:.2} ms", start.elapsed().as_secs_f64() * 1e3);
        assert_eq!(first.get_or_insert(out.clone()), &out, "a schedule never changes values");
    }
    Ok(())
}
