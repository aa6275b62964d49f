//! Inputs of apps: what an image, or random numbers, become in them.

use crate::random::{of_type, random};
use halide::buffer::{BufferError, Span};
use halide::prelude::*;
use image::DynamicImage;
use std::sync::Arc;

/// One input of an app.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name of the image parameter.
    pub name: String,
    /// The type of its values.
    pub ty: ScalarType,
    /// First coordinate and extent of each dimension.
    pub region: Vec<(i64, i64)>,
    /// The brightest value.
    pub white: White,
    /// The value at a point, from 0 to 1, that an image gives.
    pub of_picture: fn(&Picture, &[i32]) -> f32,
    /// The words for what an image is taken as, if it is not taken as it is.
    pub taken_as: fn(&Picture) -> Option<&'static str>,
}

/// The brightest value of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum White {
    /// The brightest value of the image: 255 or 65535. Random numbers go to 65535.
    AsStored,
    /// The brightest value of the image, but no more than this. Random numbers go to 65535.
    AtMost(u32),
    /// This.
    At(u32),
}

impl White {
    /// The number for the brightest value of an image, which is stored as `stored`.
    pub fn of(self, stored: u32) -> u32 {
        match self {
            White::AsStored => stored,
            White::AtMost(most) => stored.min(most),
            White::At(white) => white,
        }
    }
    /// The largest of random numbers.
    pub fn of_random(self) -> u32 {
        match self {
            White::AsStored | White::AtMost(_) => 65535,
            White::At(white) => white,
        }
    }
}

/// An image of some channels, whose pixels are numbers from 0 to 1.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its width.
    pub width: i64,
    /// Its height.
    pub height: i64,
    /// The value of white in the image before it was scaled to 1.
    pub white: u32,
    image: Arc<DynamicImage>,
    /// For each channel, its number in the image; `None` is 1 everywhere.
    channels: Vec<Option<usize>>,
}

impl Input {
    /// The pixels of the image as they are, from coordinate 0 on; the third dimension is the channel. Inputs of one
    /// dimension are its first row.
    pub fn pixels(name: &str, ty: ScalarType, extents: &[i64], white: White) -> Input {
        let region = extents.iter().map(|&extent| (0, extent)).collect();
        let of_picture = |picture: &Picture, at: &[i32]| {
            let [x, y, c] = [0, 1, 2].map(|dim| at.get(dim).copied().unwrap_or(0));
            picture.at(x, y, c)
        };
        let name = name.to_string();
        Input { name, ty, region, white, of_picture, taken_as: |_| None }
    }

    /// Random numbers from `seed`.
    ///
    /// # Errors
    /// Too large a region.
    pub fn random(&self, seed: u64) -> Result<AnyBuffer, BufferError> {
        random(seed, self.ty, &self.region(), self.white.of_random())
    }

    /// Returns the values that a picture gives.
    ///
    /// # Errors
    /// Too large a region.
    pub fn of(&self, picture: &Picture) -> Result<AnyBuffer, BufferError> {
        let white = self.white.of(picture.white);
        let value = |at: &[i32]| (self.of_picture)(picture, at) * white as f32;
        let region = self.region();
        Ok(match self.ty {
            U8 => Buffer::from_fn(&region, |at| value(at).round() as u8)?.into_any(),
            U16 => Buffer::from_fn(&region, |at| value(at).round() as u16)?.into_any(),
            F32 => Buffer::from_fn(&region, |at| value(at))?.into_any(),
            F64 => Buffer::from_fn(&region, |at| f64::from(value(at)))?.into_any(),
            ty if ty.is_float() => of_type(ty, &region, &Buffer::from_fn(&region, |at| value(at))?.into_any())?,
            ty => {
                let most = Scalar::highest(ty).as_f64();
                let whole = Buffer::from_fn(&region, |at| f64::from(value(at)).round().min(most))?;
                of_type(ty, &region, &whole.into_any())?
            }
        })
    }

    fn region(&self) -> Region {
        self.region.iter().map(|&(min, extent)| Span { min, extent }).collect()
    }
}

impl Picture {
    /// The channels of an image, as many as it has. The image is shared, not copied.
    pub fn new(image: &Arc<DynamicImage>) -> Picture {
        let color = image.color();
        let white = if color.bytes_per_pixel() > color.channel_count() { 65535 } else { 255 };
        let channels = (0..usize::from(color.channel_count())).map(Some).collect();
        let (width, height) = (i64::from(image.width()), i64::from(image.height()));
        Picture { width, height, white, image: image.clone(), channels }
    }
    /// Returns the number of channels.
    pub fn channels(&self) -> usize {
        self.channels.len()
    }
    /// Returns true if the image has this channel; one that it lacks is 1 everywhere.
    pub fn has(&self, channel: usize) -> bool {
        self.channels.get(channel).is_some_and(Option::is_some)
    }
    /// These channels only; one that is not there is 1 everywhere.
    pub fn with(&self, channels: &[usize]) -> Picture {
        let channels = channels.iter().map(|&c| self.channels.get(c).copied().flatten()).collect();
        Picture { channels, ..self.clone() }
    }
    /// The value of a pixel; that of the nearest one outside.
    pub fn at(&self, x: i32, y: i32, c: i32) -> f32 {
        let near = |at: i32, size: i64| i64::from(at).clamp(0, size - 1);
        let channel = (c.max(0) as usize).min(self.channels.len() - 1);
        self.sample(channel, (near(y, self.height) * self.width + near(x, self.width)) as usize)
    }
    /// The values of a channel, row after row.
    pub fn plane(&self, c: usize) -> impl Iterator<Item = f32> {
        (0..(self.width * self.height) as usize).map(move |pixel| self.sample(c, pixel))
    }
    fn sample(&self, channel: usize, pixel: usize) -> f32 {
        let Some(channel) = self.channels[channel] else { return 1.0 };
        let at = pixel * usize::from(self.image.color().channel_count()) + channel;
        let bytes = self.image.as_bytes();
        let value = match self.white {
            255 => u16::from(bytes[at]),
            _ => u16::from_ne_bytes([bytes[2 * at], bytes[2 * at + 1]]),
        };
        f32::from(value) / self.white as f32
    }
}
