//! The loop nest of a bounded program, line by line.

use super::definitions;
use super::rows::{DefinitionId, LoopRow, NestKind, NestLoopId, NestRow};
use halide_core::ids::FuncId;
use halide_ir::build::as_int;
use halide_ir::print::expr_in;
use halide_ir::visit::deep;
use halide_ir::{For, ForKind, LoopId, Program, Stmt};
use halide_sched::plan::Plan;
use std::collections::BTreeMap;

/// The loops of a nest.
pub(super) struct Loops {
    pub(super) rows: Vec<LoopRow>,
    /// The row of each loop of the program.
    numbers: BTreeMap<LoopId, NestLoopId>,
}

impl Loops {
    /// The row of a loop of a program that the nest's was made into, where copies have loops of their own.
    pub(super) fn row_of(&self, program: &Program, of: LoopId) -> Option<NestLoopId> {
        program.loops.get(of)?;
        self.numbers.get(&of).or_else(|| self.numbers.get(&program.origin(of))).copied()
    }
}

/// The lines of the nest of a program, and its loops.
pub(super) fn rows(program: &Program, plan: &Plan) -> (Vec<NestRow>, Loops) {
    let loops = Loops { rows: Vec::new(), numbers: BTreeMap::new() };
    let definitions = definitions::numbers(plan);
    let mut nest = Nest { program, definitions, loops, rows: Vec::new(), depth: 0, around: Around::default() };
    nest.stmt(&program.body);
    (nest.rows, nest.loops)
}

/// The lines as one text.
pub(super) fn text(rows: &[NestRow]) -> String {
    rows.iter().map(|row| format!("{}{}\n", "  ".repeat(row.depth), row.text)).collect()
}

/// A nest under construction: a line per loop, Func computed, Func stored and value defined.
struct Nest<'p> {
    program: &'p Program,
    definitions: BTreeMap<(FuncId, usize), DefinitionId>,
    loops: Loops,
    rows: Vec<NestRow>,
    depth: usize,
    around: Around,
}

/// The loop and the definition around a statement.
#[derive(Clone, Copy, Default)]
struct Around {
    within: Option<NestLoopId>,
    definition: Option<(FuncId, usize)>,
}

impl Nest<'_> {
    fn line(&mut self, kind: NestKind, definition: Option<(FuncId, usize)>, text: String) {
        let definition = definition.and_then(|of| self.definitions.get(&of).copied());
        self.rows.push(NestRow { depth: self.depth, kind, text, definition, within: self.around.within });
    }

    fn inside(&mut self, body: &Stmt) {
        self.depth += 1;
        deep(|| self.stmt(body));
        self.depth -= 1;
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let around = self.around;
        match stmt {
            Stmt::Block(list) => list.iter().for_each(|s| self.stmt(s)),
            Stmt::Let { body, .. } => deep(|| self.stmt(body)),
            Stmt::For(f) => self.for_loop(f),
            Stmt::If { cond, then, otherwise } => {
                self.line(NestKind::If, around.definition, format!("if {}:", expr_in(cond, self.program)));
                self.inside(then);
                if !matches!(&**otherwise, Stmt::Block(list) if list.is_empty()) {
                    self.line(NestKind::If, around.definition, "else:".to_string());
                    self.inside(otherwise);
                }
            }
            Stmt::Produce { func, body } => {
                self.around.definition = Some((*func, 0));
                self.line(NestKind::Compute, self.around.definition, format!("compute {}:", self.name(*func)));
                self.inside(body);
            }
            Stmt::Atomic { func, body } => {
                self.line(NestKind::Atomic, around.definition, format!("change {} in one step:", self.name(*func)));
                self.inside(body);
            }
            Stmt::Realize { func, body, .. } => {
                // Not indented: a pipeline may store very many Funcs at one place.
                let text = format!("store {}{}", self.name(*func), self.folds(*func));
                self.line(NestKind::Store, Some((*func, 0)), text);
                deep(|| self.stmt(body));
            }
            Stmt::Provide { func, .. } => {
                let definition = around.definition.filter(|(of, _)| of == func).unwrap_or((*func, 0));
                self.line(NestKind::Define, Some(definition), format!("{}(...) = ...", self.name(*func)));
            }
            Stmt::Call { callee, .. } => {
                let name = &self.program.callees[*callee].name;
                self.line(NestKind::Define, around.definition, format!("call the closure of `{name}`"));
            }
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
        self.around = around;
    }

    fn for_loop(&mut self, f: &For) {
        let kind = match f.kind {
            ForKind::Serial => "for",
            ForKind::Parallel => "parallel",
            ForKind::Vectorized => "vectorized",
            ForKind::GpuBlocks => "over blocks of threads",
            ForKind::GpuThreads => "over threads of a block",
            ForKind::GpuLanes => "over lanes of a subgroup",
            ForKind::Unrolled => "unrolled",
        };
        let info = &self.program.loops[f.id];
        let extent = as_int(&f.extent);
        let count = extent.map_or(String::new(), |n| format!(" in 0..{n}"));
        let text = format!("{kind} {info}{count}:");
        let definition = info.definition.or(self.around.definition);
        let id = NestLoopId(self.loops.rows.len());
        self.loops.rows.push(LoopRow {
            name: info.with_case(),
            kind: f.kind,
            definition: info.definition.and_then(|of| self.definitions.get(&of).copied()),
            extent,
            parent: self.around.within,
            directive: info.at,
        });
        self.loops.numbers.entry(f.id).or_insert(id);
        self.around = Around { within: Some(id), definition };
        self.line(NestKind::Loop, definition, text);
        self.inside(&f.body);
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
