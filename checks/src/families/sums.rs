//! Sums of products whose steps are written out, into stages that are read while others are summed, and sums of
//! elements near the ends of `i32`.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Two sums, of which the second reads the first and stores into what an output's buffer holds, so that nothing stands
/// between the steps of both.
pub(super) fn products(random: &mut Random) -> Drawn {
    if random.one_in(2) {
        return pairs(random);
    }
    let (narrow, ty) = random.pick(&[(U8, U16), (I8, I16), (U8, I32), (I16, I32)]);
    let (a, b) = (ImageParam::new("a", narrow, 1), ImageParam::new("b", narrow, 1));
    let x = var("x");
    let wide = ScalarType::signed(64.min(2 * ty.bits()));
    let r = RDom::named("r", [(0, random.between(1, 4) as i32)]);
    let w = |e: Expr, ty| cast_to(ty, e);
    let mut g = func("g", &[x], cast_to(ty, x));
    let factor = w(a.read([x + r.x]), ty) * w(b.read([r.x.expr()]), ty);
    g[[x]] = g.read([x]) + factor;
    let s = RDom::named("s", [(0, random.between(1, 4) as i32)]);
    let kept = match wide {
        I64 => undef::<i64>(),
        _ => undef::<i32>(),
    };
    let mut f = func("f", &[x], if random.one_in(4) { cast_to(wide, 1) } else { kept });
    let at = if random.one_in(2) { x } else { x + s.x };
    let other = match random.below(3) {
        0 => w(a.read([x + s.x]), wide),
        1 => w(b.read([s.x.expr()]), wide),
        _ => w(g.read([x]), wide),
    };
    f[[x]] = f.read([x]) + w(g.read([at]), wide) * other;
    if random.one_in(3) {
        f[[x]] = f.read([x]) + w(a.read([x]), wide) * w(b.read([x]), wide);
    }
    let lanes = random.pick(&[4, 8]);
    let lines = vec![
        format!("f.update(0): split(x, xo, xi, {lanes}) reorder(xi, s.x, xo) vectorize(xi) unroll(s.x)"),
        format!("f.update(1): vectorize(x, {lanes})"),
        random
            .pick(&["g: compute_at(f.update(0), xo)", "g: compute_at(f.update(0), xo)", "g: compute_root()"])
            .to_string(),
        format!("g: vectorize(x, {lanes})"),
        format!("g.update(0): reorder(x, r.x) vectorize(x, {lanes}) unroll(r.x)"),
    ];
    Drawn::new(f, lines)
}

/// Two elements to which updates add by turns, products of inputs or of the other element.
fn pairs(random: &mut Random) -> Drawn {
    let (a, b) = (ImageParam::new("a", U8, 1), ImageParam::new("b", U8, 1));
    let x = var("x");
    let w = |e: Expr, ty| cast_to(ty, e);
    let mut g = func("g", &[x], tuple([cast_to(U16, x), cast_to(U32, x)]));
    let updates = 2 + random.below(4);
    for _ in 0..updates {
        let (first, second) = (g.read([x]).at(0), g.read([x]).at(1));
        let near = x + random.between(0, 2) as i32;
        let small = w(a.read([near]), U16) * w(b.read([x]), U16);
        let large = match random.below(3) {
            0 => w(first, U32) * w(b.read([near]), U32),
            1 => w(first, U32) * w(a.read([x]), U32),
            _ => w(a.read([near]), U32) * w(b.read([x]), U32),
        };
        g[[x]] = match random.below(3) {
            0 => tuple([first + small, second]),
            _ => tuple([first, second + large]),
        };
    }
    let f = func("f", &[x], w(g.read([x]).at(0), U32) + g.read([x]).at(1));
    let lanes = random.pick(&[4, 8]);
    let mut lines = vec![
        format!("f: split(x, xo, xi, {lanes}) vectorize(xi)"),
        random.pick(&["g: compute_at(f, xo)", "g: compute_at(f, xo)", "g: compute_root()"]).to_string(),
        format!("g: vectorize(x, {lanes})"),
    ];
    lines.extend((0..updates).map(|n| format!("g.update({n}): vectorize(x, {lanes})")));
    Drawn::new(f, lines)
}

/// Coordinates of elements of 32 bits with a limit on one side, so that their sums leave 32 bits before they are
/// limited.
pub(super) fn ends(random: &mut Random) -> Drawn {
    let (a, b, c) = (ImageParam::new("a", I32, 1), ImageParam::new("b", I32, 1), ImageParam::new("c", U8, 1));
    let table = ImageParam::new("table", I32, 1);
    let (x, y) = (var("x"), var("y"));
    let limit = random.between(-9, 9) as i32;
    let mut leaf = || match random.below(9) {
        0 => max(a.read([x]), limit),
        1 => min(a.read([x]), limit),
        2 => max(b.read([x]), 0),
        3 => min(b.read([x + 1]), 0),
        4 => clamp(a.read([x]), -(1 << 30), 1 << 30),
        5 => a.read([x]) & 15,
        6 => b.read([x]) >> 27,
        7 => b.read([x]) & 1023,
        _ => cast_to(I32, c.read([x])),
    };
    let (p, q, s) = (leaf(), leaf(), leaf());
    let moved = [x, y, x * 2, y + x, 5 - x][random.below(5)];
    let sum = match random.below(8) {
        0 => p + q,
        1 => p - q,
        2 => p + q + s,
        3 => p - q - s,
        4 => p - q * 2,
        5 => select(p.lt(q), p, s) - q,
        6 => min(p, q) + max(q, s),
        _ => p * 2 + s,
    };
    let (low, high) = (-(random.between(2, 20) as i32), random.between(2, 20) as i32);
    let limited = match random.below(4) {
        0 => max(min(sum, high), low),
        1 => clamp(sum - cast_to(I32, c.read([x])), low, high),
        2 => min(max(sum + 3, low), high),
        _ => clamp(sum, low, high) * 2,
    };
    let index = match random.below(4) {
        0 => limited + moved,
        1 => limited - moved,
        2 => moved - limited,
        _ => limited,
    };
    let f = func("f", &[x, y], table.read([index]));
    let lanes = random.pick(&[4, 8, 16]);
    Drawn { far: true, ..Drawn::new(f, vec![format!("f: vectorize(x, {lanes})")]) }
}
