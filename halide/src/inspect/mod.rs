//! Inspections: a compiled pipeline as data. Definitions, loops, storage, decisions and code are rows that refer to
//! each other.
//!
//! [`Compiled::inspect`] lowers the pipeline once and makes its code once. [`Compiled::loops`], [`Compiled::ir`],
//! [`Compiled::storage`], [`Compiled::explain`] and [`Compiled::asm`] are views of the same, each of which does only
//! what it needs.
//!
//! ```
//! use halide::prelude::*;
//! let x = Var::new("x");
//! let (mut squares, mut sums) = (Func::new("squares"), Func::new("sums"));
//! squares[x] = x * x;
//! sums[x] = squares[x] + squares[x + 1];
//! let schedule = "sums: split(x, xo, xi, 64) squares: compute_at(sums, xo)".parse()?;
//! let compiled = Pipeline::new([&sums])?.compile(&schedule, &Target::host())?;
//! let inspection = compiled.inspect()?;
//! let squares = &inspection.definitions[0];
//! assert_eq!((squares.func.as_str(), squares.compute.as_str()), ("squares", "at sums.xo"));
//! assert_eq!(inspection.definitions[1].reads[1].text, "squares(x + 1)");
//! // Every line of code of a definition says which one, and in which loop.
//! for line in inspection.code.iter().flat_map(|unit| &unit.lines) {
//!     if let (Some(definition), Some(within)) = (line.definition, line.within) {
//!         let (definition, within) = (&inspection.definitions[definition.0], &inspection.loops[within.0]);
//!         println!("{:40} {} in {}", line.text, definition.func, within.name);
//!     }
//! }
//! # Ok::<(), Error>(())
//! ```

mod code;
mod decisions;
mod definitions;
mod lowering;
mod nest;
mod rows;
mod storage;
mod views;
#[cfg(feature = "gpu")]
mod wgsl;

pub use rows::{
    CodeRow, CodeUnit, DecisionRow, DefinitionId, DefinitionRow, ImageRow, Language, LoopRow, NestKind, NestLoopId,
    NestRow, Purpose, ReadRow,
};
pub use storage::Stored;

use crate::compiled::Compiled;
use crate::error::Error;
use lowering::Lowering;

/// A compiled pipeline as data, of the main variant of its code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Inspection {
    /// The definitions of all Funcs, producers before consumers.
    pub definitions: Vec<DefinitionRow>,
    /// The images that the pipeline reads.
    pub images: Vec<ImageRow>,
    /// The loops in the order in which they begin.
    pub loops: Vec<LoopRow>,
    /// The loop nest, line by line.
    pub nest: Vec<NestRow>,
    /// Every buffer, inputs and outputs first.
    pub storage: Vec<Stored>,
    /// The decisions of passes and code generators, in order.
    pub decisions: Vec<DecisionRow>,
    /// The lowered program, as backends take it.
    pub ir: String,
    /// The functions of machine code, then the kernels. There is no machine code of the engines
    /// [`Eval`](crate::Engine::Eval) and [`Interp`](crate::Engine::Interp).
    pub code: Vec<CodeUnit>,
}

impl Compiled {
    /// Inspects what the schedule made of the algorithm.
    ///
    /// # Errors
    /// The schedule cannot be lowered, or not be made code.
    pub fn inspect(&self) -> Result<Inspection, Error> {
        let lowering = Lowering::of(self)?;
        let (definitions, images) = definitions::rows(self.plan());
        let (nest, loops) = nest::rows(lowering.bounded(), self.plan());
        let code = code::Generated::of(self, lowering.program(), true)?;
        Ok(Inspection {
            definitions,
            images,
            storage: storage::rows(lowering.program()),
            decisions: decisions::rows(self, &lowering, &code),
            ir: lowering.program().to_string(),
            code: code.units(self, lowering.program(), &loops)?,
            loops: loops.rows,
            nest,
        })
    }
}
