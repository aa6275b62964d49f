//! Dot products: sums of products of small integers, two or four products per lane in one instruction.
//!
//! A sum of 32-bit lanes is taken apart into its terms. Products of what fits into 16 bits are added in pairs
//! (`vpmaddwd`, or `vpdpwssd`, which adds the sum as well), products of bytes in fours where the machine has
//! `vpdpbusd`. All of these wrap around as the sum itself does; `vpmaddubsw`, which does not, is never used. Operands
//! of one instruction lie next to each other ([`super::interleave`]), and often do so in memory already.
//!
//! `vpdpbusd` takes unsigned bytes by signed ones. Of two signed bytes one gets 128 more, which is taken back from the
//! sum; of two unsigned ones one gets 128 less.

use super::super::instruction_table::Op;
use super::super::interface::Emitted;
use super::super::machine::Arg;
use super::kernel::Emit;
use super::value::Parts;
use crate::shared::range::int_range;
use crate::tuning::{DOT_LANES, DOT_SUMS};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::hash::Set;
use halide_ir::visit::for_each_node;
use halide_ir::{BufId, Expr, ExprKind, Intrinsic, Sym, build};

/// Lanes of up to 16 bits.
#[derive(Clone)]
pub(super) enum Small {
    /// The same in all lanes; it fits into i16.
    Constant(i64),
    /// Lanes of type I8, U8 or I16.
    Lanes(Expr),
}

/// A term of a sum.
struct Product {
    term: Expr,
    sides: [Small; 2],
}

impl Emit<'_> {
    /// Remembers what a name stands for, if a sum may want to know.
    pub(super) fn note_small(&mut self, symbol: Sym, value: &Expr) {
        let kind = matches!(
            value.kind(),
            ExprKind::Cast(_)
                | ExprKind::Binary(BinOp::Mul, ..)
                | ExprKind::Intrinsic(Intrinsic::WideningMul, _)
                | ExprKind::Broadcast(_)
                | ExprKind::Shuffle(..)
        );
        let loaded = |e: &Expr| matches!(e.kind(), ExprKind::Load { mask: None, .. }) && is_small(e);
        if kind && is_word(value) || loaded(value) {
            let mut reads = Vec::new();
            for_each_node(value, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    reads.push(*buf);
                }
            });
            self.small_names.insert(symbol, (value.clone(), reads));
        }
    }

    /// The sum `e`, if some of its terms are products of small integers.
    pub(super) fn dot(&mut self, e: &Expr) -> Emitted<Option<Parts>> {
        if !is_word(e) || e.lanes() < DOT_LANES {
            return Ok(None);
        }
        let (mut products, mut others) = (Vec::new(), Vec::new());
        for term in self.terms(e) {
            match self.product_of_its_own(e, &term) {
                Some(sides) => products.push(Product { term, sides }),
                None => others.push(term),
            }
        }
        if products.len() < 2 {
            return Ok(None);
        }
        let (fours, rest) = if self.vnni { fours(products) } else { (Vec::new(), products) };
        let mut pairs = Vec::new();
        let mut rest = rest.into_iter();
        while let Some(first) = rest.next() {
            match rest.next() {
                Some(second) => pairs.push([first, second]),
                None => others.push(first.term),
            }
        }
        let mut sum = None;
        for other in &others {
            let term = self.lanes(other)?;
            sum = Some(match sum {
                Some(sum) => self.zip_op(Op::AddD, &sum, &term)?,
                None => term,
            });
        }
        for four in &fours {
            sum = Some(self.add_four(sum, four)?);
        }
        for pair in &pairs {
            sum = Some(self.add_pair(sum, pair)?);
        }
        Ok(sum)
    }
    /// The terms of a sum that change as often as it does; what changes less often stays a term, and so do a sum that
    /// stands in it a second time and what a very long one begins with.
    fn terms(&mut self, e: &Expr) -> Vec<Expr> {
        let loops = |e: &mut Self, of: &Expr| {
            let home = e.home(of);
            e.levels[home].loops
        };
        let most = loops(self, e);
        let (mut terms, mut left) = (Vec::new(), vec![e.clone()]);
        let mut opened = Set::default();
        while let Some(next) = left.pop() {
            match next.kind() {
                ExprKind::Binary(BinOp::Add, a, b)
                    if opened.len() < DOT_SUMS
                        && (next == *e || (self.memo.get(&next).is_none() && loops(self, &next) == most))
                        && opened.insert(next.id()) =>
                {
                    left.push(b.clone());
                    left.push(a.clone());
                }
                _ => terms.push(next),
            }
        }
        terms
    }
    /// The operands of a product that is not computed anyway, or computed less often than the sum.
    fn product_of_its_own(&mut self, sum: &Expr, term: &Expr) -> Option<[Small; 2]> {
        let (home, whole) = (self.home(term), self.home(sum));
        let often = self.levels[home].loops == self.levels[whole].loops;
        (often && self.memo.get(term).is_none()).then(|| self.product(term)).flatten()
    }
    /// The operands of an expression of 32-bit lanes that is an exact product.
    fn product(&self, e: &Expr) -> Option<[Small; 2]> {
        match e.kind() {
            ExprKind::Binary(BinOp::Mul, a, b) => Some([self.small(a)?, self.small(b)?]),
            ExprKind::Intrinsic(Intrinsic::WideningMul, args) => {
                let [a, b] = &args[..] else { return None };
                Some([self.fitting(a)?, self.fitting(b)?])
            }
            // Bytes, whose product has room in 16 bits.
            ExprKind::Cast(inner) => match inner.kind() {
                ExprKind::Intrinsic(Intrinsic::WideningMul, args) if args.iter().all(is_byte) => {
                    let [a, b] = &args[..] else { return None };
                    Some([self.fitting(a)?, self.fitting(b)?])
                }
                _ => None,
            },
            ExprKind::Shuffle(vectors, picks) => {
                let [one] = &vectors[..] else { return None };
                let sides = match one.kind() {
                    ExprKind::Sym(s) => self.product(&self.small_names.get(s)?.0)?,
                    _ => self.product(one)?,
                };
                Some(sides.map(|side| match side {
                    Small::Lanes(e) => Small::Lanes(build::shuffle(vec![e], picks.to_vec())),
                    constant => constant,
                }))
            }
            _ => None,
        }
    }
    /// Returns the narrow lanes that an expression of 32-bit lanes was widened from.
    fn small(&self, e: &Expr) -> Option<Small> {
        match e.kind() {
            ExprKind::Const(v) => {
                let v = i64::try_from(v.as_i128()).ok()?;
                i16::try_from(v).is_ok().then_some(Small::Constant(v))
            }
            ExprKind::Broadcast(one) => Some(match self.small(one)? {
                Small::Lanes(one) => Small::Lanes(build::broadcast(one, e.lanes())),
                constant => constant,
            }),
            ExprKind::Cast(inner) => self.fitting(inner),
            ExprKind::Sym(s) => self.small(&self.small_names.get(s)?.0),
            ExprKind::Shuffle(vectors, picks) => {
                let [one] = &vectors[..] else { return None };
                Some(match self.small(one)? {
                    Small::Lanes(one) => Small::Lanes(build::shuffle(vec![one], picks.to_vec())),
                    constant => constant,
                })
            }
            _ => None,
        }
    }
    /// Integers that 16 bits hold, as the smallest type that they were made of.
    fn fitting(&self, e: &Expr) -> Option<Small> {
        let ty = e.ty().scalar().filter(|t| t.is_int() && *t != Bool && t.bits() <= 16)?;
        match e.kind() {
            ExprKind::Broadcast(one) if build::as_const(one).is_some() => return self.small(e),
            ExprKind::Cast(inner) if inner.ty().scalar().is_some_and(|from| from != ty && holds(ty, from)) => {
                return self.fitting(inner);
            }
            ExprKind::Broadcast(one) => {
                if let ExprKind::Cast(inner) = one.kind()
                    && inner.ty().scalar().is_some_and(|from| from != ty && holds(ty, from))
                {
                    return self.fitting(&build::broadcast(inner.clone(), e.lanes()));
                }
            }
            _ => {}
        }
        match ty {
            I8 | U8 | I16 => Some(Small::Lanes(e.clone())),
            _ => (int_range(e).high <= i128::from(i16::MAX)).then(|| Small::Lanes(build::cast_data(I16, e.clone()))),
        }
    }

    /// Two products of 16-bit lanes.
    fn add_pair(&mut self, sum: Option<Parts>, pair: &[Product; 2]) -> Emitted<Parts> {
        let lanes = pair[0].term.lanes();
        let sides = sides(pair).map(|side| {
            let ty = common(&side).unwrap_or(I16);
            build::cast_data(I16, self.interleave_side(&side, ty, lanes))
        });
        let (x, y) = (self.lanes(&sides[0])?, self.lanes(&sides[1])?);
        match sum {
            Some(sum) if self.vnni => self.accumulate(Op::AddDotW, &sum, &x, &y),
            Some(sum) => {
                let products = self.zip_op(Op::DotW, &x, &y)?;
                self.zip_op(Op::AddD, &sum, &as_words(&products))
            }
            None => Ok(as_words(&self.zip_op(Op::DotW, &x, &y)?)),
        }
    }
    /// Four products of bytes.
    fn add_four(&mut self, sum: Option<Parts>, four: &[Product; 4]) -> Emitted<Parts> {
        let lanes = four[0].term.lanes();
        let [mut a, mut b] = sides(four);
        let (mut a_ty, mut b_ty) = types(&a, &b);
        let unsigned = a_ty == U8 && b_ty == U8;
        if a_ty == I8 && b_ty == U8 || (a_ty == b_ty && self.should_swap_sides(&b, &a, unsigned)) {
            std::mem::swap(&mut a, &mut b);
            std::mem::swap(&mut a_ty, &mut b_ty);
        }
        let (x, y) = (self.interleave_side(&a, a_ty, lanes), self.interleave_side(&b, b_ty, lanes));
        let flipped = |e: Expr, to: ScalarType| {
            let lanes = e.lanes();
            let top = build::broadcast(build::constant(Scalar::from_bits(to, 0x80)), lanes);
            build::binary(BinOp::BitXor, build::reinterpret(to, e), top)
        };
        // What one side got too much, times the other.
        let (x, y, too_much) = match (a_ty, b_ty) {
            (U8, I8) => (x, y, None),
            (I8, _) => (flipped(x, U8), y, Some(self.times(&b, 128, lanes))),
            _ => (x, flipped(y, I8), Some(self.times(&a, -128, lanes))),
        };
        let (x, y) = (self.lanes(&x)?, self.lanes(&y)?);
        let sum = match sum {
            Some(sum) => sum,
            None => as_words(&self.splat_like(&as_words(&x), 0)?),
        };
        let made = self.accumulate(Op::AddDotB, &sum, &x, &y)?;
        match too_much {
            None => Ok(made),
            Some(e) => {
                let less = self.lanes(&e)?;
                self.zip_op(Op::SubD, &made, &less)
            }
        }
    }
    /// Returns true if the sides are to be swapped, so that bits are flipped on the side that changes in more loops:
    /// the correction for flipped bits depends on the other side alone, and is loop-invariant where that is.
    fn should_swap_sides(&mut self, flipped: &[Small], other: &[Small], unsigned: bool) -> bool {
        let mut often = |side: &[Small]| {
            let homes = side.iter().map(|s| match s {
                Small::Lanes(e) => self.home(e),
                Small::Constant(_) => 0,
            });
            homes.max().unwrap_or(0)
        };
        let (flipped, other) = (often(flipped), often(other));
        // The first side is flipped of signed bytes, the second one of unsigned ones.
        if unsigned { flipped < other } else { flipped > other }
    }
    /// The sum of small lanes times a constant.
    fn times(&self, side: &[Small], factor: i32, lanes: u16) -> Expr {
        let factor = build::broadcast(build::constant(Scalar::from(factor)), lanes);
        let wide = |s: &Small| match s {
            Small::Lanes(e) => build::cast_data(I32, e.clone()),
            Small::Constant(v) => build::broadcast(build::constant(Scalar::int(I32, i128::from(*v))), lanes),
        };
        let terms = side.iter().map(|s| build::mul(wide(s), factor.clone()));
        terms.reduce(build::add).unwrap_or(factor)
    }
    /// `sum` with what an instruction adds to it.
    fn accumulate(&mut self, op: Op, sum: &Parts, x: &Parts, y: &Parts) -> Emitted<Parts> {
        let view = sum.view;
        let mut regs = Vec::new();
        for i in 0..sum.regs.len() {
            let rest = [Arg::Use(x.regs[i], view), Arg::Use(y.regs[i], view)];
            regs.push(self.op_mod(op, view, sum.regs[i], &rest)?);
            self.last_folds(view.bytes());
        }
        Ok(Parts { regs: regs.into(), ..sum.clone() })
    }
}

/// Registers of 32-bit lanes.
fn as_words(parts: &Parts) -> Parts {
    parts.as_lane(crate::shared::lane::Lane::I32)
}

/// Returns true if an expression is of integers of 32 bits.
fn is_word(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I32 | U32))
}
/// Returns true if an expression is of integers of 8 or 16 bits.
fn is_small(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I8 | U8 | I16 | U16))
}
fn is_byte(e: &Expr) -> bool {
    matches!(e.ty().scalar(), Some(I8 | U8))
}
fn holds(to: ScalarType, from: ScalarType) -> bool {
    from.is_int() && from != Bool && from.int_min() >= to.int_min() && from.int_max() <= to.int_max()
}

/// The operands of products, side by side: of those that follow the first one, each is taken the way round that is like
/// it.
fn sides(products: &[Product]) -> [Vec<Small>; 2] {
    let mut made = [Vec::new(), Vec::new()];
    for p in products {
        let [mut a, mut b] = p.sides.clone();
        if let Some(first) = made[0].first()
            && !alike(first, &a)
            && alike(first, &b)
        {
            std::mem::swap(&mut a, &mut b);
        }
        made[0].push(a);
        made[1].push(b);
    }
    made
}

/// Returns true if operands are of one kind: of one type, and of the same buffer if they are loaded.
fn alike(a: &Small, b: &Small) -> bool {
    fn source(e: &Expr) -> Option<BufId> {
        match e.kind() {
            ExprKind::Load { buf, .. } => Some(*buf),
            ExprKind::Broadcast(one) => source(one),
            ExprKind::Shuffle(vectors, _) => source(vectors.first()?),
            _ => None,
        }
    }
    match (a, b) {
        (Small::Constant(_), Small::Constant(_)) => true,
        (Small::Lanes(a), Small::Lanes(b)) => {
            let spread = |e: &Expr| matches!(e.kind(), ExprKind::Broadcast(_));
            a.ty() == b.ty() && spread(a) == spread(b) && source(a) == source(b)
        }
        _ => false,
    }
}

/// The one type of all lanes that are no constants, which holds the constants.
fn common(side: &[Small]) -> Option<ScalarType> {
    let mut found = None;
    for s in side {
        if let Small::Lanes(e) = s {
            let ty = e.ty().scalar();
            if found.is_some() && found != ty {
                return None;
            }
            found = ty;
        }
    }
    found.filter(|ty| constants_fit(side, *ty))
}
fn constants_fit(side: &[Small], ty: ScalarType) -> bool {
    let fits = |v: i64| Scalar::int(ty, i128::from(v)).as_i128() == i128::from(v);
    side.iter().all(|s| if let Small::Constant(v) = s { fits(*v) } else { true })
}
/// The types of sides of bytes: constants are of the sign that the other side lacks, if they can be.
fn types(a: &[Small], b: &[Small]) -> (ScalarType, ScalarType) {
    let all_constant = |side: &[Small]| side.iter().all(|s| matches!(s, Small::Constant(_)));
    let other = |ty: ScalarType, side: &[Small]| {
        let (first, second) = if ty == U8 { (I8, U8) } else { (U8, I8) };
        if constants_fit(side, first) { first } else { second }
    };
    let of = |side: &[Small]| common(side).unwrap_or(I8);
    match (all_constant(a), all_constant(b)) {
        (true, false) => (other(of(b), a), of(b)),
        (false, true) => (of(a), other(of(a), b)),
        _ => (of(a), of(b)),
    }
}

/// Products of bytes in fours, and what is left.
fn fours(products: Vec<Product>) -> (Vec<[Product; 4]>, Vec<Product>) {
    let is_bytes = |p: &Product| {
        p.sides.iter().all(|s| match s {
            Small::Lanes(e) => is_byte(e),
            Small::Constant(v) => (-128..256).contains(v),
        })
    };
    let (bytes, mut rest): (Vec<Product>, Vec<Product>) = products.into_iter().partition(is_bytes);
    let mut made = Vec::new();
    let mut bytes = bytes.into_iter();
    loop {
        let next: Vec<Product> = bytes.by_ref().take(4).collect();
        match <[Product; 4]>::try_from(next) {
            Ok(four) if fits_bytes(&four) => made.push(four),
            Ok(four) => rest.extend(four),
            Err(few) => {
                rest.extend(few);
                return (made, rest);
            }
        }
    }
}
/// Returns true if each side of the products has one type of bytes.
fn fits_bytes(four: &[Product; 4]) -> bool {
    sides(four).iter().all(|side| match common(side) {
        Some(ty) => ty.bits() == 8,
        None => {
            let all_constant = side.iter().all(|s| matches!(s, Small::Constant(_)));
            all_constant && (constants_fit(side, I8) || constants_fit(side, U8))
        }
    })
}
