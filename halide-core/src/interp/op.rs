//! The operations of a compiled stage.

use crate::ids::{FuncId, ImageId, NoteId};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::pipeline::{NoteKind, PipelineData, note_text};
use crate::types::ScalarType;
use crate::value::Scalar;

/// An operation's position in its program, and its register.
pub(super) type Reg = usize;

/// One operation. Data registers hold the bits of a `Scalar`, index registers an i64.
#[derive(Debug)]
pub(super) enum Op {
    /// A constant, also of parameters and image dimensions: a program is compiled for one run.
    Const(u64),
    /// Coordinate `dim` of the Func at which the stage is evaluated.
    Var {
        dim: usize,
        index: bool,
    },
    /// Dimension `dim` of the stage's reduction domain.
    RVar {
        dim: usize,
        index: bool,
    },
    Unary(UnOp, ScalarType, Reg),
    Binary(BinOp, ScalarType, Reg, Reg),
    Select(Reg, Reg, Reg),
    Cast {
        from: ScalarType,
        to: ScalarType,
        a: Reg,
    },
    SaturatingCast {
        from: ScalarType,
        to: ScalarType,
        a: Reg,
    },
    Copy(Reg),
    Math(MathFn, ScalarType, Vec<Reg>),
    /// Exact index arithmetic.
    IndexNeg(Reg),
    IndexBinary(BinOp, Reg, Reg),
    /// A comparison of exact index values; the result is data.
    IndexCompare(BinOp, Reg, Reg),
    /// The value of an i32 as an index.
    ToIndex(Reg),
    Call {
        func: FuncId,
        element: usize,
        args: Vec<Reg>,
    },
    /// A read of the Func being defined, in an update.
    SelfCall {
        element: usize,
        args: Vec<Reg>,
    },
    Image {
        image: ImageId,
        args: Vec<Reg>,
    },
    /// The contents of the output before the run.
    Before {
        element: usize,
    },
    /// `value`, where that is possible; and something said about the parts.
    Note(Note),
}

/// A requirement or a line to print.
#[derive(Debug)]
pub(super) struct Note {
    pub(super) note: NoteId,
    pub(super) kind: NoteKind,
    pub(super) condition: Reg,
    pub(super) value: Reg,
    pub(super) parts: Vec<(Reg, ScalarType)>,
}

impl Note {
    /// The side of the condition on which the parts are shown.
    pub(super) fn tells(&self) -> bool {
        self.kind == NoteKind::Print
    }
    /// The text of the message, where `value` gives the bits of registers.
    pub(super) fn text(&self, p: &PipelineData, value: impl Fn(Reg) -> u64) -> String {
        let parts: Vec<Scalar> = self.parts.iter().map(|(r, ty)| Scalar::from_bits(*ty, value(*r))).collect();
        note_text(&p.notes[self.note].text, &parts)
    }
}

/// A compiled stage.
#[derive(Debug)]
pub(super) struct Program {
    pub(super) ops: Vec<Op>,
    /// True for an operation that, operands included, can neither fail nor ask for a Func: then it may be computed
    /// where it is not needed.
    pub(super) total: Vec<bool>,
    /// The predicate of the reduction domain.
    pub(super) guard: Option<Reg>,
    /// The parts of the predicate that use no reduction variable: where one is false, the update is done.
    pub(super) settled: Vec<Reg>,
    /// The points that are stored to, in order.
    pub(super) sites: Vec<Site>,
    /// The dimensions that are pure: one coordinate at a time, independent of each other.
    pub(super) pure_dims: Vec<usize>,
    /// Min and extent of each dimension of the reduction domain.
    pub(super) rdom: Vec<(i64, i64)>,
}

/// A point that a stage stores to.
#[derive(Debug)]
pub(super) struct Site {
    /// Its coordinates; empty in a pure definition.
    pub(super) targets: Vec<Reg>,
    /// The values stored.
    pub(super) values: Vec<Reg>,
}

impl Program {
    /// All that is evaluated before anything is stored.
    pub(super) fn results(&self) -> impl Iterator<Item = Reg> {
        self.sites.iter().flat_map(|s| s.targets.iter().chain(&s.values).copied())
    }
}
