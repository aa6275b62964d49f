//! Facts about a nest that are known before it runs, and the memory that is claimed for its allocations.

use super::super::interface::Claim;
use crate::tuning::CLAIM_BYTES;
use halide_core::ops::BinOp;
use halide_ir::hash::Map;
use halide_ir::visit::{deep, for_each_node, substitute, uses};
use halide_ir::{BufId, Expr, ExprKind, For, Sym, build};
use halide_solve::simplify::{Linear, Term};

/// Facts about the nest that are known before it runs, and the memory that it is handed.
#[derive(Default)]
pub(super) struct Heap {
    /// The values of names that are bound in the nest; `None` for the variable of a loop, which has no value that is
    /// known outside.
    pub(super) definitions: Map<Sym, Option<Expr>>,
    /// The values of names in terms of what is visible outside, as far as these were asked for; `None` if there is
    /// none.
    pub(super) expanded: Map<Sym, Option<Expr>>,
    /// The first and last value of the variable of each loop.
    pub(super) ends: Map<Sym, [Expr; 2]>,
    /// The conditions under which the statement at hand runs.
    pub(super) conditions: Vec<Expr>,
    pub(super) slots: Vec<Slot>,
    /// The slot and the innermost level of each allocation that lives.
    pub(super) live: Map<BufId, (usize, usize)>,
    /// Every allocation that ever lived.
    pub(super) inner: Vec<BufId>,
}

/// A piece of memory for one allocation after the other.
pub(super) struct Slot {
    pub(super) claims: Vec<Claim>,
    pub(super) used: bool,
}

impl Heap {
    /// A name is bound in the nest.
    pub(super) fn bind(&mut self, symbol: Sym, value: Option<&Expr>) {
        if self.definitions.insert(symbol, value.cloned()).is_some() {
            self.expanded.clear();
        }
    }
    /// Enters the iterations of a loop, until the matching [`Heap::leave`].
    pub(super) fn enter_loop(&mut self, l: &For) {
        let (variable, last) = (Sym::Loop(l.id), build::offset(build::add(l.min.clone(), l.extent.clone()), -1));
        self.bind(variable, None);
        self.ends.insert(variable, [l.min.clone(), last]);
        self.enter(build::lt(build::int(0), l.extent.clone()));
    }
    /// Enters code that runs under a condition, until the matching [`Heap::leave`].
    pub(super) fn enter(&mut self, condition: Expr) {
        self.conditions.push(condition);
    }
    /// Ends a condition.
    pub(super) fn leave(&mut self) {
        self.conditions.pop();
    }
    /// The claims of each slot.
    pub(super) fn claims(self) -> Vec<Vec<Claim>> {
        self.slots.into_iter().map(|s| s.claims).collect()
    }

    /// Each condition under which the statement at hand runs, as far as it is known outside whether it holds, or
    /// ever holds. If all are known, the statement runs at least once where all hold, and never elsewhere.
    pub(super) fn reached(&mut self) -> Vec<Option<Expr>> {
        let conditions = self.conditions.clone();
        let mut known: Vec<Option<Expr>> = conditions.iter().map(|c| self.outside(c)).collect();
        // Of several conditions on variables, each may hold somewhere, but all of them nowhere.
        if known.iter().filter(|c| c.is_none()).count() == 1
            && let Some(unknown) = known.iter().position(Option::is_none)
        {
            known[unknown] = self.holds_once(&conditions[unknown]);
        }
        known
    }
    /// `e` in terms of what is visible outside of the nest, where memory does not change meanwhile.
    pub(super) fn outside(&mut self, e: &Expr) -> Option<Expr> {
        let (mut names, mut known) = (Vec::new(), true);
        for_each_node(e, &mut |n| match n.kind() {
            ExprKind::Sym(s) if self.definitions.contains_key(s) => names.push(*s),
            ExprKind::Load { .. } | ExprKind::Read { .. } => known = false,
            _ => {}
        });
        let known = known && names.iter().all(|s| deep(|| self.name_outside(*s)).is_some());
        known.then(|| substitute(e, &|s| self.expanded.get(&s).cloned().flatten()))
    }
    fn name_outside(&mut self, name: Sym) -> Option<Expr> {
        if let Some(known) = self.expanded.get(&name) {
            return known.clone();
        }
        let value = self.definitions.get(&name).cloned().flatten();
        let made = value.and_then(|e| self.outside(&e));
        self.expanded.insert(name, made.clone());
        made
    }
    /// Returns the condition that a comparison holds in some iteration of a loop of the nest whose variable is a term
    /// of it: that it holds in the first or the last one.
    fn holds_once(&mut self, condition: &Expr) -> Option<Expr> {
        let ExprKind::Binary(BinOp::Lt | BinOp::Le | BinOp::Gt | BinOp::Ge, a, b) = condition.kind() else {
            return None;
        };
        let difference = Linear::of(&build::sub(a.clone(), b.clone()));
        let of_a_loop = |(e, _): &Term| match e.kind() {
            ExprKind::Sym(s) => self.ends.contains_key(s).then_some(*s),
            _ => None,
        };
        let variable = difference.terms.iter().find_map(of_a_loop)?;
        let is_nested = |(e, _): &Term| *e != build::sym(variable) && uses(e, variable);
        if difference.terms.iter().any(is_nested) {
            return None;
        }
        let ends = self.ends[&variable].clone();
        let at = ends.map(|end| substitute(condition, &|s| (s == variable).then(|| end.clone())));
        Some(build::or(self.outside(&at[0])?, self.outside(&at[1])?))
    }
    /// Returns the memory that an allocation of `count` elements needs, at most `constant` of them, `size` bytes each.
    pub(super) fn claim(&mut self, buf: BufId, count: &Expr, constant: Option<u64>, size: u64) -> Option<Claim> {
        let known = self.reached();
        let all_known = known.iter().all(Option::is_some);
        let constant = constant.filter(|n| n.checked_mul(size).is_some_and(|b| b <= CLAIM_BYTES));
        let count = match (self.outside(count), constant) {
            (Some(count), _) if all_known || build::as_int(&count).is_some() && constant.is_some() => count,
            (_, Some(n)) => build::int(n as i64),
            _ => return None,
        };
        let when = known.into_iter().flatten().filter(|c| build::as_bool(c) != Some(true)).reduce(build::and);
        Some(Claim { buf, count, when })
    }
    /// The slot for a claim: a free one of which something as large was claimed before, or else the same buffer, whose
    /// sizes may have other names; or any free one.
    pub(super) fn take(&mut self, claim: Claim) -> usize {
        let free = |s: &Slot| !s.used;
        let same = |s: &Slot| free(s) && s.claims.iter().any(|c| c.count == claim.count && c.when == claim.when);
        let of_buffer = |s: &Slot| free(s) && s.claims.iter().any(|c| c.buf == claim.buf);
        let best = self.slots.iter().position(same).or_else(|| self.slots.iter().position(of_buffer));
        let best = best.or_else(|| self.slots.iter().rposition(free));
        let slot = best.unwrap_or_else(|| {
            self.slots.push(Slot { claims: Vec::new(), used: false });
            self.slots.len() - 1
        });
        self.slots[slot].used = true;
        self.slots[slot].claims.push(claim);
        slot
    }
}
