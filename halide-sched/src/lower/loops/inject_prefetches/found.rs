//! The box that a loop's body reads of a buffer, in most iterations.

use crate::lower::outer_scope_values::SeenFrom;
use halide_core::ids::{FuncId, IdVec};
use halide_core::ops::BinOp;
use halide_ir::hash::Set;
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, LoopId, Stmt, Sym};
use halide_solve::bounds::Interval;
use halide_solve::simplify::{Facts, simplify};

/// The box that a statement reads of a buffer.
pub(super) struct Search<'a> {
    buf: BufId,
    facts: &'a Facts,
    /// The variables of the loops that it moves with.
    moving: [Sym; 2],
    seen: SeenFrom,
    /// The coordinates of reads that were looked at.
    known: Set<Vec<Expr>>,
    found: Option<Vec<Interval>>,
}

impl<'a> Search<'a> {
    /// Starts a search for the box of `buf` that is read in a loop and moves with `loops`.
    pub(super) fn new(buf: BufId, loops: [LoopId; 2], facts: &'a Facts) -> Search<'a> {
        let (seen, known, moving) = (SeenFrom::default(), Set::default(), loops.map(Sym::Loop));
        Search { buf, facts, moving, seen, known, found: None }
    }

    /// The first and last coordinate of each dimension of what was found.
    ///
    /// # Errors
    /// Why there is no such box.
    pub(super) fn found(self) -> Result<Vec<(Expr, Expr)>, &'static str> {
        let found = self.found.ok_or("nothing in the loop reads it")?;
        let whole = |i: Interval| Some((i.min?, i.max?));
        found.into_iter().map(whole).collect::<Option<Vec<_>>>().ok_or("nothing bounds what is read of it")
    }

    /// Looks at a statement of the body.
    ///
    /// # Errors
    /// Why what it reads is of no use.
    pub(super) fn statement(&mut self, s: &Stmt, owned: &IdVec<FuncId, Vec<BufId>>) -> Result<(), &'static str> {
        visit::for_each_expr(s, |e| visit::for_each_node(e, &mut |n| self.read(n)));
        match s {
            Stmt::Realize { func, .. } if owned[*func].contains(&self.buf) => {
                return Err("each iteration has storage of its own for it");
            }
            Stmt::Let { bindings, .. } => {
                bindings.iter().for_each(|(s, e)| self.bind(*s, e));
            }
            Stmt::For(l) => {
                let (min, extent) = (self.steady(&l.min, true), self.steady(&l.extent, false));
                self.seen.bind_loop(l.id, &min, &extent, self.facts);
            }
            _ => {}
        }
        let mut made = Ok(());
        visit::for_each_stmt(s, |inner| {
            if made.is_ok() {
                made = self.statement(inner, owned);
            }
        });
        made
    }

    /// A name is bound between the loops, or in the body.
    pub(super) fn bind(&mut self, s: Sym, value: &Expr) {
        let value = self.steady(value, true);
        self.seen.bind_let(s, &value, self.facts);
    }

    /// Returns the value of `e` in most iterations: in place of a minimum or maximum with one moving operand, that
    /// operand if `moves`, else the other one.
    fn steady(&self, e: &Expr, moves: bool) -> Expr {
        let is_moving = |e: &Expr| self.moving.iter().any(|s| visit::uses(e, *s));
        let e = visit::without_likely(&self.seen.expanded(e, self.facts));
        let e = Memo::new().rewrite(&e, |n, done| match n.kind() {
            ExprKind::Binary(BinOp::Min | BinOp::Max, a, b) => match (is_moving(a), is_moving(b)) {
                (a_moves, b_moves) if a_moves == b_moves => visit::map_children(n, done),
                (a_moves, _) => done(if a_moves == moves { a } else { b }),
            },
            _ => visit::map_children(n, done),
        });
        simplify(&e, self.facts)
    }

    fn read(&mut self, n: &Expr) {
        let ExprKind::Read { buf, args } = n.kind() else { return };
        if *buf != self.buf || !self.known.insert(args.to_vec()) {
            return;
        }
        let range = |a: &Expr| self.seen.within(&self.steady(a, true), self.facts);
        let new: Vec<Interval> = args.iter().map(range).collect();
        self.found = Some(match self.found.take() {
            None => new,
            Some(old) => old.iter().zip(&new).map(|(a, b)| a.union(b, self.facts)).collect(),
        });
    }
}
