//! The compiler: from a pipeline and a schedule to something that runs.

use crate::aliases::Proofs;
#[cfg(feature = "cpu")]
use crate::code_cache::{CodeCache, Keeping};
use crate::compiled::{Compiled, Feeder, MemoFeeder, Parts, Reference, StageFeeder};
use crate::engine::{Engine, Machine};
use crate::error::Error;
use crate::memo_table::{MemoCounts, MemoTable};
use crate::pipeline::Pipeline;
use crate::shapes::Shapes;
use crate::variants::Variants;
use halide_core::error::Location;
use halide_core::externs::ExternFault;
use halide_core::ids::FuncId;
#[cfg(feature = "gpu")]
use halide_gpu::runtime::{Choice, Gpu};
use halide_ir::target::Target;
use halide_sched::plan::{self, Part, Plan};
use halide_sched::schedule::{InstructionSet, Schedule};
use std::sync::{Arc, OnceLock};

/// A pipeline with all that is said of how to compile it. Every setting may be left out: then the schedule is empty,
/// the target is this machine, and the engine is the fastest there is.
///
/// Settings consume the compiler and give it back; `compile` borrows it, so one compiler may compile several times.
///
/// ```
/// use halide::prelude::*;
/// let x = Var::new("x");
/// let mut squares = Func::new("squares");
/// squares[x] = x * x;
/// let pipeline = Pipeline::new([&squares])?;
///
/// let schedule: Schedule = "squares: vectorize(x, 4)".parse()?;
/// let compiler = Compiler::new(&pipeline).schedule(&schedule);
/// let (fast, checked) = (compiler.compile()?, compiler.clone().engine(Engine::Eval).compile()?);
/// let out: Buffer<i32> = fast.inputs().realize([6])?;
/// assert_eq!(out, checked.inputs().realize([6])?);
/// assert_eq!(out.to_vec(), [0, 1, 4, 9, 16, 25]);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "a compiler does nothing until it is asked to compile"]
pub struct Compiler {
    pipeline: Pipeline,
    schedule: Schedule,
    instructions: Option<InstructionSet>,
    target: Option<Target>,
    engine: Option<Engine>,
    #[cfg(feature = "gpu")]
    gpu: Option<Gpu>,
    #[cfg(feature = "cpu")]
    code_cache: Option<CodeCache>,
    /// The shapes of calls, with the place that says so.
    shapes: Option<(Shapes, Location)>,
}

impl Compiler {
    /// A compiler of `pipeline` without any settings.
    pub fn new(pipeline: &Pipeline) -> Compiler {
        Compiler {
            pipeline: pipeline.clone(),
            schedule: Schedule::new(),
            instructions: None,
            target: None,
            engine: None,
            #[cfg(feature = "gpu")]
            gpu: None,
            #[cfg(feature = "cpu")]
            code_cache: None,
            shapes: None,
        }
    }
    /// Sets the schedule; without one, every Func is computed inline and every output by plain loops.
    pub fn schedule(mut self, schedule: &Schedule) -> Compiler {
        self.schedule = schedule.clone();
        self
    }
    /// Sets the instructions that `use` in the schedule names; without a set, these are
    /// [`InstructionSet::built_in`](crate::schedule::InstructionSet::built_in).
    pub fn instructions(mut self, set: &InstructionSet) -> Compiler {
        self.instructions = Some(set.clone());
        self
    }
    /// Sets the machine to compile for; without one, it is [`Target::host`].
    pub fn target(mut self, target: &Target) -> Compiler {
        self.target = Some(*target);
        self
    }
    /// Sets the engine; without one, it is [`Engine::default`], or [`Engine::Gpu`] if a GPU is set.
    pub fn engine(mut self, engine: Engine) -> Compiler {
        self.engine = Some(engine);
        self
    }
    /// Sets the GPU, whose limits the schedule must respect. [`Engine::Gpu`] runs kernels there; [`Engine::Eval`] and
    /// [`Engine::Interp`] compute what it would. Without one, [`Engine::Gpu`] opens the GPU that the environment
    /// variable `HALIDE_DEVICE` names, or the fastest.
    #[cfg(feature = "gpu")]
    pub fn gpu(mut self, gpu: &Gpu) -> Compiler {
        self.gpu = Some(gpu.clone());
        self
    }
    /// Sets the folder in which machine code is kept: what another process of the same program has compiled is read
    /// from there, in a part of the time. Only [`Engine::Cpu`] uses it.
    #[cfg(feature = "cpu")]
    pub fn code_cache(mut self, cache: &CodeCache) -> Compiler {
        self.code_cache = Some(cache.clone());
        self
    }
    /// Sets the regions of all buffers of calls: what depends on their sizes is computed while the code is made, and
    /// tails that they do not have are left out. Other calls are refused. A [`ShapeCache`](crate::ShapeCache) keeps
    /// such code for many shapes.
    #[track_caller]
    pub fn shapes(self, shapes: &Shapes) -> Compiler {
        self.shapes_at(shapes, Location::caller())
    }
    /// [`Compiler::shapes`], as said at `at`.
    pub(crate) fn shapes_at(mut self, shapes: &Shapes, at: Location) -> Compiler {
        self.shapes = Some((shapes.clone(), at));
        self
    }

    /// Compiles the pipeline.
    ///
    /// # Errors
    /// Every reason that the schedule does not suit the pipeline or cannot be lowered; code beyond the budget of the
    /// target; a region of [`Compiler::shapes`] that no buffer has or that does not suit its buffer, one that breaks a
    /// rule of the algorithm, or an image that the pipeline does not read; a GPU that is not there, or that cannot run
    /// the kernels; [`Error::NoDevice`] if the schedule has kernels and the engine is [`Engine::Cpu`];
    /// [`Error::CannotWait`] for [`Engine::Gpu`] in a browser, which needs [`Compiler::compile_async`].
    ///
    /// ```
    /// use halide::prelude::*;
    /// let x = Var::new("x");
    /// let mut f = Func::new("f");
    /// f[x] = x + 1;
    /// let pipeline = Pipeline::new([&f])?;
    /// let schedule: Schedule = "f: vectorize(y, 8)".parse()?;
    /// let error = Compiler::new(&pipeline).schedule(&schedule).compile().unwrap_err();
    /// assert!(error.to_string().contains("`f` has no loop `y`"), "{error}");
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(&self) -> Result<Compiled, Error> {
        let (engine, schedule) = (self.chosen_engine(), self.chosen_schedule());
        let machine = match engine {
            Engine::Interp => None,
            Engine::Eval => Some(Machine::Evaluator),
            #[cfg(feature = "cpu")]
            Engine::Cpu => {
                let text = || schedule.to_string().into();
                let kept = self.code_cache.as_ref().map(|cache| Keeping { cache: cache.clone(), schedule: text() });
                Some(Machine::Cpu(kept))
            }
            #[cfg(feature = "gpu")]
            Engine::Gpu => Some(Machine::of_device(self.open()?)),
        };
        let target = self.chosen_target(machine.as_ref());
        let pipeline = self.ruled()?;
        // The interpreter takes no heed of the schedule.
        let memoized = match engine {
            Engine::Interp => Vec::new(),
            _ => plan::memoized(&pipeline, &schedule),
        };
        if !memoized.is_empty() {
            // Mistakes are those of the schedule as a whole.
            plan::resolve(&pipeline, &schedule, &target).map_err(Error::Schedule)?;
            let part = plan::part_behind(&pipeline, &schedule, &memoized);
            return compile_behind(&pipeline, part, &memoized, engine, machine, (&schedule, &target));
        }
        let called = plan::with_callees(&pipeline, &schedule);
        let part = plan::main_part(&called, &schedule);
        if engine == Engine::Interp && !called.callees.is_empty() {
            // It calls closures once, whatever the schedule says, which must be right nevertheless.
            part.resolve(&called, &target).map_err(Error::Schedule)?;
            let mut compiled = interpreted(&pipeline, None, &target)?;
            Arc::get_mut(&mut compiled.parts).into_iter().for_each(|parts| parts.schedule = schedule.clone());
            return Ok(compiled);
        }
        let whole = Whole { given: &pipeline, called: &called };
        compile_part(whole, (part, None), engine, machine, &schedule, &target)
    }

    /// [`Compiler::compile`], where nobody may wait for a GPU: in a browser. What the schedule leaves to the host is
    /// evaluated, which is slow; runs are [`Call::realize_all_async`](crate::Call::realize_all_async), and extern
    /// stages are not run. Engines other than [`Engine::Gpu`] never wait: for them this is [`Compiler::compile`].
    ///
    /// # Errors
    /// As of [`Compiler::compile`], without [`Error::CannotWait`].
    #[cfg(feature = "gpu")]
    pub async fn compile_async(&self) -> Result<Compiled, Error> {
        let engine = self.chosen_engine();
        if engine != Engine::Gpu {
            return self.compile();
        }
        let gpu = match &self.gpu {
            Some(gpu) => gpu.clone(),
            None => Gpu::open_async(&Choice::from_env()).await?,
        };
        let (machine, schedule) = (Machine::Hosted(gpu), self.chosen_schedule());
        let target = self.chosen_target(Some(&machine));
        let pipeline = self.ruled()?;
        let plan = plan::resolve(&pipeline, &schedule, &target).map_err(Error::Schedule)?;
        let variants = Some(Variants::new_async(&plan, machine).await?);
        // Extern stages are not run here: a run says so.
        let (whole, feeders) = (None, Vec::new());
        let (queries, proofs) = (OnceLock::new(), Proofs::default());
        let needs = OnceLock::new();
        let (pipeline, schedule) = (pipeline.into(), schedule.clone());
        let identity = Arc::new(());
        let reference = None;
        let parts = Parts {
            pipeline,
            whole,
            feeders,
            plan,
            schedule,
            engine,
            variants,
            queries,
            needs,
            proofs,
            reference,
            identity,
        };
        Ok(Compiled { parts: Arc::new(parts) })
    }

    /// The schedule, with the instructions that it may name.
    fn chosen_schedule(&self) -> Schedule {
        match &self.instructions {
            Some(set) => self.schedule.with_instructions(set),
            None => self.schedule.clone(),
        }
    }
    fn chosen_engine(&self) -> Engine {
        #[cfg(feature = "gpu")]
        if self.gpu.is_some() {
            return self.engine.unwrap_or(Engine::Gpu);
        }
        self.engine.unwrap_or_default()
    }
    /// The GPU that compiling would open: none if one was set, or the engine needs none.
    #[cfg(feature = "gpu")]
    pub(crate) fn needed_gpu(&self) -> Result<Option<Gpu>, Error> {
        match self.gpu.is_none() && self.chosen_engine() == Engine::Gpu {
            true => self.open().map(Some),
            false => Ok(None),
        }
    }
    /// The GPU that was set, or else one that is opened now.
    #[cfg(feature = "gpu")]
    fn open(&self) -> Result<Gpu, Error> {
        if let Some(gpu) = &self.gpu {
            return Ok(gpu.clone());
        }
        #[cfg(target_arch = "wasm32")]
        return Err(Error::CannotWait);
        #[cfg(not(target_arch = "wasm32"))]
        Ok(Gpu::open(&Choice::from_env())?)
    }
    /// The target with the limits of the GPU: of the machine's, or else of the one that was set.
    fn chosen_target(&self, machine: Option<&Machine>) -> Target {
        let target = self.target.unwrap_or_else(Target::host);
        #[cfg(feature = "gpu")]
        if let Some(gpu) = machine.and_then(Machine::gpu).or(self.gpu.as_ref()) {
            return Target { gpu: Some(gpu.limits()), ..target };
        }
        // Without that feature no machine has one.
        let _ = machine;
        target
    }
    /// The pipeline, with rules for the shapes of calls if these are set.
    fn ruled(&self) -> Result<halide_core::Pipeline, Error> {
        match &self.shapes {
            Some((shapes, at)) => shapes.rule(&self.pipeline, *at),
            None => Ok(self.pipeline.clone().into()),
        }
    }
}

impl Pipeline {
    /// Compiles the pipeline under a schedule for a machine: the short form of [`Compiler`], which has the other
    /// settings.
    ///
    /// # Errors
    /// As of [`Compiler::compile`].
    ///
    /// ```
    /// use halide::prelude::*;
    /// let x = Var::new("x");
    /// let mut f = Func::new("f");
    /// f[x] = x + 1;
    /// let compiled = Pipeline::new([&f])?.compile(&"f: vectorize(x, natural)".parse()?, &Target::host())?;
    /// assert_eq!(compiled.inputs().realize::<i32>([3])?.to_vec(), [1, 2, 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile(&self, schedule: &Schedule, target: &Target) -> Result<Compiled, Error> {
        Compiler::new(self).schedule(schedule).target(target).compile()
    }
}

/// The pipeline of which parts are compiled.
#[derive(Clone, Copy)]
struct Whole<'w> {
    /// The pipeline that the user gave.
    given: &'w halide_core::Pipeline,
    /// The same with Funcs in place of the extern stages that are called in loops.
    called: &'w halide_core::Pipeline,
}

/// A pipeline, or what computes some of its Funcs, for the interpreter, which takes no heed of schedules.
fn interpreted(
    pipeline: &halide_core::Pipeline,
    outputs: Option<&[FuncId]>,
    target: &Target,
) -> Result<Compiled, Error> {
    let schedule = Schedule::new();
    let part = match outputs {
        Some(outputs) => plan::part(pipeline, &schedule, outputs),
        None => plan::main_part(pipeline, &schedule),
    };
    let whole = Whole { given: pipeline, called: pipeline };
    compile_part(whole, (part, outputs), Engine::Interp, None, &schedule, target)
}

/// Compiles a part of `whole`, which computes some Funcs or the outputs, with what computes the inputs of the extern
/// stages that it reads.
fn compile_part(
    whole: Whole<'_>,
    (part, outputs): (Part, Option<&[FuncId]>),
    engine: Engine,
    machine: Option<Machine>,
    schedule: &Schedule,
    target: &Target,
) -> Result<Compiled, Error> {
    let feeders = feeders(whole, &part, engine, machine.as_ref(), schedule, target)?;
    let is_part = !whole.called.externs.is_empty();
    compiled(
        whole,
        (part, outputs),
        (is_part, feeders.into_iter().map(|stage| Box::new(stage) as Box<dyn Feeder>).collect()),
        engine,
        machine,
        (schedule, target),
    )
}

/// Compiles a part of `whole` that reads `memoized` Funcs, with what computes these.
fn compile_behind(
    whole: &halide_core::Pipeline,
    part: Part,
    memoized: &[FuncId],
    engine: Engine,
    machine: Option<Machine>,
    (schedule, target): (&Schedule, &Target),
) -> Result<Compiled, Error> {
    let mut feeders: Vec<Box<dyn Feeder>> = Vec::new();
    for &func in memoized {
        let def = &whole.funcs[func];
        let results: Vec<String> = (0..def.types.len()).map(|element| def.cut_image(element)).collect();
        if !part.pipeline.images.iter().any(|image| results.contains(&image.name)) {
            continue;
        }
        let own = plan::memoized_part(whole, schedule, func, memoized);
        feeders.push(Box::new(MemoFeeder {
            func: def.name.clone(),
            cone: whole.part(Some(&[func])).into(),
            results,
            producer: compile_behind(whole, own, memoized, engine, machine.clone(), (schedule, target))?,
            own: MemoTable::default(),
            counts: MemoCounts::default(),
        }));
    }
    let whole = Whole { given: whole, called: whole };
    compiled(whole, (part, None), (true, feeders), engine, machine, (schedule, target))
}

/// Compiles a part of `whole`, which is another pipeline if `is_part`.
fn compiled(
    whole: Whole<'_>,
    (mut part, outputs): (Part, Option<&[FuncId]>),
    (is_part, feeders): (bool, Vec<Box<dyn Feeder>>),
    engine: Engine,
    machine: Option<Machine>,
    (schedule, target): (&Schedule, &Target),
) -> Result<Compiled, Error> {
    let held = feeders.iter().flat_map(|feeder| feeder.held_values(&mut part.pipeline)).collect();
    let plan = Plan { held, ..part.resolve(whole.called, target).map_err(Error::Schedule)? };
    let calls = !plan.pipeline.callees.is_empty();
    let reference = || {
        let (given, outputs, target) = (whole.given.clone(), outputs.map(<[FuncId]>::to_vec), *target);
        let make = Box::new(move || interpreted(&given, outputs.as_deref(), &target));
        Reference { make, made: OnceLock::new() }
    };
    let variants = machine.map(|machine| Variants::new(&plan, machine)).transpose()?;
    let parts = Parts {
        pipeline: part.pipeline.into(),
        whole: is_part.then(|| whole.called.clone().into()),
        reference: calls.then(reference),
        feeders,
        plan,
        schedule: schedule.clone(),
        engine,
        variants,
        queries: OnceLock::new(),
        needs: OnceLock::new(),
        proofs: Proofs::default(),
        identity: Arc::new(()),
    };
    Ok(Compiled { parts: Arc::new(parts) })
}

/// The stages that `part` reads of, each with what computes its inputs.
fn feeders(
    whole: Whole<'_>,
    part: &Part,
    engine: Engine,
    machine: Option<&Machine>,
    schedule: &Schedule,
    target: &Target,
) -> Result<Vec<StageFeeder>, Error> {
    let parts = whole;
    let whole = whole.called;
    let read = |name: &str| part.pipeline.images.iter().any(|image| image.name == name);
    let mut all = Vec::new();
    for stage in &whole.externs {
        let name = |image: &Option<_>| image.map(|id| whole.images[id].name.clone()).filter(|name| read(name));
        let results: Vec<Option<String>> = stage.images.iter().map(name).collect();
        if results.iter().all(Option::is_none) {
            continue;
        }
        let outputs = stage.funcs();
        let producer = match outputs.is_empty() {
            true => None,
            false => {
                let part = plan::part(whole, schedule, &outputs);
                let here = |name: &str| part.pipeline.funcs.iter().any(|f| f.name == name);
                let keeps = whole.outputs.iter().filter(|func| whole.keeps(**func));
                if let Some(func) = keeps.map(|func| whole.funcs[*func].name.clone()).find(|name| here(name)) {
                    return Err(stage.fault(ExternFault::Keeps { func }).into());
                }
                Some(compile_part(parts, (part, Some(&outputs)), engine, machine.cloned(), schedule, target)?)
            }
        };
        all.push(StageFeeder { stage: stage.clone(), whole: whole.clone().into(), results, producer });
    }
    Ok(all)
}
