//! One app at work: what an image, or random values, become as its inputs, and what its outputs become as an image.

use crate::app::{App, Channels, Edges, Levels};
use crate::random::random_u16;
use halide::buffer::Span;
use halide::call::RunStats;
use halide::prelude::*;
use image::DynamicImage;
use std::time::{Duration, Instant};

/// How wide and high the parts are that [`Job::check`] compares.
const CHECKED_SIZE: i64 = 16;

/// What an app works on.
#[derive(Clone, Debug)]
pub enum Source {
    /// An image; the output is as large, with repeated edges.
    Image(DynamicImage),
    /// Random values for an output of this size, with as much around it as the app reads.
    Random {
        /// The seed of the values.
        seed: u64,
        /// Width of the output, at least 1.
        width: i64,
        /// Height of the output, at least 1.
        height: i64,
    },
}

/// An app with its inputs: some runs of one pipeline, usually one.
pub struct Job {
    /// The app.
    pub app: &'static App,
    /// Its algorithm.
    pub pipeline: Pipeline,
    /// Width and height of the output.
    pub size: (i64, i64),
    inputs: Vec<Buffer<u16>>,
    original: Option<DynamicImage>,
}

/// Parameters by name.
pub type Params = [(String, Scalar)];

impl Job {
    /// An app on a source.
    pub fn new(app: &'static App, source: Source) -> Result<Job, Error> {
        match source {
            Source::Random { seed, width, height } => {
                let pipeline = (app.pipeline)(Edges::Inside)?;
                let input = random_u16(seed, &(app.input_extents)(width, height))?;
                Ok(Job { app, pipeline, size: (width, height), inputs: vec![input], original: None })
            }
            Source::Image(image) => {
                let pipeline = (app.pipeline)(Edges::Repeat)?;
                let size = (i64::from(image.width()), i64::from(image.height()));
                let inputs = inputs_of(app, &image)?;
                Ok(Job { app, pipeline, size, inputs, original: Some(image) })
            }
        }
    }

    /// Buffers for the outputs: one per run.
    pub fn outputs(&self) -> Result<Vec<Buffer<u16>>, Error> {
        self.inputs.iter().map(|_| Ok(Buffer::new(self.output_extents())?)).collect()
    }

    /// Runs everything once, timing kernels of a graphics processor too: what each run did there, and how long it took in all.
    pub fn profile(
        &self,
        compiled: &Compiled,
        params: &Params,
        outputs: &mut [Buffer<u16>],
    ) -> Result<Vec<(halide::gpu::GpuStats, Duration)>, Error> {
        let mut all = Vec::new();
        for (input, output) in self.inputs.iter().zip(outputs) {
            let run = call(compiled, input, params, None).profile();
            let started = Instant::now();
            let stats = run.realize_into(output.view_mut()?)?;
            all.extend(stats.gpu.map(|gpu| (gpu, started.elapsed())));
        }
        Ok(all)
    }

    /// Runs everything once. The statistics are those of the run that took the most memory.
    pub fn run(
        &self,
        compiled: &Compiled,
        params: &Params,
        threads: Option<usize>,
        outputs: &mut [Buffer<u16>],
    ) -> Result<RunStats, Error> {
        let mut most = RunStats::default();
        for (input, output) in self.inputs.iter().zip(outputs) {
            let stats = call(compiled, input, params, threads).realize_into(output.view_mut()?)?;
            most.peak_bytes = most.peak_bytes.max(stats.peak_bytes);
        }
        Ok(most)
    }

    /// Computes parts of the outputs (two corners and the middle) with `reference` and gives the largest difference.
    pub fn check(&self, reference: &Compiled, params: &Params, outputs: &[Buffer<u16>]) -> Result<u16, Error> {
        let mut largest = 0;
        for (input, output) in self.inputs.iter().zip(outputs) {
            for region in self.checked_regions() {
                let expected: Buffer<u16> = call(reference, input, params, None).realize_region(&region)?;
                let got = output.crop(&region)?.to_vec();
                let differences = expected.to_vec().into_iter().zip(got).map(|(a, b)| a.abs_diff(b));
                largest = differences.fold(largest, u16::max);
            }
        }
        Ok(largest)
    }

    /// The outputs as an image of the depth and channels of the source; 16 bit for random values.
    pub fn image(&self, outputs: &[Buffer<u16>]) -> Result<DynamicImage, Error> {
        let (width, height) = self.size;
        let Some(original) = &self.original else {
            return Ok(outputs[0].to_image()?);
        };
        let color = original.color();
        let mut samples: Vec<u16> = outputs.iter().flat_map(|output| output.to_vec()).collect();
        if self.app.channels == Channels::Rgb {
            let size = samples.len() / 3;
            samples.truncate(if color.has_color() { 3 * size } else { size });
            if color.has_alpha() {
                let all = Buffer::<u16>::from_image(original)?.to_vec();
                samples.extend(&all[all.len() - size..]);
            }
        }
        let extents = [width, height, i64::from(color.channel_count())];
        let deep = color.bytes_per_pixel() > color.channel_count();
        if !deep && self.app.levels == Levels::AsStored {
            let narrow: Vec<u8> = samples.iter().map(|v| (*v).min(255) as u8).collect();
            return Ok(Buffer::from_slice(extents, &narrow)?.to_image()?);
        }
        let image = Buffer::from_slice(extents, &samples)?.to_image()?;
        Ok(if deep { image } else { Buffer::<u8>::from_image(&image)?.to_image()? })
    }

    fn output_extents(&self) -> Vec<i64> {
        let (width, height) = self.size;
        match self.app.channels {
            Channels::Each => vec![width, height],
            Channels::Rgb => vec![width, height, 3],
        }
    }

    fn checked_regions(&self) -> Vec<Region> {
        let spans = |size: i64, at: i64| {
            let extent = size.min(CHECKED_SIZE);
            Span { min: (size - extent) * at / 2, extent }
        };
        let region = |at: i64| {
            let mut spans = vec![spans(self.size.0, at), spans(self.size.1, at)];
            spans.extend(self.output_extents()[2..].iter().map(|&extent| Span { min: 0, extent }));
            Region::new(spans)
        };
        let mut regions: Vec<Region> = (0..=2).map(region).collect();
        regions.dedup();
        regions
    }
}

fn call<'c>(compiled: &'c Compiled, input: &Buffer<u16>, params: &Params, threads: Option<usize>) -> Call<'c> {
    let mut call = compiled.inputs().image_named("input", input);
    for (name, value) in params {
        call = call.param_named(name, *value);
    }
    threads.into_iter().fold(call, Call::threads)
}

/// The inputs of the runs that an image takes.
fn inputs_of(app: &App, image: &DynamicImage) -> Result<Vec<Buffer<u16>>, Error> {
    let (color, full) = (image.color(), app.levels == Levels::Full);
    let deep = color.bytes_per_pixel() > color.channel_count();
    let all = if deep || full {
        Buffer::<u16>::from_image(image)?
    } else {
        let narrow = Buffer::<u8>::from_image(image)?;
        let extents: Vec<i64> = narrow.dims().iter().map(|d| d.extent).collect();
        let wide: Vec<u16> = narrow.to_vec().into_iter().map(u16::from).collect();
        Buffer::from_slice(extents, &wide)?
    };
    match app.channels {
        Channels::Each => (0..all.extent(2)).map(|c| Ok(all.slice(2, c)?)).collect(),
        Channels::Rgb => {
            let planes = if color.has_color() { [0, 1, 2] } else { [0, 0, 0] };
            let (plane, values) = ((all.extent(0) * all.extent(1)) as usize, all.to_vec());
            let rgb: Vec<u16> = planes.iter().flat_map(|c| &values[c * plane..(c + 1) * plane]).copied().collect();
            Ok(vec![Buffer::from_slice([all.extent(0), all.extent(1), 3], &rgb)?])
        }
    }
}
