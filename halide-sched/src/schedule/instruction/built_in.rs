//! The table of instructions that the code generators find.
//!
//! | name | result | machine instruction |
//! |---|---|---|
//! | `dot_u8i8_4` | `c[j] += a[k] * b[j, k]`, u8 by i8 into i32, four at a time | `vpdpbusd` |
//! | `dot_i16_2` | the same of i16 into i32, two at a time | `vpdpwssd` |
//! | `fma_f32`, `fma_f64` | `c[j] += a * b[j]` with one rounding | `vfmadd` |
//! | `fma_pair_f32`, `fma_pair_f64` | `c[j] += a[j] * b[j]` with one rounding | `vfmadd` |

use super::super::values::{FloatMode, LoopKind};
use super::value::{Extents, Instruction};
use halide_core::error::AlgorithmErrors;
use halide_core::expr::cast;
use halide_core::expr::dynamic::undef_of;
use halide_core::types::ScalarType;
use halide_core::value::Element;
use halide_core::{Func, ImageParam, Pipeline, RDom, Var};

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
    Ok(all)
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
