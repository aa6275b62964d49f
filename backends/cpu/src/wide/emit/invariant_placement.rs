//! Placement of loop-invariant values: each is computed as far out as it stays the same.
//!
//! The open loops and branches are levels, each with a block at whose end code can still be added, and which is run
//! before all that is inside of it. A value belongs to the innermost level that it depends on, and is computed as deep
//! as that costs no more than there: outside of the same loops.
//!
//! Arithmetic may be computed although nobody asks for it. A load may not: it stays inside of every branch that it is
//! in, and of the test whether a loop runs at all.

use super::super::interface::Emitted;
use super::super::machine::BlockId;
use super::kernel::Emit;
use super::levels::{Kind, Level};
use super::value::Val;
use halide_ir::visit::for_each_child;
use halide_ir::{BufId, Expr, ExprKind, LoopId};
use std::collections::BTreeSet;

impl Emit<'_> {
    /// The innermost open level.
    pub(super) fn innermost(&self) -> usize {
        self.levels.len() - 1
    }
    /// Opens a branch whose code starts in `block`.
    pub(super) fn open_branch(&mut self, block: BlockId) {
        let loops = self.levels[self.innermost()].loops;
        self.open(Level { block, loops, kind: Kind::Branch });
    }
    /// Opens a loop whose code starts in `block`.
    pub(super) fn open_loop(&mut self, block: BlockId, id: LoopId, stores: BTreeSet<BufId>) {
        let loops = self.levels[self.innermost()].loops + 1;
        self.open(Level { block, loops, kind: Kind::Loop(id, stores) });
    }
    fn open(&mut self, level: Level) {
        self.body.order.push(level.block);
        self.levels.push(level);
        self.cursor = self.innermost();
        self.memo.open();
        self.homes.clear();
    }
    /// Closes the innermost level; the block in which its code ends.
    pub(super) fn close(&mut self) -> BlockId {
        self.memo.close();
        self.homes.clear();
        let outer = self.innermost() - 1;
        self.constants.retain(|_, (_, level)| *level <= outer);
        self.predicates.retain(|_, (_, level)| *level <= outer);
        let closed = self.levels.pop().map_or(BlockId(0), |l| l.block);
        self.cursor = self.innermost();
        closed
    }
    /// From here on the innermost level's code goes to `block`.
    pub(super) fn go_on(&mut self, block: BlockId) {
        self.body.order.push(block);
        let innermost = self.innermost();
        self.levels[innermost].block = block;
    }
    /// A buffer is stored to.
    pub(super) fn stored(&mut self, buf: BufId) {
        self.memo.stored(buf);
        self.homes.clear();
        self.small_names.retain(|_, (_, reads)| !reads.contains(&buf));
    }

    /// The value of an expression, computed once where it is visible.
    pub(super) fn eval(&mut self, e: &Expr) -> Emitted<Val> {
        if let Some(known) = self.memo.get(e) {
            return Ok(known);
        }
        self.check_size()?;
        let home = self.home(e);
        let cursor = std::mem::replace(&mut self.cursor, home);
        let made = self.compute(e);
        self.cursor = cursor;
        let made = made?;
        self.memo.put_at(e, made.clone(), home);
        Ok(made)
    }
    /// The level where an expression is computed.
    pub(super) fn home(&mut self, e: &Expr) -> usize {
        match e.kind() {
            ExprKind::Const(_) | ExprKind::Int(_) | ExprKind::Param(_) => return self.place(0),
            ExprKind::Sym(s) => return self.place(self.symbols.get(s).map_or(0, |(_, level)| *level)),
            _ => {}
        }
        if let Some((_, level)) = self.memo.find(e) {
            return level;
        }
        if let Some(level) = self.homes.get(e) {
            return *level;
        }
        let mut least = 0;
        for_each_child(e, |c| least = least.max(self.home(c)));
        if let ExprKind::Load { buf, .. } = e.kind() {
            least = least.max(self.load_level(*buf, least));
        }
        let level = self.place(least);
        self.homes.insert(e.clone(), level);
        level
    }
    /// The deepest level in no more loops than `least`.
    pub(super) fn place(&self, least: usize) -> usize {
        let loops = self.levels[least].loops;
        (least..self.levels.len()).rev().find(|l| self.levels[*l].loops == loops).unwrap_or(least)
    }
    /// Returns the outermost level that a load of a buffer may move to, if its address is known from `least` on.
    fn load_level(&self, buf: BufId, least: usize) -> usize {
        if let Some(level) = self.slots.level(buf) {
            return level;
        }
        let stays = |level: &Level| match &level.kind {
            Kind::First | Kind::Branch => true,
            Kind::Loop(_, stores) => stores.contains(&buf),
        };
        (least..self.levels.len()).rev().find(|l| stays(&self.levels[*l])).unwrap_or(least)
    }
}
