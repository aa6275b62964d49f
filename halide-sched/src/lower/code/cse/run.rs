//! Neighbouring stores and the names that they use.

use super::names::{Names, Root};
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, For, Program, Stmt, Sym, build};

/// Stores and counts in order, with the names they use.
#[derive(Default)]
pub(super) struct Run {
    /// The names and their values.
    names: Map<Sym, Expr>,
    /// In the order in which they were bound.
    order: Vec<Sym>,
    /// Stores and counts, and conditions around some.
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
        // Stores under a condition stay together, so that what they load without a name is not moved.
        let moved = if matches!(s, Stmt::If { .. }) { uses.named } else { uses.loaded };
        if several && (clash(&moved, &uses.stored) || clash(&moved, &self.stored)) || clash(&self.fixed, &uses.stored) {
            return Some(s);
        }
        self.stored.extend(uses.stored);
        if several {
            self.fixed.extend(moved);
        }
        match self.without_names(s) {
            Stmt::Block(list) => self.stores.extend(list),
            other => self.stores.push(other),
        }
        None
    }

    /// `s` without its bindings, which are taken in.
    fn without_names(&mut self, s: Stmt) -> Stmt {
        match s {
            Stmt::Let { bindings, body } => {
                for (s, e) in bindings {
                    self.order.push(s);
                    self.names.insert(s, e);
                }
                self.without_names(*body)
            }
            other => visit::map_stmt(other, Expr::clone, |s| self.without_names(s)),
        }
    }

    /// The statements with names for what is common. `share` does the same for those under a condition.
    pub(super) fn finish(mut self, program: &mut Program, share: fn(&mut Program, Stmt) -> Stmt) -> Stmt {
        self.join_names();
        let mut roots = Vec::new();
        for (at, s) in self.stores.iter().enumerate() {
            let mut note = |e: &Expr, certain| roots.push(Root { e: e.clone(), at, certain });
            visit::for_each_expr(s, |e| note(e, true));
            visit::for_each_stmt(s, |inner| visit::for_each_expr_deep(inner, &mut |e| note(e, false)));
        }
        let mut names = Names::new(&roots, std::mem::take(&mut self.names), &self.stored);
        let mut made: Vec<Stmt> = Vec::new();
        for s in self.stores {
            let s = visit::map_stmt(s, |e| names.emit(e, program), |s| s);
            let here = names.named();
            names.stores_between = Uses::of(&s).leaves > 1;
            let s = visit::map_stmt(s, Expr::clone, |inner| under_condition(inner, &mut names, program));
            let s = visit::map_stmt(s, Expr::clone, |inner| share(program, inner));
            made.push(build::let_in(here, s));
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
            let mut rename = |e: &Expr| visit::substitute(e, &|s| other.get(&s).cloned());
            self.stores = self.stores.drain(..).map(|s| visit::map_exprs(s, &mut rename)).collect();
        }
    }
}

/// A statement under a condition with the names of what is evaluated in any case, and bindings of others that it uses.
fn under_condition(s: Stmt, names: &mut Names, program: &mut Program) -> Stmt {
    let s = visit::map_stmt(s, |e| names.emit_under(e, program), |s| s);
    let here = names.named();
    build::let_in(here, visit::map_stmt(s, Expr::clone, |inner| under_condition(inner, names, program)))
}

/// Bindings whose common subexpressions have names of their own.
pub(super) fn share_bindings(program: &mut Program, bindings: Vec<(Sym, Expr)>) -> Vec<(Sym, Expr)> {
    if bindings.iter().all(|(_, e)| visit::is_leaf(e)) {
        return bindings;
    }
    let roots: Vec<Root> = bindings.iter().map(|(_, e)| Root { e: e.clone(), at: 0, certain: true }).collect();
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
    // A loop's condition sees memory anew in each iteration: what is bound in front of the loop does not.
    if let Stmt::For(mut l) = s {
        let condition = l.condition.take();
        let (names, s) = share_evaluated_once(program, Stmt::For(l));
        let Stmt::For(l) = s else { return (names, s) };
        return (names, build::loop_of(For { condition, ..*l }));
    }
    share_evaluated_once(program, s)
}

fn share_evaluated_once(program: &mut Program, s: Stmt) -> (Vec<(Sym, Expr)>, Stmt) {
    let mut roots = Vec::new();
    visit::for_each_expr(&s, |e| roots.push(Root { e: e.clone(), at: 0, certain: true }));
    if roots.iter().all(|root| visit::is_leaf(&root.e)) {
        return (Vec::new(), s);
    }
    let mut names = Names::new(&roots, Map::default(), &Set::default());
    let s = visit::map_stmt(s, |e| names.emit(e, program), |s| s);
    (names.here, s)
}

/// The uses of a statement that is one or several stores under names and conditions: its buffers, and the number of its
/// leaves.
#[derive(Default)]
struct Uses {
    loaded: Set<BufId>,
    /// Buffers that names read.
    named: Set<BufId>,
    stored: Set<BufId>,
    leaves: usize,
}

impl Uses {
    /// The uses of a statement that was taken in.
    fn of(s: &Stmt) -> Uses {
        let mut uses = Uses::default();
        uses.collect(s);
        uses
    }

    /// Records the uses of `s`; returns true if it consists of names, conditions, stores, counts and prefetches only.
    fn collect(&mut self, s: &Stmt) -> bool {
        match s {
            Stmt::Store { buf, .. } => {
                self.stored.insert(*buf);
                self.leaves += 1;
            }
            Stmt::Count { .. } | Stmt::Prefetch { .. } => self.leaves += 1,
            Stmt::Let { .. } | Stmt::Block(_) | Stmt::If { .. } => {}
            _ => return false,
        }
        let is_name = matches!(s, Stmt::Let { .. });
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    self.loaded.insert(*buf);
                    self.named.extend(is_name.then_some(*buf));
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
