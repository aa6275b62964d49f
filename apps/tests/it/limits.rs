//! Files and sizes that ask for too much, outputs that are no plain files, and texts that would control a terminal.

use crate::{Workplace, write_grey};
use halide_skips::{Need, skip};
use std::process::Command;
use std::time::{Duration, Instant};

/// Exit status 1 at once, with a text that has all `parts`.
fn refused(place: &Workplace, args: &str, parts: &[&str]) {
    let started = Instant::now();
    let before = place.files();
    let ran = place.run(args);
    assert_eq!(ran.status, 1, "halide {args}\n{}{}", ran.stdout, ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "halide {args}\nexpected `{part}` in\n{}", ran.stderr);
    }
    assert!(started.elapsed() < Duration::from_secs(60), "halide {args}");
    assert_eq!(place.files(), before, "halide {args}");
}

#[test]
fn images_are_estimated_before_they_are_decoded() {
    let place = Workplace::new();
    // Heads of files whose pixels never come.
    std::fs::write(place.path("a.pgm"), "P5 20000 20000 255\n").unwrap();
    let parts =
        ["a.pgm: an image of 20000x20000 needs 381.5 MiB of memory", "381.5 MiB for the image", "allows 100.0 MiB"];
    refused(&place, "run blur a.pgm b.png --memory-cap 100M", &parts);
    // There is room for the image, and none for working on it.
    let parts = [
        "a.pgm, an image of 20000x20000: it needs 2.2 GiB of memory (",
        "for inputs, ",
        "for outputs, ",
        "allows 1.0 GiB",
    ];
    refused(&place, "run blur a.pgm b.png --memory-cap 1G", &parts);
    std::fs::write(place.path("c.pgm"), "P5 4000000 4000000 255\n").unwrap();
    refused(&place, "run blur c.pgm b.png", &["4000000x4000000 needs 14901.2 GiB", "this machine has "]);
    refused(&place, "compare blur c.pgm", &["this machine has "]);
}

#[test]
fn sizes_are_estimated_before_anything_is_made() {
    let place = Workplace::new();
    let parts = ["--size 1000000x1000000: it needs 5587.9 GiB of memory (1862.7 GiB for inputs, ", "this machine has "];
    refused(&place, "run blur --size 1000000x1000000", &parts);
    refused(&place, "compare blur --size 1000000x1000000", &["this machine has "]);
    refused(&place, "run blur --size 1000x1000 --memory-cap 5M", &["allows 5.0 MiB", "choose a smaller size"]);
    refused(&place, "run blur --size 1000x1000 --memory-cap 0", &["allows 0 bytes"]);
    // What schedules store is of the run.
    let text = ["`blur_x` needs ", "Call::memory_cap"];
    refused(&place, "run blur --size 1000x1000 --schedule root --memory-cap 6M", &text);
    place.succeed("run blur --size 1000x1000 --schedule root --memory-cap 9M --check");
}

#[test]
fn an_image_takes_a_few_bytes_for_each_of_its_pixels() {
    let place = Workplace::new();
    image::GrayImage::from_fn(3000, 3000, |x, y| image::Luma([(x ^ y) as u8])).save(place.path("a.png")).unwrap();
    place.succeed("run blur a.png b.png --memory-cap 70M");
    refused(&place, "run blur a.png c.png --memory-cap 50M", &["3000x3000", "for inputs"]);
}

#[test]
fn endless_inputs_are_read_as_far_as_there_may_be_memory() {
    if !std::path::Path::new("/dev/zero").exists() {
        return skip(Need::File("/dev/zero"), "");
    }
    let place = Workplace::new();
    refused(&place, "run blur /dev/zero b.png --memory-cap 10M", &["/dev/zero: reading it needs 10.0 MiB"]);
    refused(&place, "run blur --size 8x8 --schedule /dev/zero", &["/dev/zero: it is longer than "]);
}

#[test]
fn truncated_photographs_are_named() {
    let place = Workplace::new();
    image::RgbImage::from_fn(90, 60, |x, y| image::Rgb([x as u8, y as u8, 9])).save(place.path("a.jpg")).unwrap();
    place.succeed("run blur a.jpg b.png");
    let whole = std::fs::read(place.path("a.jpg")).unwrap();
    for length in [whole.len() / 2, whole.len() - 30, whole.len() - 2] {
        std::fs::write(place.path("cut.jpg"), &whole[..length]).unwrap();
        refused(&place, "run blur cut.jpg c.png", &["cut.jpg: the file breaks off before the end of the image"]);
    }
}

#[cfg(unix)]
#[test]
fn links_and_pipes_stay_what_they_are() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let place = Workplace::new();
    write_grey(&place.path("a.png"), 8, 8);
    // To nothing yet, then to a file.
    symlink("real.png", place.path("link.png")).unwrap();
    for _ in 0..2 {
        place.succeed("run blur a.png link.png");
        assert!(place.path("link.png").is_symlink() && !place.path("real.png").is_symlink());
        assert!(image::open(place.path("real.png")).is_ok());
    }
    let pipe = place.path("pipe.png");
    if !Command::new("mkfifo").arg(&pipe).status().is_ok_and(|s| s.success()) {
        return skip(Need::Program("mkfifo"), "");
    }
    let reader = std::thread::spawn({
        let pipe = pipe.clone();
        move || std::fs::read(pipe).unwrap()
    });
    place.succeed("run blur a.png pipe.png");
    assert_eq!(reader.join().unwrap(), std::fs::read(place.path("real.png")).unwrap());
    assert!(std::fs::metadata(&pipe).unwrap().file_type().is_fifo());
    symlink("/dev/null", place.path("null.png")).unwrap();
    place.succeed("run blur a.png null.png");
    assert!(!std::fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn nothing_from_a_file_controls_the_terminal() {
    let place = Workplace::new();
    let escapes = |text: &str| text.chars().any(|c| c.is_control() && c != '\n' && c != '\t');
    std::fs::write(place.path("\u{1b}[31m\u{9b}m.png"), "none").unwrap();
    let ran = place.run("run blur \u{1b}[31m\u{9b}m.png b.png");
    assert!(ran.status == 1 && !escapes(&ran.stderr), "{:?}", ran.stderr);
    assert!(ran.stderr.contains("\\u{1b}[31m"), "{}", ran.stderr);
    std::fs::write(place.path("bad.sched"), "blur_y: \u{1b}]0;mine\u{7} parallel(\u{8}y)").unwrap();
    let ran = place.run("run blur --size 8x8 --schedule bad.sched");
    assert!(ran.status == 1 && !escapes(&ran.stderr), "{:?}", ran.stderr);
    write_grey(&place.path("a.png"), 8, 8);
    let ran = place.run("run blur a.png \u{1b}[31m.png");
    assert!(ran.status == 0 && !escapes(&ran.stdout), "{:?}", ran.stdout);
}

#[test]
fn no_more_threads_are_started_than_are_of_use() {
    let place = Workplace::new();
    let mut command = Command::new(env!("CARGO_BIN_EXE_halide"));
    command.args(["run", "blur", "--size", "64x64", "--check"]).current_dir(place.path("."));
    let ran = command.env("RAYON_NUM_THREADS", "100000").output().unwrap();
    let text = String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && text.contains("asks for more threads than are of use here"), "{text}");
    let few = command.env("RAYON_NUM_THREADS", "3").output().unwrap();
    assert!(few.status.success() && few.stderr.is_empty());
}
