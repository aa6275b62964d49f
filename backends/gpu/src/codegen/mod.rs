//! From a kernel of the loop IR to a naga module.

mod align;
mod builder;
mod convert;
mod divide;
mod expr;
mod float;
mod half;
mod helper;
mod idiom;
mod int;
mod kernel;
mod layout;
mod load;
mod math;
mod memo;
mod opaque;
mod place;
pub mod range;
mod registers;
mod shift;
mod stmt;
mod store;
mod types;

pub use layout::{Binding, Layout, Part, parts};

use crate::GpuError;
use halide_sched::ir::{KernelId, Program};
use naga::back::{spv, wgsl};
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

/// What the device at hand can do beyond what every device can.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Features {
    /// 64-bit integers.
    pub int64: bool,
    /// 64-bit floats. Their bits pass through 64-bit integers, so these are needed too.
    pub float64: bool,
}

/// How to compile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Options {
    /// What the device can do.
    pub features: Features,
    /// Whether to store pieces of words where the code would otherwise take strides of the caller's to be multiples of a word:
    /// for arguments that [`Layout::serves`] refuses.
    pub pieces: bool,
}

/// A kernel as a shader.
#[derive(Debug)]
pub struct KernelCode {
    /// The kernel's name, for messages.
    pub name: String,
    /// The shader: one compute entry point, `main`.
    pub module: naga::Module,
    /// What naga found out about it when it validated it.
    pub info: ModuleInfo,
    /// What its bindings hold.
    pub layout: Layout,
    /// Threads of a block.
    pub workgroup: [u32; 3],
}

impl KernelCode {
    /// The shader as WGSL.
    pub fn wgsl(&self) -> Result<String, GpuError> {
        wgsl::write_string(&self.module, &self.info, wgsl::WriterFlags::empty())
            .map_err(|e| self.invalid(e.to_string()))
    }
    /// The shader as SPIR-V, as naga writes it for a driver that checks bounds itself; `spirv-dis` prints it.
    pub fn spirv(&self) -> Result<Vec<u32>, GpuError> {
        let options = spv::Options { debug_info: None, ..spv::Options::default() };
        spv::write_vec(&self.module, &self.info, &options, None).map_err(|e| self.invalid(e.to_string()))
    }

    fn invalid(&self, reason: String) -> GpuError {
        GpuError::Invalid { kernel: self.name.clone(), reason }
    }
}

/// Makes the shader of a kernel of `program`, which is at stage `Final`.
pub fn compile(program: &Program, id: KernelId, options: &Options) -> Result<KernelCode, GpuError> {
    let Some(kernel) = program.kernels.get(id) else {
        return Err(GpuError::Malformed { kernel: format!("{id:?}"), what: "it is not in the table".to_string() });
    };
    let layout = Layout::new(program, kernel, *options).map_err(|stop| stop.of(&kernel.name))?;
    let module = kernel::module(program, kernel, &layout, *options).map_err(|stop| stop.of(&kernel.name))?;
    let info = validate(&module, options.features)
        .map_err(|reason| GpuError::Invalid { kernel: kernel.name.clone(), reason })?;
    Ok(KernelCode { name: kernel.name.clone(), module, info, layout, workgroup: kernel.threads })
}

/// naga's findings about a module that it accepts; otherwise its complaint.
fn validate(module: &naga::Module, features: Features) -> Result<ModuleInfo, String> {
    let mut allowed = Capabilities::empty();
    allowed.set(Capabilities::SHADER_INT64, features.int64);
    allowed.set(Capabilities::FLOAT64, features.float64);
    Validator::new(ValidationFlags::all(), allowed)
        .validate(module)
        .map_err(|e| e.emit_to_string_with_path("", "kernel"))
}
