//! The variants of a pipeline that calls of an object can need, and which leads to which.

use crate::error::Error;
use crate::variant_code::lowered;
use crate::variant_key::{VariantKey, next, run_first};
use halide_cpu::object::VariantTables;
use halide_cpu::{CodeImage, CpuOptions, compile_image};
use halide_ir::Program;
use halide_ir::footprint::Footprint;
use halide_sched::lower::Lowered;
use halide_sched::plan::Plan;
use std::collections::BTreeMap;

/// Every variant that a call can need.
pub(super) struct Family {
    pub(super) keys: Vec<VariantKey>,
    pub(super) tables: Vec<VariantTables>,
    /// The code of each.
    pub(super) images: Vec<CodeImage>,
}

impl Family {
    /// Compiles the variant that calls begin with, and all that its faults lead to.
    pub(super) fn compile(plan: &Plan, options: &CpuOptions) -> Result<Family, Error> {
        let mut lowering = Lowering { plan, programs: BTreeMap::new(), keys: Vec::new() };
        lowering.number(VariantKey::default())?;
        let mut made = Family { keys: Vec::new(), tables: Vec::new(), images: Vec::new() };
        while let Some(key) = lowering.keys.get(made.keys.len()).copied() {
            let Lowered { program, causes, .. } = lowering.lowered(key)?.clone();
            let image = compile_image(&program, options).map_err(|e| Error::Cpu(e).caused_by(&causes))?;
            let leads = |fault| next(key, fault, || None).map(|other| lowering.number(other)).transpose();
            let next = program.faults.iter().map(leads).collect::<Result<Vec<_>, Error>>()?;
            let (stack, footprint) = (image.stack(), Footprint::new(&program));
            made.tables.push(VariantTables { program: program.without_statements(), footprint, stack, next });
            made.images.push(image);
            made.keys.push(key);
        }
        Ok(made)
    }
}

/// The variants found so far.
struct Lowering<'p> {
    plan: &'p Plan,
    programs: BTreeMap<VariantKey, Lowered>,
    /// The variants that calls run, by their numbers.
    keys: Vec<VariantKey>,
}

impl Lowering<'_> {
    /// The number of the variant that calls run where they would begin with `key`.
    fn number(&mut self, key: VariantKey) -> Result<usize, Error> {
        let program: &Program = &self.lowered(key)?.program;
        let key = run_first(key, program).unwrap_or(key);
        let known = self.keys.iter().position(|other| *other == key);
        Ok(known.unwrap_or_else(|| {
            self.keys.push(key);
            self.keys.len() - 1
        }))
    }
    fn lowered(&mut self, key: VariantKey) -> Result<&Lowered, Error> {
        if !self.programs.contains_key(&key) {
            self.programs.insert(key, lowered(self.plan, key)?);
        }
        Ok(&self.programs[&key])
    }
}
