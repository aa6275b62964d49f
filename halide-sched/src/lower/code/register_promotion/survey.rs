//! Collects where the body of a loop reads and writes, under which conditions, and what it binds.

use super::guards::{Condition, GuardId, Guards};
use halide_ir::hash::{Map, Set};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, Stmt, Sym, build, visit};

/// Whole lanes next to each other, or one element, of a buffer; with a mask, those of the lanes that it has.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub buf: BufId,
    pub index: Expr,
    pub mask: Option<Expr>,
}

/// A load or a store at a place.
struct Event {
    /// The conditions under which it runs.
    guard: GuardId,
    is_store: bool,
    /// True if it runs in every iteration in which its conditions hold.
    is_certain: bool,
}

/// A place that a loop accesses.
pub(super) struct Access {
    pub place: Place,
    /// Loads and stores in the order of the code.
    events: Vec<Event>,
}

/// A place that can be in a register while a loop runs.
#[derive(Clone)]
pub(super) struct Promoted {
    pub place: Place,
    /// Conditions that do not change: where one fails, nothing accesses the place.
    pub guards: Vec<Condition>,
    /// True if the first access is a load.
    pub is_loaded: bool,
    /// True if code that runs once stores it more than once.
    pub is_repeated: bool,
}

/// Accesses of a loop's body.
#[derive(Default)]
pub(super) struct Survey {
    /// The places in the order in which they are met first.
    pub accesses: Vec<Access>,
    /// The position in `accesses` of a place.
    known: Map<Place, usize>,
    /// The buffers that are accessed in another way than at places.
    others: Set<BufId>,
    /// The names that the code binds.
    varying: Set<Sym>,
    guards: Guards,
}

/// A mark of loops that do more than to compute, load and store.
struct Effects;

/// The circumstances under which a statement runs.
#[derive(Clone, Copy)]
struct Run {
    guard: GuardId,
    /// True if it runs in every iteration in which the guard's conditions hold.
    is_certain: bool,
}

impl Run {
    fn doubtful(self) -> Run {
        Run { is_certain: false, ..self }
    }
    fn certain_if(self, condition: bool) -> Run {
        Run { is_certain: self.is_certain && condition, ..self }
    }
}

impl Access {
    /// Returns true if code that runs once stores it more than once.
    pub(super) fn is_repeated(&self) -> bool {
        self.events.iter().filter(|e| e.is_store).count() > 1
    }
}

impl Survey {
    /// The survey of code that only computes, loads and stores.
    pub(super) fn of(s: &Stmt) -> Option<Survey> {
        let mut survey = Survey::default();
        survey.statement(s, Run { guard: Guards::NONE, is_certain: true }).ok().map(|()| survey)
    }
    /// The survey of a loop's condition and its body, in the order in which an iteration runs them.
    pub(super) fn of_loop(l: &For) -> Option<Survey> {
        let mut survey = Survey::default();
        let run = Run { guard: Guards::NONE, is_certain: true };
        l.condition.iter().for_each(|e| survey.loads(e, run));
        // Whoever promotes asks in front of the loop that it runs at all.
        survey.statement(&l.body, run).ok().map(|()| survey)
    }
    /// The places of a buffer as what registers can hold, if it is accessed only there and they stay where they are,
    /// also where `counter` is another one.
    pub(super) fn stay(&self, buf: BufId, places: &[&Access], counter: Option<Sym>) -> Option<Vec<Promoted>> {
        if self.others.contains(&buf) {
            return None;
        }
        let changes = |e: &Expr| visit::any_node(e, |n| self.changes(n, counter));
        let promoted = |a: &&Access| {
            let Place { index, mask, .. } = &a.place;
            if changes(index) || mask.as_ref().is_some_and(changes) {
                return None;
            }
            let common = a.events.iter().map(|e| e.guard).reduce(|a, b| self.guards.common(a, b))?;
            let guard = self.guards.stable(common, changes);
            let is_certain = |e: &&Event| e.is_certain && e.guard == guard;
            let first = a.events.iter().position(|e| e.is_store);
            let is_loaded = a.events[..first?].iter().any(|e| is_certain(&e));
            let is_stored_first = first == Some(0) && is_certain(&&a.events[0]);
            let is_stored = a.events.iter().filter(is_certain).any(|e| e.is_store);
            let is_known = is_stored && (is_loaded || is_stored_first);
            is_known.then(|| Promoted {
                place: a.place.clone(),
                guards: self.guards.conditions(guard),
                is_loaded,
                is_repeated: a.is_repeated(),
            })
        };
        places.iter().map(promoted).collect()
    }
    /// Returns true for what may have another value in the next iteration.
    fn changes(&self, n: &Expr, counter: Option<Sym>) -> bool {
        match n.kind() {
            ExprKind::Sym(s) => self.varying.contains(s) || Some(*s) == counter,
            ExprKind::Load { .. } | ExprKind::Read { .. } => true,
            _ => false,
        }
    }
    /// Notes what a statement does.
    fn statement(&mut self, s: &Stmt, run: Run) -> Result<(), Effects> {
        visit::deep(|| self.note(s, run))
    }
    fn note(&mut self, s: &Stmt, run: Run) -> Result<(), Effects> {
        match s {
            Stmt::Block(list) => {
                let mut run = run;
                for inner in list {
                    self.statement(inner, run)?;
                    // What follows a check only runs if it holds.
                    run = run.certain_if(!matches!(inner, Stmt::Assert { .. }));
                }
            }
            Stmt::Let { bindings, body } => {
                for (symbol, value) in bindings {
                    self.varying.insert(*symbol);
                    self.loads(value, run);
                }
                self.statement(body, run)?;
            }
            Stmt::For(l) if l.kind == ForKind::Serial => {
                self.varying.insert(Sym::Loop(l.id));
                self.loads(&l.min, run);
                self.loads(&l.extent, run);
                let runs = run.certain_if(build::as_int(&l.extent).is_some_and(|n| n > 0));
                l.condition.iter().for_each(|e| self.loads(e, runs));
                self.statement(&l.body, runs.certain_if(l.condition.is_none()))?;
            }
            Stmt::If { cond, then, otherwise } => {
                self.loads(cond, run);
                for (arm, holds) in [(then, true), (otherwise, false)] {
                    let guard = self.guards.under(run.guard, Condition { cond: cond.clone(), holds });
                    // The conditions around an uncertain statement say no more about it.
                    self.statement(arm, Run { guard, ..run })?;
                }
            }
            Stmt::Store { buf, index, value, mask } => {
                self.loads(index, run);
                mask.iter().for_each(|mask| self.loads(mask, run));
                self.stored_value(value, mask.as_ref(), run);
                self.event(*buf, index, mask.as_ref(), true, run);
            }
            Stmt::Produce { body, .. } => self.statement(body, run)?,
            Stmt::Alloc { buf, body, .. } => {
                // It is not there in front of the loop.
                self.others.insert(*buf);
                visit::for_each_expr(s, |e| self.loads(e, run));
                self.statement(body, run)?;
            }
            Stmt::Assert { .. } | Stmt::Free { .. } | Stmt::Count { .. } | Stmt::Prefetch { .. } => {
                visit::for_each_expr(s, |e| self.loads(e, run.doubtful()));
            }
            _ => return Err(Effects),
        }
        Ok(())
    }
    /// Notes the loads of a value that is stored under a mask. A register has other values than memory in lanes that a
    /// mask has not; a load under a mask can come from it only where nothing but such lanes of the same store see them.
    fn stored_value(&mut self, value: &Expr, mask: Option<&Expr>, run: Run) {
        let mut pending = vec![value.clone()];
        let (mut seen, mut others) = (Set::default(), Vec::new());
        while let Some(e) = pending.pop() {
            if !seen.insert(e.id()) {
                continue;
            }
            match e.kind() {
                ExprKind::Load { buf, index, mask: Some(under) } if Some(under) == mask => {
                    others.extend([index.clone(), under.clone()]);
                    self.event(*buf, index, Some(under), false, run);
                }
                ExprKind::Load { .. } | ExprKind::Ramp { .. } | ExprKind::Broadcast(_) | ExprKind::Shuffle(..) => {
                    others.push(e.clone());
                }
                _ => visit::for_each_child(&e, |child| match child.lanes() == e.lanes() {
                    true => pending.push(child.clone()),
                    false => others.push(child.clone()),
                }),
            }
        }
        others.iter().for_each(|e| self.loads(e, run));
    }
    /// Notes the loads of an expression.
    fn loads(&mut self, e: &Expr, run: Run) {
        let mut all = Vec::new();
        _ = visit::any_node(e, |n| {
            if let ExprKind::Load { buf, index, mask } = n.kind() {
                all.push((*buf, index.clone(), mask.is_some()));
            }
            false
        });
        for (buf, index, is_masked) in all {
            match is_masked {
                true => _ = self.others.insert(buf),
                false => self.event(buf, &index, None, false, run),
            }
        }
    }
    /// Notes an access, to whole lanes next to each other or of one element.
    fn event(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>, is_store: bool, run: Run) {
        let dense = match index.kind() {
            ExprKind::Ramp { stride, .. } => build::as_int(stride) == Some(1),
            _ => index.lanes() == 1,
        };
        if !dense {
            self.others.insert(buf);
            return;
        }
        let place = Place { buf, index: index.clone(), mask: mask.cloned() };
        let at = *self.known.entry(place.clone()).or_insert_with(|| {
            self.accesses.push(Access { place, events: Vec::new() });
            self.accesses.len() - 1
        });
        let event = Event { guard: run.guard, is_store, is_certain: run.is_certain };
        self.accesses[at].events.push(event);
    }
}
