//! Divisions of 64-bit lanes where a float is a bad guess: dividends next to multiples of the divisor, of every size.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_ir::{BufId, build};

const LANES: u16 = 8;

/// Pairs of dividend and divisor, of any number of bits each.
fn near_multiples(ty: ScalarType) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    let mut noise = SplitMix(11);
    for bits in 1..=64u32 {
        for _ in 0..24 {
            let divisor = noise.next() >> (64 - bits);
            let quotient = noise.next() >> (noise.next() % u64::from(bits)) >> (bits - 1);
            let product = divisor.wrapping_mul(quotient);
            for dividend in [product.wrapping_sub(1), product, product.wrapping_add(1), u64::MAX - (noise.next() & 3)] {
                x.push(Scalar::from_bits(ty, dividend));
                y.push(Scalar::from_bits(ty, divisor));
            }
        }
    }
    (x, y)
}

#[test]
fn quotients_next_to_whole_numbers() {
    const OPS: [BinOp; 4] = [BinOp::Div, BinOp::Mod, BinOp::DivToZero, BinOp::ModToZero];
    for ty in [I64, U64] {
        let (x, y) = near_multiples(ty);
        let mut p = program(&[ty, ty], &[ty; 4]);
        let vectors = build::int((x.len() / usize::from(LANES)) as i64);
        p.body = serial(&mut p, vectors, |i| {
            let at = dense(build::mul(i, build::int(i64::from(LANES))), LANES);
            let load = |buf| build::load(BufId(buf), ty, at.clone(), None);
            let each =
                |(k, op): (usize, &BinOp)| store(BufId(2 + k as u32), at.clone(), build::binary(*op, load(0), load(1)));
            build::block(OPS.iter().enumerate().map(each).collect::<Vec<_>>())
        });
        let inputs = [buffer(ty, &x), buffer(ty, &y)];
        let (out, _) = run_everywhere(&p, &[], &inputs, &[(ty, x.len()); 4]).unwrap();
        for (op, found) in OPS.iter().zip(&out) {
            for i in 0..x.len() {
                assert_eq!(found[i], value::binary(*op, x[i], y[i]), "{:?} {op:?} {:?}", x[i], y[i]);
            }
        }
    }
}
