//! Random reads: which source, and at which coordinates.

use super::constant::constant;
use super::draw::{Draw, Own, Scope};
use super::structure::{Coordinate, Structure};
use halide_core::expr::*;
use halide_core::types::ScalarType::{self, *};

/// Coordinates are doubled at most so often on the way from an output to an image.
const MOST_DOUBLINGS: usize = 2;

/// The most reads that a definition becomes where all that it reads is inlined, for code of a size that can be run.
const MOST_WEIGHT: usize = 50;

impl Draw {
    /// A read of something, in its own type.
    pub(super) fn read(&mut self, scope: &Scope<'_>) -> Expr {
        // Recent sources more often than old ones, so that chains get long.
        let (n, m) = (self.readable(), self.readable());
        let chosen = self.random.below(n).max(self.random.below(m));
        let light = |source: usize| self.weight + self.sources[source].weight <= MOST_WEIGHT;
        match light(chosen) {
            true => self.read_of(chosen, scope),
            // Inputs came first.
            false => self.read_of(0, scope),
        }
    }

    /// A read of one of the sources, in its own type.
    pub(super) fn read_of(&mut self, chosen: usize, scope: &Scope<'_>) -> Expr {
        let (dims, doublings) = (self.sources[chosen].dims, self.sources[chosen].doublings);
        let single = dims == 1 && self.sources[chosen].func().is_some();
        let outer = std::mem::replace(&mut self.doubled, false);
        let mut coords = Vec::new();
        for d in 0..dims {
            coords.push(self.coordinate(scope, d, doublings < MOST_DOUBLINGS, single));
        }
        self.deepest = self.deepest.max(doublings + usize::from(self.doubled));
        self.doubled = outer;
        self.weight += self.sources[chosen].weight;
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
        let kind = self.coordinate_kind(scope, double);
        self.nested += 1;
        let coordinate = match kind.is_near() {
            true => self.near_coordinate(kind, base, scope, table),
            false => self.far_coordinate(kind, base, scope),
        };
        self.nested -= 1;
        coordinate
    }

    /// The kind of the next coordinate: the one that the pipeline is to have, mostly a variable moved otherwise.
    fn coordinate_kind(&mut self, scope: &Scope<'_>, double: bool) -> Coordinate {
        use Coordinate::*;
        let outermost = self.nested == 0;
        let wanted = match self.options.structure {
            Some(Structure::Coordinate(kind)) if outermost && self.random.one_in(2) => Some(kind),
            _ => None,
        };
        let drawn = match self.random.below(if self.options.exact { 16 } else { 30 }) {
            10 => Doubled,
            11 => Halved,
            12 => Constant,
            13 | 14 => OfDomain,
            15 => Mirrored,
            16 | 17 => Data,
            18 => Clamped,
            19 => Remainder,
            20 => Chosen,
            21 => Extremes,
            22 => Parameter,
            23 => Sum,
            24 => Steps,
            25 => Likely,
            26..=28 if outermost => self.random.pick(&Coordinate::FAR),
            _ => Moved,
        };
        match wanted.unwrap_or(drawn) {
            Doubled if !double => Moved,
            OfDomain if scope.rvars.is_empty() => Moved,
            Sum if scope.vars.len() < 2 => Moved,
            kind => kind,
        }
    }

    /// A coordinate that stays within a few points of a variable, or of the origin.
    fn near_coordinate(&mut self, kind: Coordinate, base: Expr, scope: &Scope<'_>, table: bool) -> Expr {
        let c = self.random.between(-2, 2) as i32;
        let moved = if c == 0 { base } else { base + c };
        match kind {
            Coordinate::Doubled => {
                self.doubled = true;
                base * 2 + c
            }
            Coordinate::Halved => moved / 2,
            Coordinate::Constant => (self.random.between(-2, 4) as i32).expr(),
            Coordinate::OfDomain if self.random.one_in(2) => moved + self.random.pick(&scope.rvars),
            Coordinate::OfDomain => base - self.random.pick(&scope.rvars),
            Coordinate::Mirrored => 7 - base,
            Coordinate::Data => self.data_coordinate(scope, table),
            Coordinate::Clamped => clamp(moved, self.random.between(-3, 1) as i32, self.random.between(2, 6) as i32),
            Coordinate::Remainder => base % self.random.between(2, 5) as i32,
            Coordinate::Chosen => {
                let condition = self.condition(scope, 0);
                select(condition, base + 1, base - 1)
            }
            Coordinate::Extremes => min(base, 5) + max(base, c) - base,
            Coordinate::Parameter => base + self.offset,
            Coordinate::Sum => base + self.random.pick(&scope.vars) / 2,
            Coordinate::Steps => (base + self.random.between(-1, 2) as i32) / 3 * 2,
            Coordinate::Likely => likely(moved),
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
