//! Storage that the lanes of a subgroup hold together, and the check that all lanes run together if one needs an
//! element of another.
//!
//! The lane that stores an element holds it: at index `run * lane + q`, with `q` less than `run`, plus multiples
//! of what all lanes hold in one turn. Loads of held elements are moved out of conditions that differ from lane to
//! lane, with masks for the lanes that do not need them, since all lanes of a row must take part in a shuffle.

use super::error::KernelProblem;
use crate::lower::loops::copy::fresh_temp;
use crate::lower::vectors::lanes::{self, Shape, shape};
use crate::lower::walk;
use crate::tuning::MOST_HELD_ELEMENTS;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::lanes::{Held, held_in, loaded_apart, varies};
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, Program, Stmt, Sym, Type, build};
use halide_solve::simplify::{Facts, Linear, simplify};

/// Returns the distribution over `lanes` lanes of a buffer of `count` elements that `body` computes in loops over these
/// lanes.
pub(super) fn hold(program: &Program, buf: BufId, count: u64, body: &Stmt, lanes: u64) -> Result<Held, KernelProblem> {
    let func = || program.buffers[buf].name.clone();
    let mut found = Runs { buf, values: Map::default(), run: None };
    found.stmt(body, None);
    let run = found.run.and_then(|run| u64::try_from(run).ok()).filter(|run| run.is_power_of_two());
    let run = run.ok_or_else(|| KernelProblem::NotOfLanes { func: func() })?;
    let each = count.max(1).div_ceil(run * lanes).saturating_mul(run);
    if each > MOST_HELD_ELEMENTS {
        return Err(KernelProblem::TooMuchForLanes { func: func(), each, most: MOST_HELD_ELEMENTS });
    }
    Ok(Held { buf, run: run as u32, each: each as u32 })
}

/// Finds how far apart neighbouring lanes store.
struct Runs {
    buf: BufId,
    values: Map<Sym, Expr>,
    run: Option<i64>,
}

impl Runs {
    fn stmt(&mut self, s: &Stmt, lane: Option<Sym>) {
        match s {
            Stmt::Let { bindings, .. } => bind_all(&mut self.values, bindings),
            Stmt::Store { buf, index, .. } if *buf == self.buf && self.run.is_none() => {
                let sum = lane.and_then(|lane| Some((lane, sum_of(index, &self.values)?.0)));
                self.run = sum.map(|(lane, sum)| sum.coefficient(&build::sym(lane)));
            }
            _ => {}
        }
        let lane = match s {
            Stmt::For(l) if l.kind == ForKind::GpuLanes => Some(Sym::Loop(l.id)),
            _ => lane,
        };
        visit::for_each_stmt(s, |inner| self.stmt(inner, lane));
    }
}

fn bind_all(values: &mut Map<Sym, Expr>, bindings: &[(Sym, Expr)]) {
    for (s, value) in bindings {
        let value = visit::substitute(value, &|s| values.get(&s).cloned());
        values.insert(*s, value);
    }
}

/// The first of the elements at `index` as a sum, and how many side by side there are.
fn sum_of(index: &Expr, values: &Map<Sym, Expr>) -> Option<(Linear, i64)> {
    let (first, width) = match shape(index) {
        Shape::Uniform(e) if index.lanes() == 1 => (e, 1),
        Shape::Ramp(base, stride) if build::as_int(&stride) == Some(1) => (base, i64::from(index.lanes())),
        _ => return None,
    };
    let first = visit::substitute(&first, &|s| values.get(&s).cloned());
    Some((Linear::of(&simplify(&first, &Facts::new())), width))
}

/// Phases of rows of `lanes` lanes such that these hold the buffers `held`, and are together where they load them.
pub(super) fn together(program: &mut Program, body: Stmt, lanes: u32, held: &[Held]) -> Result<Stmt, KernelProblem> {
    let mut owners =
        Owners { held, lanes, values: Map::default(), counts: Map::default(), rows: Vec::new(), wrong: None };
    owners.stmt(&body);
    let name = |program: &Program, buf: BufId| program.buffers[buf].name.clone();
    match owners.wrong {
        Some(Wrong::Holder(buf)) => return Err(KernelProblem::NotOfLanes { func: name(program, buf) }),
        Some(Wrong::Row(buf)) => return Err(KernelProblem::LanesOfRows { func: name(program, buf) }),
        None => {}
    }
    let bufs: Set<BufId> = held.iter().map(|h| h.buf).collect();
    let body = Meet { program, lanes, held: &bufs }.code(body);
    match loaded_apart(&body, lanes, &bufs) {
        Some(buf) => Err(KernelProblem::LanesApart { func: name(program, buf) }),
        None => Ok(body),
    }
}

#[derive(Clone, Copy)]
enum Wrong {
    /// Another lane than its holder may store an element.
    Holder(BufId),
    /// Several rows use the elements of one.
    Row(BufId),
}

/// Checks who stores what, and that rows keep to their own elements.
struct Owners<'h> {
    held: &'h [Held],
    lanes: u32,
    values: Map<Sym, Expr>,
    /// The number of iterations of each loop from 0, by its variable.
    counts: Map<Expr, i64>,
    /// The loops over threads around that tell rows apart.
    rows: Vec<Expr>,
    wrong: Option<Wrong>,
}

/// The position of a lane in its row; no name of a program is that high.
const LANE: Sym = Sym::Temp(u32::MAX);

impl Owners<'_> {
    fn stmt(&mut self, s: &Stmt) {
        match s {
            Stmt::Let { bindings, .. } => bind_all(&mut self.values, bindings),
            Stmt::For(l) if l.kind == ForKind::GpuThreads => return self.threads(l),
            Stmt::For(l) => {
                if let (Some(0), Some(n)) = (build::as_int(&l.min), build::as_int(&l.extent)) {
                    self.counts.insert(build::loop_var(l.id), n);
                }
            }
            _ => {}
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, index, .. } = n.kind() {
                    self.access(*buf, index, false);
                }
            });
        });
        if let Stmt::Store { buf, index, .. } = s {
            self.access(*buf, index, true);
        }
        visit::for_each_stmt(s, |inner| self.stmt(inner));
    }
    fn threads(&mut self, l: &For) {
        let many = build::as_int(&l.extent) != Some(1);
        if matches!(&l.body, Stmt::For(inner) if inner.kind == ForKind::GpuThreads) {
            self.rows.extend(many.then(|| build::loop_var(l.id)));
            self.stmt(&l.body);
            self.rows.truncate(self.rows.len() - usize::from(many));
        } else {
            self.values.insert(Sym::Loop(l.id), build::add(build::sym(LANE), l.min.clone()));
            self.stmt(&l.body);
        }
    }
    fn access(&mut self, buf: BufId, index: &Expr, stores: bool) {
        let Some(held) = self.held.iter().find(|h| h.buf == buf) else { return };
        let sum = sum_of(index, &self.values);
        let row = i64::from(held.each) * i64::from(self.lanes);
        let keeps = |(sum, _): &(Linear, i64)| self.rows.iter().all(|y| sum.coefficient(y).abs() >= row);
        if !self.rows.is_empty() && !sum.as_ref().is_some_and(keeps) {
            self.wrong.get_or_insert(Wrong::Row(buf));
        } else if stores && sum.and_then(|(sum, width)| self.is_own(held, &sum, width)) != Some(true) {
            self.wrong.get_or_insert(Wrong::Holder(buf));
        }
    }
    /// Returns true if a lane holds what it stores: `width` elements from `sum` on. `None` if that is not known.
    fn is_own(&self, held: &Held, sum: &Linear, width: i64) -> Option<bool> {
        let (run, turn) = (i64::from(held.run), i64::from(held.run) * i64::from(self.lanes));
        let lane = build::sym(LANE);
        if sum.coefficient(&lane) != run {
            return Some(false);
        }
        let mut reach = sum.constant.rem_euclid(turn).checked_add(width - 1)?;
        for (atom, step) in sum.without(&lane).terms {
            if step % turn != 0 {
                let count = self.counts.get(&atom).filter(|_| step > 0)?;
                reach = reach.checked_add(step.checked_mul(count - 1)?)?;
            }
        }
        Some(reach < run)
    }
}

/// Moves loads of what lanes hold to where all lanes of a row are.
struct Meet<'p> {
    program: &'p mut Program,
    lanes: u32,
    held: &'p Set<BufId>,
}

impl Meet<'_> {
    /// Code of the block.
    fn code(&mut self, s: Stmt) -> Stmt {
        match s {
            Stmt::For(l) if l.kind == ForKind::GpuThreads => self.phase(*l),
            other => visit::map_stmt(other, |e| e.clone(), |inner| deep(|| self.code(inner))),
        }
    }
    /// All lanes run the innermost loop, and those that would not have, do nothing in it.
    fn phase(&mut self, l: For) -> Stmt {
        let For { id, kind, min, extent, body, .. } = l;
        if matches!(&body, Stmt::For(inner) if inner.kind == ForKind::GpuThreads) {
            let body = self.code(body);
            return build::for_loop(id, kind, min, extent, body);
        }
        let mut vary = Set::from_iter([Sym::Loop(id)]);
        if !self.loads(&body) || build::as_int(&extent) == Some(self.lanes.into()) {
            let body = self.thread(body, &mut vary);
            return build::for_loop(id, kind, min, extent, body);
        }
        let runs = build::lt(build::sub(build::loop_var(id), min.clone()), extent);
        let body = self.guard(runs, body, &mut vary);
        build::for_loop(id, kind, min, build::int(self.lanes.into()), body)
    }
    /// Returns true if `s` loads elements that lanes hold.
    fn loads(&self, s: &Stmt) -> bool {
        walk::any_stmt(s, &mut |s| {
            let mut found = false;
            visit::for_each_expr(s, |e| found |= held_in(e, self.held).is_some());
            found
        })
    }
    /// Code of a thread. `vary` are the symbols that differ from lane to lane.
    fn thread(&mut self, s: Stmt, vary: &mut Set<Sym>) -> Stmt {
        match s {
            Stmt::If { cond, then, otherwise }
                if varies(&cond, vary) && (self.loads(&then) || self.loads(&otherwise)) =>
            {
                let opposite = build::not(cond.clone());
                build::block([self.guard(cond, *then, vary), self.guard(opposite, *otherwise, vary)])
            }
            Stmt::Let { bindings, body } => {
                note(&bindings, vary);
                let body = self.thread(*body, vary);
                build::let_in(bindings, body)
            }
            Stmt::For(l) => {
                if varies(&l.min, vary) || varies(&l.extent, vary) {
                    vary.insert(Sym::Loop(l.id));
                }
                let body = self.thread(l.body, vary);
                build::loop_of(For { body, ..*l })
            }
            other => visit::map_stmt(other, |e| e.clone(), |inner| deep(|| self.thread(inner, vary))),
        }
    }
    /// Emits `s` under the condition `cond`. The condition is evaluated once, since `s` may change what it depends on.
    fn guard(&mut self, cond: Expr, s: Stmt, vary: &mut Set<Sym>) -> Stmt {
        if build::is_nothing(&s) {
            return s;
        }
        let name = fresh_temp(self.program);
        vary.insert(name);
        let on = build::typed_sym(name, Type::BOOL);
        let body = self.only(&on, s, vary);
        build::let_in(vec![(name, cond)], body)
    }
    /// Emits `s` under the condition `on`, with loads of held elements that run in any case.
    fn only(&mut self, on: &Expr, s: Stmt, vary: &mut Set<Sym>) -> Stmt {
        if !self.loads(&s) {
            return build::if_else(on.clone(), s, build::nothing());
        }
        match s {
            Stmt::Block(list) => build::block(list.into_iter().map(|s| deep(|| self.only(on, s, vary)))),
            Stmt::Let { bindings, body } => {
                let bindings: Vec<_> = bindings.into_iter().map(|(s, e)| (s, where_on(&e, on))).collect();
                note(&bindings, vary);
                let body = self.only(on, *body, vary);
                build::let_in(bindings, body)
            }
            Stmt::If { cond, then, otherwise } => {
                let cond = where_on(&cond, on);
                let opposite = build::and(on.clone(), build::not(cond.clone()));
                let then = self.guard(build::and(on.clone(), cond), *then, vary);
                build::block([then, self.guard(opposite, *otherwise, vary)])
            }
            Stmt::For(l) if !varies(&l.min, vary) && !varies(&l.extent, vary) && l.condition.is_none() => {
                let body = self.only(on, l.body, vary);
                build::for_loop(l.id, l.kind, l.min, l.extent, body)
            }
            Stmt::Alloc { buf, count, constant, body } => {
                Stmt::Alloc { buf, count, constant, body: Box::new(self.only(on, *body, vary)) }
            }
            Stmt::Produce { func, body } => Stmt::Produce { func, body: Box::new(self.only(on, *body, vary)) },
            Stmt::Store { buf, index, value, mask } => self.store(on, buf, index, value, mask),
            // `loaded_apart` says what it is.
            other => build::if_else(on.clone(), other, build::nothing()),
        }
    }
    fn store(&mut self, on: &Expr, buf: BufId, index: Expr, value: Expr, mask: Option<Expr>) -> Stmt {
        let mut bindings = Vec::new();
        let mut named = |program: &mut Program, e: Expr| {
            let (name, ty) = (fresh_temp(program), e.ty());
            bindings.push((name, where_on(&e, on)));
            build::typed_sym(name, ty)
        };
        let mut early = |cx: &mut Self, e: Expr| match held_in(&e, cx.held) {
            Some(_) => named(cx.program, e),
            None => e,
        };
        let (index, value) = (early(self, index), early(self, value));
        let mask = mask.map(|m| early(self, m));
        let store = Stmt::Store { buf, index, value, mask };
        build::let_in(bindings, build::if_else(on.clone(), store, build::nothing()))
    }
}

/// Notes which of the names bound here differ from lane to lane.
fn note(bindings: &[(Sym, Expr)], vary: &mut Set<Sym>) {
    for (s, value) in bindings {
        if varies(value, vary) {
            vary.insert(*s);
        }
    }
}

/// `e` whose loads access nothing where `on` is false.
fn where_on(e: &Expr, on: &Expr) -> Expr {
    visit::Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Load { buf, index, mask } => {
            let elem = n.ty().scalar().expect("loads are data");
            let (index, lanes) = (done(index), n.lanes());
            let on = build::broadcast(on.clone(), lanes);
            let mask = match mask {
                Some(mask) => lanes::binary(BinOp::BitAnd, done(mask), on),
                None => on,
            };
            build::load(*buf, elem, index, Some(mask))
        }
        _ => visit::map_children(n, done),
    })
}
