//! Marks: what code of profiled runs says of where it is.
//!
//! Each thread of a run has a word, in which code writes the number of the definition that it comes to, and writes back
//! the number of the one around when it leaves it. A definition begins where its Func is produced, and where a loop of
//! an update begins. One whose work is small is part of the definition around, since a mark would cost as much.

use crate::tuning::MARKED_WORK;
use halide_ir::code_place::{Definition, definition_begun};
use halide_ir::visit::{deep, for_each_stmt};
use halide_ir::{Expr, Program, Stmt, TaskId, build, visit};
use std::collections::BTreeMap;

/// The number of the first definition. Smaller ones are states of the runtime: see `runtime/profile`.
pub(crate) const FIRST: u64 = 16;

/// The numbers of the definitions of a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct Marks {
    definitions: Vec<Definition>,
    /// The number of the definition around each task.
    around: BTreeMap<TaskId, u64>,
}

impl Marks {
    /// The marks of a program.
    pub(crate) fn of(program: &Program) -> Marks {
        let mut marks = Marks::default();
        marks.survey(program, &program.body, OUTSIDE);
        // A task is launched by the body or by another task, which the walk comes to first.
        marks
    }
    /// The definitions in the order of their numbers.
    pub(crate) fn definitions(&self) -> &[Definition] {
        &self.definitions
    }
    /// The number of the definition around a task.
    pub(crate) fn around(&self, task: TaskId) -> u64 {
        self.around.get(&task).copied().unwrap_or(OUTSIDE)
    }
    /// The number of the definition that a statement begins, if it begins another one than `current`.
    pub(crate) fn begun(&self, program: &Program, s: &Stmt, current: u64) -> Option<u64> {
        let definition = definition_begun(program, s)?;
        let number = self.definitions.iter().position(|d| *d == definition)? as u64 + FIRST;
        (number != current && work(s) >= MARKED_WORK).then_some(number)
    }

    fn survey(&mut self, program: &Program, s: &Stmt, current: u64) {
        if let Some(definition) = definition_begun(program, s)
            && !self.definitions.contains(&definition)
        {
            self.definitions.push(definition);
        }
        let current = self.begun(program, s, current).unwrap_or(current);
        if let Stmt::Launch { task, .. } = s
            && let Some(launched) = program.tasks.get(*task)
            && self.around.insert(*task, current).is_none()
        {
            deep(|| self.survey(program, &launched.body, current));
        }
        for_each_stmt(s, |inner| deep(|| self.survey(program, inner, current)));
    }
}

/// The number of code that is no definition's: bounds, checks, addresses.
pub(crate) const OUTSIDE: u64 = 1;

/// The work of a statement in nodes of expressions, at most [`MARKED_WORK`]. A loop of an unknown number of iterations
/// has at least that.
fn work(s: &Stmt) -> u64 {
    let mut inside = 0u64;
    for_each_stmt(s, |inner| {
        if inside < MARKED_WORK {
            inside += work(inner);
        }
    });
    let all = match s {
        Stmt::For(l) => build::as_int(&l.extent).map_or(MARKED_WORK, |n| inside.saturating_mul(n.max(0) as u64)),
        Stmt::Launch { .. } | Stmt::Dispatch { .. } | Stmt::Call { .. } => MARKED_WORK,
        Stmt::Store { value, .. } => nodes(value),
        _ => inside,
    };
    all.min(MARKED_WORK)
}

/// The number of nodes of an expression, each of which is an instruction or more, times the registers of its lanes.
fn nodes(e: &Expr) -> u64 {
    let mut count = 0;
    visit::for_each_node(e, &mut |_| count += 1);
    count * u64::from(e.lanes()).div_ceil(16)
}
