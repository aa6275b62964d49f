//! Shapes block code: what threads do becomes phases, loops over threads directly in each other, with nothing between.
//!
//! Iterations of loops over threads are independent, so what stands beside an inner loop over threads, inside of an
//! outer one, becomes a phase of its own (fission), a serial loop between them moves out of the outer one
//! (interchange), and storage between them gets a part for each thread that had its own. Names and conditions between
//! the loops move into the innermost. What stores outside of all loops over threads is done by one thread.

use super::error::KernelProblem;
use super::lanes;
use crate::lower::loops::copy::{fresh_copy, fresh_temp};
use crate::lower::vectors::lanes as vector_lanes;
use crate::lower::walk;
use crate::tuning::NO_BOUND;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::lanes::Held;
use halide_ir::visit::{self, Memo, deep};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, LoopId, Memory, Program, Stmt, Sym, build};
use halide_solve::simplify::{BoundQuery, Facts};

/// The most loops over threads in each other.
const DIMENSIONS: usize = 3;

/// Block code.
pub(super) struct Shaped {
    pub(super) body: Stmt,
    /// Threads per dimension, innermost first.
    pub(super) threads: [u64; 3],
    /// The number of threads of the first dimension that are lanes of a subgroup, if they are.
    pub(super) lanes: Option<u64>,
    /// Buffers that lanes hold together.
    pub(super) held: Vec<Held>,
}

/// A loop, names or a condition around a statement inside of a loop over threads; lists have the outermost first.
enum Around {
    Thread { id: LoopId, min: Expr, extent: Expr, most: u64, lanes: bool },
    Let(Vec<(Sym, Expr)>),
    If(Expr),
}

struct Shape<'p> {
    program: &'p mut Program,
    facts: &'p mut Facts,
    around: Vec<Around>,
    threads: [u64; 3],
    /// The number of loops over threads in every phase.
    depth: usize,
    /// The number of loops in the deepest nest of the outermost loop over threads around, which counts too.
    nest_depth: usize,
    /// Phases made of the outermost loop over threads around, so far.
    phases: usize,
    /// True if what was one run of threads now is several.
    parted: bool,
    /// The extent of the loops over lanes.
    lanes: Option<u64>,
    held: Vec<Held>,
}

/// Phases of `body`, which each block runs under `facts`.
pub(super) fn shape(program: &mut Program, body: Stmt, facts: &mut Facts) -> Result<Shaped, KernelProblem> {
    let mut blocks = None;
    walk::any_stmt(&body, &mut |s| match s {
        Stmt::For(l) if l.kind == ForKind::GpuBlocks => {
            blocks = Some(l.id);
            true
        }
        _ => false,
    });
    if let Some(id) = blocks {
        return Err(KernelProblem::BlocksInside { var: program.loops[id].name.clone() });
    }
    let depth = thread_depth(&body).max(1);
    let (around, held) = (Vec::new(), Vec::new());
    let (nest_depth, phases, parted, lanes) = (0, 0, false, None);
    let mut shape = Shape { program, facts, around, threads: [1; 3], depth, nest_depth, phases, parted, lanes, held };
    let body = shape.stmt(body)?;
    Ok(Shaped { body, threads: shape.threads, lanes: shape.lanes, held: shape.held })
}

/// Returns the number of loops over threads in the deepest nest in `s`.
fn thread_depth(s: &Stmt) -> usize {
    let mut inner = 0;
    visit::for_each_stmt(s, |s| inner = inner.max(thread_depth(s)));
    inner + is_threads(s) as usize
}

fn is_threads(s: &Stmt) -> bool {
    matches!(s, Stmt::For(l) if l.kind.is_gpu_threads())
}

/// Returns the number of lanes of the loops over lanes in `s`, if there are any.
fn lanes_in(s: &Stmt) -> Option<u64> {
    let mut lanes = None;
    walk::any_stmt(s, &mut |s| match s {
        Stmt::For(l) if l.kind == ForKind::GpuLanes => {
            lanes = build::as_int(&l.extent).and_then(|n| u64::try_from(n).ok());
            true
        }
        _ => false,
    });
    lanes
}

fn has_threads(s: &Stmt) -> bool {
    walk::any_stmt(s, &mut is_threads)
}

impl Shape<'_> {
    fn stmt(&mut self, s: Stmt) -> Result<Stmt, KernelProblem> {
        deep(|| self.one(s))
    }

    fn one(&mut self, s: Stmt) -> Result<Stmt, KernelProblem> {
        let in_threads = self.in_threads();
        if !has_threads(&s) && (in_threads || !self.has_shared(&s)) {
            return self.phase(s);
        }
        match s {
            Stmt::Block(list) => self.block(list),
            Stmt::Let { bindings, body } => {
                self.facts.push_scope();
                bindings.iter().for_each(|(s, e)| self.facts.bind_let(*s, e));
                let made = if in_threads {
                    self.inside(Around::Let(bindings), *body)
                } else {
                    self.stmt(*body).map(|body| build::let_in(bindings, body))
                };
                self.facts.pop_scope();
                made
            }
            Stmt::If { cond, then, otherwise } => {
                let opposite = build::not(cond.clone());
                let then = self.side(&cond, *then, in_threads)?;
                let otherwise = self.side(&opposite, *otherwise, in_threads)?;
                Ok(if in_threads { build::block([then, otherwise]) } else { build::if_else(cond, then, otherwise) })
            }
            Stmt::For(l) if l.kind.is_gpu_threads() => self.threads(*l),
            Stmt::For(l) => self.serial(*l),
            Stmt::Produce { func, body } => Ok(Stmt::Produce { func, body: Box::new(self.stmt(*body)?) }),
            Stmt::Alloc { buf, count, constant, body } => self.alloc(buf, count, constant, *body),
            other => Ok(other),
        }
    }

    /// Returns true if `s` allocates storage that the schedule wants threads to share, even if there is only one
    /// thread.
    fn has_shared(&self, s: &Stmt) -> bool {
        let shared = |buf: &BufId| self.program.buffers[*buf].memory == Memory::Shared;
        walk::any_stmt(s, &mut |s| matches!(s, Stmt::Alloc { buf, .. } if shared(buf)))
    }

    fn in_threads(&self) -> bool {
        self.around.iter().any(|a| matches!(a, Around::Thread { .. }))
    }

    fn inside(&mut self, a: Around, s: Stmt) -> Result<Stmt, KernelProblem> {
        self.around.push(a);
        let made = self.stmt(s);
        self.around.pop();
        made
    }

    /// One side of a condition.
    fn side(&mut self, cond: &Expr, s: Stmt, in_threads: bool) -> Result<Stmt, KernelProblem> {
        if build::is_nothing(&s) {
            return Ok(s);
        }
        self.facts.push_scope();
        self.facts.learn(cond);
        let made = if in_threads { self.inside(Around::If(cond.clone()), s) } else { self.stmt(s) };
        self.facts.pop_scope();
        made
    }

    /// Statements in a row that are for one thread become one phase.
    fn block(&mut self, list: Vec<Stmt>) -> Result<Stmt, KernelProblem> {
        let mut made = Vec::new();
        let mut alone = Vec::new();
        for s in list {
            if has_threads(&s) || (!self.in_threads() && self.has_shared(&s)) {
                if !alone.is_empty() {
                    made.push(self.phase(build::block(std::mem::take(&mut alone)))?);
                }
                made.push(self.stmt(s)?);
            } else {
                alone.push(s);
            }
        }
        if !alone.is_empty() {
            made.push(self.phase(build::block(alone))?);
        }
        Ok(build::block(made))
    }

    fn threads(&mut self, l: For) -> Result<Stmt, KernelProblem> {
        let var = |p: &Program| p.loops[l.id].name.clone();
        let outer = self.around.iter().filter(|a| matches!(a, Around::Thread { .. })).count();
        if outer == DIMENSIONS {
            return Err(KernelProblem::TooManyThreadLoops { var: var(self.program) });
        }
        let most = match build::as_int(&l.extent) {
            Some(n) => Some(n),
            None => BoundQuery::difference(&l.extent, &build::int(0), self.facts).upper(NO_BOUND - 1),
        };
        let most = most.filter(|n| *n < NO_BOUND);
        let most = most.ok_or_else(|| KernelProblem::ThreadExtent { var: var(self.program) })?.max(1) as u64;
        let lanes = l.kind == ForKind::GpuLanes;
        if lanes {
            let others = *self.lanes.get_or_insert(most);
            if others != most {
                return Err(KernelProblem::DifferentLanes { var: var(self.program), lanes: most, others });
            }
        }
        if outer == 0 {
            self.nest_depth = thread_depth(&l.body) + 1;
            (self.phases, self.parted) = (0, false);
        }
        // Where a condition around does not hold, the bound need not either; the condition then is asked inside.
        let guarded = self.around.iter().any(|a| matches!(a, Around::If(_)));
        let extent = match build::as_int(&l.extent) {
            None if guarded => build::min(l.extent.clone(), build::int(most as i64)),
            _ => l.extent.clone(),
        };
        let stored = (outer == 0).then(|| stores(&l.body));
        let loads = (outer == 0).then(|| between(&l));
        self.facts.push_scope();
        self.facts.bind_loop(l.id, &l.min, &l.extent);
        let made = self.inside(Around::Thread { id: l.id, min: l.min, extent, most, lanes }, l.body);
        self.facts.pop_scope();
        if let (Some(stored), Some(loads), true) = (stored, loads, self.parted || self.phases > 1)
            && let Some(buf) = loads.iter().find(|buf| stored.contains(*buf))
        {
            return Err(KernelProblem::ValueBetweenThreads { func: self.program.buffers[*buf].name.clone() });
        }
        made
    }

    /// A loop around phases. One inside of loops over threads moves out of them; one of at most one iteration is a
    /// condition.
    fn serial(&mut self, l: For) -> Result<Stmt, KernelProblem> {
        let For { id, kind, mut min, mut extent, condition, body } = l;
        if self.in_threads() {
            if condition.is_some() {
                return Err(KernelProblem::LoopBetweenThreads { var: self.program.loops[id].name.clone() });
            }
            (min, extent) = (self.for_all(&min), self.for_all(&extent));
        }
        if BoundQuery::difference(&extent, &build::int(0), self.facts).is_at_most(1) {
            let name = fresh_temp(self.program);
            let value = build::sym(name);
            let body =
                visit::map_exprs(body, &mut |e| visit::substitute(e, &|s| (s == Sym::Loop(id)).then(|| value.clone())));
            let body = build::if_else(condition.unwrap_or(build::boolean(true)), body, build::nothing());
            let once = build::if_else(build::lt(build::int(0), extent), body, build::nothing());
            return self.stmt(build::let_in(vec![(name, min)], once));
        }
        if self.in_threads() {
            if [&min, &extent].into_iter().any(|e| self.is_of_thread(e)) {
                return Err(KernelProblem::LoopBetweenThreads { var: self.program.loops[id].name.clone() });
            }
            self.parted = true;
        }
        self.facts.push_scope();
        self.facts.bind_loop(id, &min, &extent);
        let body = self.stmt(body);
        self.facts.pop_scope();
        Ok(build::loop_of(For { id, kind, min, extent, condition, body: body? }))
    }

    /// `e` without the names bound inside of loops over threads.
    fn for_all(&self, e: &Expr) -> Expr {
        let mut values: Map<Sym, Expr> = Map::default();
        for a in &self.around {
            if let Around::Let(bindings) = a {
                for (s, value) in bindings {
                    let value = visit::substitute(value, &|s| values.get(&s).cloned());
                    values.insert(*s, value);
                }
            }
        }
        visit::substitute(e, &|s| values.get(&s).cloned())
    }

    /// Returns true if `e` uses the variable of a loop over threads around.
    fn is_of_thread(&self, e: &Expr) -> bool {
        self.around.iter().any(|a| match a {
            Around::Thread { id, .. } => visit::uses(e, Sym::Loop(*id)),
            _ => false,
        })
    }

    /// Storage around phases: shared by the threads of a block, with a part for each thread around.
    fn alloc(&mut self, buf: BufId, count: Expr, constant: Option<u64>, body: Stmt) -> Result<Stmt, KernelProblem> {
        let own = constant.ok_or_else(|| self.no_size(buf, true))?;
        let lanes = if self.program.buffers[buf].memory == Memory::Register { lanes_in(&body) } else { None };
        if let Some(lanes) = lanes {
            let held = lanes::hold(self.program, buf, own, &body, lanes)?;
            if !self.held.contains(&held) {
                self.held.push(held);
            }
            return self.parts(buf, u64::from(held.each) * lanes, body);
        }
        if matches!(self.program.buffers[buf].memory, Memory::Stack | Memory::Register) {
            return Err(KernelProblem::NotPrivate { func: self.program.buffers[buf].name.clone() });
        }
        if !self.in_threads() {
            let body = Box::new(self.stmt(body)?);
            return Ok(Stmt::Alloc { buf, count, constant, body });
        }
        self.parts(buf, own, body)
    }

    /// Storage of `own` elements for each thread around.
    fn parts(&mut self, buf: BufId, own: u64, body: Stmt) -> Result<Stmt, KernelProblem> {
        self.parted |= self.in_threads();
        let mut place = build::int(0);
        let mut parts = 1u64;
        for a in &self.around {
            if let Around::Thread { id, min, most, .. } = a {
                let at = build::sub(build::loop_var(*id), self.for_all(min));
                place = build::add(build::mul(place, build::int(*most as i64)), at);
                parts = parts.saturating_mul(*most);
            }
        }
        let first = build::mul(place, build::int(own as i64));
        let all = parts.saturating_mul(own);
        let body = Box::new(self.stmt(moved(body, buf, &first))?);
        Ok(Stmt::Alloc { buf, count: build::int(all.min(i64::MAX as u64) as i64), constant: Some(all), body })
    }

    fn no_size(&self, buf: BufId, shared: bool) -> KernelProblem {
        KernelProblem::NoConstantSize { func: self.program.buffers[buf].name.clone(), shared }
    }

    /// The phase that does `s`, which has no loops over threads, in all that is around it.
    fn phase(&mut self, s: Stmt) -> Result<Stmt, KernelProblem> {
        if !walk::any_stmt(&s, &mut |s| matches!(s, Stmt::Store { .. })) {
            return Ok(build::nothing());
        }
        let mut unbounded = None;
        walk::any_stmt(&s, &mut |s| match s {
            Stmt::Alloc { buf, constant: None, .. } => {
                unbounded = Some(*buf);
                true
            }
            _ => false,
        });
        if let Some(buf) = unbounded {
            return Err(self.no_size(buf, false));
        }
        let mut body = s;
        let mut loops = Vec::new();
        let mut innermost = false;
        for i in (0..self.around.len()).rev() {
            body = match &self.around[i] {
                Around::Let(bindings) => build::let_in(bindings.clone(), body),
                Around::If(cond) => build::if_else(cond.clone(), body, build::nothing()),
                Around::Thread { id, min, extent, most, lanes } => {
                    // Names that the range uses are bound inside now.
                    if *lanes && !loops.is_empty() {
                        return Err(KernelProblem::LanesNotInnermost { var: self.program.loops[*id].name.clone() });
                    }
                    loops.push((*id, self.for_all(min), self.for_all(extent), *most));
                    innermost |= *lanes;
                    body
                }
            };
        }
        let alone = |shape: &mut Self| (shape.program.loops.push("one".into()), build::int(0), build::int(1), 1);
        for _ in loops.len()..self.nest_depth {
            let one = alone(self);
            // Lanes are the first dimension; what is deeper beside them has other outer ones.
            loops.insert(usize::from(innermost), one);
        }
        for _ in loops.len()..self.depth {
            let one = alone(self);
            loops.push(one);
        }
        for (d, (.., most)) in loops.iter().enumerate() {
            self.threads[d] = self.threads[d].max(*most);
        }
        for (id, min, extent, _) in loops {
            body = build::for_loop(id, ForKind::GpuThreads, min, extent, body);
        }
        self.phases += 1;
        Ok(if self.phases > 1 && self.in_threads() { fresh_copy(&body, &[], self.program) } else { body })
    }
}

/// `s` with every access of `buf` moved on by `by` elements.
pub(super) fn moved(s: Stmt, buf: BufId, by: &Expr) -> Stmt {
    let mut memo = Memo::new();
    let on = |index: Expr| vector_lanes::binary(BinOp::Add, index, by.clone());
    let mut expression = |e: &Expr| {
        memo.rewrite(e, |n, done| match n.kind() {
            ExprKind::Load { buf: b, index, mask } if *b == buf => {
                let elem = n.ty().scalar().expect("loads are data");
                build::load(buf, elem, on(done(index)), mask.as_ref().map(done))
            }
            _ => visit::map_children(n, done),
        })
    };
    fn stmt(s: Stmt, buf: BufId, e: &mut dyn FnMut(&Expr) -> Expr, on: &dyn Fn(Expr) -> Expr) -> Stmt {
        let e = std::cell::RefCell::new(e);
        match visit::map_stmt(s, |x| (e.borrow_mut())(x), |inner| stmt(inner, buf, &mut **e.borrow_mut(), on)) {
            Stmt::Store { buf: b, index, value, mask } if b == buf => {
                Stmt::Store { buf, index: on(index), value, mask }
            }
            other => other,
        }
    }
    stmt(s, buf, &mut expression, &on)
}

/// The buffers that `s` stores to.
fn stores(s: &Stmt) -> Set<BufId> {
    let mut found = Set::default();
    walk::any_stmt(s, &mut |s| {
        if let Stmt::Store { buf, .. } = s {
            found.insert(*buf);
        }
        false
    });
    found
}

/// The buffers that are read between loops over threads in `l`: by names, conditions and ranges around phases.
fn between(l: &For) -> Set<BufId> {
    fn collect(s: &Stmt, found: &mut Set<BufId>) {
        if !has_threads(s) {
            return;
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    found.insert(*buf);
                }
            });
        });
        visit::for_each_stmt(s, |inner| collect(inner, found));
    }
    let mut found = Set::default();
    collect(&l.body, &mut found);
    found
}
