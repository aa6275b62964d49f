//! The walk over the Funcs of a pipeline, from the loss back to the inputs: the gradients by their elements.

use super::activity::{Activity, Target};
use super::assemble::{Contribution, Gradient, assemble};
use super::builder::Builder;
use super::domain::{NoReduction, Range};
use super::error::{AdjointError, AdjointErrorKind};
use super::request::Request;
use crate::ids::{ExprId, FuncId};
use crate::location::Location;
use crate::pipeline::Kind;
use std::collections::{BTreeMap, BTreeSet};

/// The state of the walk.
pub(super) struct Walk {
    pub(super) b: Builder,
    pub(super) activity: Activity,
    pub(super) request: Request,
    /// The reads met so far whose gradients are not summed up yet.
    pub(super) contributions: BTreeMap<Target, Vec<Contribution>>,
    pub(super) errors: BTreeSet<AdjointError>,
}

impl Walk {
    pub(super) fn refuse(&mut self, at: Location, kind: AdjointErrorKind) {
        self.errors.insert(AdjointError { at, kind });
    }

    /// Makes the gradients by the elements of a Func, all of whose readers are done, and finds what its definitions
    /// read.
    pub(super) fn differentiate(&mut self, func: FuncId) {
        let def = self.b.data.funcs[func].clone();
        let elements = (0..def.types.len()).map(|e| Target::Func(func, e as u8));
        let is_loss = func == self.request.loss;
        let live = |t: &Target| self.activity.contains(*t) && (is_loss || self.contributions.contains_key(t));
        let live: Vec<Target> = elements.filter(live).collect();
        if live.is_empty() {
            return;
        }
        let mut region = self.region(func, &live);
        let mut gradients: BTreeMap<u8, Option<FuncId>> = BTreeMap::new();
        for &target in &live {
            let Target::Func(_, element) = target else { continue };
            let gradient = match is_loss {
                true => Some(None),
                false => self.gradient(target, def.at).map(Some),
            };
            let Some(gradient) = gradient else { return };
            gradients.insert(element, gradient);
        }
        let mut lost = Vec::new();
        for number in (0..def.stages.len()).rev() {
            // Nothing of earlier definitions is left where a later one stores everything anew.
            if lost.iter().any(Vec::is_empty) {
                break;
            }
            self.stage(func, number, &mut region, &gradients, &mut lost);
        }
    }

    /// The box of the points of a Func that the loss reads.
    fn region(&mut self, func: FuncId, live: &[Target]) -> Vec<Range> {
        let dims = self.b.data.funcs[func].dims();
        if let Some(given) = self.given(func) {
            return given.into_iter().map(|(first, last)| Range::new(first, last)).collect();
        }
        let mut region: Vec<Option<Range>> = vec![None; dims];
        for target in live {
            for contribution in self.contributions.get(target).into_iter().flatten() {
                for (range, &e) in region.iter_mut().zip(&contribution.coordinates) {
                    let more = contribution.domain.range(&mut self.b, e);
                    *range = Some(range.map_or(more, |known| known.union(more, &mut self.b)));
                }
            }
        }
        region.into_iter().map(|range| range.unwrap_or(Range::UNBOUNDED)).collect()
    }

    /// The first and last coordinates of the region that the caller gives for a Func.
    fn given(&mut self, func: FuncId) -> Option<Vec<(ExprId, ExprId)>> {
        let given = self.request.regions.get(&func)?.clone();
        let mut end = |e: i64| self.b.int(e);
        let ends = |(min, extent): (i32, i32)| {
            let (first, size) = (i64::from(min), i64::from(extent));
            (end(first), end(first + size - 1))
        };
        Some(given.into_iter().map(ends).collect())
    }

    /// Sums up the gradient by `target`; `None` if that is refused.
    fn gradient(&mut self, target: Target, at: Location) -> Option<FuncId> {
        let contributions = self.contributions.remove(&target).unwrap_or_default();
        let data = &self.b.data;
        let (read, args, ty) = match target {
            Target::Func(func, element) => {
                let def = &data.funcs[func];
                let several = def.types.len() > 1;
                let name = if several { format!("{}_{element}", def.name) } else { def.name.clone() };
                (name, def.args.clone(), def.types[usize::from(element)])
            }
            Target::Image(image) => {
                let def = data.images[image].clone();
                let names = ["x", "y", "z", "w", "v4", "v5", "v6", "v7"];
                let args = names.iter().take(def.dims).map(|name| self.b.var(name)).collect();
                (def.name, args, def.ty)
            }
            Target::Param(param) => (data.params[param].name.clone(), Vec::new(), data.params[param].ty),
        };
        let name = self.b.unused_name(&format!("d_{read}"));
        let given = match target {
            Target::Func(func, _) => self.given(func),
            _ => None,
        };
        match assemble(&mut self.b, Gradient { name, args, ty, at, given }, &contributions) {
            Ok(func) => Some(func),
            Err((number, why)) => {
                let Contribution { domain, func, at, .. } = &contributions[number];
                let func = self.b.data.funcs[*func].name.clone();
                let kind = match why {
                    NoReduction::TooMany(dims) => AdjointErrorKind::TooManyDims { func, read, dims },
                    NoReduction::Unbounded(v) => {
                        let var = match self.b.data.exprs[domain.vars[v].node].kind {
                            Kind::Var(var) => self.b.data.vars[var].clone(),
                            _ => domain.vars[v].name.clone(),
                        };
                        AdjointErrorKind::Unbounded { func, var, read }
                    }
                };
                self.refuse(*at, kind);
                None
            }
        }
    }

    /// The output for one input, whose readers are all done.
    pub(super) fn output(&mut self, input: Target, at: Location) -> Option<FuncId> {
        let data = &self.b.data;
        let at = match input {
            Target::Image(image) => data.images[image].at,
            Target::Param(param) => data.params[param].at,
            Target::Func(..) => at,
        };
        self.gradient(input, at)
    }
}
