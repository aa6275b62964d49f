//! Engines that a schedule runs on.

use super::outcome::Cause;
use crate::compiled::Compiled;
use crate::compiler::Compiler;
use crate::engine::Engine;
use crate::pipeline::Pipeline;
use halide_core::buffer::Region;
#[cfg(feature = "gpu")]
use halide_gpu::runtime::Gpu;
use halide_ir::target::{self, Target};
use halide_sched::schedule::Schedule;

/// A pipeline under a schedule.
pub(super) struct Subject<'s> {
    pub(super) pipeline: &'s Pipeline,
    pub(super) schedule: &'s Schedule,
    pub(super) target: Target,
}

/// A pipeline, compiled for an engine.
pub(super) struct Runner {
    pub(super) compiled: Compiled,
    /// The numbers of threads to run on.
    pub(super) threads: Vec<usize>,
}

impl Runner {
    /// The engine as text.
    pub(super) fn text(&self, threads: usize) -> String {
        let of = if threads == 1 { "1 thread".to_string() } else { format!("{threads} threads") };
        match self.compiled.engine() {
            Engine::Interp => "the interpreter".to_string(),
            Engine::Eval => "the evaluator".to_string(),
            #[cfg(feature = "cpu")]
            Engine::Cpu => format!("machine code on {of}"),
            #[cfg(feature = "gpu")]
            Engine::Gpu => format!("the GPU with {of}"),
        }
    }
}

impl Subject<'_> {
    /// Compiles the schedule for every engine: kernels for the device if there is one, for the evaluator else.
    pub(super) fn runners(&self, #[cfg(feature = "gpu")] gpu: Option<&Gpu>) -> Result<Vec<Runner>, Cause> {
        let limits = self.target.gpu.unwrap_or(target::Gpu::LEAST);
        #[cfg(feature = "gpu")]
        let limits = gpu.map_or(limits, Gpu::limits);
        let kernels = self.schedule.has_kernels();
        let target = if kernels { Target { gpu: Some(limits), ..self.target } } else { self.target };
        let compiler = Compiler::new(self.pipeline).schedule(self.schedule).target(&target);
        let compile = |compiler: Compiler, threads: Vec<usize>| -> Result<Runner, Cause> {
            Ok(Runner { compiled: compiler.compile().map_err(Cause::Refused)?, threads })
        };
        let mut runners = vec![compile(compiler.clone().engine(Engine::Eval), vec![1])?];
        #[cfg(feature = "cpu")]
        if !kernels {
            runners.push(compile(compiler.clone().engine(Engine::Cpu), self.threads())?);
        }
        #[cfg(feature = "gpu")]
        if let (true, Some(gpu)) = (kernels, gpu) {
            runners.push(compile(compiler.gpu(gpu), self.threads())?);
        }
        Ok(runners)
    }

    #[cfg(any(feature = "cpu", feature = "gpu"))]
    fn threads(&self) -> Vec<usize> {
        let all = usize::try_from(self.target.threads).unwrap_or(1);
        if all > 1 { vec![1, all] } else { vec![1] }
    }
}

/// The regions of outputs as text: extents where they begin at 0.
pub(super) fn regions_text(regions: &[Region]) -> String {
    let text = |region: &Region| match region.spans().iter().all(|span| span.min == 0) {
        true => region.spans().iter().map(|span| span.extent.to_string()).collect::<Vec<_>>().join("x"),
        false => region.to_string(),
    };
    regions.iter().map(text).collect::<Vec<_>>().join(" and ")
}
