//! Compiled programs.

use super::bind::{BoundOutput, BoundStep};
use super::check::check;
use super::describe::Program;
use super::error::{ProgramError, ProgramErrorKind, ProgramErrors};
use super::node::{Checked, Node};
use super::resident::may_reside;
use super::slots::{Slot, SlotId};
use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::error::Error;
use crate::in_place::engine_shares;
use halide_ir::target::Target;
use halide_sched::lower::storage::in_place::InPlaceError;
use std::fmt;
use std::sync::Arc;

/// A compiled program: cheap to clone, callable from many threads at once. Each run has buffers of its own.
#[derive(Clone)]
pub struct CompiledProgram {
    pub(super) parts: Arc<Parts>,
}

pub(super) struct Parts {
    pub(super) name: String,
    pub(super) slots: Vec<Slot>,
    pub(super) steps: Vec<CompiledStep>,
    pub(super) body: Vec<Node>,
    /// For each slot, the slots whose values its region depends on.
    pub(super) sizers: Vec<Vec<SlotId>>,
}

/// A compiled step.
pub(super) struct CompiledStep {
    pub(super) bound: BoundStep,
    pub(super) compiled: Compiled,
    /// The memory that each element of the outputs is computed in.
    pub(super) memory: Vec<Memory>,
    /// True if it may read and leave slots on a device.
    pub(super) resides: bool,
}

/// The memory that an output of a step is computed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// The slot's own, which the step does not read.
    Own,
    /// The slot's own, which is also this image.
    InPlace(String),
    /// A second buffer of the slot, with which the first one changes places behind the step.
    Second {
        /// The reason that it is not computed in place.
        why: String,
    },
}

impl Program {
    /// Compiles the steps for a machine.
    ///
    /// # Errors
    /// [`Error::Program`] with every mistake of the description, or with every step that cannot be compiled.
    pub fn compile(&self, target: &Target) -> Result<CompiledProgram, Error> {
        self.compile_with(|compiler| compiler.target(target))
    }
    /// Compiles the steps with other settings: `settings` is given the compiler of each step.
    ///
    /// # Errors
    /// As of [`Program::compile`].
    ///
    /// ```
    /// use halide::prelude::*;
    /// let (x, i) = (ImageParam::new("x", I32, 1), Var::new("i"));
    /// let mut next = Func::new("x");
    /// next[i] = x[i] * 2;
    /// let mut doubling = Program::new("doubling");
    /// let step = Pipeline::new([&next])?;
    /// doubling.input("x", I32, 1).repeat(5, |it| it.run(&step, &Schedule::new()));
    /// let checked = doubling.compile_with(|compiler| compiler.engine(Engine::Eval))?;
    /// let ones = Buffer::from_slice([2], &[1, 3])?;
    /// assert_eq!(checked.inputs().image(&x, ones).run()?.state::<i32>("x")?.to_vec(), [32, 96]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn compile_with(&self, settings: impl Fn(Compiler) -> Compiler) -> Result<CompiledProgram, Error> {
        let Checked { steps: bound, body, sizers } = check(self).map_err(Error::Program)?;
        let (mut steps, mut failed): (Vec<CompiledStep>, Vec<ProgramError>) = (Vec::new(), Vec::new());
        for bound in bound {
            match compiled_step(bound.clone(), &steps, (&self.slots, &sizers), &settings) {
                Ok(step) => steps.push(step),
                Err(kind) => failed.push(ProgramError { at: bound.step.at, step: Some(bound.step.name()), kind }),
            }
        }
        if !failed.is_empty() {
            return Err(Error::Program(ProgramErrors(failed)));
        }
        let parts = Parts { name: self.name.clone(), slots: self.slots.clone(), steps, body, sizers };
        Ok(CompiledProgram { parts: Arc::new(parts) })
    }
}

impl CompiledProgram {
    /// The steps in the order in which they were added: the names of the outputs, and what was compiled. Steps of one
    /// pipeline under one schedule share their code.
    pub fn steps(&self) -> impl Iterator<Item = (String, &Compiled)> {
        self.parts.steps.iter().map(|step| (step.bound.step.name(), &step.compiled))
    }
}

fn compiled_step(
    bound: BoundStep,
    earlier: &[CompiledStep],
    (slots, sizers): (&[Slot], &[Vec<SlotId>]),
    settings: &impl Fn(Compiler) -> Compiler,
) -> Result<CompiledStep, ProgramErrorKind> {
    let (pipeline, schedule) = (&bound.step.pipeline, &bound.step.schedule);
    let same = |other: &&CompiledStep| {
        std::ptr::eq::<halide_core::pipeline::PipelineData>(&***pipeline, &**other.bound.step.pipeline)
            && *schedule == other.bound.step.schedule
    };
    let compiled = match earlier.iter().find(same) {
        Some(step) => step.compiled.clone(),
        None => settings(Compiler::new(pipeline).schedule(schedule)).compile().map_err(failed)?,
    };
    let memory = (0..bound.outputs.len()).map(|i| {
        let is_sized = !sizers[bound.outputs[i].slot.0].is_empty();
        memory_of(&bound, i, &compiled, slots, is_sized)
    });
    let memory = memory.collect::<Result<_, _>>()?;
    let resides = may_reside(&bound, &compiled);
    Ok(CompiledStep { bound, compiled, memory, resides })
}

/// Decides what memory an element of an output is computed in.
fn memory_of(
    bound: &BoundStep,
    i: usize,
    compiled: &Compiled,
    slots: &[Slot],
    is_sized: bool,
) -> Result<Memory, ProgramErrorKind> {
    let BoundOutput { slot, keeps } = bound.outputs[i];
    let read: Vec<&String> = bound.images.iter().filter(|(_, image)| *image == slot).map(|(name, _)| name).collect();
    let why = match read[..] {
        [] => return Ok(Memory::Own),
        _ if is_sized => "its size may change".to_string(),
        [image] => match in_place(compiled, image, i) {
            Ok(()) if keeps => return Ok(Memory::InPlace(image.clone())),
            // Promises are checked of elements that nobody is about to write.
            Ok(()) if is_promised(compiled, image) => "its values are promised, which is checked".to_string(),
            Ok(()) if engine_shares(compiled.engine()) => return Ok(Memory::InPlace(image.clone())),
            Ok(()) => "the engine works on copies".to_string(),
            Err(why) => why,
        },
        _ => "several images of the step are this slot".to_string(),
    };
    match keeps {
        true => Err(ProgramErrorKind::KeepsAndReads { slot: slots[slot.0].name.clone(), why }),
        false => Ok(Memory::Second { why }),
    }
}

/// Proves that element `i` of the outputs may be computed in the memory of an image, or says why not.
fn in_place(compiled: &Compiled, image: &str, i: usize) -> Result<(), String> {
    let (pipeline, plan) = (compiled.pipeline(), compiled.plan());
    if let Some(feeder) = compiled.feeders().first() {
        let (image, output) = (image.to_string(), String::new());
        return Err(InPlaceError { image, output, problem: feeder.in_place_problem() }.reason());
    }
    let elements = |f: &halide_core::ids::FuncId| pipeline.funcs[*f].types.len();
    let owners = pipeline.outputs.iter().flat_map(|f| (0..elements(f)).map(|element| (*f, element)));
    let image = pipeline.images.enumerate().find(|(_, def)| def.name == image).map(|(id, _)| id);
    let (Some(owner), Some(image)) = (owners.into_iter().nth(i), image) else {
        return Err("the image is read by no stage".into());
    };
    compiled.parts.proofs.of(plan, image, owner).map(drop).map_err(|error| error.reason())
}

fn is_promised(compiled: &Compiled, image: &str) -> bool {
    compiled.pipeline().images.iter().any(|def| def.name == image && def.is_promised())
}

fn failed(error: Error) -> ProgramErrorKind {
    ProgramErrorKind::Failed { iterations: Vec::new(), error: Arc::new(error) }
}

impl fmt::Debug for CompiledProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CompiledProgram({} of {} steps)", self.parts.name, self.parts.steps.len())
    }
}
