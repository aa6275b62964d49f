//! The table of instructions that the code generators find.
//!
//! | name | result | machine instruction |
//! |---|---|---|
//! | `dot_u8i8_4` | `c[j] += a[k] * b[j, k]`, u8 by i8 into i32, four at a time | `vpdpbusd` |
//! | `dot_i16_2` | the same of i16 into i32, two at a time | `vpdpwssd` |
//! | `fma_f32`, `fma_f64` | `c[j] += a * b[j]` with one rounding | `vfmadd` |
//! | `fma_pair_f32`, `fma_pair_f64` | `c[j] += a[j] * b[j]` with one rounding | `vfmadd` |
//!
//! Behind these, each idiom of [`crate::idioms`] for each type that machines have an instruction for, as
//! `rounding_halving_add_u8`: in the type of twice the bits, or written in 32 bits.

use super::super::values::{FloatMode, LoopKind};
use super::value::{Extents, Instruction};
use crate::idioms::{IDIOMS, Idiom, Machine, PRODUCTS, Types};
use halide_core::error::AlgorithmErrors;
use halide_core::expr::dynamic::undef_of;
use halide_core::expr::{IntoExpr, cast};
use halide_core::types::ScalarType;
use halide_core::value::Element;
use halide_core::{Func, ImageParam, Pipeline, RDom, Var};

/// The bytes of the shortest vectors that machines have.
const LEAST_VECTOR: u32 = 16;

/// The instructions of the table, in its order.
pub(super) fn built_in() -> Result<Vec<Instruction>, AlgorithmErrors> {
    let mut all = vec![
        dot::<i32>("dot_u8i8_4", [ScalarType::U8, ScalarType::I8], 4, "vpdpbusd")?,
        dot::<i32>("dot_i16_2", [ScalarType::I16, ScalarType::I16], 2, "vpdpwssd")?,
    ];
    for (ty, suffix, lanes) in [(ScalarType::F32, "f32", 8), (ScalarType::F64, "f64", 4)] {
        all.push(multiply_add(&format!("fma_{suffix}"), ty, lanes, false)?);
        all.push(multiply_add(&format!("fma_pair_{suffix}"), ty, lanes, true)?);
    }
    for idiom in IDIOMS.iter().chain(PRODUCTS) {
        for machine in idiom.machine {
            all.push(of_idiom(idiom, machine)?);
        }
    }
    Ok(all)
}

/// An idiom of vectors of one type.
fn of_idiom(idiom: &Idiom, machine: &Machine) -> Result<Instruction, AlgorithmErrors> {
    let narrow = machine.narrow;
    let meaning = |types: Types| {
        let (a, b) = (ImageParam::new("a", narrow, 1), ImageParam::new("b", narrow, 1));
        let (j, mut c) = (Var::new("j"), Func::new("c"));
        c[j] = idiom.meaning(types, &[a[j].expr(), b[j].expr()]);
        Pipeline::new([&c])
    };
    let mut ways = idiom.types(narrow).map(meaning).collect::<Result<Vec<_>, _>>()?.into_iter();
    let first = ways.next().map_or_else(|| Pipeline::new([]), Ok)?;
    let lanes = i64::from(LEAST_VECTOR / (narrow.bits() / 8));
    let instruction = Instruction::new(format!("{}_{narrow}", idiom.name), &first)
        .axis("j", Extents::Multiple(lanes), LoopKind::Vectorized)
        .dense("a", "j")
        .dense("b", "j")
        .emits(machine.mnemonic);
    Ok(ways.fold(instruction, |instruction, way| instruction.or(&way)))
}

/// Sums of `count` products, of operands widened to `T`.
fn dot<T: Element>(
    name: &str,
    [left, right]: [ScalarType; 2],
    count: i32,
    mnemonic: &str,
) -> Result<Instruction, AlgorithmErrors> {
    let (a, b) = (ImageParam::new("a", left, 1), ImageParam::new("b", right, 2));
    let (j, k, mut c) = (Var::new("j"), RDom::named("k", [(0, count)]), Func::new("c"));
    c[j] = undef_of(T::TYPE);
    c[j] += cast::<T>(a[k.x]) * cast::<T>(b[(k.x, j)]);
    Ok(Instruction::new(name, &Pipeline::new([&c])?)
        .axis("j", Extents::Multiple(8), LoopKind::Vectorized)
        .axis("k.x", Extents::Exactly(i64::from(count)), LoopKind::Unrolled)
        .dense("b", "k.x")
        .emits(mnemonic))
}

/// Products added with one rounding: of one value and lanes, or of lanes and lanes.
fn multiply_add(name: &str, ty: ScalarType, lanes: i64, pair: bool) -> Result<Instruction, AlgorithmErrors> {
    let (j, mut c, b) = (Var::new("j"), Func::new("c"), ImageParam::new("b", ty, 1));
    c[j] = undef_of(ty);
    if pair {
        let a = ImageParam::new("a", ty, 1);
        c[j] += a[j] * b[j];
    } else {
        let a = ImageParam::new("a", ty, 0);
        c[j] += a[()] * b[j];
    }
    Ok(Instruction::new(name, &Pipeline::new([&c])?)
        .axis("j", Extents::Multiple(lanes), LoopKind::Vectorized)
        .dense("b", "j")
        .float(FloatMode::Contract)
        .emits("vfmadd"))
}
