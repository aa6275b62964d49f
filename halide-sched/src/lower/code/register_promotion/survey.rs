//! Collects where the body of a loop reads and writes, and what it binds.

use halide_ir::hash::{Map, Set};
use halide_ir::{BufId, Expr, ExprKind, ForKind, Stmt, Sym, build, visit};

/// A place that a loop accesses.
#[derive(Clone)]
pub(super) struct Access {
    pub buf: BufId,
    pub index: Expr,
    /// True if some iterations read it.
    is_read: bool,
    /// True if the first access is a load, in every iteration.
    is_read_first: bool,
    /// True if the first access is a store, in every iteration.
    is_stored_first: bool,
    /// The stores in the code.
    stores: u32,
    /// True if every iteration stores it.
    is_stored: bool,
}

/// Accesses of a loop's body.
#[derive(Default)]
pub(super) struct Survey {
    /// The places in the order in which they are met first.
    pub accesses: Vec<Access>,
    /// The position in `accesses` of a place.
    known: Map<(BufId, Expr), usize>,
    /// The buffers that are accessed in another way than at whole lanes next to each other.
    others: Set<BufId>,
    /// The names that the code binds.
    varying: Set<Sym>,
}

/// A mark of loops that do more than to compute, load and store.
struct Effects;

impl Access {
    fn new(buf: BufId, index: Expr) -> Access {
        let (is_read, is_read_first, is_stored_first, is_stored) = (false, false, false, false);
        Access { buf, index, is_read, is_read_first, is_stored_first, stores: 0, is_stored }
    }
    fn is_new(&self) -> bool {
        !self.is_read && self.stores == 0
    }
    /// Returns true if it must be loaded before.
    pub(super) fn is_loaded(&self) -> bool {
        self.is_read_first
    }
    /// Returns true if code that runs once stores it more than once.
    pub(super) fn is_repeated(&self) -> bool {
        self.stores > 1
    }
}

impl Survey {
    /// The survey of code that only computes, loads and stores.
    pub(super) fn of(s: &Stmt) -> Option<Survey> {
        let mut survey = Survey::default();
        survey.statement(s, true).ok().map(|()| survey)
    }
    /// Returns true if a buffer is accessed only at these places, which stay where they are, also where `counter` is
    /// another one, and registers can hold them.
    pub(super) fn stay(&self, buf: BufId, places: &[&Access], counter: Option<Sym>) -> bool {
        let counts = |n: &Expr| matches!(n.kind(), ExprKind::Sym(s) if Some(*s) == counter);
        let stays = |a: &Access| !visit::any_node(&a.index, |n| self.changes(n) || counts(n));
        let is_known = |a: &Access| a.is_stored && (a.is_read_first || a.is_stored_first);
        !self.others.contains(&buf) && places.iter().all(|a| is_known(a) && stays(a))
    }
    /// Returns true for what may have another value in the next iteration.
    fn changes(&self, n: &Expr) -> bool {
        match n.kind() {
            ExprKind::Sym(s) => self.varying.contains(s),
            ExprKind::Load { .. } | ExprKind::Read { .. } => true,
            _ => false,
        }
    }
    /// Notes what a statement does, which runs in every iteration if it is `certain`.
    fn statement(&mut self, s: &Stmt, certain: bool) -> Result<(), Effects> {
        visit::deep(|| self.note(s, certain))
    }
    fn note(&mut self, s: &Stmt, certain: bool) -> Result<(), Effects> {
        match s {
            Stmt::Block(list) => {
                let mut certain = certain;
                for inner in list {
                    self.statement(inner, certain)?;
                    // What follows a check only runs if it holds.
                    certain &= !matches!(inner, Stmt::Assert { .. });
                }
            }
            Stmt::Let { bindings, body } => {
                for (symbol, value) in bindings {
                    self.varying.insert(*symbol);
                    self.loads(value, certain);
                }
                self.statement(body, certain)?;
            }
            Stmt::For(l) if l.kind == ForKind::Serial => {
                self.varying.insert(Sym::Loop(l.id));
                self.loads(&l.min, certain);
                self.loads(&l.extent, certain);
                self.statement(&l.body, certain && build::as_int(&l.extent).is_some_and(|n| n > 0))?;
            }
            Stmt::If { cond, then, otherwise } => {
                self.loads(cond, certain);
                self.statement(then, false)?;
                self.statement(otherwise, false)?;
            }
            Stmt::Store { buf, index, value, mask } => {
                let parts = [Some(index), Some(value), mask.as_ref()];
                parts.into_iter().flatten().for_each(|e| self.loads(e, certain));
                match self.access(*buf, index, mask.as_ref()) {
                    Some(access) => {
                        access.is_stored_first |= certain && access.is_new();
                        access.stores += 1;
                        access.is_stored |= certain;
                    }
                    None => _ = self.others.insert(*buf),
                }
            }
            Stmt::Produce { body, .. } => self.statement(body, certain)?,
            Stmt::Alloc { buf, body, .. } => {
                // It is not there in front of the loop.
                self.others.insert(*buf);
                visit::for_each_expr(s, |e| self.loads(e, certain));
                self.statement(body, certain)?;
            }
            Stmt::Assert { .. } | Stmt::Free { .. } | Stmt::Count { .. } | Stmt::Prefetch { .. } => {
                visit::for_each_expr(s, |e| self.loads(e, false));
            }
            _ => return Err(Effects),
        }
        Ok(())
    }
    /// Notes the loads of an expression.
    fn loads(&mut self, e: &Expr, certain: bool) {
        let mut all = Vec::new();
        _ = visit::any_node(e, |n| {
            if let ExprKind::Load { buf, index, mask } = n.kind() {
                all.push((*buf, index.clone(), mask.clone()));
            }
            false
        });
        for (buf, index, mask) in all {
            match self.access(buf, &index, mask.as_ref()) {
                // Whoever stored before has no first load.
                Some(access) => {
                    access.is_read_first |= certain && access.stores == 0;
                    access.is_read = true;
                }
                None => _ = self.others.insert(buf),
            }
        }
    }
    /// The place of an access to whole lanes next to each other, or of one element.
    fn access(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>) -> Option<&mut Access> {
        let dense = match index.kind() {
            ExprKind::Ramp { stride, .. } => build::as_int(stride) == Some(1),
            _ => index.lanes() == 1,
        };
        if !dense || mask.is_some() {
            return None;
        }
        let at = *self.known.entry((buf, index.clone())).or_insert_with(|| {
            let access = Access::new(buf, index.clone());
            self.accesses.push(access);
            self.accesses.len() - 1
        });
        self.accesses.get_mut(at)
    }
}
