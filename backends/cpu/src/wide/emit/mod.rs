//! From statements and expressions of loop IR to machine code.
//!
//! [`kernel`] is the state of a kernel under construction. [`levels`] and [`invariant_placement`] say at which loop a
//! value is computed: as far out as it stays the same. [`value`] and [`registers`] say how lanes live in registers,
//! [`mask`] how predicate masks do. Then the operators ([`int`], [`bits`], [`divide`], [`product`], [`divide64`],
//! [`dot`], [`float`], [`compare`], [`half`], [`convert`], [`narrow`], [`math`]), of which many are those of
//! `halide_backend` over the primitives of [`lane_ops`], scalars that count ([`index`]), memory ([`places`],
//! [`address`], [`load`] by [`load_table`], [`boundary_load`], [`table_lookup`], [`scalarised_gather`],
//! [`paired_gather`] with [`neighbours`], [`store`], [`gather`], and [`guarded`] where some lanes must not be touched),
//! lanes that move ([`shuffle`], [`interleave`], [`tiles`]) and statements ([`stmt`], [`slots`], [`heap`] with
//! [`claims`], [`check`], [`poll`], [`marks`], [`code_places`]).
//!
//! AVX2 lacks some of the instructions that AVX-512 has. What it has none for is made of others in [`polyfills`],
//! [`narrow`] and [`permute`], and refused where that is not worth it.

mod address;
mod bits;
mod boundary_load;
mod captured_sums;
mod check;
mod claims;
mod code_places;
mod compare;
mod convert;
mod divide;
mod divide64;
mod dot;
mod expr;
mod float;
mod gather;
mod guarded;
mod half;
mod heap;
mod index;
mod int;
mod interleave;
mod invariant_placement;
mod kernel;
mod lane_ops;
mod levels;
mod load;
mod load_table;
mod marks;
mod mask;
mod math;
mod narrow;
mod neighbours;
mod open_lines;
mod paired_gather;
mod permute;
mod places;
mod poll;
mod polyfills;
mod product;
mod registers;
mod scalarised_gather;
mod shuffle;
mod slots;
mod stmt;
mod store;
mod table_lookup;
mod tiles;
mod value;
mod widened_picks;

use super::interface::{Capture, Check, Claim, Loads, Refusal, Surroundings};
use super::machine::{BlockId, Body, End, View};
use crate::options::CpuOptions;
use crate::shared::linear::Sums;
use crate::shared::memo::Memo;
use crate::tier::Tier;
use claims::Heap;
use halide_ir::code_place::PlaceTable;
use halide_ir::features::CpuFeature;
use halide_ir::hash::Map;
use halide_ir::{For, LoopId, Program};
use iced_x86::Code;
use kernel::{Emit, IndexScratch, Names, Polls};
use levels::Level;
use neighbours::Neighbours;
use open_lines::OpenLines;
use places::Allocations;

/// A kernel before registers are chosen.
pub(super) struct Finished {
    pub(super) body: Body,
    pub(super) captures: Vec<(Capture, usize)>,
    pub(super) words: usize,
    pub(super) heap: Vec<Vec<Claim>>,
    pub(super) checks: Vec<Check>,
    /// The number of its instructions.
    pub(super) count: usize,
    /// The places of instructions, if they are asked for.
    pub(super) code_places: Option<PlaceTable>,
    /// Its loads, the cheapest first.
    pub(super) loads: Vec<Loads>,
    /// The heads of its loops.
    pub(super) heads: Vec<(BlockId, LoopId)>,
}

/// Emits a loop nest as a function.
pub(super) fn nest(
    program: &Program,
    around: &dyn Surroundings,
    nest: &For,
    options: &CpuOptions,
) -> Result<Finished, Refusal> {
    let tier = options.tier;
    let mut e = Emit {
        program,
        around,
        body: Body::new(widest(tier), tier == Tier::Avx512),
        heads: Vec::new(),
        levels: vec![Level::first()],
        cursor: 0,
        memo: Memo::default(),
        homes: Map::default(),
        symbols: Map::default(),
        constants: Map::default(),
        predicates: Map::default(),
        sums: Sums::default(),
        vectors: Map::default(),
        slots: Allocations::default(),
        neighbours: Neighbours::default(),
        heap: Heap::default(),
        checks: Vec::new(),
        cold: Vec::new(),
        captures: Vec::new(),
        words: 0,
        small: Map::default(),
        open_lines: OpenLines::new(program, nest, widest(tier).bytes()),
        polls: Polls::default(),
        mark: None,
        code_places: (options.keep_text || options.note_mnemonics).then(|| PlaceTable::new(around.code_place())),
        streams: false,
        vbmi: tier == Tier::Avx512 && options.may_use(CpuFeature::Avx512vbmi),
        vnni: options.may_use(if tier == Tier::Avx512 { CpuFeature::Avx512vnni } else { CpuFeature::Avxvnni }),
        small_names: Names::default(),
        scratch: None,
        index_scratch: IndexScratch::default(),
        loads: Vec::new(),
        count: 0,
    };
    e.for_loop(nest)?;
    if e.streams {
        // Other threads are told by ordinary stores that these have been made.
        e.push(Code::Sfence, Vec::new());
    }
    e.note_captured_sums();
    let last = e.levels[0].block;
    e.body.blocks[last.0].end = Some(End::Return);
    e.body.order.append(&mut e.cold);
    e.end_early();
    e.check_size()?;
    let heap = e.heap.claims();
    let Emit { body, captures, words, checks, count, heads, code_places, mut loads, .. } = e;
    loads.sort_by_key(|loads| loads.operations);
    Ok(Finished { body, captures, words, heap, checks, count, heads, code_places, loads })
}

/// The widest registers of a tier.
fn widest(tier: Tier) -> View {
    match tier {
        Tier::Baseline => View::X,
        Tier::Avx2 => View::Y,
        Tier::Avx512 => View::Z,
    }
}
