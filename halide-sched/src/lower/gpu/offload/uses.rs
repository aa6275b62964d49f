//! The symbols, parameters and buffers that a kernel needs from outside, and the form of its stores.

use crate::lower::vectors::lanes;
use crate::lower::walk;
use halide_core::ids::ParamId;
use halide_ir::visit;
use halide_ir::{BufId, DimField, Expr, ExprKind, KernelBuffer, LoopId, Program, Stmt, Sym, Type, Writes, build};
use halide_solve::simplify::Facts;
use std::collections::{BTreeMap, BTreeSet};

/// Bytes of a word, the smallest part of memory that a kernel can write without disturbing its neighbours.
const WORD: i64 = 4;

/// The symbols, parameters and buffers that a kernel uses and does not make itself.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) syms: BTreeMap<Sym, Type>,
    pub(super) params: BTreeSet<ParamId>,
    reads: BTreeSet<BufId>,
    stores: BTreeSet<BufId>,
    made: BTreeSet<Sym>,
    own: BTreeSet<BufId>,
}

/// Returns the uses of `body`, whose loops over blocks are `blocks`.
pub(super) fn of(body: &Stmt, blocks: &[LoopId]) -> Uses {
    let mut uses = Uses { made: blocks.iter().map(|l| Sym::Loop(*l)).collect(), ..Uses::default() };
    walk::any_stmt(body, &mut |s| {
        uses.note(s);
        false
    });
    let Uses { syms, reads, stores, made, own, .. } = &mut uses;
    syms.retain(|s, _| !made.contains(s));
    reads.retain(|b| !own.contains(b));
    stores.retain(|b| !own.contains(b));
    uses
}

impl Uses {
    fn note(&mut self, s: &Stmt) {
        match s {
            Stmt::Let { bindings, .. } => self.made.extend(bindings.iter().map(|(s, _)| *s)),
            Stmt::For(l) => _ = self.made.insert(Sym::Loop(l.id)),
            Stmt::Alloc { buf, .. } => _ = self.own.insert(*buf),
            Stmt::Store { buf, .. } => _ = self.stores.insert(*buf),
            _ => {}
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| match n.kind() {
                ExprKind::Sym(s) => _ = self.syms.insert(*s, n.ty()),
                ExprKind::Param(id) => _ = self.params.insert(*id),
                ExprKind::Load { buf, .. } => _ = self.reads.insert(*buf),
                _ => {}
            });
        });
    }

    /// The buffers from outside; `pieces` are those that are not stored to in whole words, and `strides` those that
    /// whole words rest on.
    pub(super) fn buffers(&self, pieces: &BTreeMap<BufId, Pieces>, strides: &[Sym]) -> Vec<KernelBuffer> {
        let all: BTreeSet<BufId> = self.reads.union(&self.stores).copied().collect();
        let one = |buf: BufId| {
            let writes = match (self.stores.contains(&buf), pieces.contains_key(&buf)) {
                (false, _) => Writes::None,
                (true, false) => Writes::Words,
                (true, true) => Writes::Pieces,
            };
            let of = |s: &&Sym| writes == Writes::Words && matches!(s, Sym::Buffer { buf: b, .. } if *b == buf);
            KernelBuffer {
                buf,
                reads: self.reads.contains(&buf),
                writes,
                word_strides: strides.iter().filter(of).copied().collect(),
            }
        };
        all.into_iter().map(one).collect()
    }

    /// The strides of the caller's buffers of small elements that the kernel stores to: whole words rest on them.
    pub(super) fn word_strides(&self, program: &Program) -> Vec<Sym> {
        let small = |buf: &BufId| lanes_of_word(program, *buf) > 1;
        let all = self.syms.keys().filter(|s| match s {
            Sym::Buffer { buf, dim, field: DimField::Stride } => {
                let info = &program.buffers[*buf];
                self.stores.contains(buf) && small(buf) && info.unit_stride.is_some_and(|d| d != *dim as usize)
            }
            _ => false,
        });
        all.copied().collect()
    }
}

/// Returns the number of elements of a buffer that a word holds; 1 for elements of a word and more.
fn lanes_of_word(program: &Program, buf: BufId) -> i64 {
    (WORD / program.buffers[buf].elem.bytes() as i64).max(1)
}

/// A reason that stores to a buffer are not of whole words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Pieces {
    /// They are of too few elements, or not of neighbours.
    Lanes,
    /// Some lanes may be off.
    Mask,
    /// They may begin in the middle of a word.
    Address,
    /// They are part of atomic steps, which are such operations on words.
    Steps,
}

impl Pieces {
    /// The reason as a sentence goes on after "because".
    pub(super) fn text(self, lanes: i64) -> String {
        match self {
            Pieces::Lanes => {
                format!("a store has not {lanes} neighbours in its lanes: `vectorize` by a multiple of that")
            }
            Pieces::Steps => "elements are changed in atomic steps".to_string(),
            Pieces::Mask => {
                "a tail turns off some lanes of a store: `RoundUp` or a promised extent do without".to_string()
            }
            Pieces::Address => {
                "a store may begin in the middle of a word: a tail that moves inwards, or an odd stride or \
                                minimum"
                    .to_string()
            }
        }
    }
}

/// The buffers from outside that `body` stores to in pieces of words. `facts` are those around it.
pub(super) fn pieces(body: &Stmt, program: &Program, facts: &mut Facts, strides: &[Sym]) -> BTreeMap<BufId, Pieces> {
    facts.push_scope();
    for s in strides {
        let Sym::Buffer { buf, .. } = s else { continue };
        facts.assume_congruence(&build::sym(*s), lanes_of_word(program, *buf), 0);
    }
    let mut found = Stores { program, facts, own: BTreeSet::new(), pieces: BTreeMap::new() };
    stores(&mut found, body.clone());
    let pieces = found.pieces;
    facts.pop_scope();
    pieces
}

struct Stores<'p> {
    program: &'p Program,
    facts: &'p mut Facts,
    own: BTreeSet<BufId>,
    pieces: BTreeMap<BufId, Pieces>,
}

fn stores(cx: &mut Stores<'_>, s: Stmt) -> Stmt {
    match &s {
        Stmt::Alloc { buf, .. } => _ = cx.own.insert(*buf),
        Stmt::Atomic { body, .. } => {
            _ = walk::any_stmt(body, &mut |s| {
                if let Stmt::Store { buf, .. } = s
                    && !cx.own.contains(buf)
                {
                    cx.pieces.insert(*buf, Pieces::Steps);
                }
                false
            })
        }
        Stmt::Store { buf, index, mask, .. } if !cx.own.contains(buf) => {
            let lanes = lanes_of_word(cx.program, *buf);
            if let Some(why) = store_in_pieces(index, mask.as_ref(), lanes, cx.facts) {
                cx.pieces.entry(*buf).or_insert(why);
            }
        }
        _ => {}
    }
    walk::map_stmt_under(s, cx, |cx| &mut *cx.facts, |_, e| e.clone(), stores)
}

/// Returns the reason that a store is not of whole words, if it is not; a word holds `lanes` elements.
fn store_in_pieces(index: &Expr, mask: Option<&Expr>, lanes: i64, facts: &Facts) -> Option<Pieces> {
    if lanes == 1 {
        return None;
    }
    if mask.is_some() {
        return Some(Pieces::Mask);
    }
    let lanes::Shape::Ramp(first, stride) = lanes::shape(index) else { return Some(Pieces::Lanes) };
    if build::as_int(&stride) != Some(1) || i64::from(index.lanes()) % lanes != 0 {
        return Some(Pieces::Lanes);
    }
    (facts.congruence(&first).modulo(lanes) != Some(0)).then_some(Pieces::Address)
}
