//! A run told step by step: what is stored and loaded, in which order, under a schedule.
//!
//! The checked evaluator runs the loops of the schedule one iteration after the other, whatever they are, before
//! vectors and kernels are made of them. So the order of events is the one that the schedule prescribes for one thread.

use crate::call::Call;
use crate::error::Error;
use crate::failure::of_evaluator;
use crate::interleaved;
use crate::reference::Required;
use crate::variant_key::{VariantKey, fault_error, next};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::ids::{FuncId, IdVec};
use halide_core::limits::{Limits, Stop};
use halide_core::pipeline::{NoteKind, Pipeline};
use halide_core::value::Scalar;
use halide_ir::eval::{EvalError, Event, Options, run_watched};
use halide_ir::{BufId, Program};
use halide_sched::lower::{LowerOptions, lower_to_bounded};
use std::fmt;
use std::ops::ControlFlow;

/// One step of a run. Names are those of the plan's Funcs and of the images, coordinates theirs.
#[derive(Clone, Debug, PartialEq)]
pub enum TraceEvent {
    /// Storage of a Func begins.
    Allocate {
        /// The Func.
        func: String,
        /// The region that the storage holds.
        region: Region,
    },
    /// It ends.
    Free {
        /// The Func.
        func: String,
    },
    /// Production of a Func begins: of all its definitions, at the place of its `compute_at`.
    Produce {
        /// The Func.
        func: String,
    },
    /// Production of a Func ended; until its storage ends, it is used.
    Produced {
        /// The Func.
        func: String,
    },
    /// An element of a Func or an image is loaded. What a choice does not take is loaded as well.
    Load {
        /// The Func or the image.
        of: String,
        /// Index of the element in a tuple; else 0.
        element: usize,
        /// Its coordinates.
        at: Vec<i64>,
        /// The value of the element; `None` where nobody has written, so that nobody needs it.
        value: Option<Scalar>,
    },
    /// An element of a Func is stored.
    Store {
        /// The Func.
        of: String,
        /// Index of the element in a tuple; else 0.
        element: usize,
        /// Its coordinates.
        at: Vec<i64>,
        /// The value; `None` if it was made of what nobody has written.
        value: Option<Scalar>,
    },
    /// An iteration of a loop begins. [`Call::trace_loops`] tells of it.
    Iterate {
        /// The loop, with the case of specialisations in which it runs: `blur_y.yi`.
        of: String,
        /// True if its iterations are tasks, which may run at the same time.
        parallel: bool,
        /// The value of its variable.
        value: i64,
    },
    /// The innermost iteration that goes on ends.
    Iterated,
}

impl fmt::Display for TraceEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, of, element, at, value) = match self {
            TraceEvent::Allocate { func, region } => {
                let spans: Vec<String> =
                    region.spans().iter().map(|s| format!("{}..{}", s.min, s.min + s.extent)).collect();
                return write!(f, "allocate {func}({})", spans.join(", "));
            }
            TraceEvent::Free { func } => return write!(f, "free {func}"),
            TraceEvent::Produce { func } => return write!(f, "produce {func}"),
            TraceEvent::Produced { func } => return write!(f, "produced {func}"),
            TraceEvent::Iterate { of, value, .. } => return write!(f, "iterate {of} = {value}"),
            TraceEvent::Iterated => return write!(f, "iterated"),
            TraceEvent::Load { of, element, at, value } => ("load", of, element, at, value),
            TraceEvent::Store { of, element, at, value } => ("store", of, element, at, value),
        };
        let at: Vec<String> = at.iter().map(i64::to_string).collect();
        write!(f, "{word} {of}({})", at.join(", "))?;
        if *element > 0 {
            write!(f, ".{element}")?;
        }
        match value {
            Some(value) => write!(f, " = {value}"),
            None => write!(f, " = ?"),
        }
    }
}

/// The answer of a sink of [`Call::trace`]: `()` goes on with the run, [`ControlFlow::Break`] ends it.
pub trait TraceAnswer {
    /// Returns whether the run goes on.
    fn flow(self) -> ControlFlow<()>;
}

impl TraceAnswer for () {
    fn flow(self) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

impl TraceAnswer for ControlFlow<()> {
    fn flow(self) -> ControlFlow<()> {
        self
    }
}

impl Call<'_> {
    /// Computes a region of each output as [`Call::realize_all`] does, and tells `sink` of every step. Slow: for
    /// looking at what a schedule does, on small regions. Inputs of extern stages are computed before, and not told of.
    ///
    /// The sink may end the run: it is told of nothing after it returned [`ControlFlow::Break`].
    ///
    /// # Errors
    /// The errors of any run; the sink may have been told of the steps until then. [`Error::Cancelled`] if the sink
    /// ended it.
    pub fn trace<A: TraceAnswer>(
        &self,
        regions: &[Region],
        mut sink: impl FnMut(TraceEvent) -> A,
    ) -> Result<Vec<AnyBuffer>, Error> {
        self.traced(regions, &mut |event| sink(event).flow(), false)
    }

    /// Traces like [`Call::trace`], and tells of the iterations of loops as well.
    ///
    /// # Errors
    /// As there.
    pub fn trace_loops<A: TraceAnswer>(
        &self,
        regions: &[Region],
        mut sink: impl FnMut(TraceEvent) -> A,
    ) -> Result<Vec<AnyBuffer>, Error> {
        self.traced(regions, &mut |event| sink(event).flow(), true)
    }

    fn traced(
        &self,
        regions: &[Region],
        sink: &mut dyn FnMut(TraceEvent) -> ControlFlow<()>,
        loops: bool,
    ) -> Result<Vec<AnyBuffer>, Error> {
        let (how, _watch) = self.begin()?;
        let (mut outputs, fed) = how.after(self.fresh_outputs(regions, &how))?;
        let compiled = self.compiled();
        let inputs = match fed {
            Some(fed) => fed,
            None => how.after(compiled.fed(self.given(), regions, &how))?,
        };
        let (pipeline, plan) = (compiled.pipeline(), compiled.plan());
        let bound = inputs.bind(&plan.pipeline)?;
        let mut key = VariantKey::of_call(&bound, outputs.iter().map(AnyBuffer::dims));
        if pipeline.notes.iter().any(|note| note.kind == NoteKind::Require) {
            // Who needs what is required is known to the interpreter alone, which also words the error.
            let required = Required { given: self.given(), fed: &inputs, before: None, how: &how };
            how.after(compiled.check_required(&required, regions))?;
            key.unchecked = true;
        }
        let (params, images): (Vec<Scalar>, Vec<AnyBuffer>) =
            (bound.params.iter().copied().collect(), bound.images.iter().cloned().collect());
        loop {
            let VariantKey { exact_tails, generic_strides, pixels, may_be_empty, unchecked, .. } = key;
            let main = LowerOptions::default();
            let options = LowerOptions { exact_tails, generic_strides, pixels, may_be_empty, unchecked, ..main };
            let program = lower_to_bounded(plan, &options).map_err(Error::Lower)?.program;
            let unlimited = Limits::default();
            let limits = how.limits().unwrap_or(&unlimited);
            let elements: IdVec<BufId, _> =
                program.buffers.enumerate().map(|(buf, _)| element(&plan.pipeline, &program, buf)).collect();
            let mut is_told = true;
            let mut tell = |event| {
                if is_told && sink(named(&plan.pipeline, &program, &elements, event)).is_break() {
                    is_told = false;
                    limits.stop(Stop::Cancelled);
                }
            };
            let callees = &plan.callees;
            let options = Options { print: how.print.get(), limits: Some(limits), callees };
            match run_watched(&program, &params, &images, &mut outputs, &options, &mut tell, loops) {
                // Whatever became of the rest of the step.
                _ if !is_told => return how.after(Err(Error::Cancelled)),
                Ok(_) => return how.after(Ok(outputs)),
                Err(EvalError::Fault { fault, args, .. }) => {
                    // Outputs are dense.
                    let pixels_of_call = || interleaved::pixels(&images, &[]);
                    let other = program.faults.get(fault).and_then(|fault| next(key, fault, pixels_of_call));
                    match other {
                        Some(other) => key = other,
                        None => return how.after(Err(fault_error(&program, fault, &args))),
                    }
                }
                Err(error) => return how.after(Err(of_evaluator(error, &program, &plan.callees))),
            }
        }
    }
}

/// An event with names in place of ids; `elements` has what each buffer holds.
fn named(pipeline: &Pipeline, program: &Program, elements: &IdVec<BufId, (String, usize)>, event: Event) -> TraceEvent {
    let name = |func: FuncId| pipeline.funcs[func].name.clone();
    match event {
        Event::Allocate { func, region } => TraceEvent::Allocate { func: name(func), region: Region::of_spans(region) },
        Event::Free { func } => TraceEvent::Free { func: name(func) },
        Event::Produce { func } => TraceEvent::Produce { func: name(func) },
        Event::Produced { func } => TraceEvent::Produced { func: name(func) },
        Event::Load { buf, at, value } => {
            let (of, element) = elements[buf].clone();
            TraceEvent::Load { of, element, at, value }
        }
        Event::Store { buf, at, value } => {
            let (of, element) = elements[buf].clone();
            TraceEvent::Store { of, element, at, value }
        }
        Event::Iterate { id, parallel, value } => {
            TraceEvent::Iterate { of: program.loops[id].with_case(), parallel, value }
        }
        Event::Iterated => TraceEvent::Iterated,
    }
}

/// The name of a buffer's Func or image, and which element of a tuple it holds.
fn element(pipeline: &Pipeline, program: &Program, buf: BufId) -> (String, usize) {
    let holds = |all: &[BufId]| all.iter().position(|b| *b == buf);
    let of_func = program.func_buffers.enumerate().find_map(|(func, all)| Some((func, holds(all)?)));
    match of_func {
        Some((func, element)) => (pipeline.funcs[func].name.clone(), element),
        None => (program.buffers[buf].name.clone(), 0),
    }
}
