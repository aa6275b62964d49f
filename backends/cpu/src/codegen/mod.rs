//! From loop IR to machine code.
//!
//! [`compile`] is the table of contents: the program's body and each of its parallel tasks become a function of
//! Cranelift's IR ([`stmt`], [`expr`]), each function becomes machine code ([`generate`]), and [`jit`] links them.
//!
//! The lower files build on each other: [`ops`] and [`func`] (constants, calls, scopes), `shared::memo` (value
//! numbering), [`guards`] (how far loads may move), [`value`] (how lanes live in registers), [`shuffle`] and [`mask`],
//! then operators ([`int`], [`shift`], [`divide`], [`float`], [`half`], [`bools`], [`math`], [`convert`]), which are
//! those of `halide_backend` over the primitives of [`lane_ops`], memory ([`address`], [`load`], [`store`],
//! [`atomic`], [`places`], [`storage`], [`scalar_replacement`], [`device`]) and statements, with the polls ([`poll`])
//! of loops, the marks ([`marks`]) of profiled code, the places of instructions ([`code_places`]) and the closures
//! ([`captures`]) of tasks. [`high_words`] supplies an instruction that Cranelift's IR lacks.
//!
//! **Wider vectors.** Cranelift's vectors have 128 bits. Loops with vectors are offered to a generator of wider ones
//! (`wide`) first; what it takes becomes a function of its own ([`outline`]), which [`jit`] links like any other.
//! [`frames`] sums what all of them need of the stack.
//!
//! **Loads and addresses.** Storage accessed at constants only becomes SSA values (`scalar_replacement`). Loads of
//! inputs are pure to Cranelift, which puts each at its first use or in front of loops; a term in their addresses holds
//! them in loops that ask a condition (`guards`). The terms of an address are added loop by loop, outermost first,
//! through names (`address::Sums`).
//!
//! **Large functions.** Functions of very many instructions get their registers in one pass (`host::Effort`, which
//! `--explain` says), since the usual way would take minutes. Functions that store nothing themselves and only lead to
//! kernels and tasks do so too, and skip Cranelift's optimiser.
//!
//! **Stack.** Both generators touch each page of a frame of a page or more on entry. The stack of the deepest chain of
//! calls is known after compiling; a thread that has less left runs the code on a stack of its own (`runtime/stack`),
//! since a thread that waits for others takes up other work on top. Memory of megabytes asks for large pages
//! (`core/buffer/raw`). Loops whose iterations are long poll the flag that ends a run.

pub(crate) mod abi;
mod address;
mod atomic;
mod bools;
mod captures;
mod code_places;
mod conditions;
mod convert;
mod device;
mod divide;
mod expr;
mod float;
mod frames;
mod func;
mod generate;
mod guards;
mod half;
mod high_words;
mod int;
pub(crate) mod jit;
mod lane_ops;
mod load;
mod locks;
mod marks;
mod mask;
mod math;
mod ops;
mod outline;
mod outlined;
mod places;
mod poll;
mod scalar_replacement;
mod shift;
mod shuffle;
mod stack;
mod stmt;
mod storage;
mod store;
mod value;

use crate::error::{CodeUnit, CpuError};
use crate::exec::Executable;
use crate::host::{self, Effort};
use crate::listing::lines;
use crate::options::{CompileStats, CpuOptions, FunctionCode, Texts};
use crate::shared::marks::Marks;
use crate::tier::{Tier, missing};
use abi::{ArgLayout, ENTRY_PARAMS, RuntimeFn, TASK_PARAMS};
use cranelift_codegen::ir::types;
use cranelift_codegen::isa::TargetIsa;
use frames::Frame;
use func::{EmittedFunction, Env, Symbols};
use generate::{Compiled, generate_all};
use halide_core::ids::Id;
use halide_core::ops::MathFn;
use halide_ir::features::CpuFeatures;
use halide_ir::target::Budget;
use halide_ir::{Program, Stage};
use jit::{Linker, MachineCode};
use outlined::{Outlined, OutlinedKernel};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Returns true if the machine multiplies and adds in one instruction.
fn has_fma(isa: &dyn TargetIsa) -> bool {
    let flagged = isa.isa_flags().iter().any(|flag| flag.name == "has_fma" && flag.as_bool() == Some(true));
    flagged || cfg!(target_arch = "aarch64")
}

/// Compiles a program of stage `Final` for this machine.
///
/// The code does what the program says, without checks of its own: that accesses are in bounds is the lowering's
/// promise.
pub fn compile(program: &Program, options: &CpuOptions) -> Result<Executable, CpuError> {
    if program.stage != Stage::Final {
        return Err(CpuError::Program(format!("its stage is {:?}, not Final", program.stage)));
    }
    if let Some(why) = missing(options.tier, options.features, CpuFeatures::host()) {
        return Err(CpuError::Host(why));
    }
    stack::with_room_for(program, || compile_here(program, options))
}

/// [`compile`], where there is enough stack.
fn compile_here(program: &Program, options: &CpuOptions) -> Result<Executable, CpuError> {
    let isa = host::host_isa(options.features, Effort::Full)?;
    let layout = ArgLayout::new(program);
    let mut linker = Linker::new(isa.clone());
    let symbols = declare(program, &*isa, &mut linker)?;
    let entry = symbols.entry;
    let x64 = cfg!(target_arch = "x86_64");
    let high_words = x64 && high_words::available(&*isa);
    let locks = locks::locks(program);
    let fma = has_fma(&*isa);
    let closures = captures::closures(program);
    let marks = options.marks.then(|| Marks::of(program));

    let started = Instant::now();
    let outlined = Mutex::new(Outlined::new(program, &mut linker, options)?);
    let wide = (options.tier > Tier::Baseline).then_some(&outlined);
    let sizes = outlined::sizes(program);
    let env = Env {
        program,
        layout: &layout,
        isa: &*isa,
        x64,
        high_words,
        fma,
        locks,
        symbols,
        closures,
        outlined: wide,
        sizes,
        budget: options.budget,
        marks: marks.as_ref(),
        keep_text: options.keep_text,
        spent: AtomicU64::new(0),
    };
    let made = emit_all(&env)?;
    let mut names = options.keep_text.then(|| env.symbols.names(program));
    let Outlined { kernels, refusals, unrolled, .. } = outlined.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(names) = &mut names {
        names.extend(kernels.iter().map(|kernel| (kernel.id.as_u32(), kernel.name.clone())));
    }
    let emitted = Instant::now();
    let instructions = made.iter().map(|m| m.clif.dfg.num_insts()).sum();
    let large: Vec<String> = made.iter().filter(|m| m.effort == Effort::OnePass).map(|m| m.name.clone()).collect();
    let mut isas = BTreeMap::from([(Effort::Full, isa)]);
    for m in &made {
        if let Entry::Vacant(free) = isas.entry(m.effort) {
            free.insert(host::host_isa(options.features, m.effort)?);
        }
    }
    let compiled = generate_all(isas, made, names)?;
    let generated = Instant::now();
    let mut stats = CompileStats {
        emit: emitted - started,
        generate: generated - emitted,
        functions: compiled.len(),
        instructions,
        kernels: kernels.len(),
        ..CompileStats::default()
    };
    let mut texts = Texts { refusals, unrolled, large, ..Texts::default() };
    let frames = define_all(&mut linker, compiled, kernels, options, &mut texts, &mut stats)?;
    stats.stack = frames::deepest(&frames, options.budget.stack_bytes)?;
    let code = linker.finish(entry)?;
    // Functions are in the order of their frames.
    texts.functions.iter_mut().zip(&frames).for_each(|(function, frame)| function.address = code.address(frame.id));
    stats.link = generated.elapsed();
    let definitions = marks.map_or_else(Vec::new, |marks| marks.definitions().to_vec());
    Ok(Executable::new(program, code, (layout, definitions), options, texts, stats))
}

/// Links the functions and the kernels of a program, and keeps their code if the options ask for text. Returns what
/// each needs of the stack.
fn define_all(
    linker: &mut Linker,
    compiled: Vec<Compiled>,
    kernels: Vec<OutlinedKernel>,
    options: &CpuOptions,
    texts: &mut Texts,
    stats: &mut CompileStats,
) -> Result<Vec<Frame>, CpuError> {
    let mut frames = Vec::with_capacity(compiled.len() + kernels.len());
    for Compiled { code, frame, clif, lines } in compiled {
        stats.bytes += code.bytes.len();
        check_bytes(stats.bytes, &frame.name, &options.budget)?;
        linker.define(&code)?;
        if options.keep_text {
            texts.clif += &clif;
            let (name, bytes) = (frame.name.clone(), code.bytes);
            texts.functions.push(FunctionCode { name, address: 0, bytes, spill_bytes: None, lines });
        }
        frames.push(frame);
    }
    for OutlinedKernel { id, name, kernel } in kernels {
        if options.keep_text {
            let lines = lines(&kernel.bytes, kernel.code_bytes, &kernel.spans, &BTreeMap::new());
            let (bytes, spill_bytes) = (kernel.bytes.clone(), Some(kernel.spills));
            texts.functions.push(FunctionCode { name: name.clone(), address: 0, bytes, spill_bytes, lines });
        }
        stats.bytes += kernel.bytes.len();
        check_bytes(stats.bytes, &name, &options.budget)?;
        frames.push(Frame { id, name, bytes: kernel.frame, calls: Vec::new() });
        linker.define(&MachineCode { id, align: crate::wide::ALIGN, bytes: kernel.bytes, relocs: Vec::new() })?;
    }
    Ok(frames)
}

/// Checks that there is not more code than there may be, with that of `function`.
fn check_bytes(bytes: usize, function: &str, budget: &Budget) -> Result<(), CpuError> {
    let (count, most, unit) = (bytes as u64, budget.code_bytes, CodeUnit::Bytes);
    if count <= most {
        return Ok(());
    }
    Err(CpuError::TooLarge { function: function.to_string(), unit, count, most })
}

/// Gives every function its symbol, so that they can be made in any order.
fn declare(program: &Program, isa: &dyn TargetIsa, linker: &mut Linker) -> Result<Symbols, CpuError> {
    let conv = isa.default_call_conv();
    let entry = abi::signature(conv, &ENTRY_PARAMS, &[types::I64]);
    let task = abi::signature(conv, &TASK_PARAMS, &[types::I64]);
    let entry = linker.declare("pipeline", true, &entry)?;
    let tasks = program.tasks.ids().map(|id| linker.declare(&format!("{id:?}"), true, &task));
    let tasks = tasks.collect::<Result<_, _>>()?;
    let runtime = RuntimeFn::ALL.into_iter().map(|f| {
        let (name, _, params, results) = f.describe();
        Ok((f, linker.declare(name, false, &abi::signature(conv, params, results))?))
    });
    let runtime = runtime.collect::<Result<_, CpuError>>()?;
    let math = MathFn::ALL.into_iter().map(|f| linker.declare(&format!("math_{f:?}"), true, &abi::math_signature(f)));
    let math = math.collect::<Result<_, _>>()?;
    Ok(Symbols { entry, tasks, runtime, math })
}

/// The functions of a program: its body, its tasks, and the f32 functions that those call.
fn emit_all(env: &Env<'_>) -> Result<Vec<EmittedFunction>, CpuError> {
    let program = env.program;
    let mut all =
        vec![func::make(env, env.symbols.entry, "pipeline".into(), &ENTRY_PARAMS, |f, _| f.stmt(&program.body))?];
    for (id, task) in program.tasks.enumerate() {
        let name = program.loops.get(task.id).map_or_else(|| format!("{id:?}"), |info| info.name.clone());
        let symbol = env.symbols.tasks[id.index()];
        all.push(func::make(env, symbol, name, &TASK_PARAMS, |f, args| f.task(id, args[0], args[1]))?);
    }
    let called: BTreeSet<MathFn> = all.iter().flat_map(|m| m.math_used.iter().copied()).collect();
    all.extend(called.into_iter().map(|f| math::make(env, f)));
    Ok(all)
}
