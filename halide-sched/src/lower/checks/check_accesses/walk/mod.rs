//! Looks at every access of a program, with all that stands around it.

mod settle;

use super::certain::Certain;
use super::groups::{GroupId, Groups};
use super::question::{Place, Question};
use super::tally::{Tally, Verdict};
use crate::access::{Access, Exact, Extents, Frame, FrameKind, LaneOf, Poly, Prover, Reader, condition, conditions};
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::{BufId, Expr, ExprKind, KernelId, Program, Stmt, Sym, Type, visit};

/// The function number of the program's body, and of kernels.
const BODY: u32 = 0;
const KERNEL: u32 = 1;

/// The result of the walk: accesses by verdict, and the questions of each place.
pub(super) struct Outcome {
    pub(super) tally: Tally,
    /// The number of expressions that were read.
    pub(super) visits: u64,
    pub(super) questions: Map<Place, Vec<Question>>,
}

/// The walk through a program.
pub(super) struct Walk<'p> {
    program: &'p Program,
    reader: Reader<'p>,
    extents: Extents<'p>,
    prover: Prover<'p>,
    certain: Certain,
    /// True to check each access that is not proved where it stands.
    exact: bool,
    frames: Vec<Frame<'p>>,
    /// The positions of loops, and of kernels, among the frames: there are far more frames of names.
    loops: Vec<usize>,
    kernels: Vec<usize>,
    frames_made: u32,
    /// The number of facts that hold in all that follows.
    everywhere: usize,
    function: u32,
    next: u32,
    questions: Map<Place, Vec<Question>>,
    /// True while inequalities are gathered; false when accesses are settled.
    gathers: bool,
    groups: Groups<'p>,
    /// All accesses, in the order of their sites.
    found: Vec<Site<'p>>,
    next_access: usize,
    site: u32,
    /// Groups that are asked, each with the least constant that is not proved.
    asked: Map<GroupId, i128>,
    /// Expressions that were looked at and read memory or divide, and in each frame the first of its own.
    seen: Set<usize>,
    seen_in: Vec<Vec<usize>>,
    /// Expressions of the site at hand whose accesses may be other ones at the next.
    seen_here: Set<usize>,
    /// Expressions in which there is nothing to look at.
    plain: Set<usize>,
    step: Option<Step>,
    tally: Tally,
}

/// An access that was looked at.
struct Found<'p> {
    buf: BufId,
    index: Expr,
    mask: Option<Expr>,
    /// Its inequalities, where those came to.
    parts: Vec<Part<'p>>,
    /// True if nothing is known of it.
    unknown: bool,
}

/// An access at the number of its site, until it is settled.
#[derive(Default)]
struct Site<'p> {
    site: u32,
    of: Option<Found<'p>>,
}

/// An inequality that one of an access became: its group, its constant, and the cost of asking it.
struct Part<'p> {
    /// The number of the access's inequality.
    of: usize,
    group: GroupId,
    constant: i128,
    cost: Verdict,
    /// The last place at which it asked for no more than the access needs.
    exact: Exact<'p>,
}

/// Inequalities of an access where it stands, all at least 0, with its lane and its mask.
struct Asked<'p> {
    list: Vec<Poly<'p>>,
    lane: LaneOf<'p>,
    masks: Vec<Poly<'p>>,
    /// True if these are all that the mask says.
    whole_mask: bool,
}

/// The accesses and divisions in an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Inside {
    Nothing,
    /// Some, whose indices are the same wherever the frame is.
    Accesses,
    /// Some whose indices are in memory that the program stores to.
    Moving,
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
        Walk {
            program,
            reader,
            extents: Extents::default(),
            prover: Prover::default(),
            certain: Certain::default(),
            exact,
            frames: Vec::new(),
            loops: Vec::new(),
            kernels: Vec::new(),
            frames_made: 0,
            everywhere: 0,
            function: BODY,
            next: 0,
            questions: Map::default(),
            gathers: true,
            groups: Groups::default(),
            found: Vec::new(),
            next_access: 0,
            site: 0,
            asked: Map::default(),
            seen: Set::default(),
            seen_in: Vec::new(),
            seen_here: Set::default(),
            plain: Set::default(),
            step: None,
            tally: Tally::default(),
        }
    }

    /// Walks twice: gathers what accesses ask for, and settles each by what was proved of that.
    pub(super) fn run(mut self) -> Outcome {
        self.pass();
        self.gathers = false;
        self.pass();
        let mut asked: Vec<_> = std::mem::take(&mut self.asked).into_iter().collect();
        asked.sort_unstable();
        for (id, constant) in asked {
            let group = self.groups.get(id);
            if let Some(cond) = condition(&self.reader.terms, &group.p.offset(constant), &group.asked_where) {
                self.questions.entry(group.place).or_default().push(Question::Inequality(cond));
            }
        }
        Outcome { tally: self.tally, visits: self.reader.visits, questions: self.questions }
    }

    fn pass(&mut self) {
        (self.frames_made, self.everywhere, self.next, self.site) = (0, 0, 0, 0);
        self.push(FrameKind::Root, (BODY, 0, 0));
        self.stmt(&self.program.body);
        self.pop_to(0);
        self.prover.forget(0);
    }

    fn push(&mut self, kind: FrameKind<'p>, place: Place) {
        let level = match &kind {
            FrameKind::Let(s) | FrameKind::Loop(s) => self.reader.defs.level(*s),
            // Memory is asked no earlier than where it is read.
            _ => Reader::IN_MEMORY,
        };
        match &kind {
            FrameKind::Loop(_) => self.loops.push(self.frames.len()),
            FrameKind::Kernel => self.kernels.push(self.frames.len()),
            _ => {}
        }
        self.frames.push(Frame { kind, id: self.frames_made, level, facts: self.prover.len(), place });
        self.frames_made += 1;
        self.seen_in.push(Vec::new());
        self.groups.begin();
    }

    fn pop_to(&mut self, depth: usize) {
        while self.frames.len() > depth {
            let facts = self.frames.pop().map_or(0, |frame| frame.facts);
            for positions in [&mut self.loops, &mut self.kernels] {
                positions.pop_if(|position| *position == self.frames.len());
            }
            self.groups.end(&mut self.reader, &mut self.prover, facts);
            self.seen_in.pop().into_iter().flatten().for_each(|id| {
                self.seen.remove(&id);
            });
        }
    }

    /// Walks `s` inside of a frame; what is assumed in it does not outlive it.
    fn inside(&mut self, kind: FrameKind<'p>, s: &'p Stmt) {
        let (known, constants, depth) = (self.prover.len(), self.extents.constants(), self.frames.len());
        if let FrameKind::If(list, _) = &kind {
            list.iter().for_each(|p| self.prover.assume(&self.reader, *p));
            self.extents.assume_constants(list);
        }
        self.push(kind, (self.function, self.next, 0));
        self.stmt(s);
        self.pop_to(depth);
        self.prover.forget(known);
        self.extents.forget_constants(constants);
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
                    let (list, is_whole) = self.conditions(cond, holds);
                    let certain = self.certain.len();
                    self.certain.assume(cond, holds, &self.reader.defs);
                    self.inside(FrameKind::If(list, is_whole), branch);
                    self.certain.forget(certain);
                }
            }
            Stmt::Assert { cond, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                let (list, _) = self.conditions(cond, true);
                let is_outside =
                    |f: &Frame<'p>| matches!(f.kind, FrameKind::Root | FrameKind::Let(_) | FrameKind::Checked);
                let is_everywhere = self.frames.iter().all(is_outside);
                list.into_iter().for_each(|p| self.prover.assume(&self.reader, p));
                if is_everywhere {
                    self.everywhere = self.prover.len();
                }
            }
            Stmt::Store { buf, index, mask, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                if self.begin_site(place) {
                    self.gather(*buf, index, mask.as_ref());
                }
            }
            Stmt::Dispatch { kernel, .. } => {
                visit::for_each_expr(s, |e| self.expr(e, place));
                self.kernel(*kernel, place);
            }
            other => {
                visit::for_each_expr(other, |e| self.expr(e, place));
                if let Stmt::Alloc { buf, count, body, .. } = other {
                    self.extents.allocate(*buf, self.reader.defs.named(count));
                    self.stmt(body);
                }
            }
        });
    }

    fn conditions(&mut self, cond: &Expr, holds: bool) -> (Vec<Poly<'p>>, bool) {
        let mut list = Vec::new();
        let is_whole = conditions(&mut self.reader, cond, holds, &LaneOf::default(), &mut list);
        let all = list.len();
        // What is in memory now may be something else where an access asks.
        list.retain(|p| !self.reader.is_momentary(p));
        let is_whole = is_whole && list.len() == all;
        (list, is_whole)
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
            if self.prover.len() > known && self.loops.is_empty() {
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

    /// Looks at the loads in `e`, or settles them.
    fn expr(&mut self, e: &Expr, place: Place) {
        if self.begin_site(place) {
            self.seen_here.clear();
            self.node(e);
        }
    }

    /// Looks at `e`, unless that was done in a frame that is open and nothing has changed since; returns what is in it.
    fn node(&mut self, e: &Expr) -> Inside {
        if self.plain.contains(&e.id()) {
            return Inside::Nothing;
        }
        if self.seen.contains(&e.id()) {
            return Inside::Accesses;
        }
        if self.seen_here.contains(&e.id()) {
            return Inside::Moving;
        }
        let mut found = Inside::Nothing;
        visit::for_each_child(e, |inner| found = found.max(visit::deep(|| self.node(inner))));
        match e.kind() {
            ExprKind::Binary(BinOp::Div | BinOp::Mod, _, by)
                if by.ty() == Type::INDEX && !matches!(by.kind(), ExprKind::Int(_)) =>
            {
                self.divisor(by);
                found = found.max(Inside::Accesses);
            }
            ExprKind::Load { buf, index, mask } => {
                self.gather(*buf, index, mask.as_ref());
                // By the next statement, memory may give another index.
                let moves = self.reader.changes(index) || mask.as_ref().is_some_and(|m| self.reader.changes(m));
                found = found.max(if moves { Inside::Moving } else { Inside::Accesses });
            }
            _ => {}
        }
        match (found, self.seen_in.last_mut()) {
            (Inside::Nothing, _) => _ = self.plain.insert(e.id()),
            (Inside::Accesses, Some(own)) => {
                self.seen.insert(e.id());
                own.push(e.id());
            }
            (Inside::Moving, _) => _ = self.seen_here.insert(e.id()),
            (Inside::Accesses, None) => {}
        }
        found
    }

    /// Begins a site, which is the same in both walks. Returns true where it is to be looked at; settles its accesses
    /// in the second walk.
    fn begin_site(&mut self, place: Place) -> bool {
        self.site += 1;
        while !self.gathers && self.found.get(self.next_access).is_some_and(|a| a.site == self.site) {
            let found = std::mem::take(&mut self.found[self.next_access]);
            self.next_access += 1;
            if let Some(found) = found.of {
                let (buf, verdict) = (found.buf, self.settle(found, place));
                self.tally.count(buf, self.innermost(), verdict);
            }
        }
        self.gathers
    }

    /// Notes a divisor that is at least 1 by what holds in the whole program.
    fn divisor(&mut self, by: &Expr) {
        let n = self.reader.scalar(by);
        if n.as_constant().is_some() || self.reader.divisors.contains(&n) || self.prover.len() != self.everywhere {
            return;
        }
        let expanded = self.reader.expanded(&n);
        if self.prover.holds(&mut self.reader, &expanded.offset(-1), &[], self.everywhere) {
            self.reader.divisors.insert(n);
        }
    }

    /// Notes what an access asks for, moved outwards and in groups.
    fn gather(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>) {
        let mut access = Found { buf, index: index.clone(), mask: mask.cloned(), parts: Vec::new(), unknown: false };
        match self.inequalities(&access) {
            Some(asked) => (0..asked.list.len()).for_each(|of| self.gather_part(of, &asked, &mut access.parts)),
            None => access.unknown = true,
        }
        self.found.push(Site { site: self.site, of: Some(access) });
    }

    fn gather_part(&mut self, of: usize, asked: &Asked<'p>, parts: &mut Vec<Part<'p>>) {
        let p = &asked.list[of];
        let known = |reader: &Reader<'p>, p: &Poly<'p>| reader.terms.span_of(p).0.is_some_and(|low| low >= 0);
        if known(&self.reader, p) {
            return;
        }
        for h in self.reader.hoist(*p, &asked.lane, (&asked.masks, asked.whole_mask), &self.frames) {
            if !known(&self.reader, &h.p) {
                let (group, constant) = self.groups.add(&h, &self.frames, &mut self.reader);
                let cost = self.cost(group, h.frame);
                parts.push(Part { of, group, constant, cost, exact: h.exact });
            }
        }
    }

    /// The inequalities that put an access inside of its buffer; `None` if nothing is known of it.
    fn inequalities(&mut self, of: &Found<'p>) -> Option<Asked<'p>> {
        if let Some(cond) = self.extents.condition(of.buf).cloned()
            && !self.is_certain(&cond)
        {
            return None;
        }
        let (lane, value) = self.reader.lane(&of.index);
        let mut masks = Vec::new();
        let whole_mask = match &of.mask {
            Some(mask) => conditions(&mut self.reader, mask, true, &lane, &mut masks),
            None => true,
        };
        let access = Access { buf: of.buf, info: &self.program.buffers[of.buf], index: value };
        let list = self.extents.inequalities(&mut self.reader, access)?;
        let list = list.iter().map(|p| self.reader.expanded(p)).collect();
        Some(Asked { list, lane, masks, whole_mask })
    }
}
