//! The kernels of a program while it is compiled, and which loops may become some.

use super::numbers::Numbers;
use crate::listing::lines;
use crate::options::{CpuOptions, KernelLoads};
use crate::wide::Kernel;
use cranelift_module::FuncId;
use halide_ir::code_place::Definition;
use halide_ir::hash::Map;
use halide_ir::visit::for_each_stmt;
use halide_ir::{BufId, Program, Stmt, build};
use std::collections::{BTreeMap, BTreeSet};

/// The kernels of a program while it is compiled.
pub(super) struct Outlined {
    /// Symbols, of which kernels take one after the other: there are as many as loops.
    pub(super) symbols: Vec<FuncId>,
    pub(super) options: CpuOptions,
    pub(super) kernels: Vec<OutlinedKernel>,
    /// Loops with vectors that stayed with Cranelift: the name of each, and why.
    pub(super) refusals: Vec<(String, String)>,
    /// Innermost loops that were unrolled: the name of each, and the number of copies.
    pub(super) unrolled: Vec<(String, usize)>,
    /// The loads of kernels.
    pub(super) loads: Vec<KernelLoads>,
}

/// A kernel with its symbol.
pub(super) struct OutlinedKernel {
    pub(super) id: FuncId,
    /// The loop that it is made of.
    pub(super) name: String,
    pub(super) kernel: Kernel,
}

impl OutlinedKernel {
    /// Adds the names of its machine instructions to those of the definitions whose work they do. The code must have
    /// its places.
    pub(super) fn note_mnemonics(&self, all: &mut BTreeMap<Definition, BTreeSet<String>>) {
        let Kernel { bytes, code_bytes, spans, .. } = &self.kernel;
        for line in lines(bytes, *code_bytes, spans, &BTreeMap::new()) {
            let definition = line.place.and_then(|place| place.definition);
            if let (Some(definition), Some(name)) = (definition, line.text.split_whitespace().next()) {
                all.entry(definition).or_default().insert(name.to_string());
            }
        }
    }
}

impl Outlined {
    /// None yet, but symbols for all that there could be.
    pub(super) fn new(program: &Program, numbers: &mut Numbers, options: &CpuOptions) -> Outlined {
        let loops: usize = program.tasks.iter().map(|t| loops(&t.body)).sum::<usize>() + loops(&program.body);
        let symbols = (0..loops).map(|_| numbers.next()).collect();
        Outlined {
            symbols,
            options: *options,
            kernels: Vec::new(),
            refusals: Vec::new(),
            unrolled: Vec::new(),
            loads: Vec::new(),
        }
    }
}

/// Returns the least number of elements of each allocation; 0 if that is no constant.
pub(super) fn sizes(program: &Program) -> Map<BufId, u64> {
    let mut sizes = Map::default();
    let tasks = program.tasks.iter().map(|t| &t.body);
    for s in std::iter::once(&program.body).chain(tasks) {
        note_sizes(s, &mut sizes);
    }
    sizes
}

fn note_sizes(s: &Stmt, sizes: &mut Map<BufId, u64>) {
    if let Stmt::Alloc { buf, count, .. } = s {
        // Variants of a pipeline allocate a buffer each.
        let count = build::as_int(count).and_then(|n| u64::try_from(n).ok()).unwrap_or(0);
        sizes.entry(*buf).and_modify(|least| *least = count.min(*least)).or_insert(count);
    }
    for_each_stmt(s, |inner| note_sizes(inner, sizes));
}

/// Counts the statements that may become kernels: loops that store vectors or do nothing but prefetch, and prefetches.
fn loops(s: &Stmt) -> usize {
    let mut count = usize::from(match s {
        Stmt::For(l) => has_vectors(&l.body) || only_prefetches(&l.body),
        Stmt::Prefetch { .. } => true,
        _ => false,
    });
    for_each_stmt(s, |inner| count += loops(inner));
    count
}

/// Returns true if a statement does nothing but prefetch.
pub(super) fn only_prefetches(s: &Stmt) -> bool {
    match s {
        Stmt::Prefetch { .. } => true,
        Stmt::Block(list) => !list.is_empty() && list.iter().all(only_prefetches),
        Stmt::Let { body, .. } | Stmt::Produce { body, .. } => only_prefetches(body),
        Stmt::For(l) => only_prefetches(&l.body),
        _ => false,
    }
}

/// Returns true if anything is stored as a vector.
pub(super) fn has_vectors(s: &Stmt) -> bool {
    let mut found = matches!(s, Stmt::Store { value, .. } if value.lanes() > 1);
    for_each_stmt(s, |inner| found = found || has_vectors(inner));
    found
}
