//! Storage of a compiled pipeline, buffer by buffer.

use halide_core::types::ScalarType;
use halide_ir::hash::Map;
use halide_ir::print::expr_in;
use halide_ir::{BufId, BufferRole, Memory, Program, Side, Stmt, visit};

/// A buffer of a compiled pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stored {
    /// The Func or input that it belongs to, and the number of the value where there are several.
    pub name: String,
    /// Its elements.
    pub ty: ScalarType,
    /// Its place in words: `the caller's`, `shared by the threads of a block`.
    pub place: String,
    /// The number of elements of each allocation, as an expression; none for the caller's.
    pub elements: Option<String>,
    /// The folded dimensions: number of the dimension, and number of the coordinates that are kept at a time.
    pub folds: Vec<(usize, i64)>,
}

/// Every buffer of a lowered program, inputs and outputs first.
pub(super) fn rows(program: &Program) -> Vec<Stored> {
    let mut sizes = Map::default();
    collect(&program.body, program, &mut sizes);
    program.tasks.iter().for_each(|task| collect(&task.body, program, &mut sizes));
    program.kernels.iter().for_each(|kernel| collect(&kernel.body, program, &mut sizes));
    let mut all: Vec<(bool, Stored)> = Vec::new();
    for (buf, info) in program.buffers.enumerate() {
        let internal = info.role == BufferRole::Internal;
        let elements = sizes.get(&buf).cloned();
        // What became inline, or registers of a task, is not there any more.
        if internal && elements.is_none() {
            continue;
        }
        let folds = info.fold.iter().enumerate().filter_map(|(d, fold)| fold.map(|n| (d, n))).collect();
        let (name, ty, place) = (info.name.clone(), info.elem, place(program, buf));
        all.push((internal, Stored { name, ty, place, elements: elements.filter(|_| internal), folds }));
    }
    all.sort_by_key(|(internal, _)| *internal);
    all.into_iter().map(|(_, row)| row).collect()
}

/// The size of each allocation.
fn collect(s: &Stmt, program: &Program, sizes: &mut Map<BufId, String>) {
    if let Stmt::Alloc { buf, count, .. } = s {
        sizes.entry(*buf).or_insert_with(|| expr_in(count, program));
    }
    visit::for_each_stmt(s, |inner| collect(inner, program, sizes));
}

fn place(program: &Program, buf: BufId) -> String {
    let info = &program.buffers[buf];
    let shared = |k: &halide_ir::Kernel| k.shared.iter().any(|row| row.buf == buf);
    let held = |k: &halide_ir::Kernel| k.lanes.iter().flatten().any(|row| row.buf == buf);
    let listed = |k: &halide_ir::Kernel| k.buffers.iter().any(|row| row.buf == buf);
    let side = match info.side {
        Side::Host => "",
        Side::Both => ", with a copy on the device",
        Side::Device => "",
    };
    let place = match (info.role, info.side) {
        (BufferRole::Input(_) | BufferRole::Output(_), _) => "the caller's",
        (_, Side::Device) => "on the device",
        _ if program.kernels.iter().any(shared) => "shared by the threads of a block",
        _ if program.kernels.iter().any(held) => "in registers of the lanes of a subgroup",
        (_, Side::Host) if program.kernels.iter().any(|k| !listed(k) && allocates(&k.body, buf)) => {
            "of each thread of a kernel"
        }
        _ => match info.memory {
            Memory::Register => "in registers",
            Memory::Stack => "on the stack",
            _ => "in memory",
        },
    };
    format!("{place}{side}")
}

fn allocates(s: &Stmt, buf: BufId) -> bool {
    let mut found = matches!(s, Stmt::Alloc { buf: b, .. } if *b == buf);
    visit::for_each_stmt(s, |inner| found = found || allocates(inner, buf));
    found
}
