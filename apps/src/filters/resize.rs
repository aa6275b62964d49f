//! Another size of an image, by one of four filters: along y, then along x.

use halide::prelude::*;
use halide_tool::app::{App, Edges, Setting, Settings, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "resize",
    about: "resizes images of u8, u16 or f32, channel by channel",
    settings: &[
        Setting { name: "filter", values: &["cubic", "box", "linear", "lanczos"] },
        Setting { name: "type", values: &["f32", "u8", "u16"] },
        Setting { name: "scale", values: &["1/2", "1/3", "3/4", "4/3", "2"] },
    ],
    takes: Takes::Channels,
    shows: Shows::FullType,
    schedules: schedules!["schedules/resize": cpu, root],
    pipeline,
    inputs: |settings, width, height| {
        let (up, down) = scale(settings);
        // With a border, the input is that of which the output is the scaled image.
        let size = |n: i64| if settings.edges == Edges::Inside { (n * down + up - 1) / up } else { n };
        vec![Input::pixels("input", element(settings), &[size(width), size(height), 3], White::At(white(settings)))]
    },
    output: |settings, width, height| {
        let (up, down) = scale(settings);
        let size = |n: i64| if settings.edges == Edges::Repeat { ((2 * n * up + down) / (2 * down)).max(1) } else { n };
        vec![size(width), size(height), 3]
    },
    size: (768, 1280),
    operations: None,
};

fn element(settings: &Settings) -> ScalarType {
    match settings.get("type") {
        "u8" => U8,
        "u16" => U16,
        _ => F32,
    }
}

fn white(settings: &Settings) -> u32 {
    match element(settings) {
        U8 => 255,
        U16 => 65535,
        _ => 1,
    }
}

/// Numerator and denominator of the factor.
fn scale(settings: &Settings) -> (i64, i64) {
    let (up, down) = settings.get("scale").split_once('/').unwrap_or((settings.get("scale"), "1"));
    let number = |text: &str| text.parse().unwrap_or(1);
    (number(up), number(down))
}

/// Returns the reach of a filter, in halves, and its value at a distance.
fn filter(name: &str, distance: Expr) -> (i32, Expr) {
    let x = max(distance, -distance);
    let (x2, x3) = (x * x, x * x * x);
    match name {
        "box" => (1, select(x.le(0.5), 1f32, 0f32)),
        "linear" => (2, max(1.0 - x, 0.0)),
        "lanczos" => {
            let sinc = |x: Expr| sin(x * std::f32::consts::PI) / (x * std::f32::consts::PI);
            (6, select(x.lt(1e-6), 1f32, select(x.lt(3.0), sinc(x) * sinc(x / 3.0), 0f32)))
        }
        _ => {
            let (near, far) = (1.5 * x3 - 2.5 * x2 + 1.0, -0.5 * x3 + 2.5 * x2 - 4.0 * x + 2.0);
            (4, select(x.lt(1.0), near, select(x.lt(2.0), far, 0f32)))
        }
    }
}

/// The pixels of the input that count for one of the output. Everything is counted in parts of `1 / (2 * up)` pixels of
/// the input, in which centers and edges of pixels are whole numbers: so the compiler sees that first pixels lie on a
/// grid.
#[derive(Clone, Copy)]
struct Taps {
    up: i32,
    down: i32,
    /// The reach of the filter.
    radius: i32,
    count: i32,
}

impl Taps {
    fn new(filter: &str, (up, down): (i64, i64)) -> Taps {
        let (up, down) = (up as i32, down as i32);
        // A filter is wider where pixels of the input are closer together than those of the output.
        let radius = self::filter(filter, 0f32.expr()).0 * up.max(down);
        Taps { up, down, radius, count: (2 * radius + 2 * up - 1) / (2 * up) }
    }
    /// Returns the position of pixel `i` of the output in the input.
    fn center(self, i: Expr) -> Expr {
        i * (2 * self.down) + (self.down - self.up)
    }
    /// The first pixel of the input that counts for pixel `i` of the output.
    fn first(self, i: Expr) -> Expr {
        (self.center(i) + (2 * self.up - 1 - self.radius)) / (2 * self.up)
    }
    /// Returns the distance of tap `k` from pixel `i`, in pixels of the image that has the larger ones.
    fn distance(self, i: Expr, k: Expr) -> Expr {
        let apart = (self.first(i) + k) * (2 * self.up) - self.center(i);
        cast::<f32>(apart) / (2 * self.up.max(self.down)) as f32
    }
}

/// The algorithm. Pixels of u8 are resized in integers: weights have 14 bits after the point, what was resized along y
/// has 6, and the sum along x 5; every product is rounded.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c, i, k) = vars!(x, y, c, i, k);
    let input = ImageParam::new("input", element(settings), 3);
    let taps = Taps::new(settings.get("filter"), scale(settings));

    let (mut kernel, mut weight) = (Func::new("kernel"), Func::new("weight"));
    let r = RDom::new([(0, taps.count)]);
    kernel[(i, k)] = filter(settings.get("filter"), taps.distance(i.expr(), k.expr())).1;
    let share = kernel[(i, k)] / sum(kernel[(i, r.x)]);
    let fixed = element(settings) == U8;
    weight[(i, k)] = if fixed { saturating_cast::<i16>(round(share * 16384.0)) } else { share };

    let clamped = repeat_edge(&input);
    let (mut resized_y, mut resized_x) = (Func::new("resized_y"), Func::new("resized_x"));
    let value = |x: Expr, y: Expr| match fixed {
        true => cast::<i16>(clamped[(x, y, c.expr())]) << 7,
        false => cast::<f32>(clamped[(x, y, c.expr())]),
    };
    let times = |a: Expr, b: Expr| if fixed { rounding_mul_shift_right(a, b, 15) } else { a * b };
    let terms = |of: &dyn Fn(i32) -> Expr| (1..taps.count).fold(of(0), |sum, k| sum + of(k));
    resized_y[(x, y, c)] = terms(&|k| times(weight[(y, k)], value(x.expr(), taps.first(y.expr()) + k)));
    resized_x[(x, y, c)] = terms(&|k| times(weight[(x, k)], resized_y[(taps.first(x.expr()) + k, y.expr(), c.expr())]));

    let mut output = Func::new("output");
    output[(x, y, c)] = match element(settings) {
        F32 => resized_x[(x, y, c)],
        U8 => saturating_cast::<u8>((resized_x[(x, y, c)] + 16) >> 5),
        _ => saturating_cast::<u16>(resized_x[(x, y, c)] + 0.5),
    };
    Pipeline::new([&output])
}
