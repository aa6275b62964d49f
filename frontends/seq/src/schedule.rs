//! The default schedule of a proc's pipeline: where each Func is computed, and which loops are parallel.

use crate::lower::{Order, Role, Stage};
use crate::tuning::{CHUNK, ROWS};
use std::fmt::Write;

/// The kind of loop that a level of nested sequences becomes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Nest {
    /// Parallel over threads, in chunks.
    Core,
    /// The lanes of vectors.
    Simd,
    /// One after the other.
    Seq,
}

/// The schedule as text: `nest` gives the kind of loop of each level, outermost first.
pub(crate) fn schedule(stages: &[Stage], nest: &[Nest], is_relaxed: bool) -> String {
    let mut text = String::new();
    for stage in stages {
        let name = &stage.name;
        let pure = pure_loops(&stage.dims, nest);
        let _ = writeln!(text, "{name}: compute_root(){pure}");
        for (update, domain) in stage.domains.iter().enumerate() {
            update_loops(stage, (update, domain), nest, is_relaxed, &mut text);
        }
    }
    text
}

/// The loops of a definition whose elements do not depend on each other.
fn pure_loops(dims: &[String], nest: &[Nest]) -> String {
    let (Some(inner), Some(outer)) = (dims.first(), dims.last()) else { return String::new() };
    let is_parallel = nest.first() == Some(&Nest::Core);
    match (dims.len(), is_parallel) {
        (1, true) => {
            format!(" split({inner}, {inner}o, {inner}i, {CHUNK}) parallel({inner}o) vectorize({inner}i, natural)")
        }
        (_, true) => format!(" parallel({outer}) vectorize({inner}, natural)"),
        (_, false) => format!(" vectorize({inner}, natural)"),
    }
}

/// The lines of an update.
fn update_loops(
    stage: &Stage,
    (update, domain): (usize, &[String]),
    nest: &[Nest],
    is_relaxed: bool,
    text: &mut String,
) {
    let (name, elements) = (&stage.name, element_loops(&stage.dims, nest));
    let mode = match stage.role {
        Role::Fold { order: Order::Free, .. } => "",
        Role::Fold { order: Order::Relaxed, .. } if is_relaxed => "float(relaxed) ",
        Role::Fold { .. } | Role::Rounds if !elements.is_empty() => {
            let _ = writeln!(text, "{name}.update({update}):{elements}");
            return;
        }
        _ => return,
    };
    let variable = &domain[0];
    let is_whole = matches!(stage.role, Role::Fold { is_whole: true, .. });
    let own = nest.get(stage.dims.len()).or(nest.last());
    if stage.dims.is_empty() && is_whole && own == Some(&Nest::Core) {
        // One reduction in all: chunks of it on cores, and their results behind that.
        let _ = writeln!(text, "{name}.update({update}): {mode}split({variable}, ro, ri, {CHUNK}) rfactor(ro, u)");
        let _ = writeln!(text, "{name}.rfactor(u): compute_root()");
        let _ = writeln!(text, "{name}.rfactor(u).update(0): {mode}parallel(u) atomic() vectorize(ri, natural)");
    } else if own == Some(&Nest::Simd) || stage.dims.is_empty() && own == Some(&Nest::Core) {
        let _ = writeln!(text, "{name}.update({update}):{elements} {mode}atomic() vectorize({variable}, natural)");
    } else if !elements.is_empty() {
        let _ = writeln!(text, "{name}.update({update}):{elements}");
    }
}

/// The loops over the elements of which each has an update of its own.
fn element_loops(dims: &[String], nest: &[Nest]) -> String {
    let Some(outer) = dims.last() else { return String::new() };
    match nest.first() {
        Some(Nest::Core) => format!(" split({outer}, {outer}o, {outer}i, {ROWS}) parallel({outer}o)"),
        Some(Nest::Simd) => format!(" vectorize({outer}, natural)"),
        _ => String::new(),
    }
}
