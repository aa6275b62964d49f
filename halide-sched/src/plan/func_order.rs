//! The order of the Funcs of a pipeline: producers first, and new Funcs beside those that they were made from.

use halide_core::ids::{FuncId, IdVec};
use std::collections::{BTreeMap, BTreeSet};

/// The Funcs of `order` and the new ones, each next to the one that it was made from.
pub(super) fn placed(
    order: &[FuncId],
    ahead: &BTreeMap<FuncId, Vec<FuncId>>,
    behind: &BTreeMap<FuncId, Vec<FuncId>>,
) -> Vec<FuncId> {
    let mut all = Vec::new();
    let mut todo: Vec<FuncId> = order.iter().rev().copied().collect();
    let mut entered = BTreeSet::new();
    while let Some(func) = todo.pop() {
        if let Some(ahead) = ahead.get(&func)
            && entered.insert(func)
        {
            todo.push(func);
            todo.extend(ahead.iter().rev());
            continue;
        }
        all.push(func);
        todo.extend(behind.get(&func).into_iter().flatten().rev());
    }
    all
}

/// `order` with every Func behind all that it calls, and otherwise as it is: Funcs that were made one after the other
/// from one Func may call each other either way. `callers` has, for each Func, the stages that call it.
pub(super) fn producers_first(order: &[FuncId], callers: &IdVec<FuncId, BTreeSet<(FuncId, usize)>>) -> Vec<FuncId> {
    let mut callees: BTreeMap<FuncId, Vec<FuncId>> = BTreeMap::new();
    for &callee in order {
        let funcs: BTreeSet<FuncId> = callers[callee].iter().map(|&(caller, _)| caller).collect();
        funcs.into_iter().for_each(|caller| callees.entry(caller).or_default().push(callee));
    }
    let (mut sorted, mut entered, mut left) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    for &first in order {
        let mut todo = vec![first];
        while let Some(func) = todo.pop() {
            if !entered.insert(func) {
                if left.insert(func) {
                    sorted.push(func);
                }
                continue;
            }
            todo.push(func);
            todo.extend(callees.get(&func).into_iter().flatten().rev().filter(|f| !entered.contains(f)));
        }
    }
    sorted
}
