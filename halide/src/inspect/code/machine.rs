//! Machine code: its functions line by line, and what its generators decided.

use crate::compiled::Compiled;
use crate::error::Error;
use crate::inspect::definitions;
use crate::inspect::nest::Loops;
use crate::inspect::rows::{CodeRow, CodeUnit, Decided, Language, Purpose};
use halide_cpu::{CpuOptions, Executable, KernelLoads, Tier};
use halide_ir::Program;
use halide_ir::code_place::CodePart;
use std::collections::BTreeMap;

/// Loads of more operations for eight lanes are shown as what was not done: a gather is nothing to wish for.
const DEAR_LOAD: usize = 10;

/// The machine code of a pipeline.
pub(crate) struct Machine {
    code: Executable,
    tier: Tier,
}

impl Machine {
    pub(crate) fn of(compiled: &Compiled, program: &Program, keep_text: bool) -> Result<Machine, Error> {
        let options = CpuOptions { keep_text, ..CpuOptions::for_target(&compiled.plan().target) };
        let code = halide_cpu::compile(program, &options).map_err(Error::Cpu)?;
        Ok(Machine { code, tier: options.tier })
    }

    /// Cranelift's input as text.
    pub(crate) fn clif(&self) -> String {
        self.code.clif().unwrap_or_default().to_string()
    }

    /// Vectors as wide as the target's, reasons for narrower ones, loops that were unrolled, and functions too large
    /// for good registers.
    pub(crate) fn decisions(&self) -> Vec<Decided> {
        let mut all = Vec::new();
        let refused =
            |(name, why): &(String, String)| (false, format!("{name}: compiled for 128 bits, or loop by loop: {why}"));
        let mut vectors: Vec<(bool, String)> = Vec::new();
        if self.tier != Tier::Baseline {
            vectors.push((true, format!("{} loop nests", self.code.stats().kernels)));
        }
        vectors.extend(self.code.refusals().iter().map(refused));
        all.push((format!("vectors of {} bits", self.tier.vector_bits()), vectors));
        all.push(("unrolled by the code generator".to_string(), unrolled(self.code.unrolled())));
        all.push(("loads of vectors".to_string(), loads(self.code.loads())));
        let why = "registers are assigned in one pass, which keeps more values in memory";
        let large = self.code.large().iter().map(|name| (false, format!("{name}: {why}")));
        all.push(("large functions".to_string(), large.collect()));
        all
    }

    /// Each function line by line.
    pub(crate) fn units(&self, compiled: &Compiled, program: &Program, loops: &Loops) -> Vec<CodeUnit> {
        let numbers = definitions::numbers(compiled.plan());
        let row = |line: &halide_cpu::CodeLine| CodeRow {
            text: line.to_string(),
            definition: line.place.and_then(|place| numbers.get(&place.definition?).copied()),
            within: line.place.and_then(|place| loops.row_of(program, place.within?)),
            purpose: Some(line.place.map_or(Purpose::Body, |place| purpose(place.part))),
        };
        let unit = |function: &halide_cpu::FunctionCode| CodeUnit {
            name: function.name.clone(),
            language: Language::Machine,
            lines: function.lines.iter().map(row).collect(),
        };
        self.code.functions().iter().map(unit).collect()
    }
}

fn purpose(part: CodePart) -> Purpose {
    match part {
        CodePart::Body => Purpose::Body,
        CodePart::Address => Purpose::Address,
        CodePart::Check => Purpose::Check,
        CodePart::Frame => Purpose::Frame,
        CodePart::Move => Purpose::Move,
    }
}

/// A line for each loop nest with vectors: the ways of its loads, the cheapest first.
fn loads(all: &[KernelLoads]) -> Vec<(bool, String)> {
    let mut lines: BTreeMap<&str, BTreeMap<(usize, &str), usize>> = BTreeMap::new();
    for KernelLoads { kernel, way, operations, count } in all {
        *lines.entry(kernel).or_default().entry((*operations, way)).or_default() += count;
    }
    let line = |(kernel, ways): (&str, BTreeMap<(usize, &str), usize>)| {
        let dear = ways.keys().any(|(operations, _)| *operations > DEAR_LOAD);
        let ways = ways.iter().map(|((operations, way), count)| match operations {
            1 => format!("{count} x {way}"),
            _ => format!("{count} x {way} ({operations} operations for 8 lanes)"),
        });
        (!dear, format!("{kernel}: {}", ways.collect::<Vec<_>>().join(", ")))
    };
    lines.into_iter().map(line).collect()
}

/// A line for each loop that was unrolled and number of copies.
fn unrolled(unrolled: &[(String, usize)]) -> Vec<(bool, String)> {
    let mut lines: BTreeMap<(&str, usize), usize> = BTreeMap::new();
    unrolled.iter().for_each(|(name, copies)| *lines.entry((name, *copies)).or_default() += 1);
    let line = |((name, copies), places): ((&str, usize), usize)| {
        let places = if places > 1 { format!(", at {places} places") } else { String::new() };
        (true, format!("{name}: {copies} iterations at a time, since its instructions limit it{places}"))
    };
    lines.into_iter().map(line).collect()
}
