//! Coordinates that go through narrow integers that wrap, and through floats, back and forth.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// `f(x) = table(chain of casts of x)`, where the table is computed only as far as is read, or is an input.
pub(super) fn wraps(random: &mut Random) -> Drawn {
    let (image, x, y) = (ImageParam::new("in", I32, 1), var("x"), var("y"));
    let table = func("table", &[x], image.read([x % 16]) + x * 3);
    let offset = Param::<i32>::new("offset").with_range(-3, 4).expr();
    let c = random.between(-9, 9) as i32;
    let k = random.pick(&[-2, -1, 2, 3, 40]);
    // From less than zero to more than a byte holds.
    let start = [x, x, x + c, x - 3, -x, x * k, x + y, x * k + y, x + offset, 130 - x, clamp(x, -3, 5)];
    let mut value = random.pick(&start);
    let mut ty = I32;
    for _ in 0..random.below(4) {
        (value, ty) = link(random, value, ty);
    }
    let at = bounded(random, value);
    let read = match random.one_in(4) {
        true => image.read([at]),
        false => table.read([at]),
    };
    let f = func("f", &[x, y], read);
    let place = random.pick(&["compute_root()", "compute_at(f, xo)", "compute_at(f, y)", "compute_inline()"]);
    let factor = random.pick(&[2, 4, 8]);
    let lanes = random.pick(&["", "", " vectorize(xi)", " unroll(xi)"]);
    Drawn::new(f, vec![format!("f: split(x, xo, xi, {factor}){lanes}"), format!("table: {place}")])
}

/// The next of a chain: another type, perhaps scaled.
fn link(random: &mut Random, value: Expr, ty: ScalarType) -> (Expr, ScalarType) {
    let narrow = random.pick(&[U8, U8, I8, U16, I16, U8]);
    let real = random.pick(&[F32, F32, F32, F64]);
    let factor = random.pick(&[0.75f32, -0.5, 1.5, 0.25]);
    match random.below(8) {
        0..=2 => (cast_to(narrow, value), narrow),
        3 => (cast_to(I32, value), I32),
        4 => (cast_to(real, value), real),
        5 => (cast_to(real, cast_to(I32, cast_to(narrow, value))), real),
        6 if ty.is_float() => (value * cast_to(ty, factor), ty),
        6 => (value + cast_to(ty, random.between(-3, 100)), ty),
        _ => (cast_to(real, cast_to(narrow, value)) * cast_to(real, factor), real),
    }
}

/// An end of a chain that is no further than some hundreds from zero.
fn bounded(random: &mut Random, value: Expr) -> Expr {
    let byte = random.pick(&[U8, I8]);
    match random.below(5) {
        0 => cast_to(I32, cast_to(byte, value)),
        1 => cast_to(I32, cast_to(F32, cast_to(byte, value)) * random.pick(&[0.75f32, -0.5, 1.5])),
        2 => cast_to(I32, cast_to(F32, cast_to(I32, cast_to(byte, value))) * random.pick(&[0.75f32, -0.5, 1.5])),
        3 => cast_to(I32, cast_to(U16, value)) / 64 + random.between(-9, 9) as i32,
        _ => cast_to(I32, floor(cast_to(F32, cast_to(I16, value)) / 100.0f32)),
    }
}
