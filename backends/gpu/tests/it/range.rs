//! Dispatches whose coordinates fit the 32 bits of kernels, and those whose do not.

use crate::harness::*;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_gpu::codegen::range::{fits, look};
use halide_ir::{BufId, Expr, ForKind, KernelId, Program, Sym, Type, Writes, build};

const MOST: i64 = i32::MAX as i64;

/// A kernel of blocks of 8 threads that copies an element at `at`, of block, thread and a capture.
fn copying(ty: ScalarType, at: impl FnOnce(Expr, Expr, Expr) -> Expr) -> (Program, KernelId) {
    let mut p = program(&[ty], &[I32]);
    let n = Sym::Temp(0);
    let id = kernel(&mut p, [8, 1, 1], |p, block| {
        phase(p, build::int(8), |t| {
            let value = build::load(BufId(0), ty, at(block, t.clone(), build::sym(n)), None);
            store(BufId(1), t, build::cast_data(I32, value))
        })
    });
    p.kernels[id].captures.push((n, Type::INDEX));
    uses(&mut p, id, BufId(0), true, Writes::None);
    uses(&mut p, id, BufId(1), false, Writes::Words);
    (p, id)
}

fn asked((p, id): &(Program, KernelId), n: i64, offset: i64, blocks: i64) -> bool {
    fits(p, &p.kernels[*id], &[n as u64], &[offset, 0], &[blocks])
}

#[test]
fn products_of_blocks_and_strides() {
    let k = copying(I32, |block, t, n| build::add(build::mul(block, n), t));
    assert!(asked(&k, 1 << 20, 0, 2047));
    assert!(!asked(&k, 1 << 20, 0, 2050));
    assert!(!asked(&k, -(1 << 20), 0, 2050));
    // A grid of nothing computes nothing.
    assert!(asked(&k, 1 << 40, 0, 0));
    assert!(!asked(&k, 1 << 40, 0, 1));
    assert!(asked(&k, 1, MOST - 8, 1));
    assert!(!asked(&k, 1, MOST - 6, 1));
}

#[test]
fn elements_of_two_words() {
    let k = copying(F64, |_, t, n| build::add(t, n));
    assert!(asked(&k, (MOST - 1) / 2 - 7, 0, 1));
    assert!(!asked(&k, (MOST - 1) / 2 - 6, 0, 1));
}

#[test]
fn loops() {
    let mut p = program(&[], &[I32]);
    let n = Sym::Temp(0);
    let id = kernel(&mut p, [1, 1, 1], |p, _| {
        let i = new_loop(p, "i");
        phase(p, build::int(1), |_| {
            let body =
                store(BufId(0), build::rem(build::loop_var(i), build::int(7)), build::constant(Scalar::from(1i32)));
            build::for_loop(i, ForKind::Serial, build::int(5), build::sym(n), body)
        })
    });
    p.kernels[id].captures.push((n, Type::INDEX));
    uses(&mut p, id, BufId(0), false, Writes::Words);
    let asked = |n: i64| fits(&p, &p.kernels[id], &[n as u64], &[0], &[1]);
    assert!(asked(MOST - 5) && asked(-3));
    assert!(!asked(MOST - 4) && !asked(MOST + 1));
}

/// Two parts of one loop, which ends where the number of the block says: as long together in every block as the whole.
#[test]
fn parts_of_a_loop_in_many_blocks() {
    const BLOCKS: i64 = 1000;
    let mut p = program(&[], &[I32]);
    let id = kernel(&mut p, [1, 1, 1], |p, block| {
        let parts = [block.clone(), build::sub(build::int(BLOCKS), block)].map(|extent| (new_loop(p, "i"), extent));
        phase(p, build::int(1), |_| {
            let part = |(i, extent)| {
                let body = store(BufId(0), build::loop_var(i), build::constant(Scalar::from(1i32)));
                build::for_loop(i, ForKind::Serial, build::int(0), extent, body)
            };
            build::block(parts.map(part))
        })
    });
    uses(&mut p, id, BufId(0), false, Writes::Words);
    let asked = |most: u64| look(&p, &p.kernels[id], &[], &[0], &[BLOCKS], most);
    assert_eq!(asked(u64::MAX), (true, 2 * BLOCKS as u64 - 1));
    assert!(asked(1100).1 <= 1100);
    assert_eq!(asked(BLOCKS as u64), (true, BLOCKS as u64));
    assert_eq!(asked(BLOCKS as u64 - 1), (true, BLOCKS as u64));
}

/// Data that becomes a coordinate, with what bounds it.
#[test]
fn data_as_coordinates() {
    let with = |ty: ScalarType, bound: fn(Expr) -> Expr| {
        let mut p = program(&[ty, I32], &[I32]);
        let id = kernel(&mut p, [1, 1, 1], |p, block| {
            phase(p, build::int(1), |_| {
                let data = bound(build::load(BufId(0), ty, block, None));
                let value = build::load(BufId(1), I32, build::to_index(data), None);
                store(BufId(2), build::int(0), value)
            })
        });
        fits(&p, &p.kernels[id], &[], &[0, 0, 0], &[1])
    };
    assert!(with(U16, |e| e));
    assert!(with(I32, |e| e));
    assert!(!with(U32, |e| e));
    assert!(with(U32, |e| build::min(e, build::constant(Scalar::from(255u32)))));
    assert!(with(U32, |e| build::binary(halide_core::ops::BinOp::BitAnd, e, build::constant(Scalar::from(255u32)))));
    assert!(with(U32, |e| build::rem(e, build::constant(Scalar::from(1000u32)))));
    assert!(with(U32, |e| build::binary(halide_core::ops::BinOp::Shr, e, build::constant(Scalar::from(1i32)))));
    assert!(with(U32, |e| build::cast_data(I32, e)));
    assert!(with(U32, |e| build::saturating_cast(U16, e)));
    assert!(!with(I64, |e| e));
    assert!(with(F32, |e| build::cast_data(I32, e)));
    assert!(!with(U32, |e| build::add(
        build::min(e, build::constant(Scalar::from(u32::MAX - 1))),
        build::constant(Scalar::from(1u32))
    )));
}

/// Data of floats that is clamped, scaled and truncated is a coordinate of few values; without a clamp it is any.
#[test]
fn coordinates_that_floats_make() {
    let float = |value: f32| build::constant(Scalar::from(value));
    let index = |value: Expr| build::to_index(build::cast_data(I32, value));
    let clamped = |value: Expr| build::min(build::max(value, float(0.0)), float(1.0));
    let loaded = |t: Expr| build::load(BufId(0), F32, t, None);
    let strided = |value: Expr, n: Expr| build::mul(index(value), n);
    let bounded =
        copying(F32, |_, t, n| strided(build::add(build::mul(clamped(loaded(t)), float(10.0)), float(0.5)), n));
    assert!(asked(&bounded, MOST / 10 - 1, 0, 1));
    assert!(!asked(&bounded, MOST / 10 + 1, 0, 1));
    let open = copying(F32, |_, t, n| strided(build::mul(loaded(t), float(10.0)), n));
    assert!(asked(&open, 1, 0, 1));
    assert!(!asked(&open, 2, 0, 1));
    // A quotient by what may be zero is anything, and so is a sum of what may be infinite.
    let quotient = copying(F32, |_, t, n| strided(build::div(float(1.0), clamped(loaded(t))), n));
    assert!(!asked(&quotient, 2, 0, 1));
    let floored = |value: Expr| build::unary(halide_core::ops::UnOp::Floor, value);
    let rounded =
        copying(F32, |_, t, n| strided(floored(build::unary(halide_core::ops::UnOp::Neg, clamped(loaded(t)))), n));
    assert!(asked(&rounded, MOST / 2, 0, 1));
}
