//! Lanes that are done: a store under a mask of data becomes a store of the old value in lanes that the mask has not.
//!
//! A lane of such a store is an iteration of the vectorized loop, and its element that iteration's own. A mask says by
//! other parts than data which lanes there are; these stay. Values that nothing but such a store sees are computed of
//! what lanes at rest hold, where they were computed of zeros.

use super::search::{self, loads, value_of};
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, Memo};
use halide_ir::{BufId, Expr, ExprKind, Stmt, Sym, build};

/// A store whose lanes at rest keep their elements, by the place and the mask of it.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Place {
    buf: BufId,
    index: Expr,
    mask: Expr,
}

/// The lanes that there are under a mask of which data decides, too; all if there is none.
#[derive(Clone)]
struct Lanes(Option<Expr>);

#[derive(Default)]
struct Kept {
    places: Map<Place, Lanes>,
    /// The masks of the stores to such places that see a name; none for other uses of it.
    users: Map<Sym, Set<Option<Expr>>>,
}

/// The body of a loop in which lanes at rest store what they have.
pub(super) fn stored_again(body: Stmt) -> Stmt {
    let mut crosses = false;
    visit::for_each_expr_deep(&body, &mut |e| {
        crosses |= visit::any_node(e, |n| matches!(n.kind(), ExprKind::Shuffle(..)));
    });
    // What other lanes are given of a lane at rest must stay what it was.
    if crosses {
        return body;
    }
    let mut kept = Kept::default();
    kept.collect(&body, &mut Vec::new());
    match kept.places.is_empty() {
        true => body,
        false => kept.statement(body),
    }
}

impl Kept {
    /// Notes places, and behind the last use of a name the uses that its value is put to.
    fn collect(&mut self, s: &Stmt, names: &mut Vec<(Sym, Expr)>) {
        match s {
            Stmt::Let { bindings, body } => {
                let before = names.len();
                for (symbol, value) in bindings {
                    let value = search::expanded(value, &|s| value_of(names, s));
                    names.push((*symbol, value));
                }
                self.collect(body, names);
                names.truncate(before);
                for (symbol, value) in bindings.iter().rev() {
                    let users = self.users.get(symbol).cloned().unwrap_or_default();
                    users.iter().for_each(|user| self.used(value, user.as_ref()));
                }
            }
            Stmt::Store { buf, index, value, mask: Some(mask) } => {
                let lanes = if is_dense(index) { lanes(mask, names) } else { None };
                self.used(value, lanes.is_some().then_some(mask));
                [index, mask].into_iter().for_each(|e| self.used(e, None));
                if let Some(lanes) = lanes {
                    self.places.insert(Place { buf: *buf, index: index.clone(), mask: mask.clone() }, lanes);
                }
            }
            other => {
                visit::for_each_expr(other, |e| self.used(e, None));
                visit::for_each_stmt(other, |inner| self.collect(inner, names));
            }
        }
    }

    /// Notes that a value is seen by the store under a mask, lane by lane, or by something else.
    fn used(&mut self, e: &Expr, by: Option<&Expr>) {
        let mut pending = vec![(e.clone(), by.is_some())];
        let mut seen = Set::default();
        while let Some((e, lane_by_lane)) = pending.pop() {
            if !seen.insert((e.clone(), lane_by_lane)) {
                continue;
            }
            if let ExprKind::Sym(s) = e.kind() {
                self.users.entry(*s).or_default().insert(by.filter(|_| lane_by_lane).cloned());
            }
            // Addresses and masks of loads are not values of the store.
            let inside = lane_by_lane && !matches!(e.kind(), ExprKind::Load { .. } | ExprKind::Ramp { .. });
            visit::for_each_child(&e, |child| pending.push((child.clone(), inside)));
        }
    }

    fn statement(&self, s: Stmt) -> Stmt {
        match s {
            Stmt::Let { bindings, body } => {
                let bindings = bindings.into_iter().map(|(s, e)| {
                    let only =
                        self.users.get(&s).filter(|users| users.len() == 1).and_then(|users| users.iter().next());
                    let made = only.and_then(Option::as_ref).map_or_else(|| e.clone(), |mask| self.value(&e, mask));
                    (s, made)
                });
                let bindings = bindings.collect();
                build::let_in(bindings, self.statement(*body))
            }
            Stmt::Store { buf, index, value, mask: Some(mask) } => {
                let place = Place { buf, index: index.clone(), mask: mask.clone() };
                let Some(Lanes(lanes)) = self.places.get(&place).cloned() else {
                    return Stmt::Store { buf, index, value, mask: Some(mask) };
                };
                let elem = value.ty().scalar().expect("stores are of data");
                let old = build::load(buf, elem, index.clone(), lanes.clone());
                // The mask as it stands here: its parts may load what an earlier store of the definition has changed.
                let value = build::select(mask.clone(), self.value(&value, &mask), old);
                Stmt::Store { buf, index, value, mask: lanes }
            }
            other => visit::map_stmt(other, Expr::clone, |inner| self.statement(inner)),
        }
    }

    /// A value that only a store under `mask` sees, with loads of kept places from all of their lanes.
    fn value(&self, e: &Expr, mask: &Expr) -> Expr {
        let of = mask;
        Memo::new().rewrite(e, |n, done| match n.kind() {
            ExprKind::Load { buf, index, mask: Some(mask) } if mask == of => {
                let place = Place { buf: *buf, index: index.clone(), mask: mask.clone() };
                let elem = n.ty().scalar().expect("loads are data");
                match self.places.get(&place) {
                    Some(Lanes(lanes)) => build::load(*buf, elem, index.clone(), lanes.clone()),
                    None => n.clone(),
                }
            }
            // What is loaded from where is not a value of the store.
            ExprKind::Load { .. } | ExprKind::Ramp { .. } => n.clone(),
            _ => visit::map_children(n, done),
        })
    }
}

/// The lanes that there are under a mask, if data decides of some of them.
fn lanes(mask: &Expr, names: &[(Sym, Expr)]) -> Option<Lanes> {
    let parts = search::parts(mask, &|s| value_of(names, s));
    let of_lanes = |e: &Expr| build::broadcast(e.clone(), mask.lanes());
    let (data, lanes): (Vec<_>, Vec<_>) =
        parts.into_iter().partition(|part| part.said.lanes() > 1 && loads(&part.whole));
    let lanes = lanes.iter().map(|part| of_lanes(&part.said)).reduce(build::and);
    (!data.is_empty()).then_some(Lanes(lanes))
}

fn is_dense(index: &Expr) -> bool {
    matches!(index.kind(), ExprKind::Ramp { stride, .. } if build::as_int(stride) == Some(1))
}
