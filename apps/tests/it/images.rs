//! Images in and out.

use crate::{Workplace, write_grey};
use image::{DynamicImage, ImageBuffer, Luma};

/// [`blurred`] of an image with values up to 65535, which are taken as thirds: three of those fit in 16 bits.
fn deep_blurred(input: &ImageBuffer<Luma<u16>, Vec<u16>>) -> ImageBuffer<Luma<u16>, Vec<u16>> {
    let of = |image: &ImageBuffer<Luma<u16>, Vec<u16>>, value: fn(f64) -> f64| {
        ImageBuffer::from_fn(image.width(), image.height(), |x, y| {
            Luma([value(f64::from(image.get_pixel(x, y).0[0])).round() as u16])
        })
    };
    of(&blurred(&of(input, |v| v / 3.0)), |v| v * 3.0)
}

/// 3x3 box blur in two passes of u16, with repeated edges.
fn blurred(input: &ImageBuffer<Luma<u16>, Vec<u16>>) -> ImageBuffer<Luma<u16>, Vec<u16>> {
    let (w, h) = input.dimensions();
    let at = |x: u32, y: u32| input.get_pixel(x.min(w - 1), y.min(h - 1)).0[0];
    let mean = |a: u16, b: u16, c: u16| (a + b + c) / 3;
    let line = |x: u32, y: u32| mean(at(x, y), at(x + 1, y), at(x + 2, y));
    ImageBuffer::from_fn(w, h, |x, y| Luma([mean(line(x, y), line(x, y + 1), line(x, y + 2))]))
}

#[test]
fn blur_of_a_deep_grey_image_is_exact() {
    let place = Workplace::new();
    for (width, height) in [(1, 1), (7, 5), (33, 40)] {
        let input = write_grey(&place.path("a.png"), width, height);
        place.succeed("run blur a.png b.png");
        let output = image::open(place.path("b.png")).unwrap();
        assert_eq!(output, DynamicImage::ImageLuma16(deep_blurred(&input)), "{width}x{height}");
    }
}

#[test]
fn channels_are_blurred_one_by_one_and_depth_is_kept() {
    let place = Workplace::new();
    let input =
        image::RgbaImage::from_fn(20, 10, |x, y| image::Rgba([x as u8, y as u8 * 3, (x * y) as u8, 255 - x as u8]));
    input.save(place.path("a.png")).unwrap();
    place.succeed("run blur a.png b.png");
    let DynamicImage::ImageRgba8(output) = image::open(place.path("b.png")).unwrap() else { panic!("not 8-bit RGBA") };
    for c in 0..4 {
        let plane = ImageBuffer::from_fn(20, 10, |x, y| Luma([u16::from(input.get_pixel(x, y).0[c])]));
        let expected = blurred(&plane);
        for (x, y, pixel) in output.enumerate_pixels() {
            assert_eq!(u16::from(pixel.0[c]), expected.get_pixel(x, y).0[0], "channel {c} at {x}, {y}");
        }
    }
}

#[test]
fn local_laplacian_keeps_kind_and_alpha() {
    let place = Workplace::new();
    let kinds = [
        DynamicImage::ImageLuma8(ImageBuffer::from_fn(6, 5, |x, y| Luma([(x * 40 + y) as u8]))),
        DynamicImage::ImageRgba16(ImageBuffer::from_fn(6, 5, |x, y| {
            image::Rgba([(x * 9000) as u16, (y * 9000) as u16, 30000, (x * y * 1000) as u16])
        })),
    ];
    for input in kinds {
        input.save(place.path("a.png")).unwrap();
        place.succeed("run local_laplacian a.png b.png");
        let output = image::open(place.path("b.png")).unwrap();
        assert_eq!((output.width(), output.height(), output.color()), (6, 5, input.color()));
        if let (DynamicImage::ImageRgba16(a), DynamicImage::ImageRgba16(b)) = (&input, &output) {
            assert!(a.pixels().zip(b.pixels()).all(|(p, q)| p.0[3] == q.0[3]), "alpha is passed on");
            assert_ne!(a, b);
        }
    }
}

/// Whatever type an image is resized in, the picture is the same: in fixed point it may round the other way.
#[test]
fn resize_shows_the_same_picture_in_every_type() {
    let place = Workplace::new();
    let mut state = 1u32;
    let input = image::RgbImage::from_fn(53, 37, |_, _| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // Full, empty and everything between, so that filters overshoot.
        let level = |shift: u32| ((state >> shift) as u8 & 0x3f).saturating_mul(9).saturating_sub(90);
        image::Rgb([level(8), level(14), level(20)])
    });
    input.save(place.path("a.png")).unwrap();
    for filter in ["cubic", "box", "linear", "lanczos"] {
        for scale in ["1/3", "3/4", "2"] {
            let mut exact: Option<image::RgbImage> = None;
            for ty in ["f32", "u16", "u8"] {
                let settings = format!("--param filter={filter} --param scale={scale} --param type={ty}");
                place.succeed(&format!("run resize a.png b.png {settings}"));
                let output = image::open(place.path("b.png")).unwrap().to_rgb8();
                let first = exact.get_or_insert_with(|| output.clone());
                let pairs = first.iter().zip(output.iter());
                let differences: Vec<u8> = pairs.map(|(a, b)| a.abs_diff(*b)).filter(|d| *d > 0).collect();
                assert!(differences.iter().all(|d| *d == 1), "{settings}");
                // Mostly where the exact value lies in the middle between two levels.
                let share = differences.len() as f64 / first.len() as f64;
                assert!(share < 0.05, "{settings}: {share} of values differ");
            }
        }
    }
}

#[test]
fn an_image_may_be_replaced_by_its_result() {
    let place = Workplace::new();
    let input = write_grey(&place.path("a.png"), 12, 9);
    place.succeed("run blur a.png a.png");
    assert_eq!(image::open(place.path("a.png")).unwrap(), DynamicImage::ImageLuma16(deep_blurred(&input)));
    assert_eq!(place.files(), ["a.png"]);
}

#[test]
fn without_a_name_the_result_goes_to_out() {
    let place = Workplace::new();
    write_grey(&place.path("a.png"), 12, 9);
    let ran = place.succeed("run blur a.png");
    assert!(ran.stdout.contains("wrote out/blur.png"), "{}", ran.stdout);
    assert_eq!(place.files(), ["a.png", "out"]);
    assert!(place.path("out/blur.png").exists());
}

#[test]
fn random_values_are_written_as_deep_images() {
    let place = Workplace::new();
    place.succeed("run blur --size 16x4 --random 7 a.pgm");
    place.succeed("run blur --size 16x4 --random 7 b.png --schedule root");
    let (a, b) = (image::open(place.path("a.pgm")).unwrap(), image::open(place.path("b.png")).unwrap());
    assert_eq!(a, b);
    assert_eq!((a.width(), a.height(), a.color()), (16, 4, image::ColorType::L16));
    place.succeed("run blur --size 16x4 --random 8 b.png");
    assert_ne!(a, image::open(place.path("b.png")).unwrap());
}
