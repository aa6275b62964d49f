//! Expressions: what each kind of node becomes. A vector is a list of scalars. Operations on literals are computed
//! here, with the language's own meaning: shader languages refuse constants that overflow.

use super::builder::{Builder, V};
use super::memo::Lanes;
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType;
use halide_core::value;
use halide_ir::{Elem, Expr, ExprKind, Type, intrinsic, visit};

impl Gen<'_> {
    /// The lanes of an expression.
    pub(super) fn eval(&mut self, e: &Expr) -> Emitted<Lanes> {
        if let Some(known) = self.memo.get(e) {
            return Ok(known);
        }
        let made = visit::deep(|| self.compute(e))?;
        self.memo.put(e, made.clone());
        Ok(made)
    }
    /// The value of a scalar expression.
    pub(super) fn single(&mut self, e: &Expr) -> Emitted<V> {
        Ok(self.eval(e)?[0])
    }

    fn compute(&mut self, e: &Expr) -> Emitted<Lanes> {
        let ty = e.ty();
        if let Elem::Data(t) = ty.elem {
            self.allowed(t)?;
        }
        Ok(match e.kind() {
            ExprKind::Const(c) => [self.code.constant(*c)].into(),
            ExprKind::Int(v) => [self.index_constant(*v)].into(),
            ExprKind::Sym(s) => match self.symbols.get(s) {
                Some(known) => known.clone(),
                None => return Err(Stop::Malformed(format!("{s:?} is not bound"))),
            },
            ExprKind::Param(id) => match self.params.get(id) {
                Some(&known) => [known].into(),
                None => return Err(Stop::Malformed(format!("{id:?} is used and not listed"))),
            },
            ExprKind::Unary(op, a) => self.unary(*op, a)?,
            ExprKind::Binary(op, a, b) => self.binary(*op, a, b)?,
            ExprKind::Select(c, a, b) => {
                let (c, a, b) = (self.eval(c)?, self.eval(a)?, self.eval(b)?);
                (0..c.len()).map(|i| self.select(ty.elem, c[i], a[i], b[i])).collect()
            }
            ExprKind::Cast(a) => self.cast(a, ty.elem)?,
            ExprKind::SaturatingCast(a) => {
                let (from, to, lanes) = (data(a.ty())?, data(ty)?, self.eval(a)?);
                self.code.each(&lanes, |c, v| match c.as_scalar(from, v) {
                    Some(known) => c.constant(value::saturating_cast(to, known)),
                    None => c.saturating_cast(from, to, v),
                })
            }
            ExprKind::Reinterpret(a) => {
                let (from, to, lanes) = (data(a.ty())?, data(ty)?, self.eval(a)?);
                self.code.each(&lanes, |c, v| match c.as_scalar(from, v) {
                    Some(known) => c.constant(value::reinterpret(to, known)),
                    None => c.reinterpret(from, to, v),
                })
            }
            ExprKind::Math(f, args) => {
                let t = data(ty)?;
                let args = args.iter().map(|a| self.eval(a)).collect::<Emitted<Vec<Lanes>>>()?;
                let made: Option<Lanes> = (0..usize::from(ty.lanes))
                    .map(|i| {
                        let args: Vec<V> = args.iter().map(|a| a[i]).collect();
                        self.code.math(*f, t, &args)
                    })
                    .collect();
                let help = if *f == MathFn::Fma { "compute it outside of kernels" } else { "compute it in f32" };
                let what = || Stop::Unsupported(format!("{} of {t}", f.name()), help);
                made.ok_or_else(what)?
            }
            ExprKind::Intrinsic(op, args) => {
                let [a, b] = &**args else {
                    return Err(Stop::Malformed(format!("{op:?} of {} operands", args.len())));
                };
                let (t, a, b, wide) = (data(a.ty())?, self.eval(a)?, self.eval(b)?, self.options.features.int64);
                self.code.pairs(&a, &b, |c, a, b| match (c.as_scalar(t, a), c.as_scalar(t, b)) {
                    (Some(a), Some(b)) => c.constant(intrinsic::apply(*op, a, b)),
                    _ => c.idiom(*op, t, a, b, wide),
                })
            }
            ExprKind::Likely(a) => self.eval(a)?,
            ExprKind::Load { buf, index, mask } => self.load(*buf, index, mask.as_ref())?,
            ExprKind::Ramp { base, stride } => self.ramp(base, stride, ty.lanes)?,
            ExprKind::Broadcast(a) => Gen::splat(self.single(a)?, ty.lanes),
            ExprKind::Shuffle(vectors, picks) => {
                let all: Vec<V> = vectors
                    .iter()
                    .map(|v| self.eval(v))
                    .collect::<Emitted<Vec<Lanes>>>()?
                    .iter()
                    .flat_map(|v| v.iter().copied())
                    .collect();
                picks.iter().map(|&i| all[usize::from(i)]).collect()
            }
            ExprKind::Read { buf, .. } => {
                return Err(Stop::Malformed(format!("a multi-dimensional read of {buf:?} is left")));
            }
        })
    }

    /// `a` where the condition is true, else `b`.
    fn select(&mut self, elem: Elem, condition: V, a: V, b: V) -> V {
        let code = &mut self.code;
        let made = code.select(Reg::of_elem(elem), condition, a, b);
        if let Elem::Data(ty) = elem
            && ty.is_int()
        {
            let values = code.values(ty, a).hull(code.values(ty, b));
            code.note(ty, made, values);
        }
        made
    }
    /// An Index constant: those that do not fit are found before each dispatch, see [`super::range`].
    fn index_constant(&mut self, v: i64) -> V {
        self.code.i32(v as i32)
    }
    fn unary(&mut self, op: UnOp, a: &Expr) -> Emitted<Lanes> {
        let (ty, lanes) = (as_data(a.ty()), self.eval(a)?);
        let mut known = true;
        let made = self.code.each(&lanes, |c, v| {
            let made = match ty {
                _ if let Some(known) = c.as_scalar(ty, v) => Some(c.constant(value::unary(op, known))),
                ScalarType::Bool => c.bool_unary(op, v),
                _ if ty.is_float() => c.float_unary(op, ty, v),
                _ => c.int_unary(op, ty, v),
            };
            known &= made.is_some();
            made.unwrap_or(v)
        });
        if known { Ok(made) } else { Err(Stop::Malformed(format!("{op:?} of {}", a.ty()))) }
    }
    fn binary(&mut self, op: BinOp, a: &Expr, b: &Expr) -> Emitted<Lanes> {
        let (ty, right, x, y) = (as_data(a.ty()), as_data(b.ty()), self.eval(a)?, self.eval(b)?);
        let mut known = true;
        let made = self.code.pairs(&x, &y, |c, x, y| {
            let constants = c.as_scalar(ty, x).zip(c.as_scalar(right, y));
            let made = match op {
                _ if let Some((x, y)) = constants => Some(c.constant(value::binary(op, x, y))),
                BinOp::Shl | BinOp::Shr if ty.is_int() => Some(c.shift(op == BinOp::Shl, ty, x, y)),
                _ if ty == ScalarType::Bool => c.bool_binary(op, x, y),
                _ if ty.is_float() => c.float_binary(op, ty, x, y),
                _ => c.int_binary(op, ty, x, y),
            };
            known &= made.is_some();
            made.unwrap_or(x)
        });
        if known { Ok(made) } else { Err(Stop::Malformed(format!("{op:?} of {}", a.ty()))) }
    }
    /// A conversion, of which one side may be Index.
    fn cast(&mut self, a: &Expr, to: Elem) -> Emitted<Lanes> {
        let (from, lanes) = (as_data(a.ty()), self.eval(a)?);
        let to = as_data(Type { elem: to, lanes: 1 });
        Ok(self.code.each(&lanes, |c, v| match c.as_scalar(from, v) {
            Some(known) => c.constant(value::cast(to, known)),
            None => c.cast(from, to, v),
        }))
    }
    fn ramp(&mut self, base: &Expr, stride: &Expr, lanes: u16) -> Emitted<Lanes> {
        let (base, stride) = (self.single(base)?, self.single(stride)?);
        let step = self.code.divisor(stride);
        Ok((0..lanes)
            .map(|i| {
                let lane = self.code.i32(i.into());
                let distance = match (i, step) {
                    (0, _) => return base,
                    (_, Some(step)) => self.code.i32((step * i128::from(i)) as i32),
                    (1, None) => stride,
                    (_, None) => self.code.op(naga::BinaryOperator::Multiply, stride, lane),
                };
                self.code.op(naga::BinaryOperator::Add, base, distance)
            })
            .collect())
    }
}

impl Builder<'_> {
    /// `f` of each lane; once for lanes that are the first or the one before.
    pub(super) fn each(&mut self, lanes: &[V], mut f: impl FnMut(&mut Self, V) -> V) -> Lanes {
        self.pairs(lanes, lanes, |c, v, _| f(c, v))
    }
    /// `f` of each pair of lanes; once for pairs that are the first or the one before.
    pub(super) fn pairs(&mut self, a: &[V], b: &[V], mut f: impl FnMut(&mut Self, V, V) -> V) -> Lanes {
        let mut made: Vec<V> = Vec::with_capacity(a.len());
        for i in 0..a.len() {
            let same = |k: usize| k < i && (a[k], b[k]) == (a[i], b[i]);
            let v = match (same(0), same(i.wrapping_sub(1))) {
                (true, _) => made[0],
                (_, true) => made[i - 1],
                _ => f(self, a[i], b[i]),
            };
            made.push(v);
        }
        made.into()
    }
}

/// The data type that lanes compute as: an Index as an i32.
fn as_data(ty: Type) -> ScalarType {
    ty.scalar().unwrap_or(ScalarType::I32)
}
/// The data type of lanes that are no Index.
fn data(ty: Type) -> Emitted<ScalarType> {
    ty.scalar().ok_or_else(|| Stop::Malformed(format!("{ty} where data is due")))
}
