//! Regions as `bound` and `align` of a schedule have them. Part of `infer_bounds`.

use crate::lower::nests::vars::{ceil_div, extent_between};
use crate::lower::regions::infer_bounds::Finder;
use crate::lower::regions::region_table::{Demand, Regions};
use crate::lower::regions::rules::given_region;
use crate::lower::regions::union::Region;
use halide_core::ids::FuncId;
use halide_ir::{Expr, Scope, build};
use halide_solve::simplify::{BoundQuery, simplify};

impl Finder<'_> {
    /// Applies `bound` and `align` constraints; outputs keep the region of their buffer and what is needed is checked.
    pub(crate) fn constrain(&mut self, func: FuncId, scope: Scope, mut region: Region) -> Region {
        let demand = |found: &mut Regions, dim, needed| found.demands.push(Demand { func, dim, needed, at: scope });
        if self.ctx.is_output(func) {
            let given = given_region(self.ctx, func);
            region.into_iter().enumerate().for_each(|(dim, needed)| demand(&mut self.found, dim, needed));
            return given;
        }
        // What is computed inside of a loop grows from where it begins there, so here the last of it counts. (A region
        // that is aligned at both ends grows to a grid, which is the same everywhere.)
        let grows_inside = self.is_computed_within(func, scope);
        for (dim, constraint) in self.ctx.plan.funcs[func].bounds.iter().enumerate() {
            let (mut min, mut max) = region[dim].clone();
            if let Some((modulus, remainder)) = constraint.align {
                let m = build::int(modulus);
                let below = build::rem(build::offset(min.clone(), -remainder), m.clone());
                min = build::sub(min, below);
                let extent = ceil_div(&extent_between(&min, &max), &m);
                max = build::offset(build::add(min.clone(), build::mul(extent, m)), -1);
            }
            if let Some(modulus) = constraint.align_extent {
                let m = build::int(modulus);
                let extent = build::mul(ceil_div(&extent_between(&min, &max), &m), m);
                max = match grows_inside {
                    true => build::offset(max, modulus - 1),
                    false => build::offset(build::add(min.clone(), extent), -1),
                };
            }
            if let Some(extent) = &constraint.extent {
                // Without a first coordinate, the promise is one of each computation.
                if constraint.min.is_some() || !grows_inside {
                    demand(&mut self.found, dim, (min.clone(), max.clone()));
                }
                max = match &constraint.min {
                    None if grows_inside => build::add(max, self.beyond(func, dim, extent)),
                    None => {
                        self.note_beyond(func, dim, extent, &extent_between(&min, &max));
                        build::offset(build::add(min.clone(), extent.clone()), -1)
                    }
                    Some(fixed) => build::offset(build::add(fixed.clone(), extent.clone()), -1),
                };
                min = constraint.min.clone().unwrap_or(min);
            }
            region[dim] = (simplify(&min, self.facts), simplify(&max, self.facts));
        }
        region
    }

    /// Remembers how far a computation of the promised extent reaches beyond the extent that is needed of it.
    fn note_beyond(&mut self, func: FuncId, dim: usize, promised: &Expr, needed: &Expr) {
        let most = build::offset(promised.clone(), -1);
        let known =
            BoundQuery::difference(promised, needed, self.facts).upper(i32::MAX.into()).map(|by| build::int(by.max(0)));
        let beyond = known.map_or(most.clone(), |by| build::min(by, most));
        let all = self.beyond.get(&(func, dim)).map_or(beyond.clone(), |other| build::max(other.clone(), beyond));
        self.beyond.insert((func, dim), simplify(&all, self.facts));
    }

    /// The distance that any computation inside of a scope reaches beyond what is needed there. Inner scopes were seen
    /// before.
    fn beyond(&self, func: FuncId, dim: usize, promised: &Expr) -> Expr {
        self.beyond.get(&(func, dim)).cloned().unwrap_or_else(|| build::offset(promised.clone(), -1))
    }
}
