//! An application around a pipeline: compiled once, called for each frame from several threads with other settings,
//! with a schedule that is read from a file: `cargo run -p halide --example custom_app [SCHEDULE]`.

use halide::prelude::*;
use std::error::Error;
use std::thread;
use std::time::Duration;

/// The schedule that is taken if none is given.
const SCHEDULE: &str = "
    sharp: parallel(y) vectorize(x, natural)
    soft: compute_at(sharp, y) vectorize(x, natural)";

/// The pipeline with the inputs that each call gives.
struct Sharpen {
    compiled: Compiled,
}

impl Sharpen {
    /// Builds the algorithm, and compiles it under `schedule`.
    fn new(schedule: &Schedule) -> Result<Sharpen, halide::Error> {
        let input = ImageParam::new("input", F32, 2);
        let amount = Param::<f32>::new("amount").with_default(1.0).with_range(0.0, 8.0);
        let (x, y) = vars!(x, y);
        let around = repeat_edge(&input);
        let (mut soft, mut sharp) = (Func::new("soft"), Func::new("sharp"));
        let cross = around[(x - 1, y)] + around[(x + 1, y)] + around[(x, y - 1)] + around[(x, y + 1)];
        soft[(x, y)] = (cross + around[(x, y)]) / 5.0f32;
        sharp[(x, y)] = clamp(around[(x, y)] + amount * (around[(x, y)] - soft[(x, y)]), 0.0f32, 1.0f32);
        Ok(Sharpen { compiled: Pipeline::new([&sharp])?.compile(schedule, &Target::host())? })
    }
    /// One frame; a call ends on its own if it takes too long.
    fn frame(&self, pixels: &Buffer<f32>, amount: f32) -> Result<Buffer<f32>, halide::Error> {
        let call = self.compiled.inputs().image_named("input", pixels).param_named("amount", amount);
        call.threads(1).give_up_after(Duration::from_secs(60)).realize_region(&pixels.region())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = match std::env::args().nth(1) {
        Some(path) => std::fs::read_to_string(path)?,
        None => SCHEDULE.to_string(),
    };
    let app = Sharpen::new(&text.parse()?)?;
    println!("{}", app.compiled.loops()?);

    let pixels = Buffer::from_fn(&Region::of_extents([320, 240]), |at| ((at[0] / 16 + at[1] / 16) % 2) as f32 * 0.5)?;
    let brightest = thread::scope(|s| {
        let frames: Vec<_> = (0..4)
            .map(|n| {
                s.spawn({
                    let (app, pixels) = (&app, &pixels);
                    move || app.frame(pixels, n as f32)
                })
            })
            .collect();
        frames.into_iter().map(|frame| frame.join().expect("a frame panics never")).collect::<Result<Vec<_>, _>>()
    })?;
    for (n, frame) in brightest.iter().enumerate() {
        let largest = frame.to_vec().into_iter().fold(0.0f32, f32::max);
        println!("frame {n}: largest value {largest}");
    }
    // A setting out of its range is an error of that call alone.
    println!("{}", app.frame(&pixels, 9.0).unwrap_err());
    Ok(())
}
