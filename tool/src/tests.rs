//! Apps that say nothing but their algorithm, on images and on random values.

use crate::app::{App, Takes};
use crate::job::{Job, Source};
use halide::prelude::*;
use image::{DynamicImage, GrayImage, Luma, RgbaImage};
use std::sync::Arc;

type Tested = Result<(), Box<dyn std::error::Error>>;

/// A sum of neighbours, which reads a pixel beyond each edge.
const NEIGHBOURS: App = App::new("neighbours", "", |_| {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let mut sums = Func::new("sums");
    sums[(x, y)] = input[(x - 1, y)] + input[(x + 1, y)];
    Pipeline::new([&sums])
});

/// The same, where zeros are around the image.
const BOUNDED: App = App::new("bounded", "", |_| {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let around = constant_exterior(&input, 0);
    let mut sums = Func::new("sums");
    sums[(x, y)] = around[(x - 1, y)] + around[(x + 1, y)];
    Pipeline::new([&sums])
});

/// Brightness of three channels.
const GRAY: App = App::new("gray", "", |_| {
    let input = ImageParam::new("input", U8, 3);
    let (x, y) = vars!(x, y);
    let mut gray = Func::new("gray");
    let channel = |c: i32| cast::<u16>(input[(x, y, c)]);
    gray[(x, y)] = cast::<u8>((channel(0) + channel(1) + channel(2)) / 3);
    Pipeline::new([&gray])
});

/// Every channel, looked up in a table.
const LOOKED_UP: App = App::new("looked_up", "", |_| {
    let (input, table) = (ImageParam::new("input", U8, 3), ImageParam::new("table", F32, 1));
    let (x, y, c) = vars!(x, y, c);
    let mut out = Func::new("out");
    out[(x, y, c)] = table[cast::<i32>(input[(x, y, c)])];
    Pipeline::new([&out])
});

/// Coordinates alone.
const RAMP: App = App::new("ramp", "", |_| {
    let (x, y) = vars!(x, y);
    let mut ramp = Func::new("ramp");
    ramp[(x, y)] = x + y;
    Pipeline::new([&ramp])
});

/// Two values at each point.
const BOTH: App = App::new("both", "", |_| {
    let x = Var::new("x");
    let mut both = Func::new("both");
    both[x] = tuple([x + 1, x * 2]);
    Pipeline::new([&both])
});

fn run(app: &'static App, source: Source) -> Result<(Job, Vec<AnyBuffer>), Box<dyn std::error::Error>> {
    let job = Job::new(app, source, &[])?;
    let compiled = job.pipeline.compile(&Schedule::new(), &Target::host())?;
    let mut outputs = job.outputs()?;
    job.run(&compiled, None, &mut outputs)?;
    Ok((job, outputs))
}

fn grey() -> Source {
    let image = GrayImage::from_fn(4, 2, |x, y| Luma([(10 * x + y) as u8]));
    Source::Image(Arc::new(DynamicImage::ImageLuma8(image)))
}

fn integer(buffer: &AnyBuffer, at: [i32; 2]) -> Option<i64> {
    buffer.get(at).map(Scalar::as_i64)
}

#[test]
fn images_go_on_with_their_nearest_pixels() -> Tested {
    let (job, outputs) = run(&NEIGHBOURS, grey())?;
    assert_eq!((job.size, job.app.takes, outputs.len()), ((4, 2), Takes::EachChannel, 1));
    assert_eq!([0, 1, 3].map(|x| integer(&outputs[0], [x, 1])), [Some(1 + 11), Some(1 + 21), Some(21 + 31)]);
    Ok(())
}

#[test]
fn boundary_conditions_see_the_image_itself() -> Tested {
    let (_, outputs) = run(&BOUNDED, grey())?;
    assert_eq!([0, 1, 3].map(|x| integer(&outputs[0], [x, 1])), [Some(11), Some(1 + 21), Some(21)]);
    Ok(())
}

#[test]
fn channels_that_an_image_lacks_are_its_last() -> Tested {
    let (job, outputs) = run(&GRAY, grey())?;
    assert_eq!((job.app.takes, outputs[0].dims().len()), (Takes::Channels, 2));
    assert_eq!(integer(&outputs[0], [3, 1]), Some(31));
    Ok(())
}

#[test]
fn all_channels_of_an_image_are_taken() -> Tested {
    let image = DynamicImage::ImageRgba8(RgbaImage::new(5, 3));
    let (job, outputs) = run(&LOOKED_UP, Source::Image(Arc::new(image)))?;
    assert_eq!((job.size, outputs[0].extent(2)), ((5, 3), 4));
    assert!(job.image(&outputs)?.is_some_and(|image| image.color().channel_count() == 4));
    Ok(())
}

#[test]
fn apps_without_inputs_run_on_sizes_alone() -> Tested {
    let (job, outputs) = run(&RAMP, Source::Random { seed: 0, width: 7, height: 1 })?;
    assert_eq!(job.app.takes, Takes::Nothing);
    assert_eq!(integer(&outputs[0], [6, 0]), Some(6));
    Ok(())
}

#[test]
fn pipelines_of_several_outputs_are_refused() -> Tested {
    let made = Job::new(&BOTH, Source::Random { seed: 0, width: 7, height: 1 }, &[]);
    let error = made.err().ok_or("it has two outputs")?.to_string();
    assert!(error.starts_with("`both` has several outputs"), "{error}");
    Ok(())
}

#[test]
fn random_values_suit_every_app() -> Tested {
    for app in [&NEIGHBOURS, &BOUNDED, &GRAY, &LOOKED_UP, &RAMP] {
        for (width, height) in [(1, 1), (13, 5)] {
            let (job, outputs) = run(app, Source::Random { seed: 3, width, height })?;
            assert_eq!((job.size, outputs.len()), ((width, height), 1), "{}", app.name);
        }
    }
    Ok(())
}
