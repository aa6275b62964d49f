//! The loops of an update, and the conditions that two of its iterations touch one element.

use super::system::{Form, System, Unknown};
use crate::plan::affine::{Affine, Atom};
use crate::plan::types::{StageVar, Transform};
use crate::tuning::MOST_SYSTEMS;
use halide_core::error::Location;
use std::collections::BTreeMap;
use std::fmt;

/// The iterations of an update and their accesses to its own Func.
#[derive(Clone, Debug)]
pub(crate) struct Space {
    /// Its variables, in the order of `StageVar`s.
    pub(crate) variables: Vec<Atom>,
    /// Indices of the variables that the definition orders iterations by, outermost first.
    pub(crate) order: Vec<usize>,
    /// The first value of each, where it is linear.
    pub(crate) mins: Vec<Option<Affine>>,
    /// Sums that are at least 0 in every iteration that stores.
    pub(crate) conditions: Vec<Affine>,
    /// The store first, then the loads.
    pub(crate) accesses: Vec<Access>,
    /// The place of the definition.
    pub(crate) at: Location,
}

/// One element touched.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    /// The access as it is written.
    pub(crate) text: String,
    /// Linear coordinates; `None` for others.
    pub(crate) at: Vec<Option<Affine>>,
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
pub(crate) struct Nest<'s> {
    pub(crate) space: &'s Space,
    pub(crate) transforms: &'s [Transform],
    pub(crate) loops: Vec<StageVar>,
}

impl Nest<'_> {
    /// Two accesses that come the wrong way round, or may do; `Err` if the loops are beyond what can be told.
    pub(crate) fn out_of_order(&self) -> Result<Option<Conflict>, Beyond> {
        let times = self.times()?;
        let mut fuel = MOST_SYSTEMS;
        for (pair, conflict) in self.pairs()? {
            for before in self.in_order(&pair) {
                // The one that the definition puts later is earlier in some loop and equal in those around it.
                for place in 0..times.len() {
                    let mut system = before.clone();
                    times[..place].iter().try_for_each(|t| self.equal(&pair, &mut system, *t)).ok_or(Beyond)?;
                    self.below(&pair, &mut system, times[place], Side::Second).ok_or(Beyond)?;
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
    pub(crate) fn at_once(&self, at: usize) -> Result<Option<Conflict>, Beyond> {
        let (outside, here) = (self.components(&self.loops[..at])?, self.components(&self.loops[at..=at])?);
        for (pair, conflict) in self.pairs()? {
            for differs in 0..here.len() {
                for side in [Side::First, Side::Second] {
                    let mut system = pair.system.clone();
                    let equal = outside.iter().chain(&here[..differs]);
                    equal.into_iter().try_for_each(|t| self.equal(&pair, &mut system, *t)).ok_or(Beyond)?;
                    self.below(&pair, &mut system, here[differs], side).ok_or(Beyond)?;
                    if system.may_hold() {
                        return Ok(Some(conflict));
                    }
                }
            }
        }
        Ok(None)
    }

    /// Adds that a variable has the same value in both iterations. In the same balanced chunk, they are as far apart as
    /// their places in it.
    fn equal(&self, pair: &Pair, system: &mut System, var: StageVar) -> Option<()> {
        pair.equal(system, [var; 2])?;
        if let Some((whole, inner)) = self.balanced(var) {
            system.zero(pair.difference([whole; 2])?.plus(&pair.difference([inner; 2])?, -1)?);
        }
        Some(())
    }

    /// Adds that the iteration `side` has the smaller value of a variable. Of a balanced chunk that comes first, all
    /// points come first.
    fn below(&self, pair: &Pair, system: &mut System, var: StageVar, side: Side) -> Option<()> {
        pair.below(system, [var; 2], side)?;
        self.balanced(var).map_or(Some(()), |(whole, _)| self.below(pair, system, whole, side))
    }

    /// The variable of which `outer` counts balanced chunks, and the place in a chunk.
    fn balanced(&self, outer: StageVar) -> Option<(StageVar, StageVar)> {
        self.transforms.iter().find_map(|t| match t {
            Transform::Balance { var, outer: o, inner, .. } if *o == outer => Some((*var, *inner)),
            _ => None,
        })
    }

    pub(super) fn times(&self) -> Result<Vec<StageVar>, Beyond> {
        self.components(&self.loops)
    }

    /// The variable that splits made `var` of.
    pub(super) fn root(&self, mut var: StageVar) -> StageVar {
        let whole = |part: StageVar| {
            self.transforms.iter().find_map(|t| match t {
                Transform::Split { var, outer, inner, .. } | Transform::Balance { var, outer, inner, .. }
                    if *outer == part || *inner == part =>
                {
                    Some(*var)
                }
                _ => None,
            })
        };
        while let Some(of) = whole(var) {
            var = of;
        }
        var
    }

    /// The variables whose values, compared one after the other, are the order of these loops. A fused loop is its
    /// outer part, then its inner.
    pub(super) fn components(&self, loops: &[StageVar]) -> Result<Vec<StageVar>, Beyond> {
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
        let cuts = |t: &Transform| match t {
            Transform::Split { var, .. } | Transform::Balance { var, .. } => is_fused(var),
            Transform::Skew { var, along, .. } => is_fused(var) || is_fused(along),
            Transform::Fuse { .. } => false,
        };
        if self.transforms.iter().any(cuts) { Err(Beyond) } else { Ok(all) }
    }

    /// The inner parts of a loop that is fused, of whose parts that are fused as well, too.
    pub(super) fn inner_parts(&self, var: StageVar) -> Vec<StageVar> {
        let (mut all, mut todo) = (Vec::new(), vec![var]);
        while let Some(var) = todo.pop() {
            for t in self.transforms {
                if let Transform::Fuse { inner, outer, fused } = t
                    && *fused == var
                {
                    all.push(*inner);
                    todo.extend([*inner, *outer]);
                }
            }
        }
        all
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
            // Variables begin at the same values in all iterations.
            self.iteration(&mut pair, &mut system, side, Side::First)?;
        }
        for (a, b) in first.at.iter().zip(&second.at) {
            let (Some(a), Some(b)) = (a, b) else { continue };
            let (a, b) = (pair.form(self.space, a, Side::First)?, pair.form(self.space, b, Side::Second)?);
            system.zero(a.plus(&b, -1)?);
        }
        pair.system = system;
        self.number(&mut pair, Side::First)?;
        self.number(&mut pair, Side::Second)?;
        Some(pair)
    }

    /// Adds what holds of the variables of one iteration; first values of variables are those of side `mins`.
    pub(super) fn iteration(&self, pair: &mut Pair, system: &mut System, side: Side, mins: Side) -> Option<()> {
        for condition in &self.space.conditions {
            system.at_least_zero(pair.form(self.space, condition, side)?);
        }
        for t in self.transforms {
            let (var, outer, inner, factor) = match t {
                Transform::Split { var, outer, inner, factor, .. } => (var, outer, inner, factor),
                Transform::Skew { var, by, along, skewed } => {
                    let mut sum = self.counted(pair, *var, side, mins)?;
                    sum = sum.plus(&self.counted(pair, *along, side, mins)?, i128::from(*by))?;
                    if *by < 0 {
                        // It counts from the least sum, with the last value of `along`.
                        sum = sum.plus(&pair.unknown(Name::Min(*skewed, mins)), 1)?;
                    }
                    system.zero(sum.plus(&pair.var(*skewed, side), -1)?);
                    continue;
                }
                // How balanced chunks begin is not linear: `equal` and `below` say what follows of their order.
                Transform::Balance { var, outer, inner, .. } => {
                    pair.var(*var, side);
                    for part in [*outer, *inner] {
                        let part = pair.var(part, side);
                        system.at_least_zero(part);
                    }
                    continue;
                }
                Transform::Fuse { .. } => continue,
            };
            let factor = i128::from(halide_ir::build::as_int(factor)?);
            let whole = self.counted(pair, *var, side, mins)?;
            let (outer, inner) = (pair.var(*outer, side), pair.var(*inner, side));
            system.zero(whole.plus(&outer, -factor)?.plus(&inner, -1)?);
            system.at_least_zero(Form::constant(factor - 1).plus(&inner, -1)?);
            system.at_least_zero(inner);
            system.at_least_zero(outer);
        }
        Some(())
    }

    /// A variable, counted from its first value.
    fn counted(&self, pair: &mut Pair, var: StageVar, side: Side, mins: Side) -> Option<Form> {
        let value = pair.var(var, side);
        // A variable of the definition; others count from 0.
        if (var.0 as usize) >= self.space.mins.len() {
            return Some(value);
        }
        value.plus(&self.min(pair, var, side, mins)?, -1)
    }

    /// The first value of a variable of the definition.
    pub(super) fn min(&self, pair: &mut Pair, var: StageVar, side: Side, mins: Side) -> Option<Form> {
        match self.space.mins.get(var.0 as usize) {
            Some(Some(min)) => pair.form(self.space, min, side),
            _ => Some(pair.unknown(Name::Min(var, mins))),
        }
    }

    /// Numbers whatever a system is asked of later.
    pub(super) fn number(&self, pair: &mut Pair, side: Side) -> Option<()> {
        for var in self.times().ok()?.into_iter().chain((0..self.space.variables.len()).map(|v| StageVar(v as u32))) {
            pair.var(var, side);
        }
        Some(())
    }

    /// The pair's conditions with those that the first iteration comes first in the definition, one for each variable
    /// in which the two may differ first.
    fn in_order(&self, pair: &Pair) -> Vec<System> {
        let order: Vec<StageVar> = self.space.order.iter().map(|&v| StageVar(v as u32)).collect();
        let at = |place: usize| {
            let mut system = pair.system.clone();
            order[..place].iter().try_for_each(|v| pair.equal(&mut system, [*v; 2]))?;
            pair.below(&mut system, [order[place]; 2], Side::First)?;
            Some(system)
        };
        // What cannot be written down restricts nothing.
        (0..order.len()).map(|place| at(place).unwrap_or_else(|| pair.system.clone())).collect()
    }
}

/// The question is not one of linear conditions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Beyond;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Side {
    First,
    Second,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Name {
    Var(StageVar, Side),
    /// The first value of a variable.
    Min(StageVar, Side),
    Constant(Atom),
}

/// Two iterations.
#[derive(Default)]
pub(super) struct Pair {
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
    pub(super) fn form(&mut self, space: &Space, sum: &Affine, side: Side) -> Option<Form> {
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
    /// The value of the second variable in the second iteration less that of the first one in the first.
    fn difference(&self, [first, second]: [StageVar; 2]) -> Option<Form> {
        let of = |var, side| self.unknowns.get(&Name::Var(var, side)).map(|u| Form::of(*u));
        of(second, Side::Second)?.plus(&of(first, Side::First)?, -1)
    }
    pub(super) fn equal(&self, system: &mut System, vars: [StageVar; 2]) -> Option<()> {
        system.zero(self.difference(vars)?);
        Some(())
    }
    /// The iteration `side` has the smaller value.
    pub(super) fn below(&self, system: &mut System, vars: [StageVar; 2], side: Side) -> Option<()> {
        let factor = if side == Side::First { 1 } else { -1 };
        system.at_least_zero(Form::constant(-1).plus(&self.difference(vars)?, factor)?);
        Some(())
    }
}
