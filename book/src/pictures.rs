//! The pictures of the book, each drawn from a run.

use crate::algorithms::blur;
use halide::prelude::*;
use halide_report::order::canvas::Fold;
use halide_report::order::colour::palette;
use halide_report::order::raster::Raster;
use halide_report::order::replay::Replay;
use halide_report::order::{animation, picture};
use image::{DynamicImage, ImageFormat};
use std::error::Error;
use std::io::Cursor;

/// A picture of the blur under a schedule: a still one and an animation.
pub struct Shown {
    /// The name of the files: `NAME.png` and `NAME.gif`.
    pub name: &'static str,
    /// The schedule.
    pub schedule: &'static str,
    /// The rows of `blur_x` that storage holds, where it is folded.
    pub fold: Option<i64>,
}

/// Columns and rows of the output in pictures.
const SIZE: [i64; 2] = [8, 8];

/// The pictures of chapters 3 and 5.
pub const SHOWN: [Shown; 8] = [
    Shown { name: "full_fusion", schedule: "", fold: None },
    Shown { name: "breadth_first", schedule: "blur_x: compute_root()", fold: None },
    Shown { name: "sliding_window", schedule: "blur_x: store_root() compute_at(blur_y, y)", fold: Some(3) },
    Shown { name: "rows", schedule: "blur_x: compute_at(blur_y, y)", fold: None },
    Shown {
        name: "tiles",
        schedule: "blur_y: tile(x, y, xo, yo, xi, yi, 4, 4)\nblur_x: compute_at(blur_y, xo)",
        fold: None,
    },
    Shown {
        name: "strips",
        schedule: "blur_y: split(y, yo, yi, 4)\nblur_x: store_at(blur_y, yo) compute_at(blur_y, yi)",
        fold: Some(3),
    },
    Shown {
        name: "sliding_tiles",
        schedule: "blur_y: tile(x, y, xo, yo, xi, yi, 4, 4)\nblur_x: store_at(blur_y, xo) compute_at(blur_y, yi)",
        fold: Some(3),
    },
    Shown { name: "sliding_points", schedule: "blur_x: store_root() compute_at(blur_y, x)", fold: Some(3) },
];

impl Shown {
    /// Traces the run.
    ///
    /// # Errors
    /// A schedule that is refused; errors of the run.
    pub fn replay(&self) -> Result<Replay, Box<dyn Error>> {
        let schedule = self.schedule.parse()?;
        let compiled = Compiler::new(&blur::algorithm()?).schedule(&schedule).engine(Engine::Interp).compile()?;
        let region = Region::of_extents(SIZE.map(|n| n + 2));
        let input = Buffer::from_fn(&region, |at| (at[0] * 5 + at[1] * 3) as u16)?;
        let folds: Vec<Fold> =
            self.fold.iter().map(|factor| Fold { func: "blur_x".to_string(), dim: 1, factor: *factor }).collect();
        let call = compiled.inputs().image_named("input", input);
        Ok(Replay::of_call(&call, &[Region::of_extents(SIZE)], &folds)?)
    }
}

/// A picture of the book, drawn.
pub struct Drawn {
    /// The name of the file in `book/src/pictures`.
    pub file: String,
    /// Its pixels.
    pub pixels: Pixels,
}

/// The pixels of a picture.
pub enum Pixels {
    /// Frames of a replay: one, or those of an animation.
    Replay(Vec<Raster>),
    /// The result of a pipeline.
    Photo(DynamicImage),
}

impl Drawn {
    /// The contents of the file.
    ///
    /// # Errors
    /// Those of encoders.
    pub fn bytes(&self) -> Result<Vec<u8>, Box<dyn Error>> {
        Ok(match &self.pixels {
            Pixels::Replay(frames) if frames.len() == 1 => picture::png(&frames[0])?,
            Pixels::Replay(frames) => animation::gif(frames)?,
            Pixels::Photo(image) => {
                let mut bytes = Cursor::new(Vec::new());
                image.write_to(&mut bytes, ImageFormat::Png)?;
                bytes.into_inner()
            }
        })
    }

    /// The colours of each frame, pixel by pixel.
    pub fn frames(&self) -> Vec<Vec<u8>> {
        let colours = palette();
        let of = |raster: &Raster| raster.pixels().iter().flat_map(|index| colours[usize::from(*index)]).collect();
        match &self.pixels {
            Pixels::Replay(frames) => frames.iter().map(of).collect(),
            Pixels::Photo(image) => vec![image.to_rgb8().into_raw()],
        }
    }
}

/// The first picture of the book: a square of 256 by 256.
fn weave() -> Result<DynamicImage, Box<dyn Error>> {
    let (x, y) = vars!(x, y);
    let mut weave = Func::new("weave");
    weave[(x, y)] = cast::<u8>(x ^ y);
    let compiled = Pipeline::new([&weave])?.compile(&Schedule::new(), &Target::host())?;
    Ok(compiled.inputs().realize::<u8>([256, 256])?.to_image()?)
}

/// Draws all pictures.
///
/// # Errors
/// A schedule that is refused; errors of runs.
pub fn all() -> Result<Vec<Drawn>, Box<dyn Error>> {
    let mut all = vec![Drawn { file: "weave.png".to_string(), pixels: Pixels::Photo(weave()?) }];
    for shown in &SHOWN {
        let replay = shown.replay()?;
        all.push(Drawn { file: format!("{}.png", shown.name), pixels: Pixels::Replay(vec![picture::draw(&replay)]) });
        all.push(Drawn { file: format!("{}.gif", shown.name), pixels: Pixels::Replay(animation::frames(&replay)) });
    }
    Ok(all)
}
