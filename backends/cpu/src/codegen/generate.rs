//! Functions of Cranelift's IR become machine code, several at a time.
//!
//! On threads of its own: who compiles may hold a lock meanwhile (`halide/once_map`), so nothing here may wait for work
//! of rayon's, which would take up other work while it waits, and that may want the same lock.

use super::frames::Frame;
use super::func::EmittedFunction;
use super::high_words;
use super::jit::MachineCode;
use crate::error::CpuError;
use crate::host::Effort;
use crate::options::Texts;
use crate::tuning::HELPER_INSTRUCTIONS;
use cranelift_codegen::Context;
use cranelift_codegen::isa::{OwnedTargetIsa, TargetIsa};
use cranelift_module::ModuleReloc;
use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// The threads that help to generate code now, for all who compile.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// The leave to start one thread, unless `most` help already.
struct Helper;

impl Helper {
    fn new(most: usize) -> Option<Helper> {
        let next = |now: usize| (now < most).then_some(now + 1);
        HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, next).ok().map(|_| Helper)
    }
}

impl Drop for Helper {
    fn drop(&mut self) {
        HELPERS.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Machine code for every function, in their order, by no more threads than parallel loops have. The calling thread
/// takes part; others help where there is enough for them to do.
pub(super) fn generate_all(
    isas: &BTreeMap<Effort, OwnedTargetIsa>,
    made: Vec<EmittedFunction>,
    keep_text: bool,
) -> Result<Vec<Compiled>, CpuError> {
    let helpers = helpers(made.iter().map(|m| m.clif.dfg.num_insts()));
    let queue = Mutex::new(made.into_iter().enumerate());
    let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
    let take = &|| {
        let mut done = Vec::new();
        while let Some((i, m)) = next() {
            done.push((i, generate(&*isas[&m.effort], m, keep_text)));
        }
        done
    };
    let most = if helpers == 0 { 0 } else { rayon::current_num_threads() - 1 };
    let mut all = thread::scope(|scope| {
        let start = |helper: Helper| {
            let help = move || {
                let _helper = helper;
                take()
            };
            // Without a thread there is no help.
            thread::Builder::new().name("halide-compile".into()).spawn_scoped(scope, help).ok()
        };
        let started: Vec<_> = (0..helpers.min(most)).map_while(|_| Helper::new(most).and_then(start)).collect();
        let mut all = take();
        for thread in started {
            all.extend(thread.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        all
    });
    all.sort_by_key(|(i, _)| *i);
    all.into_iter().map(|(_, code)| code).collect()
}

/// The number of threads that are worth their start for functions of so many instructions each: the calling thread has
/// the largest to itself.
fn helpers(instructions: impl ExactSizeIterator<Item = usize>) -> usize {
    let functions = instructions.len();
    let (all, largest) = instructions.fold((0, 0), |(all, largest): (usize, usize), n| (all + n, largest.max(n)));
    ((all - largest) / HELPER_INSTRUCTIONS).min(functions.saturating_sub(1))
}

/// A function as machine code.
pub(super) struct Compiled {
    pub(super) code: MachineCode,
    pub(super) frame: Frame,
    pub(super) text: Texts,
}

/// The return address and the caller's frame pointer, which lie above a frame as Cranelift counts it.
const ABOVE_FRAME: u64 = 16;

fn generate(isa: &dyn TargetIsa, made: EmittedFunction, keep_text: bool) -> Result<Compiled, CpuError> {
    let EmittedFunction { id, name, clif, calls, .. } = made;
    let mut text = Texts::default();
    if keep_text {
        text.clif = format!("; {name}\n{clif}\n");
    }
    let mut context = Context::for_function(clif);
    context.set_disasm(keep_text);
    let compiled = high_words::compile(&mut context, isa);
    let (compiled, bytes) = compiled.map_err(|e| CpuError::Codegen(format!("{name}: {e}")))?;
    let align = u64::from(compiled.buffer.alignment)
        .max(u64::from(isa.function_alignment().minimum))
        .max(isa.symbol_alignment());
    if let Some(vcode) = &compiled.vcode {
        text.asm = format!("; {name}\n{}\n", vcode.replace("pmulhrsw", "pmulhuw"));
    }
    let relocs = compiled.buffer.relocs().to_vec();
    let relocs = relocs.iter().map(|r| ModuleReloc::from_mach_reloc(r, &context.func, id)).collect();
    let layout = compiled.buffer.frame_layout();
    let layout = layout.ok_or_else(|| CpuError::Codegen(format!("{name}: the size of its frame is not said")))?;
    let frame = Frame { id, name, bytes: u64::from(layout.frame_to_fp_offset) + ABOVE_FRAME, calls };
    Ok(Compiled { code: MachineCode { id, align, bytes, relocs }, frame, text })
}
