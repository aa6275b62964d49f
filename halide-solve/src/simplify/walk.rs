//! Walking a DAG without recursion, since expressions grow as deep as a pipeline is long.

use halide_ir::Expr;
use halide_ir::hash::Set;
use halide_ir::visit::{Pending, is_leaf, push_children};
use smallvec::smallvec;

/// Calls `visit` on every node below and at `root` for which `known` is false, children before parents; nodes below
/// known ones are left out. After `visit(e)`, `known(e)` must be true.
pub(crate) fn postorder<'e>(root: &'e Expr, known: impl Fn(&Expr) -> bool, mut visit: impl FnMut(&'e Expr)) {
    let mut stack: Pending<'_> = smallvec![(root, false)];
    while let Some((e, ready)) = stack.pop() {
        if ready {
            // Where it stands twice below one node, it is known by now.
            if !known(e) {
                visit(e);
            }
            continue;
        }
        if known(e) {
            continue;
        }
        if is_leaf(e) {
            visit(e);
            continue;
        }
        stack.push((e, true));
        push_children(e, &mut stack);
    }
}

/// Every node below and at `root` for which `skip` is false, children before parents; what stands only below skipped
/// nodes is left out.
pub fn nodes(root: &Expr, skip: impl Fn(&Expr) -> bool) -> Vec<Expr> {
    let seen = std::cell::RefCell::new(Set::with_capacity_and_hasher(48, Default::default()));
    let mut list = Vec::new();
    postorder(
        root,
        |e| skip(e) || seen.borrow().contains(&e.id()),
        |e| {
            seen.borrow_mut().insert(e.id());
            list.push(e.clone());
        },
    );
    list
}
