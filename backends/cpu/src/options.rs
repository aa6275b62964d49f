//! The options of a compilation, and what it reports.

use crate::listing::CodeLine;
use crate::tier::Tier;
use halide_ir::code_place::Definition;
use halide_ir::features::{CpuFeature, CpuFeatures};
use halide_ir::target::{Budget, Target};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// The options for compiling a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpuOptions {
    /// Keep the text of Cranelift's IR and of the machine code, and its bytes, for
    /// [`Executable::clif`](crate::Executable::clif), [`Executable::asm`](crate::Executable::asm) and
    /// [`Executable::functions`](crate::Executable::functions).
    pub keep_text: bool,
    /// The most bytes of memory that an executable may keep between runs for the next one.
    pub retain_bytes: usize,
    /// The vector instructions to use.
    pub tier: Tier,
    /// The extensions that code may use; all of this machine if it is not said.
    pub features: Option<CpuFeatures>,
    /// Limits on the size of code, and on its stack.
    pub budget: Budget,
    /// Note which machine instructions do the work of each definition in kernels of wide vectors, for
    /// [`Executable::has_instruction`](crate::Executable::has_instruction).
    pub note_mnemonics: bool,
    /// Code that says where it is, for [`RunArgs::sampler`](crate::RunArgs::sampler).
    pub marks: bool,
}

impl Default for CpuOptions {
    /// No text, as much memory kept as a run used, the widest vectors of this machine, and the default budget.
    fn default() -> Self {
        let (tier, budget) = (Tier::host(), Budget::default());
        CpuOptions {
            keep_text: false,
            retain_bytes: usize::MAX,
            tier,
            features: None,
            budget,
            note_mnemonics: false,
            marks: false,
        }
    }
}

impl CpuOptions {
    /// For code that was lowered for this target.
    pub fn for_target(target: &Target) -> CpuOptions {
        let most = target.features.map_or(Tier::Avx512, Tier::of_features);
        let tier = Tier::for_bits(target.vector_bits).min(most);
        CpuOptions { tier, features: target.features, budget: target.budget, ..CpuOptions::default() }
    }
    /// Returns true if kernels may use an extension that their tier does not need.
    pub(crate) fn may_use(&self, feature: CpuFeature) -> bool {
        CpuFeatures::host().has(feature) && self.features.is_none_or(|f| f.has(feature))
    }
}

/// The cost of compiling a program: times and sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CompileStats {
    /// Time to make Cranelift's IR.
    pub emit: Duration,
    /// Time to make machine code of it.
    pub generate: Duration,
    /// Time to link it and make it executable.
    pub link: Duration,
    /// The number of functions.
    pub functions: usize,
    /// The number of instructions of Cranelift's IR in them, before it optimises them.
    pub instructions: usize,
    /// The size of their machine code.
    pub bytes: usize,
    /// The number of loops that became functions with wide vectors.
    pub kernels: usize,
    /// The sum of the stack frames along the deepest chain of calls.
    pub stack: u64,
}

/// The machine code of one function, before it is linked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCode {
    /// The loop that it is made of, or `pipeline`.
    pub name: String,
    /// Its address, once it is linked.
    pub address: u64,
    /// Its instructions from the first byte on. Constants may lie behind them.
    pub bytes: Vec<u8>,
    /// The number of bytes at the stack pointer that hold values for which there was no register; `None` where the
    /// code generator does not say.
    pub spill_bytes: Option<u64>,
    /// Its instructions as text, on x86-64 with their offsets and places.
    pub lines: Vec<CodeLine>,
}

/// The text of what was compiled.
#[derive(Default)]
pub(crate) struct Texts {
    pub(crate) clif: String,
    pub(crate) functions: Vec<FunctionCode>,
    pub(crate) notes: CodeNotes,
}

/// The loads of a kernel of wide vectors that are made in one way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelLoads {
    /// The outermost loop of the kernel.
    pub kernel: String,
    /// The way.
    pub way: String,
    /// The operations of the machine for eight lanes, about.
    pub operations: usize,
    /// The number of loads.
    pub count: usize,
}

/// The decisions of the code generators that users may want to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeNotes {
    /// Loops with vectors that stayed with Cranelift: the name of each, and why.
    pub(crate) refusals: Vec<(String, String)>,
    /// Innermost loops that were unrolled: the name of each, and the number of copies.
    pub(crate) unrolled: Vec<(String, usize)>,
    /// The loads of kernels, in the order of kernels, then the cheapest first.
    pub(crate) loads: Vec<KernelLoads>,
    /// Functions with so many instructions that their registers were assigned in one pass.
    pub(crate) large: Vec<String>,
    /// The machine instructions in kernels of wide vectors that do the work of each definition, by the names that
    /// assemblers have for them, if the options ask for them.
    pub(crate) mnemonics: BTreeMap<Definition, BTreeSet<String>>,
}
