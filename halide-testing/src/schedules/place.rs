//! Random places: where Funcs are computed, stored and allocated.

use super::aim::Aim;
use super::random::{Draw, loop_names};
use halide_core::ids::FuncId;
use halide_core::pipeline::Kind;
use halide_sched::plan::{Level, reachable};
use halide_sched::schedule::{Site, Subject, Verb};

impl Draw<'_> {
    /// Chooses where a Func is computed and stored.
    pub(super) fn place(&mut self, func: &str) {
        let subject = Subject::func(func);
        let choice = match self.options.aim {
            // Mostly in loops of another.
            Aim::Loops(_) | Aim::Folds(_) | Aim::Promises => self.one_of([0, 2, 4, 4, 4, 4, 4, 4, 4, 4]),
            // Mostly where others are.
            Aim::Groups => self.one_of([1, 2, 2, 2, 2, 4]),
            _ => self.below(8),
        };
        match choice {
            0 => return,
            1 => drop(self.say(&subject, Verb::ComputeInline)),
            2 | 3 => {
                // In place of the root, and often refused.
                if !(self.one_in(6) && self.say(&subject, Verb::Memoize)) {
                    self.say(&subject, Verb::ComputeRoot);
                }
            }
            _ => {
                let placed = (0..6).any(|_| match self.site(func) {
                    Some(site) => self.say(&subject, Verb::ComputeAt(site)),
                    None => false,
                });
                if !placed && !self.say(&subject, Verb::ComputeRoot) {
                    return;
                }
            }
        }
        let outside = if let Aim::Folds(_) = self.options.aim { !self.one_in(6) } else { self.one_in(2) };
        if outside {
            let verb = self.outer_site(func).map_or(Verb::StoreRoot, Verb::StoreAt);
            self.say(&subject, verb);
        }
        if self.one_in(5) {
            let verb = self.outer_site(func).map_or(Verb::HoistStorageRoot, Verb::HoistStorage);
            self.say(&subject, verb);
            self.ahead(&subject);
        } else if self.one_in(8) {
            self.ahead(&subject);
        }
    }

    /// Computes a Func before it is needed, in copies of its storage.
    fn ahead(&mut self, subject: &Subject) {
        if self.one_in(2) {
            let copies = self.one_of([2, 2, 3]);
            self.say(subject, Verb::RingBuffer(copies));
        }
        if self.one_in(2) {
            self.say(subject, Verb::Async);
        }
    }

    /// Any loop of a Func that has loops, more often than not of one that reads `func`.
    fn site(&mut self, func: &str) -> Option<Site> {
        let funcs = &self.plan.funcs;
        let mut hosts: Vec<FuncId> =
            self.plan.order().iter().copied().filter(|&f| funcs[f].compute != Level::Inline).collect();
        if !self.one_in(3) {
            let readers: Vec<FuncId> = hosts.iter().copied().filter(|&f| self.reads(f, func)).collect();
            if !readers.is_empty() {
                hosts = readers;
            }
        }
        let host = self.pick(&hosts)?;
        let stage = self.below(self.plan.funcs[host].stages.len());
        let names = loop_names(&self.plan.funcs[host].stages[stage]);
        // What slides is computed in inner loops more often.
        let inner = matches!(self.options.aim, Aim::Folds(_)) && self.one_in(3);
        let var = if inner { names.last().cloned()? } else { self.pick(&names)? };
        Some(Site { func: self.plan.pipeline.funcs[host].name.clone(), stage, var })
    }

    /// Returns whether a Func reads the one of that name in one of its definitions.
    pub(super) fn reads(&self, reader: FuncId, func: &str) -> bool {
        let pipeline = &self.plan.pipeline;
        let roots: Vec<_> = pipeline.funcs[reader].stages.iter().flat_map(|s| s.args.iter().chain(&s.values)).collect();
        let roots: Vec<_> = roots.into_iter().copied().collect();
        reachable(pipeline, &roots)
            .iter()
            .any(|e| matches!(&pipeline.exprs[*e].kind, Kind::Call { func: f, .. } if pipeline.funcs[*f].name == func))
    }

    /// A loop around the place where a Func is computed; `None` is the root.
    fn outer_site(&mut self, func: &str) -> Option<Site> {
        let mut level = self.plan.funcs[self.func(func)?].compute.clone();
        loop {
            let Level::At { func, stage, label } = level else { return None };
            if self.one_in(3) {
                let next = self.plan.funcs[func].compute.clone();
                level = next;
                continue;
            }
            let names = loop_names(&self.plan.funcs[func].stages[stage]);
            let inner = names.iter().position(|n| *n == self.plan.labels[label])?;
            let var = names[self.below(inner + 1)].clone();
            return Some(Site { func: self.plan.pipeline.funcs[func].name.clone(), stage, var });
        }
    }
}
