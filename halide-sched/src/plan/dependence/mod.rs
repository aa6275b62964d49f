//! The order of iterations that an update needs: two iterations, of which one stores to an element and the other stores
//! to or loads the same element, must come in the order of the definition.
//!
//! Unknown are the variables of two iterations, what splits make of them, and what is constant for the run. Ranges of
//! variables, predicates of the domain, coordinates and splits are linear conditions on these; what is not linear may
//! be anything. An order of loops is legal if no two iterations that the definition orders one way, and that touch one
//! element, come the other way: a few systems of conditions (`system`), each without a solution.

mod system;

use super::affine::{Affine, Atom};
use crate::plan::types::{StageVar, Transform};
use crate::tuning::MOST_SYSTEMS;
use halide_core::error::Location;
use std::collections::BTreeMap;
use std::fmt;
use system::{Form, System, Unknown};

/// The iterations of an update and their accesses to its own Func.
#[derive(Clone, Debug)]
pub(super) struct Space {
    /// Its variables, in the order of `StageVar`s.
    pub(super) variables: Vec<Atom>,
    /// Indices of the variables that the definition orders iterations by, outermost first.
    pub(super) order: Vec<usize>,
    /// The first value of each, where it is linear.
    pub(super) mins: Vec<Option<Affine>>,
    /// Sums that are at least 0 in every iteration that stores.
    pub(super) conditions: Vec<Affine>,
    /// The store first, then the loads.
    pub(super) accesses: Vec<Access>,
    /// The place of the definition.
    pub(super) at: Location,
}

/// One element touched.
#[derive(Clone, Debug)]
pub(super) struct Access {
    /// As it is written.
    pub(super) text: String,
    /// Linear coordinates; `None` for others.
    pub(super) at: Vec<Option<Affine>>,
}

/// Two accesses of one element by two iterations, of which one stores.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The store of one iteration, as it is written.
    pub store: String,
    /// The load of the other iteration; `None` if that stores.
    pub load: Option<String>,
    /// The place of the definition.
    pub at: Location,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Conflict { store, load, at } = self;
        match load {
            Some(load) => write!(f, "one stores to `{store}` and another one loads `{load}`, at {at}"),
            None => write!(f, "both store to `{store}`, at {at}"),
        }
    }
}

/// The loops of an update, outermost first.
pub(super) struct Nest<'s> {
    pub(super) space: &'s Space,
    pub(super) transforms: &'s [Transform],
    pub(super) loops: Vec<StageVar>,
}

impl Nest<'_> {
    /// Two accesses that come the wrong way round, or may do; `Err` if the loops are beyond what can be told.
    pub(super) fn out_of_order(&self) -> Result<Option<Conflict>, Beyond> {
        let times = self.times()?;
        let mut fuel = MOST_SYSTEMS;
        for (pair, conflict) in self.pairs()? {
            for before in self.in_order(&pair) {
                // The one that the definition puts later is earlier in some loop and equal in those around it.
                for place in 0..times.len() {
                    let mut system = before.clone();
                    times[..place].iter().try_for_each(|t| pair.equal(&mut system, *t)).ok_or(Beyond)?;
                    pair.below(&mut system, times[place], Side::Second).ok_or(Beyond)?;
                    fuel = fuel.checked_sub(1).ok_or(Beyond)?;
                    if system.may_hold() {
                        return Ok(Some(conflict));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Two accesses by iterations that differ in loop number `at` and agree on those outside of it.
    pub(super) fn at_once(&self, at: usize) -> Result<Option<Conflict>, Beyond> {
        let (outside, here) = (self.components(&self.loops[..at])?, self.components(&self.loops[at..=at])?);
        for (pair, conflict) in self.pairs()? {
            for differs in 0..here.len() {
                for side in [Side::First, Side::Second] {
                    let mut system = pair.system.clone();
                    let equal = outside.iter().chain(&here[..differs]);
                    equal.into_iter().try_for_each(|t| pair.equal(&mut system, *t)).ok_or(Beyond)?;
                    pair.below(&mut system, here[differs], side).ok_or(Beyond)?;
                    if system.may_hold() {
                        return Ok(Some(conflict));
                    }
                }
            }
        }
        Ok(None)
    }

    fn times(&self) -> Result<Vec<StageVar>, Beyond> {
        self.components(&self.loops)
    }

    /// The variables whose values, compared one after the other, are the order of these loops. A fused loop is its
    /// outer part, then its inner.
    fn components(&self, loops: &[StageVar]) -> Result<Vec<StageVar>, Beyond> {
        let mut all = Vec::new();
        let mut todo: Vec<StageVar> = loops.iter().rev().copied().collect();
        while let Some(var) = todo.pop() {
            let fusion = self.transforms.iter().find_map(|t| match t {
                Transform::Fuse { inner, outer, fused } if *fused == var => Some((*inner, *outer)),
                _ => None,
            });
            match fusion {
                Some((inner, outer)) => todo.extend([inner, outer]),
                None => all.push(var),
            }
        }
        let is_fused =
            |v: &StageVar| self.transforms.iter().any(|t| matches!(t, Transform::Fuse { fused, .. } if fused == v));
        let cut = self.transforms.iter().any(|t| matches!(t, Transform::Split { var, .. } if is_fused(var)));
        if cut { Err(Beyond) } else { Ok(all) }
    }

    /// The conditions that two iterations touch one element, for each two accesses.
    fn pairs(&self) -> Result<Vec<(Pair, Conflict)>, Beyond> {
        let (store, loads) = self.space.accesses.split_first().ok_or(Beyond)?;
        let with = |a: &Access, b: &Access, load: Option<&Access>| {
            let pair = self.pair(a, b).ok_or(Beyond)?;
            let load = load.map(|l| l.text.clone());
            Ok((pair, Conflict { store: store.text.clone(), load, at: self.space.at }))
        };
        let mut all = vec![with(store, store, None)?];
        for load in loads {
            all.push(with(store, load, Some(load))?);
            all.push(with(load, store, Some(load))?);
        }
        Ok(all)
    }

    fn pair(&self, first: &Access, second: &Access) -> Option<Pair> {
        let mut pair = Pair::default();
        let mut system = System::default();
        for side in [Side::First, Side::Second] {
            for condition in &self.space.conditions {
                system.at_least_zero(pair.form(self.space, condition, side)?);
            }
            for t in self.transforms {
                let Transform::Split { var, outer, inner, factor, .. } = t else { continue };
                let factor = i128::from(halide_ir::build::as_int(factor)?);
                let whole = pair.var(*var, side);
                let whole = match self.space.mins.get(var.0 as usize) {
                    // A variable of the definition; others count from 0.
                    Some(Some(min)) => whole.plus(&pair.form(self.space, min, side)?, -1)?,
                    Some(None) => whole.plus(&pair.unknown(Name::Min(*var)), -1)?,
                    None => whole,
                };
                let (outer, inner) = (pair.var(*outer, side), pair.var(*inner, side));
                system.zero(whole.plus(&outer, -factor)?.plus(&inner, -1)?);
                system.at_least_zero(Form::constant(factor - 1).plus(&inner, -1)?);
                system.at_least_zero(inner);
                system.at_least_zero(outer);
            }
        }
        for (a, b) in first.at.iter().zip(&second.at) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let (a, b) = (pair.form(self.space, a, Side::First)?, pair.form(self.space, b, Side::Second)?);
            system.zero(a.plus(&b, -1)?);
        }
        pair.system = system;
        // Whatever a system is asked of later has its number by now.
        for var in self.times().ok()?.into_iter().chain((0..self.space.variables.len()).map(|v| StageVar(v as u32))) {
            pair.var(var, Side::First);
            pair.var(var, Side::Second);
        }
        Some(pair)
    }

    /// The pair's conditions with those that the first iteration comes first in the definition, one for each variable
    /// in which the two may differ first.
    fn in_order(&self, pair: &Pair) -> Vec<System> {
        let order: Vec<StageVar> = self.space.order.iter().map(|&v| StageVar(v as u32)).collect();
        let at = |place: usize| {
            let mut system = pair.system.clone();
            order[..place].iter().try_for_each(|v| pair.equal(&mut system, *v))?;
            pair.below(&mut system, order[place], Side::First)?;
            Some(system)
        };
        // What cannot be written down restricts nothing.
        (0..order.len()).map(|place| at(place).unwrap_or_else(|| pair.system.clone())).collect()
    }
}

/// The question is not one of linear conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Beyond;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    First,
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Var(StageVar, Side),
    /// The first value of a variable.
    Min(StageVar),
    Constant(Atom),
}

/// Two iterations.
#[derive(Default)]
struct Pair {
    unknowns: BTreeMap<Name, Unknown>,
    system: System,
}

impl Pair {
    fn unknown(&mut self, name: Name) -> Form {
        let next = self.unknowns.len();
        Form::of(*self.unknowns.entry(name).or_insert(next))
    }
    fn var(&mut self, var: StageVar, side: Side) -> Form {
        self.unknown(Name::Var(var, side))
    }
    /// A sum of the definition, in one of the iterations.
    fn form(&mut self, space: &Space, sum: &Affine, side: Side) -> Option<Form> {
        let mut form = Form::constant(sum.offset);
        for (atom, c) in &sum.terms {
            let name = match space.variables.iter().position(|v| v == atom) {
                Some(v) => Name::Var(StageVar(v as u32), side),
                None => Name::Constant(*atom),
            };
            form = form.plus(&self.unknown(name), *c)?;
        }
        Some(form)
    }
    fn difference(&self, var: StageVar) -> Option<Form> {
        let of = |side| self.unknowns.get(&Name::Var(var, side)).map(|u| Form::of(*u));
        of(Side::Second)?.plus(&of(Side::First)?, -1)
    }
    fn equal(&self, system: &mut System, var: StageVar) -> Option<()> {
        system.zero(self.difference(var)?);
        Some(())
    }
    /// The iteration `side` has the smaller value.
    fn below(&self, system: &mut System, var: StageVar, side: Side) -> Option<()> {
        let factor = if side == Side::First { 1 } else { -1 };
        system.at_least_zero(Form::constant(-1).plus(&self.difference(var)?, factor)?);
        Some(())
    }
}
