//! Encoding of images: the formats that are written, and what each of them holds.

use image::codecs::{jpeg::JpegEncoder, png::PngEncoder, tiff::TiffEncoder};
use image::{ColorType, DynamicImage, ImageEncoder, ImageError, ImageResult};
use std::borrow::Cow;
use std::io::{Seek, Write};

const JPEG_QUALITY: u8 = 95;

/// A format that images are written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Png,
    Jpeg,
    Tiff,
    Pnm,
}

/// Names what a format gives up of pixels of this type, and of a colour profile if there is one.
pub(crate) fn gives_up(format: Format, color: ColorType, has_profile: bool) -> Vec<&'static str> {
    let (no_alpha, no_depth, no_profile) = match format {
        Format::Png | Format::Tiff => (false, false, false),
        Format::Jpeg => (true, true, false),
        Format::Pnm => (true, false, true),
    };
    let is_deep = color.bytes_per_pixel() > color.channel_count();
    let all = [
        ("alpha", no_alpha && color.has_alpha()),
        ("8 of 16 bits", no_depth && is_deep),
        ("the colour profile", no_profile && has_profile),
    ];
    all.into_iter().filter(|(_, given_up)| *given_up).map(|(what, _)| what).collect()
}

/// Encodes an image with its colour profile, as far as the format has these.
///
/// # Errors
/// Of the writer and of the encoder.
pub(crate) fn encode(
    image: &DynamicImage,
    format: Format,
    profile: Option<&[u8]>,
    writer: &mut (impl Write + Seek),
) -> ImageResult<()> {
    let image = suited(image, format);
    match format {
        Format::Png => image.write_with_encoder(with_profile(PngEncoder::new(writer), profile)?),
        Format::Jpeg => {
            let encoder = JpegEncoder::new_with_quality(writer, JPEG_QUALITY);
            image.write_with_encoder(with_profile(encoder, profile)?)
        }
        Format::Tiff => image.write_with_encoder(with_profile(TiffEncoder::new(writer), profile)?),
        Format::Pnm => write_pnm(&image, writer),
    }
}

fn with_profile<E: ImageEncoder>(mut encoder: E, profile: Option<&[u8]>) -> ImageResult<E> {
    if let Some(profile) = profile {
        encoder.set_icc_profile(profile.to_vec()).map_err(ImageError::Unsupported)?;
    }
    Ok(encoder)
}

/// Bytes whose order is swapped at once: a whole number of samples.
const PART: usize = 64 << 10;

/// Grey as PGM, colour as PPM. The `image` crate's encoder knows these for 8 bits only.
fn write_pnm(image: &DynamicImage, writer: &mut impl Write) -> ImageResult<()> {
    let color = image.color();
    let deep = color.bytes_per_pixel() > color.channel_count();
    let (kind, largest) = (if color.has_color() { 6 } else { 5 }, if deep { 65535 } else { 255 });
    write!(writer, "P{kind}\n{} {}\n{largest}\n", image.width(), image.height())?;
    if !deep {
        return Ok(writer.write_all(image.as_bytes())?);
    }
    let mut part = Vec::new();
    for samples in image.as_bytes().chunks(PART) {
        part.clear();
        let swapped = samples.chunks_exact(2).map(|s| u16::from_ne_bytes([s[0], s[1]]).to_be_bytes());
        part.extend(swapped.flatten());
        writer.write_all(&part)?;
    }
    Ok(())
}

/// The image with the channels and depth that a format holds.
fn suited(image: &DynamicImage, format: Format) -> Cow<'_, DynamicImage> {
    let color = image.color();
    let (grey, alpha, deep) =
        (!color.has_color(), color.has_alpha(), color.bytes_per_pixel() / color.channel_count() > 1);
    Cow::Owned(match format {
        Format::Jpeg if grey => DynamicImage::ImageLuma8(image.to_luma8()),
        Format::Jpeg => DynamicImage::ImageRgb8(image.to_rgb8()),
        Format::Pnm if alpha && grey && deep => DynamicImage::ImageLuma16(image.to_luma16()),
        Format::Pnm if alpha && grey => DynamicImage::ImageLuma8(image.to_luma8()),
        Format::Pnm if alpha && deep => DynamicImage::ImageRgb16(image.to_rgb16()),
        Format::Pnm if alpha => DynamicImage::ImageRgb8(image.to_rgb8()),
        // This format's encoder has no grey with alpha.
        Format::Tiff if alpha && grey && deep => DynamicImage::ImageRgba16(image.to_rgba16()),
        Format::Tiff if alpha && grey => DynamicImage::ImageRgba8(image.to_rgba8()),
        _ => return Cow::Borrowed(image),
    })
}
