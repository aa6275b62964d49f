//! Local Laplacian filter: edge-aware tone and detail manipulation on a Laplacian pyramid, after Paris, Hasinoff and
//! Kautz (2011). One pyramid is built for each of several reference intensities; every output coefficient is mixed from
//! the two whose reference is nearest to the local intensity.

use super::rgb;
use halide::prelude::*;
use halide_tool::app::{App, Shows, Takes};
use halide_tool::input::{Input, White};
use halide_tool::schedules;

/// Levels of the pyramids that the app uses.
pub const PYRAMID_LEVELS: usize = 8;

/// The app.
pub const APP: App = App {
    name: "local_laplacian",
    about: "edge-aware detail enhancement of u16 RGB on 8 pyramid levels",
    settings: &[],
    takes: Takes::Rgb,
    shows: Shows::Full(65535),
    schedules: schedules!["schedules/local_laplacian": cpu, rows, single_thread, root, gpu],
    pipeline: |_| pipeline(PYRAMID_LEVELS),
    inputs: |_, width, height| vec![Input::pixels("input", U16, &[width, height, 3], White::At(65535))],
    output: rgb,
    size: (1536, 2560),
    operations: None,
};

/// The algorithm on `pyramid` levels, at least 1. Parameters: `levels`, the number of reference intensities; `alpha`,
/// how much detail is added; `beta`, how much of the contrast between large regions is kept.
pub fn pipeline(pyramid: usize) -> Result<Pipeline, AlgorithmErrors> {
    let (x, y, c, k) = vars!(x, y, c, k);
    let input = ImageParam::new("input", U16, 3);
    let levels = Param::<i32>::new("levels").with_default(8).with_range(2, 64);
    let alpha = Param::<f32>::new("alpha").with_default(1.0 / 7.0);
    let beta = Param::<f32>::new("beta").with_default(1.0);
    let steps = cast::<f32>(levels - 1);
    let top = pyramid.max(1) - 1;

    // How far a value at a distance from its reference moves, in steps of 1/256 of a level.
    let mut remap = Func::new("remap");
    let distance = cast::<f32>(x) / 256.0;
    remap[x] = alpha * distance * exp(-distance * distance / 2.0);

    let clamped = repeat_edge(&input);
    let (mut color, mut gray) = (Func::new("color"), Func::new("gray"));
    color[(x, y, c)] = cast::<f32>(clamped[(x, y, c)]) / 65535.0;
    gray[(x, y)] = 0.299 * color[(x, y, 0)] + 0.587 * color[(x, y, 1)] + 0.114 * color[(x, y, 2)];

    // The image as remapped around reference k, and its Gaussian pyramid.
    let mut g = vec![Func::new("g0")];
    let reference = cast::<f32>(k) / steps;
    let index = clamp(cast::<i32>(gray[(x, y)] * steps * 256.0), 0, (levels - 1) * 256);
    g[0][(x, y, k)] = beta * (gray[(x, y)] - reference) + reference + remap[index - 256 * k];
    (1..=top).for_each(|j| g.push(downsample(&format!("g{j}"), &g[j - 1], &[k])));

    // Its Laplacian pyramid, and the Gaussian pyramid of the image itself.
    let mut l: Vec<Func> = (0..=top).map(|j| Func::new(format!("l{j}"))).collect();
    l[top][(x, y, k)] = g[top][(x, y, k)];
    (0..top)
        .for_each(|j| l[j][(x, y, k)] = g[j][(x, y, k)] - upsample(&format!("l{j}_up"), &g[j + 1], &[k])[(x, y, k)]);
    let mut grays = vec![gray];
    (1..=top).for_each(|j| grays.push(downsample(&format!("gray{j}"), &grays[j - 1], &[])));

    // Each coefficient of the output is mixed from the pyramids of the two nearest references; then the pyramid
    // collapses.
    let mut out: Vec<Func> = (0..=top).map(|j| Func::new(format!("out{j}"))).collect();
    for j in (0..=top).rev() {
        let mut mixed = Func::new(format!("out_l{j}"));
        let level = grays[j][(x, y)] * steps;
        let low = clamp(cast::<i32>(level), 0, levels - 2);
        let part = level - cast::<f32>(low);
        mixed[(x, y)] = (1.0 - part) * l[j][(x, y, low)] + part * l[j][(x, y, low + 1)];
        out[j][(x, y)] = match j == top {
            true => mixed[(x, y)],
            false => upsample(&format!("out{j}_up"), &out[j + 1], &[])[(x, y)] + mixed[(x, y)],
        };
    }

    // Colours keep their proportions.
    let mut output = Func::new("output");
    let value = color[(x, y, c)] * (out[0][(x, y)] + 0.01) / (grays[0][(x, y)] + 0.01);
    output[(x, y, c)] = cast::<u16>(clamp(value * 65535.0, 0.0, 65535.0));
    Pipeline::new([&output])
}

/// Half the size by the filter [1 3 3 1] / 8: along y into the Func `NAME_y`, then along x into the Func `NAME`.
fn downsample(name: &str, f: &Func, rest: &[Var]) -> Func {
    let (x, y) = vars!(x, y);
    let (mut in_y, mut down) = (Func::new(format!("{name}_y")), Func::new(name));
    let at = |x: Expr, y: Expr| coordinates(x, y, rest);
    let (px, py) = (x.expr(), y.expr());
    in_y[at(px, py)] =
        (f[at(px, 2 * y - 1)] + 3.0 * (f[at(px, 2 * y)] + f[at(px, 2 * y + 1)]) + f[at(px, 2 * y + 2)]) / 8.0;
    down[at(px, py)] =
        (in_y[at(2 * x - 1, py)] + 3.0 * (in_y[at(2 * x, py)] + in_y[at(2 * x + 1, py)]) + in_y[at(2 * x + 2, py)])
            / 8.0;
    down
}

/// Twice the size, bilinearly: along x into the Func `NAME_x`, then along y into the Func `NAME`.
fn upsample(name: &str, f: &Func, rest: &[Var]) -> Func {
    let (x, y) = vars!(x, y);
    let (mut in_x, mut up) = (Func::new(format!("{name}_x")), Func::new(name));
    let at = |x: Expr, y: Expr| coordinates(x, y, rest);
    let (px, py) = (x.expr(), y.expr());
    let near = |v: Var| cast::<f32>((v % 2) * 2 + 1) / 4.0;
    in_x[at(px, py)] = lerp(f[at((x + 1) / 2, py)], f[at((x - 1) / 2, py)], near(x));
    up[at(px, py)] = lerp(in_x[at(px, (y + 1) / 2)], in_x[at(px, (y - 1) / 2)], near(y));
    up
}

fn coordinates(x: Expr, y: Expr, rest: &[Var]) -> Vec<Expr> {
    [x, y].into_iter().chain(rest.iter().map(|v| v.expr())).collect()
}
