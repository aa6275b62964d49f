//! Function splitting: keeps functions small enough to be compiled in time that grows with their size.
//!
//! Before and after: `Stage::Final`. Where a function is very long, parts of it that hold loops become tasks of their
//! own, launched for one value, which backends make plain calls.
//!
//! Parts are cut from the inside out, as soon as what is not cut yet is long enough, so that a chain of realizations
//! nested in each other is cut as a list is. What accesses storage that is asked to live in registers stays with it.
//!
//! Example, where functions of 12 nodes are cut, into parts of 5:
//! ```text
//! produce f#f0 {
//!   for x#L0 from 0 extent 100 {
//!     out#b2[x#L0] = in#b0[x#L0]
//!   }
//! }
//! for xi#L2 from 0 extent 100 {
//!   out#b2[xi#L2] = 0u8
//! }
//! ```
//! becomes
//! ```text
//! task0 part0#L4 captures () buffers () {
//!   for x#L0 from 0 extent 100 {
//!     out#b2[x#L0] = in#b0[x#L0]
//!   }
//! }
//! task1 part1#L5 captures () buffers () {
//!   for xi#L2 from 0 extent 100 {
//!     out#b2[xi#L2] = 0u8
//!   }
//! }
//! body {
//!   produce f#f0 {
//!     launch task0 from 0 extent 1
//!   }
//!   launch task1 from 0 extent 1
//! }
//! ```

use crate::lower::code::outline_tasks::{Needs, outline};
use crate::lower::trace::LoweringTrace;
use crate::tuning::LAUNCH_COST;
use halide_ir::visit::{self, deep};
use halide_ir::{For, ForKind, Memory, Program, Stmt, build};

/// The sizes from which code is cut.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// The least number of nodes of expressions in a function that is cut.
    pub(crate) long: usize,
    /// The least number of them in a part.
    pub(crate) part: usize,
}

const LIMITS: Limits = Limits { long: 12_000, part: 3_000 };

/// Cuts what is long. The trace says how many parts there are.
pub fn split_functions(program: Program, trace: &mut LoweringTrace) -> Program {
    split_beyond(program, LIMITS, trace)
}

/// [`split_functions`] with other limits.
pub(crate) fn split_beyond(mut program: Program, limits: Limits, trace: &mut LoweringTrace) -> Program {
    let body = std::mem::replace(&mut program.body, build::nothing());
    let mut cx = Split { program: &mut program, limits, made: 0 };
    let body = cx.function(body);
    let tasks: Vec<_> = cx.program.tasks.ids().collect();
    for id in tasks {
        let body = std::mem::replace(&mut cx.program.tasks[id].body, build::nothing());
        cx.program.tasks[id].body = cx.function(body);
    }
    if cx.made > 0 {
        trace.did("code".to_string(), format!("cut into {} more functions, for it is long", cx.made));
    }
    program.body = body;
    program
}

struct Split<'p> {
    program: &'p mut Program,
    limits: Limits,
    /// The number of parts so far.
    made: usize,
}

impl Split<'_> {
    fn function(&mut self, body: Stmt) -> Stmt {
        if size_of(&body) < self.limits.long { body } else { cut(self, body).0 }
    }
}

/// Nodes of the expressions in `s`, those that are shared within one expression once.
fn size_of(s: &Stmt) -> usize {
    let mut size = own_size(s);
    visit::for_each_stmt(s, |inner| size += size_of(inner));
    size
}

fn own_size(s: &Stmt) -> usize {
    let mut size = 1;
    visit::for_each_expr(s, |e| visit::for_each_node(e, &mut |_| size += 1));
    size
}

/// The rest of a statement after parts were cut out of it: its size, and whether it has a loop.
struct Left {
    size: usize,
    has_loop: bool,
}

fn cut(cx: &mut Split<'_>, s: Stmt) -> (Stmt, Left) {
    deep(|| match s {
        Stmt::Block(list) => cut_list(cx, list),
        // A kernel is code for another machine, and stays whole.
        Stmt::For(l) if l.kind == ForKind::GpuBlocks => {
            let s = Stmt::For(l);
            let size = own_size(&s);
            (s, Left { size, has_loop: true })
        }
        other => {
            let own = own_size(&other);
            let mut left = Left { size: own, has_loop: matches!(other, Stmt::For(_)) };
            let cx = std::cell::RefCell::new((cx, &mut left));
            let s = visit::map_stmt(
                other,
                |e| e.clone(),
                |inner| {
                    let (cx, left) = &mut *cx.borrow_mut();
                    let (inner, rest) = cut(cx, inner);
                    let (inner, rest) = take(cx, inner, rest);
                    left.size += rest.size;
                    left.has_loop |= rest.has_loop;
                    inner
                },
            );
            (s, left)
        }
    })
}

/// Statements in a row become parts together.
fn cut_list(cx: &mut Split<'_>, list: Vec<Stmt>) -> (Stmt, Left) {
    let mut done = Vec::with_capacity(list.len());
    let mut all = Left { size: 0, has_loop: false };
    let (mut open, mut rest) = (Vec::new(), Left { size: 0, has_loop: false });
    for s in list {
        let (s, left) = cut(cx, s);
        open.push(s);
        rest = Left { size: rest.size + left.size, has_loop: rest.has_loop || left.has_loop };
        if rest.size >= cx.limits.part {
            let (s, left) = take(cx, build::block(std::mem::take(&mut open)), rest);
            done.push(s);
            all = Left { size: all.size + left.size, has_loop: all.has_loop || left.has_loop };
            rest = Left { size: 0, has_loop: false };
        }
    }
    done.extend(open);
    let left = Left { size: all.size + rest.size, has_loop: all.has_loop || rest.has_loop };
    (build::block(done), left)
}

/// Makes `s` a part if it is long enough and may be one.
fn take(cx: &mut Split<'_>, s: Stmt, left: Left) -> (Stmt, Left) {
    if left.size < cx.limits.part || !left.has_loop {
        return (s, left);
    }
    let id = cx.program.loops.push(format!("part{}", cx.made).into());
    let needs = Needs::of(&s, id, cx.program);
    // What is handed on to parts that are cut already costs nothing here: it stays where it is.
    let own = needs.own();
    if needs.buffers().any(|buf| cx.program.buffers[buf].memory == Memory::Register) || own * 2 > left.size {
        return (s, left);
    }
    cx.made += 1;
    let (min, extent) = (build::int(0), build::int(1));
    let whole = For { id, kind: ForKind::Parallel, min, extent, condition: None, body: s };
    (outline(cx.program, whole, needs), Left { size: LAUNCH_COST + own, has_loop: false })
}
