//! Freezing `undef`, which says that nothing is stored.
//!
//! In an update the element keeps its value: it is stored again. In the first definition of an output it is what the
//! caller's buffer holds, which is zero in a fresh one; in that of any other Func it is zero. So reading what nobody
//! wrote has one meaning, the same on every engine.

use super::Freezer;
use super::address::address;
use crate::arena::{self, Expr, Kind as Open};
use crate::func::FuncBody;
use crate::value::Scalar;
use std::rc::Rc;

impl Freezer {
    /// The values of a first definition, in which `undef` is what is there.
    pub(super) fn first_values(&self, body: &Rc<FuncBody>, values: Vec<Expr>) -> Vec<Expr> {
        let is_output = self.outputs.contains(&address(body));
        let values = values.into_iter().enumerate();
        values.map(|(element, e)| replaced(e, &|undef| first_value(undef, is_output, element as u8))).collect()
    }
}

fn first_value(undef: Expr, is_output: bool, element: u8) -> Expr {
    let node = arena::node(undef);
    let kind = match undef.ty() {
        Some(ty) if !is_output => Open::Const(Scalar::zero(ty)),
        _ => Open::Before(element),
    };
    arena::add(kind, node.ty, node.at)
}

/// `e` with `instead` of each `undef` that is all of it, or all of what a choice gives. Others are mistakes.
pub(super) fn replaced(e: Expr, instead: &dyn Fn(Expr) -> Expr) -> Expr {
    let node = arena::node(e);
    match node.kind {
        Open::Undef => instead(e),
        // A chain of choices is as deep as somebody wrote it.
        Open::Select(c, a, b) if has_undef(a) || has_undef(b) => {
            let (a, b) = (replaced(a, instead), replaced(b, instead));
            arena::add(Open::Select(c, a, b), node.ty, node.at)
        }
        _ => e,
    }
}

/// Returns true if some choice in `e` gives `undef`.
fn has_undef(e: Expr) -> bool {
    let mut todo = vec![e];
    while let Some(e) = todo.pop() {
        match arena::node(e).kind {
            Open::Undef => return true,
            Open::Select(_, a, b) => todo.extend([a, b]),
            _ => {}
        }
    }
    false
}
