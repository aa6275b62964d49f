//! Lanes that change the same element.

use super::body::{Widen, both, expression};
use super::step::{Step, step};
use crate::lower::loops::copy::fresh_copy;
use crate::lower::vectors::join_sums::is_small_product;
use crate::lower::vectors::lanes;
use crate::lower::vectors::some_lane::some_lane;
use crate::lower::walk::any_stmt;
use halide_core::ids::FuncId;
use halide_core::ops::{BinOp, MathFn};
use halide_core::value;
use halide_ir::visit::{self, any_node};
use halide_ir::{BufId, Expr, ExprKind, Stmt, build};

/// `buf[index] = buf[index] op value` of all lanes at once, where `place` is the index and is the same in all of them:
/// the values are combined first. `None` if the statement is none of that form. `index` and `stored` are as they were
/// before anything was widened.
///
/// Integers are combined in a tree, as are floats whose order may change. Other floats are taken in the order of the
/// lanes, which rounds as one after the other.
pub(super) fn into_one(
    cx: &mut Widen<'_>,
    buf: BufId,
    (index, place): (&Expr, &Expr),
    stored: &Expr,
    own: Option<Expr>,
) -> Option<Combined> {
    let is_old =
        |e: &Expr| matches!(e.kind(), ExprKind::Load { buf: from, index: i, mask: None } if *from == buf && i == index);
    let Step { op, new, old_first, fused } = step(stored, &is_old)?;
    let loads_it = any_node(&new, |n| matches!(n.kind(), ExprKind::Load { buf: from, .. } if *from == buf));
    let ty = stored.ty().scalar()?;
    if loads_it {
        return None;
    }
    let lanes = cx.lanes;
    let old = build::load(buf, ty, place.clone(), None);
    let mask = both(cx.mask.clone(), own).map(|m| build::broadcast(m, lanes));
    let keeps_order = ty.is_float() && !cx.relaxed;
    let mut wide = |e: &Expr| build::broadcast(expression(cx, e), lanes);
    let join = |old: Expr, new: Expr| if old_first { build::binary(op, old, new) } else { build::binary(op, new, old) };
    let value = if keeps_order {
        let of_lane: Box<dyn Fn(Expr, u16) -> Expr> = match &fused {
            Some(factors) => {
                let [x, y] = factors.each_ref().map(&mut wide);
                let lane = |e: &Expr, i: u16| lanes::lane(e, i);
                Box::new(move |old, i| build::math(MathFn::MulAdd, vec![lane(&x, i), lane(&y, i), old]))
            }
            None => {
                let new = wide(&new);
                Box::new(move |old, i| join(old, lanes::lane(&new, i)))
            }
        };
        (0..lanes).fold(old, |old, lane| match &mask {
            Some(mask) => build::select(lanes::lane(mask, lane), of_lane(old.clone(), lane), old),
            None => of_lane(old, lane),
        })
    } else {
        let idle = build::constant(value::identity(op, ty)?);
        let new = wide(&new);
        let new = match &mask {
            Some(mask) => build::select(mask.clone(), new, build::broadcast(idle, lanes)),
            None => new,
        };
        join(old, halved(op, new))
    };
    let any = mask.map(|m| some_lane(&m));
    Some(Combined { any, store: Stmt::Store { buf, index: place.clone(), value, mask: None } })
}

/// The joint step of all lanes: one store, and the condition for it.
pub(super) struct Combined {
    /// Scalar: whether any lane runs; `None` is that all do.
    any: Option<Expr>,
    store: Stmt,
}

impl Combined {
    /// As a statement; `f` makes something of the store.
    pub(super) fn stmt(self, f: impl FnOnce(Stmt) -> Stmt) -> Stmt {
        let made = f(self.store);
        match self.any {
            Some(any) => build::if_else(any, made, build::nothing()),
            None => made,
        }
    }
}

/// All lanes joined by `op`: one half with the other while that goes. Products of small integers are added to their
/// neighbours first, four and four: there are instructions for that.
fn halved(op: BinOp, mut e: Expr) -> Expr {
    let is_dot = op == BinOp::Add && is_small_product(&e);
    if is_dot && e.lanes() > 4 && e.lanes().is_multiple_of(4) && lanes::uniform(&e).is_none() {
        let every_fourth = |from: u16| build::shuffle(vec![e.clone()], (from..e.lanes()).step_by(4).collect());
        e = (1..4).map(every_fourth).fold(every_fourth(0), build::add);
    }
    while e.lanes() > 1 && e.lanes().is_multiple_of(2) && lanes::uniform(&e).is_none() {
        let half = e.lanes() / 2;
        let part = |from: u16| build::shuffle(vec![e.clone()], (from..from + half).collect());
        e = build::binary(op, part(0), part(half));
    }
    lanes::reduce_if_vector(op, &e)
}

/// A step of every lane that must be atomic: one step for all where they change one element by a known operation, else
/// one after the other.
pub(super) fn atomic(cx: &mut Widen<'_>, func: FuncId, body: &Stmt) -> Stmt {
    if let Stmt::Store { buf, index, value, mask } = body {
        let place = expression(cx, index);
        let own = mask.as_ref().map(|m| expression(cx, m));
        if let Some(place) = lanes::uniform(&place)
            && let Some(step) = into_one(cx, *buf, (index, &place), value, own)
        {
            return step.stmt(|store| Stmt::Atomic { func, body: Box::new(store) });
        }
    }
    let per_lane = &cx.varying.per_lane;
    let loads = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if per_lane.contains(buf)));
    let uses_lanes = any_stmt(body, &mut |s| {
        let mut found = matches!(s, Stmt::Store { buf, .. } if per_lane.contains(buf));
        visit::for_each_expr(s, |e| found = found || loads(e));
        found
    });
    if uses_lanes {
        cx.fail("an atomic step uses what every lane has for itself");
        return build::nothing();
    }
    let step = Stmt::Atomic { func, body: Box::new(body.clone()) };
    let mut all = Vec::new();
    for lane in 0..cx.lanes {
        let given: Vec<_> = cx.values.iter().map(|(s, v)| (*s, lanes::lane(v, lane))).collect();
        let step = fresh_copy(&step, &given, cx.program);
        all.push(match &cx.mask {
            Some(mask) => build::if_else(lanes::lane(mask, lane), step, build::nothing()),
            None => step,
        });
    }
    build::block(all)
}
