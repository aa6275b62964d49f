//! Facts: what is known of the values of expressions at a place in a program.
//!
//! Facts are constant ranges and congruences of atoms, constant ranges of sums of atoms (`x - w <= -1`), truths of
//! conditions, and the values of let-bound symbols. They are kept in scopes, pushed and popped as a pass walks into and
//! out of loops, lets and branches. A `Facts` also remembers what was already simplified under it, so that asking again
//! is cheap; the memory of a scope goes with the scope.

mod learn;

use super::abstract_value::{Known, default_of};
use super::counterexamples::Witnesses;
use super::linear::{Form, Linear, Term, Terms, any_term};
use super::memo::Cache;
use super::range::{Congruence, Range};
use super::scoped_memo::{Fact, Memory, State};
use super::transitive_definitions::{FarValues, Reach};
use halide_core::ops::BinOp;
use halide_ir::build;
use halide_ir::hash::Map;
use halide_ir::{BufId, Expr, ExprKind, LoopId, Sym};
use learn::primitive;
use std::cell::RefCell;

/// The facts at a place in a program. Clones share what was simplified under facts that they both learn, and forget the
/// rest of the memory.
#[derive(Default)]
pub struct Facts {
    atoms: Map<Expr, Known>,
    sums: Map<Terms, Range>,
    /// For each atom, the sums in which it occurs.
    occurs: Map<Expr, Vec<Terms>>,
    truths: Map<Expr, bool>,
    values: Map<Sym, Expr>,
    elements: Map<BufId, Elements>,
    /// The ranges of float parameters.
    floats: Map<Expr, (f64, f64)>,
    far: FarValues,
    /// The support of all that has one value, and of what is known of data: settled expressions may change only there.
    pinned: u64,
    undo: Vec<Undo>,
    /// The length of `undo`, `pinned` and `state` when each scope began.
    scopes: Vec<(usize, u64, State)>,
    pub(super) memory: Memory,
    pub(super) state: State,
    pub(super) witnesses: RefCell<Witnesses>,
    pub(super) cache: RefCell<Cache>,
}

/// The facts about the elements of one of the caller's buffers, for the whole run.
#[derive(Clone, Default)]
struct Elements {
    range: Option<Range>,
    /// Buffers and their dimensions that the elements are coordinates of.
    coordinates: Vec<(BufId, u16)>,
    grows: Option<usize>,
    /// True if there is one element, without coordinates.
    scalar: bool,
}

/// The former value that takes back one change.
#[derive(Clone)]
enum Undo {
    Atom(Expr, Option<Known>),
    Sum(Terms, Option<Range>),
    Truth(Expr, Option<bool>),
    Value(Sym, Option<Expr>),
}

impl Facts {
    /// Nothing is known but what holds always: buffers have extents of at least 0.
    pub fn new() -> Facts {
        Facts::default()
    }
    /// Visits of expressions under these facts and all clones of them: how much work was done.
    pub fn visits(&self) -> u64 {
        self.memory.visits()
    }
    /// Opens a scope.
    pub fn push_scope(&mut self) {
        self.scopes.push((self.undo.len(), self.pinned, self.state));
        self.witnesses.get_mut().push_scope();
        self.cache.get_mut().push_scope();
    }
    /// Forgets what was learned since the matching `push_scope`.
    pub fn pop_scope(&mut self) {
        let (start, pinned, state) = self.scopes.pop().expect("a scope is open");
        (self.pinned, self.state) = (pinned, state);
        while self.undo.len() > start {
            match self.undo.pop().expect("a change") {
                Undo::Atom(e, old) => restore(&mut self.atoms, e, old),
                Undo::Truth(e, old) => restore(&mut self.truths, e, old),
                Undo::Value(s, old) => {
                    self.far.forget(s);
                    restore(&mut self.values, s, old)
                }
                Undo::Sum(terms, None) => {
                    self.sums.remove(&terms);
                    for (atom, _) in &terms {
                        self.occurs.get_mut(atom).and_then(Vec::pop);
                    }
                }
                Undo::Sum(terms, old) => restore(&mut self.sums, terms, old),
            }
        }
        self.witnesses.get_mut().pop_scope();
        self.cache.get_mut().pop_scope();
    }
    /// The variable of loop `id`, new in this scope, is in `min .. min + extent`, and the loop runs at least once.
    pub fn bind_loop(&mut self, id: LoopId, min: &Expr, extent: &Expr) {
        let var = Linear::atom(build::loop_var(id));
        let (min, extent) = (super::simplify(min, self), super::simplify(extent, self));
        self.note(Fact::Loop(id, min.clone(), extent.clone()));
        if build::as_int(&extent).is_none() {
            // This is about symbols that were seen before.
            self.learn_claim(&Linear::of(&extent), Range::new(Some(1), None));
            self.cache.get_mut().hide();
        }
        self.bind_witness_loop(&build::loop_var(id), &min, &extent);
        let first = Linear::of(&min);
        if build::as_int(&extent) == Some(1)
            && let Some(known) = first.plus_scaled(&var, -1)
        {
            return self.learn_claim(&known, Range::point(0));
        }
        let last = first.plus(&Linear::of(&extent)).and_then(|end| end.offset(-1));
        if let Some(above) = var.minus(&first) {
            self.learn_claim(&above, Range::new(Some(0), None));
        }
        if let Some(below) = last.as_ref().and_then(|last| last.minus(&var)) {
            self.learn_claim(&below, Range::new(Some(0), None));
        }
        let range =
            self.known(&min).range + Range::new(Some(0), self.known(&extent).range.max().map(|n| (n - 1).max(0)));
        // Both ends together may have been learned to be less than that.
        let end = last.map_or(Range::ALL, |last| Range::new(None, self.sum_range(&last).max()));
        let range = range.intersect(end);
        self.note_atom(build::loop_var(id), Known { range, congruence: Congruence::ALL });
    }
    /// The symbol `sym`, new in this scope, has this value.
    pub fn bind_let(&mut self, sym: Sym, value: &Expr) {
        let value = super::simplify(value, self);
        self.note(Fact::Let(sym, value.clone()));
        let known = self.known(&value);
        let symbol = build::typed_sym(sym, value.ty());
        if super::expr::is_name(&value) {
            self.pinned |= symbol.support();
        }
        self.bind_witness(&symbol, &value);
        self.note_atom(symbol, known);
        let old = self.values.insert(sym, value);
        self.far.forget(sym);
        self.undo.push(Undo::Value(sym, old));
    }
    /// The Index or integer expression `e` lies in `min ..= max`; `None` is unbounded.
    pub fn assume_range(&mut self, e: &Expr, min: Option<i64>, max: Option<i64>) {
        let e = super::simplify(e, self);
        self.note(Fact::Range(e.clone(), min, max));
        let range = Range::new(min.map(i128::from), max.map(i128::from));
        if e.ty() == halide_ir::Type::INDEX {
            self.learn_claim(&Linear::of(&e), range);
        } else {
            self.note_atom(e, Known { range, congruence: Congruence::ALL });
        }
        self.cache.get_mut().hide();
    }
    /// The float parameter `e` lies in `min ..= max`, and is no NaN.
    pub fn assume_float_range(&mut self, e: &Expr, min: f64, max: f64) {
        self.note(Fact::Floats(e.clone(), min.to_bits(), max.to_bits()));
        self.floats.insert(e.clone(), (min, max));
    }
    /// Returns the range of a float parameter, if one was learned.
    pub fn float_range(&self, e: &Expr) -> Option<(f64, f64)> {
        self.floats.get(e).copied()
    }
    /// The Index expression `e` is `remainder` modulo `modulus`.
    pub fn assume_congruence(&mut self, e: &Expr, modulus: i64, remainder: i64) {
        let e = super::simplify(e, self);
        self.note(Fact::Congruence(e.clone(), modulus, remainder));
        let (sum, congruence) = (Linear::of(&e), Congruence::new(modulus, remainder));
        self.learn_congruence(&sum, congruence);
        self.claim_remainder(&sum, congruence);
        self.cache.get_mut().hide();
    }
    /// Every element of an input lies in `range`.
    pub fn assume_elements(&mut self, buf: BufId, range: Range) {
        self.note(Fact::Elements(buf, range.min(), range.max()));
        self.elements.entry(buf).or_default().range = Some(range);
        self.pinned = u64::MAX;
        self.scopes.iter_mut().for_each(|(_, pinned, _)| *pinned = u64::MAX);
        self.cache.get_mut().hide();
    }
    /// No element of an input is less than the one before it along dimension `dim`.
    pub fn assume_growing(&mut self, buf: BufId, dim: usize) {
        self.note(Fact::Grows(buf, dim));
        self.elements.entry(buf).or_default().grows = Some(dim);
    }
    /// Every element of the input `buf` is a coordinate of dimension `dim` of the buffer `of`.
    pub fn assume_coordinates(&mut self, buf: BufId, of: BufId, dim: usize) {
        self.note(Fact::Coordinates(buf, of, dim));
        self.elements.entry(buf).or_default().coordinates.push((of, dim as u16));
    }
    /// The dimensions of buffers that [`Facts::assume_coordinates`] named for a buffer.
    pub(crate) fn coordinates(&self, buf: BufId) -> &[(BufId, u16)] {
        self.elements.get(&buf).map_or(&[], |elements| &elements.coordinates)
    }
    /// The input `buf` has no dimensions: its element is one value for the whole run, as a parameter is.
    pub fn assume_scalar(&mut self, buf: BufId) {
        self.note(Fact::Scalar(buf));
        self.elements.entry(buf).or_default().scalar = true;
    }
    /// Returns true if [`Facts::assume_scalar`] was said of a buffer.
    pub(crate) fn is_scalar(&self, buf: BufId) -> bool {
        self.elements.get(&buf).is_some_and(|elements| elements.scalar)
    }
    /// Returns the dimension that [`Facts::assume_growing`] named for a buffer.
    pub(crate) fn growing(&self, buf: BufId) -> Option<usize> {
        self.elements.get(&buf)?.grows
    }
    /// Returns the range of `e`, a read or load, in each lane, as far as it is known of its buffer. Lanes that are not
    /// read give 0.
    pub(super) fn element_range(&self, e: &Expr) -> Option<Range> {
        let (buf, always) = match e.kind() {
            ExprKind::Read { buf, .. } => (buf, true),
            ExprKind::Load { buf, mask, .. } => (buf, mask.is_none()),
            _ => return None,
        };
        let range = self.elements.get(buf)?.range?;
        Some(if always { range } else { range.union(Range::point(0)) })
    }
    /// The scalar condition `cond` holds.
    pub fn learn(&mut self, cond: &Expr) {
        let cond = super::simplify(cond, self);
        self.note(Fact::Holds(cond.clone()));
        self.learn_truth(&cond, true);
        self.cache.get_mut().hide();
    }

    /// From here on, what is simplified is remembered together with this fact.
    fn note(&mut self, fact: Fact) {
        self.state = self.memory.after(self.state, fact);
    }
    /// Constant bounds of an Index or integer expression; of every lane, if there are several.
    pub fn range(&self, e: &Expr) -> (Option<i64>, Option<i64>) {
        self.known(e).range.ends()
    }
    /// As [`Facts::range`], with ends of any integer type.
    pub fn range_of(&self, e: &Expr) -> Range {
        self.known(e).range
    }
    /// Returns the congruence of an Index expression.
    pub fn congruence(&self, e: &Expr) -> Congruence {
        self.known(e).congruence
    }
    /// The value that `bind_let` gave a symbol.
    pub fn value_of(&self, sym: Sym) -> Option<&Expr> {
        self.values.get(&sym)
    }
    /// The value that `bind_let` gave a symbol, as it stands or seen through.
    pub(crate) fn definition(&self, sym: Sym, reach: Reach) -> Option<Expr> {
        let near = |s: Sym| self.values.get(&s).cloned();
        match reach {
            Reach::Near => near(sym),
            Reach::Far => self.far.of(sym, &near),
        }
    }
    /// Returns the truth of a condition that was learned to hold or not to hold.
    pub(super) fn truth(&self, cond: &Expr) -> Option<bool> {
        self.truths.get(cond).copied()
    }
    /// Returns the abstract value that was learned of an atom, together with what always holds for it.
    pub(super) fn atom(&self, e: &Expr) -> Known {
        let known = default_of(e);
        self.atoms.get(e).map_or(known, |learned| learned.intersect(known))
    }
    /// The range of a sum: that of its parts, and what was learned of it as a whole.
    pub(super) fn sum_range(&self, sum: &Linear) -> Range {
        let mut range = Range::point(0);
        for (atom, c) in &sum.terms {
            range = range + self.known(atom).range.scale(*c);
            if range == Range::ALL {
                break;
            }
        }
        let range = match self.learned_of(&sum.terms) {
            Some(learned) => learned.intersect(range),
            None => range,
        };
        range + Range::point(sum.constant as i128)
    }
    /// The upper end of [`Facts::sum_range`].
    pub(super) fn sum_upper(&self, sum: &Linear) -> Option<i128> {
        let mut parts = Range::point(0);
        for (atom, c) in &sum.terms {
            parts = parts + self.known(atom).range.scale(*c);
            if parts.max().is_none() {
                break;
            }
        }
        let most = match (parts.max(), self.learned_of(&sum.terms).and_then(Range::max)) {
            (Some(parts), Some(learned)) => parts.min(learned),
            (parts, learned) => parts.or(learned)?,
        };
        most.checked_add(sum.constant as i128)
    }
    /// Returns true if `e` is a scalar Index sum in normal form that may have several values, as far as a look at its
    /// atoms tells: one of them may, and none is in a learned sum.
    pub(super) fn is_open_sum(&self, e: &Expr) -> bool {
        let is_sum = match e.kind() {
            ExprKind::Binary(BinOp::Add | BinOp::Sub, ..) => true,
            ExprKind::Binary(BinOp::Mul, _, by) => build::as_int(by).is_some(),
            _ => false,
        };
        let is_learned = |atom: &Expr| self.occurs.get(atom).is_some_and(|sums| !sums.is_empty());
        is_sum
            && e.ty() == halide_ir::Type::INDEX
            && any_term(e, &|atom| self.known(atom).range.as_point().is_none())
            && (self.sums.is_empty() || !any_term(e, &is_learned))
    }
    /// The range of every lane.
    pub(super) fn form_range(&self, form: &Form) -> Range {
        let lane = Range::new(Some(0), Some(form.lanes as i128 - 1));
        let ramp = self.sum_range(&form.base) + self.sum_range(&form.stride) * lane;
        form.vector.iter().fold(ramp, |sum, (atom, c)| sum + self.known(atom).range.scale(*c))
    }
    /// The learned sums in which `atom` occurs, with their ranges.
    pub(super) fn sums_with<'a>(&'a self, atom: &Expr) -> impl Iterator<Item = (&'a [Term], Range)> {
        let known = self.occurs.get(atom).map_or(&[][..], |list| &list[..]);
        known.iter().filter_map(|terms| Some((&terms[..], *self.sums.get(terms)?)))
    }
    /// The node that stands for all equal to `e`.
    pub(super) fn share(&self, e: Expr) -> Expr {
        self.cache.borrow_mut().share(e)
    }
    /// Returns true if `e` was simplified before, under whatever facts, and these change nothing of it.
    pub(super) fn leaves(&self, e: &Expr) -> bool {
        e.is_settled() && e.support() & self.pinned == 0
    }
    /// Returns true if any sum of several atoms was learned.
    pub(super) fn has_sums(&self) -> bool {
        !self.sums.is_empty()
    }

    fn learned_of(&self, terms: &[Term]) -> Option<Range> {
        // Where its first atom is in no learned sum, the whole is none.
        if terms.len() < 2 || self.sums.is_empty() || self.occurs.get(&terms[0].0).is_none_or(Vec::is_empty) {
            return None;
        }
        let (unit, factor) = primitive(terms)?;
        Some(self.sums.get(&unit)?.scale(factor))
    }
    fn note_atom(&mut self, e: Expr, known: Known) {
        let old = self.atoms.get(&e).copied();
        let new = old.map_or(known, |old| known.intersect(old));
        if new.range.as_point().is_some() || !e.ty().is_index() {
            self.pinned |= e.support();
        }
        self.atoms.insert(e.clone(), new);
        self.undo.push(Undo::Atom(e, old));
    }
}

impl Clone for Facts {
    fn clone(&self) -> Facts {
        Facts {
            atoms: self.atoms.clone(),
            sums: self.sums.clone(),
            occurs: self.occurs.clone(),
            truths: self.truths.clone(),
            values: self.values.clone(),
            elements: self.elements.clone(),
            floats: self.floats.clone(),
            far: FarValues::default(),
            pinned: self.pinned,
            undo: self.undo.clone(),
            scopes: self.scopes.clone(),
            memory: self.memory.clone(),
            state: self.state,
            witnesses: self.witnesses.clone(),
            cache: RefCell::new(Cache::with_scopes(self.scopes.len())),
        }
    }
}

fn restore<K: std::hash::Hash + Eq, V>(map: &mut Map<K, V>, key: K, old: Option<V>) {
    match old {
        Some(v) => map.insert(key, v),
        None => map.remove(&key),
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_ir::build::*;

    fn x() -> Expr {
        loop_var(LoopId(0))
    }
    fn w() -> Expr {
        sym(Sym::Temp(0))
    }

    #[test]
    fn scopes_forget() {
        let mut facts = Facts::new();
        facts.push_scope();
        facts.learn(&lt(x(), w()));
        facts.assume_range(&x(), Some(3), Some(9));
        assert_eq!(facts.range(&sub(x(), w())), (None, Some(-1)));
        assert_eq!(facts.range(&x()), (Some(3), Some(9)));
        facts.pop_scope();
        assert_eq!(facts.range(&sub(x(), w())), (None, None));
        assert_eq!(facts.range(&x()), (None, None));
    }

    #[test]
    fn loops_know_their_ends() {
        let mut facts = Facts::new();
        facts.push_scope();
        facts.bind_loop(LoopId(0), &int(2), &min(w(), int(6)));
        assert_eq!(facts.range(&x()), (Some(2), Some(7)));
        assert_eq!(facts.range(&w()), (Some(1), None));
        assert_eq!(facts.range(&sub(x(), w())).1, Some(1));
    }

    #[test]
    fn remainders_follow_from_conditions() {
        let mut facts = Facts::new();
        facts.learn(&eq(rem(x(), int(4)), int(1)));
        assert_eq!(facts.congruence(&offset(x(), 3)).modulo(4), Some(0));
        assert_eq!(facts.congruence(&mul(x(), int(2))).modulo(8), Some(2));
    }

    #[test]
    fn contradictions_do_no_harm() {
        let mut facts = Facts::new();
        facts.learn(&lt(x(), int(3)));
        facts.learn(&gt(x(), int(5)));
        facts.range(&x());
    }
}
