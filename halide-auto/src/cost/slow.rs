//! Definitions of which the compiler made slow code when it was asked.

use super::{Pricer, SlowCode};
use crate::state::State;
use halide_core::ids::FuncId;
use std::collections::BTreeSet;

/// The variable along which vectors of a definition lie.
fn along(state: &State, of: (FuncId, usize)) -> Option<usize> {
    state.shape(of)?.vector.map(|(var, _)| var)
}

/// Returns true if a Func is computed in the innermost loop of a definition.
fn is_innermost(state: &State, func: FuncId, of: (FuncId, usize)) -> bool {
    state.shape(of).is_some_and(|shape| state.is_inside(func, of, shape.depth()))
}

impl Pricer<'_> {
    /// Notes that the compiler makes slow code of definitions, and of what is computed in their innermost loops, as
    /// long as vectors lie along the same variable, the same Funcs are substituted in them, beside those that are so
    /// in `first`, and the same ones are computed there.
    pub(crate) fn note_slow(&mut self, first: &State, state: &State, stages: Vec<(FuncId, usize)>) {
        for of in stages {
            let mut inlined = self.inlined_in(state, of);
            inlined.retain(|func| !first.is_inlined(*func));
            let members = state.choices.ids().filter(|func| is_innermost(state, *func, of)).collect();
            self.slow.push(SlowCode { of, along: along(state, of), inlined, members });
        }
        for memo in self.others.values_mut().chain([&mut self.memo]) {
            memo.groups.clear();
        }
    }

    /// Returns true if that was noted of a definition.
    pub(super) fn is_slow(&self, state: &State, of: (FuncId, usize)) -> bool {
        let concerns = |slow: &&SlowCode| slow.of == of || slow.members.contains(&of.0);
        self.slow.iter().filter(concerns).any(|slow| {
            slow.along == along(state, slow.of)
                && slow.members.iter().all(|func| is_innermost(state, *func, slow.of))
                && slow.inlined.is_subset(&self.inlined_in(state, slow.of))
        })
    }

    /// The Funcs that are substituted in a definition.
    fn inlined_in(&self, state: &State, of: (FuncId, usize)) -> BTreeSet<FuncId> {
        let calls = |of: (FuncId, usize)| self.dag.funcs[of.0].stages[of.1].calls.iter().map(|call| call.func);
        let (mut found, mut todo): (BTreeSet<FuncId>, Vec<FuncId>) = (BTreeSet::new(), calls(of).collect());
        while let Some(func) = todo.pop() {
            if state.is_inlined(func) && found.insert(func) {
                todo.extend(calls((func, 0)));
            }
        }
        found
    }
}
