//! From a pipeline and a schedule to something that runs.

use crate::call::{Call, How, RunStats};
use crate::error::Error;
use crate::extern_stages::Feeder;
use crate::in_place::Proofs;
use crate::input_requirements::{InputNeed, Queries};
use crate::shapes::Shapes;
use crate::variant::{Aliases, Machine, Variants};
use crate::variant_key::VariantKey;
use halide_core::Pipeline;
use halide_core::buffer::{AnyBuffer, AnyBufferMut, BufferError, Region};
use halide_core::error::Location;
use halide_core::ids::FuncId;
use halide_core::interp::{self, Given, Inputs, RunError};
use halide_core::pipeline::FuncDef;
use halide_ir::target::Target;
use halide_sched::plan::{self, Part, Plan};
use halide_sched::schedule::Schedule;
use std::fmt;
use std::sync::{Arc, OnceLock};

/// Compiling, as a method of [`Pipeline`]. In the prelude.
pub trait Compile {
    /// Compiles the pipeline under a schedule for a machine. All that is wrong with the schedule comes back at once.
    fn compile(&self, schedule: &Schedule, target: &Target) -> Result<Compiled, Error> {
        self.compile_on(Engine::default(), schedule, target)
    }
    /// As `compile`, for one of the engines. [`Engine::Gpu`] opens the graphics processor that the environment variable
    /// `HALIDE_DEVICE` names, or the fastest; `compile_for` uses one that is open.
    fn compile_on(&self, engine: Engine, schedule: &Schedule, target: &Target) -> Result<Compiled, Error>;
    /// As `compile`, for calls whose buffers lie over `shapes` alone: what depends on their sizes is computed while the code is
    /// made, and tails that they do not have are left out. Other calls are refused. [`crate::shapes::ByShape`] keeps such code
    /// for many shapes.
    ///
    /// # Errors
    /// As of `compile`; a region that does not suit its buffer, and the name of an image that the pipeline does not read.
    #[track_caller]
    fn compile_for_shapes(&self, schedule: &Schedule, target: &Target, shapes: &Shapes) -> Result<Compiled, Error>;
    /// As `compile`, for a machine with a graphics processor, which runs what the schedule gives to it.
    /// Without feature `cpu`, what is left to the host is evaluated.
    #[cfg(feature = "gpu")]
    fn compile_for(
        &self,
        gpu: &halide_gpu::runtime::Gpu,
        schedule: &Schedule,
        target: &Target,
    ) -> Result<Compiled, Error>;
}

impl Compile for Pipeline {
    fn compile_on(&self, engine: Engine, schedule: &Schedule, target: &Target) -> Result<Compiled, Error> {
        let machine = match engine {
            Engine::Interp => None,
            Engine::Eval => Some(Machine::Evaluator),
            #[cfg(feature = "cpu")]
            Engine::Cpu => Some(Machine::Cpu),
            #[cfg(all(feature = "gpu", target_arch = "wasm32"))]
            Engine::Gpu => return Err(Error::CannotWait),
            #[cfg(all(feature = "gpu", not(target_arch = "wasm32")))]
            Engine::Gpu => {
                let gpu = halide_gpu::runtime::Gpu::open(&halide_gpu::runtime::Choice::from_env())?;
                return self.compile_for(&gpu, schedule, target);
            }
        };
        compiled(self, engine, machine, schedule, target)
    }
    #[track_caller]
    fn compile_for_shapes(&self, schedule: &Schedule, target: &Target, shapes: &Shapes) -> Result<Compiled, Error> {
        let ruled = shapes.rule(self, Location::caller())?;
        ruled.compile(schedule, target)
    }
    #[cfg(feature = "gpu")]
    fn compile_for(
        &self,
        gpu: &halide_gpu::runtime::Gpu,
        schedule: &Schedule,
        target: &Target,
    ) -> Result<Compiled, Error> {
        let target = Target { gpu: Some(gpu.limits()), ..*target };
        #[cfg(feature = "cpu")]
        let machine = Machine::Gpu(gpu.clone());
        #[cfg(not(feature = "cpu"))]
        let machine = Machine::Hosted(gpu.clone());
        compiled(self, Engine::Gpu, Some(machine), schedule, &target)
    }
}

fn compiled(
    pipeline: &Pipeline,
    engine: Engine,
    machine: Option<Machine>,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, Error> {
    compile_part(pipeline, plan::main_part(pipeline, schedule), engine, machine, schedule, target)
}

/// Compiles a part of `whole`, with what computes the inputs of the extern stages that it reads.
pub(crate) fn compile_part(
    whole: &Pipeline,
    part: Part,
    engine: Engine,
    machine: Option<Machine>,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, Error> {
    let plan = part.resolve(whole, target).map_err(Error::Schedule)?;
    let feeders = Feeder::all(whole, &part, engine, machine.as_ref(), schedule, target)?;
    let variants = machine.map(|machine| Variants::new(&plan, machine)).transpose()?;
    let parts = Parts {
        pipeline: part.pipeline,
        whole: (!whole.externs.is_empty()).then(|| whole.clone()),
        feeders,
        plan,
        engine,
        variants,
        queries: OnceLock::new(),
        proofs: Proofs::default(),
    };
    Ok(Compiled { parts: Arc::new(parts) })
}

/// As [`Compile::compile_for`], where nobody may wait: in a browser. What the schedule leaves to the host is evaluated, which is
/// slow. Runs are [`Call::realize_all_async`].
#[cfg(feature = "gpu")]
pub async fn compile_async(
    pipeline: &Pipeline,
    gpu: &halide_gpu::runtime::Gpu,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, Error> {
    let target = Target { gpu: Some(gpu.limits()), ..*target };
    let plan = plan::resolve(pipeline, schedule, &target).map_err(Error::Schedule)?;
    let variants = Some(Variants::new_async(&plan, Machine::Hosted(gpu.clone())).await?);
    // Extern stages are not run here: a run says so.
    let (whole, feeders) = (None, Vec::new());
    let (queries, proofs) = (OnceLock::new(), Proofs::default());
    let parts =
        Parts { pipeline: pipeline.clone(), whole, feeders, plan, engine: Engine::Gpu, variants, queries, proofs };
    Ok(Compiled { parts: Arc::new(parts) })
}

/// The engines that run pipelines. All give the same results, bit for bit (unless the schedule lets floats be
/// reordered).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The reference interpreter, which takes no heed of the schedule beyond checking it. Slow; right by definition.
    Interp,
    /// The evaluator of lowered loops, which checks every access. Slow; for finding what went wrong.
    Eval,
    /// Machine code for this CPU.
    #[cfg(feature = "cpu")]
    Cpu,
    /// A graphics processor for what the schedule gives to it, and for the rest machine code for this CPU, or the evaluator
    /// where there is none.
    #[cfg(feature = "gpu")]
    Gpu,
}

impl Default for Engine {
    /// The fastest there is.
    fn default() -> Engine {
        #[cfg(feature = "cpu")]
        return Engine::Cpu;
        #[cfg(not(feature = "cpu"))]
        Engine::Eval
    }
}

/// A compiled pipeline: cheap to clone, callable from many threads at once.
#[derive(Clone)]
pub struct Compiled {
    parts: Arc<Parts>,
}

struct Parts {
    pipeline: Pipeline,
    /// The user's pipeline, if it has extern stages.
    whole: Option<Pipeline>,
    /// The extern stages whose results the pipeline reads.
    feeders: Vec<Feeder>,
    plan: Plan,
    engine: Engine,
    /// `None` for the interpreter.
    variants: Option<Variants>,
    /// Made when somebody asks.
    queries: OnceLock<Result<Queries, Error>>,
    proofs: Proofs,
}

impl Compiled {
    /// Begins a run.
    pub fn inputs(&self) -> Call<'_> {
        Call::new(self)
    }
    /// The pipeline that was compiled.
    pub fn pipeline(&self) -> &Pipeline {
        &self.parts.pipeline
    }
    /// Returns the plan that the schedule was resolved to.
    pub fn plan(&self) -> &Plan {
        &self.parts.plan
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

    /// The program and the kernels of the main variant, if a graphics processor runs some of it.
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
    /// The extern stages whose results the pipeline reads.
    pub(crate) fn feeders(&self) -> &[Feeder] {
        &self.parts.feeders
    }
    /// The inputs of those given that the pipeline reads itself. One that nobody reads is a mistake.
    pub(crate) fn named(&self, inputs: &Inputs) -> Result<Inputs, Error> {
        match &self.parts.whole {
            Some(whole) => inputs.check_names(whole)?,
            None => inputs.check_names(&self.parts.pipeline)?,
        }
        Ok(inputs.clone())
    }
    /// Returns the requirements on each image of the pipeline, results of extern stages among them.
    pub(crate) fn needs_of_images(&self, inputs: &Inputs, regions: &[Region]) -> Result<Vec<InputNeed>, Error> {
        let pipeline = &self.parts.pipeline;
        self.queries()?.needs(pipeline, &inputs.restricted(pipeline), regions)
    }
    /// The inputs with the results of extern stages, which are computed here.
    pub(crate) fn fed(&self, inputs: &Inputs, regions: &[Region], how: &How) -> Result<Inputs, Error> {
        if self.parts.whole.is_none() {
            return Ok(inputs.clone());
        }
        let mut all = self.named(inputs)?;
        if !self.parts.feeders.is_empty() {
            let needs = self.needs_of_images(inputs, regions)?;
            for feeder in &self.parts.feeders {
                for (name, result) in feeder.feed(inputs, &needs, how)? {
                    all = all.image(name, result);
                }
            }
        }
        Ok(all.restricted(&self.parts.pipeline))
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
    /// [`Compiled::run`] without waiting for a device.
    #[cfg(feature = "gpu")]
    pub(crate) async fn run_async(
        &self,
        inputs: &Inputs,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
    ) -> Result<RunStats, Error> {
        self.check_rules(inputs, outputs)?;
        match &self.parts.variants {
            None => interpret(&self.parts.pipeline, inputs, outputs, how),
            Some(variants) => {
                let bound = inputs.bind(&self.parts.plan.pipeline)?;
                let options = interp::Options { limits: how.limits(), ..Default::default() };
                let required =
                    |regions: &[Region]| interp::run_with(&self.parts.pipeline, inputs, regions, &options).map(drop);
                variants.run_async(&self.parts.plan, &bound, outputs, how, &required).await
            }
        }
    }
    /// Checks the rules of the algorithm for the outputs' buffers, before anything is written.
    fn check_rules(&self, inputs: &Inputs, outputs: &[AnyBufferMut<'_>]) -> Result<(), Error> {
        let pipeline = &self.parts.pipeline;
        if !(pipeline.shapes.is_empty() && pipeline.alignments.is_empty()) {
            inputs.bind(pipeline)?.check_outputs(pipeline, outputs.iter().map(Given::from))?;
        }
        Ok(())
    }
    /// Runs with outputs that fit the pipeline.
    pub(crate) fn run(
        &self,
        inputs: &Inputs,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        in_place: &[(String, usize)],
    ) -> Result<RunStats, Error> {
        if !in_place.is_empty() {
            let (inputs, aliases) = crate::in_place::bind(self, &self.parts.proofs, inputs, outputs, in_place, how)?;
            return self.run_with(&inputs, outputs, how, &aliases);
        }
        self.run_with(inputs, outputs, how, &Aliases::default())
    }
    fn run_with(
        &self,
        inputs: &Inputs,
        outputs: &mut [AnyBufferMut<'_>],
        how: &How,
        aliases: &Aliases,
    ) -> Result<RunStats, Error> {
        let pipeline = &self.parts.pipeline;
        let fed;
        let inputs = match self.parts.whole {
            None => inputs,
            Some(_) => {
                fed = self.fed(inputs, &regions_of(pipeline, outputs), how)?;
                &fed
            }
        };
        self.check_rules(inputs, outputs)?;
        match &self.parts.variants {
            None => interpret(&self.parts.pipeline, inputs, outputs, how),
            Some(variants) => {
                let bound = inputs.bind(&self.parts.plan.pipeline)?;
                // What is printed now has been printed already, as often as the schedule says.
                let before = before(&self.parts.pipeline, outputs, how)?;
                let options = interp::Options { before: before.as_deref(), limits: how.limits(), ..Default::default() };
                let required =
                    |regions: &[Region]| interp::run_with(&self.parts.pipeline, inputs, regions, &options).map(drop);
                variants.run(&self.parts.plan, &bound, outputs, how, &required, aliases)
            }
        }
    }
}

impl fmt::Debug for Compiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let outputs: Vec<&str> = self.outputs().iter().map(|f| f.name.as_str()).collect();
        write!(f, "Compiled({} for {:?})", outputs.join(", "), self.parts.engine)
    }
}

/// The region of each output.
pub(crate) fn regions_of(pipeline: &Pipeline, outputs: &[AnyBufferMut<'_>]) -> Vec<Region> {
    let mut next = 0;
    let region = |func: &FuncId| {
        let region = outputs[next].region();
        next += pipeline.funcs[*func].types.len();
        region
    };
    pipeline.outputs.iter().map(region).collect()
}

/// Returns copies of the contents of outputs, if these matter.
fn before(pipeline: &Pipeline, outputs: &[AnyBufferMut<'_>], how: &How) -> Result<Option<Vec<AnyBuffer>>, Error> {
    if !pipeline.outputs.iter().any(|f| pipeline.keeps(*f)) {
        return Ok(None);
    }
    let copy = |output: &AnyBufferMut<'_>| {
        how.charge(output.used_bytes() as u64, "a copy of an output")?;
        Ok(output.to_buffer()?)
    };
    outputs.iter().map(copy).collect::<Result<Vec<_>, Error>>().map(Some)
}

fn interpret(
    pipeline: &Pipeline,
    inputs: &Inputs,
    outputs: &mut [AnyBufferMut<'_>],
    how: &How,
) -> Result<RunStats, Error> {
    let regions = regions_of(pipeline, outputs);
    let before = before(pipeline, outputs, how)?;
    let options = interp::Options { print: how.print.get(), before: before.as_deref(), limits: how.limits() };
    let results = interp::run_with(pipeline, inputs, &regions, &options)?;
    for (output, result) in outputs.iter_mut().zip(&results) {
        output.copy_from(result)?;
    }
    Ok(RunStats::default())
}
