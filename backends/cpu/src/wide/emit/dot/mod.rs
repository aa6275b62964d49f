//! Dot products: sums of products of small integers, two or four products per lane in one instruction.
//!
//! A sum of 32-bit lanes is taken apart into its terms. Products of what fits into 16 bits are added in groups by the
//! rows of [`table`]: those of bytes in fours where the machine has `vpdpbusd`, others in pairs (`vpmaddwd`, or
//! `vpdpwssd`, which adds the sum as well). Operands of one instruction lie next to each other
//! ([`super::interleave`]), and often do so in memory already.
//!
//! `vpdpbusd` takes unsigned bytes by signed ones. Of two signed bytes one gets 128 more, which is taken back from the
//! sum; of two unsigned ones one gets 128 less.

mod sides;
mod small;
mod table;

use super::super::instruction_table::Op;
use super::super::interface::{Emitted, refuse};
use super::super::machine::Arg;
use super::kernel::Emit;
use super::value::Parts;
use crate::tuning::{DOT_LANES, DOT_SUMS};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_ir::hash::Set;
use halide_ir::{Expr, ExprKind, build};
use sides::{common, fits, has_bits, sides, types};
pub(super) use small::Small;
use small::{Product, is_word};
use table::{ROWS, Row, cheapest};

impl Emit<'_> {
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
        let (groups, alone) = self.groups(products);
        others.extend(alone.into_iter().map(|product| product.term));
        let mut sum = None;
        for other in &others {
            let term = self.lanes(other)?;
            sum = Some(match sum {
                Some(sum) => self.zip_op(Op::AddD, &sum, &term)?,
                None => term,
            });
        }
        for group in &groups {
            sum = self.add_products(sum, group)?;
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
    /// Products that instructions of the table add at once, and those that are left.
    fn groups(&self, mut products: Vec<Product>) -> (Vec<Vec<Product>>, Vec<Product>) {
        let mut groups = Vec::new();
        let mut sizes: Vec<(usize, u32)> = Vec::new();
        for row in ROWS.iter().filter(|row| row.is_there(self.vnni)) {
            if sizes.last() != Some(&(row.count, row.bits())) {
                sizes.push((row.count, row.bits()));
            }
        }
        for (count, bits) in sizes {
            let (of_size, mut rest): (Vec<_>, Vec<_>) = products.into_iter().partition(|p| has_bits(p, bits));
            let mut of_size = of_size.into_iter();
            loop {
                let group: Vec<Product> = of_size.by_ref().take(count).collect();
                let few = group.len() < count;
                if few || !fits(&group, bits) {
                    rest.extend(group);
                } else {
                    groups.push(group);
                }
                if few {
                    break;
                }
            }
            products = rest;
        }
        (groups, products)
    }

    /// `sum` with products that an instruction of the table adds at once.
    fn add_products(&mut self, sum: Option<Parts>, group: &[Product]) -> Emitted<Option<Parts>> {
        let Some(lanes) = group.first().map(|product| product.term.lanes()) else { return Ok(sum) };
        let [a, b] = sides(group);
        let bits = ROWS.iter().find(|row| row.count == group.len()).map_or(16, Row::bits);
        let (sides, kinds) = if bits == 8 { self.bytes([a, b]) } else { ([a, b], [I16, I16]) };
        let Some(row) = cheapest(group.len(), kinds, self.vnni, sum.is_some()) else {
            return refuse(format!("a sum of {} products of {} and {}", group.len(), kinds[0], kinds[1]));
        };
        let wide = |e: Expr, to: ScalarType| if to.bits() > 8 { build::cast_data(to, e) } else { e };
        let mut operands = [0, 1].map(|n| {
            let own = if bits == 8 { kinds[n] } else { common(&sides[n]).unwrap_or(I16) };
            wide(self.interleave_side(&sides[n], own, lanes), kinds[n])
        });
        // What one side got too much, times the other.
        let too_much = row.flipped.map(|side| {
            let (to, factor) = if kinds[side] == I8 { (U8, 128) } else { (I8, -128) };
            operands[side] = flipped(operands[side].clone(), to);
            self.times(&sides[1 - side], factor, lanes)
        });
        let (x, y) = (self.lanes(&operands[0])?, self.lanes(&operands[1])?);
        let made = match sum {
            Some(sum) if row.adds => self.accumulate(row.op, &sum, &x, &y)?,
            None if row.adds => {
                let zero = as_words(&self.splat_like(&as_words(&x), 0)?);
                self.accumulate(row.op, &zero, &x, &y)?
            }
            Some(sum) => {
                let products = self.zip_op(row.op, &x, &y)?;
                self.zip_op(Op::AddD, &sum, &as_words(&products))?
            }
            None => as_words(&self.zip_op(row.op, &x, &y)?),
        };
        Ok(Some(match too_much {
            None => made,
            Some(e) => {
                let less = self.lanes(&e)?;
                self.zip_op(Op::SubD, &made, &less)?
            }
        }))
    }
    /// Sides of bytes in the order in which the table has them, and their types.
    fn bytes(&mut self, [a, b]: [Vec<Small>; 2]) -> ([Vec<Small>; 2], [ScalarType; 2]) {
        let (a_ty, b_ty) = types(&a, &b);
        let unsigned = a_ty == U8 && b_ty == U8;
        if a_ty == I8 && b_ty == U8 || (a_ty == b_ty && self.should_swap_sides(&b, &a, unsigned)) {
            return ([b, a], [b_ty, a_ty]);
        }
        ([a, b], [a_ty, b_ty])
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

/// Bytes with their top bits flipped, as those of the other sign.
fn flipped(e: Expr, to: ScalarType) -> Expr {
    let lanes = e.lanes();
    let top = build::broadcast(build::constant(Scalar::from_bits(to, 0x80)), lanes);
    build::binary(BinOp::BitXor, build::reinterpret(to, e), top)
}
