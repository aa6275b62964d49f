//! Loops with vectors of 256 or 512 bits, which Cranelift does not have: a generator of machine code of our own.
//!
//! The code generator offers it every loop nest whose statements have vectors, outermost first. What it takes whole
//! becomes a function of one argument, a block of words that hold what the nest uses from around it ([`Capture`]); what
//! it does not take, it refuses with a reason ([`Refusal`]), and the loops inside are offered next. Nothing is taken in
//! part.
//!
//! [`machine`] knows instructions and registers, [`instruction_table`] which instruction does what at which width,
//! [`emit`] what statements and expressions of loop IR become.
//!
//! Memory that a nest needs for itself beyond its frame is obtained before the call and handed in, one piece for what
//! is not live at the same time (`emit/heap`). Checks that the nest would come to are made there too; those that only
//! the inside can decide leave the kernel early (`emit/check`). Each value is computed in the outermost loop in which
//! it does not change (`emit/invariant_placement`). Loads that limits keep near each other need no gathers
//! (`emit/boundary_load`), bytes of small tables are looked up in registers (`emit/table_lookup`), lanes at addresses
//! of their own are loaded one by one (`emit/scalarised_gather`), two neighbouring elements at once
//! (`emit/paired_gather`), and products of small integers are added two or four at a time (`emit/dot`).
//!
//! What AVX2 lacks is made of other instructions (`emit/polyfills`, `narrow`, `permute`, `guarded`), so both tiers
//! refuse the same. Truth is in mask registers or in vectors (`emit/mask`). [`machine`] drops dead code, folds loads
//! into operands, has `regalloc2` choose registers, moves reloads out of innermost loops, and has `iced-x86` encode.
//! Outputs far larger than caches, and buffers of `stream_stores`, are stored by non-temporal stores where addresses
//! allow it. Prefetches are instructions of kernels; those outside of kernels are kernels of their own, and without
//! wide vectors there are none, since Cranelift has no such instruction.

mod emit;
mod instruction_table;
pub(crate) mod interface;
mod machine;

use crate::options::CpuOptions;
use crate::shared::code_map::CodeSpan;
use crate::tier::Tier;
use halide_ir::code_place::{CodePart, CodePlace, PlaceTable};
use halide_ir::features::CpuFeature;
use halide_ir::{For, LoopId, Program};
use interface::{Capture, Check, Claim, Loads, Refusal, Surroundings};

/// A finished kernel.
pub(crate) struct Kernel {
    /// Its code, to be placed at a multiple of [`ALIGN`]. By the System V convention it gets the address of its words
    /// and returns nothing.
    pub(crate) bytes: Vec<u8>,
    /// The number of bytes in front of its constants.
    pub(crate) code_bytes: usize,
    /// The places of its instructions, if they were asked for.
    pub(crate) spans: Vec<CodeSpan>,
    /// The captures that its words hold: each with the number of its first word.
    pub(crate) captures: Vec<(Capture, usize)>,
    /// The number of words.
    pub(crate) words: usize,
    /// Pieces of memory for the time of a call: each is as large as the largest claim.
    pub(crate) heap: Vec<Vec<Claim>>,
    /// The checks that are made before that memory is obtained, in order.
    pub(crate) checks: Vec<Check>,
    /// Bytes of stack that it needs, from its return address on.
    pub(crate) frame: u64,
    /// Bytes at the stack pointer in which the register allocator keeps values.
    pub(crate) spills: u64,
    /// The number of instructions that it was made of.
    pub(crate) count: usize,
    /// Innermost loops that were unrolled, with the numbers of copies.
    pub(crate) unrolled: Vec<(LoopId, usize)>,
    /// Its loads, the cheapest first.
    pub(crate) loads: Vec<Loads>,
}

/// The alignment that code needs.
pub(crate) const ALIGN: u64 = machine::ALIGN as u64;

/// The loop as a kernel of vectors of a tier wider than Cranelift's.
pub(crate) fn compile(
    program: &Program,
    around: &dyn Surroundings,
    nest: &For,
    options: &CpuOptions,
) -> Result<Kernel, Refusal> {
    let finished = match emit::nest(program, around, nest, options) {
        // 512-bit vectors lack permutations of bytes on older machines; with 256 bits they are made of others.
        Err(_) if options.tier == Tier::Avx512 && !options.may_use(CpuFeature::Avx512vbmi) => {
            emit::nest(program, around, nest, &CpuOptions { tier: Tier::Avx2, ..*options })?
        }
        finished => finished?,
    };
    let encoded = machine::finish(finished.body);
    // Any code can be encoded: who loses vectors by a mistake of ours is not to find out by their times.
    debug_assert!(encoded.is_ok(), "{:?}", encoded.err());
    let encoded = encoded.map_err(Refusal)?;
    let emit::Finished { captures, words, heap, checks, count, heads, code_places, loads, .. } = finished;
    let id_of = |head| heads.iter().find(|(block, _)| *block == head).map(|(_, id)| *id);
    let spans = code_places.map_or_else(Vec::new, |table| spans(&encoded, &table));
    let machine::Encoded { bytes, code_bytes, frame, spills, unrolled, .. } = encoded;
    let unrolled = unrolled.into_iter().filter_map(|(head, copies)| Some((id_of(head)?, copies))).collect();
    Ok(Kernel { bytes, code_bytes, spans, captures, words, heap, checks, frame, spills, count, unrolled, loads })
}

/// The bytes of each place. What begins and ends the kernel is in no loop.
fn spans(encoded: &machine::Encoded, table: &PlaceTable) -> Vec<CodeSpan> {
    let ends = encoded.places.iter().skip(1).map(|(start, ..)| *start).chain([encoded.code_bytes]);
    let mut all: Vec<CodeSpan> = Vec::new();
    for ((start, number, part), end) in encoded.places.iter().zip(ends) {
        let place = match (part, table.place(*number)) {
            (Some(CodePart::Frame), _) => CodePlace { part: CodePart::Frame, ..CodePlace::default() },
            (_, None) => continue,
            (Some(part), Some(place)) => CodePlace { part: *part, ..place },
            (None, Some(place)) => place,
        };
        match all.last_mut().filter(|last| last.place == place && last.end == *start as u32) {
            Some(last) => last.end = end as u32,
            None => all.push(CodeSpan { start: *start as u32, end: end as u32, place }),
        }
    }
    all
}
