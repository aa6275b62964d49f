//! Images of other sizes. The size of a job is that of the output.

use crate::{Job, Kernel, noise};
use fast_image_resize::images::Image;
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};

fn f32_bytes(count: usize) -> Vec<u8> {
    noise(count, 1).flat_map(|v| (v as f32).to_ne_bytes()).collect()
}
fn u8_bytes(count: usize) -> Vec<u8> {
    noise(count, 1).map(|v| (v * 255.0) as u8).collect()
}

fn resized(bytes: Vec<u8>, pixels: PixelType, from: (usize, usize), job: Job) -> Kernel {
    let source = Image::from_vec_u8(from.0 as u32, from.1 as u32, bytes, pixels).expect("an image of this size");
    let mut result = Image::new(job.width as u32, job.height as u32, pixels);
    let mut resizer = Resizer::new();
    let options = ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::CatmullRom));
    Box::new(move || resizer.resize(&source, &mut result, &options).expect("images of one kind"))
}

/// RGB of f32 to half its size, cubic.
pub(crate) fn half_f32(job: Job) -> Kernel {
    let from = (2 * job.width, 2 * job.height);
    resized(f32_bytes(3 * from.0 * from.1), PixelType::F32x3, from, job)
}
/// RGB of u8 to double its size, cubic.
pub(crate) fn double_u8(job: Job) -> Kernel {
    let from = (job.width / 2, job.height / 2);
    resized(u8_bytes(3 * from.0 * from.1), PixelType::U8x3, from, job)
}
/// The same by the crate `image`.
pub(crate) fn double_u8_image(job: Job) -> Kernel {
    let (width, height) = (job.width as u32 / 2, job.height as u32 / 2);
    let bytes = u8_bytes((3 * width * height) as usize);
    let source = image::RgbImage::from_raw(width, height, bytes).expect("an image of this size");
    let filter = image::imageops::FilterType::CatmullRom;
    Box::new(move || {
        std::hint::black_box(image::imageops::resize(&source, job.width as u32, job.height as u32, filter));
    })
}
