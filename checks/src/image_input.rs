//! Files that nobody vetted: decoded to an image that can be worked on, or refused.

use halide::prelude::*;
use halide_testing::pipelines::Random;
use image::{DynamicImage, ImageFormat};
use std::io::Cursor;
use std::path::Path;

/// The most pixels that are taken further.
const MOST_PIXELS: u64 = 1 << 16;
/// The most bytes that decoding may take; files that ask for more are refused.
const MOST_BYTES: u64 = 64 << 20;

/// Any bytes as an image file. An image becomes a buffer and again the same image.
pub fn decode(bytes: &[u8]) -> Result<(), String> {
    let Ok(image) = halide_apps::files::decode(bytes, Path::new("input"), Some(MOST_BYTES)) else { return Ok(()) };
    if u64::from(image.width()) * u64::from(image.height()) > MOST_PIXELS {
        return Ok(());
    }
    let deep = image.color().bytes_per_pixel() > image.color().channel_count();
    let again = match deep {
        true => Buffer::<u16>::from_image(&image).and_then(|b| b.to_image()),
        false => Buffer::<u8>::from_image(&image).and_then(|b| b.to_image()),
    };
    match again {
        Ok(again) if again.as_bytes() == image.as_bytes() => Ok(()),
        Ok(_) => Err(format!("a {:?} image of {}x{} changes", image.color(), image.width(), image.height())),
        // No image has an extent of zero, and a decoder that makes one of it leaves nothing to work on.
        Err(_) if image.width() == 0 || image.height() == 0 => Ok(()),
        Err(e) => Err(e.to_string()),
    }
}

/// A small image file, damaged.
pub fn random_file(seed: u64) -> Vec<u8> {
    let mut random = Random::new(seed);
    let (width, height) = (1 + random.below(9) as u32, 1 + random.below(9) as u32);
    let grey = image::GrayImage::from_fn(width, height, |x, y| image::Luma([(x * 31 + y * 7) as u8]));
    let image = match random.below(4) {
        0 => DynamicImage::from(grey).to_luma16().into(),
        1 => DynamicImage::from(grey).to_rgb8().into(),
        2 => DynamicImage::from(grey).to_rgba16().into(),
        _ => DynamicImage::from(grey),
    };
    let formats = [ImageFormat::Png, ImageFormat::Tiff, ImageFormat::Pnm, ImageFormat::Jpeg];
    let mut bytes = Cursor::new(Vec::new());
    // A format that has no such pixels leaves an empty file, which is also one.
    let _ = image.write_to(&mut bytes, random.pick(&formats));
    let mut bytes = bytes.into_inner();
    for _ in 0..random.below(5) {
        let at = random.below(bytes.len() + 1);
        match random.below(3) {
            0 => bytes.truncate(at),
            1 => bytes.insert(at, random.bits() as u8),
            _ => {
                let any = random.bits() as u8;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random.pick(&[0, 1, 0x7f, 0x80, 0xff, any]);
                }
            }
        }
    }
    bytes
}
