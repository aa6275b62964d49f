//! Legality of `memoize`: the Func is computed by itself, before what reads it and in some runs not at all.

use super::drafter::Drafter;
use crate::plan::diagnostics::Problem;
use crate::schedule::{Verb, made_names};
use halide_core::ids::FuncId;
use halide_core::pipeline::NoteKind;

impl Drafter<'_, '_, '_> {
    /// Checks that the values of a Func may be kept between runs.
    pub(super) fn memoizable(&self, func: FuncId) -> Result<(), Problem> {
        let name = self.pipeline.funcs[func].name.clone();
        if self.pipeline.outputs.contains(&func) {
            return Err(Problem::MemoizeOutput { func: name });
        }
        if let Some(stage) = self.pipeline.externs.first() {
            return Err(Problem::MemoizeExtern { func: name, stage: stage.name.clone() });
        }
        let wraps = |verb: &Verb| matches!(verb, Verb::In { .. } | Verb::CloneIn { .. } | Verb::TupleStorage { .. });
        let rewrites = self.schedule.directives().iter().any(|directive| {
            made_names(directive).contains(&name) || (wraps(&directive.verb) && directive.subject.func == name)
        });
        if rewrites {
            return Err(Problem::MemoizeRewritten { func: name });
        }
        let cone = self.pipeline.part(Some(&[func]));
        match cone.notes.iter().find(|note| note.kind == NoteKind::Print) {
            Some(note) => Err(Problem::MemoizePrints { func: name, at: note.at }),
            None => Ok(()),
        }
    }
}
