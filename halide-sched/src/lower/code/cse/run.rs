//! Neighbouring stores and the names that they use.

use super::names::Names;
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, Sym, build};

/// Stores and counts in order, with the names they use.
#[derive(Default)]
pub(super) struct Run {
    /// The names and their values.
    names: Map<Sym, Expr>,
    /// In the order in which they were bound.
    order: Vec<Sym>,
    /// Stores and counts.
    stores: Vec<Stmt>,
    stored: Set<BufId>,
    /// Buffers that statements with several stores read: no statement of the run may write them.
    fixed: Set<BufId>,
}

impl Run {
    /// Takes `s` in, or gives it back if it does not fit.
    pub(super) fn push(&mut self, s: Stmt) -> Option<Stmt> {
        let mut uses = Uses::default();
        if !uses.collect(&s) {
            return Some(s);
        }
        let clash = |a: &Set<BufId>, b: &Set<BufId>| !a.is_disjoint(b);
        let several = uses.leaves > 1;
        if several && (clash(&uses.loaded, &uses.stored) || clash(&uses.loaded, &self.stored))
            || clash(&self.fixed, &uses.stored)
        {
            return Some(s);
        }
        self.stored.extend(uses.stored);
        if several {
            self.fixed.extend(uses.loaded);
        }
        self.take_apart(s);
        None
    }

    fn take_apart(&mut self, s: Stmt) {
        match s {
            Stmt::Let { bindings, body } => {
                for (s, e) in bindings {
                    self.order.push(s);
                    self.names.insert(s, e);
                }
                self.take_apart(*body);
            }
            Stmt::Block(list) => list.into_iter().for_each(|s| self.take_apart(s)),
            other => self.stores.push(other),
        }
    }

    /// The statements with names for what is common.
    pub(super) fn finish(mut self, program: &mut Program) -> Stmt {
        self.join_names();
        let mut roots = Vec::new();
        for (i, s) in self.stores.iter().enumerate() {
            visit::for_each_expr(s, |e| roots.push((e.clone(), i)));
        }
        let mut names = Names::new(&roots, std::mem::take(&mut self.names), &self.stored);
        let mut made: Vec<Stmt> = Vec::new();
        for s in self.stores {
            let s = visit::map_stmt(s, |e| names.emit(e, program), |s| s);
            made.push(build::let_in(std::mem::take(&mut names.here), s));
            names.leave();
        }
        build::let_in(names.front, build::block(made))
    }

    /// Lets names of equal values be one, and stand for each other where the value reads nothing that is written.
    fn join_names(&mut self) {
        let mut known: Map<Expr, Sym> = Map::default();
        let mut other: Map<Sym, Expr> = Map::default();
        let mut loads = Map::default();
        for s in &self.order {
            let value = self.names.remove(s).expect("a name of the run");
            let value = visit::substitute(&value, &|s| other.get(&s).cloned());
            let ty = value.ty();
            let same = known.get(&value).copied().filter(|_| !reads_any(&value, &self.stored, &mut loads));
            match same {
                Some(first) => {
                    other.insert(*s, build::typed_sym(first, ty));
                }
                None => {
                    known.insert(value.clone(), *s);
                    self.names.insert(*s, value);
                }
            }
        }
        if !other.is_empty() {
            let rename = |e: &Expr| visit::substitute(e, &|s| other.get(&s).cloned());
            self.stores = self.stores.drain(..).map(|s| visit::map_stmt(s, rename, |s| s)).collect();
        }
    }
}

/// Bindings whose common subexpressions have names of their own.
pub(super) fn share_bindings(program: &mut Program, bindings: Vec<(Sym, Expr)>) -> Vec<(Sym, Expr)> {
    if bindings.iter().all(|(_, e)| visit::is_leaf(e)) {
        return bindings;
    }
    let roots: Vec<(Expr, usize)> = bindings.iter().map(|(_, e)| (e.clone(), 0)).collect();
    let mut names = Names::new(&roots, Map::default(), &Set::default());
    let mut made = Vec::new();
    for (s, e) in bindings {
        let value = names.emit(&e, program);
        made.append(&mut names.here);
        made.push((s, value));
    }
    made
}

/// The direct expressions of `s` with names for what they have in common.
pub(super) fn share_direct(program: &mut Program, s: Stmt) -> (Vec<(Sym, Expr)>, Stmt) {
    let mut roots = Vec::new();
    visit::for_each_expr(&s, |e| roots.push((e.clone(), 0)));
    if roots.iter().all(|(e, _)| visit::is_leaf(e)) {
        return (Vec::new(), s);
    }
    let mut names = Names::new(&roots, Map::default(), &Set::default());
    let s = visit::map_stmt(s, |e| names.emit(e, program), |s| s);
    (names.here, s)
}

/// The uses of a statement that is one or several stores under names: its buffers, and the number of its leaves.
#[derive(Default)]
struct Uses {
    loaded: Set<BufId>,
    stored: Set<BufId>,
    leaves: usize,
}

impl Uses {
    /// Records the uses of `s`; returns true if it consists of names, stores, counts and prefetches only.
    fn collect(&mut self, s: &Stmt) -> bool {
        match s {
            Stmt::Store { buf, .. } => {
                self.stored.insert(*buf);
                self.leaves += 1;
            }
            Stmt::Count { .. } | Stmt::Prefetch { .. } => self.leaves += 1,
            Stmt::Let { .. } | Stmt::Block(_) => {}
            _ => return false,
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    self.loaded.insert(*buf);
                }
            });
        });
        let mut simple = true;
        visit::for_each_stmt(s, |inner| simple = simple && self.collect(inner));
        simple
    }
}

/// Returns true if `e` loads from a buffer of `bufs`; names are not looked through.
fn reads_any(e: &Expr, bufs: &Set<BufId>, table: &mut Map<Expr, bool>) -> bool {
    visit::fold(e, table, &mut |n, known| {
        let mut reads = matches!(n.kind(), ExprKind::Load { buf, .. } if bufs.contains(buf));
        visit::for_each_child(n, |c| reads = reads || known(c));
        reads
    })
}
