//! Keeps functions small enough to be compiled in time that grows with their size.
//!
//! Before and after: `Stage::Final`. Where a function is very long, parts of it that hold loops become tasks of their
//! own, launched for one value, which backends make plain calls:
//!
//! ```text
//! produce s0 { ... } ... produce s499 { ... }   ->   launch part(0, 1); ... launch part.9(0, 1)
//! ```
//!
//! Parts are cut from the inside out, as soon as what is not cut yet is long enough, so that a chain of realizations
//! nested in each other is cut as a list is. What accesses storage that is asked to live in registers stays with it.

use super::outline_tasks::{Needs, outline};
use super::trace::LoweringTrace;
use crate::ir::visit::{self, deep};
use crate::ir::{For, ForKind, Memory, Program, Stmt, build};

/// How many nodes of expressions make a function that is cut.
const LONG: usize = 12_000;
/// How many make a part.
const PART: usize = 3_000;

/// Cuts what is long. The trace says how many parts there are.
pub fn split_functions(mut program: Program, trace: &mut LoweringTrace) -> Program {
    let mut made = 0;
    let body = std::mem::replace(&mut program.body, build::nothing());
    program.body = split(&mut program, body, &mut made);
    for id in program.tasks.ids().collect::<Vec<_>>() {
        let body = std::mem::replace(&mut program.tasks[id].body, build::nothing());
        program.tasks[id].body = split(&mut program, body, &mut made);
    }
    if made > 0 {
        trace.did("code".to_string(), format!("cut into {made} more functions, for it is long"));
    }
    program
}

fn split(program: &mut Program, body: Stmt, made: &mut usize) -> Stmt {
    if size_of(&body) < LONG {
        return body;
    }
    cut(program, body, made).0
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

/// What is left of a statement, and how long that is.
struct Left {
    size: usize,
    has_loop: bool,
}

fn cut(program: &mut Program, s: Stmt, made: &mut usize) -> (Stmt, Left) {
    deep(|| match s {
        Stmt::Block(list) => cut_list(program, list, made),
        other => {
            let own = own_size(&other);
            let mut left = Left { size: own, has_loop: matches!(other, Stmt::For(_)) };
            let cx = std::cell::RefCell::new((program, made, &mut left));
            let s = visit::map_stmt(
                other,
                |e| e.clone(),
                |inner| {
                    let (program, made, left) = &mut *cx.borrow_mut();
                    let (inner, rest) = cut(program, inner, made);
                    let (inner, rest) = take(program, inner, rest, made);
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
fn cut_list(program: &mut Program, list: Vec<Stmt>, made: &mut usize) -> (Stmt, Left) {
    let mut done = Vec::with_capacity(list.len());
    let mut all = Left { size: 0, has_loop: false };
    let (mut open, mut rest) = (Vec::new(), Left { size: 0, has_loop: false });
    for s in list {
        let (s, left) = cut(program, s, made);
        open.push(s);
        rest = Left { size: rest.size + left.size, has_loop: rest.has_loop || left.has_loop };
        if rest.size >= PART {
            let (s, left) = take(program, build::block(std::mem::take(&mut open)), rest, made);
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
fn take(program: &mut Program, s: Stmt, left: Left, made: &mut usize) -> (Stmt, Left) {
    if left.size < PART || !left.has_loop {
        return (s, left);
    }
    let id = program.loops.push(format!("part{made}"));
    let needs = Needs::of(&s, id, program);
    let captured = needs.size();
    if needs.buffers().any(|buf| program.buffers[buf].memory == Memory::Register) || captured * 2 > left.size {
        return (s, left);
    }
    *made += 1;
    let whole = For { id, kind: ForKind::Parallel, min: build::int(0), extent: build::int(1), body: s };
    (outline(program, whole, needs), Left { size: captured, has_loop: false })
}
