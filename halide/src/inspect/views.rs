//! Views of an inspection as text: the loop nest, the lowered program, what every pass did and did not do, code. Each
//! does only what it needs.

use super::code::Generated;
use super::lowering::Lowering;
use super::rows::{CodeUnit, DefinitionRow, Language, LoopRow};
use super::{Inspection, Stored, decisions, nest, storage};
use crate::compiled::Compiled;
use crate::error::Error;
use crate::variant_key::VariantKey;
use halide_sched::lower::regions::explain_bounds::{NotExplained, explain_bounds};
use halide_sched::lower::{LowerOptions, Lowered, Snapshots, lower, lower_to_bounded};

impl Compiled {
    /// The loop nest: where every Func is stored and computed, and how each loop runs.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn loops(&self) -> Result<String, Error> {
        // What cannot be lowered any further has loops all the same.
        let Lowered { program, .. } = lower_to_bounded(self.plan(), &LowerOptions::default()).map_err(Error::Lower)?;
        Ok(nest::text(&nest::rows(&program, self.plan()).0))
    }

    /// The lowered program, as backends take it.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn ir(&self) -> Result<String, Error> {
        Ok(Lowering::of(self)?.program().to_string())
    }

    /// Every buffer of the main variant, inputs and outputs first.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn storage(&self) -> Result<Vec<Stored>, Error> {
        Ok(storage::rows(Lowering::of(self)?.program()))
    }

    /// The program after every pass of lowering that changed it, with the name of the pass.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn passes(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let options = LowerOptions { snapshots: Snapshots::All, ..VariantKey::default().options() };
        let lowered = lower(self.plan(), &options).map_err(Error::Lower)?;
        let mut texts: Vec<(&'static str, String)> = Vec::new();
        for pass in lowered.trace.passes {
            let Some(text) = pass.after.map(|p| p.to_string()) else { continue };
            if texts.last().is_none_or(|(_, before)| *before != text) {
                texts.push((pass.name, text));
            }
        }
        Ok(texts)
    }

    /// Explains what slid, folded, vectorized and so on, and what did not and why; then lists the variants of the code.
    ///
    /// # Errors
    /// The schedule cannot be lowered, or not be made machine code.
    pub fn explain(&self) -> Result<String, Error> {
        let lowering = Lowering::of(self)?;
        let code = Generated::of(self, lowering.program(), false)?;
        Ok(decisions::text(&decisions::rows(self, &lowering, &code)))
    }

    /// Cranelift's input: the functions of the program before they become machine code.
    ///
    /// # Errors
    /// The schedule cannot be lowered, or not be made machine code, as for kernels.
    #[cfg(feature = "cpu")]
    pub fn clif(&self) -> Result<String, Error> {
        let lowering = Lowering::of(self)?;
        Ok(super::code::Machine::of(self, lowering.program(), true)?.clif())
    }

    /// The machine code as text: for each instruction its offset in the function, what it is for, and the definition
    /// and the loop that it belongs to. On other processors than x86-64 it is as the code generator prints it.
    ///
    /// # Errors
    /// As of [`Compiled::clif`].
    #[cfg(feature = "cpu")]
    pub fn asm(&self) -> Result<String, Error> {
        let lowering = Lowering::of(self)?;
        let (definitions, _) = super::definitions::rows(self.plan());
        let (_, loops) = nest::rows(lowering.bounded(), self.plan());
        let code = super::code::Machine::of(self, lowering.program(), true)?.units(self, lowering.program(), &loops);
        Ok(code.iter().map(|unit| listing(&definitions, &loops.rows, unit)).collect())
    }

    /// The kernels for the GPU in the shading language of WebGPU; empty if there are none.
    ///
    /// # Errors
    /// A kernel that the device cannot run.
    #[cfg(feature = "gpu")]
    pub fn wgsl(&self) -> Result<String, Error> {
        self.kernels(|code| code.wgsl())
    }

    /// The kernels for the GPU as SPIR-V, the form that Vulkan takes: a line of hexadecimal words for
    /// each instruction.
    ///
    /// # Errors
    /// A kernel that the device cannot run.
    #[cfg(feature = "gpu")]
    pub fn spirv(&self) -> Result<String, Error> {
        self.kernels(|code| code.spirv_text())
    }

    #[cfg(feature = "gpu")]
    fn kernels(
        &self,
        text: impl Fn(&halide_gpu::codegen::KernelCode) -> Result<String, halide_gpu::GpuError>,
    ) -> Result<String, Error> {
        let Some((program, device)) = self.on_device() else { return Ok(String::new()) };
        let features = device.gpu().features();
        let options = halide_gpu::codegen::Options { features, ..halide_gpu::codegen::Options::default() };
        let mut all = String::new();
        for (id, kernel) in program.kernels.enumerate() {
            let code = halide_gpu::codegen::compile(program, id, &options)?;
            all += &format!("// kernel {}, blocks of {:?} threads\n{}\n", kernel.name, kernel.threads, text(&code)?);
        }
        Ok(all)
    }

    /// Explains what demanded each edge of the region of the Func called `func`: over the run, and per iteration of
    /// each loop that it is computed in. Each line names the coordinate, the consumer's definition with its place, and
    /// what that reads.
    ///
    /// # Errors
    /// A Func that there is not, or that is substituted where it is used.
    pub fn explain_bounds(&self, func: &str) -> Result<String, Error> {
        let pipeline = &self.plan().pipeline;
        let known = || pipeline.order.iter().map(|f| pipeline.funcs[*f].name.clone()).collect::<Vec<String>>();
        let id = pipeline.order.iter().copied().find(|f| pipeline.funcs[*f].name == func);
        let id = id.ok_or_else(|| Error::NoFunc { func: func.to_string(), known: known() })?;
        let reasons = explain_bounds(self.plan(), &LowerOptions::default(), id).map_err(|error| match error {
            NotExplained::Inline => Error::InlineFunc { func: func.to_string() },
            NotExplained::Lower(errors) => Error::Lower(errors),
        })?;
        let (mut text, mut per) = (String::new(), None);
        for reason in &reasons {
            if per.as_ref() != Some(&reason.per) {
                per = Some(reason.per.clone());
                text += &match &reason.per {
                    None => format!("`{func}` over the whole run\n"),
                    Some(l) => format!("`{func}` per iteration of {l}\n"),
                };
            }
            text += &format!("{reason}\n");
        }
        Ok(text)
    }
}

impl Inspection {
    /// The loop nest as text.
    pub fn nest_text(&self) -> String {
        nest::text(&self.nest)
    }

    /// The decisions as text.
    pub fn decisions_text(&self) -> String {
        decisions::text(&self.decisions)
    }

    /// A function or a kernel as text, with the definition, the loop and the purpose of each line beside it.
    pub fn listing(&self, unit: &CodeUnit) -> String {
        listing(&self.definitions, &self.loops, unit)
    }
}

/// The lines of a unit, each with what it belongs to.
fn listing(definitions: &[DefinitionRow], loops: &[LoopRow], unit: &CodeUnit) -> String {
    let comment = match unit.language {
        Language::Machine => ";",
        Language::Wgsl => "//",
    };
    let mut text = format!("{comment} {}\n", unit.name);
    for line in &unit.lines {
        let mut beside: Vec<String> = Vec::new();
        if let Some(definition) = line.definition.and_then(|id| definitions.get(id.0)) {
            beside.push(match definition.update.checked_sub(1) {
                None => definition.func.clone(),
                Some(update) => format!("{}.update({update})", definition.func),
            });
        }
        beside.extend(line.within.and_then(|id| loops.get(id.0)).map(|of| format!("in {}", of.name)));
        beside.extend(line.purpose.filter(|p| *p != super::Purpose::Body).map(|p| p.word().to_string()));
        text += &match beside.is_empty() {
            true => format!("{}\n", line.text),
            false => format!("{:<56} {comment} {}\n", line.text, beside.join(", ")),
        };
    }
    text
}
