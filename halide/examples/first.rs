//! A photograph in, blurred out: `cargo run -p halide --example first [IN [OUT]]`.

use halide::prelude::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let photo = args.next().unwrap_or(concat!(env!("CARGO_MANIFEST_DIR"), "/../apps/assets/raccoon.jpg").into());
    let blurred = args.next().map_or(std::env::temp_dir().join("blurred.png"), Into::into);

    let input = ImageParam::new("input", U8, 3);
    let (x, y, c) = vars!(x, y, c);
    let r = RDom::new([(-3, 7), (-3, 7)]);
    let photo_around = repeat_edge(&input);
    let mut blur = Func::new("blur");
    blur[(x, y, c)] = cast::<u8>(sum(cast::<u32>(photo_around[(x + r.x, y + r.y, c)])) / 49);

    let schedule = "blur: parallel(y) vectorize(x, natural)".parse()?;
    let compiled = Pipeline::new([&blur])?.compile(&schedule, &Target::host())?;
    let pixels = Buffer::<u8>::from_image(&image::open(photo)?)?;
    let out: Buffer<u8> = compiled.inputs().image(&input, &pixels).realize_region(&pixels.region())?;
    out.to_image()?.save(&blurred)?;
    println!("wrote {}", blurred.display());
    Ok(())
}
