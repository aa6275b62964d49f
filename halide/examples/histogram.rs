//! Reductions: a histogram by scattered updates, its running sum, and an equalised picture by a lookup of both.

use halide::prelude::*;

fn main() -> Result<(), Error> {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);

    // Updates run in the order of their domain and may write anywhere.
    let pixels = RDom::over(&input);
    let mut histogram = Func::new("histogram");
    histogram.define(i, 0);
    histogram[cast::<i32>(input[(pixels.x, pixels.y)])] += 1;

    let bins = RDom::new([(1, 255)]);
    let mut running = Func::new("running");
    running[i] = histogram[i];
    running[bins.x] = running[bins.x - 1] + histogram[bins.x];

    let count = input.width() * input.height();
    let mut equalised = Func::new("equalised");
    equalised[(x, y)] = cast::<u8>(running[cast::<i32>(input[(x, y)])] * 255 / count);

    let schedule = "
        histogram: compute_root()
        running: compute_root()
        equalised: parallel(y)";
    let compiled = Pipeline::new([&equalised])?.compile(&schedule.parse()?, &Target::host())?;

    // A dark picture: its values end at 63.
    let dark = Buffer::from_fn(&Region::of_extents([64, 48]), |at| ((at[0] * at[0] + at[1]) % 64) as u8)?;
    let bright: Buffer<u8> = compiled.inputs().image(&input, &dark).realize([64, 48])?;
    let largest = |picture: &Buffer<u8>| picture.to_vec().into_iter().max();
    println!("largest value: {:?} before, {:?} after", largest(&dark), largest(&bright));
    Ok(())
}
