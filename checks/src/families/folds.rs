//! Circular storage of stages that are computed in pieces: at each level of a consumer whose loops are split and come
//! in any order, by factors that are no longer, as long and longer than what an iteration asks for.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A chain of two or three stages. Each producer is stored outside of loops in which its pieces move.
pub(super) fn pieces(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let h = func("h", &[x, y], image.read([x, y]) * 3 + x);
    let long = random.one_in(3);
    let g = match long {
        true => func("g", &[x, y], stencil(random, &h, x, y)),
        false => h,
    };
    let f = func("f", &[x, y], stencil(random, &g, x, y));
    let Consumer { text: loops, levels, split } = consumer(random);
    // In tiles of a further stage, regions have constant lengths.
    let tiled = random.one_in(5);
    let out = tiled.then(|| func("out", &[x, y], f.read([x, y]) * 2));
    let mut lines = Vec::new();
    if tiled {
        let (w, h, tail) = (random.between(1, 4), random.between(2, 6), random.pick(&["", ", GuardWithIf"]));
        lines.push(format!("out: tile(x, y, tx, ty, xi, yi, {w}, {h}{tail})"));
        lines.push("f: compute_at(out, tx)".to_string());
    }
    if !loops.is_empty() {
        lines.push(format!("f:{loops}"));
    }
    if random.one_in(4) {
        lines.push(variant(random, if tiled { "out" } else { "f" }, &levels));
    }
    let names: &[&str] = if long { &["g", "h"] } else { &["h"] };
    for name in names {
        lines.extend(producer(random, name, &levels, &split));
        if tiled && random.one_in(2) {
            lines.push(format!("{name}: store_at(out, tx) compute_at(f, {})", levels[random.below(levels.len())]));
        }
        if *name == "h" && long && random.one_in(3) {
            let at = random.pick(&["x", "y"]);
            lines.push(format!("h: {} compute_at(g, {at})", stores(random, &levels)));
        }
    }
    Drawn::new(out.unwrap_or(f), lines)
}

/// Producers stored outside of loops that a variant of their consumer makes longer, shorter or does without: what one
/// variant computes in pieces, another one may compute at once.
pub(super) fn variants(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let h = func("h", &[x, y], image.read([x, y]) * 3 + x);
    let f = func("f", &[x, y], stencil(random, &h, x, y));
    let out = func("out", &[x, y], f.read([x, y]) * 2 - y);
    let (w, rows) = (random.between(1, 4), random.between(2, 6));
    let along = random.pick(&["x", "y", "y"]);
    let length = if along == "x" { w } else { rows };
    let tail = |random: &mut Random| random.pick(&["", ", GuardWithIf"]);
    // Loops of the same names, of which the inner one holds another loop or not; as often as not of the whole length,
    // which is computed at once.
    let split = |random: &mut Random| {
        let factor = if random.one_in(2) { length } else { random.between(1, length) };
        let own = tail(random);
        if random.one_in(2) {
            return format!("split({along}, o, i, {factor}{own})");
        }
        let inner = if random.one_in(2) { factor } else { random.between(1, factor) };
        format!("split({along}, o, t, {factor}{own}) split(t, i, j, {inner}{})", tail(random))
    };
    let (dim, op, limit) = (random.below(2), random.pick(&["<=", ">=", "=="]), random.between(1, 6));
    let (variant, main) = (split(random), split(random));
    let mut lines = vec![
        format!("out: tile(x, y, tx, ty, xi, yi, {w}, {rows}{})", tail(random)),
        "f: compute_at(out, tx)".to_string(),
        format!("f.specialize(out.extent({dim}) {op} {limit}): {variant}"),
        format!("f: {main}"),
    ];
    let across = if along == "x" { "y" } else { "x" };
    let level = random.pick(&["o", "i", "i", across]);
    let store = random.pick(&["out, tx", "f, o", "f, o"]);
    lines.push("h: compute_root()".to_string());
    lines.push(format!("h: store_at({store}) compute_at(f, {level})"));
    if random.one_in(3) {
        lines.push(format!("h: unroll({along}, {})", random.between(2, 4)));
    }
    Drawn::new(out, lines)
}

/// Chains of which a coordinate moves with several loops of the consumer, and several with one: stages read each other
/// along diagonals, so loops inside of a sliding window go over other values in each iteration.
pub(super) fn slants(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let h = func("h", &[x, y], image.read([x, y]) * 3 + x);
    let mut near = |of: &Func| {
        let d = random.between(-1, 2) as i32;
        let at = random.pick(&[
            [x, y],
            [x, x],
            [x, x + y],
            [y, x],
            [x + y, y],
            [x, x - y],
            [x + d, y],
            [x, y + d],
            [x, 1.expr()],
        ]);
        of.read([at[0] + d, at[1]])
    };
    let value = near(&h) * 2 + near(&h);
    let g = func("g", &[x, y], value);
    let value = near(&g) - near(&g);
    let f = func("f", &[x, y], value);
    let Consumer { text: loops, levels, split } = consumer(random);
    let mut lines = if loops.is_empty() { Vec::new() } else { vec![format!("f:{loops}")] };
    lines.extend(producer(random, "g", &levels, &split));
    if random.one_in(2) {
        let (at, pieces) =
            (random.pick(&["x", "y", "x$u", "t"]), random.pick(&["", " unroll(x, 2)", " reorder(y, x)"]));
        lines.push(format!("h: {} compute_at(g, {at}){pieces}", stores(random, &levels)));
    } else {
        lines.extend(producer(random, "h", &levels, &split));
    }
    Drawn::new(f, lines)
}

/// Reads near a point, along one dimension or both; sometimes of fewer, more or mirrored points.
fn stencil(random: &mut Random, of: &Func, x: Expr, y: Expr) -> Expr {
    let by = random.pick(&[1, 1, 1, 1, 2, -1]);
    let wide = random.below(3);
    let mut read = |first: bool| {
        let mut near = |most: i64| if first { 0 } else { random.between(0, most) as i32 };
        let (dx, dy) = match wide {
            0 => (0, near(2)),
            1 => (near(2), 0),
            _ => (near(2), near(2)),
        };
        of.read([x * by + dx, y + dy])
    };
    read(true) * 2 + read(false) - read(false)
}

/// The loops of a consumer.
pub(super) struct Consumer {
    /// The directives that make them.
    pub(super) text: String,
    /// Their names, innermost first.
    pub(super) levels: Vec<String>,
    /// The dimensions that are split.
    pub(super) split: Vec<&'static str>,
}

/// Loops that are split once or twice, in any order.
pub(super) fn consumer(random: &mut Random) -> Consumer {
    let (mut text, mut split) = (String::new(), Vec::new());
    let mut loops: Vec<String> = vec!["x".into(), "y".into()];
    for _ in 0..random.pick(&[0, 1, 1, 1, 2]) {
        let at = random.below(loops.len());
        let name = loops.remove(at);
        split.push(if name.starts_with('x') { "x" } else { "y" });
        let (outer, inner) = (format!("{name}o"), format!("{name}i"));
        let tail = random.pick(&["", ", GuardWithIf", ", GuardWithIf", ", Predicate"]);
        text += &format!(" split({name}, {outer}, {inner}, {}{tail})", random.between(1, 6));
        loops.insert(at, outer);
        loops.insert(at, inner);
    }
    let inorder = loops.clone();
    random.shuffle(&mut loops);
    // Parts of splits inside of others, as usual, the other way round, or anyhow.
    match random.below(4) {
        0 => {}
        1 => loops.sort_by_key(|name| name.matches('i').count()),
        _ => loops.sort_by_key(|name| std::cmp::Reverse(name.matches('i').count())),
    }
    if loops != inorder {
        text += &format!(" reorder({})", loops.join(", "));
    }
    if random.one_in(4) {
        text += &format!(" {}({})", random.pick(&["unroll", "unroll", "vectorize"]), loops[0]);
    }
    Consumer { text, levels: loops, split }
}

/// A variant of the consumer for large or small regions, whose loops come in another order.
fn variant(random: &mut Random, output: &str, levels: &[String]) -> String {
    let (dim, op, limit) = (random.below(2), random.pick(&["<=", ">=", "=="]), random.between(1, 6));
    let mut loops = levels.to_vec();
    random.shuffle(&mut loops);
    let verb = match random.below(3) {
        0 => format!("unroll({})", loops[0]),
        _ => format!("reorder({})", loops.join(", ")),
    };
    format!("f.specialize({output}.extent({dim}) {op} {limit}): {verb}")
}

pub(super) fn stores(random: &mut Random, levels: &[String]) -> String {
    match random.one_in(2) {
        true => format!("store_at(f, {})", random.pick(&levels.iter().map(String::as_str).collect::<Vec<_>>())),
        false => "store_root()".to_string(),
    }
}

/// Lines that store and compute a producer somewhere, and those that make its pieces.
pub(super) fn producer(random: &mut Random, name: &str, levels: &[String], split: &[&str]) -> Vec<String> {
    // Often the innermost loop, and pieces along a dimension that moves with several loops.
    let level = &levels[if random.one_in(2) { 0 } else { random.below(levels.len()) }];
    let mut lines = vec![
        format!("{name}: compute_root()"),
        format!("{name}: store_root() compute_at(f, {level})"),
        format!("{name}: {} compute_at(f, {level})", stores(random, levels)),
    ];
    let along = if split.is_empty() || random.one_in(4) { random.pick(&["x", "y"]) } else { random.pick(split) };
    let factor = random.between(2, 7);
    let tail = random.pick(&["", "", ", ShiftInwards", ", RoundUp", ", GuardWithIf"]);
    lines.push(match random.below(6) {
        0 | 1 => format!("{name}: unroll({along}, {factor}{tail})"),
        2 => format!("{name}: vectorize({along}, {}{tail})", random.pick(&[2, 4, 8])),
        3 => format!("{name}: split({along}, {along}, t, {factor}{tail})"),
        4 => format!("{name}: split({along}, {along}, t, {factor}{tail}) unroll(t)"),
        _ => format!("{name}: reorder(y, x)"),
    });
    lines
}
