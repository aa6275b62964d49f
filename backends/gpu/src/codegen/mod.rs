//! From a kernel of the loop IR to a naga module, without a driver.
//!
//! [`compile`] is the table of contents: the bindings (`layout`) and the entry point (`kernel`), whose body is made
//! statement by statement (`stmt`) of expressions (`expr`), with the places of statements for whoever reads the text
//! (`code_places`), and naga's validator over what came out.
//!
//! The lower files build on each other: `types` (in which registers values live), `builder` (naga's expressions and
//! statements), `contraction_barrier` (what keeps drivers from changing what floats compute), `helper` (functions of
//! the shader), then operators, of which many are those of `halide_backend` over the primitives of `lane_ops` (`int`,
//! `divide`, `shift`, `idiom`, `float`, `half`, `math`, `convert`), `memo` (value numbering), memory (`places`,
//! `place`, `align`, `load`, `store`, `run`, `scalar_replacement`, `atomic`, `lanes`) and statements. [`range`] is for
//! whoever dispatches: whether 32 bits are enough for the coordinates at hand.
//!
//! **What is promised.** A shader computes, bit for bit, what `halide_core::value` says, on a device whose f32 and f64
//! operations are correctly rounded and keep subnormal numbers and NaNs (lavapipe's do). Vulkan promises less of
//! division, square roots, subnormal numbers and NaNs, see `float`; integers are exact everywhere.
//!
//! **What is relied on.** Accesses are in bounds, as lowering promises, also in both arms of a `Select`; lanes that a
//! mask turns off access nothing. So shaders need no checks of bounds, though a driver or wgpu may add them. All loops
//! end. Control flow of block code is the same for all threads of a block, so barriers are met by all; no thread
//! returns early.
//!
//! **Floats.** Drivers fuse and cancel float operations where they see them, and naga cannot forbid it, so floats pass
//! from one operation to the next through an exclusive or with a zero from memory (`contraction_barrier`).
//!
//! **Integers.** Vectors are lists of scalars, memory is words. Coordinates are computed in 32 bits; intervals decide
//! before each dispatch if they fit, of ever fewer blocks where those of all say too little. Small elements of which
//! threads share words are stored by clearing and setting their own bits, which two threads may do to one element
//! (`store`), whole words by plain stores (`run`).

mod align;
mod atomic;
mod builder;
mod code_places;
mod contraction_barrier;
mod convert;
mod divide;
mod expr;
mod float;
mod half;
mod helper;
mod idiom;
mod int;
mod kernel;
mod lane_ops;
mod lanes;
mod layout;
mod load;
mod math;
mod memo;
mod options;
mod place;
mod places;
pub mod range;
mod run;
mod scalar_replacement;
mod shift;
mod state;
mod stmt;
mod store;
mod types;

pub use layout::{Binding, Layout, Part, parts};
pub use options::{Features, Options};

use crate::error::GpuError;
use halide_ir::code_place::{CodePlace, PlaceTable};
use halide_ir::{KernelId, Program};
use naga::back::{spv, wgsl};
use naga::valid::{Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};

/// A kernel as a shader.
#[derive(Debug)]
pub struct KernelCode {
    /// The kernel's name, for messages.
    pub name: String,
    /// The shader: one compute entry point, `main`.
    pub module: naga::Module,
    /// The results of naga's validation.
    pub info: ModuleInfo,
    /// The layout of its bindings.
    pub layout: Layout,
    /// Threads of a block.
    pub workgroup: [u32; 3],
    /// The places of statements, whose numbers are their spans in `module`.
    pub places: PlaceTable,
}

impl KernelCode {
    /// The shader as WGSL.
    pub fn wgsl(&self) -> Result<String, GpuError> {
        wgsl::write_string(&self.module, &self.info, wgsl::WriterFlags::empty())
            .map_err(|e| self.invalid(e.to_string()))
    }
    /// The lines of the shader as WGSL, each with the place of its statement.
    ///
    /// # Errors
    /// As of [`KernelCode::wgsl`].
    pub fn wgsl_lines(&self, features: Features) -> Result<Vec<(String, Option<CodePlace>)>, GpuError> {
        let text = self.wgsl()?;
        code_places::lines((&self.module, &self.places), &text, &|module| validate(module, features))
            .map_err(|reason| self.invalid(reason))
    }
    /// The shader as SPIR-V, with names; `spirv-dis` prints it. What wgpu gives a driver may have more checks.
    pub fn spirv(&self) -> Result<Vec<u32>, GpuError> {
        // Subgroups are there from version 1.3 on.
        let mut options = spv::Options { lang_version: (1, 3), ..spv::Options::default() };
        options.flags |= spv::WriterFlags::DEBUG;
        spv::write_vec(&self.module, &self.info, &options, None).map_err(|e| self.invalid(e.to_string()))
    }
    /// [`KernelCode::spirv`] as text: the words of the header, then those of each instruction, in hexadecimal.
    pub fn spirv_text(&self) -> Result<String, GpuError> {
        const HEADER: usize = 5;
        let words = self.spirv()?;
        let mut text = String::new();
        let mut at = 0;
        while at < words.len() {
            let length = if at == 0 { HEADER } else { (words[at] >> 16).max(1) as usize };
            let end = words.len().min(at + length);
            let line: Vec<String> = words[at..end].iter().map(|w| format!("{w:08x}")).collect();
            text += &format!("{}\n", line.join(" "));
            at = end;
        }
        Ok(text)
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
    let layout = Layout::new(program, kernel, *options).map_err(|stop| stop.in_kernel(&kernel.name))?;
    let made = kernel::module(program, kernel, &layout, *options).map_err(|stop| stop.in_kernel(&kernel.name))?;
    let (module, places) = made;
    let info = validate(&module, options.features)
        .map_err(|reason| GpuError::Invalid { kernel: kernel.name.clone(), reason })?;
    let workgroup = module.entry_points.first().map_or(kernel.threads, |entry| entry.workgroup_size);
    Ok(KernelCode { name: kernel.name.clone(), module, info, layout, workgroup, places })
}

/// naga's findings about a module that it accepts; otherwise its complaint.
fn validate(module: &naga::Module, features: Features) -> Result<ModuleInfo, String> {
    let mut allowed = Capabilities::empty();
    allowed.set(Capabilities::SHADER_INT64, features.int64);
    allowed.set(Capabilities::FLOAT64, features.float64);
    allowed.set(Capabilities::SUBGROUP, features.subgroup.is_some());
    Validator::new(ValidationFlags::all(), allowed)
        .subgroup_stages(ShaderStages::COMPUTE)
        .subgroup_operations(SubgroupOperationSet::BASIC | SubgroupOperationSet::SHUFFLE)
        .validate(module)
        .map_err(|e| e.emit_to_string_with_path("", "kernel"))
}
