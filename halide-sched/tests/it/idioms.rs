//! Arithmetic written out in wider types becomes one operation of narrow ones, with the same values.

use crate::matrix::{check, random_image};
use crate::support::lowered;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, vars};

const VECTORS: &str = "f: vectorize(x, 8)";

/// `make` of two images of `ty`, against the interpreter; the code names `word`.
fn check_idiom(ty: ScalarType, word: &str, make: impl Fn(Expr, Expr) -> Expr) {
    let (left, right) = (ImageParam::new("left", ty, 1), ImageParam::new("right", ty, 1));
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = make(left[x], right[x]);
    let p = Pipeline::new([&f]).unwrap();
    let image = |seed| random_image(ty, &Region::of_extents([600]), seed);
    check(&p, VECTORS, &[("left", image(1)), ("right", image(2))], &Region::of_extents([600]));
    let program = lowered(&p, VECTORS).to_string();
    assert!(program.contains(word), "no {word} in\n{program}");
}

#[test]
fn averages() {
    check_idiom(U8, "halving_add", |a, b| cast::<u8>((cast::<u16>(a) + cast::<u16>(b)) >> 1));
    check_idiom(I16, "halving_add", |a, b| cast::<i16>((cast::<i32>(a) + cast::<i32>(b)) >> 1));
    let rounding: [fn(Expr, Expr) -> Expr; 6] = [
        |a, b| (a + b) + 1,
        |a, b| (a + 1) + b,
        |a, b| (1 + a) + b,
        |a, b| 1 + (a + b),
        |a, b| a + (b + 1),
        |a, b| a + (1 + b),
    ];
    for sum in rounding {
        check_idiom(U8, "rounding_halving_add", |a, b| cast::<u8>(sum(cast::<u16>(a), cast::<u16>(b)) >> 1));
        check_idiom(I8, "rounding_halving_add", |a, b| cast::<i8>(sum(cast::<i32>(a), cast::<i32>(b)) >> 1));
    }
}

#[test]
fn high_halves_of_products() {
    check_idiom(U16, "mul_high", |a, b| cast::<u16>((cast::<u32>(a) * cast::<u32>(b)) >> 16));
    check_idiom(I16, "mul_high", |a, b| cast::<i16>((cast::<i32>(a) * cast::<i32>(b)) >> 16));
    check_idiom(I8, "mul_high", |a, b| (cast::<i32>(a) * cast::<i32>(b)) >> 8);
    // Of another shift, and of signs that do not fit, it is no high half.
    check_idiom(U16, ">>", |a, b| cast::<u16>((cast::<u32>(a) * cast::<u32>(b)) >> 15));
    check_idiom(U16, ">>", |a, b| cast::<i32>(cast::<i32>(a) * cast::<i32>(b)) >> 16);
}

#[test]
fn rounded_products() {
    check_idiom(I16, "mul_rounded", |a, b| rounding_mul_shift_right(a, b, 15));
    // It fits whatever `b` is, so nothing is clamped.
    check_idiom(I16, "mul_rounded", |a, b| rounding_mul_shift_right(cast::<i16>(cast::<u8>(a)) << 7, b, 15));
    check_idiom(I16, ">>", |a, b| rounding_mul_shift_right(a, b, 14));
    check_idiom(I8, ">>", |a, b| rounding_mul_shift_right(a, b, 7));
}

#[test]
fn differences_and_clamps() {
    check_idiom(U8, "absd", |a, b| cast::<u8>(abs(cast::<i16>(a) - cast::<i16>(b))));
    check_idiom(U8, "saturating_add", |a, b| cast::<u8>(min(cast::<u16>(a) + cast::<u16>(b), 255)));
    check_idiom(U8, "saturating", |a, b| cast::<u8>(clamp(cast::<i16>(a) + cast::<i16>(b) - 300, 0, 255)));
    check_idiom(I8, "saturating_sub", |a, b| cast::<i8>(max(min(cast::<i16>(a) - cast::<i16>(b), 127), -128)));
    // One side is clamped twice, the other never: nothing to find.
    check_idiom(I16, "min", |a, b| cast::<u8>(min(min(cast::<i32>(a) - cast::<i32>(b), 255), 77)));
}

/// Arithmetic in 32 bits whose values fit 16 is computed in 16.
#[test]
fn narrow_arithmetic() {
    let wide: [fn(Expr, Expr) -> Expr; 7] = [
        |a, b| (a * 3 + b) / 4,
        |a, b| (a * 5 + b * 2) % 100,
        |a, b| select(a.lt(b), -a, b * 3) + 7,
        |a, b| (a << 2) + (b >> 3),
        |a, b| max(a * 2, b) ^ 21,
        |a, b| (a + 7) / (b + 1),
        |a, b| (a * 200 + b) / -3,
    ];
    for make in wide {
        check_idiom(U8, "u8", |a, b| cast::<u8>(make(cast::<i32>(a), cast::<i32>(b))));
        check_idiom(U8, "u8", |a, b| cast::<u8>(select(make(cast::<i32>(a), cast::<i32>(b)).gt(90), a, b)));
    }
}
