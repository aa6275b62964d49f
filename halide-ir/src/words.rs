//! The words of the text form of loop IR: one table per kind of operator, of the printer and the parser.

use super::buffer_info::{Residency, Side};
use super::expr::Intrinsic;
use super::kernel::Writes;
use super::stmt::{Cache, ForKind};
use super::sym::{DimField, Edge};
use crate::buffer_info::{Memory, Stream};
use crate::program::Stage;
use halide_core::ops::{BinOp, MathFn, UnOp};

/// Binding strength of prefix operators; an operand that binds at least as strongly needs no parentheses.
pub(super) const PREFIX: u8 = 10;
/// Binding strength of comparisons, which do not chain.
pub(super) const COMPARISON: u8 = 3;

/// Infix operators and how strongly they bind. On `Bool`, [`BinOp::BitAnd`] and [`BinOp::BitOr`] are `&&` and `||`.
pub(super) const INFIX: [(&str, BinOp, u8); 18] = [
    ("||", BinOp::BitOr, 1),
    ("&&", BinOp::BitAnd, 2),
    ("==", BinOp::Eq, COMPARISON),
    ("!=", BinOp::Ne, COMPARISON),
    ("<=", BinOp::Le, COMPARISON),
    (">=", BinOp::Ge, COMPARISON),
    ("<<", BinOp::Shl, 7),
    (">>", BinOp::Shr, 7),
    ("<", BinOp::Lt, COMPARISON),
    (">", BinOp::Gt, COMPARISON),
    ("|", BinOp::BitOr, 4),
    ("^", BinOp::BitXor, 5),
    ("&", BinOp::BitAnd, 6),
    ("+", BinOp::Add, 8),
    ("-", BinOp::Sub, 8),
    ("*", BinOp::Mul, 9),
    ("/", BinOp::Div, 9),
    ("%", BinOp::Mod, 9),
];

/// Two-operand operators written as calls.
pub(super) const BINARY_CALLS: [(&str, BinOp); 5] = [
    ("min", BinOp::Min),
    ("max", BinOp::Max),
    ("div_to_zero", BinOp::DivToZero),
    ("mod_to_zero", BinOp::ModToZero),
    ("absd", BinOp::Absd),
];

/// One-operand operators written as calls; [`UnOp::Neg`] and [`UnOp::Not`] are the prefixes `-` and `!`.
pub(super) const UNARY_CALLS: [(&str, UnOp); 12] = [
    ("abs", UnOp::Abs),
    ("popcount", UnOp::Popcount),
    ("clz", UnOp::Clz),
    ("ctz", UnOp::Ctz),
    ("floor", UnOp::Floor),
    ("ceil", UnOp::Ceil),
    ("round", UnOp::Round),
    ("trunc", UnOp::Trunc),
    ("sqrt", UnOp::Sqrt),
    ("is_nan", UnOp::IsNan),
    ("is_inf", UnOp::IsInf),
    ("is_finite", UnOp::IsFinite),
];

/// Transcendental functions.
pub(super) const MATH: [(&str, MathFn); 27] = [
    ("exp", MathFn::Exp),
    ("log", MathFn::Log),
    ("pow", MathFn::Pow),
    ("sin", MathFn::Sin),
    ("cos", MathFn::Cos),
    ("tan", MathFn::Tan),
    ("asin", MathFn::Asin),
    ("acos", MathFn::Acos),
    ("atan", MathFn::Atan),
    ("atan2", MathFn::Atan2),
    ("sinh", MathFn::Sinh),
    ("cosh", MathFn::Cosh),
    ("tanh", MathFn::Tanh),
    ("asinh", MathFn::Asinh),
    ("acosh", MathFn::Acosh),
    ("atanh", MathFn::Atanh),
    ("hypot", MathFn::Hypot),
    ("erf", MathFn::Erf),
    ("fast_exp", MathFn::FastExp),
    ("fast_log", MathFn::FastLog),
    ("fast_pow", MathFn::FastPow),
    ("fast_sin", MathFn::FastSin),
    ("fast_cos", MathFn::FastCos),
    ("fast_inverse", MathFn::FastInverse),
    ("fast_inverse_sqrt", MathFn::FastInverseSqrt),
    ("fma", MathFn::Fma),
    ("mul_add", MathFn::MulAdd),
];

/// Integer idioms.
pub(super) const INTRINSICS: [(&str, Intrinsic); 7] = [
    ("saturating_add", Intrinsic::SaturatingAdd),
    ("saturating_sub", Intrinsic::SaturatingSub),
    ("halving_add", Intrinsic::HalvingAdd),
    ("rounding_halving_add", Intrinsic::RoundingHalvingAdd),
    ("mul_high", Intrinsic::MulHigh),
    ("mul_rounded", Intrinsic::MulRounded),
    ("widening_mul", Intrinsic::WideningMul),
];

/// The keyword that opens a loop.
pub(super) const LOOPS: [(&str, ForKind); 7] = [
    ("for", ForKind::Serial),
    ("parallel", ForKind::Parallel),
    ("vectorized", ForKind::Vectorized),
    ("unrolled", ForKind::Unrolled),
    ("gpu_blocks", ForKind::GpuBlocks),
    ("gpu_threads", ForKind::GpuThreads),
    ("gpu_lanes", ForKind::GpuLanes),
];

/// Ends of an interval.
pub(super) const EDGES: [(&str, Edge); 2] = [("min", Edge::Min), ("max", Edge::Max)];

/// Properties of a dimension of a buffer.
pub(super) const FIELDS: [(&str, DimField); 3] =
    [("min", DimField::Min), ("extent", DimField::Extent), ("stride", DimField::Stride)];

/// Stages of a program.
pub(super) const STAGES: [(&str, Stage); 5] = [
    ("nest", Stage::Nest),
    ("bounded", Stage::Bounded),
    ("flat", Stage::Flat),
    ("shaped", Stage::Shaped),
    ("final", Stage::Final),
];

/// Kinds of memory that allocations live in.
pub(super) const MEMORIES: [(&str, Memory); 6] = [
    ("auto", Memory::Auto),
    ("heap", Memory::Heap),
    ("stack", Memory::Stack),
    ("register", Memory::Register),
    ("shared", Memory::Shared),
    ("global", Memory::Global),
];

/// Caches that a prefetch asks for.
pub(super) const CACHES: [(&str, Cache); 2] = [("near", Cache::First), ("far", Cache::Second)];

/// States of the copies of a buffer.
pub(super) const RESIDENCIES: [(&str, Residency); 3] =
    [("on_host", Residency::OnHost), ("changed_on_host", Residency::ChangedOnHost), ("on_device", Residency::OnDevice)];

/// Sides that use a buffer.
pub(super) const SIDES: [(&str, Side); 3] = [("host", Side::Host), ("both", Side::Both), ("device", Side::Device)];

/// Stores that are non-temporal.
pub(super) const STREAMS: [(&str, Stream); 3] =
    [("never", Stream::Never), ("if_large", Stream::IfLarge), ("always", Stream::Always)];

/// Ways in which a kernel stores to a buffer.
pub(super) const WRITES: [(&str, Writes); 3] =
    [("none", Writes::None), ("words", Writes::Words), ("pieces", Writes::Pieces)];

/// The word of `item` in `table`.
pub(super) fn word<T: PartialEq>(table: &[(&'static str, T)], item: &T) -> Option<&'static str> {
    table.iter().find(|(_, t)| t == item).map(|(w, _)| *w)
}

/// The item of `word` in `table`.
pub(super) fn item<T: Copy>(table: &[(&'static str, T)], word: &str) -> Option<T> {
    table.iter().find(|(w, _)| *w == word).map(|(_, t)| *t)
}
