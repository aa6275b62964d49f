//! Variables whose number of values does not depend on the size of outputs.

use super::Pricer;
use crate::dag::extent;
use crate::state::State;
use halide_core::ids::FuncId;

impl Pricer<'_> {
    /// Notes for a Func with updates which variables have a number of values that is a multiple of what is written out,
    /// whatever the size of outputs.
    pub(crate) fn note_fixed(&self, state: &mut State, func: FuncId) {
        if self.dag.funcs[func].stages.len() > 1 {
            let [region, larger] = [0, 1].map(|larger| self.region(state, func, larger));
            self.note_fixed_in(state, func, region.as_deref(), larger.as_deref());
        }
    }

    /// The same as [`Pricer::note_fixed`], where `other` is the region where outputs are larger.
    pub(crate) fn note_fixed_in(
        &self,
        state: &mut State,
        func: FuncId,
        region: Option<&[(i64, i64)]>,
        other: Option<&[(i64, i64)]>,
    ) {
        let (Some(region), Some(other)) = (region, other) else { return };
        for (stage, shape) in state.choice_mut(func).shapes.iter_mut().enumerate() {
            let vars = &self.dag.funcs[func].stages[stage].vars;
            let is_fixed = |n: usize| {
                let Some(d) = vars[n].dim else { return true };
                let extents = (region.get(d).map(|s| extent(*s)), other.get(d).map(|s| extent(*s)));
                extents.0 == extents.1 && extents.0.is_some_and(|e| e % shape.block(n) == 0)
            };
            shape.fixed = (0..vars.len().min(32)).filter(|n| is_fixed(*n)).fold(0, |all, n| all | 1 << n);
        }
    }
}
