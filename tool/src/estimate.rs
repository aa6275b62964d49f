//! Shapes and sizes of what an app works on, and the memory that it needs, before there is any of it.

use crate::app::{App, Edges, Settings, Shows, Takes};
use crate::inferred;
use crate::input::Input;
use crate::job_error::JobError;
use crate::memory;
use crate::params;
use halide::prelude::*;
use image::ColorType;

/// The number and size of the samples of a pixel.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    channels: u64,
    /// Bytes of a sample.
    depth: u64,
}

/// Inputs and output of an app.
pub(crate) struct Layout {
    pub(crate) inputs: Vec<Input>,
    /// The extents of the output.
    pub(crate) extents: Vec<i64>,
}

impl Layout {
    /// Returns those for an output or an image of this size, as the settings say. `channels` is the number of channels
    /// of an image.
    ///
    /// # Errors
    /// Those of bounds inference, for apps that do not say their inputs.
    pub(crate) fn new(
        app: &App,
        settings: &Settings,
        (pipeline, params): (&Pipeline, &[(String, Scalar)]),
        (width, height): (i64, i64),
        channels: Option<u64>,
    ) -> Result<Layout, Error> {
        let mut layout =
            Layout { inputs: (app.inputs)(settings, width, height), extents: (app.output)(settings, width, height) };
        if let (Takes::Channels, Some(channels)) = (app.takes, channels) {
            let channels = i64::try_from(channels).unwrap_or(i64::MAX);
            for input in &mut layout.inputs {
                input.region.iter_mut().skip(2).for_each(|(_, extent)| *extent = channels);
            }
            layout.extents.iter_mut().skip(2).for_each(|extent| *extent = channels);
        }
        let channels = channels.map_or(CHANNELS, |channels| i64::try_from(channels).unwrap_or(i64::MAX));
        let Layout { inputs, extents } = &mut layout;
        inferred::complete((inputs, extents), pipeline, params, [width, height, channels])?;
        Ok(layout)
    }
}

/// The channels of random images.
const CHANNELS: i64 = 3;

impl Shape {
    /// The shape of outputs for random values.
    pub(crate) const RANDOM: Shape = Shape { channels: 1, depth: 2 };

    /// Returns the shape of images with pixels of this type.
    pub fn of(color: ColorType) -> Shape {
        let channels = u64::from(color.channel_count());
        Shape { channels, depth: u64::from(color.bytes_per_pixel()) / channels }
    }
}

/// Checks, before an image is decoded, that there may be as much memory as an app needs to work on it.
///
/// # Errors
/// As of [`Job::within`](crate::job::Job::within).
pub fn check(
    app: &'static App,
    given: &[(String, String)],
    (width, height): (u32, u32),
    shape: Shape,
    cap: Option<u64>,
) -> Result<(), JobError> {
    let mut settings = Settings::new(app, Edges::Repeat);
    let rest = settings.take(app, given).map_err(JobError::Given)?;
    let pipeline = (app.pipeline)(&settings).map_err(Error::from)?;
    let app = &inferred::with_takes(app, &pipeline);
    let params = params::resolve(&pipeline, &rest).map_err(JobError::Given)?;
    let (width, height) = (i64::from(width), i64::from(height));
    let layout = Layout::new(app, &settings, (&pipeline, &params), (width, height), Some(shape.channels))?;
    let mut parts = needs(app, &pipeline, &layout, shape).to_vec();
    parts.push(("the image", points(&[width, height]).saturating_mul(shape.channels * shape.depth)));
    memory::check(&parts, cap).map_err(JobError::Memory)
}

/// Estimates the bytes that an app allocates itself for an image.
pub(crate) fn needs(app: &App, pipeline: &Pipeline, layout: &Layout, shape: Shape) -> [(&'static str, u64); 3] {
    let Layout { inputs, extents } = layout;
    let runs = if app.takes == Takes::EachChannel { shape.channels } else { 1 };
    let of_input = |input: &Input| {
        let extents: Vec<i64> = input.region.iter().map(|(_, extent)| *extent).collect();
        points(&extents).saturating_mul(input.ty.bytes() as u64)
    };
    let inputs = inputs.iter().map(of_input).fold(0, u64::saturating_add).saturating_mul(runs);
    let ty = pipeline.funcs[pipeline.outputs[0]].types[0];
    let points = points(extents).saturating_mul(runs);
    let result = if app.shows == Shows::Nothing { 0 } else { points.saturating_mul(shape.depth) };
    [("inputs", inputs), ("outputs", points.saturating_mul(ty.bytes() as u64)), ("the result", result)]
}

/// Returns the number of elements of a buffer; it saturates.
pub(crate) fn points(extents: &[i64]) -> u64 {
    extents.iter().fold(1u64, |all, extent| all.saturating_mul((*extent).max(0) as u64))
}
