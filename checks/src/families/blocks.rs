//! Storage in blocks, and inputs that lie in layouts.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

const DIMS: [&str; 3] = ["c", "x", "y"];

/// A stage with neighbours along all dimensions, with and without updates, between an input, which may lie in blocks,
/// and two readers; the storage of all that is kept is split, in any order, by loops that are split alike or not.
pub(super) fn blocks(random: &mut Random) -> Drawn {
    let ty = random.pick(&[U8, I16, I32, F32]);
    let input = match random.one_in(2) {
        true => ImageParam::with_layout("in", ty, &layout(random)),
        false => ImageParam::new("in", ty, 3),
    };
    let [c, x, y] = DIMS.map(var);
    let near = |random: &mut Random, c: Expr, x: Expr, y: Expr| {
        [c + random.between(-1, 1) as i32, x + random.between(-1, 2) as i32, y + random.between(0, 1) as i32]
    };
    let at = [c.expr(), x.expr(), y.expr()];
    let mut a = func("a", &[c, x, y], input.read(at) + input.read(near(random, at[0], at[1], at[2])));
    let updates = random.below(3);
    if updates > 0 {
        let r = RDom::named("r", [(random.between(-2, 1) as i32, random.between(1, 6) as i32)]);
        let from = near(random, c + r.x, x.expr(), y.expr());
        let old = a.read(at);
        a[at] = old + input.read(from);
        if updates > 1 {
            let s = RDom::named("s", [(random.between(-3, 3) as i32, random.between(1, 9) as i32)]);
            let before = a.read([s.x - 1, x.expr(), y.expr()]);
            a[[s.x.expr(), x.expr(), y.expr()]] = before + random.between(1, 3) as i32;
        }
    }
    let b = func("b", &[c, x, y], a.read(near(random, at[0], at[1], at[2])) * 2 + a.read(at));
    let out = func("out", &[c, x, y], b.read(at) + b.read(near(random, at[0], at[1], at[2])) + a.read(at));
    let mut lines = Vec::new();
    loops(random, "out", &mut lines);
    for producer in ["b", "a"] {
        places(random, producer, &mut lines);
        storage(random, producer, &mut lines);
        loops(random, producer, &mut lines);
    }
    loops(random, "a.update(0)", &mut lines);
    loops(random, "a.update(1)", &mut lines);
    Drawn::new(out, lines)
}

/// Blocks along some dimensions, parts in any order.
fn layout(random: &mut Random) -> Layout {
    let mut layout = Layout::of(DIMS);
    let mut parts = Vec::new();
    for dim in DIMS {
        if random.one_in(2) {
            layout = layout.split(dim, random.pick(&[1, 2, 3, 4, 8, 16]));
            parts.extend([format!("{dim}.i"), format!("{dim}.o")]);
        } else {
            parts.push(dim.to_string());
        }
    }
    if random.one_in(3) { layout } else { layout.order(shuffled(random, parts)) }
}

fn shuffled(random: &mut Random, mut list: Vec<String>) -> Vec<String> {
    for last in (1..list.len()).rev() {
        let other = random.below(last + 1);
        list.swap(last, other);
    }
    list
}

fn places(random: &mut Random, func: &str, lines: &mut Vec<String>) {
    let readers: &[&str] = if func == "a" { &["out", "b"] } else { &["out"] };
    let (reader, at) = (random.pick(readers), random.pick(&["c", "x", "y", "co", "xo", "ci"]));
    // Where the place after it is not legal.
    lines.push(format!("{func}: compute_root()"));
    lines.push(match random.below(5) {
        0 => format!("{func}: store_root() compute_at({reader}, {at})"),
        1 | 2 => format!("{func}: compute_at({reader}, {at})"),
        _ => format!("{func}: compute_root()"),
    });
}

fn storage(random: &mut Random, func: &str, lines: &mut Vec<String>) {
    let mut parts = Vec::new();
    for dim in DIMS {
        let factor = random.pick(&[1, 2, 3, 4, 5, 8, 16]);
        if random.one_in(if dim == "c" { 1 } else { 3 }) {
            lines.push(format!("{func}: split_storage({dim}, {dim}so, {dim}si, {factor})"));
            parts.extend([format!("{dim}si"), format!("{dim}so")]);
        } else {
            parts.push(dim.to_string());
        }
        if random.one_in(4) {
            lines.push(format!("{func}: align_bounds({dim}, {factor}, {})", random.pick(&[0, 0, 1])));
        }
    }
    if random.one_in(2) {
        lines.push(format!("{func}: reorder_storage({})", shuffled(random, parts.clone()).join(", ")));
    }
    if random.one_in(4) {
        lines.push(format!("{func}: align_storage({}, {})", parts[random.below(parts.len())], random.pick(&[2, 8, 5])));
    }
    if random.one_in(6) {
        lines.push(format!("{func}: fold_storage({}, {})", random.pick(&DIMS), random.pick(&[2, 4, 8])));
    }
}

fn loops(random: &mut Random, stage: &str, lines: &mut Vec<String>) {
    for dim in ["c", "x"] {
        if random.one_in(2) {
            let (factor, tail) = (random.pick(&[2, 3, 4, 8, 16]), random.pick(&["", ", GuardWithIf", ", RoundUp"]));
            let tail = if stage == "out" { "" } else { tail };
            lines.push(format!("{stage}: split({dim}, {dim}o, {dim}i, {factor}{tail})"));
        }
    }
    if random.one_in(4) {
        let (a, b) = (random.pick(&["c", "ci", "x", "xi"]), random.pick(&["x", "co", "y", "xo"]));
        lines.push(format!("{stage}: reorder({b}, {a})"));
    }
    if random.one_in(8) {
        lines.push(format!("{stage}: gpu_tile(c, x, bc, bx, tc, tx, 4, 2)"));
    }
    for _ in 0..random.below(3) {
        let var = random.pick(&["c", "ci", "x", "xi", "y", "co", "r.x"]);
        lines.push(match random.below(4) {
            0 => format!("{stage}: parallel({var})"),
            1 => format!("{stage}: unroll({var}, {})", random.pick(&[2, 3])),
            _ => format!("{stage}: vectorize({var}, {})", random.pick(&[2, 4, 8])),
        });
    }
}
