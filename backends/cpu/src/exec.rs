//! A compiled program and its runs.

use crate::abi::ArgLayout;
#[cfg(feature = "compile")]
use crate::codegen::jit::LinkedCode;
use crate::error::CpuFault;
use crate::options::{CompileStats, CpuOptions, FunctionCode, KernelLoads, Texts};
use crate::profile::RunProfile;
use crate::runtime::call_shape::{CallShape, Callees};
use crate::runtime::device::{KernelCall, OnDevice};
use crate::runtime::{Line, LinkedEntry, Pool, Run, Sampler, Worker, guarded, within};
use halide_core::buffer::RawBuffer;
use halide_core::externs::ExternDef;
use halide_core::ids::IdVec;
use halide_core::interp::PrintSink;
use halide_core::limits::Limits;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::code_place::Definition;
use halide_ir::device::Device;
use halide_ir::{BufId, BufferInfo, BufferRole, CalleeId, KernelId, Program};
use std::fmt;
use std::sync::{Arc, Mutex};

/// Compiled code. Clones share it; it may run on many threads at once, and is freed with the last clone.
#[derive(Clone)]
pub struct Executable(Arc<Inner>);

struct Inner {
    code: Code,
    layout: ArgLayout,
    /// The definitions that code marks, by number.
    definitions: Vec<Definition>,
    params: Vec<(String, ScalarType)>,
    buffers: IdVec<BufId, BufferInfo>,
    counters: usize,
    parallel: bool,
    kernels: IdVec<KernelId, KernelCall>,
    lines: Vec<Line>,
    callees: IdVec<CalleeId, CallShape>,
    pool: Pool,
    /// Bytes of stack that the code needs.
    stack: usize,
    texts: Texts,
    stats: CompileStats,
}

/// Code that can be run.
pub(crate) enum Code {
    /// Compiled by this process.
    #[cfg(feature = "compile")]
    Compiled(Box<LinkedCode>),
    /// Part of the program that this is.
    Linked(LinkedEntry),
}

impl Code {
    /// Runs the program with `worker`. Returns 0, or another number after a fault that the worker's run has recorded.
    fn enter(&self, worker: &mut Worker<'_>) -> i64 {
        match self {
            #[cfg(feature = "compile")]
            Code::Compiled(code) => code.enter(worker),
            Code::Linked(entry) => entry.enter(worker),
        }
    }
}

/// The arguments of a run.
#[derive(Clone, Copy, Default)]
pub struct RunArgs<'a> {
    /// One value per parameter of the program.
    pub params: &'a [Scalar],
    /// One view per external buffer: inputs in the order of their images, then outputs by position. Their memory must
    /// be alive, and that of outputs not be used by anyone else, until the run ends.
    pub buffers: &'a [RawBuffer],
    /// The number of threads that parallel loops may use; `None` is all of the pool, 1 runs iterations in order on this
    /// thread.
    pub threads: Option<usize>,
    /// The threads to use; `None` is rayon's own pool, or the one that this thread belongs to.
    pub pool: Option<&'a rayon::ThreadPool>,
    /// The cap on memory that is allocated at once, and the flag that ends the run early; none by default.
    pub limits: Option<&'a Limits>,
    /// The device that runs the kernels of the program, with its inputs and outputs bound; needed only if there are
    /// any.
    pub device: Option<&'a Mutex<dyn Device>>,
    /// Takes the lines that the program prints; `None` drops them.
    pub print: Option<&'a PrintSink>,
    /// The closures that the program calls, in the order of its table.
    pub callees: &'a [ExternDef],
    /// Samples what threads do; of code that was compiled with [`CpuOptions::marks`].
    pub sampler: Option<&'a Sampler>,
}

/// The counters and the memory use of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunStats {
    /// The program's counters.
    pub counters: Vec<i64>,
    /// The largest number of bytes allocated at once, on the heap.
    pub peak_bytes: u64,
    /// The number of heap allocations.
    pub allocations: u64,
    /// The number of blocks of memory that these took from the system, since no idle one would do.
    pub blocks: u64,
}

impl Executable {
    pub(crate) fn new(
        program: &Program,
        code: Code,
        (layout, definitions): (ArgLayout, Vec<Definition>),
        options: &CpuOptions,
        texts: Texts,
        stats: CompileStats,
    ) -> Executable {
        // More than there are addresses is surely not there.
        let stack = usize::try_from(stats.stack).unwrap_or(usize::MAX);
        Executable(Arc::new(Inner {
            code,
            layout,
            definitions,
            params: program.params.iter().cloned().collect(),
            buffers: program.buffers.clone(),
            counters: program.counters.len(),
            parallel: !program.tasks.is_empty(),
            kernels: KernelCall::all(program),
            lines: Line::all(program),
            callees: CallShape::all(program),
            pool: Pool::new(options.retain_bytes),
            stack,
            texts,
            stats,
        }))
    }

    /// Runs the program.
    pub fn run(&self, args: &RunArgs<'_>) -> Result<RunStats, CpuFault> {
        let inner = &*self.0;
        let words = inner.argument_block(args)?;
        let available = args.pool.map_or_else(rayon::current_num_threads, |p| p.current_num_threads());
        let threads = args.threads.unwrap_or(available).clamp(1, available.max(1));
        let unlimited = Limits::default();
        let limits = args.limits.unwrap_or(&unlimited);
        if let Some(stop) = limits.stopped() {
            return Err(CpuFault::Stopped(stop));
        }
        let outputs = || {
            args.buffers.iter().zip(&inner.layout.order).filter_map(|(raw, &buf)| {
                matches!(inner.buffers[buf].role, BufferRole::Output(_)).then_some((buf, raw))
            })
        };
        let device = args.device.map(|device| OnDevice::new(device, &inner.kernels, outputs()));
        let run = Run::new(words, inner.counters, &inner.pool, threads, limits).on_device(device);
        let run = run.printing(&inner.lines, args.print);
        let run = run.needing_stack(inner.stack);
        let run = run.calling(Callees { shapes: &inner.callees, closures: args.callees, params: args.params });
        let run = match args.sampler {
            Some(sampler) => run.marking(sampler.marks()),
            None => run,
        };
        let enter = || guarded(&run, 1, || run.with_stack(|| inner.code.enter(&mut Worker::new(&run))));
        let parallel = inner.parallel && threads > 1;
        let whole = || if parallel { within(args.pool, enter) } else { enter() };
        let code = match args.sampler {
            Some(sampler) => sampler.run(whole),
            None => whole(),
        };
        if let Some(fault) = run.take_fault() {
            return Err(fault);
        }
        if let Some(stop) = limits.stopped().filter(|_| code != 0) {
            return Err(CpuFault::Stopped(stop));
        }
        if code != 0 {
            return Err(CpuFault::Panic("a run failed without saying why".into()));
        }
        let (peak_bytes, allocations, blocks) = run.memory();
        Ok(RunStats { counters: run.counters(), peak_bytes, allocations, blocks })
    }

    /// The external buffers in the order in which [`RunArgs::buffers`] lists them.
    pub fn buffers(&self) -> &[BufId] {
        &self.0.layout.order
    }
    /// Cranelift's IR as it was made, if the options asked for text.
    pub fn clif(&self) -> Option<&str> {
        Some(self.0.texts.clif.as_str()).filter(|t| !t.is_empty())
    }
    /// The machine code as text, if the options asked for text: the name of each function, then its instructions.
    pub fn asm(&self) -> Option<String> {
        let mut text = String::new();
        for function in self.functions() {
            text += &format!("; {}\n", function.name);
            text.extend(function.lines.iter().map(|line| format!("{line}\n")));
        }
        Some(text).filter(|text| !text.is_empty())
    }
    /// The machine code of each function, if the options asked for text.
    pub fn functions(&self) -> &[FunctionCode] {
        &self.0.texts.functions
    }
    /// Loops with vectors that are compiled for narrower ones than asked for: the name of each, and why.
    pub fn refusals(&self) -> &[(String, String)] {
        &self.0.texts.notes.refusals
    }
    /// Innermost loops of which several iterations follow each other in the code: the name of each, and how many do.
    pub fn unrolled(&self) -> &[(String, usize)] {
        &self.0.texts.notes.unrolled
    }
    /// Loads of kernels of wide vectors: how many of them are made in which way.
    pub fn loads(&self) -> &[KernelLoads] {
        &self.0.texts.notes.loads
    }
    /// The names of functions with so many instructions that their registers were assigned in one pass: they keep more
    /// values in memory than they would have to.
    pub fn large(&self) -> &[String] {
        &self.0.texts.notes.large
    }
    /// Returns true if a machine instruction whose name begins so does work of a definition in a kernel of wide
    /// vectors. The options must have asked to note them.
    pub fn has_instruction(&self, definition: Definition, name: &str) -> bool {
        let all = self.0.texts.notes.mnemonics.get(&definition);
        all.is_some_and(|all| all.iter().any(|mnemonic| mnemonic.starts_with(name)))
    }
    /// Returns the cost of compiling.
    pub fn stats(&self) -> CompileStats {
        self.0.stats
    }
    /// Returns the number of threads of a run that may use so many: one where there is no parallel loop.
    pub fn threads(&self, most: usize) -> usize {
        if self.0.parallel { most } else { 1 }
    }
    /// Ends a sampler of runs of this code.
    pub fn profile(&self, sampler: Sampler) -> RunProfile {
        sampler.finish(&self.0.definitions)
    }
    /// Returns the number of bytes that are kept for the next run.
    pub fn retained_bytes(&self) -> usize {
        self.0.pool.idle_bytes()
    }
    /// Frees memory that is kept for the next run.
    pub fn trim(&self) {
        self.0.pool.trim();
    }
}

impl Inner {
    /// The argument block, after checking that the arguments are what the program takes.
    fn argument_block(&self, args: &RunArgs<'_>) -> Result<Vec<u64>, CpuFault> {
        let wrong = |what: String| Err(CpuFault::Arguments(what));
        let order = &self.layout.order;
        if args.params.len() != self.params.len() || args.buffers.len() != order.len() {
            return wrong(format!(
                "{} parameters and {} buffers are needed, {} and {} were given",
                self.params.len(),
                order.len(),
                args.params.len(),
                args.buffers.len()
            ));
        }
        let mut words = vec![0; self.layout.words];
        for (i, (value, (name, ty))) in args.params.iter().zip(&self.params).enumerate() {
            if value.ty() != *ty {
                return wrong(format!("parameter {name} is {ty}, not {}", value.ty()));
            }
            words[i] = value.bits();
        }
        for (raw, &id) in args.buffers.iter().zip(order) {
            let info = &self.buffers[id];
            if raw.ty != info.elem || raw.dims.len() != info.dims {
                return wrong(format!(
                    "{} has {} dimensions of {}, not {} of {}",
                    info.name,
                    info.dims,
                    info.elem,
                    raw.dims.len(),
                    raw.ty
                ));
            }
            let mut put = |word: Option<usize>, value: u64| {
                if let Some(word) = word {
                    words[word] = value;
                }
            };
            put(self.layout.data(id), raw.data as u64);
            for (d, dim) in raw.dims.iter().enumerate() {
                put(self.layout.field(id, d, DimField::Min), dim.min as u64);
                put(self.layout.field(id, d, DimField::Extent), dim.extent as u64);
                put(self.layout.field(id, d, DimField::Stride), dim.stride as u64);
            }
        }
        Ok(words)
    }
}

impl fmt::Debug for Executable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Executable").field("stats", &self.0.stats).finish_non_exhaustive()
    }
}
