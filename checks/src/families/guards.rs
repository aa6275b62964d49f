//! Reads behind conditions: what is read is bounded by the condition only, which is on elements, on coordinates or on
//! both.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// `f(x) = select(condition, table(e), other)`, and sums over domains with such conditions.
pub(super) fn guarded(random: &mut Random) -> Drawn {
    match random.below(4) {
        0 => domain(random),
        1 => of_coordinates(random),
        _ => of_elements(random),
    }
}

fn finished(random: &mut Random, f: Func, table: &str) -> Drawn {
    let place = random.pick(&["compute_root()", "compute_at(f, xo)", "compute_inline()"]);
    let lanes = random.pick(&["", " vectorize(xi)"]);
    let factor = random.pick(&[2, 4, 8]);
    Drawn::new(f, vec![format!("f: split(x, xo, xi, {factor}){lanes}"), format!("{table}: {place}")])
}

/// The table that is read: an input, or a stage.
fn table(random: &mut Random) -> (Func, ImageParam) {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    (func("table", &[x], image.read([x]) * 3 + cast::<i32>(random.between(0, 9) as u8)), image)
}

/// Elements between limits, which are constants, coordinates, parameters or other elements.
fn of_elements(random: &mut Random) -> Drawn {
    let (table, image) = table(random);
    let ty = random.pick(&[U8, I8, I32, I32, U16, I16, U8]);
    let (a, b) = (ImageParam::new("a", ty, 1), ImageParam::new("b", ty, 1));
    let x = var("x");
    let d = a.read([x + random.between(-1, 1) as i32]);
    let e = b.read([x]);
    let low = random.between(if ty.is_signed_int() { -6 } else { 0 }, 3);
    let high = low + random.between(0, 9);
    let offset = Param::<i32>::new("offset").with_range(-2, 3).expr();
    let scale = Param::<i32>::new("scale").with_range(1, 3).expr();
    let c = |v: i64| cast_to(ty, v);
    let w = |e: Expr| cast::<i32>(e);
    let within = d.ge(c(low)).and(d.le(c(high)));
    let condition = match random.below(14) {
        0 => within,
        1 => !(d.lt(c(low)).or(d.gt(c(high)))),
        2 => d.eq(c(high)),
        3 => c(high + 1).gt(d).and(c(low).le(d)),
        4 => d.ge(c(low)).and(w(d).lt(x + 5)).and(d.lt(c(100))),
        5 => within.and(e.gt(d)),
        6 => !(d.ne(c(low))),
        // Sums of narrow elements wrap around.
        7 if ty.bits() < 32 => (d + e).lt(c(high)).and((d + e).gt(c(low))),
        8 if ty.bits() < 32 => (d - e).le(c(high)).and(e.le(c(9))),
        9 => within.and(w(d).ge(offset)),
        10 if ty.bits() < 32 => (w(d) * scale).lt(20).and(w(d).ge(-3)),
        11 if ty.bits() < 32 => (w(d) / 3).eq(2),
        12 if ty.bits() < 32 => min(w(d), x).gt(-4).and(max(w(d), 2).lt(12)),
        _ => within.and(d.ge(c(low + 1)).or(e.eq(c(1)))),
    };
    let at = match random.below(4) {
        0 => w(d) + random.between(-3, 3) as i32,
        1 => w(d) + x,
        2 => 5 - w(d),
        _ => w(d),
    };
    let read = |at: Expr, random: &mut Random| match random.one_in(3) {
        true => image.read([at]),
        false => table.read([at]),
    };
    // Elements of 32 bits that only a condition around the read keeps near are not bounded.
    let value = match ty != I32 && random.one_in(4) {
        true => select(condition, read(at, random), x - 1),
        false if random.one_in(3) => read(select(!condition, x, at), random),
        false => read(select(condition, at, x), random),
    };
    let f = func("f", &[x], value);
    finished(random, f, "table")
}

/// Conditions on coordinates, also inside of coordinates.
fn of_coordinates(random: &mut Random) -> Drawn {
    let (table, image) = table(random);
    let (x, y) = (var("x"), var("y"));
    let scale = Param::<i32>::new("scale").with_range(1, 3).expr();
    let real = Param::<f32>::new("real").with_range(-2.0, 2.0).expr();
    let near = clamp(x, 0, random.between(1, 4) as i32);
    let limit = random.between(0, 7) as i32;
    let condition = match random.below(12) {
        0 => near.ne(0),
        1 => near.eq(0),
        2 => near.ne(limit),
        3 => (x * scale).lt(limit),
        4 => (x * scale).ge(limit),
        5 => cast::<f32>(x).lt(real * 2.5f32),
        6 => cast::<f32>(x).ge(limit as f32 + 0.5f32),
        7 => cast::<u8>(x).lt(limit as u8),
        8 => cast::<i64>(x).gt(i64::from(limit)),
        9 => x.gt(y).and((x + y).le(limit)),
        10 => x.gt(limit).ne(y.gt(2)),
        _ => !(x.gt(limit)).or(x.lt(2)),
    };
    let read = |at: Expr| if limit % 2 == 0 { image.read([at]) } else { table.read([at]) };
    let value = match random.below(4) {
        0 => read(select(condition, x + 9, x - 7)),
        1 => read(select(condition, near + 9, y)),
        2 => select(condition, read(clamp(x, limit - 3, 90)), read(y)),
        _ => select(condition, read(x + 6), read(x - 6)),
    };
    let f = func("f", &[x, y], value);
    finished(random, f, "table")
}

/// Sums over domains whose conditions keep them away from the corners.
fn domain(random: &mut Random) -> Drawn {
    let (table, image) = table(random);
    let x = var("x");
    let (n, m) = (random.between(2, 9) as i32, random.between(2, 9) as i32);
    let r = RDom::named("r", [(0, n), (random.between(-2, 2) as i32, m)]);
    let (u, v) = (r.dim(0).expr(), r.dim(1).expr());
    let limit = random.between(1, 9) as i32;
    match random.below(5) {
        0 => r.where_((u + v).lt(limit)),
        1 => r.where_((u - v).ge(0)),
        2 => r.where_(u.lt(v).and(v.lt(limit))),
        3 => r.where_((u * 2 + v).le(limit)),
        _ => r.where_((u + v + x).lt(limit)),
    }
    let at = [x + u + v, u + v, x + u - v, u * 2 + v, x - u][random.below(5)];
    let read = if random.one_in(2) { image.read([at]) } else { table.read([at]) };
    let mut f = func("f", &[x], x);
    let old = f.read([x]);
    f[[x]] = old + read + u + v;
    finished(random, f, "table")
}
