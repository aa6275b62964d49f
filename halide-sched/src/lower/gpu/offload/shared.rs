//! Assigns places to the allocations of block code in the memory that the threads of a block share.

use super::error::KernelProblem;
use halide_core::types::ScalarType;
use halide_ir::hash::{Map, Set};
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, ExprKind, ForKind, Program, Shared, Stmt};

/// The use of an allocation in time, in the order of block code; what is used in a loop lives through all of it.
#[derive(Clone, Copy)]
struct Life {
    first: u32,
    last: u32,
}

#[derive(Default)]
struct Lives<'h> {
    /// Buffers that lanes hold in registers, which need no place here.
    held: Option<&'h Set<BufId>>,
    now: u32,
    lives: Map<BufId, Option<Life>>,
    words: Map<BufId, u64>,
    order: Vec<BufId>,
    /// The buffers that each loop around uses.
    used: Vec<Set<BufId>>,
}

/// Returns the number of words that an element takes in shared memory.
pub(super) fn words_of(elem: ScalarType) -> u64 {
    (elem.bytes() as u64).div_ceil(4)
}

/// The rows of the allocations in `body`, in order, and the size of the memory in words; `most_bytes` is what there is.
/// `held` is not in it.
pub(super) fn place(
    program: &Program,
    body: &Stmt,
    held: &Set<BufId>,
    most_bytes: u32,
) -> Result<(Vec<Shared>, u32), KernelProblem> {
    let mut lives = Lives { held: Some(held), ..Lives::default() };
    lives.stmt(body, program);
    let life = |buf: &BufId| lives.lives.get(buf).copied().flatten();
    let mut largest_first = lives.order.clone();
    largest_first.sort_by_key(|buf| std::cmp::Reverse(lives.words[buf]));
    let mut placed: Vec<(BufId, u64, Option<Life>)> = Vec::new();
    for buf in largest_first {
        let (words, own) = (lives.words[&buf], life(&buf));
        let mut taken: Vec<(u64, u64)> = placed
            .iter()
            .filter(|(_, _, other)| meet(own, *other))
            .map(|(other, at, _)| (*at, at.saturating_add(lives.words[other])))
            .collect();
        taken.sort_unstable();
        let mut at = 0u64;
        for (from, to) in taken {
            if from >= at.saturating_add(words) {
                break;
            }
            at = at.max(to);
        }
        placed.push((buf, at, own));
    }
    let total = placed.iter().map(|(buf, at, _)| at.saturating_add(lives.words[buf])).max().unwrap_or(0);
    let bytes = total.saturating_mul(4);
    if bytes > u64::from(most_bytes) {
        let name = |buf: &BufId| (program.buffers[*buf].name.clone(), lives.words[buf].saturating_mul(4));
        let funcs = lives.order.iter().map(name).collect();
        return Err(KernelProblem::SharedMemory { bytes, most: u64::from(most_bytes), funcs });
    }
    let row = |buf: BufId| {
        let at = placed.iter().find(|(other, ..)| *other == buf).map_or(0, |(_, at, _)| *at);
        Shared { buf, first_word: at as u32, words: lives.words[&buf] as u32 }
    };
    Ok((lives.order.iter().map(|buf| row(*buf)).collect(), total as u32))
}

/// Returns true if two allocations are alive at the same time.
fn meet(a: Option<Life>, b: Option<Life>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.first <= b.last && b.first <= a.last,
        _ => false,
    }
}

impl Lives<'_> {
    fn stmt(&mut self, s: &Stmt, program: &Program) {
        deep(|| self.one(s, program));
    }

    fn one(&mut self, s: &Stmt, program: &Program) {
        match s {
            Stmt::For(l) if l.kind == ForKind::GpuThreads => {
                self.now += 1;
                self.uses_deep(s);
            }
            Stmt::For(l) => {
                self.uses(s);
                let first = self.now + 1;
                self.used.push(Set::default());
                self.stmt(&l.body, program);
                let used = self.used.pop().unwrap_or_default();
                for buf in used {
                    self.touch(buf, first);
                    self.touch(buf, self.now);
                }
            }
            Stmt::Alloc { buf, body, .. } if self.held.is_some_and(|held| held.contains(buf)) => {
                self.stmt(body, program);
            }
            Stmt::Alloc { buf, constant, body, .. } => {
                let elems = constant.unwrap_or(u64::MAX);
                let words = elems.saturating_mul(words_of(program.buffers[*buf].elem));
                // Copies of a loop allocate the same buffer, one after the other: in one place.
                if self.lives.insert(*buf, self.lives.get(buf).copied().flatten()).is_none() {
                    self.order.push(*buf);
                }
                let most = self.words.get(buf).copied().unwrap_or(0).max(words);
                self.words.insert(*buf, most);
                self.uses(s);
                self.stmt(body, program);
                // Loops around see none of it between their iterations.
                self.used.iter_mut().for_each(|used| _ = used.remove(buf));
            }
            other => {
                self.uses(other);
                visit::for_each_stmt(other, |inner| self.stmt(inner, program));
            }
        }
    }

    /// Records the uses by the expressions of `s` itself, at a time of their own.
    fn uses(&mut self, s: &Stmt) {
        self.now += 1;
        self.uses_now(s);
    }

    fn uses_now(&mut self, s: &Stmt) {
        let mut found = Set::default();
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    found.insert(*buf);
                }
            });
        });
        if let Stmt::Store { buf, .. } = s {
            found.insert(*buf);
        }
        found.into_iter().for_each(|buf| self.touch(buf, self.now));
    }

    /// Records the uses by threads, all at the same time: one may be at the end of a phase while another begins it.
    fn uses_deep(&mut self, s: &Stmt) {
        self.uses_now(s);
        visit::for_each_stmt(s, |inner| self.uses_deep(inner));
    }

    fn touch(&mut self, buf: BufId, at: u32) {
        if let Some(life) = self.lives.get_mut(&buf) {
            let old = life.unwrap_or(Life { first: at, last: at });
            *life = Some(Life { first: old.first.min(at), last: old.last.max(at) });
            if let Some(used) = self.used.last_mut() {
                used.insert(buf);
            }
        }
    }
}
