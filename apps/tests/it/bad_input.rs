//! Mistakes of users: exit status 1 with one clear screen, or 2 for a wrong command line; nothing is written.

use crate::{Workplace, write_grey};

/// A mistake: exit status 1, nothing on stdout, a short text on stderr that has all `parts`, and no new file.
pub(crate) fn check(place: &Workplace, args: &str, parts: &[&str]) {
    let before = place.files();
    let ran = place.run(args);
    assert_eq!(ran.status, 1, "halide {args}\n{}{}", ran.stdout, ran.stderr);
    assert_eq!(ran.stdout, "", "halide {args}");
    assert!(ran.stderr.starts_with("error: ") && ran.stderr.lines().count() <= 25, "halide {args}\n{}", ran.stderr);
    assert!(!ran.stderr.contains("panicked"), "{}", ran.stderr);
    for part in parts {
        assert!(ran.stderr.contains(part), "halide {args}\nexpected `{part}` in\n{}", ran.stderr);
    }
    assert_eq!(place.files(), before, "halide {args}");
}

/// A wrong command line: exit status 2.
pub(crate) fn check_usage(args: &str, part: &str) {
    let place = Workplace::new();
    let ran = place.run(args);
    assert_eq!(ran.status, 2, "halide {args}\n{}", ran.stderr);
    assert!(ran.stderr.contains(part), "halide {args}\nexpected `{part}` in\n{}", ran.stderr);
    assert_eq!(place.files(), Vec::<String>::new());
}

#[test]
fn names_that_do_not_exist() {
    let place = Workplace::new();
    check(&place, "run blr a.png b.png", &["no app `blr`", "did you mean `blur`?"]);
    check(&place, "compare zzz", &["no app `zzz`", "local_laplacian"]);
    check(&place, "run blur none.png b.png", &["none.png", "No such file"]);
    check(&place, "run blur --size 8x8 --schedule strps", &["no schedule `strps`", "did you mean `strips`?"]);
    check(&place, "run blur --size 8x8 --schedule none.sched", &["none.sched", "No such file"]);
    check(&place, "run blur --size 8x8 --param sigma=3", &["no parameter `sigma`", "has none"]);
    check(&place, "run local_laplacian --size 8x8 --param alpa=3", &["did you mean `alpha`?"]);
}

#[test]
fn floats_are_allowed_to_chosen_schedules_only() {
    let parts = ["--allow is for schedules that are chosen", "add --schedule auto"];
    check(&Workplace::new(), "run matmul --size 8x8 --allow contract", &parts);
    check(&Workplace::new(), "run matmul --size 8x8 --schedule naive --allow relaxed", &parts);
}

#[test]
fn images_that_are_none() {
    let place = Workplace::new();
    std::fs::write(place.path("text.png"), "hello").unwrap();
    std::fs::write(place.path("empty.png"), "").unwrap();
    write_grey(&place.path("cut.png"), 64, 64);
    let whole = std::fs::read(place.path("cut.png")).unwrap();
    std::fs::write(place.path("cut.png"), &whole[..whole.len() / 2]).unwrap();
    image::Rgb32FImage::from_pixel(4, 4, image::Rgb([0.5; 3])).save(place.path("float.tiff")).unwrap();
    check(&place, "run blur text.png b.png", &["text.png", "not an image"]);
    check(&place, "run blur empty.png b.png", &["empty.png", "not an image"]);
    check(&place, "run blur cut.png b.png", &["cut.png"]);
    std::fs::write(place.path("zero.pgm"), "P5 0 0 255\n").unwrap();
    check(&place, "run blur zero.pgm b.png", &["zero.pgm", "no pixels"]);
    check(&place, "run blur float.tiff b.png", &["float.tiff", "Rgb32F", "convert to 8 or 16 bit"]);
    check(&place, "run blur . b.png", &["directory"]);
}

#[test]
fn outputs_that_cannot_be() {
    let place = Workplace::new();
    write_grey(&place.path("a.png"), 8, 8);
    check(&place, "run blur a.png b.gif", &["b.gif", "must end in .png"]);
    check(&place, "run blur a.png b", &["must end in .png"]);
    check(&place, "run blur a.png nowhere/b.png", &["nowhere", "No such file"]);
    std::fs::create_dir(place.path("folder.png")).unwrap();
    check(&place, "run blur a.png folder.png", &["folder.png", "directory"]);
}

/// A machine is measured for seconds; an output that cannot be written is found before.
#[test]
fn machine_files_that_cannot_be_written() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    std::fs::write(place.path("file"), "x").unwrap();
    for measure in ["", "--measure "] {
        check(&place, &format!("machine {measure}-o nowhere/m.json"), &["nowhere", "No such file"]);
        check(&place, &format!("machine {measure}-o folder"), &["folder", "directory"]);
        check(&place, &format!("machine {measure}--json -o file/m.json"), &["file", "Not a directory"]);
    }
    // Nobody makes files there, not even who may do all else.
    check(&place, "machine --measure -o /proc/m.json", &["/proc"]);
}

#[test]
fn sizes_that_cannot_be() {
    let place = Workplace::new();
    check(&place, "run blur --size 2147483647x1", &["--size 2147483647x1: ", "outside i32"]);
    for size in ["0x8", "8x0", "-4x8", "0x0"] {
        check(&place, &format!("run blur --size {size}"), &["must be at least 1", size]);
        check(&place, &format!("compare blur --size {size}"), &["must be at least 1"]);
    }
    check(&place, "run blur --size 9000000000x9000000000", &["i32"]);
    check(&place, "run blur --size 2147483640x2147483640", &[]);
}

#[test]
fn parameters_out_of_range() {
    let place = Workplace::new();
    check(&place, "run local_laplacian --size 8x8 --param levels=1", &["levels", "1", "from 2 to 64"]);
    check(&place, "run local_laplacian --size 8x8 --param levels=65", &["levels", "65"]);
    check(&place, "run local_laplacian --size 8x8 --param levels=2.5", &["levels", "i32", "2.5"]);
    check(&place, "run local_laplacian --size 8x8 --param alpha=much", &["alpha", "f32", "much"]);
}

#[test]
fn schedules_that_are_wrong() {
    let place = Workplace::new();
    let cases: [(&str, &[&str]); 6] = [
        ("blur_y split(y)", &["bad.sched:1:"]),
        ("blur_z: parallel(y)", &["bad.sched:1:9", "no Func `blur_z`", "did you mean"]),
        ("blur_y: parallel(z)\nblur_x: compute_at(blur_y, q)", &["loop", "`z`", "`q`", "bad.sched:2:"]),
        ("blur_y: vectorize(x)", &["blur_y", "vectorize(x)", "constant"]),
        ("blur_x: compute_at(blur_y, y) blur_y: compute_root() blur_x: store_at(blur_y, x)", &["blur_x"]),
        ("blur_y: split(y, yo, yi, 0)", &["0"]),
    ];
    for (text, parts) in cases {
        std::fs::write(place.path("bad.sched"), text).unwrap();
        check(&place, "run blur --size 8x8 --schedule bad.sched", parts);
    }
}

#[test]
fn wrong_command_lines() {
    check_usage("", "Usage");
    check_usage("run", "Usage");
    check_usage("walk", "unrecognized subcommand");
    check_usage("run blur --size 8", "expected WxH");
    check_usage("run blur --size axb", "expected WxH");
    check_usage("run blur --threads 0", "threads");
    check_usage("run blur --bench 0", "bench");
    check_usage("run blur --bench -1", "");
    check_usage("run blur --param alpha", "NAME=VALUE");
    check_usage("run blur --backend tpu", "gpu");
    check_usage("run blur --print nothing", "nothing");
    check_usage("run blur --target avx1024", "there are baseline, avx2, avx512");
    check_usage("run blur --cpu-features avx22", "did you mean `avx2`?");
    check_usage("run blur --cpu-features avx2 --target avx2", "cannot be used with");
    check_usage("run blur --wrong", "--wrong");
    check_usage("run blur a.png b.png --random 1", "--random");
    check_usage("run blur a.png b.png c.png", "c.png");
    check_usage("compare blur a.png --random 1", "--random");
    check_usage("machine m.json", "unexpected argument");
    check_usage("machine --mesure", "--measure");
    check_usage("machine -o", "FILE");
}
