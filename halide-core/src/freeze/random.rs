//! Random numbers: integers hashed from where they are asked for, so that every engine and schedule finds the same
//! ones.
//!
//! The bits of a call depend on its seed, on the Func and the place in it where the call stands, and on the coordinates
//! at which the definition is evaluated: the pure variables of its left side and all variables of its reduction domain.
//! They become plain arithmetic here; nothing behind the frozen pipeline knows of them.

use super::{DefinitionScope, Freezer, address};
use crate::arena::{self, Expr, Kind as Open, Ty};
use crate::func::{Def, FuncBody};
use crate::ids::ExprId;
use crate::ops::BinOp;
use crate::pipeline::Kind;
use crate::types::ScalarType::{I32, U32};
use crate::value::Scalar;
use std::collections::HashMap;
use std::rc::Rc;

/// The numbers by which calls are told apart.
#[derive(Default)]
pub(super) struct Places {
    /// The hash that the numbers of each Func are made from, and the number of its calls so far.
    funcs: HashMap<usize, (u32, u32)>,
    /// The number of Funcs of each name.
    names: HashMap<String, u32>,
    calls: HashMap<(usize, (u32, u32)), u32>,
}

impl Places {
    /// The number of call `e` in `func`: from the Func's name, and the order in which calls are met.
    fn number(&mut self, func: &Rc<FuncBody>, e: Expr) -> u32 {
        let key = (address(func), e.key());
        if let Some(&known) = self.calls.get(&key) {
            return known;
        }
        let names = &mut self.names;
        let (base, count) = self.funcs.entry(address(func)).or_insert_with(|| {
            let same = names.entry(func.name.clone()).or_insert(0);
            *same += 1;
            let hash = func.name.bytes().fold(*same, |hash, byte| mixed(hash ^ u32::from(byte)));
            (hash, 0)
        });
        *count += 1;
        let number = mixed(*base ^ *count);
        self.calls.insert(key, number);
        number
    }
}

/// Rounds of multiply and shift that spread every bit of a number over all. The multipliers are those that Wellons
/// ("hash-prospector", 2018) found to have the least bias.
const ROUNDS: [(i128, u32); 2] = [(16, 0x7feb_352d), (15, 0x846c_a68b)];
const LAST_SHIFT: i128 = 16;

fn mixed(bits: u32) -> u32 {
    let spread = ROUNDS.iter().fold(bits, |h, (shift, by)| (h ^ (h >> shift)).wrapping_mul(*by));
    spread ^ (spread >> LAST_SHIFT)
}

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
