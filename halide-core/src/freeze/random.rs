//! Random numbers: integers hashed from where they are asked for, so that every engine and schedule finds the same
//! ones.
//!
//! The bits of a call depend on its seed, on the Func and the place in it where the call stands, and on the coordinates
//! at which the definition is evaluated: the pure variables of its left side and all variables of its reduction domain.
//! They become plain arithmetic here; nothing behind the frozen pipeline knows of them.

use super::places::{LAST_SHIFT, ROUNDS};
use super::{DefinitionScope, Freezer};
use crate::arena::{self, Expr, Kind as Open, Ty};
use crate::func::Def;
use crate::ids::ExprId;
use crate::ops::BinOp;
use crate::pipeline::Kind;
use crate::types::ScalarType::{I32, U32};
use crate::value::Scalar;
use std::rc::Rc;

/// The variables that `def` runs over, if it uses random numbers: plain ones of its left side, and those of its domain.
pub(super) fn coordinates(def: &Def) -> Vec<Expr> {
    let (mut random, mut domains) = (false, Vec::new());
    let roots: Vec<Expr> = def.args.iter().copied().chain([def.value]).collect();
    arena::walk(&roots, |_, kind, more| match kind {
        Open::Random(_) => random = true,
        Open::RVar(body, _) if !domains.iter().any(|known| Rc::ptr_eq(known, body)) => {
            domains.push(body.clone());
            more.extend(body.predicate.get());
        }
        _ => {}
    });
    if !random {
        return Vec::new();
    }
    let plain = def.args.iter().copied().filter(|a| matches!(arena::node(*a).kind, Open::Var(_)));
    let reduced = domains.iter().flat_map(|body| {
        let dims = 0..body.dims.len() as u8;
        dims.map(move |d| arena::add(Open::RVar(body.clone(), d), Ty::One(I32), def.written.at))
    });
    plain.chain(reduced).collect()
}

impl Freezer {
    /// The `u32` of call `e`, whose seed is `seed`, at the coordinates of `scope`.
    pub(super) fn random_bits(
        &mut self,
        seed: ExprId,
        coordinates: &[ExprId],
        e: Expr,
        scope: &DefinitionScope<'_>,
    ) -> ExprId {
        let number = self.random.number(scope.body, e);
        let place = self.constant(Scalar::from(number));
        let mut hash = self.mixed_with(place, seed);
        for &c in coordinates {
            let bits = self.intern(Kind::Cast(c), U32);
            hash = self.mixed_with(hash, bits);
        }
        hash
    }

    /// Another number for each pair: [`mixed`] of `3 * hash ^ next`.
    fn mixed_with(&mut self, hash: ExprId, next: ExprId) -> ExprId {
        let three = self.constant(Scalar::from(3u32));
        let scaled = self.intern(Kind::Binary(BinOp::Mul, hash, three), U32);
        let mut bits = self.intern(Kind::Binary(BinOp::BitXor, scaled, next), U32);
        for (shift, by) in ROUNDS {
            let by = self.constant(Scalar::from(by));
            let folded = self.folded(bits, shift);
            bits = self.intern(Kind::Binary(BinOp::Mul, folded, by), U32);
        }
        self.folded(bits, LAST_SHIFT)
    }

    /// `bits ^ (bits >> shift)`.
    fn folded(&mut self, bits: ExprId, shift: i128) -> ExprId {
        let shift = self.constant(Scalar::int(I32, shift));
        let shifted = self.intern(Kind::Binary(BinOp::Shr, bits, shift), U32);
        self.intern(Kind::Binary(BinOp::BitXor, bits, shifted), U32)
    }
}
