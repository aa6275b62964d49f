//! The order of iterations of two definitions whose outer loops run as one, where one reads what the other stores.

use super::nest::{Access, Beyond, Nest, Pair, Side};
use super::system::{Form, System};
use crate::plan::types::{Property, StageVar};

/// A definition that stores and one that reads, whose loops run as one, the one that stores first in each iteration.
pub(crate) struct Together<'s> {
    /// The definition that stores, with its loops that run as one.
    pub(crate) stores: Nest<'s>,
    /// The definition that reads, with the same loops.
    pub(crate) reads: Nest<'s>,
    /// Returns true for a loop, by its number, whose iterations run at once.
    pub(crate) at_once: &'s dyn Fn(usize) -> bool,
}

impl Together<'_> {
    /// Returns the variables of both definitions that must be alike for their loops to go over the same coordinates
    /// together, where it is not known that they are: the first values of those of which shared loops are a part, and
    /// the numbers of values of the inner parts of fused ones.
    pub(crate) fn agreements(&self) -> Result<Vec<([StageVar; 2], Property)>, Beyond> {
        let mut found = Vec::new();
        for ([first, second], _) in self.times()? {
            let roots = [self.stores.root(first), self.reads.root(second)];
            let is_part = roots[0] != first && roots[1] != second;
            let known =
                |nest: &Nest<'_>, var: StageVar| nest.space.mins.get(var.0 as usize).is_some_and(Option::is_some);
            let are_known = known(&self.stores, roots[0]) && known(&self.reads, roots[1]);
            if is_part && !are_known && !found.contains(&(roots, Property::First)) {
                found.push((roots, Property::First));
            }
        }
        for (first, second) in self.stores.loops.iter().zip(&self.reads.loops) {
            let inner = [self.stores.inner_parts(*first), self.reads.inner_parts(*second)];
            if inner[0].len() != inner[1].len() {
                return Err(Beyond);
            }
            found.extend(inner[0].iter().zip(&inner[1]).map(|(a, b)| ([*a, *b], Property::Count)));
        }
        Ok(found)
    }

    /// Returns true if an iteration may read the element `read` before another one stores it, where it is the element
    /// `store` of that. Variables are alike as `agreements` say.
    pub(crate) fn too_early(
        &self,
        store: &Access,
        read: &Access,
        agreements: &[([StageVar; 2], Property)],
    ) -> Result<bool, Beyond> {
        let (mut pair, times) = (Pair::default(), self.times()?);
        let system = self.touching(&mut pair, store, read, agreements).ok_or(Beyond)?;
        for (place, (vars, at_once)) in times.iter().enumerate() {
            let earlier = [Side::Second, Side::First];
            for &side in if *at_once { &earlier[..] } else { &earlier[..1] } {
                let mut system = system.clone();
                times[..place].iter().try_for_each(|(vars, _)| pair.equal(&mut system, *vars)).ok_or(Beyond)?;
                pair.below(&mut system, *vars, side).ok_or(Beyond)?;
                if system.may_hold() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The conditions that the first iteration stores what the second one reads.
    fn touching(
        &self,
        pair: &mut Pair,
        store: &Access,
        read: &Access,
        agreements: &[([StageVar; 2], Property)],
    ) -> Option<System> {
        let mut system = System::default();
        let (stores, reads) = (&self.stores, &self.reads);
        stores.iteration(pair, &mut system, Side::First, Side::First)?;
        reads.iteration(pair, &mut system, Side::Second, Side::Second)?;
        for ([first, second], _) in agreements.iter().filter(|(_, on)| *on == Property::First) {
            let first = stores.min(pair, *first, Side::First, Side::First)?;
            let second = reads.min(pair, *second, Side::Second, Side::Second)?;
            system.zero(first.plus(&second, -1)?);
        }
        for (a, b) in store.at.iter().zip(&read.at) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let a: Form = pair.form(stores.space, a, Side::First)?;
            system.zero(a.plus(&pair.form(reads.space, b, Side::Second)?, -1)?);
        }
        stores.number(pair, Side::First)?;
        reads.number(pair, Side::Second)?;
        Some(system)
    }

    /// The variables whose values, compared one after the other, are the order of the loops: those of the first
    /// definition and of the second, and whether their iterations run at once.
    fn times(&self) -> Result<Vec<([StageVar; 2], bool)>, Beyond> {
        let mut times = Vec::new();
        for (number, (first, second)) in self.stores.loops.iter().zip(&self.reads.loops).enumerate() {
            let parts = [self.stores.components(&[*first])?, self.reads.components(&[*second])?];
            if parts[0].len() != parts[1].len() {
                return Err(Beyond);
            }
            times.extend(parts[0].iter().zip(&parts[1]).map(|(a, b)| ([*a, *b], (self.at_once)(number))));
        }
        Ok(times)
    }
}
