//! Inputs of apps: what an image, or random numbers, become in them.

use crate::random::random;
use halide::buffer::{BufferError, Span};
use halide::prelude::*;
use image::DynamicImage;

/// One input of an app.
#[derive(Clone, Debug)]
pub struct Input {
    /// The name of the image parameter.
    pub name: &'static str,
    /// The type of its values.
    pub ty: ScalarType,
    /// First coordinate and extent of each dimension.
    pub region: Vec<(i64, i64)>,
    /// What the brightest value is.
    pub white: White,
    /// The value at a point, from 0 to 1, that an image gives.
    pub of_picture: fn(&Picture, &[i32]) -> f32,
}

/// What the brightest value of an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum White {
    /// That of the image: 255 or 65535. Random numbers go to 65535.
    AsStored,
    /// This.
    At(u32),
}

/// An image of some channels, whose pixels are numbers from 0 to 1.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Its width.
    pub width: i64,
    /// Its height.
    pub height: i64,
    /// How many values there were between black and white.
    pub white: u32,
    planes: Vec<Vec<f32>>,
}

impl Input {
    /// The pixels of the image as they are, from coordinate 0 on; the third dimension is the channel.
    pub fn pixels(name: &'static str, ty: ScalarType, extents: &[i64], white: White) -> Input {
        let region = extents.iter().map(|&extent| (0, extent)).collect();
        let of_picture = |picture: &Picture, at: &[i32]| picture.at(at[0], at[1], at.get(2).copied().unwrap_or(0));
        Input { name, ty, region, white, of_picture }
    }

    /// Random numbers from `seed`.
    ///
    /// # Errors
    /// Too large a region.
    pub fn random(&self, seed: u64) -> Result<AnyBuffer, BufferError> {
        let white = match self.white {
            White::AsStored => 65535,
            White::At(white) => white,
        };
        random(seed, self.ty, &self.region(), white)
    }

    /// What a picture gives.
    ///
    /// # Errors
    /// Too large a region.
    pub fn of(&self, picture: &Picture) -> Result<AnyBuffer, BufferError> {
        let white = match self.white {
            White::AsStored => picture.white,
            White::At(white) => white,
        };
        let value = |at: &[i32]| (self.of_picture)(picture, at) * white as f32;
        let region = self.region();
        Ok(match self.ty {
            U8 => Buffer::from_fn(&region, |at| value(at).round() as u8)?.into_any(),
            U16 => Buffer::from_fn(&region, |at| value(at).round() as u16)?.into_any(),
            F64 => Buffer::from_fn(&region, |at| f64::from(value(at)))?.into_any(),
            _ => Buffer::from_fn(&region, |at| value(at))?.into_any(),
        })
    }

    fn region(&self) -> Region {
        self.region.iter().map(|&(min, extent)| Span { min, extent }).collect()
    }
}

impl Picture {
    /// The channels of an image, as many as it has.
    pub fn new(image: &DynamicImage) -> Picture {
        let color = image.color();
        let deep = color.bytes_per_pixel() > color.channel_count();
        let white = if deep { 65535 } else { 255 };
        let scaled = |v: u16| f32::from(v) / white as f32;
        let channels = usize::from(color.channel_count());
        let samples = |bytes: &[u8]| -> Vec<f32> {
            match deep {
                true => bytes.chunks_exact(2).map(|b| scaled(u16::from_ne_bytes([b[0], b[1]]))).collect(),
                false => bytes.iter().map(|&b| scaled(u16::from(b))).collect(),
            }
        };
        let all = samples(image.as_bytes());
        let planes = (0..channels).map(|c| all.iter().skip(c).step_by(channels).copied().collect()).collect();
        Picture { width: i64::from(image.width()), height: i64::from(image.height()), white, planes }
    }
    /// How many channels there are.
    pub fn channels(&self) -> usize {
        self.planes.len()
    }
    /// These channels only; one that is not there is 1 everywhere.
    pub fn with(&self, channels: &[usize]) -> Picture {
        let ones = || vec![1.0; (self.width * self.height) as usize];
        let planes = channels.iter().map(|&c| self.planes.get(c).cloned().unwrap_or_else(ones)).collect();
        Picture { planes, ..*self }
    }
    /// The value of a pixel; that of the nearest one outside.
    pub fn at(&self, x: i32, y: i32, c: i32) -> f32 {
        let near = |at: i32, size: i64| i64::from(at).clamp(0, size - 1);
        let plane = &self.planes[(c.max(0) as usize).min(self.planes.len() - 1)];
        plane[(near(y, self.height) * self.width + near(x, self.width)) as usize]
    }
    /// The values of a channel, row after row.
    pub fn plane(&self, c: usize) -> &[f32] {
        &self.planes[c]
    }
}
