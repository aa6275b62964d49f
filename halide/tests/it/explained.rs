//! `explain`: decisions about copies of code in one line, and those about specialisations with their conditions.

use halide::prelude::*;

fn two_stages() -> Pipeline {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let (mut b, mut out) = (Func::new("b"), Func::new("out"));
    let around = repeat_edge(&input);
    b[(x, y)] = cast::<i32>(around[(x - 1, y)]) + y;
    out[(x, y)] = b[(x, y)] + b[(x + 1, y + 1)];
    Pipeline::new([&out]).unwrap()
}

fn explained(schedule: &str) -> String {
    two_stages().compile(&schedule.parse().unwrap(), &Target::host()).unwrap().explain().unwrap()
}

/// Returns the lines that contain `part`.
fn lines<'t>(text: &'t str, part: &str) -> Vec<&'t str> {
    text.lines().map(str::trim).filter(|line| line.contains(part)).collect()
}

#[test]
fn a_decision_about_copies_is_one_line_with_their_number() {
    let text = explained("out: split(y, yo, yi, 4) unroll(yi) vectorize(x, 8) b: compute_at(out, yi) vectorize(x, 8)");
    assert_eq!(lines(&text, "b.x$v"), ["+ b.x$v: vectorized by 8 (4 copies)"], "{text}");
    let mut all: Vec<&str> = text.lines().collect();
    all.sort_unstable();
    assert!(all.windows(2).all(|pair| pair[0] != pair[1]), "{text}");
}

#[test]
fn decisions_about_specialisations_name_their_conditions() {
    let text = explained(
        "b: compute_at(out, y) vectorize(x, 16)
         out: specialize(out.extent(0) > 100) specialize(out.extent(1) > 50) parallel(y) vectorize(x, 4)
         out.specialize(0): vectorize(x, 8) specialize(out.extent(0) > 200)
         out.specialize(0).specialize(0): parallel(y)",
    );
    let outer = [
        "+ out.x$v (where out.extent(0) > 100 and out.extent(0) > 200): vectorized by 8",
        "+ out.x$v (where out.extent(0) > 100, otherwise): vectorized by 8",
        "+ out.x$v (otherwise): vectorized by 4",
    ];
    assert_eq!(lines(&text, "out.x$v"), outer, "{text}");
    // What is computed inside of a case is told apart, too.
    let inner = [
        "+ b.x$v (where out.extent(0) > 100 and out.extent(0) > 200): vectorized by 16",
        "+ b.x$v (where out.extent(0) > 100, otherwise): vectorized by 16",
        "+ b.x$v (where out.extent(1) > 50): vectorized by 16",
        "+ b.x$v (otherwise): vectorized by 16",
    ];
    assert_eq!(lines(&text, "b.x$v"), inner, "{text}");
}

#[test]
fn windows_do_not_slide_along_skewed_loops() {
    let text = explained("out: skew(x, 1, y, t) b: store_root() compute_at(out, t)");
    let why = "it is skewed, so that points may be left out before the first one";
    assert_eq!(lines(&text, "not slid").len(), 2, "{text}");
    assert!(lines(&text, "not slid").iter().all(|line| line.contains(why)), "{text}");
}
