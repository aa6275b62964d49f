//! Names for expressions that are used more than once.

use crate::lower::loops::copy::fresh_temp;
use halide_core::ops::BinOp;
use halide_ir::hash::{Map, Set};
use halide_ir::visit;
use halide_ir::{BufId, Expr, ExprKind, Program, Sym, build};

/// The uses of a node.
struct Use {
    /// The number of distinct parents and statements that use it.
    count: u32,
    /// The first and the last statement that needs it.
    span: (usize, usize),
    /// True if it reads memory that a statement writes: then every statement evaluates it on its own.
    pinned: bool,
}

/// Gives names to nodes while statements are rewritten in order.
pub(super) struct Names {
    /// Names that are there already, with their values.
    given: Map<Sym, Expr>,
    uses: Map<Expr, Use>,
    /// Rewritten nodes; those of one statement only, and the rest.
    local: Map<Expr, Expr>,
    global: Map<Expr, Expr>,
    /// Names for the statement at hand.
    pub(super) here: Vec<(Sym, Expr)>,
    /// Names in front of all statements.
    pub(super) front: Vec<(Sym, Expr)>,
}

impl Names {
    pub(super) fn new(roots: &[(Expr, usize)], given: Map<Sym, Expr>, stored: &Set<BufId>) -> Names {
        let mut names = Names {
            given,
            uses: Map::default(),
            local: Map::default(),
            global: Map::default(),
            here: Vec::new(),
            front: Vec::new(),
        };
        names.count(roots, stored);
        names
    }

    /// The operands of a node; those of a given name are its value.
    fn operands(&self, e: &Expr, f: impl FnMut(&Expr)) {
        match e.kind() {
            ExprKind::Sym(s) => self.given.get(s).into_iter().for_each(f),
            _ => visit::for_each_child(e, f),
        }
    }

    /// The nodes below `e` (and itself) that `skip` does not hold for, operands first.
    fn postorder(&self, e: &Expr, skip: impl Fn(&Expr) -> bool) -> Vec<Expr> {
        let mut order = Vec::new();
        let mut seen = Set::default();
        let mut stack = vec![(e.clone(), false)];
        while let Some((e, ready)) = stack.pop() {
            if ready {
                order.push(e);
            } else if !skip(&e) && seen.insert(e.clone()) {
                stack.push((e.clone(), true));
                let first = stack.len();
                self.operands(&e, |c| stack.push((c.clone(), false)));
                stack[first..].reverse();
            }
        }
        order
    }

    fn count(&mut self, roots: &[(Expr, usize)], stored: &Set<BufId>) {
        let mut order: Vec<Expr> = Vec::new();
        for (root, at) in roots {
            let fresh = self.postorder(root, |e| self.uses.contains_key(e));
            for e in fresh {
                let mut pinned = matches!(e.kind(), ExprKind::Load { buf, .. } if stored.contains(buf));
                self.operands(&e, |c| pinned |= self.uses[c].pinned);
                self.uses.insert(e.clone(), Use { count: 0, span: (*at, *at), pinned });
                order.push(e);
            }
            self.note(root, (*at, *at));
        }
        for e in order.iter().rev() {
            let span = self.uses[e].span;
            let mut operands = Vec::new();
            self.operands(e, |c| operands.push(c.clone()));
            operands.iter().for_each(|c| self.note(c, span));
        }
    }

    fn note(&mut self, e: &Expr, span: (usize, usize)) {
        let used = self.uses.get_mut(e).expect("every node was visited");
        used.count += 1;
        used.span = (used.span.0.min(span.0), used.span.1.max(span.1));
    }

    /// `root` as the statement at hand uses it; what gets a name is added to `here` or `front`.
    pub(super) fn emit(&mut self, root: &Expr, program: &mut Program) -> Expr {
        for e in self.postorder(root, |e| self.local.contains_key(e) || self.global.contains_key(e)) {
            let made = visit::map_children(&e, |c| self.made(c));
            let used = &self.uses[&e];
            let everywhere = used.span.0 != used.span.1 && !used.pinned;
            let name = match e.kind() {
                ExprKind::Sym(s) => self.given.get(s).map(|value| (*s, self.made(value))),
                _ if used.count > 1 && worth_naming(&e) => Some((fresh_temp(program), made.clone())),
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
            if everywhere { &mut self.global } else { &mut self.local }.insert(e, made);
        }
        self.made(root)
    }

    fn made(&self, e: &Expr) -> Expr {
        self.local.get(e).or_else(|| self.global.get(e)).expect("operands come first").clone()
    }

    /// Forgets what only the statement at hand knows.
    pub(super) fn leave(&mut self) {
        self.local.clear();
    }
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
