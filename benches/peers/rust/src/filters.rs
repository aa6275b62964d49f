//! Filters of `imageproc`, which are of one channel of u8.

use crate::{Job, Kernel, noise};
use image::GrayImage;
use imageproc::filter::bilateral::GaussianEuclideanColorDistance;
use imageproc::filter::{bilateral_filter, box_filter};
use imageproc::{contrast, morphology};

/// `filter` of a random image of the job's size.
fn of_gray(job: Job, filter: impl Fn(&GrayImage) -> GrayImage + 'static) -> Kernel {
    let bytes = noise(job.width * job.height, 1).map(|v| (v * 255.0) as u8).collect();
    let image = GrayImage::from_raw(job.width as u32, job.height as u32, bytes).expect("an image of this size");
    Box::new(move || {
        std::hint::black_box(filter(&image));
    })
}

/// Means of 3 x 3 pixels.
pub(crate) fn blur(job: Job) -> Kernel {
    of_gray(job, |image| box_filter(image, 1, 1))
}
/// Equalises the histogram.
pub(crate) fn equalise(job: Job) -> Kernel {
    of_gray(job, contrast::equalize_histogram)
}
/// Maxima over discs of radius 26.
pub(crate) fn dilate(job: Job) -> Kernel {
    let disc = morphology::Mask::disk(26);
    of_gray(job, move |image| morphology::grayscale_dilate(image, &disc))
}
/// The bilateral filter, exactly, over 9 x 9 pixels.
pub(crate) fn bilateral(job: Job) -> Kernel {
    of_gray(job, |image| bilateral_filter(image, 4, 8.0, GaussianEuclideanColorDistance::new(25.5)))
}
