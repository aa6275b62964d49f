//! The kernels of a program, compiled for a device.

use super::cache::Pipeline;
use super::gpu::Gpu;
use super::pipeline;
use crate::codegen::{self, KernelCode, Layout, Options, range};
use crate::error::GpuError;
use crate::tuning::REMEMBERED_ARGUMENTS;
use halide_core::ids::{Id, IdVec};
use halide_ir::device::DeviceFault;
use halide_ir::{Kernel, KernelId, Program, Stmt};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// The kernels of a program, ready to run on a device. Clones share them, and many runs may use them at once.
#[derive(Clone)]
pub struct GpuProgram(pub(super) Arc<Compiled>);

pub(super) struct Compiled {
    pub(super) gpu: Gpu,
    /// The program without its host code.
    pub(super) program: Program,
    kernels: IdVec<KernelId, Variants>,
}

/// The compiled forms of a kernel.
struct Variants {
    /// For the arguments that one expects.
    usual: Arc<Compute>,
    /// For those that [`Layout::serves`] refuses, made when there are some.
    pieces: Mutex<Option<Arc<Compute>>>,
}

/// A kernel's bindings and what runs it.
pub(super) struct Compute {
    pub(super) layout: Layout,
    pub(super) pipeline: Arc<Pipeline>,
    /// The time that it took to get the pipeline.
    creation: Duration,
    /// Arguments for which coordinates are known to fit. Runs repeat them, and finding out goes through the whole
    /// kernel.
    fitting: Mutex<Vec<Arguments>>,
}

/// The arguments that decide whether coordinates fit and how far loops run: scalars, offsets of buffers, and the grid;
/// with the number of iterations.
type Arguments = (Vec<u64>, Vec<i64>, Vec<i64>, u64);

impl Compute {
    fn new(layout: Layout, (pipeline, creation): (Arc<Pipeline>, Duration)) -> Arc<Compute> {
        Arc::new(Compute { layout, pipeline, creation, fitting: Mutex::default() })
    }
    /// See [`range::look`].
    pub(super) fn look(
        &self,
        program: &Program,
        kernel: &Kernel,
        scalars: &[u64],
        offsets: &[i64],
        grid: &[i64],
        most: u64,
    ) -> (bool, u64) {
        let mut known = self.fitting.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., iterations)) = known.iter().find(|(s, o, g, _)| s == scalars && o == offsets && g == grid) {
            return (true, *iterations);
        }
        let (fits, iterations) = range::look(program, kernel, scalars, offsets, grid, most);
        if fits {
            known.truncate(REMEMBERED_ARGUMENTS - 1);
            known.insert(0, (scalars.to_vec(), offsets.to_vec(), grid.to_vec(), iterations));
        }
        (fits, iterations)
    }
}

impl GpuProgram {
    /// Compiles every kernel of a program at stage `Final`. Fails if one needs more than the device has.
    pub async fn new_async(gpu: &Gpu, program: &Program) -> Result<GpuProgram, GpuError> {
        let options = Options { features: gpu.features(), pieces: false };
        let ids = (0..program.kernels.len()).map(KernelId::new);
        let codes: Result<Vec<KernelCode>, GpuError> = ids.map(|id| codegen::compile(program, id, &options)).collect();
        GpuProgram::from_code_async(gpu, program, codes?).await
    }
    /// Has the driver compile shaders that were made of the program's kernels, one for each.
    pub async fn from_code_async(gpu: &Gpu, program: &Program, codes: Vec<KernelCode>) -> Result<GpuProgram, GpuError> {
        let mut kernels = IdVec::default();
        for (code, kernel) in codes.into_iter().zip(program.kernels.iter()) {
            let pipeline = pipeline::compile(gpu, &code, kernel.shared_words).await?;
            let usual = Compute::new(code.layout, pipeline);
            kernels.push(Variants { usual, pieces: Mutex::default() });
        }
        let program = Program { body: Stmt::Block(Vec::new()), tasks: IdVec::default(), ..program.clone() };
        Ok(GpuProgram(Arc::new(Compiled { gpu: gpu.clone(), program, kernels })))
    }
    /// The device.
    pub fn gpu(&self) -> &Gpu {
        &self.0.gpu
    }
    /// Each kernel's name, and how long the driver took to compile it; next to nothing if the device knew it already.
    pub fn pipeline_creation(&self) -> Vec<(String, Duration)> {
        let compiled = &*self.0;
        let names = compiled.program.kernels.iter().map(|k| k.name.clone());
        names.zip(compiled.kernels.iter().map(|k| k.usual.creation)).collect()
    }
}

impl Compiled {
    /// Returns the form of a kernel for these scalars, compiled now if they are unusual and the first of that kind.
    pub(super) async fn compute(&self, id: KernelId, scalars: &[u64]) -> Result<Arc<Compute>, DeviceFault> {
        let missing = || DeviceFault::Refused { reason: format!("there is no {id:?}") };
        let variants = self.kernels.get(id).ok_or_else(missing)?;
        if variants.usual.layout.serves(scalars) {
            return Ok(variants.usual.clone());
        }
        let pieces = || variants.pieces.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = pieces().clone() {
            return Ok(made);
        }
        let options = Options { features: self.gpu.features(), pieces: true };
        let refused = |error: GpuError| match error {
            GpuError::Fault(fault) => fault,
            other => DeviceFault::Refused { reason: other.to_string() },
        };
        let code = codegen::compile(&self.program, id, &options).map_err(refused)?;
        let made = pipeline::compile(&self.gpu, &code, self.program.kernels[id].shared_words).await;
        let made = Compute::new(code.layout, made.map_err(refused)?);
        *pieces() = Some(made.clone());
        Ok(made)
    }
}

impl fmt::Debug for GpuProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} kernels on {:?}", self.0.kernels.len(), self.0.gpu)
    }
}
