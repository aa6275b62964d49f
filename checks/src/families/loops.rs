//! Loops that run for several stages, each with a region of its own, and loops in which windows slide.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A read of a Func of two dimensions near `(x, y)`.
fn near(random: &mut Random, f: &Func, x: Expr, y: Expr) -> Expr {
    f.read([x + random.between(-2, 2) as i32, y + random.between(-2, 2) as i32])
}

/// Three or four stages that do not read each other, whose readers need other regions of each, run as one. Some read a
/// stage that nobody else reads, computed in their loops.
pub(super) fn groups(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let p = func("p", &[x, y], image.read([x, y]) * 2 + x);
    let count = 3 + random.below(2);
    let (mut parts, mut lines, mut own) = (Vec::new(), Vec::new(), Vec::new());
    for (name, factor) in ["a", "b", "c", "d"].into_iter().zip(3..).take(count) {
        let mut value = near(random, &p, x, y) * factor + near(random, &p, x, y);
        if random.one_in(2) {
            let q = func(&format!("q{name}"), &[x, y], image.read([x, y + 1]) - y);
            value += q.read([x, y - 1]) + near(random, &q, x, y + 1);
            own.push(name);
        }
        let mut part = func(name, &[x, y], value);
        if random.one_in(4) {
            part[[x, y]] = part.read([x, y]) + near(random, &p, x, y);
        }
        parts.push(part);
    }
    // What one stage is needed for, others are not; some are needed for the same.
    let mut needed = |part: &Func| match random.one_in(2) {
        true => part.read([x, y]),
        false => near(random, part, x, y),
    };
    let sum = parts.iter().fold(0.expr(), |sum, part| sum + needed(part));
    let f = func("f", &[x, y], sum);
    let split = random.below(5);
    for part in &parts {
        // Pieces of one length or of two.
        let factor = random.pick(&[4, 4, 2]);
        let loops = match split {
            0 => format!(" split(x, x, xi, {factor})"),
            1 => format!(" split(y, y, yi, {factor})"),
            2 => " split(x, x, xi, 3, GuardWithIf)".to_string(),
            _ => String::new(),
        };
        lines.push(format!("{}: compute_root(){loops}", part.name()));
    }
    let shared = [["x", "xi", "xi"], ["y", "yi", "x"], ["x", "xi", "x"], ["x", "x", "y"], ["x", "y", "y"]][split];
    for (n, part) in parts.iter().enumerate().skip(1) {
        let host = parts[random.below(n)].name().to_string();
        let at = random.pick(&shared);
        let align = random.pick(&["", ", AlignStart", ", AlignEnd", ", NoAlign"]);
        lines.push(format!("{}: compute_with({host}, {at}{align})", part.name()));
        if random.one_in(6) {
            lines.push(format!("{}: {}_partition({at})", part.name(), random.pick(&["never", "auto"])));
        }
    }
    for name in own {
        let at = random.pick(&["x", "y", "y", "yi", "xi"]);
        let store = random.pick(&["", " store_root()", " store_root()"]);
        lines.push(format!("q{name}: compute_at({name}, {at}){store}"));
    }
    lines
        .push(random.pick(&["p: compute_root()", "p: store_root()", "a: parallel(y)", "a: never_partition(x)"]).into());
    let mut drawn = Drawn::new(f, lines);
    if random.one_in(4) {
        drawn.outputs.extend(parts);
    }
    drawn
}

/// Two stages in one loop and one in theirs, under directives of which many are illegal beside others.
pub(super) fn legality(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let p = func("p", &[x, y], image.read([x, y]) * 2 + x);
    let value = near(random, &p, x, y) + p.read([x, y + 1]);
    let a = func("a", &[x, y], value);
    let shared = if random.one_in(2) { image.read([x, y]) } else { near(random, &p, x, y) };
    let mut b = func("b", &[x, y], shared - y);
    let r = RDom::named("r", [(random.between(-1, 1) as i32, random.between(2, 5) as i32)]);
    let c = random.between(-2, 6) as i32;
    let to = [r.x.expr(), r.x * 2, 4 - r.x][random.below(3)];
    let from = [c.expr(), r.x + c, r.x * 2 + c][random.below(3)];
    b[[to, y]] = b.read([from, y]) + image.read([r.x.expr(), y]);
    let f = func("f", &[x, y], a.read([x, y]) + near(random, &a, x, y) + b.read([x, y]));
    let at = ["x", "y", "xi"][random.below(3)];
    let site = ["a", "b", "f", "a", "b.update(0)", "a.update(2)", "b.update(2)"][random.below(7)];
    let mut lines = vec![
        "a: compute_root()".to_string(),
        "b: compute_root()".to_string(),
        format!("a: split(x, x, xi, {})", random.pick(&[0, 2, 4])),
        format!("b: compute_with(a, {})", random.pick(&["x", "y"])),
        format!("p: compute_at({site}, {at})"),
        format!("p: {}", random.pick(&["store_root()", "store_at(a, y)", "fold_storage(y, 2)", "store_at(f, x)"])),
    ];
    let loops = ["x", "y", "xi", "r.x"];
    for _ in 0..5 {
        let name = random.pick(&["a", "a", "b", "b.update(0)", "f"]);
        let verb = random.pick(&["parallel", "vectorize", "unroll", "never_partition", "always_partition", "parallel"]);
        let var = if name == "b.update(0)" && random.one_in(2) { "r.x" } else { random.pick(&loops) };
        lines.push(format!("{name}: {verb}({var})"));
    }
    Drawn::new(f, lines)
}

/// Chains of stencils whose windows slide along loops that are split, guarded or fused.
pub(super) fn slides(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let h = func("h", &[x, y], image.read([x, y]) + y);
    let stencil = |random: &mut Random, of: &Func| {
        let mut sum = of.read([x, y + random.between(-2, 0) as i32]);
        for _ in 0..1 + random.below(2) {
            sum += of.read([x + random.between(0, 1) as i32, y + random.between(0, 3) as i32]);
        }
        sum
    };
    let value = stencil(random, &h);
    let mut g = func("g", &[x, y], value);
    if random.one_in(4) {
        g[[x, y]] = g.read([x, y]) + h.read([x, y + 1]);
    }
    let value = stencil(random, &g) + if random.one_in(3) { h.read([x, y]) } else { 0.expr() };
    let f = func("f", &[x, y], value);
    let tail = random.pick(&["", ", GuardWithIf", ", GuardWithIf", ", Predicate"]);
    let factor = random.between(2, 5);
    let order = random.pick(&["", "", " reorder(y, x)"]);
    let loops = match random.below(5) {
        0 => "f:".to_string(),
        1 | 2 => format!("f: split(y, yo, y, {factor}{tail})"),
        3 => format!("f: split(y, yo, y, {factor}{tail}) split(y, ym, y, 2{tail})"),
        _ => format!("f: split(x, xo, xi, {factor}{tail})"),
    };
    let mut lines = if loops == "f:" { Vec::new() } else { vec![loops] };
    if !order.is_empty() {
        lines.push(format!("f:{order}"));
    }
    for name in ["g", "h"] {
        let store = random.pick(&["store_root()", "store_root()", "store_at(f, yo)", "store_at(f, y)", ""]);
        let at = random.pick(&["f, y", "f, y", "f, x", "g, y", "g, x", "f, xi"]);
        lines.push(format!("{name}: compute_root()"));
        lines.push(format!("{name}: compute_at({at}) {store}").trim_end().to_string());
        if random.one_in(3) {
            let tail = random.pick(&["", ", GuardWithIf"]);
            lines.push(format!("{name}: split(y, y, yi, 2{tail})"));
        }
    }
    Drawn::new(f, lines)
}

/// Storage outside of loops that run at once, of Funcs whose iterations would share it, and of others.
pub(super) fn levels(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let mut p = func("p", &[x, y], image.read([x, y]) * 2 + x);
    if random.one_in(3) {
        p[[x, y]] = p.read([x, y]) + image.read([x, y + 1]);
    }
    let f = func("f", &[x, y], near(random, &p, x, y) + p.read([x, y + 1]));
    let loops = ["x", "y", "yo", "yi"];
    let at = random.pick(&loops);
    let store = random.pick(&["store_root()", "store_at(f, y)", "store_at(f, yo)", "hoist_storage_root()"]);
    let lines = vec![
        random.pick(&["f: split(y, yo, yi, 4)", "f: reorder(y, x)", "f: split(y, yo, y, 2)"]).to_string(),
        format!("p: compute_at(f, {at})"),
        format!("p: {store}"),
        format!("p: {}", random.pick(&["fold_storage(y, 4)", "fold_storage(x, 8)", "vectorize(x, 4)"])),
        format!("f: parallel({at})"),
        format!("f: parallel({})", random.pick(&loops)),
    ];
    Drawn::new(f, lines)
}
