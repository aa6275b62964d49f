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
            let loops = update_loops(stage, domain, nest, is_relaxed);
            if !loops.is_empty() {
                let _ = writeln!(text, "{name}.update({update}):{loops}");
            }
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

/// The loops of an update.
fn update_loops(stage: &Stage, domain: &[String], nest: &[Nest], is_relaxed: bool) -> String {
    let Role::Fold(order) = stage.role else {
        return match stage.role {
            Role::Rounds => element_loops(&stage.dims, nest),
            _ => String::new(),
        };
    };
    let mut loops = element_loops(&stage.dims, nest);
    let lanes = nest.get(stage.dims.len()).or(nest.last());
    let mode = match order {
        Order::Free => "",
        Order::Relaxed if is_relaxed => " float(relaxed)",
        Order::Relaxed | Order::Fixed => return loops,
    };
    if lanes == Some(&Nest::Simd) {
        let _ = write!(loops, "{mode} atomic() vectorize({}, natural)", domain[0]);
    }
    loops
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
