//! Buffers that one nest of loops writes whole before anything reads them.
//!
//! A nest writes an interval of elements without a gap where each loop goes on where its body left off: the coefficient
//! of the variable is no larger than what one iteration writes. Loops side by side write intervals that join.

use super::Judge;
use crate::access::Poly;
use crate::tuning::MOST_WRITERS;
use halide_ir::{BufId, Expr, ExprKind, For, Stmt, Sym, build, visit};

/// Elements that are written: from `low` up to, and without, `high`. None if that is not above.
#[derive(Clone)]
struct Interval<'p> {
    low: Poly<'p>,
    high: Poly<'p>,
}

impl<'p> Judge<'p> {
    /// Returns true if all elements of an allocation of `count` are written in `body` before any is read.
    pub(super) fn is_written_first(&mut self, buf: BufId, count: &Expr, body: &'p Stmt) -> bool {
        // An allocation that may be empty is no larger then.
        let count = match count.kind() {
            ExprKind::Select(_, count, none) if build::as_int(none) == Some(0) => count,
            _ => count,
        };
        let count = self.reader.scalar(count);
        if !self.reader.is_plain(&count) {
            return false;
        }
        let mut written = Vec::new();
        self.fills(buf, &count, body, &mut written) == Some(true)
    }

    /// Goes through `s` in order, until the buffer is full. `None` if nothing happened to it so far that matters; else
    /// true if it is full, and false if it was read before.
    fn fills(&mut self, buf: BufId, count: &Poly<'p>, s: &'p Stmt, written: &mut Vec<Interval<'p>>) -> Option<bool> {
        match s {
            Stmt::Block(list) => list.iter().find_map(|s| self.fills(buf, count, s, written)),
            Stmt::Let { bindings, .. } if bindings.iter().any(|(_, e)| loads(e, buf)) => Some(false),
            Stmt::Alloc { count: other, .. } if loads(other, buf) => Some(false),
            Stmt::Let { body, .. } | Stmt::Produce { body, .. } | Stmt::Alloc { body, .. } => {
                visit::deep(|| self.fills(buf, count, body, written))
            }
            other if reads(other, buf) => Some(false),
            other => {
                written.extend(self.written(buf, other));
                *written = self.joined(std::mem::take(written));
                let full = |judge: &mut Self, i: &Interval<'p>| {
                    judge.holds(&i.low.scaled(-1)) && judge.holds(&i.high.minus(count))
                };
                written.clone().iter().any(|i| full(self, i)).then_some(true)
            }
        }
    }

    /// Returns the intervals of the buffer that `s` has written when it ends.
    fn written(&mut self, buf: BufId, s: &'p Stmt) -> Vec<Interval<'p>> {
        match s {
            Stmt::Block(list) => {
                let all = list.iter().flat_map(|s| self.written(buf, s)).collect();
                self.joined(all)
            }
            Stmt::Let { body, .. } | Stmt::Produce { body, .. } => visit::deep(|| self.written(buf, body)),
            Stmt::Alloc { buf: other, body, .. } if *other != buf => visit::deep(|| self.written(buf, body)),
            Stmt::Store { buf: to, index, mask: None, .. } if *to == buf => self.stored(index).into_iter().collect(),
            Stmt::For(l) if !l.kind.is_gpu() => {
                let all = visit::deep(|| self.written(buf, &l.body));
                let all = all.into_iter().filter_map(|i| self.over(l, i)).collect();
                self.joined(all)
            }
            _ => Vec::new(),
        }
    }

    /// The neighbouring elements of one store.
    fn stored(&mut self, index: &Expr) -> Option<Interval<'p>> {
        let (lane, p) = self.reader.lane(index);
        let low = match lane.1.as_atom() {
            None => p,
            Some(atom) => {
                let (factor, rest) = p.linear_in(atom)?;
                (factor.as_constant() == Some(1)).then_some(rest)?
            }
        };
        let high = low.offset(index.lanes().into());
        self.reader.is_plain(&low).then_some(Interval { low, high })
    }

    /// Returns the interval that all iterations of a loop write together, given the interval `of` that one iteration
    /// writes.
    fn over(&mut self, l: &For, of: Interval<'p>) -> Option<Interval<'p>> {
        let var = Sym::Loop(l.id);
        let level = self.reader.defs.level(var);
        let low = self.reader.seen_from(&of.low, level)?;
        let high = self.reader.seen_from(&of.high, level)?;
        let len = high.minus(&low);
        // A variable that is not met anywhere has no number yet.
        let atom = self.reader.scalar(&build::loop_var(l.id)).as_atom()?;
        let (step, rest) = low.linear_in(atom)?;
        if [&step, &rest, &len].into_iter().any(|p| self.reader.terms.level_of(p) >= level) {
            return None;
        }
        let (first, last) = self.reader.loop_of(atom)?;
        if !self.reader.is_plain(&first) || !self.reader.is_plain(&last) {
            return None;
        }
        let low = rest.add_scaled(&step.times(&first), 1);
        if len.minus(&step).as_constant() == Some(0) {
            // Also where the loop is empty.
            return Some(Interval { high: rest.add_scaled(&step.times(&last.offset(1)), 1), low });
        }
        let runs = self.holds(&last.minus(&first));
        let high = rest.add_scaled(&step.times(&last), 1).add_scaled(&len, 1);
        (runs && self.holds(&step) && self.holds(&len.minus(&step))).then_some(Interval { low, high })
    }

    /// The same elements as fewer intervals, where one goes on where another ends.
    fn joined(&mut self, mut all: Vec<Interval<'p>>) -> Vec<Interval<'p>> {
        all.truncate(MOST_WRITERS);
        loop {
            let pairs = (0..all.len()).flat_map(|a| (0..all.len()).map(move |b| (a, b))).filter(|(a, b)| a != b);
            let mut goes_on = |(a, b): &(usize, usize)| {
                let (a, b) = (all[*a].clone(), all[*b].clone());
                self.holds(&a.high.minus(&b.low)) && self.holds(&b.high.minus(&a.high))
            };
            let Some((a, b)) = pairs.collect::<Vec<_>>().into_iter().find(|pair| goes_on(pair)) else { return all };
            all[a].high = all[b].high;
            all.remove(b);
        }
    }
}

fn loads(e: &Expr, buf: BufId) -> bool {
    visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf: from, .. } if *from == buf))
}

/// Returns true if `s` may read the buffer.
fn reads(s: &Stmt, buf: BufId) -> bool {
    if matches!(s, Stmt::Dispatch { .. } | Stmt::Launch { .. } | Stmt::Reside { .. }) {
        return true;
    }
    let mut found = matches!(s, Stmt::Call { args, .. } if args.iter().any(|arg| arg.buf == buf));
    visit::for_each_expr(s, |e| found |= loads(e, buf));
    visit::nested(s).for_each(|inner| found |= found || visit::deep(|| reads(inner, buf)));
    found
}
