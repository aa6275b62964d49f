//! Means of squares of any size, in the same time for all: by the integral image, whose points are sums of all above
//! and to the left (Crow, Summed-Area Tables for Texture Mapping, 1984).

use super::plane;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "box_filter",
    about: "means of u8 over squares of any radius, by an integral image",
    settings: &[],
    takes: Takes::EachChannel,
    shows: Shows::AsInput,
    schedules: schedules!["schedules/box_filter": cpu, root],
    pipeline,
    inputs: |_, width, height| vec![Input::pixels("input", U8, &[width, height], White::AtMost(255))],
    output: plane,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm. Parameter: `radius`; a square has `2 * radius + 1` pixels on each side.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let radius = Param::<i32>::new("radius").with_default(20).with_range(0, 1000);
    let around = repeat_edge(&input);
    // Sums begin with the first pixel of the first square. They may wrap: a difference of sums does not.
    let first = -radius.expr();
    let (mut rows, mut sums) = (Func::new("rows"), Func::new("sums"));
    rows[(x, y)] = cast::<u32>(around[(x, y)]);
    let r = RDom::named("r", [(first + 1, input.width() + 2 * radius - 1)]);
    rows[(r.x, y)] = rows[(r.x - 1, y)] + rows[(r.x, y)];
    sums[(x, y)] = rows[(x, y)];
    let s = RDom::named("s", [(first + 1, input.height() + 2 * radius - 1)]);
    sums[(x, s.x)] = sums[(x, s.x - 1)] + sums[(x, s.x)];
    let up_to = |x: Expr, y: Expr| select(x.lt(first).or(y.lt(first)), 0, sums[(max(x, first), max(y, first))]);
    let (left, right) = (x - radius - 1, x + radius);
    let (above, below) = (y - radius - 1, y + radius);
    let total = up_to(right, below) - up_to(left, below) - up_to(right, above) + up_to(left, above);
    let side = cast::<u32>(2 * radius + 1);
    let mut output = Func::new("output");
    output[(x, y)] = cast::<u8>((total + side * side / 2) / (side * side));
    Pipeline::new([&output])
}
