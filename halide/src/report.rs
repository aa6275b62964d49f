//! Reports on a schedule as text: the loop nest, the lowered program, what every pass did and did not do.

use crate::compiled::Compiled;
#[cfg(feature = "cpu")]
use crate::engine::Engine;
use crate::error::Error;
use crate::variant_key::VariantKey;
use crate::variants::Variants;
use halide_core::ids::FuncId;
use halide_ir::build::as_int;
use halide_ir::print::expr_in;
use halide_ir::visit::{deep, nested};
use halide_ir::{ForKind, Program, Stmt};
use halide_sched::lower::checks::trust::trust;
use halide_sched::lower::regions::explain_bounds::{NotExplained, explain_bounds};
use halide_sched::lower::{Decision, LowerOptions, Lowered, Outcome, lower, lower_to_bounded};
use std::collections::BTreeMap;
use std::fmt::Write;

impl Compiled {
    /// The loop nest: where every Func is stored and computed, and how each loop runs.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn loops(&self) -> Result<String, Error> {
        let Lowered { program, .. } = lower_to_bounded(self.plan(), &LowerOptions::default()).map_err(Error::Lower)?;
        let mut nest = Nest { program: &program, text: String::new(), depth: 0 };
        nest.stmt(&program.body);
        Ok(nest.text)
    }

    /// The lowered program, as backends take it.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn ir(&self) -> Result<String, Error> {
        let lowered = lower(self.plan(), &VariantKey::default().options()).map_err(Error::Lower)?;
        Ok(lowered.program.to_string())
    }

    /// The program after every pass of lowering that changed it, with the name of the pass.
    ///
    /// # Errors
    /// The schedule cannot be lowered.
    pub fn passes(&self) -> Result<Vec<(&'static str, String)>, Error> {
        let options = LowerOptions { keep_programs: true, ..VariantKey::default().options() };
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

    /// Cranelift's input: the functions of the program before they become machine code.
    ///
    /// # Errors
    /// The schedule cannot be lowered, or not be made machine code, as for kernels.
    #[cfg(feature = "cpu")]
    pub fn clif(&self) -> Result<String, Error> {
        Ok(self.with_text()?.clif().unwrap_or_default().to_string())
    }

    /// The machine code as text.
    ///
    /// # Errors
    /// As of [`Compiled::clif`].
    #[cfg(feature = "cpu")]
    pub fn asm(&self) -> Result<String, Error> {
        Ok(self.with_text()?.asm().unwrap_or_default().to_string())
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

    #[cfg(feature = "cpu")]
    fn with_text(&self) -> Result<halide_cpu::Executable, Error> {
        let lowered = lower(self.plan(), &VariantKey::default().options()).map_err(Error::Lower)?;
        let target = &self.plan().target;
        let options = halide_cpu::CpuOptions { keep_text: true, ..halide_cpu::CpuOptions::for_target(target) };
        halide_cpu::compile(&lowered.program, &options).map_err(Error::Cpu)
    }

    /// Explains the machine code: vectors as wide as the target's, reasons for narrower ones, and functions too large
    /// for good registers.
    #[cfg(feature = "cpu")]
    fn explain_code(&self, program: &Program) -> Result<String, Error> {
        let options = halide_cpu::CpuOptions::for_target(&self.plan().target);
        let code = halide_cpu::compile(program, &options).map_err(Error::Cpu)?;
        let mut text = String::new();
        if options.tier != halide_cpu::Tier::Baseline {
            let bits = options.tier.vector_bits();
            text += &format!("vectors of {bits} bits\n  + {} loop nests\n", code.stats().kernels);
        }
        let refused = code.refusals().iter();
        text += &counted(refused.map(|(name, why)| format!("- {name}: compiled for 128 bits, or loop by loop: {why}")));
        text += &explain_unrolled(code.unrolled());
        if !code.large().is_empty() {
            text += "large functions\n";
        }
        let why = "registers are assigned in one pass, which keeps more values in memory";
        text += &counted(code.large().iter().map(|name| format!("- {name}: {why}")));
        Ok(text)
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

    /// Explains what slid, folded, vectorized and so on, and what did not and why; then lists the variants of the code.
    ///
    /// # Errors
    /// The schedule cannot be lowered, or not be made machine code.
    pub fn explain(&self) -> Result<String, Error> {
        let options = LowerOptions { keep_programs: true, ..VariantKey::default().options() };
        let lowered = lower(self.plan(), &options).map_err(Error::Lower)?;
        let mut text = String::new();
        for pass in &lowered.trace.passes {
            if pass.decisions.is_empty() {
                continue;
            }
            text += &format!("{}\n", pass.name);
            let line = |decision: &Decision| {
                let mark = if matches!(decision.outcome, Outcome::Did(_)) { "+" } else { "-" };
                format!("{mark} {decision}")
            };
            text += &counted(pass.decisions.iter().map(line));
        }
        if let Some(whole) = lowered.trace.passes.iter().rev().find(|p| p.name == "place_copies") {
            let whole = whole.after.as_ref().expect("programs are kept");
            let lines = trust(whole).lines(whole, early_frees(&lowered.program));
            if !lines.is_empty() {
                text += "order\n";
            }
            text += &counted(lines.iter().map(|(proved, line)| format!("{} {line}", if *proved { "+" } else { "-" })));
        }
        #[cfg(feature = "cpu")]
        if self.engine() == Engine::Cpu {
            text += &self.explain_code(&lowered.program)?;
        }
        let variants = self.parts.variants.as_ref().map_or_else(Vec::new, Variants::made_because);
        if !variants.is_empty() {
            text += "variants\n";
        }
        for (key, because) in variants {
            let because = because.map_or_else(String::new, |because| format!(": {because}"));
            text += &format!("  + {}{because}\n", key.describe());
        }
        Ok(text)
    }
}

/// Writes lines, indented, each once in the order of first appearance. Code that is copied, as by `unroll`, decides the
/// same at each copy, which is one line with the number of copies.
fn counted(lines: impl Iterator<Item = String>) -> String {
    let (mut order, mut counts) = (Vec::new(), BTreeMap::<String, usize>::new());
    for line in lines {
        let count = counts.entry(line.clone()).or_default();
        *count += 1;
        if *count == 1 {
            order.push(line);
        }
    }
    let shown = |line: &String| match counts[line] {
        1 => format!("  {line}\n"),
        copies => format!("  {line} ({copies} copies)\n"),
    };
    order.iter().map(shown).collect()
}

/// Explains what the code generator unrolled: a line for each loop and number of copies.
#[cfg(feature = "cpu")]
fn explain_unrolled(unrolled: &[(String, usize)]) -> String {
    let mut lines: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    unrolled.iter().for_each(|(name, copies)| *lines.entry((name, *copies)).or_default() += 1);
    let mut text = String::new();
    for ((name, copies), places) in lines {
        let places = if places > 1 { format!(", at {places} places") } else { String::new() };
        text += &format!("  + {name}: {copies} iterations at a time, since its instructions limit it{places}\n");
    }
    if text.is_empty() { text } else { format!("unrolled by the code generator\n{text}") }
}

/// The number of places where memory is given back before its allocation ends.
fn early_frees(program: &Program) -> usize {
    fn of(s: &Stmt) -> usize {
        let own = usize::from(matches!(s, Stmt::Free { .. }));
        own + nested(s).map(|inner| deep(|| of(inner))).sum::<usize>()
    }
    of(&program.body) + program.tasks.iter().map(|task| of(&task.body)).sum::<usize>()
}

/// Writes a program as a nest of loops, one line per loop, Func computed, Func stored and value defined.
struct Nest<'p> {
    program: &'p Program,
    text: String,
    depth: usize,
}

impl Nest<'_> {
    fn line(&mut self, line: impl AsRef<str>) {
        let indent = "  ".repeat(self.depth);
        // Writing to a String does not fail.
        let _ = writeln!(self.text, "{indent}{}", line.as_ref());
    }

    fn inside(&mut self, body: &Stmt) {
        self.depth += 1;
        self.stmt(body);
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Block(list) => list.iter().for_each(|s| self.stmt(s)),
            Stmt::Let { body, .. } => self.stmt(body),
            Stmt::For(f) => {
                let kind = match f.kind {
                    ForKind::Serial => "for",
                    ForKind::Parallel => "parallel",
                    ForKind::Vectorized => "vectorized",
                    ForKind::GpuBlocks => "over blocks of threads",
                    ForKind::GpuThreads => "over threads of a block",
                    ForKind::GpuLanes => "over lanes of a subgroup",
                    ForKind::Unrolled => "unrolled",
                };
                let count = as_int(&f.extent).map_or(String::new(), |n| format!(" in 0..{n}"));
                self.line(format!("{kind} {}{count}:", self.program.loops[f.id]));
                self.inside(&f.body);
            }
            Stmt::If { cond, then, otherwise } => {
                self.line(format!("if {}:", expr_in(cond, self.program)));
                self.inside(then);
                if !matches!(&**otherwise, Stmt::Block(list) if list.is_empty()) {
                    self.line("else:");
                    self.inside(otherwise);
                }
            }
            Stmt::Produce { func, body } => {
                self.line(format!("compute {}:", self.name(*func)));
                self.inside(body);
            }
            Stmt::Atomic { func, body } => {
                self.line(format!("change {} in one step:", self.name(*func)));
                self.inside(body);
            }
            Stmt::Realize { func, body, .. } => {
                // Not indented: a pipeline may store very many Funcs at one place.
                self.line(format!("store {}{}", self.name(*func), self.folds(*func)));
                self.stmt(body);
            }
            Stmt::Provide { func, .. } => self.line(format!("{}(...) = ...", self.name(*func))),
            Stmt::Assert { .. }
            | Stmt::Print { .. }
            | Stmt::Alloc { .. }
            | Stmt::Free { .. }
            | Stmt::Prefetch { .. }
            | Stmt::Store { .. }
            | Stmt::Count { .. }
            | Stmt::Launch { .. }
            | Stmt::Dispatch { .. }
            | Stmt::Reside { .. }
            | Stmt::Barrier => {}
        }
    }

    fn name(&self, func: FuncId) -> &str {
        self.program.func_name(func)
    }

    fn folds(&self, func: FuncId) -> String {
        let Some(info) = self.program.func_buffers[func].first().map(|b| &self.program.buffers[*b]) else {
            return String::new();
        };
        let folds: Vec<String> = info
            .fold
            .iter()
            .enumerate()
            .filter_map(|(dim, fold)| fold.map(|n| format!("{n} of dimension {dim}")))
            .collect();
        if folds.is_empty() { String::new() } else { format!(" (keeping {})", folds.join(" and ")) }
    }
}
