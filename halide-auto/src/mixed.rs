//! Funcs at points about which data decide, for some of those that read them.

use crate::dag::Dag;
use halide_core::ids::{FuncId, IdVec};

/// Returns true for each Func of which data decide about all points that some readers need, and not about those that
/// others need. A reader that is substituted needs points as those do that read it. Each Func is looked at once.
pub(crate) fn mixed(dag: &Dag<'_>, is_inlined: &dyn Fn(FuncId) -> bool) -> IdVec<FuncId, bool> {
    let none = || dag.pipeline.funcs.ids().map(|_| false).collect::<IdVec<FuncId, bool>>();
    let (mut by_data, mut mixed) = (none(), none());
    for &func in dag.pipeline.order.iter().rev() {
        let is_by_data = |of: &&(FuncId, usize)| {
            dag.funcs[of.0].stages[of.1].indexed.contains(&func) || is_inlined(of.0) && by_data[of.0]
        };
        let readers = &dag.funcs[func].readers;
        let count = readers.iter().filter(is_by_data).count();
        mixed[func] = (1..readers.len()).contains(&count);
        by_data[func] = count > 0 && count == readers.len();
    }
    mixed
}
