//! Kernels whose threads share stages of fewer dimensions than the block has, and rows of lanes that lie densely.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Stages at some of the coordinates of a block of one to three dimensions, each of which all threads along the others
/// read.
pub(super) fn planes(random: &mut Random) -> Drawn {
    if random.one_in(4) {
        return between_loops(random);
    }
    let ty = random.pick(&[I32, I32, F32]);
    let image = ImageParam::new("in", ty, 2);
    let all = [var("x"), var("y"), var("z")];
    let [x, y, z] = all;
    let mut stages: Vec<(&str, &str)> =
        vec![("kxy", "xy"), ("kxz", "xz"), ("kyz", "yz"), ("kx", "x"), ("ky", "y"), ("kz", "z"), ("kxyz", "xyz")];
    random.shuffle(&mut stages);
    stages.truncate(1 + random.below(3));
    let place = random.pick(&["xo", "xo", "yo", "zo"]);
    let (mut lines, mut value) = (Vec::new(), cast_to(ty, x + y * 3 - z));
    let mut before: Option<(Func, &str)> = None;
    for (name, dims) in stages {
        let of = |c: char| all["xyz".find(c).unwrap_or(0)];
        let vars: Vec<Expr> = dims.chars().map(of).collect();
        let (a, b) = (vars[0], vars[vars.len() - 1]);
        let mut own = image.read([a, b + vars.len() as i32]) * cast_to(ty, 3) + cast_to(ty, b);
        // A chain of such stages, so that some end before others begin.
        if let Some((earlier, fewer)) = &before
            && fewer.chars().all(|c| dims.contains(c))
            && random.one_in(2)
        {
            own += earlier.read(fewer.chars().map(of).collect::<Vec<Expr>>());
        }
        let stage = func(name, &vars, own);
        for _ in 0..1 + random.below(2) {
            let near: Vec<Expr> = vars.iter().map(|v| *v + random.pick(&[0, 0, 0, 1, -1])).collect();
            value += stage.read(near);
        }
        let own: Vec<String> = dims.chars().map(String::from).collect();
        lines.push(format!("{name}: compute_at(f, {place}) gpu_threads({})", own.join(", ")));
        if random.one_in(2) {
            lines.push(format!("{name}: store_in(Shared)"));
        }
        before = Some((stage, dims));
    }
    let f = func("f", &all, value);
    let factors = [random.pick(&[2, 4, 8]), random.pick(&[1, 2, 4]), random.pick(&[2, 3, 4])];
    let tail = random.pick(&["", ", GuardWithIf"]);
    let splits: String = ["x", "y", "z"]
        .iter()
        .zip(factors)
        .map(|(v, factor)| format!(" split({v}, {v}o, {v}i, {factor}{tail})"))
        .collect();
    let first = format!("f:{splits} reorder(xi, yi, zi, xo, yo, zo) gpu_blocks(xo, yo, zo) gpu_threads(xi, yi, zi)");
    lines.insert(0, first);
    Drawn::new(f, lines)
}

/// Stages in shared memory of which some end before a loop of the block begins, and some are filled in that loop.
fn between_loops(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y, z) = (var("x"), var("y"), var("z"));
    let k = func("k", &[x, y], image.read([x, y]) * 3);
    let h = func("h", &[x, y], k.read([x, y]) + k.read([x + random.between(0, 2) as i32, y]));
    let g = func("g", &[x, y, z], image.read([x + z, y]) - z);
    let near = g.read([x + random.between(0, 1) as i32, y, z]);
    let other = h.read([x, y + random.between(0, 1) as i32]);
    let (w, rows) = (random.pick(&[4, 8]), random.pick(&[2, 4]));
    let mut lines = vec![format!(
        "f: split(x, xo, xi, {w}) split(y, yo, yi, {rows}) reorder(xi, yi, z, xo, yo) gpu_blocks(xo, yo) gpu_threads(xi, yi)"
    )];
    let store = random.pick(&["store_at(f, xo)", "store_at(f, xo)", ""]);
    lines.push("k: compute_at(f, xo) gpu_threads(x, y) store_in(Shared)".to_string());
    lines.push("h: compute_at(f, xo) gpu_threads(x, y) store_in(Shared)".to_string());
    lines.push(format!("g: compute_at(f, z) {store} gpu_threads(x, y) store_in(Shared)"));
    // What is read first is allocated outside of the others.
    let sum = if random.one_in(2) { near * other + h.read([x, y]) } else { h.read([x, y]) + near * other };
    let f = func("f", &[x, y, z], sum);
    Drawn::new(f, lines)
}

/// Rows of lanes, one thread for each row of a block: what lanes hold of a row is as long as the row.
pub(super) fn lanes(random: &mut Random) -> Drawn {
    let ty = random.pick(&[I32, I32, F32]);
    let image = ImageParam::new("in", ty, 2);
    let (x, y) = (var("x"), var("y"));
    let g = func("g", &[x, y], image.read([x, y]) * cast_to(ty, 2) + cast_to(ty, x));
    let reach = random.between(0, 2) as i32;
    let mut value = g.read([x, y]);
    if reach > 0 {
        value += g.read([x + reach, y]);
    }
    let f = func("f", &[x, y], value);
    let rows = random.pick(&[2, 4]);
    let (loops, place) = match random.below(4) {
        0 => ("split(x, xo, xi, 8) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)".to_string(), "y"),
        _ => (format!("tile(x, y, xo, yo, xi, yi, 8, {rows}) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)"), "yi"),
    };
    let lines = vec![
        format!("f: {loops}"),
        format!("g: compute_at(f, {place}) split(x, x, xi, 8, RoundUp) gpu_lanes(xi) store_in(Register)"),
    ];
    Drawn::new(f, lines)
}
