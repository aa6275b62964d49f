//! The elements of one Func that a definition reads, directly or by way of Funcs that are inlined.

use crate::plan::affine::{Affine, Atom, affine};
use crate::plan::dependence::Access;
use crate::plan::expressions::{expressions, reachable};
use crate::plan::graph::Stage;
use crate::tuning::MOST_READS_TOGETHER;
use halide_core::error::Location;
use halide_core::ids::{ExprId, FuncId};
use halide_core::pipeline::{Kind, PipelineData};
use halide_core::print;
use std::collections::{BTreeMap, BTreeSet};

/// An element that is read.
pub(super) struct Read {
    /// The element, in terms of the variables of the definition.
    pub(super) access: Access,
    /// The place of the definition that the read stands in.
    pub(super) at: Location,
}

/// Returns the elements of `producer` that `stage` reads; `None` if there are too many to be told apart.
pub(super) fn reads_of(
    pipeline: &PipelineData,
    producer: FuncId,
    (func, number): Stage,
    is_inlined: &dyn Fn(FuncId) -> bool,
) -> Option<Vec<Read>> {
    let stage = &pipeline.funcs[func].stages[number];
    let mut search = Search { pipeline, producer, is_inlined, seen: BTreeSet::new(), found: Vec::new() };
    search.of(&expressions(pipeline, stage), stage.at, None)?;
    Some(search.found)
}

struct Search<'s> {
    pipeline: &'s PipelineData,
    producer: FuncId,
    is_inlined: &'s dyn Fn(FuncId) -> bool,
    /// Funcs with the coordinates at which they are read.
    seen: BTreeSet<(FuncId, Coordinates)>,
    found: Vec<Read>,
}

/// Coordinates as they are compared, `None` where one is not affine.
type Coordinates = Vec<Option<(Vec<(Atom, i128)>, i128)>>;

impl Search<'_> {
    /// Finds reads in `from`, whose variables have the values `known`; their own ones, if it is `None`.
    fn of(&mut self, from: &[ExprId], at: Location, known: Option<&BTreeMap<Atom, Option<Affine>>>) -> Option<()> {
        let pipeline = self.pipeline;
        for e in reachable(pipeline, from) {
            let Kind::Call { func, args, .. } = &pipeline.exprs[e].kind else { continue };
            if *func != self.producer && !(self.is_inlined)(*func) {
                continue;
            }
            let form = |arg: &ExprId| {
                let form = affine(pipeline, *arg)?;
                known.map_or(Some(form.clone()), |known| form.with(known))
            };
            let forms: Vec<Option<Affine>> = args.iter().map(form).collect();
            let plain = |form: &Affine| (form.terms.iter().map(|(atom, c)| (*atom, *c)).collect(), form.offset);
            if !self.seen.insert((*func, forms.iter().map(|form| form.as_ref().map(plain)).collect())) {
                continue;
            }
            if self.seen.len() > MOST_READS_TOGETHER {
                return None;
            }
            let def = &pipeline.funcs[*func];
            if *func == self.producer {
                let texts: Vec<String> = args.iter().map(|&a| print::expr(pipeline, a)).collect();
                let text = format!("{}({})", def.name, texts.join(", "));
                self.found.push(Read { access: Access { text, at: forms }, at });
                continue;
            }
            let vars = def.args.iter().map(|v| Atom::Var(*v));
            let stage = &def.stages[0];
            self.of(&stage.values, stage.at, Some(&vars.zip(forms).collect()))?;
        }
        Some(())
    }
}
