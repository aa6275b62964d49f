//! Random reads: which source, and at which coordinates.

use super::value::constant;
use super::{Draw, Own, Scope};
use crate::expr::*;
use crate::types::ScalarType::{self, *};

/// Coordinates are doubled at most so often on the way from an output to an image.
const MOST_DOUBLINGS: usize = 2;

impl Draw {
    /// A read of something, in its own type.
    pub(super) fn read(&mut self, scope: &Scope<'_>) -> Expr {
        // Recent sources more often than old ones, so that chains get long.
        let (n, m) = (self.sources.len(), self.sources.len());
        let chosen = self.random.below(n).max(self.random.below(m));
        let (dims, doublings) = (self.sources[chosen].dims, self.sources[chosen].doublings);
        let single = dims == 1 && self.sources[chosen].func().is_some();
        let outer = std::mem::replace(&mut self.doubled, false);
        let mut coords = Vec::new();
        for d in 0..dims {
            coords.push(self.coordinate(scope, d, doublings < MOST_DOUBLINGS, single));
        }
        self.deepest = self.deepest.max(doublings + usize::from(self.doubled));
        self.doubled = outer;
        let element = self.random.below(self.sources[chosen].types.len());
        self.sources[chosen].read(&coords, element)
    }

    /// A read of the Func that is being updated, where it may be read; `scope` has one.
    pub(super) fn own_value(&mut self, ty: ScalarType, scope: &Scope<'_>) -> Expr {
        let Some(Own { func, types, fixed }) = &scope.own else { return constant(&mut self.random, ty) };
        let mut coords = Vec::new();
        for (d, fixed) in fixed.iter().enumerate() {
            coords.push(match fixed {
                Some(own) => *own,
                None => self.coordinate(scope, d, false, false),
            });
        }
        let element = self.random.below(types.len());
        cast_to(ty, func.read(&coords).at(element))
    }

    /// A coordinate for dimension `d`. `double`: the source may be read at every other point; `table`: it is a Func of
    /// one dimension, which data may index without a clamp.
    pub(super) fn coordinate(&mut self, scope: &Scope<'_>, d: usize, double: bool, table: bool) -> Expr {
        let Some(base) = self.variable(scope, d) else { return (self.random.between(-2, 4) as i32).expr() };
        let c = self.random.between(-2, 2) as i32;
        let moved = if c == 0 { base } else { base + c };
        match self.random.below(if self.options.exact { 16 } else { 26 }) {
            10 if double => {
                self.doubled = true;
                base * 2 + c
            }
            11 => moved / 2,
            12 => (self.random.between(-2, 4) as i32).expr(),
            13 if !scope.rvars.is_empty() => moved + self.random.pick(&scope.rvars),
            14 if !scope.rvars.is_empty() => base - self.random.pick(&scope.rvars),
            15 => 7 - base,
            16 | 17 => self.data_coordinate(scope, table),
            18 => clamp(moved, self.random.between(-3, 1) as i32, self.random.between(2, 6) as i32),
            19 => base % self.random.between(2, 5) as i32,
            20 => {
                let condition = self.condition(scope, 0);
                select(condition, base + 1, base - 1)
            }
            21 => min(base, 5) + max(base, c) - base,
            22 => base + self.offset,
            23 if scope.vars.len() > 1 => base + self.random.pick(&scope.vars) / 2,
            24 => (base + self.random.between(-1, 2) as i32) / 3 * 2,
            25 => likely(moved),
            _ => moved,
        }
    }

    /// A variable for dimension `d`, mostly the one of that dimension.
    fn variable(&mut self, scope: &Scope<'_>, d: usize) -> Option<Expr> {
        let all = if scope.vars.is_empty() { &scope.rvars } else { &scope.vars };
        match scope.vars.get(d) {
            Some(&own) if !self.random.one_in(5) => Some(own),
            _ if all.is_empty() => None,
            _ => Some(self.random.pick(all)),
        }
    }

    /// A coordinate that depends on data and is bounded.
    pub(super) fn data_coordinate(&mut self, scope: &Scope<'_>, table: bool) -> Expr {
        // Read the source in the scope of the values: no reads of a Func inside its own coordinates.
        let outside = Scope { vars: scope.vars.clone(), rvars: scope.rvars.clone(), own: None };
        if table && self.random.one_in(2) {
            return match self.random.below(3) {
                0 => cast_to(I32, self.value(U8, &outside, 0) / 16),
                1 => cast_to(I32, self.value(Bool, &outside, 1)),
                _ => cast_to(I32, self.value(I8, &outside, 0)) / 8,
            };
        }
        let low = self.random.between(-2, 1) as i32;
        let high = low + self.random.between(0, 7) as i32;
        let ty = self.random.pick(&[U8, I16, I32, U32, I64]);
        let data = self.value(ty, &outside, 1);
        if self.options.given && self.random.one_in(3) {
            return self.promised(data, low, high);
        }
        match self.random.below(3) {
            0 => cast_to(I32, data) % self.random.between(1, 6) as i32,
            1 => cast_to(I32, clamp(cast_to(I64, data), low, high)),
            _ => clamp(cast_to(I32, data), low, high),
        }
    }
}
