//! The frozen form of an algorithm: what `Pipeline::new` makes of the Funcs that outputs reach.
//!
//! A `Pipeline` owns a compact copy of every expression (hash-consed; a node's children stand before it), so it is
//! `Send + Sync`, immutable and cheap to clone. Interpreter and lowering read it; nothing here knows how it was built.

use crate::error::Location;
use crate::externs::ExternDef;
use crate::ids::{ExprId, FuncId, Id, IdVec, ImageId, NoteId, ParamId, RDomId, VarId};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::promise::ValuePromise;
use crate::shape::{AlignmentRule, Estimate, ShapeRule};
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::BTreeSet;
use std::sync::Arc;

/// A checked, frozen algorithm. Made by `Pipeline::new`.
#[derive(Clone, Debug)]
pub struct Pipeline {
    pub(crate) data: Arc<PipelineData>,
}

impl std::ops::Deref for Pipeline {
    type Target = PipelineData;
    fn deref(&self) -> &PipelineData {
        &self.data
    }
}

impl Pipeline {
    /// Wraps data whose invariants (see the fields) the caller keeps: `Pipeline::new`, and graph rewrites in `plan`.
    pub fn from_data(data: PipelineData) -> Pipeline {
        Pipeline { data: Arc::new(data) }
    }
}

/// The tables of a frozen algorithm.
#[derive(Clone, Debug, Default)]
pub struct PipelineData {
    /// Every expression; the children of a node have smaller ids.
    pub exprs: IdVec<ExprId, Node>,
    /// Every reachable Func; names are unique (a repeated name got a suffix `$1`, `$2`, ...).
    pub funcs: IdVec<FuncId, FuncDef>,
    /// Every reachable input image; names are unique.
    pub images: IdVec<ImageId, ImageDef>,
    /// Every reachable scalar parameter; names are unique.
    pub params: IdVec<ParamId, ParamDef>,
    /// Names of pure variables. One id per (distinct) user variable.
    pub vars: IdVec<VarId, String>,
    /// Every reachable reduction domain.
    pub rdoms: IdVec<RDomId, RDomDef>,
    /// Every requirement and every line to print.
    pub notes: IdVec<NoteId, NoteDef>,
    /// The outputs in the order given.
    pub outputs: Vec<FuncId>,
    /// Every Func, producers before consumers; deterministic.
    pub order: Vec<FuncId>,
    /// The rules for the shapes of the caller's buffers; checked before a run.
    pub shapes: Vec<ShapeRule>,
    /// The rules for the addresses at which the caller's buffers begin; checked before a run.
    pub alignments: Vec<AlignmentRule>,
    /// Funcs whose values come from closures; their results stand among the images.
    pub externs: Vec<ExternDef>,
    /// The shapes that the caller's buffers are expected to have.
    pub estimates: Vec<Estimate>,
}

/// The expressions of a pipeline that are index arithmetic wherever they stand. Made by [`PipelineData::index_table`].
#[derive(Clone, Debug)]
pub struct IndexTable {
    /// Per node: whether it is index arithmetic, and whether it mentions a variable or an image dimension.
    rows: Vec<(bool, bool)>,
}

impl IndexTable {
    /// Returns true if `e` is built by the grammar of index arithmetic (see [`Kind`]) from variables, image dimensions,
    /// `I32` parameters and constants alone.
    pub fn is_index(&self, e: ExprId) -> bool {
        self.rows[e.index()].0
    }

    /// Returns true if a comparison of `a` and `b` is one of exact index values: both are index expressions and at
    /// least one mentions a variable or an image dimension.
    pub fn is_comparison(&self, a: ExprId, b: ExprId) -> bool {
        let (a, b) = (self.rows[a.index()], self.rows[b.index()]);
        a.0 && b.0 && (a.1 || b.1)
    }
}

impl PipelineData {
    /// Returns true if an output's first definition leaves some elements as its buffers hold them before the run.
    pub fn keeps(&self, func: FuncId) -> bool {
        let mut todo = self.funcs[func].stages.first().map_or(Vec::new(), |s| s.values.clone());
        let mut found = false;
        // `Before` stands alone, or in arms of choices.
        while let Some(e) = todo.pop() {
            match &self.exprs[e].kind {
                Kind::Before { .. } => found = true,
                Kind::Select(_, a, b) => todo.extend([*a, *b]),
                _ => {}
            }
        }
        found && self.outputs.contains(&func)
    }

    /// The number of sites that a definition stores to at once: the length of each [`Kind::Sites`] in it, 1 if there is
    /// none.
    pub fn sites(&self, stage: &StageDef) -> usize {
        let roots: Vec<ExprId> = stage.args.iter().chain(&stage.values).copied().collect();
        let count = |id: ExprId| match &self.exprs[id].kind {
            Kind::Sites(values) => Some(values.len()),
            _ => None,
        };
        self.reachable(&roots).into_iter().find_map(count).unwrap_or(1)
    }

    /// Returns every node below `roots`, each once, in order of ids.
    pub(crate) fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut wanted = BTreeSet::new();
        let mut todo = roots.to_vec();
        while let Some(id) = todo.pop() {
            if wanted.insert(id) {
                todo.extend(self.exprs[id].kind.children());
            }
        }
        wanted.into_iter().collect()
    }

    /// Classifies every expression; children stand before parents, so one pass does.
    pub fn index_table(&self) -> IndexTable {
        let mut rows: Vec<(bool, bool)> = Vec::with_capacity(self.exprs.len());
        for node in self.exprs.iter() {
            let of = |e: &ExprId| rows[e.index()];
            let both = |a: &ExprId, b: &ExprId| (of(a).0 && of(b).0, of(a).1 || of(b).1);
            let (index, coordinate) = match &node.kind {
                Kind::Const(_) | Kind::Param(_) => (true, false),
                Kind::Var(_) | Kind::RVar { .. } | Kind::ImageDim { .. } => (true, true),
                Kind::Unary(UnOp::Neg, a) | Kind::Likely(a) | Kind::LikelyIfInnermost(a) => of(a),
                Kind::Note { value: a, .. } => of(a),
                Kind::Binary(op, a, b) => {
                    use BinOp::*;
                    let (index, coordinate) = both(a, b);
                    (index && matches!(op, Add | Sub | Mul | Div | Mod | Min | Max), coordinate)
                }
                Kind::Select(_, a, b) => both(a, b),
                Kind::Sites(values) => {
                    values.iter().map(of).fold((true, false), |all, one| (all.0 && one.0, all.1 || one.1))
                }
                _ => (false, false),
            };
            rows.push((index && node.ty == ScalarType::I32, coordinate));
        }
        IndexTable { rows }
    }
}

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
/// [`IndexTable::is_comparison`] accepts, wherever it stands. Everywhere else `I32` wraps. A `Cast`, `Call` or `Image`
/// below a coordinate is data again.
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
        /// The values that the text shows: one scalar for each [`Piece::Value`].
        parts: Vec<ExprId>,
    },
    /// Its operand; says that in the steady state of a loop the enclosing min, max or select takes this side.
    Likely(ExprId),
    /// As `Likely`, where the innermost loop around it runs over what it depends on.
    LikelyIfInnermost(ExprId),
    /// Its operand, whose float operations are neither contracted nor put in another order.
    Strict(ExprId),
    /// One value for each site that an update stores to at once (see [`PipelineData::sites`]); at least one.
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

/// A requirement, or a line to print.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteDef {
    /// The kind of note.
    pub kind: NoteKind,
    /// The text, with spaces between the pieces.
    pub text: Vec<Piece>,
    /// The place in the source where it was written.
    pub at: Location,
}

/// The kinds of notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// The run fails where the condition does not hold.
    Require,
    /// A line is printed where the condition holds.
    Print,
}

/// A piece of what a note says.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Always the same.
    Text(String),
    /// The next of the values.
    Value,
}

/// The text of `pieces` with `values` filled in, with spaces between.
pub fn told(pieces: &[Piece], values: &[Scalar]) -> String {
    let mut values = values.iter();
    let words = pieces.iter().map(|piece| match piece {
        Piece::Text(text) => text.clone(),
        Piece::Value => values.next().map_or_else(|| "?".to_string(), Scalar::to_string),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// A Func: a pure definition (stage 0) and updates (stages 1..).
#[derive(Clone, Debug)]
pub struct FuncDef {
    /// Unique name.
    pub name: String,
    /// The pure variables, first dimension first; distinct.
    pub args: Vec<VarId>,
    /// One type per tuple element; at least one.
    pub types: Vec<ScalarType>,
    /// Stage 0 is the pure definition.
    pub stages: Vec<StageDef>,
    /// The place in the source where it was made.
    pub at: Location,
}

impl FuncDef {
    /// The number of dimensions.
    pub fn dims(&self) -> usize {
        self.args.len()
    }
    /// Returns true if there are no updates.
    pub fn is_pure(&self) -> bool {
        self.stages.len() == 1
    }
}

/// One definition. All values are computed before any is stored; those of several sites are stored in the order of the
/// sites.
#[derive(Clone, Debug)]
pub struct StageDef {
    /// Left-hand side coordinates. In stage 0 they are the Func's variables. In an update, a coordinate that is the
    /// Func's own variable of that position makes that dimension *pure* in this stage.
    pub args: Vec<ExprId>,
    /// One value per tuple element, of the Func's types.
    pub values: Vec<ExprId>,
    /// The reduction domain iterated, if any; its predicate guards the whole store.
    pub rdom: Option<RDomId>,
    /// The place in the source where it was written.
    pub at: Location,
}

/// A reduction domain, iterated lexicographically, dimension 0 innermost.
#[derive(Clone, Debug)]
pub struct RDomDef {
    /// Unique name.
    pub name: String,
    /// Innermost first. An extent <= 0 means no iterations.
    pub dims: Vec<RVarDef>,
    /// `Bool` over RVars (and pure variables, Funcs...): where false, nothing is stored.
    pub predicate: Option<ExprId>,
}

/// One dimension of a reduction domain.
#[derive(Clone, Debug)]
pub struct RVarDef {
    /// Unique name: `r$1.x`, if there are several domains called `r`.
    pub name: String,
    /// The name that schedules use: `r.x` or the name given.
    pub said: String,
    /// First value; index arithmetic over parameters, image dimensions and constants.
    pub min: ExprId,
    /// Number of values.
    pub extent: ExprId,
}

/// A scalar parameter.
#[derive(Clone, Debug)]
pub struct ParamDef {
    /// Unique name.
    pub name: String,
    /// Its type.
    pub ty: ScalarType,
    /// Used when a call gives none.
    pub default: Option<Scalar>,
    /// Smallest legal value; a fact for lowering and a check at run time.
    pub min: Option<Scalar>,
    /// Largest legal value.
    pub max: Option<Scalar>,
    /// The place in the source where it was made.
    pub at: Location,
}

/// An input image.
#[derive(Clone, Debug)]
pub struct ImageDef {
    /// Unique name.
    pub name: String,
    /// Element type.
    pub ty: ScalarType,
    /// Number of dimensions.
    pub dims: usize,
    /// The promises about its elements.
    pub values: ValuePromise,
    /// The place in the source where it was made.
    pub at: Location,
}
