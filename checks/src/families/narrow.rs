//! Narrow integer arithmetic in wider types, and strided loads and stores: what `find_intrinsics` and `interleave` look
//! for.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Types that have one of twice their width and one of four times.
const NARROW: [ScalarType; 4] = [U8, I8, U16, I16];

/// Two stages of narrow arithmetic, as vectors.
pub(super) fn arithmetic(random: &mut Random) -> Drawn {
    let ty = random.pick(&NARROW);
    let (a, b) = (ImageParam::new("a", ty, 1), ImageParam::new("b", ty, 1));
    let x = var("x");
    let mut values = Values { random, leaves: vec![a.read([x]), b.read([x]), a.read([x + 1])], ty };
    let inner = values.value(2);
    let g = func("g", &[x], inner);
    values.leaves = vec![g.read([x]), b.read([x]), g.read([x + 1])];
    let outer = values.wide_or_narrow();
    let f = func("f", &[x], outer);
    let lanes = random.pick(&[4, 8, 16, 32]);
    let tail = random.pick(&["", ", GuardWithIf", ", Predicate"]);
    let place =
        random.pick(&["compute_root() vectorize(x, 16)", "compute_inline()", "compute_at(f, x) vectorize(x, 8)"]);
    Drawn::new(f, vec![format!("f: vectorize(x, {lanes}{tail})"), format!("g: {place}")])
}

/// Draws values of one narrow type.
struct Values<'r> {
    random: &'r mut Random,
    leaves: Vec<Expr>,
    ty: ScalarType,
}

impl Values<'_> {
    fn wide(&self) -> ScalarType {
        match self.ty.is_signed_int() {
            true => ScalarType::signed(2 * self.ty.bits()),
            false => ScalarType::unsigned(2 * self.ty.bits()),
        }
    }

    /// A wide type that holds differences too.
    fn signed(&self) -> ScalarType {
        ScalarType::signed(2 * self.ty.bits())
    }

    fn leaf(&mut self) -> Expr {
        if self.random.one_in(5) {
            return self.constant();
        }
        self.random.pick(&self.leaves)
    }

    /// An end of the type, a small number, or one bit.
    fn constant(&mut self) -> Expr {
        let (low, high) = (self.ty.int_min().unwrap_or(0), self.ty.int_max().unwrap_or(1));
        let bit = 1i128 << self.random.below(self.ty.bits() as usize - 1);
        let value = self.random.pick(&[low, low, high, 0, 1, 3, bit]);
        cast_to(self.ty, (value as i64).expr())
    }

    /// Bits that values are shifted by: often as many as the type has, or one less.
    fn shift(&mut self, bits: i32) -> i32 {
        let any = self.random.between(0, i64::from(bits) + 1) as i32;
        self.random.pick(&[any, any, 1, bits - 1, bits - 1, bits])
    }

    /// The last stage: sometimes of the wide type.
    fn wide_or_narrow(&mut self) -> Expr {
        if !self.random.one_in(5) {
            return self.value(2);
        }
        let wide = self.wide();
        let (a, b) = (cast_to(wide, self.value(1)), cast_to(wide, self.leaf()));
        match self.random.below(3) {
            0 => a * b,
            1 => a + b,
            _ => abs(cast_to(self.signed(), a) - cast_to(self.signed(), b)),
        }
    }

    fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let (ty, wide, signed) = (self.ty, self.wide(), self.signed());
        let (a, b) = (self.value(depth - 1), self.value(depth - 1));
        let (wa, wb) = (cast_to(wide, a), cast_to(wide, b));
        let (sa, sb) = (cast_to(signed, a), cast_to(signed, b));
        let bits = ty.bits() as i32;
        let (low, high) = (ty.int_min().unwrap_or(0) as i64, ty.int_max().unwrap_or(1) as i64);
        let ends = (cast_to(signed, low.expr()), cast_to(signed, high.expr()));
        match self.random.below(20) {
            0 => cast_to(ty, (wa + wb) / 2),
            1 => cast_to(ty, (wa + wb + 1) / 2),
            2 => (wa + wb).saturating_cast(ty),
            3 if self.random.one_in(2) => (wa - wb).saturating_cast(ty),
            3 => (sa - sb).saturating_cast(ty),
            4 => cast_to(ty, abs(sa - sb)),
            5 => cast_to(ty, abs(sa + sb)),
            6 => cast_to(ty, absd(a, b)),
            7 | 8 => cast_to(ty, (wa * wb) >> self.shift(bits)),
            9 => cast_to(ty, clamp(sa + sb, ends.0, ends.1)),
            10 => cast_to(ty, max(min(sa - sb, ends.1), ends.0)),
            11 => cast_to(ty, max(wa, wb) + cast_to(wide, self.constant())),
            12 if self.random.one_in(2) => cast_to(ty, (wa + cast_to(wide, self.constant())) / 2),
            12 => cast_to(ty, min(wa + wb, cast_to(wide, self.constant()))),
            13 => {
                let condition = if self.random.one_in(2) { a.lt(b) } else { wa.ne(wb + 1) };
                cast_to(ty, select(condition, wa + 1, wb))
            }
            14 => cast_to(ty, (wa + wb) << self.shift(bits)),
            15 => cast_to(ty, (wa + wb) >> self.shift(bits)),
            16 if ty == I16 => clamped_product(sa, sb, ends),
            16 => rounding_halving_add(a, b),
            17 => saturating_sub(a, b),
            18 => rounding_mul_shift_right(a, b, self.random.between(1, i64::from(bits))),
            _ => halving_sub(a, b),
        }
    }
}

/// The product of two fractions of 15 bits, rounded.
fn clamped_product(a: Expr, b: Expr, (low, high): (Expr, Expr)) -> Expr {
    let p = a * b;
    cast_to(I16, clamp((p >> 15) + ((p >> 14) & 1), low, high))
}

/// Strided loads, stores of several channels, and loops of more lanes than there are in any vector.
pub(super) fn strides(random: &mut Random) -> Drawn {
    let ty = random.pick(&[U8, I16, I32, F32, U16]);
    let a = ImageParam::new("a", ty, 1);
    let (x, c) = (var("x"), var("c"));
    let stride = random.between(2, 5) as i32;
    let reads = 1 + random.below(stride as usize + 1);
    let read = |random: &mut Random, x: Expr| {
        let mut sum = a.read([x * stride + random.between(-2, 3) as i32]);
        for _ in 1..reads {
            sum += a.read([x * stride + random.between(-2, 2 + i64::from(stride)) as i32]);
        }
        sum
    };
    let lanes = random.pick(&[4, 8, 16]);
    match random.below(5) {
        0 => {
            let value = read(random, x);
            let tail = random.pick(&["300, GuardWithIf", "320, GuardWithIf", "512, GuardWithIf"]);
            Drawn::new(func("f", &[x], value), vec![format!("f: vectorize(x, {tail})")])
        }
        1 | 2 => {
            let value = read(random, x);
            Drawn::new(func("f", &[x], value), vec![format!("f: vectorize(x, {lanes})")])
        }
        3 => {
            // Channels beside each other, each of which is a strided store.
            let channels = random.between(2, 4);
            let value = a.read([x + c]) + cast_to(ty, c * 3);
            let f = func("f", &[c, x], value);
            let line = format!("f: bound(c, 0, {channels}) reorder(c, x) unroll(c) vectorize(x, {lanes})");
            let g = func("g", &[c, x], f.read([clamp(c, 0, channels as i32 - 1), x]));
            let lines = vec![
                "f: compute_root()".into(),
                line.clone(),
                format!(
                    "f: split(x, x, xi, {lanes}) reorder(c, xi, x) bound_extent(c, {channels}) vectorize(xi) unroll(c)"
                ),
                format!("g: vectorize(x, {lanes})"),
            ];
            Drawn::new(g, lines)
        }
        _ => {
            // Every other element is of another kind.
            let (even, odd) = (a.read([x / 2]), a.read([x / 2 + 1]) + cast_to(ty, x));
            let g = func("g", &[x], select((x % 2).eq(0), even, odd));
            let f = func("f", &[x], g.read([2 * x]) + g.read([2 * x + 1]));
            let lines = vec![
                format!("f: split(x, xo, xi, {lanes}) vectorize(xi)"),
                format!("g: compute_at(f, xo) split(x, x, xp, 2) unroll(xp) vectorize(x, {lanes})"),
            ];
            Drawn::new(f, lines)
        }
    }
}
