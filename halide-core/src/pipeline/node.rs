//! Frozen expressions.

use crate::ids::{ExprId, FuncId, ImageId, NoteId, ParamId, RDomId, VarId};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::types::ScalarType;
use crate::value::Scalar;

/// One frozen expression node.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The operation.
    pub kind: Kind,
    /// The type of its value. In a coordinate, integer arithmetic on `I32` is *index* arithmetic (see [`Kind`]).
    pub ty: ScalarType,
}

/// The operation of a node. All conversions are explicit: both operands of a `Binary` have one type
/// (the amount of a shift: the signed integer of the left operand's width).
///
/// Position decides the arithmetic: within a *coordinate* (an argument of `Call` or `Image`, a left-hand side, an RDom
/// bound) `I32` nodes built of `Var`, `RVar`, `ImageDim`, `I32` parameters and constants by `Add`, `Sub`, `Mul`, `Div`,
/// `Mod`, `Min`, `Max`, `Neg`, `Select`, `Sites`, `Likely`, `LikelyIfInnermost` and `Note` are exact index arithmetic
/// whose overflow of i32 is an error. The same holds for the two operands of a comparison that
/// [`IndexTable::is_comparison`](super::IndexTable::is_comparison) accepts, wherever it stands. Everywhere else `I32`
/// wraps. A `Cast`, `Call` or `Image` below a coordinate is data again.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A constant of the node's type.
    Const(Scalar),
    /// A pure variable; `I32`.
    Var(VarId),
    /// Dimension `dim` of a reduction domain; `I32`.
    RVar {
        /// The domain.
        rdom: RDomId,
        /// The dimension of the domain; 0 is innermost.
        dim: u8,
    },
    /// A scalar parameter.
    Param(ParamId),
    /// A property of an input image's buffer; `I32`.
    ImageDim {
        /// The image.
        image: ImageId,
        /// The dimension.
        dim: u8,
        /// The property of that dimension.
        field: DimField,
    },
    /// One operand.
    Unary(UnOp, ExprId),
    /// Two operands.
    Binary(BinOp, ExprId, ExprId),
    /// Both arms are values; the condition is `Bool`.
    Select(ExprId, ExprId, ExprId),
    /// Conversion to the node's type: integers wrap; float to integer truncates, saturates, NaN gives 0.
    Cast(ExprId),
    /// Conversion that clamps to the node's type; NaN gives 0.
    SaturatingCast(ExprId),
    /// The same bits as the node's type, which has the operand's width.
    Reinterpret(ExprId),
    /// A transcendental function.
    Math(MathFn, Vec<ExprId>),
    /// The value of tuple element `element` of a Func at integer coordinates.
    Call {
        /// The Func read.
        func: FuncId,
        /// The tuple element.
        element: u8,
        /// One `I32` coordinate per dimension.
        args: Vec<ExprId>,
    },
    /// A pixel of an input image.
    Image {
        /// The image read.
        image: ImageId,
        /// One `I32` coordinate per dimension.
        args: Vec<ExprId>,
    },
    /// Its `value`; where it is evaluated, a requirement ends the run unless `condition` holds, and a line is printed
    /// if it does. A requirement's value is evaluated only where its condition holds.
    Note {
        /// The kind, the text and the place of the note.
        note: NoteId,
        /// `Bool`.
        condition: ExprId,
        /// The value of the node, of the node's type.
        value: ExprId,
        /// The values that the text shows: one scalar for each [`Piece::Value`](super::Piece::Value).
        parts: Vec<ExprId>,
    },
    /// The operand, marked: in the steady state of a loop the enclosing min, max or select takes this side.
    Likely(ExprId),
    /// The same as `Likely`, where the innermost loop around it runs over what it depends on.
    LikelyIfInnermost(ExprId),
    /// The operand, whose float operations are neither contracted nor reordered.
    Strict(ExprId),
    /// One value for each site that an update stores to at once (see
    /// [`PipelineData::sites`](super::PipelineData::sites)); at least one.
    Sites(Vec<ExprId>),
    /// The contents of the output's own buffer at the Func's coordinates before the run. Stands in the first definition
    /// of outputs only; elsewhere it is zero.
    Before {
        /// The tuple element.
        element: u8,
    },
}

impl Kind {
    /// The operands in order.
    pub fn children(&self) -> Vec<ExprId> {
        match self {
            Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => Vec::new(),
            Kind::Before { .. } => Vec::new(),
            Kind::LikelyIfInnermost(a) | Kind::Strict(a) => vec![*a],
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) | Kind::Likely(a) => {
                vec![*a]
            }
            Kind::Binary(_, a, b) => vec![*a, *b],
            Kind::Select(c, a, b) => vec![*c, *a, *b],
            Kind::Note { condition, value, parts, .. } => [&[*condition, *value], &parts[..]].concat(),
            Kind::Math(_, args) | Kind::Sites(args) => args.clone(),
            Kind::Call { args, .. } | Kind::Image { args, .. } => args.clone(),
        }
    }

    /// The same operation of other operands: `new` of each.
    pub(crate) fn with_children(mut self, mut new: impl FnMut(ExprId) -> ExprId) -> Kind {
        match &mut self {
            Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => {}
            Kind::Before { .. } => {}
            Kind::LikelyIfInnermost(a) | Kind::Strict(a) => *a = new(*a),
            Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) | Kind::Likely(a) => {
                *a = new(*a);
            }
            Kind::Binary(_, a, b) => (*a, *b) = (new(*a), new(*b)),
            Kind::Select(c, a, b) => (*c, *a, *b) = (new(*c), new(*a), new(*b)),
            Kind::Note { condition, value, parts, .. } => {
                (*condition, *value) = (new(*condition), new(*value));
                parts.iter_mut().for_each(|part| *part = new(*part));
            }
            Kind::Math(_, args) | Kind::Sites(args) | Kind::Call { args, .. } | Kind::Image { args, .. } => {
                args.iter_mut().for_each(|a| *a = new(*a));
            }
        }
        self
    }
}

/// A property of a buffer's dimension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DimField {
    /// The first coordinate.
    Min,
    /// The number of coordinates.
    Extent,
    /// The distance in elements between neighbours.
    Stride,
}
