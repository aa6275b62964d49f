//! Stages on a GPU: `cargo run -p halide --features gpu --example gpu`. Says so where there is no device, or no such
//! feature.

#[cfg(not(feature = "gpu"))]
fn main() {
    println!("built without the GPU backend; run it with --features gpu");
}

#[cfg(feature = "gpu")]
fn main() -> Result<(), halide::Error> {
    use halide::gpu::{Choice, Gpu};
    use halide::prelude::*;

    let gpu = match Gpu::open(&Choice::from_env()) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("no GPU: {error}");
            return Ok(());
        }
    };
    println!("{}", gpu.describe());

    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let around = repeat_edge(&input);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (around[(x - 1, y)] + around[(x, y)] + around[(x + 1, y)]) / 3.0f32;
    down[(x, y)] = (across[(x, y - 1)] + across[(x, y)] + across[(x, y + 1)]) / 3.0f32;
    let pipeline = Pipeline::new([&down])?;

    // Blocks of 16 by 16 threads; each block computes what it needs of `across` in memory that its threads share.
    let schedule = "
        down: gpu_tile(x, y, xo, yo, xi, yi, 16, 16)
        across: compute_at(down, xo) gpu_threads(x, y)"
        .parse()?;
    let on_gpu = Compiler::new(&pipeline).schedule(&schedule).gpu(&gpu).compile()?;
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile()?;

    let image = Buffer::from_fn(&Region::of_extents([128, 96]), |at| (at[0] * 3 + at[1] * 5) as f32)?;
    let out: Buffer<f32> = on_gpu.inputs().image(&input, &image).realize([128, 96])?;
    let expected: Buffer<f32> = reference.inputs().image(&input, &image).realize([128, 96])?;
    println!("as the interpreter has it, bit for bit: {}", out == expected);
    Ok(())
}
