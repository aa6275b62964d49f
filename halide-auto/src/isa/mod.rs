//! Schedules from instructions: the mapper of *ISA Mapper: A Compute and Hardware Agnostic Deep Learning Compiler*.
//!
//! 1. [`mappings`](halide_sched::plan::mappings) finds all ways in which instructions compute a definition.
//! 2. `contraction` reads the definition as loops and operands, `needle` joins it with a mapping.
//! 3. `tile` repeats the instruction along loops of the result, so that registers hold what it adds to.
//! 4. `order` and `memory` order the loops around tiles, and copy operands that do not lie together.
//! 5. An [`Approach`] chooses among these by predicted cycles, and `emit` writes the choice as directives.
//!
//! A definition is computed in the tiles of the one output that has a point for each of its points, if that alone reads
//! it: a bias or a ReLU then finds the sums in registers.

mod approach;
mod contraction;
mod emit;
mod home;
mod mapped;
mod matches;
mod memory;
mod needle;
mod order;
mod search;
mod tile;
mod ways;

pub use crate::attempt::{Attempt, Unsuited, WhyNot};
pub use crate::costs::{CostError, Costs};
pub use approach::{Answer, Approach, Choice, ChoiceKind, Heuristic, Random, Replay};
pub use mapped::{Mapped, MappedStage};
pub use search::{Mappable, map};
