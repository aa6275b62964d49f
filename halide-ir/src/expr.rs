//! Vector-typed expressions of loop IR.
//!
//! An `Expr` is a shared, immutable tree (a DAG where passes share). Every node knows its type and a structural hash,
//! so equality is cheap. Data arithmetic has the meaning of `halide_core::value`, lane by lane. *Index* arithmetic
//! (coordinates, loop variables, sizes) is exact: 64-bit, assumed not to overflow, because regions are checked first;
//! `/` and `%` on it are Euclidean with x / 0 = 0 as everywhere.

use super::sym::{BufId, Sym};
use halide_core::ids::ParamId;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use smallvec::SmallVec;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The kind of one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Elem {
    /// Index arithmetic: coordinates, sizes, loop variables. 64 bits.
    Index,
    /// Data of a scalar type.
    Data(ScalarType),
}

/// The type of an expression: element kind and number of lanes (1 is a scalar).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Type {
    /// Kind of each lane.
    pub elem: Elem,
    /// Number of lanes, at least 1; any count is legal, backends split it.
    pub lanes: u16,
}

impl Type {
    /// A scalar index.
    pub const INDEX: Type = Type { elem: Elem::Index, lanes: 1 };
    /// A scalar truth value.
    pub const BOOL: Type = Type { elem: Elem::Data(ScalarType::Bool), lanes: 1 };

    /// A scalar of data type `ty`.
    pub fn data(ty: ScalarType) -> Type {
        Type { elem: Elem::Data(ty), lanes: 1 }
    }
    /// The same element with `lanes` lanes.
    pub fn with_lanes(self, lanes: u16) -> Type {
        Type { lanes, ..self }
    }
    /// The same lanes of `elem`.
    pub fn with_elem(self, elem: Elem) -> Type {
        Type { elem, ..self }
    }
    /// The data type of a lane; `None` for Index.
    pub fn scalar(self) -> Option<ScalarType> {
        match self.elem {
            Elem::Index => None,
            Elem::Data(ty) => Some(ty),
        }
    }
    /// Returns true if lanes are Index.
    pub fn is_index(self) -> bool {
        self.elem == Elem::Index
    }
    /// Returns true if lanes are `Bool`.
    pub fn is_bool(self) -> bool {
        self.elem == Elem::Data(ScalarType::Bool)
    }
}

/// A shared expression. Made only by the functions of [`super::build`].
#[derive(Clone)]
pub struct Expr(Arc<Node>);

struct Node {
    kind: ExprKind,
    ty: Type,
    /// True if the simplifier has marked it as settled (see [`Expr::is_settled`]).
    settled: AtomicBool,
    hash: u64,
    support: u64,
}

/// The operation of an expression, with its operands.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum ExprKind {
    /// A data constant; scalar.
    Const(Scalar),
    /// An Index constant; scalar.
    Int(i64),
    /// A symbol; a scalar Index unless it is a `Temp`.
    Sym(Sym),
    /// A scalar parameter given by the caller.
    Param(ParamId),
    /// One operand.
    Unary(UnOp, Expr),
    /// Two operands of one type (shift amounts: signed integers of the left operand's width).
    Binary(BinOp, Expr, Expr),
    /// Condition of `Bool` lanes (as many as the arms have); both arms are evaluated.
    Select(Expr, Expr, Expr),
    /// Conversion to the node's type. Index to data wraps; data to Index is of integers only and exact.
    Cast(Expr),
    /// Conversion that clamps to the node's type; NaN gives 0.
    SaturatingCast(Expr),
    /// The same bits as the node's type of equal width.
    Reinterpret(Expr),
    /// A transcendental function.
    Math(MathFn, Box<[Expr]>),
    /// An operation found by `find_intrinsics`.
    Intrinsic(Intrinsic, Box<[Expr]>),
    /// Steady-state marker: its operand.
    Likely(Expr),
    /// A multi-dimensional read, one Index coordinate per dimension (until `flatten_storage`).
    Read {
        /// From where.
        buf: BufId,
        /// One coordinate per dimension.
        args: Box<[Expr]>,
    },
    /// A linear load in elements (from `flatten_storage` on). A lane whose mask is false is not read and gives 0.
    Load {
        /// From where.
        buf: BufId,
        /// Index lanes: element offsets from the buffer's first element.
        index: Expr,
        /// `Bool` lanes; `None` is all true.
        mask: Option<Expr>,
    },
    /// Index lanes `base, base + stride, ...`; `base` and `stride` are scalar Index.
    Ramp {
        /// Lane 0.
        base: Expr,
        /// Difference of neighbouring lanes.
        stride: Expr,
    },
    /// A scalar in every lane.
    Broadcast(Expr),
    /// Lanes picked from the concatenation of vectors of one element kind.
    Shuffle(Box<[Expr]>, Lanes),
}

/// The lanes that a shuffle picks, by their numbers. Its list is at one remove, so that nodes of all kinds are small.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Lanes(Box<Box<[u16]>>);

impl std::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<const N: usize> From<[u16; N]> for Lanes {
    fn from(lanes: [u16; N]) -> Lanes {
        Lanes(Box::new(lanes.into()))
    }
}

impl From<Vec<u16>> for Lanes {
    fn from(lanes: Vec<u16>) -> Lanes {
        Lanes(Box::new(lanes.into()))
    }
}

impl From<Lanes> for Vec<u16> {
    fn from(lanes: Lanes) -> Vec<u16> {
        lanes.0.into_vec()
    }
}

impl std::ops::Deref for Lanes {
    type Target = [u16];
    fn deref(&self) -> &[u16] {
        &self.0
    }
}

/// Integer idioms with an instruction of their own; each is defined by exact widened arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Intrinsic {
    /// a + b clamped to the type.
    SaturatingAdd,
    /// a - b clamped to the type.
    SaturatingSub,
    /// floor((a + b) / 2).
    HalvingAdd,
    /// floor((a + b + 1) / 2).
    RoundingHalvingAdd,
    /// High half of the exact product.
    MulHigh,
    /// floor((a * b + 2^14) / 2^15) clamped to the type, of I16 only: the product of fractions of 15 bits, rounded.
    MulRounded,
    /// a * b in the type of twice the width.
    WideningMul,
}

// Compiling makes and reads many; more than this shows in its time.
const _: () = assert!(size_of::<Node>() <= 56 || cfg!(not(target_pointer_width = "64")));

impl Expr {
    /// Wraps a kind whose type the caller vouches for; for [`super::build`] and `map_children` only.
    pub(crate) fn raw(kind: ExprKind, ty: Type) -> Expr {
        let mut hasher = super::hash::Spread::default();
        kind.hash(&mut hasher);
        ty.hash(&mut hasher);
        let hash = hasher.finish();
        let mut support = match kind {
            ExprKind::Sym(_) | ExprKind::Param(_) | ExprKind::Read { .. } | ExprKind::Load { .. } => {
                1u64 << (hash % 64)
            }
            _ => 0,
        };
        kind.for_each_child(|child| support |= child.0.support);
        Expr(Arc::new(Node { kind, ty, settled: AtomicBool::new(false), hash, support }))
    }
    /// Returns the operation with its operands.
    pub fn kind(&self) -> &ExprKind {
        &self.0.kind
    }
    /// Its type.
    pub fn ty(&self) -> Type {
        self.0.ty
    }
    /// The number of lanes of its type.
    pub fn lanes(&self) -> u16 {
        self.0.ty.lanes
    }
    /// An address that is equal for clones of one node: a key for memo tables that hold a clone.
    pub fn id(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }
    /// Returns false if nothing but one owner or one parent holds this node: a walk comes to it once.
    pub(crate) fn is_shared(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }
    /// A set of hash bits of the symbols, parameters and reads in it: expressions without a common bit have none in
    /// common.
    pub fn support(&self) -> u64 {
        self.0.support
    }
    /// Returns true if it is in normal form under all facts that give no value to a symbol, parameter or read in it.
    pub fn is_settled(&self) -> bool {
        self.0.settled.load(Ordering::Relaxed)
    }
    /// Marks it as [`Expr::is_settled`]. The caller must have verified this.
    pub fn set_settled(&self) {
        self.0.settled.store(true, Ordering::Relaxed);
    }
    /// The structural hash.
    pub fn structural_hash(&self) -> u64 {
        self.0.hash
    }
}

impl ExprKind {
    /// Calls `f` on every operand, in evaluation order.
    pub(super) fn for_each_child<'e>(&'e self, mut f: impl FnMut(&'e Expr)) {
        use ExprKind::*;
        match self {
            Const(_) | Int(_) | Sym(_) | Param(_) => {}
            Unary(_, a) | Cast(a) | SaturatingCast(a) | Reinterpret(a) | Likely(a) | Broadcast(a) => f(a),
            Binary(_, a, b) | Ramp { base: a, stride: b } => {
                f(a);
                f(b);
            }
            Select(c, a, b) => {
                f(c);
                f(a);
                f(b);
            }
            Math(_, args) | Intrinsic(_, args) | Read { args, .. } | Shuffle(args, _) => args.iter().for_each(f),
            Load { index, mask, .. } => {
                f(index);
                if let Some(m) = mask {
                    f(m);
                }
            }
        }
    }
}

impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl Drop for Node {
    /// Expressions grow as deep as a pipeline is long, so what dies with this node dies without recursion.
    fn drop(&mut self) {
        let mut dying = SmallVec::new();
        orphans(&mut self.kind, &mut dying);
        while let Some(mut kind) = dying.pop() {
            orphans(&mut kind, &mut dying);
        }
    }
}

/// Takes the kinds of those children of `kind` that nothing else holds and that have children themselves.
fn orphans(kind: &mut ExprKind, dying: &mut SmallVec<[ExprKind; 4]>) {
    use ExprKind::*;
    let mut take = |e: &mut Expr| {
        if Arc::strong_count(&e.0) == 1
            && let Some(node) = Arc::get_mut(&mut e.0)
            && !matches!(node.kind, Const(_) | Int(_) | Sym(_) | Param(_))
        {
            dying.push(std::mem::replace(&mut node.kind, Int(0)));
        }
    };
    match kind {
        Const(_) | Int(_) | Sym(_) | Param(_) => {}
        Unary(_, a) | Cast(a) | SaturatingCast(a) | Reinterpret(a) | Likely(a) | Broadcast(a) => take(a),
        Binary(_, a, b) | Ramp { base: a, stride: b } => {
            take(a);
            take(b);
        }
        Select(c, a, b) => [c, a, b].into_iter().for_each(take),
        Math(_, args) | Intrinsic(_, args) | Read { args, .. } | Shuffle(args, _) => args.iter_mut().for_each(take),
        Load { index, mask, .. } => {
            take(index);
            mask.iter_mut().for_each(take);
        }
    }
}

impl std::fmt::Debug for Expr {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.kind.fmt(f)
    }
}
