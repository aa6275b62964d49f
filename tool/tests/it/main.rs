//! The program that `halide new` writes: what its command line would do, without the command line.

#[path = "../../examples/mine.rs"]
#[expect(dead_code, reason = "`main` is for the example alone")]
mod mine;

use halide::check::Check;
use halide_tool::job::{Job, Source};
use image::{DynamicImage, RgbImage};
use std::sync::Arc;

type Tested = Result<(), Box<dyn std::error::Error>>;

#[test]
fn the_program_runs_on_a_photograph() -> Tested {
    let app = mine::tool().app("mine").ok_or("the app is there")?;
    let photo = RgbImage::from_fn(40, 30, |x, y| image::Rgb([x as u8, y as u8, 200]));
    let job = Job::new(app, Source::Image(Arc::new(DynamicImage::ImageRgb8(photo))), &[])?;
    let compiled = job.pipeline.compile(&app.schedules[0].parse()?, &halide::target::Target::host())?;
    let mut outputs = job.outputs()?;
    job.run(&compiled, None, &mut outputs)?;
    let sharp = job.image(&outputs)?.ok_or("it is an image")?;
    assert_eq!((sharp.width(), sharp.height(), sharp.color()), (40, 30, image::ColorType::Rgb8));
    // A plane that rises evenly has nothing to sharpen, but at its edges.
    assert_eq!(sharp.to_rgb8().get_pixel(20, 15).0, [20, 15, 200]);
    Ok(())
}

#[test]
fn the_schedules_of_the_program_agree() -> Tested {
    let app = mine::tool().app("mine").ok_or("the app is there")?;
    assert_eq!(app.schedules.len(), 2);
    for (width, height) in [(1, 1), (17, 5), (35, 40)] {
        let job = Job::new(app, Source::Random { seed: 1, width, height }, &[])?;
        let mut check = Check::new(&job.pipeline);
        for named in app.schedules {
            check = check.schedule(named.name, &named.parse()?);
        }
        job.cases().into_iter().fold(check, Check::case).run()?;
    }
    Ok(())
}
