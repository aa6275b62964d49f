//! Conversions between buffers and the images of the `image` crate.
//!
//! A buffer of an image has the dimensions x, y and channel, in this order, each channel a plane of its own: the layout
//! that schedules expect. Going out, a buffer of two dimensions is one grey channel.

use ::image::{DynamicImage, ImageBuffer as Pixels, Luma, LumaA, Rgb, Rgba};
use halide_core::buffer::{AnyBuffer, Buffer, BufferError};
use halide_core::types::ScalarType;
use halide_core::value::Element;
use std::fmt;

/// Element types that images hold.
pub trait ImageElement: Element + private::Convert {}

impl ImageElement for u8 {}
impl ImageElement for u16 {}
impl ImageElement for f32 {}

/// A buffer from an image and back. In the prelude, so that `Buffer::<u16>::from_image(&photo)?` reads as it should.
///
/// ```
/// use halide::prelude::*;
/// let grey = Buffer::from_slice([2, 1], &[0u8, 255])?;
/// let image = grey.to_image()?;
/// assert_eq!((image.width(), image.height()), (2, 1));
/// assert_eq!(Buffer::<u16>::from_image(&image)?.to_vec(), [0, 65535]);
/// # Ok::<(), Error>(())
/// ```
pub trait BufferImage: Sized {
    /// The pixels as x, y, channel, with as many channels as the image has: 1, 2 (with alpha), 3 or 4 (with alpha).
    /// Values are scaled from the image's full range to the element's (0 to 255, 0 to 65535, or 0.0 to 1.0).
    ///
    /// # Errors
    /// No memory for the buffer.
    fn from_image(image: &DynamicImage) -> Result<Self, ImageError>;
    /// The image with these pixels: two dimensions are grey, the third holds 1 to 4 channels. Grey of `f32` becomes
    /// RGB, as images have no such grey.
    ///
    /// # Errors
    /// Extents that are not those of an image.
    fn to_image(&self) -> Result<DynamicImage, ImageError>;
}

impl<T: ImageElement> BufferImage for Buffer<T> {
    fn from_image(image: &DynamicImage) -> Result<Buffer<T>, ImageError> {
        let channels = image.color().channel_count() as usize;
        let (width, height) = (image.width() as usize, image.height() as usize);
        let mut buffer = Buffer::<T>::new([width, height, channels])?;
        deinterleave(&T::samples(image, channels), channels, &mut buffer)?;
        Ok(buffer)
    }

    fn to_image(&self) -> Result<DynamicImage, ImageError> {
        let (width, height, channels) = image_shape(self)?;
        let interleaved = interleave(self, channels);
        let shown = if T::TYPE == ScalarType::F32 && channels < 3 { channels + 2 } else { channels };
        let samples = if shown == channels { interleaved } else { grey_to_rgb(&interleaved, channels) };
        T::image(width, height, shown, samples).ok_or(ImageError::Shape { dims: vec![width, height, shown as u32] })
    }
}

/// The image with the pixels of a buffer whose type is known at run time; see [`BufferImage::to_image`].
///
/// # Errors
/// Extents or elements that are not those of an image.
pub fn any_to_image(buffer: &AnyBuffer) -> Result<DynamicImage, ImageError> {
    match buffer.ty() {
        ScalarType::U8 => buffer.typed::<u8>()?.to_image(),
        ScalarType::U16 => buffer.typed::<u16>()?.to_image(),
        ScalarType::F32 => buffer.typed::<f32>()?.to_image(),
        ty => Err(ImageError::Type(ty)),
    }
}

/// A reason that a buffer cannot be an image.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ImageError {
    /// Not two dimensions, or a third with other than 1 to 4 channels, or an extent of 0 or beyond u32.
    Shape {
        /// The extents.
        dims: Vec<u32>,
    },
    /// An element type that images do not hold.
    Type(ScalarType),
    /// The buffer could not be made or read.
    Buffer(BufferError),
}

impl fmt::Display for ImageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ImageError::Shape { dims } => write!(
                f,
                "extents {dims:?} are not an image; it has a width and a height of at least 1, and 1 to 4 channels"
            ),
            ImageError::Type(ty) => write!(f, "{ty} values are not an image; cast to u8, u16 or f32"),
            ImageError::Buffer(error) => error.fmt(f),
        }
    }
}

halide_core::debug_is_display!(ImageError);

impl std::error::Error for ImageError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            ImageError::Shape { .. } | ImageError::Type(_) => None,
            ImageError::Buffer(error) => Some(error),
        }
    }
}

impl From<BufferError> for ImageError {
    fn from(error: BufferError) -> ImageError {
        ImageError::Buffer(error)
    }
}

/// Width, height and channels of a buffer that is an image.
fn image_shape(buffer: &AnyBuffer) -> Result<(u32, u32, usize), ImageError> {
    let extents: Vec<u32> = buffer.dims().iter().map(|d| u32::try_from(d.extent).unwrap_or(u32::MAX)).collect();
    match extents[..] {
        [width, height] if width > 0 && height > 0 => Ok((width, height, 1)),
        [width, height, channels @ 1..=4] if width > 0 && height > 0 => Ok((width, height, channels as usize)),
        _ => Err(ImageError::Shape { dims: extents }),
    }
}

/// Puts interleaved samples into the planes of a dense buffer.
fn deinterleave<T: Element>(samples: &[T], channels: usize, buffer: &mut Buffer<T>) -> Result<(), BufferError> {
    let mut view = buffer.view_mut()?;
    let Some(planes) = view.as_mut_slice() else { return Ok(()) };
    let size = planes.len() / channels;
    for (c, plane) in planes.chunks_exact_mut(size.max(1)).enumerate() {
        for (to, pixel) in plane.iter_mut().zip(samples.chunks_exact(channels)) {
            *to = pixel[c];
        }
    }
    Ok(())
}

/// The samples of a buffer with the channels of each pixel together.
fn interleave<T: Element>(buffer: &Buffer<T>, channels: usize) -> Vec<T> {
    let owned;
    let planes = match buffer.as_slice() {
        Some(planes) => planes,
        None => {
            owned = buffer.to_vec();
            &owned
        }
    };
    if channels == 1 {
        return planes.to_vec();
    }
    let size = planes.len() / channels;
    let mut samples = vec![T::default(); planes.len()];
    for (c, plane) in planes.chunks_exact(size).enumerate() {
        for (pixel, &value) in samples.chunks_exact_mut(channels).zip(plane) {
            pixel[c] = value;
        }
    }
    samples
}

/// Grey, or grey with alpha, as RGB or RGBA.
fn grey_to_rgb<T: Copy>(samples: &[T], channels: usize) -> Vec<T> {
    let pixels = samples.chunks_exact(channels);
    pixels.flat_map(|p| [p[0], p[0], p[0]].into_iter().chain(p[1..].iter().copied())).collect()
}

mod private {
    use crate::image::*;

    /// Conversions between an element type and the image types of its depth.
    pub trait Convert: Sized {
        /// All samples, interleaved, scaled to this type; `channels` are the image's own.
        fn samples(image: &DynamicImage, channels: usize) -> Vec<Self>;
        /// The image of these interleaved samples, if there is one with so many channels.
        fn image(width: u32, height: u32, channels: usize, samples: Vec<Self>) -> Option<DynamicImage>;
    }

    macro_rules! integers {
        ($($ty:ty: $l:ident $la:ident $rgb:ident $rgba:ident, $L:ident $La:ident $Rgb:ident $Rgba:ident;)*) => {$(
            impl Convert for $ty {
                fn samples(image: &DynamicImage, channels: usize) -> Vec<$ty> {
                    match channels {
                        1 => image.$l().into_raw(),
                        2 => image.$la().into_raw(),
                        3 => image.$rgb().into_raw(),
                        _ => image.$rgba().into_raw(),
                    }
                }
                fn image(w: u32, h: u32, channels: usize, samples: Vec<$ty>) -> Option<DynamicImage> {
                    match channels {
                        1 => Pixels::<Luma<$ty>, _>::from_raw(w, h, samples).map(DynamicImage::$L),
                        2 => Pixels::<LumaA<$ty>, _>::from_raw(w, h, samples).map(DynamicImage::$La),
                        3 => Pixels::<Rgb<$ty>, _>::from_raw(w, h, samples).map(DynamicImage::$Rgb),
                        _ => Pixels::<Rgba<$ty>, _>::from_raw(w, h, samples).map(DynamicImage::$Rgba),
                    }
                }
            }
        )*};
    }
    integers! {
        u8: to_luma8 to_luma_alpha8 to_rgb8 to_rgba8, ImageLuma8 ImageLumaA8 ImageRgb8 ImageRgba8;
        u16: to_luma16 to_luma_alpha16 to_rgb16 to_rgba16, ImageLuma16 ImageLumaA16 ImageRgb16 ImageRgba16;
    }

    impl Convert for f32 {
        fn samples(image: &DynamicImage, channels: usize) -> Vec<f32> {
            match channels {
                1 => image.to_luma32f().into_raw(),
                2 => image.to_luma_alpha32f().into_raw(),
                3 => image.to_rgb32f().into_raw(),
                _ => image.to_rgba32f().into_raw(),
            }
        }
        fn image(width: u32, height: u32, channels: usize, samples: Vec<f32>) -> Option<DynamicImage> {
            match channels {
                3 => Pixels::from_raw(width, height, samples).map(DynamicImage::ImageRgb32F),
                4 => Pixels::from_raw(width, height, samples).map(DynamicImage::ImageRgba32F),
                _ => None,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::image::*;
    use halide_core::buffer::Region;

    fn check_round_trip<T: ImageElement>(channels: usize, value: impl Fn(i32) -> T) {
        let region = Region::of_extents([5, 3, channels]);
        let number = |at: &[i32]| at[0] + 5 * at[1] + 15 * at[2];
        let buffer = Buffer::from_fn(&region, |at| value(number(at))).unwrap();
        let back = Buffer::<T>::from_image(&buffer.to_image().unwrap()).unwrap();
        assert_eq!(back, buffer);
    }

    #[test]
    fn every_depth_and_channel_count_survives() {
        for channels in 1..=4 {
            check_round_trip::<u8>(channels, |n| n as u8);
            check_round_trip::<u16>(channels, |n| (n * 1091) as u16);
        }
        for channels in 3..=4 {
            check_round_trip::<f32>(channels, |n| n as f32 / 60.0);
        }
    }

    #[test]
    fn depths_scale_to_full_range() {
        let image = DynamicImage::ImageLuma8(Pixels::from_raw(3, 1, vec![0, 128, 255]).unwrap());
        assert_eq!(Buffer::<u16>::from_image(&image).unwrap().to_vec(), [0, 128 * 257, 65535]);
        assert_eq!(Buffer::<f32>::from_image(&image).unwrap().to_vec(), [0.0, 128.0 / 255.0, 1.0]);
    }

    #[test]
    fn views_and_two_dimensions_are_images_too() {
        let buffer = Buffer::from_fn(&Region::of_extents([4, 3, 3]), |at| (at[0] + 10 * at[1] + 100 * at[2]) as u16);
        let plane = buffer.unwrap().slice(2, 1).unwrap().crop(&Region::of_spans([(1, 2), (1, 2)])).unwrap();
        let image = plane.to_image().unwrap();
        assert_eq!(image.as_luma16().unwrap().as_raw(), &[111, 112, 121, 122]);
    }

    #[test]
    fn grey_floats_become_rgb() {
        let buffer = Buffer::from_slice([2, 1], &[0.25f32, 0.5]).unwrap();
        let image = buffer.to_image().unwrap();
        assert_eq!(image.as_rgb32f().unwrap().as_raw(), &[0.25, 0.25, 0.25, 0.5, 0.5, 0.5]);
    }

    #[test]
    fn what_is_no_image_says_why() {
        let check = |buffer: &AnyBuffer| any_to_image(buffer).unwrap_err().to_string();
        for extents in [vec![3], vec![3, 3, 5], vec![0, 3]] {
            assert_eq!(
                check(&AnyBuffer::new(ScalarType::U8, extents.clone()).unwrap()),
                format!(
                    "extents {extents:?} are not an image; it has a width and a height of at least 1, and 1 to 4 channels"
                )
            );
        }
        let of_i64 = check(&AnyBuffer::new(ScalarType::I64, [3, 3]).unwrap());
        assert_eq!(of_i64, "i64 values are not an image; cast to u8, u16 or f32");
    }
}
