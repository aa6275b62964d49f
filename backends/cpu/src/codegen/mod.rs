//! From loop IR to machine code.
//!
//! [`compile`] is the table of contents: the program's body and each of its parallel tasks become a function of
//! Cranelift's IR ([`stmt`], [`expr`]), each function becomes machine code ([`generate`]), all of them an image
//! (`code_image`), and [`jit`] links that.
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
mod call;
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
mod numbers;
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

use crate::code_image::{Callee, CodeImage, ImageAddress, ImageFunction};
use crate::error::{CodeUnit, CpuError};
use crate::exec::{Code, Executable};
use crate::host::{self, Effort};
use crate::listing::lines;
use crate::options::{CodeNotes, CompileStats, CpuOptions, FunctionCode, Texts};
use crate::shared::marks::Marks;
use crate::tier::{Tier, missing};
use abi::{ArgLayout, ENTRY_PARAMS, RuntimeFn, TASK_PARAMS};
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_module::{FuncId, ModuleReloc, ModuleRelocTarget};
use frames::Frame;
use func::{EmittedFunction, Env, Symbols};
use generate::{Compiled, generate_all};
use halide_core::ids::Id;
use halide_core::ops::MathFn;
use halide_ir::code_place::Definition;
use halide_ir::features::CpuFeatures;
use halide_ir::hash::Map;
use halide_ir::target::Budget;
use halide_ir::{Program, Stage};
use numbers::Numbers;
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
    compile_to_image(program, options).map(|(executable, _)| executable)
}

/// [`compile`], which also gives the machine code as it was before it was linked, for [`CodeImage::link`].
pub fn compile_to_image(program: &Program, options: &CpuOptions) -> Result<(Executable, CodeImage), CpuError> {
    let (isa, Translated { image, texts, marks }) = checked(program, options)?;
    let executable = link(&image, program, isa, (texts, marks), options)?;
    Ok((executable, image))
}

/// Compiles a program of stage `Final` for machines like this one, without linking the code.
pub fn compile_image(program: &Program, options: &CpuOptions) -> Result<CodeImage, CpuError> {
    checked(program, options).map(|(_, translated)| translated.image)
}

/// Makes the machine code of a program, after checks.
fn checked(program: &Program, options: &CpuOptions) -> Result<(OwnedTargetIsa, Translated), CpuError> {
    if program.stage != Stage::Final {
        return Err(CpuError::Program(format!("its stage is {:?}, not Final", program.stage)));
    }
    check_host(options)?;
    let isa = host::host_isa(options.features, Effort::Full)?;
    let translated = stack::with_room_for(program, || translate(program, isa.clone(), options))?;
    Ok((isa, translated))
}

impl CodeImage {
    /// Links code that was made of a program with these tables, with these options, by this build of this crate, on a
    /// machine like this one. The statements of the program are not asked for.
    ///
    /// The caller vouches for all of this: code is run as it is.
    pub fn link(&self, tables: &Program, options: &CpuOptions) -> Result<Executable, CpuError> {
        check_host(options)?;
        let isa = host::host_isa(options.features, Effort::Full)?;
        link(self, tables, isa, (Texts::default(), Vec::new()), options)
    }
}

/// Checks that this machine has the instructions that code may use.
fn check_host(options: &CpuOptions) -> Result<(), CpuError> {
    match missing(options.tier, options.features, CpuFeatures::host()) {
        Some(why) => Err(CpuError::Host(why)),
        None => Ok(()),
    }
}

/// Links an image of a program.
fn link(
    image: &CodeImage,
    program: &Program,
    isa: OwnedTargetIsa,
    (mut texts, marks): (Texts, Vec<Definition>),
    options: &CpuOptions,
) -> Result<Executable, CpuError> {
    let started = Instant::now();
    let code = jit::link(image, isa)?;
    texts.functions.iter_mut().zip(code.addresses()).for_each(|(function, address)| function.address = address);
    texts.notes = image.notes.clone();
    let stats = CompileStats { link: started.elapsed(), ..image.stats };
    Ok(Executable::new(
        program,
        Code::Compiled(Box::new(code)),
        (ArgLayout::new(program), marks),
        options,
        texts,
        stats,
    ))
}

/// The machine code of a program, with what is said of it.
struct Translated {
    image: CodeImage,
    texts: Texts,
    /// The definitions that code marks, by number.
    marks: Vec<Definition>,
}

/// Makes the machine code of a program.
fn translate(program: &Program, isa: OwnedTargetIsa, options: &CpuOptions) -> Result<Translated, CpuError> {
    let layout = ArgLayout::new(program);
    let mut numbers = Numbers::default();
    let symbols = declare(program, &mut numbers);
    let x64 = cfg!(target_arch = "x86_64");
    let high_words = x64 && high_words::available(&*isa);
    let locks = locks::locks(program);
    let fma = has_fma(&*isa);
    let closures = captures::closures(program);
    let marks = options.marks.then(|| Marks::of(program));

    let started = Instant::now();
    let outlined = Mutex::new(Outlined::new(program, &mut numbers, options));
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
        has_places: options.keep_text || options.note_mnemonics,
        spent: AtomicU64::new(0),
    };
    let made = emit_all(&env)?;
    let mut names = options.keep_text.then(|| env.symbols.names(program));
    let Outlined { kernels, refusals, unrolled, loads, .. } =
        outlined.into_inner().unwrap_or_else(PoisonError::into_inner);
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
    let mut stats = CompileStats {
        emit: emitted - started,
        generate: emitted.elapsed(),
        functions: compiled.len(),
        instructions,
        kernels: kernels.len(),
        ..CompileStats::default()
    };
    let mut mnemonics = BTreeMap::new();
    if options.note_mnemonics {
        kernels.iter().for_each(|kernel| kernel.note_mnemonics(&mut mnemonics));
    }
    let (functions, texts) = functions(compiled, kernels, options, &mut stats)?;
    let notes = CodeNotes { refusals, unrolled, loads, large, mnemonics };
    let image = CodeImage { functions, stats, notes };
    let marks = marks.map_or_else(Vec::new, |marks| marks.definitions().to_vec());
    Ok(Translated { image, texts, marks })
}

/// The functions and the kernels of a program for an image, and their text if the options ask for it: in one order.
/// Notes how much code there is, and what it needs of the stack.
fn functions(
    compiled: Vec<Compiled>,
    kernels: Vec<OutlinedKernel>,
    options: &CpuOptions,
    stats: &mut CompileStats,
) -> Result<(Vec<ImageFunction>, Texts), CpuError> {
    let ids = compiled.iter().map(|c| c.code.id).chain(kernels.iter().map(|k| k.id));
    let positions: Map<FuncId, u32> = ids.zip(0..).collect();
    let mut functions = Vec::with_capacity(positions.len());
    let mut frames = Vec::with_capacity(positions.len());
    let mut texts = Texts::default();
    for Compiled { code, frame, clif, lines } in compiled {
        stats.bytes += code.bytes.len();
        check_bytes(stats.bytes, &frame.name, &options.budget)?;
        if options.keep_text {
            texts.clif += &clif;
            let (name, bytes) = (frame.name.clone(), code.bytes.clone());
            texts.functions.push(FunctionCode { name, address: 0, bytes, spill_bytes: None, lines });
        }
        let addresses = code.relocs.iter().map(|reloc| image_address(reloc, &positions));
        let addresses = addresses.collect::<Result<_, _>>()?;
        functions.push(ImageFunction { align: code.align, bytes: code.bytes, addresses });
        frames.push(frame);
    }
    for OutlinedKernel { id, name, kernel, .. } in kernels {
        if options.keep_text {
            let lines = lines(&kernel.bytes, kernel.code_bytes, &kernel.spans, &BTreeMap::new());
            let (bytes, spill_bytes) = (kernel.bytes.clone(), Some(kernel.spills));
            texts.functions.push(FunctionCode { name: name.clone(), address: 0, bytes, spill_bytes, lines });
        }
        stats.bytes += kernel.bytes.len();
        check_bytes(stats.bytes, &name, &options.budget)?;
        functions.push(ImageFunction { align: crate::wide::ALIGN, bytes: kernel.bytes, addresses: Vec::new() });
        frames.push(Frame { id, name, bytes: kernel.frame, calls: Vec::new() });
    }
    stats.stack = frames::deepest(&frames, options.budget.stack_bytes)?;
    Ok((functions, texts))
}

/// An address that a function holds, where `positions` are those of the functions of its image.
fn image_address(reloc: &ModuleReloc, positions: &Map<FuncId, u32>) -> Result<ImageAddress, CpuError> {
    let unknown = || CpuError::Codegen(format!("an address of {:?} as {:?} is not known", reloc.name, reloc.kind));
    if reloc.kind != Reloc::Abs8 {
        return Err(unknown());
    }
    let of = match &reloc.name {
        ModuleRelocTarget::User { index, .. } => match positions.get(&FuncId::from_u32(*index)) {
            Some(position) => Callee::Image(*position),
            None => Callee::Runtime(*index),
        },
        ModuleRelocTarget::LibCall(call) => Callee::System(call.to_string()),
        _ => return Err(unknown()),
    };
    Ok(ImageAddress { offset: reloc.offset, of, addend: reloc.addend })
}

/// Checks that there is not more code than there may be, with that of `function`.
fn check_bytes(bytes: usize, function: &str, budget: &Budget) -> Result<(), CpuError> {
    let (count, most, unit) = (bytes as u64, budget.code_bytes, CodeUnit::Bytes);
    if count <= most {
        return Ok(());
    }
    Err(CpuError::TooLarge { function: function.to_string(), unit, count, most })
}

/// Gives every function its number, so that they can be made in any order. Functions of the runtime come first, so
/// that each has its position among them.
fn declare(program: &Program, numbers: &mut Numbers) -> Symbols {
    let runtime = RuntimeFn::ALL.into_iter().map(|f| (f, numbers.next())).collect();
    let entry = numbers.next();
    let tasks = program.tasks.ids().map(|_| numbers.next()).collect();
    let math = MathFn::ALL.into_iter().map(|_| numbers.next()).collect();
    Symbols { entry, tasks, runtime, math }
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
