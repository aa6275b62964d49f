//! What outputs of apps become as images.

use crate::app::{App, Shows, Takes};
use crate::input::Picture;
use halide::prelude::*;
use image::DynamicImage;

/// Width and height of an output of these extents: the first two, but for outputs that are no images.
pub(crate) fn size(app: &App, extents: &[i64]) -> (i64, i64) {
    match extents[..] {
        [_, width, height, ..] if app.shows == Shows::Nothing && extents.len() > 3 => (width, height),
        [width, height, ..] => (width, height),
        _ => (1, 1),
    }
}

/// The outputs as an image of the depth of the `original`, with its alpha if it is as large; 16 bit without an original.
/// Nothing if they are no image.
pub(crate) fn image(
    app: &App,
    original: Option<&DynamicImage>,
    outputs: &[AnyBuffer],
) -> Result<Option<DynamicImage>, Error> {
    let first = &outputs[0];
    let (width, height) = (first.extent(0), first.extent(1));
    let picture = original.map(Picture::new);
    let white = match app.shows {
        Shows::Nothing => return Ok(None),
        Shows::AsStored => f64::from(picture.as_ref().map_or(65535, |p| p.white)),
        Shows::Full(white) => f64::from(white),
        Shows::FullType => first.ty().int_max().map_or(1.0, |most| most as f64),
        Shows::Stretched => outputs.iter().map(largest).fold(f64::MIN_POSITIVE, f64::max),
    };
    // From 0 to 1, plane after plane.
    let mut samples: Vec<f64> = Vec::new();
    for output in outputs {
        samples.extend(values(output)?.into_iter().map(|v| (v / white).clamp(0.0, 1.0)));
    }
    let plane = (width * height).max(1) as usize;
    if let Some(original) = original
        && let Some(picture) = &picture
        && app.takes != Takes::EachChannel
    {
        if !original.color().has_color() && samples.len() == 3 * plane && app.takes == Takes::Rgb {
            samples.truncate(plane);
        }
        let same_size = (picture.width, picture.height) == (width, height);
        if original.color().has_alpha() && same_size && app.takes == Takes::Rgb {
            samples.extend(picture.plane(picture.channels() - 1).iter().map(|&v| f64::from(v)));
        }
    }
    let extents = [width, height, (samples.len() / plane) as i64];
    Ok(Some(match picture.is_some_and(|p| p.white == 255) {
        true => Buffer::from_slice(extents, &samples.iter().map(|v| (v * 255.0).round() as u8).collect::<Vec<_>>())?
            .to_image()?,
        false => {
            Buffer::from_slice(extents, &samples.iter().map(|v| (v * 65535.0).round() as u16).collect::<Vec<_>>())?
                .to_image()?
        }
    }))
}

fn largest(buffer: &AnyBuffer) -> f64 {
    let all = values(buffer).unwrap_or_default();
    all.into_iter().filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// All values, plane after plane.
fn values(buffer: &AnyBuffer) -> Result<Vec<f64>, Error> {
    Ok(match buffer.ty() {
        U8 => buffer.typed::<u8>()?.to_vec().into_iter().map(f64::from).collect(),
        U16 => buffer.typed::<u16>()?.to_vec().into_iter().map(f64::from).collect(),
        F64 => buffer.typed::<f64>()?.to_vec(),
        _ => buffer.typed::<f32>()?.to_vec().into_iter().map(f64::from).collect(),
    })
}
