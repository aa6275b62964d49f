//! Names for expressions that are used more than once.

use crate::lower::loops::copy::fresh_temp;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set, begin};
use halide_ir::visit::{self, Pending};
use halide_ir::{BufId, Expr, ExprKind, Program, Sym, build};
use smallvec::smallvec;
use std::collections::hash_map::Entry;

/// An expression of a statement.
pub(super) struct Root {
    pub(super) e: Expr,
    /// The number of the statement.
    pub(super) at: usize,
    /// True if it is evaluated whenever the statement is reached, and not under a condition of it.
    pub(super) certain: bool,
}

/// The uses of a node.
struct Use {
    /// The number of distinct parents and statements that use it.
    count: u32,
    /// The first and the last statement that needs it.
    span: (usize, usize),
    /// True if it reads memory that a statement writes: then every statement evaluates it on its own.
    pinned: bool,
    /// True if some statement evaluates it in any case.
    certain: bool,
}

impl Use {
    /// True if all statements share it.
    fn is_shared(&self) -> bool {
        self.span.0 != self.span.1 && !self.pinned && self.certain
    }
}

/// Gives names to nodes while statements are rewritten in order.
pub(super) struct Names {
    /// Names that are there already, with their values.
    given: Map<Sym, Expr>,
    uses: Map<Expr, Use>,
    /// Rewritten nodes: those under a condition of the statement at hand, others of it, and those of all statements.
    under: Map<Expr, Expr>,
    local: Map<Expr, Expr>,
    global: Map<Expr, Expr>,
    /// True if something under a condition of the statement at hand comes behind a store of it.
    pub(super) stores_between: bool,
    /// Names for the statement at hand.
    pub(super) here: Vec<(Sym, Expr)>,
    /// Names in front of all statements.
    pub(super) front: Vec<(Sym, Expr)>,
}

impl Names {
    pub(super) fn new(roots: &[Root], given: Map<Sym, Expr>, stored: &Set<BufId>) -> Names {
        let mut names = Names {
            given,
            uses: Map::default(),
            under: Map::default(),
            local: Map::default(),
            global: Map::default(),
            stores_between: false,
            here: Vec::new(),
            front: Vec::new(),
        };
        names.count(roots, stored);
        names
    }

    fn count(&mut self, roots: &[Root], stored: &Set<BufId>) {
        let Names { given, uses, .. } = self;
        let mut order: Vec<&Expr> = Vec::new();
        let mut stack = Pending::new();
        begin(uses, 28);
        for Root { e: root, at, certain } in roots {
            stack.push((root, false));
            while let Some((e, ready)) = stack.pop() {
                if ready {
                    let mut pinned = matches!(e.kind(), ExprKind::Load { buf, .. } if stored.contains(buf));
                    operands(given, e, |c| pinned |= uses[c].pinned);
                    uses.get_mut(e).expect("it was entered").pinned = pinned;
                    order.push(e);
                } else if let Entry::Vacant(slot) = uses.entry(e.clone()) {
                    slot.insert(Use { count: 0, span: (*at, *at), pinned: false, certain: false });
                    stack.push((e, true));
                    push_operands(given, e, &mut stack);
                }
            }
            note(uses, root, (*at, *at), *certain);
        }
        for e in order.into_iter().rev() {
            let Use { span, certain, .. } = uses[e];
            operands(given, e, |c| note(uses, c, span, certain));
        }
    }

    /// `root` as the statement at hand uses it; what gets a name is added to `here` or `front`.
    pub(super) fn emit(&mut self, root: &Expr, program: &mut Program) -> Expr {
        self.emit_with(root, program, true)
    }

    /// `root` as it stands under a condition of the statement at hand: what is evaluated in any case has its name, and
    /// names that were there are bound anew in `here`.
    pub(super) fn emit_under(&mut self, root: &Expr, program: &mut Program) -> Expr {
        self.emit_with(root, program, false)
    }

    fn emit_with(&mut self, root: &Expr, program: &mut Program, is_certain: bool) -> Expr {
        let mut stack: Pending<'_> = smallvec![(root, false)];
        while let Some((e, ready)) = stack.pop() {
            if !ready {
                // What stands below it in the stack a second time is known by then.
                if self.made(e, is_certain).is_none() {
                    stack.push((e, true));
                    push_operands(&self.given, e, &mut stack);
                }
                continue;
            }
            let made = visit::map_children(e, |c| self.made_of(c, is_certain));
            let used = &self.uses[e];
            let everywhere = used.is_shared();
            let is_bound_here = everywhere || is_certain;
            let name = match e.kind() {
                ExprKind::Sym(s) => self.given.get(s).map(|value| {
                    let name = if is_bound_here { *s } else { fresh_temp(program) };
                    (name, self.made_of(value, is_certain))
                }),
                _ if is_bound_here && used.count > 1 && worth_naming(e) => Some((fresh_temp(program), made.clone())),
                _ => None,
            };
            let made = match name {
                None => made,
                Some((s, value)) => {
                    let ty = value.ty();
                    if everywhere { &mut self.front } else { &mut self.here }.push((s, value));
                    build::typed_sym(s, ty)
                }
            };
            let table = match (everywhere, is_certain) {
                (true, _) => &mut self.global,
                (false, true) => &mut self.local,
                (false, false) => &mut self.under,
            };
            begin(table, 28);
            table.insert(e.clone(), made);
        }
        self.made_of(root, is_certain)
    }

    /// The node that `e` became, if it was met. Behind a store under a condition, memory may have other values.
    fn made(&self, e: &Expr, is_certain: bool) -> Option<&Expr> {
        let is_kept = is_certain || !self.stores_between;
        let local = || self.local.get(e).filter(|_| is_kept || !self.uses[e].pinned);
        self.global.get(e).or_else(local).or_else(|| self.under.get(e))
    }

    fn made_of(&self, e: &Expr, is_certain: bool) -> Expr {
        self.made(e, is_certain).expect("operands come first").clone()
    }

    /// The names for what was emitted last. Forgets what stands under a condition.
    pub(super) fn named(&mut self) -> Vec<(Sym, Expr)> {
        self.under.clear();
        std::mem::take(&mut self.here)
    }

    /// Forgets what only the statement at hand knows.
    pub(super) fn leave(&mut self) {
        self.local.clear();
    }
}

/// Calls `f` on the operands of a node; those of a given name are its value.
fn operands<'e>(given: &'e Map<Sym, Expr>, e: &'e Expr, f: impl FnMut(&'e Expr)) {
    match e.kind() {
        ExprKind::Sym(s) => given.get(s).into_iter().for_each(f),
        _ => visit::for_each_child(e, f),
    }
}

/// Pushes the operands of a node, the first one last.
fn push_operands<'e>(given: &'e Map<Sym, Expr>, e: &'e Expr, stack: &mut Pending<'e>) {
    match e.kind() {
        ExprKind::Sym(s) => stack.extend(given.get(s).map(|value| (value, false))),
        _ => visit::push_children(e, stack),
    }
}

fn note(uses: &mut Map<Expr, Use>, e: &Expr, span: (usize, usize), certain: bool) {
    let used = uses.get_mut(e).expect("every node was visited");
    used.count += 1;
    used.certain |= certain;
    used.span = (used.span.0.min(span.0), used.span.1.max(span.1));
}

/// Returns true if an expression that is used more than once gets a name.
fn worth_naming(e: &Expr) -> bool {
    match e.kind() {
        ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Sym(_) | ExprKind::Param(_) => false,
        ExprKind::Ramp { .. } | ExprKind::Broadcast(_) | ExprKind::Likely(_) => false,
        ExprKind::Binary(BinOp::Add | BinOp::Sub, _, b) if e.ty().is_index() => build::as_int(b).is_none(),
        _ => true,
    }
}
