//! Executable memory: compiled functions are linked with each other and the runtime, and freed when dropped.

#![allow(unsafe_code)]

use super::abi::RuntimeFn;
use crate::code_image::{Callee, CodeImage, ImageFunction};
use crate::error::CpuError;
use crate::runtime::Worker;
use cranelift_codegen::binemit::Reloc;
use cranelift_codegen::ir::{LibCall, Signature};
use cranelift_codegen::isa::OwnedTargetIsa;
use cranelift_jit::{JITBuilder, JITModule};
use cranelift_module::{FuncId, Linkage, Module, ModuleError, ModuleReloc, ModuleRelocTarget, default_libcall_names};
use std::sync::{Mutex, PoisonError};

/// Links code with the runtime and makes it executable.
pub(super) fn link(image: &CodeImage, isa: OwnedTargetIsa) -> Result<LinkedCode, CpuError> {
    let mut linker = Linker::new(isa);
    let runtime = RuntimeFn::ALL.map(|f| linker.declare(f.describe().0, Linkage::Import));
    let runtime = runtime.into_iter().collect::<Result<Vec<_>, _>>()?;
    let own = (0..image.functions.len()).map(|i| linker.declare(&format!("f{i}"), Linkage::Local));
    let own = own.collect::<Result<Vec<_>, _>>()?;
    for (id, function) in own.iter().zip(&image.functions) {
        linker.define(*id, function, &own, &runtime)?;
    }
    linker.finish(own)
}

/// A module under construction.
struct Linker {
    /// `None` only after `finish`.
    module: Option<JITModule>,
    signature: Signature,
}

impl Linker {
    /// An empty module that knows the functions of the runtime.
    fn new(isa: OwnedTargetIsa) -> Linker {
        // Calls are machine code by now, so nobody asks for the signatures of functions.
        let signature = Signature::new(isa.default_call_conv());
        let mut builder = JITBuilder::with_isa(isa, default_libcall_names());
        for f in RuntimeFn::ALL {
            let (name, address) = f.describe();
            builder.symbol(name, address);
        }
        Linker { module: Some(JITModule::new(builder)), signature }
    }
    fn declare(&mut self, name: &str, linkage: Linkage) -> Result<FuncId, CpuError> {
        let signature = self.signature.clone();
        self.module().declare_function(name, linkage, &signature).map_err(failed)
    }
    /// Adds the code of a declared function.
    fn define(
        &mut self,
        id: FuncId,
        function: &ImageFunction,
        own: &[FuncId],
        runtime: &[FuncId],
    ) -> Result<(), CpuError> {
        let user = |id: Option<&FuncId>| id.map(|id| ModuleRelocTarget::user(0, id.as_u32()));
        let relocs = function.addresses.iter().map(|address| {
            let name = match &address.of {
                Callee::Image(n) => user(own.get(*n as usize)),
                Callee::Runtime(n) => user(runtime.get(*n as usize)),
                Callee::System(name) => name.parse::<LibCall>().ok().map(ModuleRelocTarget::LibCall),
            };
            let name = name.ok_or_else(|| CpuError::Codegen(format!("{:?} is called, which is not there", address.of)));
            // Absolute addresses only: relative ones might not reach.
            Ok(ModuleReloc { offset: address.offset, kind: Reloc::Abs8, name: name?, addend: address.addend })
        });
        let relocs = relocs.collect::<Result<Vec<_>, CpuError>>()?;
        self.module().define_function_bytes(id, function.align, &function.bytes, &relocs).map_err(failed)
    }
    /// Links everything and makes it executable. Runs start with the first of `functions`.
    fn finish(mut self, functions: Vec<FuncId>) -> Result<LinkedCode, CpuError> {
        self.module().finalize_definitions().map_err(failed)?;
        let first = functions.first().ok_or_else(|| CpuError::Codegen("there is no function to run".into()))?;
        let address = self.module().get_finalized_function(*first);
        // SAFETY: the first function of an image was compiled with the signature of `EntryFn` and the machine's own
        // calling convention.
        let entry = unsafe { std::mem::transmute::<*const u8, EntryFn>(address) };
        Ok(LinkedCode { module: Mutex::new(self.module.take()), functions, entry })
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
    /// The functions of the image, in their order.
    functions: Vec<FuncId>,
    entry: EntryFn,
}

impl LinkedCode {
    /// The addresses of the functions of the image, in their order.
    pub(crate) fn addresses(&self) -> Vec<u64> {
        let module = self.module.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(module) = module.as_ref() else { return Vec::new() };
        self.functions.iter().map(|function| module.get_finalized_function(*function) as u64).collect()
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
