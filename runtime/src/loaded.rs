//! The tables of an object that were read, and runs of its code.

use crate::error::CallError;
use halide_core::buffer::{AnyBufferMut, Dim};
use halide_core::ids::Id;
use halide_core::interp::{Bound, Given, Inputs};
use halide_core::limits::Limits;
use halide_core::pipeline::PipelineData;
use halide_cpu::object::{LinkedEntry, ObjectTables, TablesError, VariantTables};
use halide_cpu::{CpuFault, Executable, RunArgs};
use halide_ir::Program;
use halide_ir::footprint::Footprint;
use std::io::Write;
use std::num::NonZeroUsize;

/// The options of a run. The default is as many threads as there are processors, and no cap on memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunOptions {
    /// The most threads that parallel loops use.
    pub threads: Option<NonZeroUsize>,
    /// The most bytes that the run may allocate at once.
    pub memory_cap: Option<u64>,
}

/// A pipeline that is ready to run.
pub(crate) struct Loaded {
    /// The interface that calls are checked against.
    pub(crate) interface: PipelineData,
    variants: Vec<LoadedVariant>,
}

struct LoadedVariant {
    program: Program,
    footprint: Footprint,
    next: Vec<Option<usize>>,
    code: Executable,
}

impl Loaded {
    /// Reads the tables of an object, which has this code for their variants.
    ///
    /// # Errors
    /// The tables are of another version, or the machine lacks instructions that the code uses.
    pub(crate) fn new(tables: &[u8], code: &[LinkedEntry]) -> Result<Loaded, CallError> {
        let tables = ObjectTables::from_bytes(tables).map_err(CallError::Object)?;
        tables.check_machine().map_err(CallError::Machine)?;
        if tables.variants.len() != code.len() {
            return Err(CallError::Object(TablesError::Torn));
        }
        let variant = |(tables, entry): (VariantTables, &LinkedEntry)| {
            let code = tables.executable(*entry);
            let VariantTables { program, footprint, next, .. } = tables;
            LoadedVariant { program, footprint, next, code }
        };
        let variants = tables.variants.into_iter().zip(code).map(variant).collect();
        Ok(Loaded { interface: tables.interface, variants })
    }

    /// Runs the pipeline, after all checks of the arguments, with the first variant that serves the call.
    pub(crate) fn run(
        &self,
        inputs: &Inputs,
        outputs: &mut [AnyBufferMut<'_>],
        options: &RunOptions,
    ) -> Result<(), CallError> {
        self.interface.check_output_views(outputs)?;
        let bound = inputs.bind(&self.interface)?;
        bound.check_outputs(&self.interface, outputs.iter().map(Given::from))?;
        if !self.has_elements(&bound, outputs)? {
            return Ok(());
        }
        let mut next = 0;
        // Each variant leads to one that serves more calls, so none is tried twice.
        for _ in &self.variants {
            let variant = &self.variants[next];
            match variant.run(&bound, outputs, options) {
                Ok(()) => return Ok(()),
                Err(Ended::Other(error)) => return Err(error),
                Err(Ended::Fault(fault)) => match variant.after(&fault) {
                    Some(other) => next = other,
                    None => return Err(CallError::of_fault(fault, &variant.program)),
                },
            }
        }
        Err(CallError::Internal { text: "no variant of the code serves the call".into() })
    }

    /// Returns false if there is nothing to compute.
    ///
    /// # Errors
    /// Something is to be computed, and a buffer has no elements: the code of objects relies on one of each.
    fn has_elements(&self, bound: &Bound, outputs: &[AnyBufferMut<'_>]) -> Result<bool, CallError> {
        let is_empty = |dims: &[Dim]| dims.iter().any(|dim| dim.extent == 0);
        if !outputs.is_empty() && outputs.iter().all(|output| is_empty(output.dims())) {
            return Ok(false);
        }
        let problem = "it has no elements, and the code of an object needs one; leave the call out".to_string();
        if let Some((image, _)) = bound.images.enumerate().find(|(_, image)| is_empty(image.dims())) {
            let argument = format!("image `{}`", self.interface.images[image].name);
            return Err(CallError::Argument { argument, problem });
        }
        match outputs.iter().position(|output| is_empty(output.dims())) {
            Some(output) => Err(CallError::Argument { argument: format!("output {output}"), problem }),
            None => Ok(true),
        }
    }

    /// Frees memory that is kept for the next run.
    pub(crate) fn free_memory(&self) {
        self.variants.iter().for_each(|variant| variant.code.trim());
    }
}

/// The end of a run without a result.
enum Ended {
    Fault(CpuFault),
    Other(CallError),
}

impl LoadedVariant {
    /// The variant that serves a call which this one ended with a fault.
    fn after(&self, fault: &CpuFault) -> Option<usize> {
        let CpuFault::Check { fault, .. } = fault else { return None };
        self.next.get(fault.index()).copied().flatten()
    }

    fn run(&self, bound: &Bound, outputs: &mut [AnyBufferMut<'_>], options: &RunOptions) -> Result<(), Ended> {
        let limits = options.memory_cap.map_or_else(Limits::default, Limits::with_cap);
        let spare = || self.code.retained_bytes() as u64;
        self.footprint.check(&self.program, bound, outputs, &limits, &spare).map_err(|(buf, over)| {
            Ended::Other(CallError::Memory { func: self.program.buffers[buf].name.clone(), over })
        })?;
        let params: Vec<_> = bound.params.iter().copied().collect();
        // Inputs in the order of their images, then outputs. The borrows of both last until the run ends.
        let inputs = bound.images.iter().map(|image| image.raw());
        let buffers: Vec<_> = inputs.chain(outputs.iter_mut().map(AnyBufferMut::raw_mut)).collect();
        // Lines are lost where nobody reads them any more.
        let print = |line: &str| drop(writeln!(std::io::stderr(), "{line}"));
        let args = RunArgs {
            params: &params,
            buffers: &buffers,
            threads: options.threads.map(NonZeroUsize::get),
            limits: Some(&limits),
            print: Some(&print),
            ..RunArgs::default()
        };
        self.code.run(&args).map(drop).map_err(Ended::Fault)
    }
}
