//! Pictures and animations of small runs.

use crate::replays::replay;
use halide::prelude::*;
use halide_report::order::colour::Colour;
use halide_report::order::raster::{Raster, Rect};
use halide_report::order::replay::Replay;
use halide_report::order::{animation, picture};
use std::collections::BTreeSet;

#[test]
fn pictures_show_the_order() {
    let (root, _) = replay("across: compute_root()", [4, 4], &[]);
    let drawn = picture::draw(&root);
    let colours: BTreeSet<u8> = drawn.pixels().iter().copied().collect();
    assert!(colours.contains(&Colour::Order(0).index()) && colours.contains(&Colour::Order(31).index()));
    let png = picture::png(&drawn).expect("a PNG");
    let back = image::load_from_memory(&png).expect("a PNG").to_rgb8();
    assert_eq!((back.width() as usize, back.height() as usize), (drawn.width(), drawn.height()));
}

#[test]
fn animations_keep_their_size_and_end_as_the_run_does() {
    let (tiles, _) = replay("down: tile(x, y, xo, yo, xi, yi, 2, 2)\n across: compute_at(down, xo)", [4, 4], &[]);
    let frames = animation::frames(&tiles);
    assert!(frames.len() > tiles.steps.len());
    assert!(frames.iter().all(|frame| frame.width() == frames[0].width() && frame.height() == frames[0].height()));
    let last = frames.last().expect("there are some");
    assert!(last.pixels().contains(&Colour::Stored(1).index()) && last.pixels().contains(&Colour::Freed.index()));
    let is_load = |index: &&u8| **index == Colour::Load.index();
    assert!(frames[1].pixels().iter().filter(is_load).count() > last.pixels().iter().filter(is_load).count());
    let gif = animation::gif(&frames).expect("a GIF");
    assert!(gif.starts_with(b"GIF89a") && gif.len() < 100_000, "{}", gif.len());
    assert_eq!(
        animation::gif(&[]).expect_err("no frame").to_string(),
        "the run stored nothing to draw; trace a region with points"
    );
}

/// The frames of a GIF as a screen shows them: indices of the palette.
fn decoded(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut options = gif::DecodeOptions::new();
    options.set_color_output(gif::ColorOutput::Indexed);
    let mut decoder = options.read_info(bytes).expect("a GIF");
    let width = usize::from(decoder.width());
    let (mut screen, mut frames) = (vec![255; width * usize::from(decoder.height())], Vec::new());
    while let Some(frame) = decoder.read_next_frame().expect("whole frames") {
        let columns = usize::from(frame.width);
        for (i, index) in frame.buffer.iter().enumerate().filter(|(_, index)| Some(**index) != frame.transparent) {
            let (x, y) = (usize::from(frame.left) + i % columns, usize::from(frame.top) + i / columns);
            screen[y * width + x] = *index;
        }
        frames.push(screen.clone());
    }
    frames
}

/// FNV-1a over all bytes.
fn hash(frames: &[Vec<u8>]) -> u64 {
    let mix = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    frames.iter().flatten().fold(0xcbf2_9ce4_8422_2325, mix)
}

const TASKS: &str = "down: split(y, yo, yi, 2) parallel(yo)\n across: compute_at(down, yo)";

#[test]
fn titled_animations_show_what_was_drawn() {
    let (replay, _) = replay(TASKS, [4, 4], &[]);
    let frames = animation::titled_frames(&replay, "a blur: 4 x 4 points <here>");
    let shown = decoded(&animation::gif(&frames).expect("a GIF"));
    let drawn: Vec<Vec<u8>> = frames.iter().map(|frame| frame.pixels().to_vec()).collect();
    assert_eq!(shown.len(), drawn.len());
    assert!(shown == drawn, "what is decoded is what was drawn");
    assert!(shown.len() <= 400, "{} frames", shown.len());
    assert_eq!(hash(&shown), 3_361_543_885_239_345_598, "the picture changed; look at it, and write its hash here");
    // Titles and lines change nothing of the canvases, which are those of the plain frames further down.
    let plain = animation::frames(&replay);
    assert_eq!((plain.len(), plain[0].width() <= frames[0].width()), (frames.len(), true));
    assert!(plain[0].height() < frames[0].height());
}

/// Many canvases stand in rows that a screen is wide enough for, and the largest of too many.
#[test]
fn animations_of_many_canvases_fit_a_screen() {
    let (x, y) = vars!(x, y);
    let funcs = |count: usize| {
        let mut last = Func::new("f0");
        last[(x, y)] = x + y;
        for n in 1..count {
            let mut next = Func::new(format!("f{n}"));
            next[(x, y)] = last[(x, y)] + n as i32;
            last = next;
        }
        let schedule: String = (0..count - 1).map(|n| format!("f{n}: compute_root()\n")).collect();
        let pipeline = Pipeline::new([&last]).expect("it is right");
        let compiled = pipeline.compile(&schedule.parse().expect("a schedule"), &Target::host()).expect("legal");
        Replay::of_call(&compiled.inputs(), &[Region::of_extents([16, 16])], &[]).expect("small")
    };
    for (count, most) in [(5, 400), (60, 1500)] {
        let frames = animation::titled_frames(&funcs(count), &"a title ".repeat(5));
        let (width, height) = (frames[0].width(), frames[0].height());
        assert!(width <= 1000 && height <= most && frames.len() <= 400, "{count} canvases: {width} x {height}");
        assert!(frames.iter().all(|frame| (frame.width(), frame.height()) == (width, height)));
    }
}

#[test]
fn drawing_stays_inside_of_the_picture() {
    let mut raster = Raster::new(10, 8);
    let empty = raster.hash();
    raster.fill(Rect { x: 12, y: 1, width: 4, height: 4 }, Colour::Ink);
    raster.text_in(Rect { x: 0, y: 0, width: 4, height: 4 }, "12", 2, Colour::Ink);
    assert_eq!(raster.hash(), empty, "nothing fits");
    raster.fill(Rect { x: 8, y: 6, width: 9, height: 9 }, Colour::Ink);
    raster.text(7, 0, "\u{e4}", 3, Colour::Ink);
    raster.frame(Rect { x: 0, y: 0, width: 3, height: 2 }, 9, Colour::Load);
    assert_ne!(raster.hash(), empty);
}
