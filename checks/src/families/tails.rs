//! Tails in loops of others: stages that are computed in chunks longer than what a consumer asks for there, where more
//! of its regions is known over the whole run than in one iteration. What such chunks compute beyond their regions is
//! read, too, and callers give no more than what the run asks for.

use super::drawn::Drawn;
use super::folds::stores;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A chain of three or four stages. The last one is computed in chunks whose rest is left out, the others in loops of
/// it or of each other.
pub(super) fn tails(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let names = if random.one_in(3) { &["h", "k", "g"][..] } else { &["h", "g"] };
    let mut last = func("q", &[x, y], image.read([x, y]) * 2);
    let mut stages = vec!["q"];
    for name in names {
        let value = near(random, &last, x, y);
        last = func(name, &[x, y], value);
        stages.push(name);
    }
    let value = near(random, &last, x, y);
    let f = func("f", &[x, y], value);

    let Chunks { text, levels, width } = chunks(random);
    let mut lines = vec![format!("f: {text}")];
    // Producers stand in the loops of their consumers or in those outside of them.
    let (mut consumer, mut least) = ("f", 0);
    for (n, name) in stages.iter().enumerate().rev() {
        let level = match consumer {
            "f" => {
                least += random.below(levels.len() - least);
                levels[least].as_str()
            }
            _ => random.pick(&["x", "y"]),
        };
        let store = if random.one_in(4) { format!(" {}", stores(random, &levels)) } else { String::new() };
        lines.push(format!("{name}: compute_root()"));
        lines.push(format!("{name}: compute_at({consumer}, {level}){store}"));
        lines.extend((n > 0 || random.one_in(3)).then(|| pieces(random, name, width)));
        if random.one_in(6) {
            consumer = name;
        }
    }
    Drawn::new(f, lines)
}

/// A chain whose middle stage keeps what earlier iterations computed, so that what is left of its regions begins
/// elsewhere, and what it reads is computed there in longer pieces.
pub(super) fn moved(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let q = func("q", &[x, y], image.read([x, y]) * 2);
    let value = near(random, &q, x, y);
    let g = func("g", &[x, y], value);
    let (dx, dy) = (random.between(-2, 3) as i32, random.between(-1, 1) as i32);
    let f = func("f", &[x, y], g.read([x, y]) * 3 - g.read([x + dx, y + dy]));
    let (text, levels, width) = match random.one_in(3) {
        true => {
            let width = random.pick(&[2, 3, 4, 8]);
            let tail = random.pick(&["", "", ", ShiftInwards", ", GuardWithIf", ", RoundUp"]);
            (format!("vectorize(x, {width}{tail})"), vec!["x".to_string(), "y".to_string()], width)
        }
        false => {
            let Chunks { text, levels, width } = chunks(random);
            (text, levels, width)
        }
    };
    let level = random.pick(&levels.iter().map(String::as_str).collect::<Vec<_>>());
    let inner = if random.one_in(5) { "g, x".to_string() } else { format!("f, {level}") };
    let mut lines = vec![
        format!("f: {text}"),
        format!("g: store_root() compute_at(f, {level})"),
        format!("g: {} compute_at(f, {level})", stores(random, &levels)),
        format!("q: compute_at({inner})"),
    ];
    lines.extend(random.one_in(3).then(|| pieces(random, "g", width)));
    lines.push(pieces(random, "q", width));
    Drawn::new(f, lines)
}

/// Reads a point or two near a point, of a mirrored or every second column.
fn near(random: &mut Random, of: &Func, x: Expr, y: Expr) -> Expr {
    let by = random.pick(&[1, 1, 1, 1, 1, 1, 1, 1, 2, -1]);
    let (dx, dy) = (random.between(-1, 2) as i32, random.between(-1, 1) as i32);
    match random.below(8) {
        0 => of.read([x * by, y]) - of.read([x * by + dx, y + dy]),
        1 => of.read([y, x * by]) + x,
        2 | 3 => of.read([x, y]) * 3 + x,
        _ => of.read([x * by + dx, y]) + y,
    }
}

/// The loops of the last stage.
struct Chunks {
    /// The directives that make them.
    text: String,
    /// Their names, innermost first.
    levels: Vec<String>,
    /// The length of a chunk along a row.
    width: i64,
}

/// Loops in chunks with a rest, perhaps in chunks of chunks.
fn chunks(random: &mut Random) -> Chunks {
    let tail = |random: &mut Random| random.pick(&["GuardWithIf", "GuardWithIf", "Predicate", "Auto"]);
    let (width, rows) = (random.pick(&[3, 4, 5, 8, 16]), random.between(1, 3));
    let mut text = String::new();
    let mut loops = vec!["xi", "y", "xo"];
    if random.one_in(2) {
        text += &format!("split(y, yo, yi, {rows}, {}) ", tail(random));
        loops = random.pick(&[["xi", "xo", "yi", "yo"], ["xi", "yi", "xo", "yo"], ["yi", "xi", "xo", "yo"]]).to_vec();
    }
    text += &format!("split(x, xo, xi, {width}, {}) ", tail(random));
    if random.one_in(4) {
        text += &format!("split(xo, xoo, xo, {}, {}) ", random.between(2, 3), tail(random));
        loops.push("xoo");
    }
    text += &format!("reorder({})", loops.join(", "));
    if random.one_in(3) {
        text += &format!(" {}({})", random.pick(&["vectorize", "unroll"]), loops[0]);
    }
    Chunks { text, levels: loops.into_iter().map(String::from).collect(), width }
}

/// A directive that computes a stage in pieces which may reach beyond what is asked for: as long as the chunks of the
/// last stage, a part of them, or longer.
fn pieces(random: &mut Random, name: &str, width: i64) -> String {
    let along = random.pick(&["x", "x", "x", "y"]);
    let factor = random.pick(&[width, width, 2, 3, 8]);
    let tail = random.pick(&["", "", ", RoundUp", ", RoundUp", ", ShiftInwards", ", GuardWithIf"]);
    match random.below(4) {
        0 => format!("{name}: unroll({along}, {factor}{tail})"),
        1 => format!("{name}: split({along}, {along}, t, {factor}{tail})"),
        _ => format!("{name}: vectorize({along}, {factor}{tail})"),
    }
}
