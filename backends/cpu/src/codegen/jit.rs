//! Executable memory: compiled functions are linked with each other and the runtime, and freed when dropped.

#![allow(unsafe_code)]

use super::abi::RuntimeFn;
use crate::error::CpuError;
use crate::runtime::Worker;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::Signature;
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc, default_libcall_names};
use std::sync::{Mutex, PoisonError};

/// A module under construction.
pub(super) struct Linker {
    /// `None` only after `finish`.
    module: Option<JITModule>,
}

/// The machine code of one function.
pub(super) struct MachineCode {
    pub(super) id: FuncId,
    pub(super) align: u64,
    pub(super) bytes: Vec<u8>,
    pub(super) relocs: Vec<ModuleReloc>,
}

impl Linker {
    /// An empty module that knows the functions of the runtime.
    pub(super) fn new(isa: OwnedTargetIsa) -> Linker {
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for f in RuntimeFn::ALL {
            let (name, address, ..) = f.describe();
            builder.symbol(name, address);
        }
        Linker { module: Some(JITModule::new(builder)) }
    }
    /// Declares a function of the runtime or of the module.
    pub(super) fn declare(&mut self, name: &str, local: bool, signature: &Signature) -> Result<FuncId, CpuError> {
        let linkage = if local { Linkage::Local } else { Linkage::Import };
        self.module().declare_function(name, linkage, signature).map_err(failed)
    }
    /// Adds the code of a declared function.
    pub(super) fn define(&mut self, code: &MachineCode) -> Result<(), CpuError> {
        // Absolute addresses only: relative ones might not reach, and Cranelift panics on other kinds.
        debug_assert!(code.relocs.iter().all(|r| !matches!(r.kind, Reloc::X86CallPCRel4)));
        self.module().define_function_bytes(code.id, code.align, &code.bytes, &code.relocs).map_err(failed)
    }
    /// Links everything and makes it executable. `entry` is the function that runs start with.
    pub(super) fn finish(mut self, entry: FuncId) -> Result<LinkedCode, CpuError> {
        self.module().finalize_definitions().map_err(failed)?;
        let address = self.module().get_finalized_function(entry);
        // SAFETY: `entry` was compiled with the signature of `EntryFn` and the machine's own calling convention.
        let entry = unsafe { std::mem::transmute::<*const u8, EntryFn>(address) };
        Ok(LinkedCode { module: Mutex::new(self.module.take()), entry })
    }
    fn module(&mut self) -> &mut JITModule {
        self.module.as_mut().expect("the module is there until `finish`, which consumes the linker")
    }
}

impl Drop for Linker {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: none of its functions has been handed out.
            unsafe { module.free_memory() }
        }
    }
}

type EntryFn = for<'a> extern "C" fn(*mut Worker<'a>) -> i64;

/// Linked, executable code. Dropping it frees the memory, which Cranelift's module by itself would leak.
pub(crate) struct LinkedCode {
    /// Only to be freed; the mutex makes it shareable.
    module: Mutex<Option<JITModule>>,
    entry: EntryFn,
}

impl LinkedCode {
    /// The address of a function of the module.
    pub(crate) fn address(&self, function: FuncId) -> u64 {
        let module = self.module.lock().unwrap_or_else(PoisonError::into_inner);
        module.as_ref().map_or(0, |module| module.get_finalized_function(function) as u64)
    }
    /// Runs the program with `worker`. Returns 0, or 1 after a fault that the worker's run has recorded.
    pub(crate) fn enter(&self, worker: &mut Worker<'_>) -> i64 {
        (self.entry)(worker)
    }
}

impl Drop for LinkedCode {
    fn drop(&mut self) {
        let module = self.module.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = module.take() {
            // SAFETY: code runs only within `enter`, which borrows `self`.
            unsafe { module.free_memory() }
        }
    }
}

fn failed(error: ModuleError) -> CpuError {
    match error {
        ModuleError::Allocation { .. } => CpuError::Memory(error.to_string()),
        other => CpuError::Codegen(other.to_string()),
    }
}
