//! Counts of what rests on trust in lowering: buffers that are not shown to be written before they are read, parallel
//! loops whose iterations are not shown to leave each other alone, folds, and memory that is given back early.
//!
//! An analysis of programs of stage `Shaped`, for those who ask (`--explain`); nothing else reads it. It uses the
//! engine of `check_accesses`, which shares nothing with what it judges, and only simple arguments: *no* means that
//! none of them applied. *Yes* is held against the shadow checks of the evaluator, on programs that are right and on
//! broken ones (`checks/src/trust`).

mod apart;
mod written;

use crate::access::{Extents, LaneOf, Poly, Prover, Reader, Sums, conditions};
use crate::lower::checks::check_accesses::Found;
use halide_ir::{BufId, BufferRole, LoopId, Program, Stmt, visit};
use std::collections::BTreeMap;

/// The verdicts on one program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Allocations, each with true if every element that is read is shown to have been written.
    pub initialised: BTreeMap<BufId, bool>,
    /// Parallel loops of host code, each with true if no two iterations are shown to touch what one of them stores.
    pub independent: BTreeMap<LoopId, bool>,
    /// Allocations that are circular in some dimension.
    pub folds: usize,
}

/// Judges a program.
pub fn trust(program: &Program) -> Trust {
    let mut found = Found::default();
    found.collect(program, &program.body);
    let (defs, elements) = found.into_parts();
    let sums = Sums::default();
    let folded = |b: &&halide_ir::BufferInfo| b.role == BufferRole::Internal && b.fold.iter().any(Option::is_some);
    let folds = program.buffers.iter().filter(folded).count();
    let mut judge = Judge {
        program,
        reader: Reader::new(defs, elements, &sums),
        prover: Prover::default(),
        extents: Extents::default(),
        trust: Trust { folds, ..Trust::default() },
    };
    judge.stmt(&program.body, true);
    judge.trust
}

impl Trust {
    /// The verdicts as lines, each with true if something is proved.
    pub fn lines(&self, program: &Program, freed: usize) -> Vec<(bool, String)> {
        let mut lines = Vec::new();
        let buffers = self.initialised.iter().map(|(b, proved)| (program.buffers[*b].name.as_str(), *proved));
        lines.extend(counted(buffers.collect(), "buffers are written before they are read", "buffers"));
        let loops = self.independent.iter().map(|(l, proved)| (program.loops[*l].name.as_str(), *proved));
        lines.extend(counted(loops.collect(), "parallel loops have independent iterations", "parallel loops"));
        for (n, what) in [(self.folds, "folded buffers"), (freed, "buffers freed before the end of their scope")] {
            if n > 0 {
                lines.push((false, format!("{n} {what} rest on lowering")));
            }
        }
        lines
    }
}

/// The number of those that are proved, and the names of the others.
fn counted(all: Vec<(&str, bool)>, what: &str, which: &str) -> Vec<(bool, String)> {
    if all.is_empty() {
        return Vec::new();
    }
    let open: Vec<&str> = all.iter().filter(|(_, proved)| !proved).map(|(name, _)| *name).collect();
    let mut lines = vec![(true, format!("proved that {} of {} {what}", all.len() - open.len(), all.len()))];
    if !open.is_empty() {
        lines.push((false, format!("{which} that rest on lowering: {}", open.join(", "))));
    }
    lines
}

struct Judge<'p> {
    program: &'p Program,
    reader: Reader<'p>,
    prover: Prover<'p>,
    extents: Extents<'p>,
    trust: Trust,
}

impl<'p> Judge<'p> {
    /// Judges what is in `s`; `always` if it is reached in every run that comes to its end.
    fn stmt(&mut self, s: &'p Stmt, always: bool) {
        match s {
            Stmt::Alloc { buf, count, body, .. } => {
                self.extents.allocate(*buf, self.reader.defs.named(count));
                let proved = self.is_written_first(*buf, count, body);
                self.trust.initialised.entry(*buf).and_modify(|all| *all &= proved).or_insert(proved);
            }
            Stmt::For(l) if l.kind == halide_ir::ForKind::Parallel => {
                let proved = self.keeps_apart(l);
                self.trust.independent.entry(l.id).and_modify(|all| *all &= proved).or_insert(proved);
            }
            Stmt::Assert { cond, .. } if always => {
                let mut list = Vec::new();
                conditions(&mut self.reader, cond, true, &LaneOf::default(), &mut list);
                list.retain(|p| !self.reader.is_momentary(p));
                list.into_iter().for_each(|p| self.prover.assume(&self.reader, p));
            }
            _ => {}
        }
        let always = always && !matches!(s, Stmt::For(_) | Stmt::If { .. });
        visit::nested(s).for_each(|inner| visit::deep(|| self.stmt(inner, always)));
    }

    /// Returns true if `p` is certain to be at least 0.
    fn holds(&mut self, p: &Poly<'p>) -> bool {
        self.holds_where(p, &[])
    }

    /// Returns true if `p` is certain to be at least 0 where all of `guards` are.
    fn holds_where(&mut self, p: &Poly<'p>, guards: &[Poly<'p>]) -> bool {
        let p = self.reader.expanded(p);
        let facts = self.prover.len();
        !p.is_broken() && self.prover.holds(&mut self.reader, &p, guards, facts)
    }
}

#[cfg(test)]
mod tests;
