//! Ahead-of-time compilation: a pipeline as an object that a linker makes part of a program without a compiler in it.
//!
//! ```
//! use halide::prelude::*;
//! let (input, gain) = (ImageParam::new("input", U8, 2), Param::<u8>::new("gain").with_default(2));
//! let (x, y) = vars!(x, y);
//! let mut brighter = Func::new("brighter");
//! brighter[(x, y)] = input[(x, y)] * gain;
//! let schedule = "brighter: vectorize(x, 16) parallel(y)".parse()?;
//! let compiled = Pipeline::new([&brighter])?.compile(&schedule, &Target::host())?;
//! # if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
//! let object = compiled.object("brighter")?;
//! // To be written to brighter.o and brighter.h.
//! let (code, header) = (object.bytes(), object.header());
//! # let _ = code;
//! assert!(header.contains("int brighter(uint8_t gain, const halide_buffer *input, const halide_buffer *brighter_"));
//! # }
//! # Ok::<(), Error>(())
//! ```
//!
//! The program is linked with the library of the crate `halide-runtime`, which has the checks of calls, memory and
//! threads, and no compiler: `cargo build --release -p halide-runtime`, then
//! `cc main.c brighter.o target/release/libhalide_runtime.a -lpthread -lm -ldl`.
//!
//! # Variants
//!
//! A [`Compiled`] begins with its main variant, and makes others when a call needs them. An object has all that a call
//! can lead to (`family`): those for small outputs and tight inputs, for rows with gaps, for accesses that are checked
//! where they stand, and for any of these together, as far as the main variant has faults that lead there. Calls run
//! the same code as those of a [`Compiled`], but for interleaved buffers, which those for rows with gaps take. Not part
//! of it is what calls in C cannot ask for: outputs in the memory of inputs, and profiles.
//!
//! # Machines
//!
//! Code uses the extensions of the processor that it is made on, unless the target has
//! [`features`](crate::target::Target): a call on a machine that lacks one of [`ObjectCode::needs`] is refused.

mod family;
mod header;
pub(crate) mod problem;

pub use problem::ObjectProblem;

use crate::compiled::Compiled;
use crate::engine::Engine;
use crate::error::Error;
use crate::run::requires;
use crate::variant_code::Variant;
use crate::variant_key::VariantKey;
use family::Family;
use halide_core::pipeline::PipelineData;
use halide_cpu::CpuOptions;
use halide_cpu::object::{ObjectTables, object_file};
use halide_ir::features::CpuFeatures;

/// An object with the machine code of a pipeline: made by [`Compiled::object`]. Equal pipelines under equal schedules
/// and targets give equal bytes, if the machine that compiles has the same extensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectCode {
    name: String,
    bytes: Vec<u8>,
    header: String,
    variants: Vec<VariantKey>,
    needs: CpuFeatures,
}

impl ObjectCode {
    /// Returns the object: a relocatable file in the format ELF, to be written to `NAME.o`.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
    /// Returns the header for C and C++, to be written to `NAME.h`. It declares what the runtime has, too, and a
    /// function of the object's name that takes parameters, images and outputs in the order of the pipeline, each
    /// output one buffer per tuple element, and room for a message. It returns 0, or a number that the header explains.
    pub fn header(&self) -> &str {
        &self.header
    }
    /// Returns the declaration for Rust: a symbol with the methods of `halide_runtime::Pipeline`.
    pub fn binding(&self) -> String {
        let name = &self.name;
        format!(
            "unsafe extern \"C\" {{\n    /// `{name}`, compiled by halide.\n    pub safe static {name}_pipeline: \
             halide_runtime::Pipeline;\n}}\n"
        )
    }
    /// Returns the variants that the object has, the main one first.
    pub fn variants(&self) -> &[VariantKey] {
        &self.variants
    }
    /// Returns the extensions of x86-64 that the code may use.
    pub fn needs(&self) -> CpuFeatures {
        self.needs
    }
}

impl Compiled {
    /// Compiles the pipeline into an object for linking, whose symbols begin with `name`: see [`crate::object`].
    ///
    /// # Errors
    /// [`Error::Object`]: the engine is another than [`Engine::Cpu`]; the pipeline has extern stages, memoized Funcs or
    /// requirements, of which parts run in this process; or `name` is no identifier of C. [`Error::Cpu`]: the system is
    /// another than x86-64 Linux, or a variant has more code than the target allows.
    pub fn object(&self, name: &str) -> Result<ObjectCode, Error> {
        self.check_object(name).map_err(Error::Object)?;
        let plan = &self.parts.plan;
        let options = Variant::options(plan, false)?;
        let needs = options.features.unwrap_or_else(CpuFeatures::host);
        // Extensions are those that are told, so that the code has no others.
        let options = CpuOptions { features: Some(needs), keep_text: false, note_mnemonics: false, ..options };
        let Family { keys, tables, images } = Family::compile(plan, &options)?;
        let interface = PipelineData::clone(&self.parts.pipeline);
        let header = header::header(name, &interface, needs);
        let tables = ObjectTables { needs, interface, variants: tables };
        let bytes = object_file(name, &tables, &images).map_err(Error::Cpu)?;
        Ok(ObjectCode { name: name.to_string(), bytes, header, variants: keys, needs })
    }

    fn check_object(&self, name: &str) -> Result<(), ObjectProblem> {
        if !header::is_identifier(name) {
            return Err(ObjectProblem::Name { name: name.to_string() });
        }
        if self.parts.engine != Engine::Cpu {
            return Err(ObjectProblem::Engine { engine: format!("{:?}", self.parts.engine) });
        }
        if self.parts.whole.is_some() || !self.parts.plan.callees.is_empty() {
            return Err(ObjectProblem::Stages);
        }
        if requires(&self.parts.pipeline) {
            return Err(ObjectProblem::Requirements);
        }
        Ok(())
    }
}
