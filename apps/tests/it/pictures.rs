//! Pictures that apps make of images: shades, alpha and colour profiles.

use crate::Workplace;
use image::codecs::png::PngEncoder;
use image::{DynamicImage, ImageBuffer, ImageDecoder, ImageEncoder, ImageReader, Luma, Rgb, RgbImage, Rgba};
use std::fs::File;
use std::path::Path;

/// An image whose colours change slowly.
fn smooth(width: u32, height: u32) -> RgbImage {
    RgbImage::from_fn(width, height, |x, y| {
        let (x, y) = (x as f64 / width as f64, y as f64 / height as f64);
        Rgb([60.0 + 140.0 * x, 70.0 + 120.0 * y, 80.0 + 60.0 * (x + y)].map(|v| v as u8))
    })
}

/// The mean difference of two images, and the share of values that are further apart than `far`.
fn apart(a: &RgbImage, b: &RgbImage, far: u8) -> (f64, f64) {
    assert_eq!(a.dimensions(), b.dimensions());
    let all: Vec<u8> = a.iter().zip(b.iter()).map(|(a, b)| a.abs_diff(*b)).collect();
    let sum: f64 = all.iter().map(|d| f64::from(*d)).sum();
    let count = all.len() as f64;
    (sum / count, all.iter().filter(|d| **d > far).count() as f64 / count)
}

#[test]
fn an_all_white_image_stays_white() {
    let place = Workplace::new();
    ImageBuffer::from_pixel(40, 30, Luma([65535u16])).save(place.path("deep.png")).unwrap();
    RgbImage::from_pixel(40, 30, Rgb([255; 3])).save(place.path("color.png")).unwrap();
    for app in ["blur", "unsharp", "hist", "max_filter", "iir_blur", "bilateral_grid", "interpolate", "resize"] {
        for file in ["deep.png", "color.png"] {
            place.succeed(&format!("run {app} {file} out.png"));
            let output = image::open(place.path("out.png")).unwrap().to_rgb16();
            let darkest = output.iter().min().unwrap();
            assert!(*darkest >= 65533, "{app} {file}: {darkest}");
        }
    }
}

#[test]
fn blur_says_that_deep_values_are_scaled() {
    let place = Workplace::new();
    ImageBuffer::from_pixel(8, 8, Luma([65535u16])).save(place.path("deep.png")).unwrap();
    ImageBuffer::from_pixel(8, 8, Luma([255u8])).save(place.path("shallow.png")).unwrap();
    let line = "the image is taken as values from 0 to 21845 in place of 65535, so that its sums do not wrap\n";
    assert!(place.succeed("run blur deep.png out.png").stdout.contains(line));
    assert!(!place.succeed("run blur shallow.png out.png").stdout.contains("taken as"));
}

#[test]
fn a_camera_gives_the_picture_that_its_sensor_saw() {
    let place = Workplace::new();
    let input = smooth(96, 64);
    input.save(place.path("a.png")).unwrap();
    let text = place.succeed("run camera_pipe a.png b.png").stdout;
    assert!(text.contains("the image is taken as the raw values of a sensor"), "{text}");
    let (mean, share) = apart(&image::open(place.path("b.png")).unwrap().to_rgb8(), &input, 8);
    assert!(mean < 2.0 && share < 0.01, "{mean} {share}");
}

#[test]
fn holes_are_made_in_opaque_images_only_and_filled() {
    let place = Workplace::new();
    let input = smooth(96, 64);
    input.save(place.path("a.png")).unwrap();
    let text = place.succeed("run interpolate a.png b.png").stdout;
    assert!(text.contains("the image is taken as pixels of which one of four is missing"), "{text}");
    let (mean, share) = apart(&image::open(place.path("b.png")).unwrap().to_rgb8(), &input, 8);
    assert!(mean < 2.0 && share < 0.01, "{mean} {share}");
    // What has alpha is taken as it is: all of it is there.
    DynamicImage::ImageRgb8(input.clone()).to_rgba8().save(place.path("c.png")).unwrap();
    let ran = place.succeed("run interpolate c.png d.png");
    assert!(!ran.stdout.contains("taken as"), "{}", ran.stdout);
    assert!(ran.stderr.contains("note: alpha of the image is left out"), "{}", ran.stderr);
    assert_eq!(image::open(place.path("d.png")).unwrap().to_rgb8(), input);
}

/// Flat parts are grey in the middle, corners are bright and edges are dark, however small these are.
#[test]
fn corners_are_shown_with_their_sign() {
    let place = Workplace::new();
    let square = |x: u32, y: u32| (16..48).contains(&x) && (16..48).contains(&y);
    let input = RgbImage::from_fn(64, 64, |x, y| Rgb(if square(x, y) { [140; 3] } else { [100; 3] }));
    input.save(place.path("a.png")).unwrap();
    place.succeed("run harris a.png b.png");
    let output = image::open(place.path("b.png")).unwrap().to_luma8();
    let at = |x, y| output.get_pixel(x, y).0[0];
    assert_eq!((at(4, 4), at(32, 32)), (128, 128), "flat parts");
    assert!(at(16, 16) > 200 && at(47, 47) > 200, "corners: {} {}", at(16, 16), at(47, 47));
    assert!(at(16, 32) < 110, "an edge: {}", at(16, 32));
}

#[test]
fn outputs_that_are_no_image_are_told() {
    let place = Workplace::new();
    smooth(8, 8).save(place.path("a.png")).unwrap();
    let ran = place.succeed("run stencil_chain a.png");
    assert!(ran.stdout.ends_with("the output is no image, so none is written\n"), "{}", ran.stdout);
    assert_eq!(place.files(), ["a.png"]);
}

#[test]
fn alpha_is_resized_along() {
    let place = Workplace::new();
    let input = ImageBuffer::from_fn(40, 30, |x, _| Rgba([200u8, 100, 50, if x < 20 { 0 } else { 255 }]));
    input.save(place.path("a.png")).unwrap();
    for (settings, size) in [("", (20, 15)), (" --param type=u8 --param scale=2", (80, 60))] {
        let ran = place.succeed(&format!("run resize a.png b.png{settings}"));
        assert_eq!(ran.stderr, "", "nothing is left out");
        let DynamicImage::ImageRgba8(output) = image::open(place.path("b.png")).unwrap() else { panic!("no alpha") };
        assert_eq!(output.dimensions(), size);
        assert_eq!(
            (output.get_pixel(0, 5).0, output.get_pixel(size.0 - 1, 5).0),
            ([200, 100, 50, 0], [200, 100, 50, 255])
        );
    }
    DynamicImage::ImageRgba8(input).to_luma_alpha16().save(place.path("grey.png")).unwrap();
    place.succeed("run resize grey.png b.png");
    assert_eq!(image::open(place.path("b.png")).unwrap().color(), image::ColorType::La16);
}

/// The head of a profile of a colour space, and some of its data.
fn profile(space: &[u8; 4]) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..200).collect();
    bytes[16..20].copy_from_slice(space);
    bytes
}

fn write_with_profile(path: &Path, image: &DynamicImage, space: &[u8; 4]) {
    let mut encoder = PngEncoder::new(File::create(path).unwrap());
    encoder.set_icc_profile(profile(space)).unwrap();
    image.write_with_encoder(encoder).unwrap();
}

fn profile_of(path: &Path) -> Option<Vec<u8>> {
    ImageReader::open(path).unwrap().into_decoder().unwrap().icc_profile().unwrap()
}

#[test]
fn colour_profiles_are_kept() {
    let place = Workplace::new();
    let image = DynamicImage::ImageRgb8(smooth(30, 20));
    write_with_profile(&place.path("a.png"), &image, b"RGB ");
    for name in ["b.png", "b.jpg", "b.tif"] {
        for app in ["unsharp", "resize"] {
            let ran = place.succeed(&format!("run {app} a.png {name}"));
            assert_eq!(ran.stderr, "", "{app} {name}: nothing is left out");
            // What was written is read again: the profile of a small TIFF file is beyond the test's own decoder.
            place.succeed(&format!("run blur {name} again.png"));
            assert_eq!(profile_of(&place.path("again.png")), Some(profile(b"RGB ")), "{app} {name}");
        }
    }
    // A corner response is no colour.
    let ran = place.succeed("run harris a.png c.png");
    assert_eq!(profile_of(&place.path("c.png")), None);
    let note = "note: the colour profile of the image is left out: the output of `harris` has none\n";
    assert_eq!(ran.stderr, note);
    write_with_profile(&place.path("grey.png"), &image.grayscale(), b"GRAY");
    place.succeed("run unsharp grey.png d.png");
    assert_eq!(profile_of(&place.path("d.png")), Some(profile(b"GRAY")));
}

#[test]
fn formats_say_what_they_do_not_keep() {
    let place = Workplace::new();
    let image = DynamicImage::ImageRgb8(smooth(12, 10)).to_rgba16();
    write_with_profile(&place.path("a.png"), &DynamicImage::ImageRgba16(image), b"RGB ");
    let stderr = |name: &str| place.succeed(&format!("run unsharp a.png {name}")).stderr;
    assert_eq!(stderr("b.jpg"), "note: b.jpg does not keep alpha and 8 of 16 bits; a .png or .tif file does\n");
    assert_eq!(stderr("b.ppm"), "note: b.ppm does not keep alpha and the colour profile; a .png or .tif file does\n");
    assert_eq!(stderr("b.tif") + &stderr("b.png"), "");
}
