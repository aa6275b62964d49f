//! Coordinates whose intervals come of rules that decide: casts that fit or wrap, choices, remainders, correlated
//! terms. Such a rule may find more over a whole run than in one iteration, or the other way round.

use super::drawn::Drawn;
use super::folds::{Consumer, consumer, producer, stores};
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// `g` reads `h` and `f` reads `g` through such coordinates; both are stored and computed in loops of their consumers.
pub(super) fn decisions(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let offset = Param::<i32>::new("offset").with_range(-2, 3).expr();
    let h = func("h", &[x, y], image.read([x, y]) * 3 + x);
    let g = chained(random, "g", &h, offset);
    let f = chained(random, "f", &g, offset);
    let Consumer { text: loops, levels, split } = consumer(random);
    let mut lines = if loops.is_empty() { Vec::new() } else { vec![format!("f:{loops}")] };
    lines.extend(producer(random, "g", &levels, &split));
    if random.one_in(2) {
        let at = random.pick(&["x", "y", "x$u", "t", "r.x"]);
        let pieces = random.pick(&["", " unroll(x, 2)", " reorder(y, x)", " vectorize(x, 4)", " split(y, y, t, 2)"]);
        lines.push(format!("h: {} compute_at(g, {at}){pieces}", stores(random, &levels)));
        lines.push(format!("h: {} compute_at(g.update(0), {at}){pieces}", stores(random, &levels)));
    } else {
        lines.extend(producer(random, "h", &levels, &split));
    }
    lines.push(random.pick(&["", "f: specialize(offset > 1)", "f.specialize(offset > 1): unroll(x, 2)"]).to_string());
    lines.retain(|line| !line.is_empty());
    Drawn::new(f, lines)
}

/// Reads of `of` at two points, or a sum of reads over a domain.
fn chained(random: &mut Random, name: &str, of: &Func, offset: Expr) -> Func {
    let (x, y) = (var("x"), var("y"));
    let r = RDom::named("r", [(random.between(-1, 2) as i32, random.between(1, 4) as i32)]);
    let is_sum = random.one_in(3);
    let inner = if is_sum { r.x.expr() } else { y };
    let mut point = |along: Expr, other: Expr| {
        let at = decided(random, along, other, offset);
        if random.one_in(2) { [at, other] } else { [other, at] }
    };
    let (first, second) = (point(x, inner), point(y, inner));
    if !is_sum {
        return func(name, &[x, y], of.read(first) * 2 - of.read(second));
    }
    let mut sum = func(name, &[x, y], x - y);
    sum[[x, y]] = sum.read([x, y]) + of.read(first) + of.read(second) * r.x.expr();
    sum
}

/// A coordinate near `v`, or in a fixed range, that is decided by `w`, a parameter, or the range of `v`.
fn decided(random: &mut Random, v: Expr, w: Expr, offset: Expr) -> Expr {
    let c = random.between(-3, 9) as i32;
    let n = random.pick(&[2, 3, 4, 7, 300]);
    match random.below(9) {
        0 => select(w.eq(c), v + 1, v - 1),
        1 => select((w + offset).gt(c), v + 1, v - 1),
        2 => select(v.lt(c), v, v + n % 5),
        3 => cast_to(I32, cast_to(random.pick(&[U8, I8]), v + c)) % 64,
        4 => (v + c) % n,
        5 => min(v, 5) + max(v, c) - v,
        6 => clamp((v - c) * (w + offset), -2, 6),
        7 => cast_to(I32, cast_to(U8, v + c)) / 4,
        _ => v + offset,
    }
}
