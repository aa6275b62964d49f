//! Parallel loops whose iterations touch elements of their own.
//!
//! No two iterations meet if all accesses of a buffer are at `step * v + r` for the variable `v`, and every `r` is in
//! one interval of `step` elements that is the same for all iterations. The question is asked of the number of an
//! element, or for a buffer of the caller, of one of its coordinates.

use super::Judge;
use crate::access::{Access, LaneOf, Poly, conditions};
use crate::tuning::MOST_APART_STEPS;
use halide_ir::hash::{Map, Set};
use halide_ir::{BufId, BufferRole, Expr, ExprKind, For, Stmt, Sym, build, visit};

/// An access of a loop's body.
struct Place<'p> {
    index: Expr,
    mask: Option<Expr>,
    /// Polynomials that are at least 0 where it is reached.
    guards: Vec<Poly<'p>>,
}

/// One coordinate of an access, valid if all its guards are at least 0.
struct Form<'p> {
    /// Its number; `None` of the element in its allocation.
    of: Option<usize>,
    value: Poly<'p>,
    /// The most that it can be: the same for all accesses that the strides tell apart in one way.
    limit: Poly<'p>,
    guards: Vec<Poly<'p>>,
}

/// The accesses of a loop's body.
#[derive(Default)]
struct Accesses<'p> {
    of: Map<BufId, Vec<Place<'p>>>,
    stored: Set<BufId>,
    /// Buffers of the body itself.
    own: Set<BufId>,
    /// Buffers with accesses that are no part of an atomic step of their Func.
    plain: Set<BufId>,
    /// There is something that is not looked into.
    unknown: bool,
}

impl<'p> Accesses<'p> {
    fn note(&mut self, buf: BufId, index: &Expr, mask: Option<&Expr>, inside: &Inside<'p>) {
        let place = Place { index: index.clone(), mask: mask.cloned(), guards: inside.guards.clone() };
        self.of.entry(buf).or_default().push(place);
        if !inside.step.contains(&buf) {
            self.plain.insert(buf);
        }
    }
}

/// The atomic step and the guards around a statement of the body.
#[derive(Clone, Default)]
struct Inside<'p> {
    /// The buffers of the Func of the atomic step.
    step: &'p [BufId],
    guards: Vec<Poly<'p>>,
}

impl<'p> Judge<'p> {
    /// Returns true if no iteration of a parallel loop stores to what another one touches.
    pub(super) fn keeps_apart(&mut self, l: &'p For) -> bool {
        let mut all = Accesses::default();
        self.gather(&l.body, &Inside::default(), &mut all);
        let shared = |buf: &&BufId| !all.own.contains(buf) && all.plain.contains(buf);
        let mut stored: Vec<BufId> = all.stored.iter().filter(shared).copied().collect();
        stored.sort_unstable();
        !all.unknown && stored.iter().all(|buf| self.is_apart(l, *buf, &all.of[buf]))
    }

    fn gather(&mut self, s: &'p Stmt, inside: &Inside<'p>, all: &mut Accesses<'p>) {
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, index, mask } = n.kind() {
                    all.note(*buf, index, mask.as_ref(), inside);
                }
            });
        });
        match s {
            Stmt::Store { buf, index, mask, .. } => {
                all.note(*buf, index, mask.as_ref(), inside);
                all.stored.insert(*buf);
            }
            Stmt::Alloc { buf, .. } => {
                all.own.insert(*buf);
            }
            Stmt::Atomic { func, body } => {
                let step = Inside { step: &self.program.func_buffers[*func], ..inside.clone() };
                return self.gather(body, &step, all);
            }
            Stmt::If { cond, then, otherwise } => {
                for (branch, holds) in [(then, true), (otherwise, false)] {
                    let mut inside = inside.clone();
                    conditions(&mut self.reader, cond, holds, &LaneOf::default(), &mut inside.guards);
                    inside.guards.retain(|p| !self.reader.is_momentary(p));
                    visit::deep(|| self.gather(branch, &inside, all));
                }
                return;
            }
            Stmt::Call { args, .. } => all.unknown |= args.iter().any(|arg| !all.own.contains(&arg.buf)),
            Stmt::Free { .. } | Stmt::Dispatch { .. } | Stmt::Launch { .. } | Stmt::Reside { .. } => all.unknown = true,
            _ => {}
        }
        visit::nested(s).for_each(|inner| visit::deep(|| self.gather(inner, inside, all)));
    }

    fn is_apart(&mut self, l: &For, buf: BufId, accesses: &[Place<'p>]) -> bool {
        let level = self.reader.defs.level(Sym::Loop(l.id));
        let mut rows: Vec<Vec<Form<'p>>> = Vec::new();
        for place in accesses {
            let Some(row) = self.coordinates(buf, place, level) else { return false };
            rows.push(row);
        }
        let Some(first) = rows.first() else { return true };
        first.iter().any(|form| {
            let same = |row: &Vec<Form<'p>>| row.iter().position(|f| f.of == form.of && f.limit == form.limit);
            let column: Option<Vec<&Form<'p>>> = rows.iter().map(|row| Some(&row[same(row)?])).collect();
            column.is_some_and(|column| self.differ(l, level, &column))
        })
    }

    /// Numbers of which elements that differ in one are different: that of the element in its allocation, and
    /// coordinates.
    fn coordinates(&mut self, buf: BufId, place: &Place<'p>, level: u32) -> Option<Vec<Form<'p>>> {
        let info = &self.program.buffers[buf];
        let (lane, p) = self.reader.lane(&place.index);
        let mut guards = place.guards.clone();
        if let Some(mask) = &place.mask {
            conditions(&mut self.reader, mask, true, &lane, &mut guards);
        }
        let is_own = info.role == BufferRole::Internal;
        let mut values = Vec::new();
        let access = Access { buf, info, index: p };
        let list = self.extents.inequalities(&mut self.reader, access).unwrap_or_default();
        // Outside of its extent, a coordinate may be one of another row.
        if !list.is_empty() && list.iter().all(|p| self.holds_where(p, &guards)) {
            for (of, pair) in list.chunks_exact(2).enumerate() {
                // What is left of its extent stands beside each coordinate.
                let value = if is_own { &pair[1] } else { &pair[0] };
                values.push((Some(of), *value, pair[0].add_scaled(&pair[1], 1)));
            }
        }
        if is_own {
            values.push((None, p, Poly::default()));
        }
        let form = |(of, value, limit): (Option<usize>, Poly<'p>, Poly<'p>)| {
            let value = self.reader.seen_from(&value, level)?;
            Some(Form { of, value, limit, guards: guards.clone() })
        };
        let forms: Vec<Form<'p>> = values.into_iter().filter_map(form).collect();
        (!forms.is_empty()).then_some(forms)
    }

    /// Returns true if values of these forms differ in any two iterations.
    fn differ(&mut self, l: &For, level: u32, forms: &[&Form<'p>]) -> bool {
        let Some(atom) = self.reader.scalar(&build::loop_var(l.id)).as_atom() else { return false };
        let Some(parts) = forms.iter().map(|f| f.value.linear_in(atom)).collect::<Option<Vec<_>>>() else {
            return false;
        };
        let Some((step, _)) = parts.first() else { return false };
        if self.reader.terms.level_of(step) >= level || !self.reader.is_plain(step) || !self.holds(&step.offset(-1)) {
            return false;
        }
        if parts.iter().any(|(s, rest)| s.minus(step).as_constant() != Some(0) || !self.reader.is_plain(rest)) {
            return false;
        }
        parts.iter().any(|(_, rest)| {
            let Some(least) = self.least(*rest, level) else { return false };
            let end = least.add_scaled(step, 1).offset(-1);
            parts.iter().zip(forms).all(|((_, rest), form)| {
                self.holds_where(&rest.minus(&least), &form.guards) && self.holds_where(&end.minus(rest), &form.guards)
            })
        })
    }

    /// A candidate for the least that `p` is in all iterations, in terms of what is bound before `level`.
    fn least(&mut self, mut p: Poly<'p>, level: u32) -> Option<Poly<'p>> {
        for _ in 0..MOST_APART_STEPS {
            let inner = p.atoms().iter().copied().find(|a| self.reader.terms.level(*a) >= level);
            let Some(atom) = inner else { return Some(p) };
            let (factor, rest) = p.linear_in(atom)?;
            let rises = self.reader.terms.span_of(&factor).0.is_some_and(|low| low >= 0);
            let end = match self.reader.loop_of(atom) {
                // The side that varies is at times the smaller one.
                None if let Some((x, y)) = self.reader.terms.smaller_of(atom) => {
                    if self.reader.terms.level_of(&x) >= level { x } else { y }
                }
                Some((first, last)) => self.reader.seen_from(&if rises { first } else { last }, level)?,
                None => Poly::constant(self.reader.terms.span(atom).0.filter(|_| rises)?),
            };
            p = rest.add_scaled(&factor.times(&end), 1);
        }
        None
    }
}
