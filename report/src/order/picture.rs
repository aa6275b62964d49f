//! One picture of a whole run: colours tell the order of first stores, from dark to light, and digits the times that a
//! point was computed, if that is more than once; of images, the times that it was loaded.

use super::canvas::{Canvas, Cell};
use super::colour::{Colour, ORDER_STEPS, palette};
use super::error::OrderError;
use super::layout::{Layout, SCALE};
use super::raster::{Raster, Rect, text_height, text_width};
use super::replay::Replay;
use image::codecs::png::{CompressionType, FilterType, PngEncoder};
use image::{ExtendedColorType, ImageEncoder};

/// Draws a replay.
pub fn draw(replay: &Replay) -> Raster {
    let layout = Layout::of(replay, None);
    let mut raster = layout.paper(replay);
    let last = replay.steps.len().saturating_sub(1).max(1) as u64;
    for (n, canvas) in replay.canvases.iter().enumerate() {
        let is_input = canvas.is_input();
        for (i, cell) in canvas.cells.iter().enumerate() {
            let Some(rect) = layout.inside(replay, n, i) else { continue };
            match is_input {
                true => draw_loads(&mut raster, rect, cell),
                false => draw_stores(&mut raster, rect, cell, last),
            }
        }
    }
    draw_legend(&mut raster, layout.legend(), has_digits(&replay.canvases));
    raster
}

/// Encodes a picture as PNG.
///
/// # Errors
/// Those of the encoder.
pub fn png(raster: &Raster) -> Result<Vec<u8>, OrderError> {
    let colours = palette();
    let rgb: Vec<u8> = raster.pixels().iter().flat_map(|index| colours[usize::from(*index)]).collect();
    let mut bytes = Vec::new();
    let encoder = PngEncoder::new_with_quality(&mut bytes, CompressionType::Best, FilterType::NoFilter);
    encoder
        .write_image(&rgb, raster.width() as u32, raster.height() as u32, ExtendedColorType::Rgb8)
        .map_err(|error| OrderError::Encode { format: "PNG", message: error.to_string() })?;
    Ok(bytes)
}

fn has_digits(canvases: &[Canvas]) -> bool {
    canvases.iter().any(|canvas| canvas.most_stores() > 1)
}

fn draw_loads(raster: &mut Raster, rect: Rect, cell: &Cell) {
    if cell.loads > 0 {
        raster.text_in(rect, &cell.loads.to_string(), SCALE, Colour::Faint);
    }
}

fn draw_stores(raster: &mut Raster, rect: Rect, cell: &Cell, last: u64) {
    let Some(first) = cell.first else { return };
    let colour = Colour::Order((u64::from(first) * u64::from(ORDER_STEPS - 1) / last) as u8);
    raster.fill(rect, colour);
    if cell.stores > 1 {
        let ink = if colour.is_dark() { Colour::Paper } else { Colour::Ink };
        raster.text_in(rect, &cell.stores.to_string(), SCALE, ink);
    }
}

/// The bar of colours from the first store to the last one, and what digits are.
fn draw_legend(raster: &mut Raster, [x, y]: [usize; 2], has_digits: bool) {
    const STEP: usize = 4;
    let (height, gap) = (text_height(SCALE), 8);
    raster.text(x, y, "first", SCALE, Colour::Faint);
    let bar = x + text_width("first", SCALE) + gap;
    for step in 0..ORDER_STEPS {
        let rect = Rect { x: bar + usize::from(step) * STEP, y, width: STEP, height };
        raster.fill(rect, Colour::Order(step));
    }
    let end = bar + usize::from(ORDER_STEPS) * STEP + gap;
    let text = if has_digits { "last   digits: times computed" } else { "last" };
    raster.text(end, y, text, SCALE, Colour::Faint);
}
