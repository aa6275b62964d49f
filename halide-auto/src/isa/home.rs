//! The loops in which a contraction is computed: its own, or those of the one Func that reads it point by point.

use crate::cost::Pricer;
use crate::state::{Place, State};
use crate::substitution::with_inlined;
use crate::tile::bind::bind_reads;
use halide_core::ids::FuncId;
use std::collections::BTreeMap;

/// The loops in which the tiles of a contraction are.
#[derive(Clone, Debug)]
pub(super) enum Home {
    /// Its own.
    Own {
        /// True if it is an output.
        is_output: bool,
    },
    /// Loops of a Func that reads it, so that what follows on it is in the same tile.
    Reader {
        /// The Func.
        func: String,
        /// Its variable for each dimension of the contraction.
        vars: Vec<String>,
        /// All names of its variables.
        taken: Vec<String>,
        /// The operations for each of its points.
        operations: f64,
    },
}

/// Finds the loops for a Func: those of an output that has a point for each point of it, through Funcs that are
/// substituted, if that alone reads it.
pub(super) fn home(pricer: &Pricer<'_>, state: &State, func: FuncId) -> Home {
    let own = Home::Own { is_output: pricer.dag.funcs[func].is_output };
    reader(pricer, state, func).unwrap_or(own)
}

fn reader(pricer: &Pricer<'_>, state: &State, func: FuncId) -> Option<Home> {
    let dag = pricer.dag;
    let mut at = func;
    loop {
        let node = &dag.funcs[at];
        let mut readers = node.readers.iter().filter(|(reader, _)| *reader != at);
        let (reader, stage) = *readers.next()?;
        if node.is_output || stage != 0 || readers.any(|other| *other != (reader, stage)) {
            return None;
        }
        at = reader;
        if state.place(at) != Place::Inline {
            break;
        }
    }
    if state.place(at) != Place::Root || !dag.funcs[at].is_pure {
        return None;
    }
    let (arrays, order) = bind_reads(pricer, state, (at, 0), func).ok()?;
    let name = &dag.pipeline.funcs[func].name;
    let mut reads = arrays.iter().filter(|array| array.name == *name);
    let array = reads.next()?;
    let names = &dag.funcs[at].stages[0].vars;
    // Subscripts begin with the last dimension.
    let var = |subscript: &crate::tss::Subscript| match subscript.terms[..] {
        [(of, 1)] => Some(names[order[of]].name.clone()),
        _ => None,
    };
    let vars: Vec<String> = array.subscripts.iter().rev().map(var).collect::<Option<_>>()?;
    let is_once = vars.iter().enumerate().all(|(n, var)| !vars[..n].contains(var));
    if reads.next().is_some() || array.references() != 1 || !is_once || vars.len() != names.len() {
        return None;
    }
    let func = dag.pipeline.funcs[at].name.clone();
    let work = with_inlined(dag, &dag.funcs[at].stages[0], &|func| state.is_inlined(func), &mut BTreeMap::new());
    let operations = work.values().sum();
    Some(Home::Reader { func, vars, operations, taken: names.iter().map(|var| var.name.clone()).collect() })
}
