//! The places at which the values of a Func are kept and its memory is allocated.

use super::{Chooser, DraftLevel, Levels, with_loops};
use crate::plan::diagnostics::{Problem, Shared};
use crate::plan::draft::{FuncDraft, Request};
use crate::plan::stage::{LoopDraft, StageDraft};
use crate::schedule::LoopKind;
use halide_core::ids::FuncId;

impl Chooser<'_, '_, '_> {
    /// Storage and allocation of a Func that is computed at `compute`.
    pub(super) fn storage(&mut self, func: FuncId, compute: DraftLevel) -> Levels {
        let draft = self.drafts[func].clone();
        let store = self.around(func, &draft.store, "store", &compute, "compute");
        let store = store.unwrap_or_else(|| compute.clone());
        let hoist = self.around(func, &draft.hoist, "hoist_storage", &store, "store");
        let hoist = hoist.unwrap_or_else(|| store.clone());
        if let (true, Some((_, directive))) = (store != compute, &draft.store) {
            let shared = match (self.has_updates(func), draft.folded) {
                (true, _) => Some(Shared::Updates),
                (_, Some(_)) => Some(Shared::Fold),
                _ => None,
            };
            self.check_shared(func, &store, &compute, *directive, shared);
        }
        if let (true, Some((_, directive))) = (hoist != store, &draft.hoist) {
            self.check_shared(func, &hoist, &store, *directive, Some(Shared::Memory));
        }
        self.check_copies(&draft, func, [&compute, &store, &hoist]);
        Levels { compute, store, hoist }
    }

    /// Checks that copies of storage outlive it, and that what is computed ahead has storage to go to.
    fn check_copies(&mut self, draft: &FuncDraft, func: FuncId, [compute, store, hoist]: [&DraftLevel; 3]) {
        let name = || self.graph.data().funcs[func].name.clone();
        let mut found = None;
        match draft.ring {
            Some((_, directive)) if hoist == store => found = Some((directive, Problem::RingMemory { func: name() })),
            None if *compute != DraftLevel::Root && store == compute => {
                found = draft.ahead.map(|directive| (directive, Problem::AsyncStorage { func: name() }));
            }
            _ => {}
        }
        if let (None, Some(directive), DraftLevel::At { func: host, stage, label }) = (&found, draft.ahead, compute) {
            let is_at = |l: &LoopDraft, variant: &StageDraft| variant.name(l.var) == label;
            let at_once = |v: &StageDraft| v.loops.iter().any(|l| is_at(l, v) && l.kind != LoopKind::Serial);
            if with_loops(&self.drafts[*host].stages[*stage]).into_iter().any(at_once) {
                found = Some((directive, Problem::AsyncLoop { func: name(), var: label.clone() }));
            }
        }
        if let Some((directive, problem)) = found {
            self.errors.report(directive, problem);
        }
    }

    /// The level that a directive asks for, if it is `inner` or around it.
    fn around(
        &mut self,
        func: FuncId,
        asked: &Option<(Request, usize)>,
        what: &'static str,
        inner: &DraftLevel,
        inner_what: &'static str,
    ) -> Option<DraftLevel> {
        let (request, directive) = asked.as_ref()?;
        match self.check_site(func, request) {
            Err(problem) => {
                problem.into_iter().for_each(|p| self.errors.report(*directive, p));
                None
            }
            Ok(outer) if self.is_around(&outer, inner) => Some(outer),
            Ok(outer) => {
                let (outer, at) = (self.level_text(&outer), self.level_text(inner));
                self.errors.report(*directive, Problem::NotAround { what, outer, inner: inner_what, at });
                None
            }
        }
    }

    pub(super) fn level_text(&self, level: &DraftLevel) -> String {
        match level {
            DraftLevel::Inline => "each use".to_string(),
            DraftLevel::Root => "the root".to_string(),
            DraftLevel::At { func, stage, label: var } => format!("`{var}` of `{}`", self.stage_name((*func, *stage))),
        }
    }

    fn is_around(&self, outer: &DraftLevel, inner: &DraftLevel) -> bool {
        let DraftLevel::At { func: host, stage, label: var } = outer else { return *outer == DraftLevel::Root };
        let mut at = inner;
        while let DraftLevel::At { func, stage: s, label: v } = at {
            if (func, s) == (host, stage) {
                return self.encloses((*host, *stage), var, v);
            }
            let position = self.drafts[*host].stages[*stage].position(var);
            if position.is_some_and(|p| p < self.joined.shared((*func, *s), (*host, *stage))) {
                return true;
            }
            match self.compute_level(*func) {
                Some(next) => at = next,
                None => return false,
            }
        }
        false
    }

    /// The loops inside of `outer` that are around or at `inner`, innermost first.
    fn between(&self, outer: &DraftLevel, inner: &DraftLevel) -> Vec<(String, LoopDraft)> {
        let mut loops = Vec::new();
        let mut at = inner;
        while at != outer {
            let DraftLevel::At { func, stage, label: var } = at else { break };
            let end = match outer {
                DraftLevel::At { func: f, stage: s, label: v } if (f, s) == (func, stage) => Some(v.as_str()),
                // Loops that run as one have the same names.
                DraftLevel::At { func: f, stage: s, label: v } => {
                    let shared = self.joined.shared((*func, *stage), (*f, *s));
                    self.drafts[*f].stages[*s].position(v).filter(|p| *p < shared).map(|_| v.as_str())
                }
                _ => None,
            };
            for variant in with_loops(&self.drafts[*func].stages[*stage]) {
                let first = end.and_then(|v| variant.position(v)).map_or(0, |p| p + 1);
                let last = variant.position(var).map_or(0, |p| p + 1);
                let inside = variant.loops.get(first..last).unwrap_or_default().iter().rev();
                loops.extend(inside.map(|l| (variant.name(l.var).to_string(), *l)));
            }
            if end.is_some() {
                break;
            }
            match self.compute_level(*func) {
                Some(next) => at = next,
                None => break,
            }
        }
        loops
    }

    /// Reports a loop whose iterations run at the same time and would share what is outside of it.
    fn check_shared(
        &mut self,
        func: FuncId,
        outer: &DraftLevel,
        inner: &DraftLevel,
        directive: usize,
        what: Option<Shared>,
    ) {
        let Some(what) = what else { return };
        let at_once = |(_, l): &(String, LoopDraft)| l.kind.is_concurrent();
        if let Some((var, _)) = self.between(outer, inner).into_iter().find(at_once) {
            let func = self.name(func);
            self.errors.report(directive, Problem::SharedByIterations { func, var, what });
        }
    }
}
