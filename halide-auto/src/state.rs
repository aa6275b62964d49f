//! A state of the search: where each Func is computed, and the loops of its definitions.

use crate::dag::{Dag, extent, pieces};
use halide_core::ids::{FuncId, IdVec};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The place of a Func.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Place {
    /// Substituted where it is used.
    Inline,
    /// Outside of all loops.
    Root,
    /// Inside of the outermost `depth` loops of a definition.
    At {
        host: (FuncId, usize),
        depth: usize,
        /// True if it is stored outside of the innermost one of these loops, each iteration of which computes what the
        /// ones before it did not.
        slides: bool,
    },
}

/// The loops of a definition.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Shape {
    /// The variable along which vectors lie, and their lanes.
    pub(crate) vector: Option<(usize, i64)>,
    /// All variables, that of the innermost loop first.
    pub(crate) order: Vec<usize>,
    /// Iterations of a tile, by variable; 0 if it is not tiled.
    pub(crate) tile: Vec<i64>,
    /// Iterations that are written out, by variable: vectors along the variable of vectors.
    pub(crate) regs: Vec<i64>,
    /// The variables, a bit each, whose number of values is a multiple of what is written out, at all sizes.
    pub(crate) fixed: u32,
    /// The loops, a bit each, the outermost one first, whose iterations threads may share.
    pub(crate) shared: u32,
}

/// A loop that is neither a vector nor written out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LoopSpec {
    pub(crate) var: usize,
    /// Values of the variable that an iteration covers.
    pub(crate) step: i64,
    pub(crate) trip: f64,
    pub(crate) is_tile: bool,
}

impl Shape {
    /// The values of a variable that its innermost serial loop steps over at once.
    pub(crate) fn block(&self, var: usize) -> i64 {
        let lanes = self.vector.filter(|(v, _)| *v == var).map_or(1, |(_, lanes)| lanes);
        lanes * self.regs[var]
    }

    /// The loops over a domain, outermost first.
    pub(crate) fn loops(&self, domain: &[(i64, i64)]) -> Vec<LoopSpec> {
        let mut loops = Vec::with_capacity(2 * self.order.len());
        let of = |var: usize| extent(domain[var]).max(1);
        for &var in self.order.iter().rev().filter(|var| self.tile[**var] > 0) {
            let step = self.tile[var].min(of(var));
            loops.push(LoopSpec { var, step, trip: pieces(of(var), step) as f64, is_tile: true });
        }
        for &var in self.order.iter().rev() {
            let within = if self.tile[var] > 0 { self.tile[var].min(of(var)) } else { of(var) };
            let step = self.block(var);
            loops.push(LoopSpec { var, step, trip: pieces(within, step) as f64, is_tile: false });
        }
        loops
    }

    /// The variables of the loops, outermost first.
    pub(crate) fn loop_vars(&self) -> Vec<usize> {
        let tiles = self.order.iter().rev().copied().filter(|var| self.tile[*var] > 0);
        tiles.chain(self.order.iter().rev().copied()).collect()
    }

    /// Returns true if threads may share a loop that has so many around it.
    pub(crate) fn shares(&self, around: usize) -> bool {
        around < 32 && self.shared >> around & 1 == 1
    }

    /// The number of loops.
    pub(crate) fn depth(&self) -> usize {
        self.order.len() + self.tile.iter().filter(|tile| **tile > 0).count()
    }
}

/// The choices about a Func.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Choice {
    pub(crate) place: Place,
    pub(crate) shapes: Vec<Shape>,
}

/// The choices about all Funcs. Those of different states are shared where they are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct State {
    pub(crate) choices: IdVec<FuncId, Rc<Choice>>,
}

impl State {
    /// The choice about a Func, to be changed.
    pub(crate) fn choice_mut(&mut self, func: FuncId) -> &mut Choice {
        Rc::make_mut(&mut self.choices[func])
    }

    pub(crate) fn place(&self, func: FuncId) -> Place {
        self.choices.get(func).map_or(Place::Root, |choice| choice.place)
    }

    pub(crate) fn shape(&self, (func, stage): (FuncId, usize)) -> Option<&Shape> {
        self.choices.get(func)?.shapes.get(stage)
    }

    pub(crate) fn is_inlined(&self, func: FuncId) -> bool {
        self.place(func) == Place::Inline
    }

    /// The Funcs that are substituted, in order.
    pub(crate) fn inlined(&self) -> impl Iterator<Item = FuncId> {
        self.choices.enumerate().filter(|(_, choice)| choice.place == Place::Inline).map(|(id, _)| id)
    }

    /// The Func outside of all loops in whose loops a Func is computed, or itself.
    pub(crate) fn root(&self, func: FuncId) -> FuncId {
        let mut at = func;
        while let Place::At { host, .. } = self.place(at) {
            at = host.0;
        }
        at
    }

    /// The definition in whose loops a Func is computed.
    pub(crate) fn host(&self, func: FuncId) -> Option<(FuncId, usize)> {
        match self.place(func) {
            Place::At { host, .. } => Some(host),
            Place::Inline | Place::Root => None,
        }
    }

    /// Returns true if a Func is computed in all loops of another one.
    pub(crate) fn is_innermost(&self, func: FuncId) -> bool {
        let Place::At { host, depth, .. } = self.place(func) else { return false };
        self.shape(host).is_some_and(|shape| shape.depth() == depth)
    }

    /// Returns true if `func` is computed inside of the outermost `depth` loops of a definition.
    pub(crate) fn is_inside(&self, func: FuncId, of: (FuncId, usize), depth: usize) -> bool {
        let mut at = func;
        while let Place::At { host, depth: own, .. } = self.place(at) {
            if host == of {
                return own >= depth;
            }
            at = host.0;
        }
        false
    }

    /// Returns true if any Func is computed in the loops of one.
    pub(crate) fn has_members(&self, func: FuncId) -> bool {
        self.choices.iter().any(|c| matches!(c.place, Place::At { host, .. } if host.0 == func))
    }

    /// The definitions that read a Func, where Funcs that are substituted stand for their own readers.
    pub(crate) fn readers(&self, dag: &Dag<'_>, func: FuncId) -> Vec<(FuncId, usize)> {
        let (mut found, mut todo, mut seen) = (Vec::new(), vec![func], BTreeSet::from([func]));
        while let Some(at) = todo.pop() {
            for &(reader, stage) in &dag.funcs[at].readers {
                if self.is_inlined(reader) {
                    if seen.insert(reader) {
                        todo.push(reader);
                    }
                } else if !found.contains(&(reader, stage)) {
                    found.push((reader, stage));
                }
            }
        }
        found.sort();
        found
    }

    /// The Funcs outside of all loops in whose groups a Func and all that reads it are.
    pub(crate) fn roots_near(&self, dag: &Dag<'_>, func: FuncId) -> BTreeSet<FuncId> {
        let readers = self.readers(dag, func).into_iter().map(|reader| self.root(reader.0));
        readers.chain([self.root(func)]).collect()
    }

    /// Returns true if everything that reads a Func is computed where a place is, or inside of that.
    pub(crate) fn encloses(&self, dag: &Dag<'_>, func: FuncId, host: (FuncId, usize), depth: usize) -> bool {
        let readers = self.readers(dag, func);
        !readers.is_empty() && readers.iter().all(|r| *r == host || self.is_inside(r.0, host, depth))
    }
}
