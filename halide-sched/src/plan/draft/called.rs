//! Legality of directives about the Funcs that calls of closures are made of.

use super::func_draft::CalleeRole;
use crate::plan::diagnostics::Problem;
use crate::schedule::{Scope, Verb};

/// The problem of a directive about a Func with a part in the calls of a closure, if it has one: copies of inputs have
/// loops, but the places and the storage of both kinds are where the closure is called.
pub(super) fn refused(name: &str, role: Option<CalleeRole>, verb: &Verb) -> Option<Problem> {
    let func = name.to_string();
    match role? {
        CalleeRole::Values => Some(Problem::CalleeValues { func }),
        CalleeRole::Input => {
            let is_of_loops = verb.scope() == Scope::Stage && !matches!(verb, Verb::ComputeWith { .. });
            (!is_of_loops).then_some(Problem::CalleeInput { func })
        }
    }
}
