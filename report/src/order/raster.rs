//! Pictures as indices of colours, and what draws on them.

use super::colour::Colour;
use super::font::{self, COLUMNS, ROWS};

/// A picture: an index of the palette for each pixel, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Raster {
    width: usize,
    height: usize,
    pixels: Vec<u8>,
}

/// A rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// The first column.
    pub x: usize,
    /// The first row.
    pub y: usize,
    /// The number of columns.
    pub width: usize,
    /// The number of rows.
    pub height: usize,
}

impl Rect {
    /// Returns the rectangle without a border of `by` pixels.
    pub fn inset(self, by: usize) -> Rect {
        let less = |n: usize| n.saturating_sub(2 * by);
        Rect { x: self.x + by, y: self.y + by, width: less(self.width), height: less(self.height) }
    }
}

impl Raster {
    /// A picture of background.
    pub fn new(width: usize, height: usize) -> Raster {
        Raster { width, height, pixels: vec![Colour::Paper.index(); width * height] }
    }

    /// The number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The number of rows.
    pub fn height(&self) -> usize {
        self.height
    }

    /// The indices of the palette, row by row.
    pub fn pixels(&self) -> &[u8] {
        &self.pixels
    }

    /// Fills a rectangle; the part outside of the picture is left out.
    pub fn fill(&mut self, rect: Rect, colour: Colour) {
        let (right, bottom) = ((rect.x + rect.width).min(self.width), (rect.y + rect.height).min(self.height));
        for y in rect.y..bottom {
            let row = &mut self.pixels[y * self.width..][..self.width];
            if let Some(part) = row.get_mut(rect.x..right) {
                part.fill(colour.index());
            }
        }
    }

    /// Draws the border of a rectangle, `thick` pixels inwards.
    pub fn frame(&mut self, rect: Rect, thick: usize, colour: Colour) {
        let Rect { x, y, width, height } = rect;
        let (thick_x, thick_y) = (thick.min(width), thick.min(height));
        self.fill(Rect { height: thick_y, ..rect }, colour);
        self.fill(Rect { y: y + height - thick_y, height: thick_y, ..rect }, colour);
        self.fill(Rect { width: thick_x, ..rect }, colour);
        self.fill(Rect { x: x + width - thick_x, width: thick_x, ..rect }, colour);
    }

    /// Writes a line of text whose upper left pixel is at `x`, `y`; each dot of a letter is `scale` pixels wide.
    pub fn text(&mut self, x: usize, y: usize, text: &str, scale: usize, colour: Colour) {
        for (n, letter) in text.chars().enumerate() {
            let left = x + n * (COLUMNS + 1) * scale;
            for (column, bits) in font::glyph(letter).into_iter().enumerate() {
                for row in (0..ROWS).filter(|row| bits >> row & 1 == 1) {
                    let dot = Rect { x: left + column * scale, y: y + row * scale, width: scale, height: scale };
                    self.fill(dot, colour);
                }
            }
        }
    }

    /// Writes text in the middle of a rectangle, as large as fits up to `scale`; leaves out what fits in no size.
    pub fn text_in(&mut self, rect: Rect, text: &str, scale: usize, colour: Colour) {
        let fits = |scale: &usize| text_width(text, *scale) <= rect.width && ROWS * scale <= rect.height;
        if let Some(scale) = (1..=scale).rev().find(fits) {
            let (width, height) = (text_width(text, scale), ROWS * scale);
            self.text(rect.x + (rect.width - width) / 2, rect.y + (rect.height - height) / 2, text, scale, colour);
        }
    }

    /// A 64-bit hash of size and pixels (FNV-1a).
    pub fn hash(&self) -> u64 {
        let size = [self.width as u64, self.height as u64].into_iter().flat_map(u64::to_le_bytes);
        let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        size.chain(self.pixels.iter().copied()).fold(0xcbf2_9ce4_8422_2325, mix)
    }
}

/// Returns the width in pixels of a line of text.
pub fn text_width(text: &str, scale: usize) -> usize {
    (text.chars().count() * (COLUMNS + 1)).saturating_sub(1) * scale
}

/// Returns the height in pixels of a line of text.
pub const fn text_height(scale: usize) -> usize {
    ROWS * scale
}
