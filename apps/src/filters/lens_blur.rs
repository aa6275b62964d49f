//! The blur of a large lens, from two views: how far apart the views of each pixel are says how deep it lies, and depth
//! says how far its light spreads.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Settings, Shows, Takes};
use halide_tool::input::{Input, Picture, White};
use halide_tool::schedules;

/// Levels of the pyramid that fills in depth where it is not clear.
const LEVELS: usize = 8;

/// The app.
pub const APP: App = App {
    name: "lens_blur",
    about: "depth of field from a stereo pair of u8 RGB",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(255),
    schedules: schedules!["schedules/lens_blur": cpu, root],
    pipeline,
    inputs: |_, width, height| {
        let view = |name| Input::pixels(name, U8, &[width, height, 3], White::At(255));
        let taken_as = |_: &Picture| Some("the left one of two views; in the right one, what is lower is nearer");
        vec![view("left"), Input { of_picture: other_view, taken_as, ..view("right") }]
    },
    output: rgb,
    size: (192, 320),
    operations: None,
};

/// A second view of a picture whose lower part is nearer.
fn other_view(picture: &Picture, at: &[i32]) -> f32 {
    let shift = 4 + 40 * i64::from(at[1]) / picture.height;
    picture.at(at[0] - shift as i32, at[1], at[2])
}

/// The algorithm. Parameters: `slices`, how many depths are told apart; `focus`, which of them is sharp; `radius` of
/// the blur per slice; `samples` per pixel.
pub fn pipeline(_: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, z, c) = vars!(x, y, z, c);
    let (left, right) = (ImageParam::new("left", U8, 3), ImageParam::new("right", U8, 3));
    let slices = Param::<i32>::new("slices").with_default(32).with_range(1, 64);
    let focus = Param::<i32>::new("focus").with_default(13).with_range(0, 64);
    let radius = Param::<f32>::new("radius").with_default(0.5).with_range(0.0, 1.0);
    let samples = Param::<i32>::new("samples").with_default(32).with_range(1, 1024);
    let (width, height) = (left.width(), left.height());
    let (left, right) = (repeat_edge(&left), repeat_edge(&right));

    // How unlike both views are, if the pixel is at depth z; and how much that depends on z.
    let (mut cost, mut confidence) = (Func::new("cost"), Func::new("confidence"));
    let apart = |c: i32| {
        let near = |dx: i32| absd(left[(x, y, c)], right[(x + 2 * z + dx, y.expr(), c.expr())]);
        cast::<f32>(min(near(0), near(1)))
    };
    let square = |e: Expr| e * e;
    cost[(x, y, z)] = square(apart(0)) + square(apart(1)) + square(apart(2));
    let r = RDom::new([(0.expr(), slices.expr())]);
    let count = cast::<f32>(slices);
    confidence[(x, y)] = sum(square(cost[(x, y, r.x)])) / count - square(sum(cost[(x, y, r.x)] / count));

    // Where it does not depend on z, the costs of larger parts of the picture decide: down a pyramid and up again.
    let mut down = vec![Func::new("down0")];
    down[0][(x, y, z, c)] = mux(c, [cost[(x, y, z)] * confidence[(x, y)], confidence[(x, y)]]);
    for level in 1..LEVELS {
        // Nothing beyond the picture is computed on any level.
        let edge = |size: Expr| bounds(0, max(size / (1 << (level - 1)), 1));
        let finer = repeat_edge_in(&down[level - 1], &[edge(width), edge(height)]);
        let mut next = Func::new(format!("down{level}"));
        let mut in_y = Func::new(format!("down{level}_y"));
        let weighted = |at: &dyn Fn(i32) -> Expr| (at(-1) + 3.0 * (at(0) + at(1)) + at(2)) / 8.0;
        in_y[(x, y, z, c)] = weighted(&|i| finer[(x, 2 * y + i, z, c)]);
        next[(x, y, z, c)] = weighted(&|i| in_y[(2 * x + i, y, z, c)]);
        down.push(next);
    }
    let mut coarse = Func::new(format!("up{}", LEVELS - 1));
    coarse[(x, y, z, c)] = down[LEVELS - 1][(x, y, z, c)];
    for level in (0..LEVELS - 1).rev() {
        let (mut in_y, mut next) = (Func::new(format!("up{level}_y")), Func::new(format!("up{level}")));
        let between = |near: Expr, far: Expr| 0.75 * near + 0.25 * far;
        let edge = |size: Expr| bounds(0, max(size / (2 << level), 1));
        let coarse_within = repeat_edge_in(&coarse, &[edge(width), edge(height)]);
        in_y[(x, y, z, c)] =
            between(coarse_within[(x, y / 2, z, c)], coarse_within[(x, y / 2 - 1 + 2 * (y % 2), z, c)]);
        let up = between(in_y[(x / 2, y, z, c)], in_y[(x / 2 - 1 + 2 * (x % 2), y, z, c)]);
        next[(x, y, z, c)] = lerp(up, down[level][(x, y, z, c)], 0.5);
        coarse = next;
    }
    let (mut likely_cost, mut depth) = (Func::new("likely_cost"), Func::new("depth"));
    likely_cost[(x, y, z)] = coarse[(x, y, z, 0)] / coarse[(x, y, z, 1)];
    depth[(x, y)] = argmin(likely_cost[(x, y, r.x)]).at(0);

    // How far the light of each pixel spreads, and the farthest that it comes from.
    let (mut spread, mut far_y, mut far) = (Func::new("spread"), Func::new("far_y"), Func::new("far"));
    let most = cast::<i32>(cast::<f32>(max(slices - focus, focus)) * radius);
    let w = RDom::named("w", [(-most, 2 * most + 1)]);
    spread[(x, y)] = cast::<f32>(abs(depth[(x, y)] - focus)) * radius;
    far_y[(x, y)] = maximum(spread[(x, y + w.x)]);
    far[(x, y)] = maximum(far_y[(x + w.x, y)]);

    // Samples of the surroundings count where their light reaches this pixel and nothing sharper hides it.
    let (mut light, mut output) = (Func::new("light"), Func::new("output"));
    let mut color = Func::new("color");
    color[(x, y, c)] = select(c.lt(3), cast::<f32>(left[(x, y, min(c, 2))]), 255f32);
    let s = RDom::named("s", [(0.expr(), samples.expr())]);
    let mut offset = Func::new("offset");
    let at_random = |seed: i32| {
        let to = (random_f32(seed) - 0.5) * 2.0 * far[(x, y)];
        clamp(cast::<i32>(to), -most, most)
    };
    offset[(x, y, z)] = tuple([at_random(0), at_random(1)]);
    let sample = offset[(x, y, s.x)];
    let (u, v) = (sample.at(0), sample.at(1));
    let distance = cast::<f32>(u * u + v * v);
    let reaches = |x: Expr, y: Expr| distance.lt(square(spread[(x, y)]));
    let in_front = depth[(x + u, y + v)].lt(depth[(x, y)]);
    let counts = (reaches(x.expr(), y.expr()) | in_front) & reaches(x + u, y + v);
    light[(x, y, c)] = color[(x, y, c)];
    light[(x, y, c)] += select(counts, 1f32, 0f32) * color[(x + u, y + v, c)];
    output[(x, y, c)] = 255.0 * (light[(x, y, c)] / light[(x, y, 3)]);
    Pipeline::new([&output])
}
