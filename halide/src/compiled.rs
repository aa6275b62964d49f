//! A compiled pipeline, and the extern stages that it reads.

use crate::aliases::Proofs;
#[cfg(feature = "cpu")]
use crate::code_cache::CodeOrigin;
use crate::counting::Needs;
use crate::engine::Engine;
use crate::error::Error;
use crate::input_requirements::{InputNeed, Queries, Spans};
use crate::memo_table::{MemoCounts, MemoTable};
use crate::pipeline::Pipeline;
use crate::run_options::How;
use crate::variant_key::VariantKey;
use crate::variants::Variants;
use halide_core::buffer::{AnyBuffer, BufferError, Region};
use halide_core::externs::ExternDef;
use halide_core::interp::{Inputs, RunError};
use halide_core::pipeline::FuncDef;
use halide_sched::lower::storage::in_place::InPlaceProblem;
use halide_sched::plan::{HeldValues, Plan};
use halide_sched::schedule::Schedule;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// A compiled pipeline: cheap to clone, callable from many threads at once.
///
/// ```
/// use halide::prelude::*;
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = x * 3;
/// let compiled = Pipeline::new([&f])?.compile(&"f: vectorize(x, 4)".parse()?, &Target::host())?;
/// let threads: Vec<_> = (1..4)
///     .map(|n| {
///         let compiled = compiled.clone();
///         std::thread::spawn(move || compiled.inputs().realize::<i32>([n]))
///     })
///     .collect();
/// let sizes = threads.into_iter().map(|t| t.join().unwrap().map(|out| out.len()));
/// assert_eq!(sizes.collect::<Result<Vec<_>, _>>()?, [1, 2, 3]);
/// // The loops that the schedule made, one a line.
/// assert!(compiled.loops()?.contains("vectorized"));
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone)]
pub struct Compiled {
    pub(crate) parts: Arc<Parts>,
}

pub(crate) struct Parts {
    pub(crate) pipeline: Pipeline,
    /// The user's pipeline, if it has extern stages or memoized Funcs.
    pub(crate) whole: Option<Pipeline>,
    /// The sources of images that nobody gives.
    pub(crate) feeders: Vec<Box<dyn Feeder>>,
    pub(crate) plan: Plan,
    /// The schedule that was compiled.
    pub(crate) schedule: Schedule,
    pub(crate) engine: Engine,
    /// `None` for the interpreter.
    pub(crate) variants: Option<Variants>,
    /// Made when somebody asks.
    pub(crate) queries: OnceLock<Result<Queries, Error>>,
    /// Made when somebody asks for counts.
    pub(crate) needs: OnceLock<Option<Needs>>,
    pub(crate) proofs: Proofs,
    /// The interpreter of what was compiled, if that calls closures in loops.
    pub(crate) reference: Option<Reference>,
    /// Stands for this code where its results are kept.
    pub(crate) identity: Arc<()>,
}

/// The interpreter of what was compiled, where closures are called once, before.
pub(crate) struct Reference {
    pub(crate) make: Box<dyn Fn() -> Result<Compiled, Error> + Send + Sync>,
    /// Made when a requirement failed.
    pub(crate) made: OnceLock<Result<Compiled, Error>>,
}

impl Compiled {
    /// The pipeline that was compiled, with the rules of [`Compiler::shapes`](crate::Compiler::shapes). Of one with
    /// extern stages it is the part behind these, and their results are images of it.
    pub fn pipeline(&self) -> &Pipeline {
        &self.parts.pipeline
    }
    /// Returns the plan that the schedule was resolved to.
    pub fn plan(&self) -> &Plan {
        &self.parts.plan
    }
    /// Returns the schedule that it was compiled under.
    pub fn schedule(&self) -> &Schedule {
        &self.parts.schedule
    }
    /// Returns the engine that runs it.
    pub fn engine(&self) -> Engine {
        self.parts.engine
    }

    /// Returns the variants of the code that were made so far, the main one first. Others are made when a call needs
    /// them.
    pub fn variants(&self) -> Vec<VariantKey> {
        self.parts.variants.as_ref().map_or_else(Vec::new, Variants::made)
    }

    /// Returns the origin of the machine code of each variant made so far, the main one first: compiled, or read from a
    /// [`CodeCache`](crate::CodeCache). Empty for other engines.
    #[cfg(feature = "cpu")]
    pub fn code_origins(&self) -> Vec<(VariantKey, CodeOrigin)> {
        match (&self.parts.variants, self.parts.engine) {
            (Some(variants), Engine::Cpu) => variants.origins(),
            _ => Vec::new(),
        }
    }

    /// The program of the main variant as text: equal programs become equal code. `None` for the interpreter.
    pub(crate) fn main_text(&self) -> Option<String> {
        self.parts.variants.as_ref().map(Variants::main_text)
    }

    /// The loops for which the main variant has no code with vectors as wide as the target's, each with the reason.
    pub(crate) fn refusals(&self) -> Vec<(String, String)> {
        self.parts.variants.as_ref().map_or_else(Vec::new, Variants::refusals)
    }

    /// The program and the kernels of the main variant, if a GPU runs some of it.
    #[cfg(feature = "gpu")]
    pub(crate) fn on_device(&self) -> Option<(&halide_ir::Program, &halide_gpu::runtime::GpuProgram)> {
        self.parts.variants.as_ref().and_then(Variants::on_device)
    }

    /// Returns the queries that can be asked of calls before they run.
    pub(crate) fn queries(&self) -> Result<&Queries, Error> {
        let made = self.parts.queries.get_or_init(|| Queries::new(&self.parts.plan));
        made.as_ref().map_err(Error::clone)
    }

    /// The pipeline that the user gave.
    pub(crate) fn whole(&self) -> &Pipeline {
        self.parts.whole.as_ref().unwrap_or(&self.parts.pipeline)
    }
    /// The sources of images that nobody gives.
    pub(crate) fn feeders(&self) -> &[Box<dyn Feeder>] {
        &self.parts.feeders
    }
    /// The inputs of those given that the pipeline reads itself. One that nobody reads is a mistake.
    pub(crate) fn named(&self, inputs: &Inputs) -> Result<Inputs, Error> {
        inputs.check_names(self.whole())?;
        Ok(inputs.clone())
    }
    /// Returns the requirements on each image of the pipeline, results of extern stages among them.
    pub(crate) fn needs_of_images(&self, inputs: &Inputs, regions: &[Region]) -> Result<Vec<InputNeed>, Error> {
        let pipeline = &self.parts.pipeline;
        self.queries()?.needs(pipeline, &inputs.restricted(pipeline), regions)
    }

    /// The output Funcs in order.
    pub(crate) fn outputs(&self) -> Vec<&FuncDef> {
        let pipeline = &self.parts.pipeline;
        pipeline.outputs.iter().map(|f| &pipeline.funcs[*f]).collect()
    }
    /// Says of which output a buffer error is.
    pub(crate) fn output_error<T>(&self, output: usize, result: Result<T, BufferError>) -> Result<T, Error> {
        result.map_err(|error| {
            let func = self.outputs().get(output).map_or(String::new(), |f| f.name.clone());
            RunError::Output { func, error }.into()
        })
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs: Vec<&str> = self.outputs().iter().map(|f| f.name.as_str()).collect();
        write!(f, "Compiled({} for {:?})", outputs.join(", "), self.parts.engine)
    }
}

/// The source of images of a pipeline that nobody gives: an extern stage or a memoized Func, computed before a run.
///
/// A trait, since sources contain compiled pipelines: for an enum, the Rust compiler would look through the types of
/// wgpu once more for each layer when it asks if these are `Send`, which is deeper than it goes.
pub(crate) trait Feeder: Send + Sync {
    /// Returns true if the image called `name` stands for results of it.
    fn gives(&self, name: &str) -> bool;
    /// The results by the names of their images, as far as `needs` say that they are read.
    fn feed(&self, inputs: &Inputs, needs: &[InputNeed], how: &How) -> Result<Vec<(String, AnyBuffer)>, Error>;
    /// Adds the regions of the user's inputs that it needs.
    fn needs(&self, inputs: &Inputs, needs: &[InputNeed], all: &mut Spans) -> Result<(), Error>;
    /// Returns what is known of the values of its results, for a pipeline that reads them. That gets the images and
    /// parameters that this is made of.
    fn held_values(&self, reader: &mut halide_core::Pipeline) -> HeldValues;
    /// The reason that no input may be in the memory of an output.
    fn in_place_problem(&self) -> InPlaceProblem;
    /// The uses of memoized Funcs.
    fn memoized(&self) -> Vec<MemoUse>;
}

/// The runs of a memoized Func: those that computed it, and those that found its values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoUse {
    /// The Func.
    pub func: String,
    /// Runs that computed it.
    pub computed: u64,
    /// Runs that found its values.
    pub reused: u64,
}

/// One extern stage whose results a pipeline reads.
pub(crate) struct StageFeeder {
    pub(crate) stage: ExternDef,
    /// The pipeline that the user gave, whose numbers the stage uses.
    pub(crate) whole: Pipeline,
    /// The names of the images that stand for its results: one per element, `None` for one that nobody reads here.
    pub(crate) results: Vec<Option<String>>,
    /// The pipeline that computes its inputs that are Funcs, in their order; `None` if there are none.
    pub(crate) producer: Option<Compiled>,
}

/// A memoized Func that a pipeline reads.
pub(crate) struct MemoFeeder {
    pub(crate) func: String,
    /// The images and parameters that its values depend on, as a pipeline of it alone.
    pub(crate) cone: Pipeline,
    /// The names of the images that stand for its elements.
    pub(crate) results: Vec<String>,
    /// The pipeline that computes it.
    pub(crate) producer: Compiled,
    /// The values, where no image is read that they could be kept with.
    pub(crate) own: MemoTable,
    pub(crate) counts: MemoCounts,
}
