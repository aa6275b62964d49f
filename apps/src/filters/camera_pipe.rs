//! From the raw values of a camera's sensor to a picture: hot pixels are removed, colours are made of the Bayer mosaic
//! and corrected, a curve is applied, and edges are sharpened.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Edges, Settings, Shows, Takes};
use halide_tool::input::{Input, Picture, White};
use halide_tool::schedules;

/// The app.
pub const APP: App = App {
    name: "camera_pipe",
    about: "raw Bayer values of 10 bits in u16 to u8 RGB",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(255),
    schedules: schedules!["schedules/camera_pipe": cpu, root],
    pipeline,
    inputs: |settings, width, height| {
        let (more_x, more_y) = (settings.border(2 * BORDER.0), settings.border(2 * BORDER.1));
        let raw = Input::pixels("input", U16, &[width + more_x, height + more_y], White::At(WHITE as u32));
        let taken_as = |_: &Picture| Some("the raw values of a sensor under light of 3700 K, as a Bayer mosaic (GRBG)");
        vec![Input { of_picture: mosaic, taken_as, ..raw }]
    },
    output: rgb,
    size: (2560, 1920),
    operations: None,
};

/// Raw values on each side of the picture that it is not made of.
const BORDER: (i64, i64) = (16, 12);

/// Returns the value that the sensor would have seen, from which the pipeline with its defaults makes the picture
/// again: a quarter of the pixels is behind a red filter, a quarter behind a blue one, the rest behind a green one.
fn mosaic(picture: &Picture, at: &[i32]) -> f32 {
    let filter = match (at[0] % 2, at[1] % 2) {
        (1, 0) => 0,
        (0, 1) => 2,
        _ => 1,
    };
    let wanted = [0, 1, 2].map(|c| uncurved(picture.at(at[0], at[1], c)));
    sensed(wanted, filter) / WHITE
}

/// The value in front of the curve that becomes `level`, from 0 to 1, behind it.
fn uncurved(level: f32) -> f32 {
    let (a, b) = parabola(CONTRAST);
    // The distance from the nearer end of the S, whose halves are the same parabola.
    let from_end = |level: f32| ((b * b + 4.0 * a * level).sqrt() - b) / (2.0 * a);
    let bright = if level > 0.5 { 1.0 - from_end(1.0 - level) } else { from_end(level) };
    BLACK + bright.powf(GAMMA) * (WHITE - BLACK)
}

/// The coefficients of the square and of the distance itself in the parabolas of the curve's S.
fn parabola(contrast: f32) -> (f32, f32) {
    let b = 2.0 - 2f32.powf(contrast / 100.0);
    (2.0 - 2.0 * b, b)
}

/// The value behind a filter that the matrix for the light makes `wanted` of, by Cramer's rule.
fn sensed(wanted: [f32; 3], filter: usize) -> f32 {
    let part = (1.0 / TEMPERATURE - 1.0 / 3200.0) / (1.0 / 7000.0 - 1.0 / 3200.0);
    let weight = |row: usize, c: usize| TUNGSTEN[row][c] * (1.0 - part) + DAYLIGHT[row][c] * part;
    let matrix = [0, 1, 2].map(|row| [0, 1, 2].map(|c| weight(row, c)));
    let mut replaced = matrix;
    for (row, wanted) in wanted.into_iter().enumerate() {
        replaced[row][filter] = wanted - weight(row, 3);
    }
    (determinant(replaced) / determinant(matrix)).clamp(0.0, WHITE)
}

fn determinant([a, b, c]: [[f32; 3]; 3]) -> f32 {
    a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) + a[2] * (b[0] * c[1] - b[1] * c[0])
}

/// Defaults of the parameters, for which mosaics of pictures are made.
const TEMPERATURE: f32 = 3700.0;
const GAMMA: f32 = 2.0;
const CONTRAST: f32 = 50.0;
const BLACK: f32 = 25.0;
/// The largest raw value.
const WHITE: f32 = 1023.0;

/// Matrices from the sensor's red, green and blue to those of a screen, with an offset, under light of 3200 K and of
/// 7000 K.
const TUNGSTEN: [[f32; 4]; 3] =
    [[1.6697, -0.2693, -0.4004, -42.4346], [-0.3576, 1.0615, 1.5949, -37.1158], [-0.2175, -1.8751, 6.9640, -26.6970]];
const DAYLIGHT: [[f32; 4]; 3] =
    [[2.2997, -0.4478, 0.1706, -39.0923], [-0.3826, 1.5906, -0.2080, -25.4311], [-0.0888, -0.7344, 2.2832, -20.0826]];

/// The algorithm. Parameters: `temperature` of the light in K; `gamma` and `contrast` of the curve; `black` and
/// `white`, the raw values that become 0 and 255; `sharpen`, how much.
pub fn pipeline(settings: &Settings) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U16, 2);
    let mut raw = Func::new("raw");
    raw[(x, y)] = match settings.edges {
        // Mirrored at pixels, so that what is red stays red.
        Edges::Repeat => cast::<i16>(mirror_interior(&input)[(x, y)]),
        Edges::Inside => cast::<i16>(input[(x + BORDER.0 as i32, y + BORDER.1 as i32)]),
    };

    // No pixel is brighter than all others of its colour around it.
    let mut denoised = Func::new("denoised");
    let (beside, above) = (max(raw[(x - 2, y)], raw[(x + 2, y)]), max(raw[(x, y - 2)], raw[(x, y + 2)]));
    denoised[(x, y)] = clamp(raw[(x, y)], 0i16, max(beside, above));

    let colors = demosaic(&denoised);
    let corrected = correct(&colors);
    let curved = apply_curve(&corrected);
    Pipeline::new([&sharpen(&curved)])
}

/// The mean of two values, rounded up.
fn mean(a: Expr, b: Expr) -> Expr {
    rounding_halving_add(a, b)
}

/// All three colours at every pixel. Names say which colour is computed where: `g_r` is green where the sensor saw red,
/// `r_gb` is red at the greens of blue lines. Every plane is a quarter of the picture.
fn demosaic(raw: &Func) -> Func {
    let (x, y, c) = vars!(x, y, c);
    let plane = |name: &str, dx: i32, dy: i32| {
        let mut f = Func::new(name);
        f[(x, y)] = raw[(2 * x + dx, 2 * y + dy)];
        f
    };
    let (g_gr, r_r) = (plane("g_gr", 0, 0), plane("r_r", 1, 0));
    let (b_b, g_gb) = (plane("b_b", 0, 1), plane("g_gb", 1, 1));

    // Green where it is missing: the mean along the direction in which it changes less.
    let smoother = |name: &str, [a, b]: [Expr; 2], [p, q]: [Expr; 2]| {
        let mut f = Func::new(name);
        f[(x, y)] = select(absd(p, q).lt(absd(a, b)), mean(p, q), mean(a, b));
        f
    };
    let g_r = smoother("g_r", [g_gb[(x, y - 1)], g_gb[(x, y)]], [g_gr[(x + 1, y)], g_gr[(x, y)]]);
    let g_b = smoother("g_b", [g_gr[(x, y + 1)], g_gr[(x, y)]], [g_gb[(x - 1, y)], g_gb[(x, y)]]);

    // Red and blue at greens: the mean of both neighbours, corrected by how green differs from the mean of theirs.
    let at_green = |name: &str, green: &Func, greens: &Func, colors: &Func, (dx, dy): (i32, i32)| {
        let mut f = Func::new(name);
        let correction = green[(x, y)] - mean(greens[(x, y)], greens[(x + dx, y + dy)]);
        f[(x, y)] = correction + mean(colors[(x, y)], colors[(x + dx, y + dy)]);
        f
    };
    let r_gr = at_green("r_gr", &g_gr, &g_r, &r_r, (-1, 0));
    let b_gr = at_green("b_gr", &g_gr, &g_b, &b_b, (0, -1));
    let r_gb = at_green("r_gb", &g_gb, &g_r, &r_r, (0, 1));
    let b_gb = at_green("b_gb", &g_gb, &g_b, &b_b, (1, 0));

    // Red at blue and blue at red: along the diagonal on which it changes less.
    let across = |name: &str, green: &Func, greens: &Func, colors: &Func, (dx, dy): (i32, i32)| {
        let diagonal = |(ax, ay): (i32, i32), (bx, by): (i32, i32)| {
            let (a, b) = (colors[(x + ax, y + ay)], colors[(x + bx, y + by)]);
            let correction = green[(x, y)] - mean(greens[(x + ax, y + ay)], greens[(x + bx, y + by)]);
            (absd(a, b), correction + mean(a, b))
        };
        let ((change, value), (other_change, other)) = (diagonal((0, 0), (dx, dy)), diagonal((dx, 0), (0, dy)));
        let mut f = Func::new(name);
        f[(x, y)] = select(change.lt(other_change), value, other);
        f
    };
    let r_b = across("r_b", &g_b, &g_r, &r_r, (-1, 1));
    let b_r = across("b_r", &g_r, &g_b, &b_b, (1, -1));

    // The four planes of each colour, one pixel of each after the other.
    let woven = |[even, odd, below, below_odd]: [&Func; 4]| {
        let at = |f: &Func| f[(x / 2, y / 2)];
        let line = |a: &Func, b: &Func| select((x % 2).eq(0), at(a), at(b));
        select((y % 2).eq(0), line(even, odd), line(below, below_odd))
    };
    let mut colors = Func::new("colors");
    colors[(x, y, c)] = mux(
        c,
        [woven([&r_gr, &r_r, &r_b, &r_gb]), woven([&g_gr, &g_r, &g_b, &g_gb]), woven([&b_gr, &b_r, &b_b, &b_gb])],
    );
    colors
}

/// The colours of a screen under the light that there was. Weights are in 1/256.
fn correct(colors: &Func) -> Func {
    let (x, y, c, i, j) = vars!(x, y, c, i, j);
    let temperature = Param::<f32>::new("temperature").with_default(TEMPERATURE).with_range(1000.0, 20000.0);
    let mut matrix = Func::new("matrix");
    let of = |table: [[f32; 4]; 3]| mux(j, table.map(|row| mux(i, row.map(|v| v.expr()))));
    let part = (1.0 / temperature - 1.0 / 3200.0) / (1.0 / 7000f32 - 1.0 / 3200.0);
    matrix[(i, j)] = cast::<i16>((of(TUNGSTEN) * (1.0 - part) + of(DAYLIGHT) * part) * 256.0);

    let mut corrected = Func::new("corrected");
    let weight = |i: i32| cast::<i32>(matrix[(i.expr(), c.expr())]);
    let color = |i: i32| cast::<i32>(colors[(x, y, i)]);
    let all = weight(3) + weight(0) * color(0) + weight(1) * color(1) + weight(2) * color(2);
    corrected[(x, y, c)] = cast::<i16>(all / 256);
    corrected
}

/// The curve from raw values to those of a screen, as a table.
fn apply_curve(corrected: &Func) -> Func {
    let (x, y, c) = vars!(x, y, c);
    let gamma = Param::<f32>::new("gamma").with_default(GAMMA).with_range(0.1, 10.0);
    let contrast = Param::<f32>::new("contrast").with_default(CONTRAST).with_range(0.0, 200.0);
    let black = Param::<i32>::new("black").with_default(BLACK as i32).with_range(0, 1022);
    let white = Param::<i32>::new("white").with_default(WHITE as i32).with_range(1, 1023);

    let mut curve = Func::new("curve");
    let linear = clamp(cast::<f32>(x - black) / cast::<f32>(white - black), 0.0, 1.0);
    let bright = pow(linear, 1.0 / gamma);
    // Two parabolas that meet in the middle make an S.
    let b = 2.0 - pow(2f32, contrast / 100.0);
    let a = 2.0 - 2.0 * b;
    let dark = 1.0 - bright;
    let s = select(bright.gt(0.5), 1.0 - (a * dark * dark + b * dark), a * bright * bright + b * bright);
    let level = cast::<u8>(clamp(s * 255.0 + 0.5, 0.0, 255.0));
    curve[x] = select(x.le(black), 0u8, select(x.gt(white), 255u8, level));

    let mut curved = Func::new("curved");
    curved[(x, y, c)] = curve[cast::<i32>(clamp(corrected[(x, y, c)], 0, 1023))];
    curved
}

/// Away from a 3 x 3 blur.
fn sharpen(curved: &Func) -> Func {
    let (x, y, c) = vars!(x, y, c);
    let strength = Param::<f32>::new("sharpen").with_default(1.0).with_range(0.0, 7.0);
    let parts = cast::<i16>(cast::<u8>(strength * 32.0));
    let blur = |a: Expr, b: Expr, c: Expr| rounding_halving_add(rounding_halving_add(a, c), b);
    let (mut blur_y, mut blur_xy, mut output) = (Func::new("blur_y"), Func::new("blur_xy"), Func::new("output"));
    blur_y[(x, y, c)] = blur(curved[(x, y - 1, c)], curved[(x, y, c)], curved[(x, y + 1, c)]);
    blur_xy[(x, y, c)] = blur(blur_y[(x - 1, y, c)], blur_y[(x, y, c)], blur_y[(x + 1, y, c)]);
    let mask = cast::<i16>(curved[(x, y, c)]) - cast::<i16>(blur_xy[(x, y, c)]);
    output[(x, y, c)] = saturating_cast::<u8>(cast::<i16>(curved[(x, y, c)]) + mask * parts / 32);
    output
}
