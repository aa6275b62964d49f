//! Ahead-of-time compilation: writes an object and its header, for a C program that has no compiler in it.
//!
//! `cargo run -p halide --example object [FOLDER]`, and docs/objects.md says how to go on.

use halide::prelude::*;
use std::{env, error, fs, path::PathBuf};

fn main() -> Result<(), Box<dyn error::Error>> {
    let folder = env::args_os().nth(1).map_or(env::temp_dir().join("halide-object"), PathBuf::from);
    let (input, gain) = (ImageParam::new("input", U8, 2), Param::<u8>::new("gain").with_range(1, 16));
    let (x, y) = vars!(x, y);
    let mut brighter = Func::new("brighter");
    brighter[(x, y)] = cast::<u8>(min(cast::<u16>(input[(x, y)]) * cast::<u16>(gain), 255));
    let schedule = "brighter: split(y, yo, yi, 32) parallel(yo) vectorize(x, 32)".parse()?;
    let object = Pipeline::new([&brighter])?.compile(&schedule, &Target::host())?.object("brighter")?;
    fs::create_dir_all(&folder)?;
    fs::write(folder.join("brighter.o"), object.bytes())?;
    fs::write(folder.join("brighter.h"), object.header())?;
    println!("wrote {}, for x86-64 with {}", folder.join("brighter.o").display(), object.needs());
    Ok(())
}
