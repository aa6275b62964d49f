//! Histogram equalisation: brightness becomes its rank among all pixels, colour stays.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "hist",
    about: "histogram equalisation of u8 RGB",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(255),
    schedules: schedules!["schedules/hist": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", U8, &[width, height, 3], White::At(255))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c, i) = vars!(x, y, c, i);
    let input = ImageParam::new("input", U8, 3);
    let value = |c: i32| cast::<f32>(input[(x, y, c)]);

    // Brightness, and two differences of colour around 128.
    let (mut bright, mut red, mut blue) = (Func::new("bright"), Func::new("red"), Func::new("blue"));
    bright[(x, y)] = cast::<u8>(0.299 * value(0) + 0.587 * value(1) + 0.114 * value(2));
    let level = cast::<f32>(bright[(x, y)]);
    red[(x, y)] = saturating_cast::<u8>((value(0) - level) * 0.713 + 128.0);
    blue[(x, y)] = saturating_cast::<u8>((value(2) - level) * 0.564 + 128.0);

    // How many pixels are of each brightness, and how many are no brighter.
    let (mut hist, mut rank) = (Func::new("hist"), Func::new("rank"));
    let r = RDom::new([(input.dim(0).min(), input.width()), (input.dim(1).min(), input.height())]);
    hist[i] = 0.expr();
    hist[bright[(r.x, r.y)]] += 1;
    let b = RDom::named("b", [(1, 255)]);
    rank[i] = hist[i];
    rank[b.x] = rank[b.x - 1] + rank[b.x];

    let mut output = Func::new("output");
    let pixels = cast::<f32>(input.width() * input.height());
    let equal = clamp(cast::<f32>(rank[bright[(x, y)]]) * (255.0 / pixels), 0.0, 255.0);
    let (dr, db) = (cast::<f32>(red[(x, y)]) - 128.0, cast::<f32>(blue[(x, y)]) - 128.0);
    let colors = [equal + 1.4 * dr, equal - 0.343 * db - 0.711 * dr, equal + 1.765 * db];
    output[(x, y, c)] = saturating_cast::<u8>(mux(c, colors));
    Pipeline::new([&output])
}
