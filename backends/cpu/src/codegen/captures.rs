//! Closures, in which tasks find what they capture.
//!
//! A closure lies on the stack of the function that launches a task, and holds what is defined in that function. What
//! the function was handed itself stays where it is, in the closure of a task further out, and a pointer in the new
//! closure says where that is. So a symbol that many tasks hand on to each other, as those do that long code is cut
//! into, is stored once.

use crate::shared::lane::Lane;
use halide_core::ids::{Id, IdVec};
use halide_ir::hash::Map;
use halide_ir::{BufId, Expr, ExprKind, Program, Stmt, Sym, Task, TaskId, Type, visit};
use std::collections::BTreeSet;

/// The closure of one task.
#[derive(Default)]
pub(super) struct ClosureLayout {
    /// Symbols that it holds, with the word where each begins.
    pub(super) own: Vec<(Sym, Type, usize)>,
    /// The tasks around it whose closures it points to, with the word of each pointer.
    pub(super) outer: Vec<(TaskId, usize)>,
    /// Buffers that it points to, with the word of each.
    pub(super) buffers: Vec<(BufId, usize)>,
    /// Its size.
    pub(super) words: usize,
    /// In whose closure each symbol is that the task captures.
    owners: Map<Sym, (TaskId, usize, Type)>,
    /// The symbols that the task's own code needs, rather than tasks that it launches.
    used: BTreeSet<Sym>,
}

impl ClosureLayout {
    /// Returns the captured symbols that the task's own code needs, each with the closure and the word that hold it.
    pub(super) fn needed(&self) -> impl Iterator<Item = (Sym, Type, TaskId, usize)> {
        let found = self.used.iter().filter_map(|s| self.owners.get(s).map(|o| (*s, o)));
        found.map(|(s, (owner, word, ty))| (s, *ty, *owner, *word))
    }
}

/// The closures of all tasks.
pub(super) fn closures(program: &Program) -> IdVec<TaskId, ClosureLayout> {
    let mut all: IdVec<TaskId, ClosureLayout> = program.tasks.iter().map(|_| ClosureLayout::default()).collect();
    let parents = parents(program);
    let mut done = vec![false; program.tasks.len()];
    for id in program.tasks.ids() {
        // Those further out first.
        let mut path = vec![id];
        while let Some(Some(parent)) = path.last().and_then(|last| parents.get(last.index())) {
            if done[parent.index()] || path.contains(parent) {
                break;
            }
            path.push(*parent);
        }
        for id in path.into_iter().rev().filter(|id| !std::mem::replace(&mut done[id.index()], true)) {
            let made = lay_out(&program.tasks[id], id, parents[id.index()].map(|p| &all[p]));
            all[id] = made;
        }
    }
    for (id, task) in program.tasks.enumerate() {
        let mut used = BTreeSet::new();
        collect(program, &all, &task.body, &mut used);
        all[id].used = used;
    }
    all
}

/// The task whose code launches each task; `None` for one that the program's body launches, or several.
fn parents(program: &Program) -> Vec<Option<TaskId>> {
    let mut launchers: Vec<Vec<Option<TaskId>>> = vec![Vec::new(); program.tasks.len()];
    let mut note = |from: Option<TaskId>, body: &Stmt| {
        let mut found = Vec::new();
        launches(body, &mut found);
        for task in found.into_iter().filter(|t| t.index() < program.tasks.len()) {
            launchers[task.index()].push(from);
        }
    };
    note(None, &program.body);
    program.tasks.enumerate().for_each(|(id, task)| note(Some(id), &task.body));
    let single = |all: Vec<Option<TaskId>>| if let [only] = all[..] { only } else { None };
    launchers.into_iter().map(single).collect()
}

fn launches(s: &Stmt, out: &mut Vec<TaskId>) {
    if let Stmt::Launch { task, .. } = s {
        out.push(*task);
    }
    visit::for_each_stmt(s, |inner| launches(inner, out));
}

fn lay_out(task: &Task, id: TaskId, parent: Option<&ClosureLayout>) -> ClosureLayout {
    let mut closure = ClosureLayout::default();
    for &(symbol, ty) in &task.captures {
        if let Some(owner) = parent.and_then(|p| p.owners.get(&symbol)) {
            closure.owners.insert(symbol, *owner);
            if !closure.outer.iter().any(|(task, _)| *task == owner.0) {
                closure.outer.push((owner.0, closure.words));
                closure.words += 1;
            }
            continue;
        }
        closure.own.push((symbol, ty, closure.words));
        closure.owners.insert(symbol, (id, closure.words, ty));
        closure.words += words(ty);
    }
    for &buf in &task.buffers {
        closure.buffers.push((buf, closure.words));
        closure.words += 1;
    }
    closure
}

/// The symbols that the code of `s` uses, and those that closures made there hold.
fn collect(program: &Program, all: &IdVec<TaskId, ClosureLayout>, s: &Stmt, used: &mut BTreeSet<Sym>) {
    match s {
        Stmt::Launch { task, .. } => {
            used.extend(all.get(*task).into_iter().flat_map(|c| c.own.iter().map(|(symbol, ..)| *symbol)));
        }
        Stmt::Dispatch { kernel, .. } => {
            used.extend(program.kernels[*kernel].captures.iter().map(|(symbol, _)| *symbol));
        }
        _ => {}
    }
    visit::for_each_expr(s, |e: &Expr| {
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Sym(symbol) = n.kind() {
                used.insert(*symbol);
            }
        });
    });
    visit::for_each_stmt(s, |inner| collect(program, all, inner, used));
}

/// The 64-bit words of a captured value.
fn words(ty: Type) -> usize {
    if ty.lanes == 1 { 1 } else { 2 * Lane::of_elem(ty.elem).parts(ty.lanes) }
}
