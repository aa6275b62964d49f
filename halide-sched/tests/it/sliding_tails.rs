//! Windows of producers that are split along the dimension that slides: each iteration computes whole vectors, and no
//! more.

use crate::counts::count;
use crate::matrix::{check, random_image};
use crate::sliding::{around, images};
use crate::support::{hold_at, hold_legal, lowered_whole};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

/// Holds the schedule against the interpreter over sizes, and the points of `f` that the main variant computes to
/// `expected` at each.
#[track_caller]
fn computes(p: &Pipeline, schedule: &str, sizes: &[(i64, i64)], expected: impl Fn(i64, i64) -> i64) {
    let dims = p.funcs[p.outputs[0]].dims();
    for &(w, h) in sizes {
        let region = Region::of_spans(&[(-3, w), (2, h)][2 - dims..]);
        check(p, schedule, &images(p), &region);
        let points = count(p, schedule, &images(p), &region, false).points("f");
        assert_eq!(points, expected(w, h), "{schedule}\n{w} x {h}");
    }
}

/// The decision of the pass about `f`.
fn decision(p: &Pipeline, schedule: &str) -> String {
    let trace = lowered_whole(p, schedule).trace;
    let pass = trace.passes.iter().find(|p| p.name == "slide_windows").expect("the pass runs");
    let about: Vec<String> =
        pass.decisions.iter().map(|d| d.to_string()).filter(|d| d.starts_with("f along")).collect();
    about.join("\n")
}

const SIZES: [(i64, i64); 6] = [(8, 8), (8, 13), (11, 9), (16, 16), (29, 31), (23, 47)];

/// Chunks of eight of the consumer, of which the last one shifts: what is new in it is less than a vector.
#[test]
fn vectors_along_the_chunks_of_the_consumer() {
    let p = around(|f, x, y| f[(x - 3, y)] + f[(x + 3, y)]);
    // The first chunk computes 14 by vectors of eight, which is two of them.
    let last = |w: i64| if w % 8 == 0 { 0 } else { (w % 8 + 7) / 8 * 8 };
    let points = move |w: i64, h: i64| h * (16 + 8 * (w / 8 - 1) + last(w));
    let g = "g: vectorize(x, 8)";
    computes(&p, &format!("{g}\n f: store_at(g, y) compute_at(g, x) vectorize(x, 8)"), &SIZES, points);
    let p = around(|f, x, y| f[(x, y - 3)] + f[(x, y + 3)]);
    let rows = "g: split(y, yo, yi, 8)\n f: store_root() compute_at(g, yo) vectorize(y, 4)";
    let last = |h: i64| if h % 8 == 0 { 0 } else { (h % 8 + 3) / 4 * 4 };
    computes(&p, rows, &SIZES, |w, h| w * (16 + 8 * (h / 8 - 1) + last(h)));
}

/// One new row per iteration, by pieces of several rows: fewer than the whole window, and inside of it.
#[test]
fn pieces_longer_than_what_is_new() {
    let p = around(|f, x, y| f[(x, y - 5)] + f[(x, y + 6)]);
    for tail in ["", ", ShiftInwards", ", RoundUp", ", ShiftInwardsAndBlend"] {
        let rows = format!("f: store_root() compute_at(g, y) split(y, yo, yi, 4{tail})");
        computes(&p, &rows, &SIZES, |w, h| w * (12 + 4 * (h - 1)));
        let text = decision(&p, &rows);
        assert_eq!(text, "f along g.y: computes only what is new in `y`");
    }
    // Downwards.
    let p = around(|f, x, y| f[(x, 50 - y)] + f[(x, 39 - y)]);
    for tail in ["", ", RoundUp"] {
        let rows = format!("f: store_root() compute_at(g, y) vectorize(y, 4{tail})");
        computes(&p, &rows, &SIZES, |w, h| w * (12 + 4 * (h - 1)));
    }
    // Three rows a step, rounded up to four.
    let p = around(|f, x, y| f[(x, 3 * y)] + f[(x, 3 * y + 11)]);
    for tail in ["", ", RoundUp"] {
        let rows = format!("f: store_root() compute_at(g, y) split(y, yo, yi, 4{tail})");
        computes(&p, &rows, &SIZES[..5], |w, h| w * (12 + 4 * (h - 1)));
    }
}

/// Sliding saves nothing if a piece is as long as the window.
#[test]
fn pieces_as_long_as_the_window() {
    let p = around(|f, x, y| f[(x, y)] + f[(x, y + 2)]);
    assert_eq!(
        decision(&p, "f: store_root() compute_at(g, y) vectorize(y, 4)"),
        "f along g.y: not slid, because the dimension that moves is split by no less than the window is long"
    );
    assert_eq!(
        decision(&p, "f: store_root() compute_at(g, y) vectorize(y, 2) align_bounds(y, 2)"),
        "f along g.y: not slid, because its bounds are aligned, and the dimension that moves is split by more than what is new"
    );
}

/// All definitions compute a point again, or none does; tuples and updates along the other dimension too.
#[test]
fn pieces_of_updates_and_tuples() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    for read in [1, -1] {
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[(x, y)] = (input[(x, y)], input[(x, y)] * x).into();
        f[(x, y)] = (f[(x, y)].at(0) + input[(x + r.x, y)], f[(x, y)].at(1) * 3 - r.x).into();
        g[(x, y)] = f[(x, y * read - 2)].at(0) - f[(x, y * read + 5)].at(1) + f[(x + 1, y * read)].at(0);
        let p = Pipeline::new([&g]).unwrap();
        let mut schedules = Vec::new();
        for tail in ["", ", RoundUp", ", ShiftInwards"] {
            for place in ["compute_at(g, y)", "compute_at(g, yi)", "compute_at(g, yo)"] {
                let split = if place.contains("(g, y)") { "" } else { "g: split(y, yo, yi, 5)\n" };
                for own in ["vectorize(y, 4", "split(y, t, u, 3", "unroll(y, 2"] {
                    schedules.push(format!("{split} f: store_root() {place} {own}{tail})"));
                    schedules.push(format!("{split} f: store_root() {place} {own}{tail})\n f.update(0): unroll(r.x)"));
                    schedules
                        .push(format!("g: parallel(x) reorder(y, x)\n {} f: store_root() {place} {own}{tail})", split));
                }
            }
        }
        assert!(hold_legal(&p, &schedules) >= 27);
    }
}

/// Producers of what slides have tails of their own: what is new is as long as these need.
#[test]
fn tails_of_producers_of_a_window() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    let (mut p, mut f, mut g) = (Func::new("p"), Func::new("f"), Func::new("g"));
    p[x] = input[x] * 3;
    f[x] = p[x] + x;
    g[x] = f[x] - f[x + 7];
    let pipeline = Pipeline::new([&g]).unwrap();
    for tail in ["vectorize(x, 8)", "unroll(x, 4)"] {
        let schedule =
            format!("g: split(x, xo, xi, 8)\n f: store_root() compute_at(g, xo)\n p: compute_at(g, xo) {tail}");
        assert_eq!(decision(&pipeline, &schedule), "f along g.xo: computes only what is new in `x`");
        for width in [8, 9, 17, 18, 31] {
            let image = random_image(I32, &Region::of_extents([width + 7]), 1);
            check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width]));
        }
    }
}

/// Chains of windows, each split by a factor of its own, over all sizes about a chunk, in images that hold no more than
/// is read.
#[test]
fn chains_of_windows_with_tails() {
    let input = ImageParam::new("in", I16, 1);
    let x = vars!(x);
    let [mut e, mut f, mut g] = ["e", "f", "g"].map(Func::new);
    e[x] = input[x] * 3 + input[x + 1];
    f[x] = e[x - 1] ^ e[x + 4];
    g[x] = f[x + 2] - f[x - 6];
    let p = Pipeline::new([&g]).unwrap();
    for (a, b) in [("", ""), ("vectorize(x, 4)", "vectorize(x, 8)"), ("vectorize(x, 8, RoundUp)", "split(x, t, u, 3)")]
    {
        for (a, b) in [(a, b), (b, a)] {
            for factor in [1, 3, 5, 8] {
                let schedule = format!(
                    "g: split(x, xo, xi, {factor})\n f: store_root() compute_at(g, xo) {a}\n \
                     e: store_root() compute_at(g, xo) {b}"
                );
                for width in (1..12).chain([17, 29, 40]) {
                    let image = random_image(I16, &Region::of_spans([(-17, width + 48)]), 1);
                    check(&p, &schedule, &[("in", image)], &Region::of_spans([(-5, width)]));
                }
            }
        }
    }
}

/// A window that is shorter than its tails grows by the first definition alone: nowhere over points that other loops
/// around it have left finished.
#[test]
fn short_windows_leave_finished_points_alone() {
    let input = ImageParam::new("in", I32, 1);
    let (x, y, i, j) = vars!(x, y, i, j);
    let regions: [&[(i64, i64)]; 2] = [&[(-3, 9), (2, 7)], &[(-2, 7), (0, 12)]];
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[i] = input[i] * 3;
    f[i] += 7;
    let (at, row) = (|i| max(x * 8 + y + i, 10), |i| max(i - x * 8, 10));
    g[(x, y)] = f[at(0)] - f[at(2)] * 2 + f[at(9)];
    let p = Pipeline::new([&g]).unwrap();
    let upwards = "f: store_root() compute_at(g, x) vectorize(i, 4)";
    hold_at(&p, &[upwards, "f: store_root() compute_at(g, x) split(i, t, u, 4, RoundUp)"], &regions);
    let text = decision(&p, upwards);
    assert!(text.contains("its tails would overwrite points that other iterations have finished"), "{text}");
    // Alone along a loop, it may.
    let alone = "f: store_at(g, y) compute_at(g, x) vectorize(i, 4)";
    assert_eq!(decision(&p, alone), "f along g.x: computes only what is new in `i`");
    hold_at(&p, &[alone], &regions);
    // Downwards, while rows slide along the loop outside.
    let input = ImageParam::new("in", I32, 2);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(i, j)] = input[(i, j)] * 3;
    f[(i, j)] += 7;
    g[(x, y)] = f[(row(32), y)] - f[(row(35), y + 1)] * 2 + f[(row(41), y + 3)];
    let p = Pipeline::new([&g]).unwrap();
    let downwards = "f: store_root() compute_at(g, x) vectorize(i, 4)";
    hold_at(&p, &[downwards, "f: store_root() compute_at(g, x) split(i, t, u, 4, RoundUp)"], &regions);
    let text = decision(&p, downwards);
    assert!(text.contains("its tails would overwrite points that other iterations have finished"), "{text}");
}

/// A loop does not start early along a window that is longer than what is new because of its producers' tails.
#[test]
fn tails_inside_of_the_loops_of_a_window() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut f, mut g) = (Func::new("p"), Func::new("f"), Func::new("g"));
    p[(x, y)] = input[(x, y)] * 3;
    f[(x, y)] = p[(x, y)] + x;
    g[(x, y)] = f[(x, y)] - f[(x + 7, y + 1)];
    let pipeline = Pipeline::new([&g]).unwrap();
    for tail in ["vectorize(x, 8)", "unroll(x, 4)", "split(x, t, u, 8)"] {
        let schedule =
            format!("g: split(x, xo, xi, 8)\n f: store_at(g, y) compute_at(g, xo)\n p: compute_at(f, y) {tail}");
        assert_eq!(decision(&pipeline, &schedule), "f along g.xo: computes only what is new in `x`");
        for width in [8, 9, 13, 17, 18, 31] {
            let image = random_image(I32, &Region::of_extents([width + 7, 4]), 1);
            check(&pipeline, &schedule, &[("in", image)], &Region::of_extents([width, 3]));
        }
    }
}

/// A tail in the loop of a window that slides grows the first piece, which is the whole window, to an earlier end than
/// the pieces behind it. What is read of its producer does not slide past the end of the first iteration.
#[test]
fn a_tail_longer_than_the_window_that_reads_it() {
    let input = ImageParam::new("in", I32, 1);
    let x = vars!(x);
    for read in [1, -1] {
        let [mut f, mut g, mut s, mut h] = ["f", "g", "s", "h"].map(Func::new);
        f[x] = input[x] * 3 + x;
        g[x] = f[x - 1] - f[x + 1] * 2;
        s[x] = g[x * read] * 5 + g[x * read + 1];
        h[x] = s[x] - s[x + 4];
        let p = Pipeline::new([&h]).unwrap();
        for tail in ["split(x, t, u, 16)", "split(x, t, u, 16, RoundUp)", "vectorize(x, 16)", "unroll(x, 16)"] {
            let schedule = format!(
                "s: store_root() compute_at(h, x)\n g: compute_at(h, x) {tail}\n f: store_root() compute_at(h, x)"
            );
            for width in [1, 2, 5, 16, 17, 40, 41] {
                let image = random_image(I32, &Region::of_spans([(-100, 200)]), 1);
                check(&p, &schedule, &[("in", image)], &Region::of_spans([(-3, width)]));
            }
            let text = decision(&p, &schedule);
            assert_eq!(text.contains("its first window may end before"), read == 1, "{text}");
        }
    }
}
