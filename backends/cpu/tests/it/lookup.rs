//! Lookups in tables of every size, by indices of every type: in registers, where the table fits and its size is known,
//! and in memory.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_cpu::Tier;
use halide_ir::features::CpuFeature;
use halide_ir::{BufId, Memory, Program, Stmt, build};

const SIZES: [i64; 11] = [1, 2, 63, 64, 65, 128, 129, 256, 700, 1024, 1025];
const INDICES: usize = 192;

/// Element `i` of the table.
fn element(ty: ScalarType, i: i64) -> Scalar {
    Scalar::int(ty, i128::from((i * 37 + 11) % 127))
}

/// `out[i] = table[clamp(index[i]) * factor + offset]`, vectors of `lanes`; the table is filled from input 0.
fn lookups(ty: ScalarType, index: ScalarType, size: i64, lanes: u16, (factor, offset): (i64, i64)) -> Program {
    let mut p = program(&[ty, index], &[ty]);
    let table = internal(&mut p, ty, Memory::Heap);
    let elements = size * factor + offset;
    let fill = serial(&mut p, build::int(elements), |i| store(table, i.clone(), build::load(BufId(0), ty, i, None)));
    let most = index.int_max().unwrap_or(0).min(i128::from(size - 1));
    let read = serial(&mut p, build::int(INDICES as i64 / i64::from(lanes)), |i| {
        let at = dense(build::mul(i, build::int(i64::from(lanes))), lanes);
        let limit = |v: i128| build::broadcast(build::constant(Scalar::int(index, v)), lanes);
        let given = build::load(BufId(1), index, at.clone(), None);
        let within = build::binary(BinOp::Max, build::binary(BinOp::Min, given, limit(most)), limit(0));
        let scaled = build::mul(build::to_index(within), build::broadcast(build::int(factor), lanes));
        let place = build::add(scaled, build::broadcast(build::int(offset), lanes));
        store(BufId(2), at, build::load(table, ty, place, None))
    });
    let body = Box::new(build::block([fill, read]));
    p.body = Stmt::Alloc { buf: table, count: build::int(elements), constant: None, body };
    p
}

fn check(tier: Tier, ty: ScalarType, index: ScalarType, size: i64, lanes: u16, shape: (i64, i64)) -> String {
    let p = lookups(ty, index, size, lanes, shape);
    let code = compiled_for(tier, &p);
    let mut noise = SplitMix(7);
    let mut indices = edges(index);
    indices.extend((0..INDICES).map(|_| Scalar::from_bits(index, noise.next() >> 20)));
    indices.extend((0..INDICES).map(|i| value::cast(index, Scalar::from(i as i64 * 6))));
    indices.rotate_left((size as usize + lanes as usize) % INDICES);
    indices.truncate(INDICES);
    let table: Vec<Scalar> = (0..size * shape.0 + shape.1).map(|i| element(ty, i)).collect();
    let inputs = [buffer(ty, &table), buffer(index, &indices)];
    let (out, _) = run(&code, &[], &inputs, &[(ty, INDICES)]).unwrap();
    let done = INDICES / usize::from(lanes) * usize::from(lanes);
    for (i, got) in out[0].iter().enumerate().take(done) {
        let most = index.int_max().unwrap_or(0).min(i128::from(size - 1));
        let at = indices[i].as_i128().min(most).max(0) as i64;
        let want = element(ty, at * shape.0 + shape.1);
        assert_eq!(*got, want, "{tier:?} {ty} by {index}, {size} elements, {lanes} lanes, {shape:?}, {:?}", indices[i]);
    }
    code.asm().unwrap_or_default().to_string()
}

#[test]
fn tables_of_every_size() {
    for tier in tiers() {
        for size in SIZES {
            for index in [U8, I8, U16, I16, I32, U32, I64] {
                for lanes in [8, 32, 64] {
                    check(tier, U8, index, size, lanes, (1, 0));
                }
                check(tier, U16, index, size, 32, (1, 0));
            }
        }
    }
}

#[test]
fn tables_in_parts_and_of_other_types() {
    for tier in tiers() {
        for lanes in [3, 4, 17, 40, 64, 96] {
            for (ty, index) in [(I8, U8), (U8, I16), (U16, I16), (F16, U8), (Bool, U16), (I16, I32), (U32, U8)] {
                for shape in [(1, 0), (1, 5), (2, 0), (3, 1)] {
                    check(tier, ty, index, 200, lanes, shape);
                }
            }
        }
    }
}

/// Bytes of a small table are permuted; nothing is loaded lane by lane.
#[test]
fn small_tables_are_in_registers() {
    if !has_all(Tier::Avx512.needs().with(CpuFeature::Avx512vbmi)) {
        return;
    }
    for (size, index, lanes, registers) in [
        (256, U8, 64, true),
        (1024, I16, 64, true),
        (1024, I16, 32, true),
        (1025, I16, 64, false),
        (1024, I16, 8, false),
    ] {
        let asm = check(Tier::Avx512, U8, index, size, lanes, (1, 0));
        assert_eq!(asm.contains("vpermi2b"), registers, "{size} {index} {lanes}");
        assert_eq!(asm.contains("vpinsrb"), !registers, "{size} {index} {lanes}");
    }
}
