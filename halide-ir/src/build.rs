//! Smart constructors: the only way to make loop IR. They check types (a mismatch is our own bug and panics with both
//! types), fold constants, drop neutral elements and keep blocks flat, so that no pass needs to.

use super::expr::{Elem, Expr, ExprKind, Intrinsic, Type};
use super::stmt::{For, ForKind, Stmt};
use super::sym::{BufId, LoopId, Sym};
use halide_core::ids::ParamId;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

/// An Index constant.
pub fn int(value: i64) -> Expr {
    Expr::raw(ExprKind::Int(value), Type::INDEX)
}

/// A data constant.
pub fn constant(value: Scalar) -> Expr {
    Expr::raw(ExprKind::Const(value), Type::data(value.ty()))
}

/// A truth constant.
pub fn boolean(value: bool) -> Expr {
    constant(Scalar::from_bits(ScalarType::Bool, value as u64))
}

/// An Index symbol.
pub fn sym(s: Sym) -> Expr {
    Expr::raw(ExprKind::Sym(s), Type::INDEX)
}

/// A symbol of any type (`Temp`).
pub fn typed_sym(s: Sym, ty: Type) -> Expr {
    Expr::raw(ExprKind::Sym(s), ty)
}

/// The variable of a loop.
pub fn loop_var(id: LoopId) -> Expr {
    sym(Sym::Loop(id))
}

/// A scalar parameter.
pub fn param(id: ParamId, ty: ScalarType) -> Expr {
    Expr::raw(ExprKind::Param(id), Type::data(ty))
}

/// The Index value, if `e` is an Index constant (or a broadcast of one).
pub fn as_int(e: &Expr) -> Option<i64> {
    match e.kind() {
        ExprKind::Int(v) => Some(*v),
        ExprKind::Broadcast(inner) => as_int(inner),
        _ => None,
    }
}

/// The data value, if `e` is a data constant (or a broadcast of one).
pub fn as_const(e: &Expr) -> Option<Scalar> {
    match e.kind() {
        ExprKind::Const(v) => Some(*v),
        ExprKind::Broadcast(inner) => as_const(inner),
        _ => None,
    }
}

/// The truth value, if `e` is a `Bool` constant (or a broadcast of one).
pub fn as_bool(e: &Expr) -> Option<bool> {
    as_const(e).filter(|v| v.ty() == ScalarType::Bool).map(|v| v.bits() == 1)
}

/// One value in `lanes` lanes; `lanes` 1 is the value itself.
pub fn broadcast(e: Expr, lanes: u16) -> Expr {
    if lanes == e.lanes() {
        return e;
    }
    assert_eq!(e.lanes(), 1, "broadcast of a vector {e:?}");
    let ty = e.ty().with_lanes(lanes);
    Expr::raw(ExprKind::Broadcast(e), ty)
}

/// Index lanes `base, base + stride, ...`. A stride of 0 is a broadcast, one lane is `base`.
pub fn ramp(base: Expr, stride: Expr, lanes: u16) -> Expr {
    assert!(base.ty() == Type::INDEX && stride.ty() == Type::INDEX, "ramp of {base:?} by {stride:?}");
    match as_int(&stride) {
        Some(0) => broadcast(base, lanes),
        _ if lanes == 1 => base,
        _ => Expr::raw(ExprKind::Ramp { base, stride }, Type::INDEX.with_lanes(lanes)),
    }
}

/// Both operands with the larger number of lanes; a scalar is broadcast.
pub fn match_lanes(a: Expr, b: Expr) -> (Expr, Expr) {
    let lanes = a.lanes().max(b.lanes());
    (broadcast(a, lanes), broadcast(b, lanes))
}

/// One operand.
pub fn unary(op: UnOp, a: Expr) -> Expr {
    let elem = match (op, a.ty().elem) {
        (UnOp::IsNan | UnOp::IsInf | UnOp::IsFinite, _) => Elem::Data(ScalarType::Bool),
        (UnOp::Abs, Elem::Data(t)) if t.is_signed_int() => Elem::Data(ScalarType::unsigned(t.bits())),
        (_, elem) => elem,
    };
    if let (UnOp::Neg, Some(v)) = (op, as_int(&a).and_then(i64::checked_neg)) {
        return broadcast(int(v), a.lanes());
    }
    if let (UnOp::Not, ExprKind::Unary(UnOp::Not, inner)) = (op, a.kind()) {
        return inner.clone();
    }
    if let (UnOp::Not, ExprKind::Binary(cmp, x, y), true) = (op, a.kind(), a.ty().is_bool())
        && let Some(flipped) = negate_comparison(*cmp, x.ty())
    {
        return binary(flipped, x.clone(), y.clone());
    }
    let ty = a.ty().with_elem(elem);
    if let Some(v) = as_const(&a) {
        return broadcast(constant(halide_core::value::unary(op, v)), ty.lanes);
    }
    Expr::raw(ExprKind::Unary(op, a), ty)
}

/// The comparison that is true exactly where `op` is false; `None` for ordered float comparisons (NaN).
fn negate_comparison(op: BinOp, operands: Type) -> Option<BinOp> {
    let float = operands.scalar().is_some_and(|t| t.is_float());
    Some(match op {
        BinOp::Eq => BinOp::Ne,
        BinOp::Ne => BinOp::Eq,
        _ if float => return None,
        BinOp::Lt => BinOp::Ge,
        BinOp::Le => BinOp::Gt,
        BinOp::Gt => BinOp::Le,
        BinOp::Ge => BinOp::Lt,
        _ => return None,
    })
}

/// Two operands of one element kind; a scalar is broadcast to the other's lanes.
pub fn binary(op: BinOp, a: Expr, b: Expr) -> Expr {
    let (a, b) = match_lanes(a, b);
    let shift = matches!(op, BinOp::Shl | BinOp::Shr);
    assert!(shift || a.ty() == b.ty(), "{op:?} of {a:?}: {:?} and {b:?}: {:?}", a.ty(), b.ty());
    let lanes = a.lanes();
    if let (Some(x), Some(y)) = (as_int(&a), as_int(&b))
        && let Some(folded) = fold_index(op, x, y)
    {
        return broadcast(folded, lanes);
    }
    if let (Some(x), Some(y)) = (as_const(&a), as_const(&b)) {
        return broadcast(constant(halide_core::value::binary(op, x, y)), lanes);
    }
    if let Some(simple) = neutral(op, &a, &b) {
        return simple;
    }
    let elem = match (op, a.ty().elem) {
        _ if op.is_comparison() => Elem::Data(ScalarType::Bool),
        (BinOp::Absd, Elem::Data(t)) if t.is_signed_int() => Elem::Data(ScalarType::unsigned(t.bits())),
        (_, elem) => elem,
    };
    let ty = a.ty().with_elem(elem);
    Expr::raw(ExprKind::Binary(op, a, b), ty)
}

/// Index arithmetic on constants; `None` where it would overflow.
fn fold_index(op: BinOp, x: i64, y: i64) -> Option<Expr> {
    Some(match op {
        BinOp::Add => int(x.checked_add(y)?),
        BinOp::Sub => int(x.checked_sub(y)?),
        BinOp::Mul => int(x.checked_mul(y)?),
        BinOp::Div => int(if y == 0 { 0 } else { x.checked_div_euclid(y)? }),
        BinOp::Mod => int(if y == 0 { 0 } else { x.checked_rem_euclid(y)? }),
        BinOp::Min => int(x.min(y)),
        BinOp::Max => int(x.max(y)),
        BinOp::Eq => boolean(x == y),
        BinOp::Ne => boolean(x != y),
        BinOp::Lt => boolean(x < y),
        BinOp::Le => boolean(x <= y),
        BinOp::Gt => boolean(x > y),
        BinOp::Ge => boolean(x >= y),
        _ => return None,
    })
}

/// Identities that hold for Index and wrapping integers alike, and for `Bool`; none for floats.
fn neutral(op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let value = |e: &Expr| match as_int(e) {
        Some(v) => Some(v as i128),
        None => as_const(e).filter(|c| !c.ty().is_float()).map(|c| c.as_i128()),
    };
    let (x, y) = (value(a), value(b));
    let bool_operands = a.ty().is_bool();
    match op {
        BinOp::Add if x == Some(0) => Some(b.clone()),
        BinOp::Add | BinOp::Sub if y == Some(0) => Some(a.clone()),
        BinOp::Mul if x == Some(1) => Some(b.clone()),
        BinOp::Mul | BinOp::Div if y == Some(1) => Some(a.clone()),
        BinOp::Mul if x == Some(0) => Some(a.clone()),
        BinOp::Mul if y == Some(0) => Some(b.clone()),
        BinOp::BitAnd if bool_operands && x == Some(1) => Some(b.clone()),
        BinOp::BitAnd if bool_operands && y == Some(1) => Some(a.clone()),
        BinOp::BitAnd if x == Some(0) => Some(a.clone()),
        BinOp::BitAnd if y == Some(0) => Some(b.clone()),
        BinOp::BitOr if x == Some(0) => Some(b.clone()),
        BinOp::BitOr if y == Some(0) => Some(a.clone()),
        BinOp::BitOr if bool_operands && x == Some(1) => Some(a.clone()),
        BinOp::BitOr if bool_operands && y == Some(1) => Some(b.clone()),
        BinOp::Min | BinOp::Max | BinOp::BitAnd | BinOp::BitOr if a == b => Some(a.clone()),
        BinOp::Sub if a == b && a.ty().is_index() => Some(broadcast(int(0), a.lanes())),
        BinOp::Eq | BinOp::Le | BinOp::Ge if a == b && a.ty().is_index() => Some(broadcast(boolean(true), a.lanes())),
        BinOp::Ne | BinOp::Lt | BinOp::Gt if a == b && a.ty().is_index() => Some(broadcast(boolean(false), a.lanes())),
        _ => None,
    }
}

macro_rules! binary_functions {
    ($($(#[$doc:meta])* $name:ident $op:ident;)*) => {$(
        $(#[$doc])*
        pub fn $name(a: Expr, b: Expr) -> Expr {
            binary(BinOp::$op, a, b)
        }
    )*};
}

binary_functions! {
    /// Sum.
    add Add;
    /// Difference.
    sub Sub;
    /// Product.
    mul Mul;
    /// Euclidean quotient.
    div Div;
    /// Euclidean remainder.
    rem Mod;
    /// Smaller.
    min Min;
    /// Larger.
    max Max;
    /// Conjunction of `Bool` (bitwise on integers).
    and BitAnd;
    /// Disjunction of `Bool` (bitwise on integers).
    or BitOr;
    /// Equal.
    eq Eq;
    /// Not equal.
    ne Ne;
    /// Less.
    lt Lt;
    /// Less or equal.
    le Le;
    /// Greater.
    gt Gt;
    /// Greater or equal.
    ge Ge;
}

/// Negation of `Bool`.
pub fn not(a: Expr) -> Expr {
    unary(UnOp::Not, a)
}

/// `a + value` on Index.
pub fn offset(a: Expr, value: i64) -> Expr {
    let lanes = a.lanes();
    add(a, broadcast(int(value), lanes))
}

/// The first and the last coordinate of a dimension of a buffer.
pub fn coordinates(buf: BufId, dim: usize) -> (Expr, Expr) {
    let field = |field| sym(Sym::Buffer { buf, dim: dim as u16, field });
    let min = field(DimField::Min);
    (min.clone(), offset(add(min, field(DimField::Extent)), -1))
}

/// `a` where `cond` holds, else `b`.
pub fn select(cond: Expr, a: Expr, b: Expr) -> Expr {
    let lanes = cond.lanes().max(a.lanes()).max(b.lanes());
    let (cond, a, b) = (broadcast(cond, lanes), broadcast(a, lanes), broadcast(b, lanes));
    assert!(cond.ty().is_bool() && a.ty() == b.ty(), "select of {cond:?}, {a:?}, {b:?}");
    match as_bool(&cond) {
        Some(true) => a,
        Some(false) => b,
        None if a == b => a,
        None => {
            let ty = a.ty();
            Expr::raw(ExprKind::Select(cond, a, b), ty)
        }
    }
}

/// Conversion of every lane to `elem`.
pub fn cast(elem: Elem, a: Expr) -> Expr {
    let ty = a.ty().with_elem(elem);
    if ty == a.ty() {
        return a;
    }
    match (elem, as_int(&a), as_const(&a)) {
        (Elem::Data(t), Some(v), _) => {
            let wide = Scalar::from_bits(ScalarType::I64, v as u64);
            return broadcast(constant(halide_core::value::cast(t, wide)), ty.lanes);
        }
        (Elem::Data(t), _, Some(v)) => return broadcast(constant(halide_core::value::cast(t, v)), ty.lanes),
        (Elem::Index, _, Some(v)) if !v.ty().is_float() => return broadcast(int(v.as_i128() as i64), ty.lanes),
        _ => {}
    }
    Expr::raw(ExprKind::Cast(a), ty)
}

/// Conversion of every lane to data type `ty`.
pub fn cast_data(ty: ScalarType, a: Expr) -> Expr {
    cast(Elem::Data(ty), a)
}

/// A data value used as a coordinate.
pub fn to_index(a: Expr) -> Expr {
    cast(Elem::Index, a)
}

/// Conversion that clamps to data type `to`.
pub fn saturating_cast(to: ScalarType, a: Expr) -> Expr {
    let ty = a.ty().with_elem(Elem::Data(to));
    match as_const(&a) {
        _ if ty == a.ty() => a,
        Some(v) => broadcast(constant(halide_core::value::saturating_cast(to, v)), ty.lanes),
        None => Expr::raw(ExprKind::SaturatingCast(a), ty),
    }
}

/// The same bits as data type `to`.
pub fn reinterpret(to: ScalarType, a: Expr) -> Expr {
    let ty = a.ty().with_elem(Elem::Data(to));
    match as_const(&a) {
        _ if ty == a.ty() => a,
        Some(v) => broadcast(constant(halide_core::value::reinterpret(to, v)), ty.lanes),
        None => Expr::raw(ExprKind::Reinterpret(a), ty),
    }
}

/// A transcendental function.
pub fn math(f: MathFn, args: Vec<Expr>) -> Expr {
    let lanes = args.iter().map(Expr::lanes).max().unwrap_or(1);
    let args: Vec<Expr> = args.into_iter().map(|a| broadcast(a, lanes)).collect();
    let ty = args[0].ty();
    let constants: Option<Vec<Scalar>> = args.iter().map(as_const).collect();
    match constants {
        Some(values) => broadcast(constant(halide_core::value::math(f, &values)), lanes),
        None => Expr::raw(ExprKind::Math(f, args.into()), ty),
    }
}

/// An integer idiom.
pub fn intrinsic(op: Intrinsic, args: Vec<Expr>) -> Expr {
    let lanes = args.iter().map(Expr::lanes).max().unwrap_or(1);
    let args: Vec<Expr> = args.into_iter().map(|a| broadcast(a, lanes)).collect();
    let ty = match (op, args[0].ty().elem) {
        (Intrinsic::WideningMul, Elem::Data(t)) if t.is_signed_int() => Type::data(ScalarType::signed(2 * t.bits())),
        (Intrinsic::WideningMul, Elem::Data(t)) => Type::data(ScalarType::unsigned(2 * t.bits())),
        (_, elem) => Type { elem, lanes: 1 },
    };
    Expr::raw(ExprKind::Intrinsic(op, args.into()), ty.with_lanes(lanes))
}

/// The steady-state side of a min, max, select or condition.
pub fn likely(a: Expr) -> Expr {
    if matches!(a.kind(), ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Likely(_)) {
        return a;
    }
    let ty = a.ty();
    Expr::raw(ExprKind::Likely(a), ty)
}

/// A multi-dimensional read of data type `elem`.
pub fn read(buf: BufId, elem: ScalarType, args: Vec<Expr>) -> Expr {
    let lanes = args.iter().map(Expr::lanes).max().unwrap_or(1);
    let args = args.into_iter().map(|a| broadcast(a, lanes)).collect();
    Expr::raw(ExprKind::Read { buf, args }, Type::data(elem).with_lanes(lanes))
}

/// A linear load of data type `elem`.
pub fn load(buf: BufId, elem: ScalarType, index: Expr, mask: Option<Expr>) -> Expr {
    let lanes = index.lanes().max(mask.as_ref().map_or(1, Expr::lanes));
    let index = broadcast(index, lanes);
    let mask = mask.map(|m| broadcast(m, lanes)).filter(|m| as_bool(m) != Some(true));
    Expr::raw(ExprKind::Load { buf, index, mask }, Type::data(elem).with_lanes(lanes))
}

/// Lanes picked from the concatenation of `vectors`; the identity is the vector itself.
pub fn shuffle(vectors: Vec<Expr>, lanes: Vec<u16>) -> Expr {
    let identity = lanes.iter().enumerate().all(|(i, &l)| i == l as usize);
    if vectors.len() == 1 && identity && lanes.len() == vectors[0].lanes() as usize {
        return vectors.into_iter().next().expect("one vector");
    }
    let ty = vectors[0].ty().with_lanes(lanes.len() as u16);
    Expr::raw(ExprKind::Shuffle(vectors.into(), lanes.into()), ty)
}

/// Remakes a node whose children changed: the smart constructor of its kind. `old` is its type before, which gives the
/// target of casts.
pub(super) fn remake(kind: ExprKind, old: Type) -> Expr {
    use ExprKind::*;
    let data = |t: Type| t.scalar().expect("a data type");
    match kind {
        Const(_) | Int(_) | Sym(_) | Param(_) => Expr::raw(kind, old),
        Unary(op, a) => unary(op, a),
        Binary(op, a, b) => binary(op, a, b),
        Select(c, a, b) => select(c, a, b),
        Cast(a) => cast(old.elem, a),
        SaturatingCast(a) => saturating_cast(data(old), a),
        Reinterpret(a) => reinterpret(data(old), a),
        Math(f, args) => math(f, args.into()),
        Intrinsic(op, args) => intrinsic(op, args.into()),
        Likely(a) => likely(a),
        Read { buf, args } => read(buf, data(old), args.into()),
        Load { buf, index, mask } => load(buf, data(old), index, mask),
        Ramp { base, stride } => ramp(base, stride, old.lanes),
        Broadcast(a) => broadcast(a, old.lanes),
        Shuffle(vectors, lanes) => shuffle(vectors.into(), lanes.into()),
    }
}

/// Statements in order; nested blocks are flattened, and a single statement stands alone.
pub fn block(list: impl IntoIterator<Item = Stmt>) -> Stmt {
    flat_block(&mut list.into_iter())
}

fn flat_block(list: &mut dyn Iterator<Item = Stmt>) -> Stmt {
    let mut flat = Vec::with_capacity(list.size_hint().0);
    for s in list {
        match s {
            Stmt::Block(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if flat.len() == 1 { flat.remove(0) } else { Stmt::Block(flat) }
}

/// The statement that does nothing.
pub fn nothing() -> Stmt {
    Stmt::Block(Vec::new())
}

/// Returns true if `s` is the statement that does nothing.
pub fn is_nothing(s: &Stmt) -> bool {
    matches!(s, Stmt::Block(list) if list.is_empty())
}

/// `body` under `bindings`; directly nested lets become one.
pub fn let_in(mut bindings: Vec<(Sym, Expr)>, body: Stmt) -> Stmt {
    match body {
        _ if is_nothing(&body) => body,
        _ if bindings.is_empty() => body,
        Stmt::Let { bindings: inner, body } => {
            bindings.extend(inner);
            Stmt::Let { bindings, body }
        }
        _ => Stmt::Let { bindings, body: Box::new(body) },
    }
}

/// A loop over all of its values. An empty body or a constant extent below 1 is nothing.
pub fn for_loop(id: LoopId, kind: ForKind, min: Expr, extent: Expr, body: Stmt) -> Stmt {
    loop_of(For { id, kind, min, extent, condition: None, body })
}

/// A loop, perhaps with a condition. One that runs no iteration is nothing, and a condition that always holds is none.
pub fn loop_of(l: For) -> Stmt {
    let holds = l.condition.as_ref().and_then(as_bool);
    if is_nothing(&l.body) || as_int(&l.extent).is_some_and(|n| n <= 0) || holds == Some(false) {
        return nothing();
    }
    let condition = l.condition.filter(|_| holds.is_none());
    Stmt::For(Box::new(For { condition, ..l }))
}

/// One side or the other.
pub fn if_else(cond: Expr, then: Stmt, otherwise: Stmt) -> Stmt {
    match as_bool(&cond) {
        Some(true) => then,
        Some(false) => otherwise,
        None if is_nothing(&then) && is_nothing(&otherwise) => then,
        None => Stmt::If { cond, then: Box::new(then), otherwise: Box::new(otherwise) },
    }
}
