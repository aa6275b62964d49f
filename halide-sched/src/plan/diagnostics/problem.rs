//! The defects of directives: for each a condition, a message and a remedy, side by side in the tables of this folder.
//!
//! ```text
//! CONDITION { field: TYPE, .. } => MESSAGE, help REMEDY;
//! ```
//!
//! A message says subject and defect; the remedy may be left out. Names in fields are as the user wrote them.

use super::gpu::gpu;
use super::graph::graph;
use super::groups::groups;
use super::instructions::instructions;
use super::loops::loops;
use super::names::names;
use super::places::places;
use super::reasons::{CallObstacle, JoinReason, OrderReason, ScanReason, Shared, StepReason, TogetherReason};
use crate::plan::access::Collision;
use crate::plan::dependence::Conflict;
use crate::plan::monoid::MonoidReason;
use crate::schedule::{Extents, FloatMode, LoopKind, Tail, kind_word};
use halide_core::error::Location;
use halide_core::types::ScalarType;
use std::fmt;

macro_rules! remedy {
    () => {
        None
    };
    ($help:expr) => {
        Remedy::text($help)
    };
}

macro_rules! problems {
    ({ $($problem:ident $({ $($field:ident: $ty:ty),* })? => $message:expr $(, help $help:expr)?;)* }) => {
        /// The defects of a directive.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs)] // The messages say what each variant and field means.
        pub enum Problem {
            $($problem $({ $($field: $ty),* })?,)*
        }

        // Some fields are for messages alone, some for remedies: those that a text does not use are named and dropped.
        impl fmt::Display for Problem {
            /// Writes the reason that the directive cannot be followed.
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let message = match self {
                    $(Problem::$problem $({ $($field),* })? => { $($(let _ = $field;)*)? $message })*
                };
                f.write_str(&message)
            }
        }

        impl Problem {
            /// Returns a remedy, if one is known.
            pub fn help(&self) -> Option<String> {
                match self {
                    $(Problem::$problem $({ $($field),* })? => { $($(let _ = $field;)*)? remedy!($($help)?) })*
                }
            }
        }
    };
}

names!({} loops instructions gpu places graph groups problems);

/// A remedy as text, or one that may be missing.
trait Remedy {
    fn text(self) -> Option<String>;
}

impl Remedy for &str {
    fn text(self) -> Option<String> {
        Some(self.to_string())
    }
}

impl Remedy for String {
    fn text(self) -> Option<String> {
        Some(self)
    }
}

impl Remedy for Option<String> {
    fn text(self) -> Option<String> {
        self
    }
}

fn did_you_mean(near: &Option<String>) -> Option<String> {
    near.as_ref().map(|name| format!("did you mean `{name}`?"))
}

/// Help for a name that is a tail strategy, read where a factor stands.
fn after_a_factor(name: &str) -> Option<String> {
    let tail = Tail::ALL.into_iter().find(|tail| tail.word() == name)?;
    Some(format!("write the factor before the tail strategy: `8, {tail}`"))
}

fn names(list: &[String]) -> String {
    let quoted: Vec<String> = list.iter().map(|n| format!("`{n}`")).collect();
    if quoted.is_empty() { "none".to_string() } else { quoted.join(", ") }
}

fn done(kind: LoopKind) -> &'static str {
    match kind {
        LoopKind::Serial => "run serially",
        LoopKind::Parallel => "run in parallel",
        LoopKind::Vectorized => "vectorized",
        LoopKind::Unrolled => "unrolled",
        LoopKind::GpuBlocks => "run as blocks of threads",
        LoopKind::GpuThreads => "run as threads of a block",
        LoopKind::GpuLanes => "run as lanes of a subgroup",
    }
}
