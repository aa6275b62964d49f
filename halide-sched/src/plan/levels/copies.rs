//! Funcs with updates that are left inline: computed in the innermost loop of each stage that uses them, by a copy for
//! each but the first.

use super::{Chooser, DraftLevel, Levels, with_loops};
use crate::plan::diagnostics::Problem;
use crate::plan::graph::{Callee, Detours, Stage};
use crate::tuning::MOST_LEVEL_COPIES;
use halide_core::ids::FuncId;
use std::collections::BTreeSet;

impl Chooser<'_, '_, '_> {
    /// Places a Func with updates that is left inline: in the innermost loop of its user. Where there are several, each
    /// one after the first gets a copy.
    pub(super) fn at_each_use(&mut self, func: FuncId) -> DraftLevel {
        let users: Vec<Stage> = self.users(func).into_iter().collect();
        for &user in users.iter().skip(1) {
            self.copies += 1;
            if self.copies > MOST_LEVEL_COPIES {
                let func = self.name(func);
                if !std::mem::replace(&mut self.overflowed, true) {
                    self.errors.report_missing(&func.clone(), Problem::TooManyCopies { func, most: MOST_LEVEL_COPIES });
                }
                break;
            }
            let level = self.innermost(user);
            self.copy_for(func, user, level);
        }
        users.first().map_or(DraftLevel::Root, |&user| self.innermost(user))
    }

    /// The innermost loop that all variants of a stage have; where there is none, where the stage itself is computed.
    fn innermost(&self, (func, stage): Stage) -> DraftLevel {
        let variants = with_loops(&self.drafts[func].stages[stage]);
        let Some((last, others)) = variants.split_last() else { return DraftLevel::Root };
        let mut names = last.loop_names();
        names.retain(|name| others.iter().all(|v| v.position(name).is_some()));
        match names.pop() {
            Some(var) => self.place((func, stage), var),
            None => self.compute_level(func).cloned().unwrap_or(DraftLevel::Root),
        }
    }

    /// Makes a copy of `func` that only `user` uses. Inlined Funcs between the two are copied with it.
    fn copy_for(&mut self, func: FuncId, user: Stage, level: DraftLevel) {
        let copy = self.copy(func, &Detours::new(), Levels::all(level));
        let mut to = Detours::from([(Callee::Func(func), copy.into())]);
        for between in self.inline_between(func, user) {
            let copy = self.copy(between, &to, Levels::all(DraftLevel::Inline));
            to.insert(Callee::Func(between), copy.into());
        }
        self.graph.redirect(user, &to);
    }

    fn copy(&mut self, func: FuncId, to: &Detours, levels: Levels) -> FuncId {
        let name = self.name(func);
        let copy = self.graph.add_copy(func, &name, to);
        self.drafts.push(self.drafts[func].clone());
        self.chosen.push(Some(levels));
        copy
    }

    /// The inlined Funcs through which `user` uses `func`, producers first.
    fn inline_between(&self, func: FuncId, user: Stage) -> Vec<FuncId> {
        let mut above = BTreeSet::new();
        let mut todo = vec![func];
        while let Some(f) = todo.pop() {
            for &(caller, _) in self.graph.callers(f) {
                if self.is_inline(caller) && above.insert(caller) {
                    todo.push(caller);
                }
            }
        }
        let mut below = BTreeSet::new();
        let mut found = vec![user.0];
        let calls = |f: FuncId, stage: Option<usize>, g: FuncId| {
            self.graph.callers(g).iter().any(|&(c, s)| c == f && stage.is_none_or(|stage| s == stage))
        };
        while let Some(f) = found.pop() {
            let stage = (f == user.0).then_some(user.1);
            let next: Vec<FuncId> =
                above.iter().copied().filter(|&g| !below.contains(&g) && calls(f, stage, g)).collect();
            below.extend(&next);
            found.extend(next);
        }
        self.graph.in_order(below)
    }
}
