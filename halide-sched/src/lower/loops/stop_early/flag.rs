//! Loops that end by a flag: where effects stand in loops inside, no expression in front of an iteration says if one of
//! them can happen, but an iteration can note that one did.
//!
//! The flag is down at the beginning of an iteration, and up once an effect may have happened. An iteration without
//! effects leaves memory as it is; where nothing that decides of effects changes with the iteration, the next one has
//! none either. So the loop costs one iteration more than it needs.

use super::search::{expanded, parts};
use super::transient::Transient;
use crate::lower::code::register::register_of;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::any_lane::any_lane;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, any_node, deep};
use halide_ir::{BufId, Expr, ExprKind, For, ForKind, LoopId, Program, Stmt, Sym, build};

/// The memory of a loop that can have a flag.
pub(super) struct Found {
    /// Buffers that live in its body alone.
    own: Set<BufId>,
    /// Buffers beyond it that it stores to.
    pub(super) stored: Set<BufId>,
}

/// Returns what is needed to give a loop a flag, or the reason that it cannot have one; `None` if its effects do not
/// depend on what it stores.
pub(super) fn search(l: &For, transient: &Transient) -> Option<Result<Found, &'static str>> {
    let mut survey = Survey { of: l.id, definitions: Map::default(), own: Set::default(), stored: Set::default() };
    survey.note(&l.body, transient);
    let seen = survey.effects(&l.body, false);
    if seen.open || !seen.settled {
        return None;
    }
    let Survey { own, stored, .. } = survey;
    Some(seen.why_not.map_or(Ok(Found { own, stored }), Err))
}

/// The loop with a flag as its condition, in a program that gets a register for it.
pub(super) fn flagged(program: &mut Program, l: For, found: &Found) -> Stmt {
    let name = program.loops[l.id].name.clone();
    let flag = register_of(program, &name, ScalarType::U8);
    let set = |value: u8| store(flag, build::constant(Scalar::from(value)));
    let up = build::binary(BinOp::Ne, held(flag), build::constant(Scalar::from(0u8)));
    let body = build::block([set(0), noting(l.body, flag, &found.own)]);
    let whole = build::loop_of(For { condition: Some(up), body, ..l });
    let body = Box::new(build::block([set(1), whole]));
    Stmt::Alloc { buf: flag, count: build::int(1), constant: Some(1), body }
}

fn held(flag: BufId) -> Expr {
    build::load(flag, ScalarType::U8, build::int(0), None)
}

fn store(flag: BufId, value: Expr) -> Stmt {
    Stmt::Store { buf: flag, index: build::int(0), value, mask: None }
}

/// `s`, whose effects put the flag up.
fn noting(s: Stmt, flag: BufId, own: &Set<BufId>) -> Stmt {
    let one = || build::constant(Scalar::from(1u8));
    match s {
        Stmt::Store { ref buf, .. } if own.contains(buf) => s,
        Stmt::Store { mask: Some(ref mask), .. } => {
            let noted = store(flag, build::select(any_lane(mask), one(), held(flag)));
            // The mask is asked before the store changes what it loads.
            build::block([noted, s])
        }
        Stmt::Store { .. } | Stmt::Assert { .. } | Stmt::Print { .. } | Stmt::Count { .. } => {
            build::block([store(flag, one()), s])
        }
        other => visit::map_stmt(other, Expr::clone, |inner| noting(inner, flag, own)),
    }
}

/// The effects of a statement, together.
#[derive(Clone, Copy, Default)]
struct Effects {
    /// True if one stands under no condition that what the loop stores can change.
    open: bool,
    /// True if one stands under such a condition.
    settled: bool,
    /// The reason that the next iteration may have effects although this one has none.
    why_not: Option<&'static str>,
}

impl Effects {
    fn and(self, other: Effects) -> Effects {
        Effects {
            open: self.open || other.open,
            settled: self.settled || other.settled,
            why_not: self.why_not.or(other.why_not),
        }
    }
}

struct Survey {
    of: LoopId,
    /// The values of names, without names of the body.
    definitions: Map<Sym, Expr>,
    /// Buffers that live in the body alone.
    own: Set<BufId>,
    /// Buffers beyond it that it stores to.
    stored: Set<BufId>,
}

impl Survey {
    fn note(&mut self, s: &Stmt, transient: &Transient) {
        self.own.extend(transient.own(s));
        match s {
            Stmt::Let { bindings, .. } => {
                for (symbol, value) in bindings {
                    let value = expanded(value, &|s| self.definitions.get(&s).cloned());
                    self.definitions.insert(*symbol, value);
                }
            }
            Stmt::Store { buf, .. } if !self.own.contains(buf) => _ = self.stored.insert(*buf),
            Stmt::Provide { values, .. } => {
                self.stored.extend(values.iter().map(|(buf, _)| *buf).filter(|buf| !self.own.contains(buf)));
            }
            _ => {}
        }
        visit::for_each_stmt(s, |inner| deep(|| self.note(inner, transient)));
    }

    /// The effects of `s`; `settled` says that a condition around it can be changed by what the loop stores.
    fn effects(&self, s: &Stmt, settled: bool) -> Effects {
        let nested = |s: &Stmt, settled: bool| {
            let mut all = Effects::default();
            visit::for_each_stmt(s, |inner| all = all.and(deep(|| self.effects(inner, settled))));
            all
        };
        let effect = |settled: bool| Effects { open: !settled, settled, why_not: None };
        match s {
            Stmt::Block(_) | Stmt::Let { .. } | Stmt::Produce { .. } => nested(s, settled),
            Stmt::Alloc { .. } | Stmt::Realize { .. } => nested(s, settled),
            Stmt::If { cond, .. } => self.under(cond, nested(s, settled || self.is_settled(cond))),
            Stmt::For(l) if l.kind == ForKind::Serial => {
                let asked = [Some(&l.min), Some(&l.extent), l.condition.as_ref()];
                let inside = settled || l.condition.as_ref().is_some_and(|c| self.is_settled(c));
                asked.into_iter().flatten().fold(nested(s, inside), |all, e| self.under(e, all))
            }
            Stmt::For(l) => {
                let why_not = Some("the iterations of a loop inside of it do not run one after the other");
                Effects { why_not, ..deep(|| self.effects(&l.body, settled)) }
            }
            Stmt::Store { buf, .. } if self.own.contains(buf) => Effects::default(),
            Stmt::Provide { values, .. } if values.iter().all(|(buf, _)| self.own.contains(buf)) => Effects::default(),
            Stmt::Store { mask: Some(mask), .. } | Stmt::Provide { mask: Some(mask), .. } => {
                self.under(mask, effect(settled || self.is_settled(mask)))
            }
            Stmt::Store { .. }
            | Stmt::Provide { .. }
            | Stmt::Assert { .. }
            | Stmt::Print { .. }
            | Stmt::Count { .. } => effect(settled),
            Stmt::Prefetch { .. } => Effects::default(),
            // Other threads, and what is not only computed and stored.
            _ => Effects { open: true, ..Effects::default() },
        }
    }

    /// Effects that `e` decides of.
    fn under(&self, e: &Expr, effects: Effects) -> Effects {
        parts(e, &|s| self.definitions.get(&s).cloned()).iter().fold(effects, |effects, part| {
            let changes = any_node(&part.whole, |n| match n.kind() {
                ExprKind::Sym(s) => *s == Sym::Loop(self.of),
                ExprKind::Load { buf, .. } | ExprKind::Read { buf, .. } => self.own.contains(buf),
                _ => false,
            });
            match changes {
                // Each iteration has elements of its own.
                true if self.is_settled(&part.whole) => Effects { open: true, ..effects },
                true => {
                    let why = Some("a condition of what it stores changes with its iterations");
                    Effects { why_not: effects.why_not.or(why), ..effects }
                }
                false => effects,
            }
        })
    }

    /// Returns true if what the loop stores may change `e`.
    fn is_settled(&self, e: &Expr) -> bool {
        let whole = expanded(e, &|s| self.definitions.get(&s).cloned());
        any_node(&whole, |n| match n.kind() {
            ExprKind::Load { buf, .. } | ExprKind::Read { buf, .. } => self.stored.contains(buf),
            _ => false,
        })
    }
}
