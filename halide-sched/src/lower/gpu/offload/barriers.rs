//! Puts barriers between phases where one touches what another one writes.
//!
//! No barrier is needed where one thread alone does both (`patterns`).
//!
//! A barrier stands in front of the phase, or the condition or name of block code, that needs it: where something it
//! touches was written since the last barrier, or something it writes was touched. What a loop leaves behind meets its
//! own beginning, so that is asked again with what is left, until nothing new is.

use super::patterns::{Counters, Pattern, threads_of};
use crate::lower::walk;
use halide_ir::hash::Set;
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, Expr, ExprKind, ForKind, Shared, Stmt, build};
use std::collections::BTreeSet;

/// A use of memory that threads share.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Access {
    buf: BufId,
    place: Place,
    writes: bool,
    /// The elements, as a row of `Barriers::patterns`; `None` may be any.
    pattern: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A buffer from outside.
    Global,
    /// Words of the memory of a block, from the first up to the end.
    Words(u32, u32),
}

type Accesses = BTreeSet<Access>;

struct Barriers<'s> {
    shared: &'s [Shared],
    /// Buffers that lanes hold in registers: a shuffle waits for the lane that holds the element.
    held: &'s Set<BufId>,
    threads: [u64; 3],
    counters: Counters,
    patterns: Vec<Pattern>,
    /// The accesses since the last barrier.
    open: Accesses,
}

/// `body` with barriers; `shared` are the allocations of its block code, and blocks have this many threads.
/// What lanes hold in registers, `held`, needs none.
pub(super) fn insert(body: Stmt, shared: &[Shared], held: &Set<BufId>, threads: [u32; 3]) -> Stmt {
    let (counters, threads) = (Counters::of(&body), threads.map(u64::from));
    Barriers { shared, held, threads, counters, patterns: Vec::new(), open: Accesses::new() }.stmt(body)
}

impl Barriers<'_> {
    fn stmt(&mut self, s: Stmt) -> Stmt {
        deep(|| self.one(s))
    }

    fn one(&mut self, s: Stmt) -> Stmt {
        match s {
            Stmt::For(ref l) if l.kind == ForKind::GpuThreads => {
                let all = self.all(&s);
                self.meet(all, s)
            }
            Stmt::For(mut l) => {
                let own = self.own(&Stmt::For(l.clone()));
                let body = l.body.clone();
                let mut before = self.ready(&own);
                let entry = self.open.clone();
                let mut around = entry.clone();
                loop {
                    self.open = around.clone();
                    l.body = self.stmt(body.clone());
                    if self.open.is_subset(&around) {
                        break;
                    }
                    around.extend(self.open.iter().copied());
                }
                // It may run no iteration at all.
                self.open.extend(entry);
                before.push(Stmt::For(l));
                build::block(before)
            }
            Stmt::If { ref cond, .. } => {
                let _ = cond;
                let own = self.own(&s);
                let Stmt::If { cond, then, otherwise } = s else { unreachable!("it is a condition") };
                let mut before = self.ready(&own);
                let entry = self.open.clone();
                let then = self.stmt(*then);
                let after = std::mem::replace(&mut self.open, entry);
                let otherwise = self.stmt(*otherwise);
                self.open.extend(after);
                before.push(build::if_else(cond, then, otherwise));
                build::block(before)
            }
            Stmt::Let { .. } | Stmt::Alloc { .. } => {
                let own = self.own(&s);
                let mut before = self.ready(&own);
                before.push(visit::map_stmt(s, |e| e.clone(), |inner| self.stmt(inner)));
                build::block(before)
            }
            other => visit::map_stmt(other, |e| e.clone(), |inner| self.stmt(inner)),
        }
    }

    /// A barrier if `next` needs one, which then counts as done.
    fn ready(&mut self, next: &Accesses) -> Vec<Stmt> {
        let clash = next.iter().any(|a| self.open.iter().any(|b| self.clash(a, b)));
        if clash {
            self.open.clear();
        }
        self.open.extend(next.iter().copied());
        if clash { vec![Stmt::Barrier] } else { Vec::new() }
    }

    fn meet(&mut self, next: Accesses, s: Stmt) -> Stmt {
        let mut list = self.ready(&next);
        list.push(s);
        build::block(list)
    }

    /// Returns the accesses by the expressions of `s` itself.
    fn own(&mut self, s: &Stmt) -> Accesses {
        let mut found = Accesses::new();
        self.collect(s, self.threads, &BTreeSet::new(), &mut found);
        // All threads ask.
        found.into_iter().map(|a| Access { pattern: None, ..a }).collect()
    }

    /// Returns the accesses by `s` and all statements in it, without those of storage that each thread has for itself.
    fn all(&mut self, s: &Stmt) -> Accesses {
        let mut private = BTreeSet::new();
        walk::any_stmt(s, &mut |s| {
            if let Stmt::Alloc { buf, .. } = s {
                private.insert(*buf);
            }
            false
        });
        let phase = threads_of(s, self.threads);
        let mut found = Accesses::new();
        walk::any_stmt(s, &mut |s| {
            self.collect(s, phase, &private, &mut found);
            false
        });
        found
    }

    fn collect(&mut self, s: &Stmt, phase: [u64; 3], private: &BTreeSet<BufId>, found: &mut Accesses) {
        let mut add = |buf: BufId, index: &Expr, writes| {
            if !private.contains(&buf) && !self.held.contains(&buf) {
                let pattern = self.pattern(index, phase);
                found.insert(Access { buf, place: self.place(buf), writes, pattern });
            }
        };
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, index, .. } = n.kind() {
                    add(*buf, index, false);
                }
            });
        });
        if let Stmt::Store { buf, index, .. } = s {
            add(*buf, index, true);
        }
    }

    /// The row of the pattern of `index`; the same for the same elements.
    fn pattern(&mut self, index: &Expr, phase: [u64; 3]) -> Option<usize> {
        let pattern = self.counters.pattern(index, phase)?;
        for (row, known) in self.patterns.iter_mut().enumerate() {
            if let Some(both) = known.with(&pattern) {
                *known = both;
                return Some(row);
            }
        }
        self.patterns.push(pattern);
        Some(self.patterns.len() - 1)
    }

    fn place(&self, buf: BufId) -> Place {
        match self.shared.iter().find(|row| row.buf == buf) {
            Some(row) => Place::Words(row.first_word, row.first_word + row.words),
            None => Place::Global,
        }
    }

    /// Returns true if the order of two accesses matters and different threads may do them.
    fn clash(&self, a: &Access, b: &Access) -> bool {
        let meet = match (a.place, b.place) {
            (Place::Global, Place::Global) => a.buf == b.buf,
            (Place::Words(first, end), Place::Words(other, other_end)) => first < other_end && other < end,
            _ => false,
        };
        let one_thread = a.buf == b.buf && a.pattern.is_some() && a.pattern == b.pattern;
        meet && (a.writes || b.writes) && !one_thread
    }
}
