//! Coordinates that bounds inference must find the ends of: sums, products and quotients of floats, and narrow
//! elements.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// `f(x) = table(clamp(i32(float), low, high))`, where the table is computed only as far as is read.
pub(super) fn floats(random: &mut Random) -> Drawn {
    let (a, x) = (ImageParam::new("a", U8, 1), var("x"));
    let real = Param::<f32>::new("real").with_range(-2.0, 2.0).expr();
    let half = Param::<f32>::new("half").with_range(0.5, 1.5).expr();
    let flag = Param::<bool>::new("flag").expr();
    let offset = cast::<f32>(Param::<i32>::new("offset").with_range(-2, 3).expr());
    let byte = cast::<f32>(a.read([x])) / 32.0f32;
    let wrapped = cast::<f32>(cast::<u8>(x * 40)) / 16.0f32;
    let narrow = cast::<f32>(cast::<u8>(x)) / 8.0f32;
    let leaves =
        vec![cast::<f32>(x), cast::<f32>(x) * 0.75f32, byte, byte - 3.0f32, real, half, offset, wrapped, narrow];
    let mut values = Floats { random, leaves, flag, x };
    // Of what may be zero, infinite or no number.
    let divisor = [real, real - 1.0f32, offset, half - 1.0f32, 1.0f32 / real][values.random.below(5)];
    let mut value = match values.random.below(3) {
        0 => values.value(1) / divisor,
        _ => values.value(2),
    };
    if values.random.one_in(4) {
        value = min(value, values.value(1));
    }
    let table = func("table", &[x], cast::<i16>(x * 3) + cast::<i16>(a.read([x % 8])));
    let (low, high) = (-random.between(3, 40), random.between(3, 40));
    let coordinate = clamp(cast::<i32>(value), low as i32, high as i32);
    let f = func("f", &[x], table.read([coordinate]));
    let place = random.pick(&["compute_root()", "compute_at(f, xo)", "compute_at(f, xi)"]);
    let factor = random.pick(&[2, 4, 8]);
    Drawn::new(f, vec![format!("f: split(x, xo, xi, {factor})"), format!("table: {place}")])
}

struct Floats<'r> {
    random: &'r mut Random,
    leaves: Vec<Expr>,
    flag: Expr,
    x: Expr,
}

impl Floats<'_> {
    fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.random.one_in(8) {
            return match self.random.below(5) {
                0 => (self.random.between(-12, 12) as f32 / 4.0).expr(),
                _ => self.random.pick(&self.leaves),
            };
        }
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        match self.random.below(14) {
            0 | 1 => a + b,
            2 | 3 => a - b,
            4..=6 => a * b,
            7 | 8 => a / b,
            9 => select(self.flag, a, b),
            10 => select(self.x.gt(self.random.between(0, 6) as i32), a, b),
            11 => max(a, b),
            12 => sqrt(abs(a)),
            _ => floor(a) - abs(b),
        }
    }
}

/// Elements at narrow elements, with sums, differences and quotients in between; as vectors.
pub(super) fn gathers(random: &mut Random) -> Drawn {
    let ty = random.pick(&[U8, I8, U8, I16]);
    let (a, b) = (ImageParam::new("a", ty, 1), ImageParam::new("b", U8, 1));
    let table = ImageParam::new("table", random.pick(&[I32, U8, I16]), 1);
    let (x, y) = (var("x"), var("y"));
    let data = |random: &mut Random| {
        let a = a.read([x + random.between(-1, 1) as i32]);
        // Two bytes of data need a limit.
        match ty {
            I16 if random.one_in(2) => clamp(cast::<i32>(a), -3, 300),
            I16 => cast::<i32>(a / 128),
            _ => cast::<i32>(a),
        }
    };
    let other = cast::<i32>(b.read([x]));
    let (d, c) = (data(random), random.between(2, 11) as i32);
    // Some of these are no row of lanes.
    let moved = [x, y, y + x, y * 2, x * 3, x / 3, min(x, 4), (x + y) % 4][random.below(8)];
    let index = match random.below(12) {
        0 => d - moved,
        1 => d * 2 + other - moved,
        2 => (d + other) / 2 - moved,
        3 => max(d - other, c) + moved,
        4 => select(d.lt(other), d, other) - moved,
        5 => cast::<i32>(b.read([x]) / (c as u8)) + moved,
        6 => d / c - moved,
        7 => abs(d) - moved,
        8 => cast::<i32>(absd(a.read([x]), cast_to(ty, c))) % 64 + y,
        9 => d % c + moved,
        10 => clamp(d - other, -c, c) - moved,
        _ => data(random) - y + d - x,
    };
    let source = func("source", &[x], table.read([x]) + cast_to(table.ty(), x));
    let value = if random.one_in(2) { table.read([index]) } else { source.read([index]) };
    let f = func("f", &[x, y], value);
    let lanes = random.pick(&[4, 8, 16]);
    let place = random.pick(&["compute_root()", "compute_inline()", "compute_at(f, y)"]);
    Drawn::new(f, vec![format!("f: vectorize(x, {lanes})"), format!("source: {place}")])
}
