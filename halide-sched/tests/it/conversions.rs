//! Coordinates through conversions that may wrap, round or saturate.

use crate::matrix::{check, random_image};
use crate::support::lowered;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};

const SCHEDULES: [&str; 4] = [
    "table: compute_root()",
    "table: compute_at(g, x)",
    "table: compute_root()\n g: split(x, xo, xi, 4) vectorize(xi)",
    "g: split(x, xo, xi, 3)\n table: compute_at(g, xo)",
];

/// A table, computed, that `g` reads at `at(x)`.
fn looked_up(at: impl Fn(Expr) -> Expr) -> Pipeline {
    let (x, i) = (vars!(x), vars!(i));
    let (mut table, mut g) = (Func::new("table"), Func::new("g"));
    table[i] = i * 3 + 1;
    g[x] = table[at(x.expr())] - 1;
    Pipeline::new([&g]).unwrap()
}

fn sweep(at: impl Fn(Expr) -> Expr, spans: &[(i64, i64)]) {
    let p = looked_up(at);
    for schedule in SCHEDULES {
        for &span in spans {
            check(&p, schedule, &[], &Region::of_spans([span]));
        }
    }
}

/// A coordinate that wraps on its way to a float is no coordinate any more.
#[test]
fn what_wraps_before_it_is_a_float_is_no_coordinate() {
    let spans = [(-3, 4), (-3, 9), (250, 20), (0, 5)];
    let scaled = |e: Expr| cast::<i32>(cast::<f32>(e) * 0.75f32);
    sweep(|x| scaled(cast::<i32>(cast::<u8>(x))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<i8>(x))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<u16>(x))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<i16>(x * 300))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<u32>(x))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<i64>(x))), &spans);
    sweep(|x| scaled(cast::<i32>(cast::<i8>(cast::<u8>(x)))), &spans);
    sweep(|x| cast::<i32>(floor(cast::<f64>(cast::<u8>(x)) / 2.0f64)), &spans);
    sweep(|x| cast::<i32>(cast::<f32>(cast::<u8>(x) + 200u8) * 0.5f32), &spans);
    sweep(|x| cast::<i32>(cast::<f32>(cast::<u8>(x) * 3u8) * -0.5f32), &spans);
    sweep(|x| cast::<i32>(cast::<u8>(cast::<f32>(x) * 0.5f32)) * 2, &spans);
}

/// Values of 64 bits without a sign may be beyond what a coordinate's arithmetic holds.
#[test]
fn values_beyond_coordinates_are_kept_out_of_their_arithmetic() {
    let spans = [(0, 6), (3, 9)];
    let large = 0x8000_0000_0000_0005u64;
    sweep(|x| cast::<i32>(min(min(cast::<u64>(x), large), 9u64)), &spans);
    sweep(|x| cast::<i32>(min(max(cast::<u64>(x), large) - large, 9u64)), &spans);
    sweep(|x| cast::<i32>(min(cast::<u64>(x) * 4_000_000_000_000_000_000u64, 7u64)), &spans);
    sweep(|x| cast::<i32>(min(cast::<u64>(cast::<f32>(x) * 3e18f32), 5u64)), &spans);
    sweep(|x| cast::<i32>((cast::<u32>(x) * 4_000_000_000u32) >> 26u32), &[(0, 5), (1, 4)]);
    sweep(|x| cast::<i32>((cast::<i64>(x) * 4_000_000_000_000_000_000i64) >> 58i64), &[(0, 5), (-3, 4)]);
    sweep(|x| cast::<i32>((cast::<u64>(x) + 0x7fff_ffff_ffff_fff0u64) >> 59u64), &[(0, 5), (12, 9)]);
}

/// A divisor that is one number bounds the quotient, whichever sign it has.
#[test]
fn quotients_by_a_number_of_unknown_sign_are_bounded() {
    let input = ImageParam::new("in", I16, 1);
    let (x, i) = (vars!(x), vars!(i));
    let by = || cast::<f32>(input.dim(0).min());
    let quotients: [&dyn Fn(Expr) -> Expr; 5] = [
        &|x| cast::<f32>(x) / by(),
        &|x| cast::<f32>(x) / by() + 0.5f32,
        &|x| floor(cast::<f32>(x - 3) / by()) * 2.0f32,
        &|x| clamp(cast::<f32>(x) / by(), -4.0f32, 9.0f32),
        &|x| cast::<f32>(x) / (cast::<f32>(clamp(x, -3, -1)) * 2.0f32),
    ];
    for quotient in quotients {
        let (mut f, mut g) = (Func::new("table"), Func::new("g"));
        f[i] = i * 3 + 1;
        g[x] = f[cast::<i32>(quotient(x.expr()))] + cast::<i32>(input[input.dim(0).min()]);
        let p = Pipeline::new([&g]).unwrap();
        let text = lowered(&p, "table: compute_root()").to_string();
        assert!(!text.contains("-2147483648"), "{text}");
        for schedule in SCHEDULES {
            for min in [-7, -1, 2, 5] {
                let image = random_image(I16, &Region::of_spans([(min, 40)]), 1);
                check(&p, schedule, &[("in", image)], &Region::of_spans([(3, 7)]));
            }
        }
    }
}
