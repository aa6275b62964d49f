//! Defs that call themselves, as loops that end.

use super::close::together;
use super::images::zero;
use super::stage::Role;
use super::state::{Depths, Leaf, Lower, Result, Sym};
use crate::fault::FaultKind;
use crate::span::Span;
use crate::tuning::MOST_ROUNDS;
use crate::walk::{Flow, Round};
use halide::prelude::{IntoExpr, RDom, select};
use halide_core::types::ScalarType::{self, Bool, I32};
use std::rc::Rc;

/// The arguments of a round: scalars that change, and what stays.
struct State {
    arguments: Vec<Sym>,
    /// The scalars of the arguments.
    leaves: Vec<Leaf>,
}

impl Lower {
    /// The value of a def at `arguments`, whose body is `round`.
    ///
    /// The scalars that rounds pass on, the result and the condition of another round are the values of a Func, and
    /// each element's rounds are the iterations of a loop that ends (`stop_early`) where that condition fails.
    pub(crate) fn rounds(&mut self, arguments: Vec<Sym>, round: Round<'_, Lower>, span: Span) -> Result<Sym> {
        let (next, like) = match round(self, arguments.clone())? {
            Flow::Done(done) => return Ok(done),
            Flow::Again(_) => return self.fault(span, FaultKind::Endless),
            Flow::Either { arguments: next, done, .. } => (next, done),
        };
        if self.operators > 0 {
            return self.unsupported(span, "a def that calls itself in the operator of a reduction");
        }
        let state = self.state(arguments, &next, span)?;
        let Some(results) = like.leaves() else {
            return self.unsupported(span, "a def that calls itself and returns sequences");
        };
        let passed = scalars(&next);
        let all = state.leaves.iter().chain(&passed).chain(&results);
        let mut depths = all.fold(Depths::NONE, |all, leaf| all.with(leaf.depths));
        for guard in &self.guards {
            depths = depths.with(guard.depths);
        }
        let types: Vec<ScalarType> =
            state.leaves.iter().chain(&results).map(|leaf| leaf.ty).chain([Bool, I32]).collect();
        let mut definition = self.declare("rounds", depths);
        let here = self.at_vars(&definition.dims);
        let mut first: Vec<Leaf> = state.leaves.clone();
        first.extend(results.iter().map(|leaf| Leaf::constant(zero(leaf.ty), leaf.ty, None)));
        // Where the value does not count, there may be no last round.
        let counts = self.guards.iter().fold(true.expr(), |all, guard| all & guard.expr);
        first.push(Leaf::computed(counts, Bool, &[]));
        // The number of rounds, by which the update is one over the domain.
        first.push(Leaf::constant(0.expr(), I32, None));
        definition.func.define(here.clone(), together(&first));
        let name = self.fresh_domain();
        let r = RDom::named(&name, [(0, MOST_ROUNDS)]);
        let before = self.values(&definition.func, &here, &types);
        r.where_(before[types.len() - 2].expr);
        self.operators += 1;
        let outcome = round(self, state.with(&before));
        self.operators -= 1;
        let Flow::Either { again: Sym::Scalar(again), arguments: next, done } = outcome? else {
            return self.confuse(span);
        };
        let Some(done) = done.leaves() else { return self.confuse(span) };
        let next = scalars(&next);
        let pairs = next.iter().zip(&before).map(|(new, old)| (new.expr, old.expr));
        let mut after: Vec<_> = pairs.map(|(new, old)| select(again.expr, new, old)).collect();
        let held = before[state.leaves.len()..].iter();
        after.extend(done.iter().zip(held).map(|(new, old)| select(again.expr, old.expr, new.expr)));
        after.extend([again.expr, r.x + 1]);
        definition.func.define(here, halide::prelude::tuple(after));
        self.stage(&definition, Role::Rounds, vec![vec![format!("{name}.x")]]);
        let stored = self.finish(definition, &types, depths);
        let goes_on = stored[types.len() - 2].expr;
        let ended = |leaf: Leaf| {
            let depths = leaf.depths;
            let message = format!("{span}: {}", FaultKind::Endless);
            Leaf { depths, ..self.required(!goes_on, leaf, message) }
        };
        let results =
            stored.iter().skip(state.leaves.len()).take(results.len()).cloned().map(ended).collect::<Vec<_>>();
        Ok(like.with_leaves(&mut results.into_iter()))
    }

    fn state(&self, arguments: Vec<Sym>, next: &[Sym], span: Span) -> Result<State> {
        let mut leaves = Vec::new();
        for (now, next) in arguments.iter().zip(next) {
            match (now, next) {
                (Sym::Seq(a), Sym::Seq(b)) if Rc::ptr_eq(a, b) => {}
                (now, _) => match now.leaves() {
                    Some(all) => leaves.extend(all),
                    None => return self.unsupported(span, "a def that calls itself with other sequences"),
                },
            }
        }
        Ok(State { arguments, leaves })
    }
}

impl State {
    /// The arguments with other scalars.
    fn with(&self, leaves: &[Leaf]) -> Vec<Sym> {
        let mut leaves = leaves.iter().cloned();
        self.arguments.iter().map(|argument| argument.with_leaves(&mut leaves)).collect()
    }
}

/// The scalars of those values that have no sequence.
fn scalars(values: &[Sym]) -> Vec<Leaf> {
    values.iter().filter_map(Sym::leaves).flatten().collect()
}
