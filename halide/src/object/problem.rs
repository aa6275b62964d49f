//! The reasons that there is no object of a pipeline.

use std::fmt;

/// A reason that a pipeline cannot be compiled into an object.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ObjectProblem {
    /// The name is no identifier of C.
    Name {
        /// The name.
        name: String,
    },
    /// The pipeline was compiled for an engine that has no machine code of all of it.
    Engine {
        /// The engine.
        engine: String,
    },
    /// Extern stages, memoized Funcs, or instructions of closures, which are computed by this process.
    Stages,
    /// Requirements, of which the interpreter decides if they fail at a point that somebody needs.
    Requirements,
}

impl fmt::Display for ObjectProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ObjectProblem::Name { name } => write!(
                f,
                "an object cannot be called `{name}`, since its header declares a function of that name\n  help: take \
                 letters, digits and `_`, no digit first, and no word of C"
            ),
            ObjectProblem::Engine { engine } => write!(
                f,
                "an object has machine code for a CPU, and the pipeline was compiled for {engine}\n  help: compile it \
                 with Engine::Cpu"
            ),
            ObjectProblem::Stages => write!(
                f,
                "an object cannot have extern stages, memoized Funcs, or instructions that closures compute: these run in \
                 this process\n  help: make the results of the stages images of the pipeline, and leave `memoize()` and \
                 such instructions out"
            ),
            ObjectProblem::Requirements => write!(
                f,
                "an object cannot have requirements: if one fails at a point that somebody needs, only the interpreter can \
                 tell\n  help: give parameters a range, and check the rest before the call"
            ),
        }
    }
}

halide_core::debug_is_display!(ObjectProblem);

impl std::error::Error for ObjectProblem {}
