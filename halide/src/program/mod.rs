//! Programs: pipelines that run one after the other, in loops, on buffers that stay between them.
//!
//! A [`Program`] is a list of *slots*, which are named buffers, and of *steps*, which are runs of pipelines
//! (`describe`). An image of a step reads the slot of its name, an output writes it. Compiling finds every mistake of
//! the list at once (`check`, `flow`, `sizes`), compiles the steps, and decides for each output whether it is computed
//! in the memory that the step reads (`compile`). A run finds the region of each slot (`regions`), makes the buffers,
//! and runs the steps (`run`): from the second iteration of a loop on, nothing is allocated and nothing is copied. On a
//! GPU, what kernels compute stays there until host code or the caller asks for it (`resident`).

mod bind;
mod call;
mod check;
mod compile;
mod describe;
pub(crate) mod error;
mod explain;
mod flow;
mod node;
mod regions;
pub(crate) mod resident;
mod result;
mod run;
mod sizes;
mod slots;

pub use call::ProgramCall;
pub use compile::CompiledProgram;
pub use describe::Program;
pub use error::{ProgramError, ProgramErrorKind, ProgramErrors};
pub use result::{ProgramResult, ProgramStats};
pub use slots::SlotExtent;
