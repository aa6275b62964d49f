//! Transcendental functions: the bits that they have everywhere.

use crate::check::*;
use crate::harness::*;
use halide_core::ops::MathFn;
use halide_core::types::ScalarType::*;
use halide_core::value::{self, Scalar};
use halide_gpu::GpuError;
use halide_gpu::codegen::compile;
use halide_ir::{BufId, Expr, Writes, build};

#[test]
fn math_functions() {
    for ty in [F16, BF16, F32] {
        let (mut x, mut y) = pairs(ty, ty, 12);
        let mut r = SplitMix(16);
        while x.len() < 4096 {
            // Where functions have most of their shape.
            let small = |r: &mut SplitMix| {
                Scalar::float(ty, (r.next() as i64 >> 32) as f64 / 2f64.powi(26 + (r.next() % 8) as i32))
            };
            x.push(small(&mut r));
            y.push(small(&mut r));
        }
        let cases: Vec<Case> = MathFn::ALL
            .into_iter()
            .filter(|f| f.arity() < 3)
            .map(|f| {
                let n = f.arity();
                let make = move |e: &[Expr]| build::math(f, e[..n].to_vec());
                case(format!("{f:?} {ty}"), ty, make, move |v| value::math(f, &v[..n]))
            })
            .collect();
        check(&[ty, ty], &[x, y], &cases, 4);
    }
}

/// Math functions of f64 are the standard library's on the host; two are arithmetic, which kernels can compute.
#[test]
fn math_functions_of_f64() {
    let (x, _) = pairs(F64, F64, 17);
    let arithmetic = [MathFn::FastInverse, MathFn::FastInverseSqrt];
    let cases = arithmetic
        .map(|f| case(format!("{f:?}"), F64, move |e| build::math(f, vec![e[0].clone()]), move |v| value::math(f, v)));
    check(&[F64], &[x], &cases, 4);
    for f in MathFn::ALL.into_iter().filter(|f| !arithmetic.contains(f) && *f != MathFn::MulAdd) {
        let mut p = program(&[F64], &[F64]);
        let id = kernel(&mut p, [1, 1, 1], |p, block| {
            phase(p, build::int(1), |_| {
                let x = build::load(BufId(0), F64, block.clone(), None);
                store(BufId(1), block, build::math(f, vec![x; f.arity()]))
            })
        });
        uses(&mut p, id, BufId(0), true, Writes::None);
        uses(&mut p, id, BufId(1), false, Writes::Words);
        let error = compile(&p, id, &ALL).unwrap_err();
        assert!(
            matches!(&error, GpuError::Unsupported { what, .. } if *what == format!("{} of f64", f.name())),
            "{error}"
        );
        let help = if f == MathFn::Fma { "compute it outside of kernels" } else { "compute it in f32" };
        assert_eq!(error.hint(), Some(help));
    }
}
