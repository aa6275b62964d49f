//! Collects the conditions under which an iteration of a loop has effects.

use super::transient::Transient;
use crate::tuning::{MOST_SETTLED, MOST_SETTLED_NODES};
use halide_core::ops::BinOp;
use halide_ir::any_lane::any_lane;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, Stmt, Sym, build};

/// The condition of a loop.
pub(super) struct Found {
    /// Holds if one of the effects may happen in this iteration or a later one.
    pub condition: Expr,
    /// Scalar conditions that hold wherever it does.
    pub known: Vec<Expr>,
    /// The buffers that the loop stores to.
    pub stored: Set<BufId>,
}

/// A part of a conjunction.
pub(super) struct Part {
    /// The part in the code's words, but for names of conjunctions.
    pub said: Expr,
    /// Without names and marks.
    pub whole: Expr,
}

/// The parts of a conjunction, in which names that `value_of` knows are looked through.
pub(super) fn parts(cond: &Expr, value_of: &dyn Fn(Sym) -> Option<Expr>) -> Vec<Part> {
    let mut all = Vec::new();
    let mut pending = vec![cond.clone()];
    while let Some(e) = pending.pop() {
        match e.kind() {
            ExprKind::Likely(of) => pending.push(of.clone()),
            ExprKind::Binary(BinOp::BitAnd, a, b) => pending.extend([b.clone(), a.clone()]),
            ExprKind::Sym(s) if value_of(*s).is_some_and(|value| is_conjunction(&value)) => {
                pending.extend(value_of(*s));
            }
            _ => all.push(Part { whole: expanded(&e, value_of), said: e }),
        }
    }
    all
}

fn is_conjunction(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Likely(of) => is_conjunction(of),
        kind => matches!(kind, ExprKind::Binary(BinOp::BitAnd, ..)),
    }
}

/// `e` without names that `value_of` knows, and without marks.
pub(super) fn expanded(e: &Expr, value_of: &dyn Fn(Sym) -> Option<Expr>) -> Expr {
    visit::without_likely(&visit::substitute(e, value_of))
}

/// The value of a name.
pub(super) fn value_of(names: &[(Sym, Expr)], s: Sym) -> Option<Expr> {
    names.iter().rev().find(|(symbol, _)| *symbol == s).map(|(_, value)| value.clone())
}

/// Returns true if `e` loads.
pub(super) fn loads(e: &Expr) -> bool {
    visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }))
}

/// The search in the body of a loop.
pub(super) struct Search {
    /// The symbols that the loop and its body bind.
    bound: Set<Sym>,
    /// The values of names, without names of the body.
    definitions: Map<Sym, Expr>,
    /// Buffers that live in the body alone.
    own: Set<BufId>,
    /// Buffers beyond it that it stores to.
    stored: Set<BufId>,
    /// Loads that each iteration makes.
    certain: Set<Expr>,
    /// The conditions of effects, each a conjunction.
    effects: Vec<Vec<Condition>>,
}

/// A condition that is the same for all iterations but for what memory holds.
#[derive(Clone, PartialEq)]
struct Condition {
    /// The condition in the code's words.
    plain: Expr,
    /// With loads that are made only where the code makes them.
    safe: Expr,
}

/// The circumstances under which a statement runs.
#[derive(Clone, Default)]
struct Guard {
    conditions: Vec<Condition>,
    /// True under a condition that changes with the iteration.
    varies: bool,
}

impl Search {
    /// The condition of a loop; `None` if an effect has none that can change in the loop.
    pub(super) fn of(l: &For, transient: &Transient) -> Option<Found> {
        let mut search = Search {
            bound: Set::from_iter([Sym::Loop(l.id)]),
            definitions: Map::default(),
            own: Set::default(),
            stored: Set::default(),
            certain: Set::default(),
            effects: Vec::new(),
        };
        search.note(&l.body, transient)?;
        if search.stored.is_empty() {
            return None;
        }
        search.collect_certain(&l.body);
        search.effects_of(&l.body, &Guard::default())?;
        search.found()
    }

    /// Notes names and what is stored; `None` where there is something that is not only computed and stored.
    fn note(&mut self, s: &Stmt, transient: &Transient) -> Option<()> {
        self.own.extend(transient.own(s));
        match s {
            Stmt::Let { bindings, .. } => {
                for (symbol, value) in bindings {
                    let value = self.whole(value);
                    self.bound.insert(*symbol);
                    self.definitions.insert(*symbol, value);
                }
            }
            Stmt::For(l) if l.kind == ForKind::Serial => _ = self.bound.insert(Sym::Loop(l.id)),
            Stmt::Store { buf, .. } if !self.own.contains(buf) => _ = self.stored.insert(*buf),
            Stmt::Store { .. } | Stmt::Block(_) | Stmt::If { .. } | Stmt::Produce { .. } | Stmt::Alloc { .. } => {}
            Stmt::Assert { .. } | Stmt::Print { .. } | Stmt::Prefetch { .. } | Stmt::Count { .. } => {}
            _ => return None,
        }
        visit::nested(s).try_for_each(|inner| visit::deep(|| self.note(inner, transient)))
    }

    fn whole(&self, e: &Expr) -> Expr {
        expanded(e, &|s| self.definitions.get(&s).cloned())
    }

    /// Notes the loads of what runs in every iteration.
    fn collect_certain(&mut self, s: &Stmt) {
        match s {
            Stmt::If { cond, .. } => self.add_loads(cond),
            Stmt::For(l) => {
                [&l.min, &l.extent].into_iter().for_each(|e| self.add_loads(e));
                if build::as_int(&l.extent).is_some_and(|n| n > 0) {
                    match &l.condition {
                        Some(condition) => self.add_loads(condition),
                        None => self.collect_certain(&l.body),
                    }
                }
            }
            _ => {
                visit::for_each_expr(s, |e| self.add_loads(e));
                visit::for_each_stmt(s, |inner| self.collect_certain(inner));
            }
        }
    }

    fn add_loads(&mut self, e: &Expr) {
        visit::for_each_node(&self.whole(e), &mut |n| {
            if matches!(n.kind(), ExprKind::Load { .. }) {
                self.certain.insert(n.clone());
            }
        });
    }

    /// Notes the conditions of the effects in `s`; `None` if one has none that counts.
    fn effects_of(&mut self, s: &Stmt, guard: &Guard) -> Option<()> {
        match s {
            Stmt::Block(_) | Stmt::Let { .. } | Stmt::Produce { .. } | Stmt::Alloc { .. } => {
                visit::nested(s).try_for_each(|inner| visit::deep(|| self.effects_of(inner, guard)))
            }
            Stmt::For(l) => {
                let mut inside = match &l.condition {
                    Some(condition) => self.under(guard, condition),
                    None => guard.clone(),
                };
                inside.varies |= build::as_int(&l.extent).is_none_or(|n| n < 1);
                visit::deep(|| self.effects_of(&l.body, &inside))
            }
            Stmt::If { cond, then, otherwise } => {
                let yes = self.under(guard, cond);
                visit::deep(|| self.effects_of(then, &yes))?;
                let no = self.under(guard, &build::not(cond.clone()));
                visit::deep(|| self.effects_of(otherwise, &no))
            }
            Stmt::Store { buf, .. } if self.own.contains(buf) => Some(()),
            Stmt::Store { mask: Some(mask), .. } => self.effect(self.under(guard, mask)),
            Stmt::Prefetch { .. } => Some(()),
            _ => self.effect(guard.clone()),
        }
    }

    /// The circumstances under which `cond` holds as well. Parts that cannot be asked in front of an iteration are left
    /// out.
    fn under(&self, guard: &Guard, cond: &Expr) -> Guard {
        let around = guard.conditions.iter().map(|c| any_lane(&c.safe)).reduce(build::and);
        let mut made = guard.clone();
        for part in parts(cond, &|s| self.definitions.get(&s).cloned()) {
            if self.changes_with_iteration(&part.whole) {
                made.varies = true;
                continue;
            }
            let safe = match &around {
                _ if !self.has_doubtful_load(&part.whole) => part.whole.clone(),
                _ if guard.varies => continue,
                Some(around) => loading_where(&part.whole, around),
                None => part.whole.clone(),
            };
            made.conditions.push(Condition { plain: part.whole, safe });
        }
        made
    }

    /// Returns true if `e` depends on the iteration in another way than by what the loop stores.
    fn changes_with_iteration(&self, e: &Expr) -> bool {
        visit::any_node(e, |n| match n.kind() {
            ExprKind::Sym(s) => self.bound.contains(s),
            ExprKind::Load { buf, .. } => self.own.contains(buf),
            ExprKind::Read { .. } => true,
            _ => false,
        })
    }

    fn has_doubtful_load(&self, e: &Expr) -> bool {
        visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { .. }) && !self.certain.contains(n))
    }

    /// Returns true if what the loop stores may change `e`.
    fn is_settled_by_stores(&self, e: &Expr) -> bool {
        visit::any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if self.stored.contains(buf)))
    }

    fn effect(&mut self, guard: Guard) -> Option<()> {
        if !guard.conditions.iter().any(|c| self.is_settled_by_stores(&c.plain)) {
            return None;
        }
        if !self.effects.contains(&guard.conditions) {
            self.effects.push(guard.conditions);
        }
        (self.effects.len() <= MOST_SETTLED).then_some(())
    }

    /// The condition that one of the effects can happen.
    fn found(self) -> Option<Found> {
        let mut by_lanes: Vec<Expr> = Vec::new();
        for effect in &self.effects {
            let lanes = effect.iter().map(|c| c.safe.lanes()).max()?;
            let all = effect.iter().map(|c| build::broadcast(c.safe.clone(), lanes)).reduce(build::and)?;
            match by_lanes.iter_mut().find(|e| e.lanes() == lanes) {
                Some(same) if *same == all => {}
                Some(same) => *same = build::or(same.clone(), all),
                None => by_lanes.push(all),
            }
        }
        let condition = by_lanes.iter().map(any_lane).reduce(build::or)?;
        let mut nodes = 0;
        visit::for_each_node(&condition, &mut |_| nodes += 1);
        let known = match &self.effects[..] {
            [only] => only.iter().map(|c| c.plain.clone()).filter(|e| e.lanes() == 1).collect(),
            _ => Vec::new(),
        };
        (nodes <= MOST_SETTLED_NODES).then_some(Found { condition, known, stored: self.stored })
    }
}

/// `e` whose loads are made only where the scalar `on` holds.
fn loading_where(e: &Expr, on: &Expr) -> Expr {
    Memo::new().rewrite(e, |n, done| match n.kind() {
        ExprKind::Load { buf, index, mask } => {
            let elem = n.ty().scalar().expect("loads are data");
            let on = build::broadcast(on.clone(), n.lanes());
            let mask = mask.as_ref().map_or(on.clone(), |mask| build::and(done(mask), on.clone()));
            build::load(*buf, elem, done(index), Some(mask))
        }
        _ => visit::map_children(n, done),
    })
}
