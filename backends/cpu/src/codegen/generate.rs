//! Functions of Cranelift's IR become machine code, several at a time.
//!
//! The calling thread may hold a lock meanwhile (`halide/once_map`), so it must not wait for work of rayon's,
//! which would take up other work while it waits, and that may want the same lock. It offers its functions to the pool,
//! does all that nobody has taken, and waits only for those that other threads are at.

use super::frames::Frame;
use super::func::EmittedFunction;
use super::high_words::{self, PRODUCT};
use crate::error::CpuError;
use crate::host::Effort;
use crate::listing::{CodeLine, lines as listed, lines_of_text};
use crate::shared::code_map::CodeSpan;
use crate::tuning::HELPER_INSTRUCTIONS;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_codegen::{CompiledCode, Context, Final, MachSrcLoc};
use cranelift_module::{FuncId, ModuleReloc, ModuleRelocTarget};
use halide_ir::code_place::{CodePart, CodePlace, PlaceTable};
use std::collections::BTreeMap;
use std::iter::Enumerate;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::{thread, vec};

/// The functions that nobody has taken, and how to make code of them.
struct Work {
    isas: BTreeMap<Effort, OwnedTargetIsa>,
    /// The names of linked functions, if text is asked for.
    names: Option<Names>,
    queue: Mutex<Enumerate<vec::IntoIter<EmittedFunction>>>,
}

/// A function's place and its code, or the panic that was to be it.
type Done = (usize, thread::Result<Result<Compiled, CpuError>>);

impl Work {
    fn next(&self) -> Option<(usize, EmittedFunction)> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
    /// Takes functions until there are none. Sends one answer for each, whatever comes of it.
    fn take_all(&self, done: &Sender<Done>) {
        while let Some((i, made)) = self.next() {
            let one = || generate(&*self.isas[&made.effort], made, self.names.as_ref());
            // Nobody listens once the calling thread has panicked.
            let _ = done.send((i, catch_unwind(AssertUnwindSafe(one))));
        }
    }
}

/// Machine code for every function, in their order. The calling thread takes part; those of the pool that parallel
/// loops run in help where there is enough for them to do.
pub(super) fn generate_all(
    isas: BTreeMap<Effort, OwnedTargetIsa>,
    made: Vec<EmittedFunction>,
    names: Option<Names>,
) -> Result<Vec<Compiled>, CpuError> {
    let (count, helpers) = (made.len(), helpers(made.iter().map(|m| m.clif.dfg.num_insts())));
    let most = if helpers == 0 { 0 } else { rayon::current_num_threads() - 1 };
    let work = Arc::new(Work { isas, names, queue: Mutex::new(made.into_iter().enumerate()) });
    let (done, answers) = channel();
    for _ in 0..helpers.min(most) {
        let (work, done) = (work.clone(), done.clone());
        rayon::spawn(move || work.take_all(&done));
    }
    work.take_all(&done);
    // The rest is in the hands of threads that are running. Those that come too late find nothing and say nothing.
    let mut all: Vec<Done> = answers.iter().take(count).collect();
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, code)| code.unwrap_or_else(|panic| resume_unwind(panic))).collect()
}

/// The number of threads that are worth their start for functions of so many instructions each: the calling thread has
/// the largest to itself.
fn helpers(instructions: impl ExactSizeIterator<Item = usize>) -> usize {
    let functions = instructions.len();
    let (all, largest) = instructions.fold((0, 0), |(all, largest): (usize, usize), n| (all + n, largest.max(n)));
    ((all - largest) / HELPER_INSTRUCTIONS).min(functions.saturating_sub(1))
}

/// The machine code of one function.
pub(super) struct MachineCode {
    pub(super) id: FuncId,
    pub(super) align: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) relocs: Vec<ModuleReloc>,
}

/// A function as machine code.
pub(super) struct Compiled {
    pub(super) code: MachineCode,
    pub(super) frame: Frame,
    /// Cranelift's IR, if text is asked for.
    pub(super) clif: String,
    /// The instructions, if text is asked for.
    pub(super) lines: Vec<CodeLine>,
}

/// The return address and the caller's frame pointer, which lie above a frame as Cranelift counts it.
const ABOVE_FRAME: u64 = 16;

fn generate(isa: &dyn TargetIsa, made: EmittedFunction, names: Option<&Names>) -> Result<Compiled, CpuError> {
    let EmittedFunction { id, name, clif, calls, code_places, .. } = made;
    let text = names.map_or_else(String::new, |_| format!("; {name}\n{clif}\n"));
    let mut context = Context::for_function(clif);
    context.set_disasm(names.is_some() && cfg!(not(target_arch = "x86_64")));
    let compiled = high_words::compile(&mut context, isa);
    let (compiled, bytes) = compiled.map_err(|e| CpuError::Codegen(format!("{name}: {e}")))?;
    let align = u64::from(compiled.buffer.alignment)
        .max(u64::from(isa.function_alignment().minimum))
        .max(isa.symbol_alignment());
    let relocs = compiled.buffer.relocs().to_vec();
    let relocs: Vec<ModuleReloc> = relocs.iter().map(|r| ModuleReloc::from_mach_reloc(r, &context.func, id)).collect();
    let lines = match (names, &compiled.vcode) {
        (Some(_), Some(text)) => lines_of_text(text),
        (Some(names), None) => lines(&compiled, &bytes, code_places.as_ref(), &relocs, names),
        (None, _) => Vec::new(),
    };
    let layout = compiled.buffer.frame_layout();
    let layout = layout.ok_or_else(|| CpuError::Codegen(format!("{name}: the size of its frame is not said")))?;
    let frame = Frame { id, name, bytes: u64::from(layout.frame_to_fp_offset) + ABOVE_FRAME, calls };
    Ok(Compiled { code: MachineCode { id, align, bytes, relocs }, frame, clif: text, lines })
}

/// The names of functions that code calls, by their numbers.
pub(super) type Names = BTreeMap<u32, String>;

/// The instructions of a function as text, with their places.
///
/// Every block ends in an instruction with a source location, and constants lie behind the last one. The optimiser
/// copies instructions without their locations: such a copy has the place of the next instruction that has one, since
/// it is there for what follows. In front of the first one, registers of the caller are saved and arguments loaded.
fn lines(
    compiled: &CompiledCode,
    bytes: &[u8],
    table: Option<&PlaceTable>,
    relocs: &[ModuleReloc],
    names: &Names,
) -> Vec<CodeLine> {
    let located = compiled.buffer.get_srclocs_sorted();
    let known = located.iter().filter(|at| !at.loc.is_default());
    let place = |at: &MachSrcLoc<Final>| table.and_then(|table| table.place(at.loc.bits() & !PRODUCT));
    let mut spans: Vec<CodeSpan> = Vec::with_capacity(located.len());
    for (at, place) in known.filter_map(|at| Some((at, place(at)?))) {
        let frame = CodePlace { part: CodePart::Frame, ..CodePlace::default() };
        let (begun, place_before) = spans.last().map_or((0, frame), |span| (span.end, place));
        if begun < at.start {
            spans.push(CodeSpan { start: begun, end: at.start, place: place_before });
        }
        spans.push(CodeSpan { start: at.start, end: at.end, place });
    }
    let end = spans.last().map_or(bytes.len(), |span| span.end as usize);
    let symbol = |reloc: &ModuleReloc| match &reloc.name {
        ModuleRelocTarget::User { index, .. } => Some((reloc.offset as usize, names.get(index)?.clone())),
        _ => None,
    };
    listed(bytes, end, &spans, &relocs.iter().filter_map(symbol).collect())
}
