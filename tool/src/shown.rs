//! Images of the outputs of apps.

use crate::app::{App, Shows, Takes};
use crate::input::Picture;
use halide::image::ImageError;
use halide::prelude::*;
use halide::value::Element;
use image::{DynamicImage, ImageBuffer as Pixels};
use std::ops::Range;
use std::sync::Arc;

/// Width and height of an output of these extents: the first two, but for outputs that are no images.
pub(crate) fn size(app: &App, extents: &[i64]) -> (i64, i64) {
    match extents[..] {
        [_, width, height, ..] if app.shows == Shows::Nothing && extents.len() > 3 => (width, height),
        [width, height, ..] => (width, height),
        _ => (1, 1),
    }
}

/// The outputs as an image of the depth of the `original`, with its alpha if it is as large; 16 bit without an
/// original. Nothing if they are no image. `white` is the brightest value of the first input.
pub(crate) fn image(
    app: &App,
    original: Option<&Arc<DynamicImage>>,
    white: u32,
    outputs: &[AnyBuffer],
) -> Result<Option<DynamicImage>, Error> {
    if app.shows == Shows::Nothing {
        return Ok(None);
    }
    let first = &outputs[0];
    let (width, height) = (first.extent(0), first.extent(1));
    let picture = original.map(Picture::new);
    let outputs = outputs.iter().map(Values::new).collect::<Result<Vec<_>, _>>()?;
    let scale = match app.shows {
        Shows::Nothing => return Ok(None),
        Shows::AsInput => Scale::From0To(f64::from(white)),
        Shows::Full(white) => Scale::From0To(f64::from(white)),
        Shows::FullType => Scale::From0To(first.ty().int_max().map_or(1.0, |most| most as f64)),
        Shows::Signed => Scale::Signed(outputs.iter().map(Values::large).fold(f64::MIN_POSITIVE, f64::max)),
    };
    let size = (width * height).max(1) as usize;
    let mut planes: Vec<Plane<'_>> = Vec::new();
    for values in &outputs {
        planes.extend((0..values.len() / size).map(|i| Plane::Of(values, i * size..(i + 1) * size)));
    }
    if let Some(original) = original
        && let Some(picture) = &picture
        && app.takes != Takes::EachChannel
        && app.takes != Takes::Channels
    {
        if !original.color().has_color() && planes.len() == 3 && app.takes == Takes::Rgb {
            planes.truncate(1);
        }
        let same_size = (picture.width, picture.height) == (width, height);
        if original.color().has_alpha() && same_size && app.takes == Takes::Rgb {
            planes.push(Plane::Alpha(picture));
        }
    }
    let dims = [width as u32, height as u32, planes.len() as u32];
    let scaled = |v| scale.of(v);
    let made = match picture.as_ref().is_some_and(|p| p.white == 255) {
        true => of_samples(dims, interleaved(&planes, size, scaled, |v| (v * 255.0).round() as u8)),
        false => of_samples(dims, interleaved(&planes, size, scaled, |v| (v * 65535.0).round() as u16)),
    };
    made.map(Some).ok_or_else(|| ImageError::Shape { dims: dims.to_vec() }.into())
}

/// The values of an output that are black and white in its image.
#[derive(Clone, Copy, Debug)]
enum Scale {
    /// Values from 0 to this.
    From0To(f64),
    /// Values from this below 0 to this above.
    Signed(f64),
}

/// The power of values of both signs that is shown: small ones are to be seen beside large ones.
const RAISED: f64 = 0.5;

impl Scale {
    /// The brightness of a value, from 0 to 1.
    fn of(self, value: f64) -> f64 {
        match self {
            Scale::From0To(white) => (value / white).clamp(0.0, 1.0),
            Scale::Signed(most) => {
                let part = (value.abs() / most).min(1.0).powf(RAISED);
                0.5 + 0.5 * part.copysign(value)
            }
        }
    }
}

/// The part of an output's values that are no larger than what is shown as the largest.
const SHOWN_PART: f64 = 0.998;

/// The number of values among which the largest is looked for.
const SAMPLED: usize = 1 << 20;

/// A channel of the image to be.
enum Plane<'a> {
    /// These elements of an output, on its scale.
    Of(&'a Values, Range<usize>),
    /// The last channel of the original, from 0 to 1.
    Alpha(&'a Picture),
}

/// All samples, those of a pixel together: what is on an output's scale goes through `scaled` first, to 0 to 1.
fn interleaved<T: Copy + Default>(
    planes: &[Plane<'_>],
    size: usize,
    scaled: impl Fn(f64) -> f64,
    stored: impl Fn(f64) -> T,
) -> Vec<T> {
    let mut samples = vec![T::default(); planes.len() * size];
    for (channel, plane) in planes.iter().enumerate() {
        let mut places = samples.iter_mut().skip(channel).step_by(planes.len());
        let mut put = |value: f64| {
            if let Some(place) = places.next() {
                *place = stored(value);
            }
        };
        match plane {
            Plane::Of(values, range) => values.each(range.clone(), |v| put(scaled(v))),
            Plane::Alpha(picture) => picture.plane(picture.channels() - 1).for_each(|v| put(f64::from(v))),
        }
    }
    samples
}

fn of_samples<T: Sample>([width, height, channels]: [u32; 3], samples: Vec<T>) -> Option<DynamicImage> {
    if width == 0 || height == 0 { None } else { T::image(width, height, channels, samples) }
}

/// The images of a depth.
trait Sample: Sized {
    fn image(width: u32, height: u32, channels: u32, samples: Vec<Self>) -> Option<DynamicImage>;
}

macro_rules! samples {
    ($($ty:ty: $l:ident $la:ident $rgb:ident $rgba:ident;)*) => {$(
        impl Sample for $ty {
            fn image(w: u32, h: u32, channels: u32, samples: Vec<$ty>) -> Option<DynamicImage> {
                match channels {
                    1 => Pixels::from_raw(w, h, samples).map(DynamicImage::$l),
                    2 => Pixels::from_raw(w, h, samples).map(DynamicImage::$la),
                    3 => Pixels::from_raw(w, h, samples).map(DynamicImage::$rgb),
                    4 => Pixels::from_raw(w, h, samples).map(DynamicImage::$rgba),
                    _ => None,
                }
            }
        }
    )*};
}

samples! {
    u8: ImageLuma8 ImageLumaA8 ImageRgb8 ImageRgba8;
    u16: ImageLuma16 ImageLumaA16 ImageRgb16 ImageRgba16;
}

/// The elements of an output, plane after plane.
enum Values {
    U8(Buffer<u8>),
    U16(Buffer<u16>),
    F32(Buffer<f32>),
    F64(Buffer<f64>),
}

impl Values {
    fn new(buffer: &AnyBuffer) -> Result<Values, Error> {
        Ok(match buffer.ty() {
            U8 => Values::U8(buffer.typed()?),
            U16 => Values::U16(buffer.typed()?),
            F64 => Values::F64(buffer.typed()?),
            _ => Values::F32(buffer.typed()?),
        })
    }
    fn len(&self) -> usize {
        let all = match self {
            Values::U8(b) => b.len(),
            Values::U16(b) => b.len(),
            Values::F32(b) => b.len(),
            Values::F64(b) => b.len(),
        };
        all as usize
    }
    /// Calls `f` with each of these elements.
    fn each(&self, range: Range<usize>, f: impl FnMut(f64)) {
        fn walk<T: Element>(b: &Buffer<T>, range: Range<usize>, of: impl Fn(T) -> f64, mut f: impl FnMut(f64)) {
            match b.as_slice() {
                Some(all) => all[range].iter().for_each(|v| f(of(*v))),
                None => b.to_vec()[range].iter().for_each(|v| f(of(*v))),
            }
        }
        match self {
            Values::U8(b) => walk(b, range, f64::from, f),
            Values::U16(b) => walk(b, range, f64::from, f),
            Values::F32(b) => walk(b, range, f64::from, f),
            Values::F64(b) => walk(b, range, |v| v, f),
        }
    }
    /// The magnitude that few values exceed: of all of them, or of values at equal distances if they are many.
    fn large(&self) -> f64 {
        let step = self.len().div_ceil(SAMPLED).max(1);
        let (mut sampled, mut count) = (Vec::new(), 0);
        self.each(0..self.len(), |v| {
            if count % step == 0 && v.is_finite() {
                sampled.push(v.abs());
            }
            count += 1;
        });
        if sampled.is_empty() {
            return 0.0;
        }
        let at = ((sampled.len() - 1) as f64 * SHOWN_PART).ceil() as usize;
        *sampled.select_nth_unstable_by(at, f64::total_cmp).1
    }
}
