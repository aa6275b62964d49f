//! Patterns of the elements that threads touch: enough to see that one thread does what two phases do to one element.
//!
//! The index of an access is a sum of loop counters (of threads, and of loops around and inside of the phase), each
//! times a constant, and of a rest that is the same for the whole block. Where the constants are far enough apart, an
//! element tells the counters, as digits tell a number's places, and so the thread.

use crate::lower::vectors::lanes::{Shape, shape};
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{Expr, ExprKind, For, ForKind, Stmt, Sym, build};
use halide_solve::simplify::{Facts, Linear, simplify};

/// A counter in an index.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Digit {
    /// The dimension of the block, if it counts threads.
    thread: Option<usize>,
    /// The distance between the elements of two successive counts.
    step: i64,
    /// The number of counts, if that is a constant.
    count: Option<i64>,
}

/// The elements that the threads of a block touch.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    /// By falling step.
    digits: Vec<Digit>,
    rest: Linear,
    /// The number of elements side by side.
    width: i64,
}

/// The values of a kernel's names and loop variables, in terms of counters and of what is the same for a block.
pub(super) struct Counters {
    values: Map<Sym, Expr>,
    digits: Map<Sym, Digit>,
    /// Names of the kernel that have no such value.
    unknown: Set<Sym>,
}

impl Counters {
    /// The counters of a kernel's body.
    pub(super) fn of(body: &Stmt) -> Counters {
        let mut counters = Counters { values: Map::default(), digits: Map::default(), unknown: Set::default() };
        counters.collect(body);
        counters
    }

    fn collect(&mut self, s: &Stmt) {
        match s {
            Stmt::Let { bindings, .. } => {
                for (s, value) in bindings {
                    match self.known(value) {
                        Some(value) => _ = self.values.insert(*s, value),
                        None => _ = self.unknown.insert(*s),
                    }
                }
            }
            Stmt::For(l) => self.count(l),
            _ => {}
        }
        visit::for_each_stmt(s, |inner| self.collect(inner));
    }

    fn count(&mut self, l: &For) {
        let var = Sym::Loop(l.id);
        let Some(min) = self.known(&l.min) else {
            self.unknown.insert(var);
            return;
        };
        let thread = (l.kind == ForKind::GpuThreads).then(|| threads_below(&l.body));
        // No name of a program is that high; those of one dimension of the block mean the same in every phase.
        let number = thread.unwrap_or(3 + self.digits.len()) as u32;
        let counter = Sym::Temp(u32::MAX - number);
        self.digits.insert(counter, Digit { thread, step: 0, count: build::as_int(&l.extent) });
        self.values.insert(var, build::add(build::sym(counter), min));
    }

    /// `e` in terms of counters, if all of it is known.
    fn known(&self, e: &Expr) -> Option<Expr> {
        let known = !visit::any_node(e, |n| match n.kind() {
            ExprKind::Sym(s) => self.unknown.contains(s),
            ExprKind::Load { .. } => true,
            _ => false,
        });
        known.then(|| visit::substitute(e, &|s| self.values.get(&s).cloned()))
    }

    /// The elements at `index`, if a pattern says which, in a phase of at most this many threads per dimension.
    pub(super) fn pattern(&self, index: &Expr, phase: [u64; 3]) -> Option<Pattern> {
        let (first, width) = match shape(index) {
            Shape::Uniform(e) if index.lanes() == 1 => (e, 1),
            Shape::Ramp(base, stride) if build::as_int(&stride) == Some(1) => (base, i64::from(index.lanes())),
            _ => return None,
        };
        let sum = Linear::of(&simplify(&self.known(&first)?, &Facts::new()));
        let mut digits = Vec::new();
        let mut rest = sum.clone();
        for (atom, step) in &sum.terms {
            match atom.kind() {
                ExprKind::Sym(s) if self.digits.contains_key(s) => {
                    let Digit { thread, count, .. } = self.digits[s].clone();
                    let count = thread.and_then(|d| phase.get(d)).map_or(count, |n| i64::try_from(*n).ok());
                    digits.push(Digit { thread, step: *step, count });
                    rest = rest.without(atom);
                }
                _ if self.digits.keys().any(|s| visit::uses(atom, *s)) => return None,
                _ => {}
            }
        }
        digits.sort_by_key(|d| std::cmp::Reverse(d.step.unsigned_abs()));
        let every = (0..3).all(|d| phase[d] <= 1 || digits.iter().any(|digit| digit.thread == Some(d)));
        let pattern = Pattern { digits, rest, width };
        (every && pattern.tells_counters()).then_some(pattern)
    }
}

impl Pattern {
    /// Returns true if each element belongs to one combination of counts.
    fn tells_counters(&self) -> bool {
        let mut reach = i128::from(self.width) - 1;
        for (place, digit) in self.digits.iter().enumerate().rev() {
            let step = i128::from(digit.step.unsigned_abs());
            if step <= reach {
                return false;
            }
            match digit.count {
                Some(count) => reach += step * i128::from(count.max(1) - 1),
                None if place == 0 => {}
                None => return false,
            }
        }
        true
    }

    /// The pattern of both, if an element of both is touched by one thread only.
    pub(super) fn with(&self, other: &Pattern) -> Option<Pattern> {
        let alike = |(a, b): (&Digit, &Digit)| a.thread == b.thread && a.step == b.step;
        let most = |(a, b): (&Digit, &Digit)| Digit { count: a.count.zip(b.count).map(|(a, b)| a.max(b)), ..a.clone() };
        let pairs = || self.digits.iter().zip(&other.digits);
        let both = Pattern { digits: pairs().map(most).collect(), rest: self.rest.clone(), width: self.width };
        let same = self.digits.len() == other.digits.len()
            && pairs().all(alike)
            && self.rest == other.rest
            && self.width == other.width;
        (same && both.tells_counters()).then_some(both)
    }
}

/// Returns the most threads per dimension that run the phase `s` in a block of `threads`.
pub(super) fn threads_of(s: &Stmt, threads: [u64; 3]) -> [u64; 3] {
    let (mut all, mut at) = ([1; 3], s);
    while let Stmt::For(l) = at
        && l.kind == ForKind::GpuThreads
    {
        let dim = threads_below(&l.body);
        if let (Some(n), Some(most)) = (all.get_mut(dim), threads.get(dim)) {
            *n = build::as_int(&l.extent).and_then(|n| u64::try_from(n).ok()).unwrap_or(*most);
        }
        at = &l.body;
    }
    all
}

/// Returns the number of loops over threads, directly in each other, that `s` begins with.
fn threads_below(s: &Stmt) -> usize {
    match s {
        Stmt::For(l) if l.kind == ForKind::GpuThreads => 1 + threads_below(&l.body),
        _ => 0,
    }
}
