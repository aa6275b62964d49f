//! Pictures and animations of small runs.

use crate::replays::replay;
use halide_report::order::colour::Colour;
use halide_report::order::raster::{Raster, Rect};
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
