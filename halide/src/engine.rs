//! The engines that run pipelines, and the machines that programs are compiled for.

#[cfg(feature = "cpu")]
use crate::code_cache::Keeping;

/// The engines that run pipelines. All give the same results, bit for bit (unless the schedule lets floats be
/// reordered).
///
/// ```
/// use halide::prelude::*;
/// let x = Var::new("x");
/// let mut f = Func::new("f");
/// f[x] = x / 2;
/// let compiler = Compiler::new(&Pipeline::new([&f])?);
/// let run = |engine| compiler.clone().engine(engine).compile()?.inputs().realize::<i32>([4]);
/// assert_eq!(run(Engine::Interp)?, run(Engine::default())?);
/// # Ok::<(), Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Engine {
    /// The reference interpreter, which takes no heed of the schedule beyond checking it. Slow; right by definition.
    Interp,
    /// The evaluator of lowered loops, which checks every access. Slow; for finding what went wrong.
    Eval,
    /// Machine code for this CPU.
    #[cfg(feature = "cpu")]
    Cpu,
    /// A GPU for what the schedule gives to it, and for the rest machine code for this CPU, or the
    /// evaluator where there is none.
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

/// The machines that programs are compiled for.
#[derive(Clone)]
pub(crate) enum Machine {
    /// The evaluator of loops.
    Evaluator,
    /// This CPU, and where its code is kept.
    #[cfg(feature = "cpu")]
    Cpu(Option<Keeping>),
    /// This CPU with a GPU.
    #[cfg(all(feature = "cpu", feature = "gpu"))]
    Gpu(halide_gpu::runtime::Gpu),
    /// A GPU, with the evaluator of loops for what is left to the host.
    #[cfg(feature = "gpu")]
    Hosted(halide_gpu::runtime::Gpu),
}

impl Machine {
    /// The machine without its GPU.
    pub(crate) fn host(&self) -> &Machine {
        match self {
            Machine::Evaluator => &Machine::Evaluator,
            #[cfg(feature = "cpu")]
            Machine::Cpu(_) => self,
            #[cfg(all(feature = "cpu", feature = "gpu"))]
            Machine::Gpu(_) => const { &Machine::Cpu(None) },
            #[cfg(feature = "gpu")]
            Machine::Hosted(_) => &Machine::Evaluator,
        }
    }
}

#[cfg(feature = "gpu")]
impl Machine {
    /// The machine with a GPU, and with machine code for the host where there can be.
    pub(crate) fn of_device(gpu: halide_gpu::runtime::Gpu) -> Machine {
        #[cfg(feature = "cpu")]
        return Machine::Gpu(gpu);
        #[cfg(not(feature = "cpu"))]
        Machine::Hosted(gpu)
    }
    /// The GPU, if there is one.
    pub(crate) fn gpu(&self) -> Option<&halide_gpu::runtime::Gpu> {
        match self {
            Machine::Evaluator => None,
            #[cfg(feature = "cpu")]
            Machine::Cpu(_) => None,
            #[cfg(feature = "cpu")]
            Machine::Gpu(gpu) => Some(gpu),
            Machine::Hosted(gpu) => Some(gpu),
        }
    }
}
