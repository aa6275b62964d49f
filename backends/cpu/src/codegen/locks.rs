//! Locks that atomic steps hold where no instruction does them.
//!
//! A step that loads and stores one site only (all elements of a tuple at one point) holds the lock of that site, which
//! is chosen by the index of one of its elements, so steps at other sites seldom wait. A step that loads or stores
//! elements of other sites too holds the one lock of its Func. All steps of a Func do the same, whichever copies of
//! them passes have made. A step holds one lock, and nothing in it waits for another, so no two steps wait for each
//! other.

use halide_core::ids::FuncId;
use halide_ir::visit::{any_node, for_each_stmt, substitute};
use halide_ir::{BufId, Expr, ExprKind, Program, Step, Stmt, Sym, build};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The mutual exclusion of the steps of a Func.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Lock {
    /// By a lock for each site.
    Site,
    /// By one lock.
    Func,
}

/// The Funcs whose steps hold locks.
pub(super) fn locks(program: &Program) -> BTreeMap<FuncId, Lock> {
    fn walk(s: &Stmt, into: &mut BTreeMap<FuncId, Vec<Stmt>>) {
        if let Stmt::Atomic { func, body } = s {
            into.entry(*func).or_default().push((**body).clone());
        }
        for_each_stmt(s, |inner| walk(inner, into));
    }
    let mut steps = BTreeMap::new();
    walk(&program.body, &mut steps);
    program.tasks.iter().for_each(|task| walk(&task.body, &mut steps));
    steps.into_iter().filter_map(|(func, steps)| Some((func, lock_of(&steps)?))).collect()
}

/// The lock that all these steps hold, if instructions do not do all of them.
fn lock_of(steps: &[Stmt]) -> Option<Lock> {
    if steps.iter().all(|s| exchange_of(s, Sym::Temp(u32::MAX)).is_some()) {
        return None;
    }
    let mut stored: Option<BTreeSet<BufId>> = None;
    let mut is_alike = |site: SiteStep| {
        let bufs: BTreeSet<BufId> = site.stores.iter().map(|s| s.buf).collect();
        *stored.get_or_insert_with(|| bufs.clone()) == bufs
    };
    let by_site = steps.iter().all(|s| SiteStep::parse(s).is_some_and(&mut is_alike));
    Some(if by_site { Lock::Site } else { Lock::Func })
}

/// The step `body`, if it changes one element, where `old` is to stand for what that holds.
pub(super) fn exchange_of(body: &Stmt, old: Sym) -> Option<Step> {
    Step::of(body, old).ok().filter(|step| step.index.lanes() == 1 && step.value.lanes() == 1)
}

/// A step that loads and stores one site only.
pub(super) struct SiteStep {
    /// Names that are bound first, whose values do not depend on what the site holds.
    pub(super) bindings: Vec<(Sym, Expr)>,
    /// The index of an element of the site: the same one in every step.
    pub(super) site: Expr,
    /// The rest: names of what depends on it, and stores.
    pub(super) rest: Stmt,
    stores: Vec<Store>,
}

/// A store of a step.
struct Store {
    buf: BufId,
    index: Expr,
}

impl SiteStep {
    /// The step `body`, if it is one.
    pub(super) fn parse(body: &Stmt) -> Option<SiteStep> {
        let (mut names, mut list) = (Vec::new(), Vec::new());
        flatten(body, &mut names, &mut list)?;
        let stores: Vec<Store> = list.iter().filter_map(store_of).collect();
        let bufs: BTreeSet<BufId> = stores.iter().map(|s| s.buf).collect();
        // Each element once; lanes are sites of their own.
        if stores.len() != list.len() || bufs.len() != stores.len() || stores.iter().any(|s| s.index.lanes() > 1) {
            return None;
        }
        let mut inner: HashMap<Sym, Expr> = HashMap::new();
        let (mut bindings, mut depends) = (Vec::new(), Vec::new());
        let loads = |e: &Expr| any_node(e, |n| matches!(n.kind(), ExprKind::Load { buf, .. } if bufs.contains(buf)));
        for (s, e) in &names {
            let whole = substitute(e, &|s| inner.get(&s).cloned());
            if loads(&whole) {
                inner.insert(*s, whole);
                depends.push((*s, e.clone()));
            } else {
                bindings.push((*s, whole));
            }
        }
        let put = |e: &Expr| substitute(e, &|s| inner.get(&s).cloned());
        if stores.iter().any(|s| loads(&put(&s.index))) {
            return None;
        }
        let mut evaluated: Vec<Expr> = inner.values().cloned().collect();
        evaluated.extend(list.iter().flat_map(operands).map(|e| put(&e)));
        if evaluated.iter().any(|e| any_node(e, |n| loads_elsewhere(n, &stores))) {
            return None;
        }
        let site = stores.iter().min_by_key(|s| s.buf)?.index.clone();
        Some(SiteStep { bindings, site, rest: build::let_in(depends, build::block(list)), stores })
    }
}

/// Takes names and stores apart, if there is nothing else in `s` and names come first.
fn flatten(s: &Stmt, names: &mut Vec<(Sym, Expr)>, list: &mut Vec<Stmt>) -> Option<()> {
    match s {
        Stmt::Let { bindings, body } if list.is_empty() => {
            names.extend(bindings.iter().cloned());
            flatten(body, names, list)
        }
        Stmt::Block(all) => all.iter().try_for_each(|s| flatten(s, names, list)),
        Stmt::Store { .. } => {
            list.push(s.clone());
            Some(())
        }
        _ => None,
    }
}

fn store_of(s: &Stmt) -> Option<Store> {
    match s {
        Stmt::Store { buf, index, .. } => Some(Store { buf: *buf, index: index.clone() }),
        _ => None,
    }
}

/// Returns the expressions that a store evaluates where it stands: its value and its mask.
fn operands(s: &Stmt) -> Vec<Expr> {
    match s {
        Stmt::Store { value, mask, .. } => std::iter::once(value).chain(mask).cloned().collect(),
        _ => Vec::new(),
    }
}

/// Returns true if a node loads an element that is stored to at another index.
fn loads_elsewhere(node: &Expr, stores: &[Store]) -> bool {
    match node.kind() {
        ExprKind::Load { buf, index, .. } => stores.iter().any(|s| s.buf == *buf && s.index != *index),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::codegen::locks::*;
    use halide_core::types::ScalarType::I32;

    const A: BufId = BufId(0);
    const B: BufId = BufId(1);

    fn load(buf: BufId, index: &Expr) -> Expr {
        build::load(buf, I32, index.clone(), None)
    }
    fn store(buf: BufId, index: &Expr, value: Expr) -> Stmt {
        Stmt::Store { buf, index: index.clone(), value, mask: None }
    }
    fn name(n: u32) -> Expr {
        build::typed_sym(Sym::Temp(n), build::load(A, I32, build::int(0), None).ty())
    }

    /// A step that names the sums of both elements and stores them.
    fn sums(at: &Expr, from: &Expr) -> Stmt {
        let sum = build::add(load(A, from), load(B, at));
        let stores = build::block([store(A, at, name(0)), store(B, at, name(1))]);
        build::let_in(vec![(Sym::Temp(0), sum), (Sym::Temp(1), build::mul(name(0), load(B, at)))], stores)
    }

    #[test]
    fn steps_of_one_site() {
        let at = build::sym(Sym::Temp(7));
        assert!(SiteStep::parse(&sums(&at, &at)).is_some());
        assert_eq!(lock_of(&[sums(&at, &at), sums(&build::int(3), &build::int(3))]), Some(Lock::Site));
        // Other elements are read, or stored.
        let next = build::offset(at.clone(), 1);
        assert!(SiteStep::parse(&sums(&at, &next)).is_none());
        let swap = build::block([store(A, &at, name(0)), store(A, &next, name(1))]);
        let swap = build::let_in(vec![(Sym::Temp(0), load(A, &next)), (Sym::Temp(1), load(A, &at))], swap);
        assert_eq!(lock_of(std::slice::from_ref(&swap)), Some(Lock::Func));
        assert_eq!(lock_of(&[sums(&at, &at), swap]), Some(Lock::Func));
        // What the site holds must not say which it is.
        let data = build::to_index(load(A, &at));
        assert!(SiteStep::parse(&sums(&data, &data)).is_none());
        // Steps that store other elements of the tuple cannot be told by one of them.
        let one = build::let_in(vec![(Sym::Temp(0), load(A, &at))], store(B, &at, build::mul(name(0), load(B, &at))));
        assert_eq!(lock_of(&[sums(&at, &at), one]), Some(Lock::Func));
        // Instructions do what changes one element.
        assert_eq!(lock_of(&[store(A, &at, build::add(load(A, &at), load(A, &at)))]), None);
    }
}
