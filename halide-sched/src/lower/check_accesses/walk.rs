//! Looks at every access of a program, with all that stands around it.

use super::tally::{Tally, Verdict};
use super::{IndexQuestion, Place, Question};
use crate::access::{Access, Extents, Frame, FrameKind, Hoisted, LaneOf, Poly, Prover, Reader, condition, conditions};
use crate::ir::hash::{Map, Set};
use crate::ir::{BufId, Expr, ExprKind, KernelId, LoopId, Program, Stmt, Sym, Type, visit};
use halide_core::ops::BinOp;

/// The function number of the program's body, and of kernels.
const BODY: u32 = 0;
const KERNEL: u32 = 1;

/// The result of the walk: accesses by verdict, and the questions of each place.
pub(super) struct Outcome {
    pub(super) tally: Tally,
    pub(super) questions: Map<Place, Vec<Question>>,
}

/// The walk through a program.
pub(super) struct Walk<'p> {
    program: &'p Program,
    reader: Reader<'p>,
    extents: Extents,
    prover: Prover,
    /// True to check each access that is not proved where it stands.
    exact: bool,
    frames: Vec<Frame>,
    frames_made: u32,
    /// The number of facts that hold in all that follows.
    everywhere: usize,
    function: u32,
    next: u32,
    questions: Map<Place, Vec<Question>>,
    /// Inequalities that are asked at a place, with the least constant of those that differ in it only.
    asked: Map<(Place, Poly, Vec<Poly>), i128>,
    /// Loads that were looked at in each scope.
    seen: Vec<Set<usize>>,
    step: Option<Step>,
    tally: Tally,
}

/// The atomic step that is looked at: it holds names and stores only, so what is asked of it is asked before it.
struct Step {
    /// The number of frames around it.
    depth: usize,
    place: Place,
    stores: Vec<BufId>,
    /// The values of its names in terms of those outside.
    names: Map<Sym, Expr>,
}

fn stored(s: &Stmt) -> Vec<BufId> {
    let mut found = match s {
        Stmt::Store { buf, .. } => vec![*buf],
        _ => Vec::new(),
    };
    visit::nested(s).for_each(|inner| found.extend(stored(inner)));
    found
}

impl<'p> Walk<'p> {
    pub(super) fn new(program: &'p Program, reader: Reader<'p>, exact: bool) -> Walk<'p> {
        let root = Frame { kind: FrameKind::Root, id: 0, level: 0, place: (BODY, 0, 0) };
        Walk {
            program,
            reader,
            extents: Extents::default(),
            prover: Prover::default(),
            exact,
            frames: vec![root],
            frames_made: 1,
            everywhere: 0,
            function: BODY,
            next: 0,
            questions: Map::default(),
            asked: Map::default(),
            seen: vec![Set::default()],
            step: None,
            tally: Tally::default(),
        }
    }

    pub(super) fn run(mut self) -> Outcome {
        let body = &self.program.body;
        self.stmt(body);
        let mut asked: Vec<_> = std::mem::take(&mut self.asked).into_iter().collect();
        asked.sort_by_cached_key(|((place, p, _), _)| (*place, p.terms().to_vec()));
        for ((place, p, guards), constant) in asked {
            if let Some(cond) = condition(&self.reader.terms, &p.offset(constant), &guards) {
                self.questions.entry(place).or_default().push(Question::Inequality(cond));
            }
        }
        Outcome { tally: self.tally, questions: self.questions }
    }

    fn push(&mut self, kind: FrameKind, place: Place) {
        let level = match &kind {
            FrameKind::Let(s) | FrameKind::Loop(s) => self.reader.defs.level(*s),
            // Memory is asked no earlier than where it is read.
            _ => Reader::IN_MEMORY,
        };
        self.frames.push(Frame { kind, id: self.frames_made, level, place });
        self.frames_made += 1;
        self.seen.push(Set::default());
    }

    fn pop_to(&mut self, depth: usize) {
        self.frames.truncate(depth);
        self.seen.truncate(depth);
    }

    /// Walks `s` inside of a frame; what is assumed in it does not outlive it.
    fn inside(&mut self, kind: FrameKind, s: &'p Stmt) {
        let (known, depth) = (self.prover.len(), self.frames.len());
        if let FrameKind::If(list) = &kind {
            list.iter().for_each(|p| self.prover.assume(&self.reader, p.clone()));
        }
        self.push(kind, (self.function, self.next, 0));
        self.stmt(s);
        self.pop_to(depth);
        self.prover.forget(known);
    }

    fn stmt(&mut self, s: &'p Stmt) {
        let place = (self.function, self.next, 0);
        self.next += 1;
        visit::deep(|| match s {
            Stmt::Let { bindings, body } => self.names(bindings, body, place),
            Stmt::Block(list) => self.block(list),
            Stmt::Produce { body, .. } => self.stmt(body),
            Stmt::Atomic { body, .. } => {
                self.step = Some(Step { depth: self.frames.len(), place, stores: stored(body), names: Map::default() });
                self.stmt(body);
                self.step = None;
            }
            Stmt::For(l) => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                self.inside(FrameKind::Loop(Sym::Loop(l.id)), &l.body);
            }
            Stmt::If { cond, then, otherwise } => {
                self.expr(cond, place);
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let list = self.conditions(cond, holds);
                    self.inside(FrameKind::If(list), branch);
                }
            }
            Stmt::Assert { cond, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                let list = self.conditions(cond, true);
                list.into_iter().for_each(|p| self.prover.assume(&self.reader, p));
                if self
                    .frames
                    .iter()
                    .all(|f| matches!(f.kind, FrameKind::Root | FrameKind::Let(_) | FrameKind::Checked))
                {
                    self.everywhere = self.prover.len();
                }
            }
            Stmt::Store { buf, index, mask, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                self.access(*buf, index, mask.as_ref(), place);
            }
            Stmt::Dispatch { kernel, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                self.kernel(*kernel, place);
            }
            other => {
                visit::for_each_expr(other, |e| self.expr(e, place));
                if let Stmt::Alloc { buf, count, body, .. } = other {
                    self.extents.allocate(*buf, count);
                    self.stmt(body);
                }
            }
        });
    }

    fn conditions(&mut self, cond: &Expr, holds: bool) -> Vec<Poly> {
        let mut list = Vec::new();
        conditions(&mut self.reader, cond, holds, &LaneOf::default(), &mut list);
        list
    }

    fn names(&mut self, bindings: &'p [(Sym, Expr)], body: &'p Stmt, place: Place) {
        let depth = self.frames.len();
        for (i, (s, e)) in bindings.iter().enumerate() {
            if let Some(step) = &mut self.step {
                let value = visit::substitute(e, &|s| step.names.get(&s).cloned());
                step.names.insert(*s, value);
            }
            self.expr(e, (place.0, place.1, i as u32));
            self.push(FrameKind::Let(*s), (place.0, place.1, i as u32 + 1));
        }
        self.stmt(body);
        self.pop_to(depth);
    }

    /// Statements behind an assertion are reached only if it holds; outside of loops, nothing is asked before it.
    fn block(&mut self, list: &'p [Stmt]) {
        let depth = self.frames.len();
        for s in list {
            let known = self.prover.len();
            self.stmt(s);
            if self.prover.len() > known && !self.frames.iter().any(|f| matches!(f.kind, FrameKind::Loop(_))) {
                self.push(FrameKind::Checked, (self.function, self.next, 0));
            }
        }
        self.pop_to(depth);
    }

    fn kernel(&mut self, kernel: KernelId, place: Place) {
        let kernel = &self.program.kernels[kernel];
        let (depth, around) = (self.frames.len(), (self.function, self.next));
        self.push(FrameKind::Kernel, place);
        (self.function, self.next) = (KERNEL, 0);
        for id in &kernel.blocks {
            self.push(FrameKind::Loop(Sym::Loop(*id)), (KERNEL, 0, 0));
        }
        let known = self.prover.len();
        self.stmt(&kernel.body);
        self.prover.forget(known);
        self.pop_to(depth);
        (self.function, self.next) = around;
    }

    /// Looks at the loads in `e`.
    fn expr(&mut self, e: &Expr, place: Place) {
        let mut loads = Vec::new();
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Binary(BinOp::Div | BinOp::Mod, _, by) = n.kind()
                && by.ty() == Type::INDEX
                && !matches!(by.kind(), ExprKind::Int(_))
            {
                self.divisor(by);
            }
            if matches!(n.kind(), ExprKind::Load { .. }) && !self.seen.iter().any(|s| s.contains(&n.id())) {
                loads.push(n.clone());
            }
        });
        for n in loads {
            if let (ExprKind::Load { buf, index, mask }, Some(seen)) = (n.kind(), self.seen.last_mut()) {
                seen.insert(n.id());
                self.access(*buf, index, mask.as_ref(), place);
            }
        }
    }

    /// Notes a divisor that is at least 1 by what holds in the whole program.
    fn divisor(&mut self, by: &Expr) {
        let n = self.reader.scalar(by);
        if n.as_constant().is_some() || self.reader.divisors.contains(&n) || self.prover.len() != self.everywhere {
            return;
        }
        let expanded = self.reader.expanded(&n);
        if self.prover.holds(&mut self.reader, &expanded.offset(-1), &[]) {
            self.reader.divisors.insert(n);
        }
    }

    fn access(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>, place: Place) {
        let (lane, value) = self.reader.lane(index);
        let mut masks = Vec::new();
        if let Some(mask) = mask {
            conditions(&mut self.reader, mask, true, &lane, &mut masks);
        }
        let access = Access { buf, info: &self.program.buffers[buf], index: value };
        let verdict = match self.extents.inequalities(&mut self.reader, access) {
            Some(list) => self.inequalities(list, &lane, &masks),
            None => Verdict::Inner,
        };
        let verdict = match verdict {
            Verdict::Proved => Verdict::Proved,
            _ if self.function == KERNEL && (verdict == Verdict::Inner || self.exact) => Verdict::Trusted,
            _ if verdict == Verdict::Inner || self.exact => match self.ask_here(buf, index, mask, place) {
                true => verdict,
                false => Verdict::Trusted,
            },
            _ => verdict,
        };
        self.tally.count(buf, self.innermost(), verdict);
    }

    fn innermost(&self) -> Option<LoopId> {
        self.frames.iter().rev().find_map(|f| match f.kind {
            FrameKind::Loop(Sym::Loop(id)) => Some(id),
            _ => None,
        })
    }

    /// Proves inequalities, or asks each where it comes to; [`Verdict::Inner`] if one cannot be asked.
    fn inequalities(&mut self, list: Vec<Poly>, lane: &LaneOf, masks: &[Poly]) -> Verdict {
        let mut worst = Verdict::Proved;
        let mut open: Vec<Hoisted> = Vec::new();
        for p in list {
            let p = self.reader.expanded(&p);
            let parts = self.reader.hoist(p.clone(), lane, masks, &self.frames);
            let mut left = Vec::new();
            for h in parts {
                if !self.prover.holds(&mut self.reader, &h.p, &h.guards) {
                    left.push(h);
                }
            }
            // What asks for too much outside may be known inside.
            if !left.is_empty() && !self.prover.holds(&mut self.reader, &p, masks) {
                open.extend(left);
            }
        }
        for h in &open {
            worst = worst.max(self.where_asked(h));
        }
        if worst < Verdict::Inner && !self.exact {
            for Hoisted { p, guards, frame, .. } in open {
                let constant = p.constant_term();
                let key = (self.frames[frame].place, p.without_constant(), guards);
                let least = self.asked.entry(key).or_insert(constant);
                *least = (*least).min(constant);
            }
        }
        worst
    }

    /// The cost of asking `0 <= p` where it came to.
    fn where_asked(&self, h: &Hoisted) -> Verdict {
        let terms = &self.reader.terms;
        let in_memory = |p: &Poly| terms.level_of(p) >= Reader::IN_MEMORY;
        let askable =
            !in_memory(&h.p) && !h.guards.iter().any(in_memory) && condition(terms, &h.p, &h.guards).is_some();
        let is_loop = |f: &Frame| matches!(f.kind, FrameKind::Loop(_));
        let in_kernel = self.frames[..=h.frame].iter().any(|f| matches!(f.kind, FrameKind::Kernel));
        let outside = self.frames[h.frame + 1..].iter().any(is_loop);
        let in_step = self.step.as_ref().is_some_and(|step| h.frame >= step.depth);
        match self.frames[..=h.frame].iter().any(is_loop) {
            _ if !askable || in_kernel || in_step => Verdict::Inner,
            false => Verdict::Before,
            true if outside => Verdict::Outer,
            true => Verdict::Inner,
        }
    }

    /// Asks directly before the statement at `place`, or before the atomic step that it is in; `false` if the answer may
    /// change until then.
    fn ask_here(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>, place: Place) -> bool {
        let (mut index, mut mask, mut place) = (index.clone(), mask.cloned(), place);
        if let Some(step) = &self.step {
            let outside = |e: &Expr| visit::substitute(e, &|s| step.names.get(&s).cloned());
            (index, mask, place) = (outside(&index), mask.as_ref().map(outside), step.place);
            let changes = |e: &Expr| {
                visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if step.stores.contains(buf)))
            };
            if changes(&index) || mask.as_ref().is_some_and(changes) {
                return false;
            }
        }
        let count = self.extents.count(buf).cloned();
        let question = IndexQuestion { buf, index, mask, count, innermost: self.innermost() };
        self.questions.entry(place).or_default().push(Question::Index(question));
        true
    }
}
