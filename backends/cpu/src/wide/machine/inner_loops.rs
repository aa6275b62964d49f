//! Loops, and innermost ones, in the order in which registers were chosen: runs of blocks, each from one that a later
//! one jumps back to.

use super::allocate::Laid;
use regalloc2::{Block, Function, Inst, InstRange, Output, ProgPoint};
use std::ops::Range;

/// A loop that is entered at its first block.
pub(super) struct NaturalLoop {
    pub(super) blocks: Range<usize>,
    /// The blocks that lead into it and nowhere else.
    pub(super) before: Vec<usize>,
    pub(super) exits: Vec<Exit>,
    /// True for the blocks that stand behind its last one in the code, since they rarely run.
    rare: Vec<bool>,
    /// The first instruction of each block.
    firsts: Vec<Inst>,
}

/// An edge that leaves a loop.
pub(super) struct Exit {
    /// The block that it leads to.
    pub(super) to: usize,
    /// The point on it.
    pub(super) at: ProgPoint,
    /// True if the moves at this point are of the loop, and come before what is done on the edge.
    pub(super) is_inside: bool,
}

impl Exit {
    /// The rank of moves at the point, among which those that are there already have 1: behind those of the loop, and
    /// before those of what follows.
    pub(super) fn rank(&self) -> u8 {
        if self.is_inside { 2 } else { 0 }
    }
}

/// Returns the innermost loops.
pub(super) fn inner_loops(laid: &Laid<'_>) -> Vec<NaturalLoop> {
    made(laid, innermost_ranges)
}

/// Returns all loops that are entered at their first block only, those inside of others first.
pub(super) fn loops(laid: &Laid<'_>) -> Vec<NaturalLoop> {
    let mut found = made(laid, ranges);
    found.sort_by_key(|l| l.blocks.len());
    found
}

fn made(laid: &Laid<'_>, ranges: impl Fn(&[Vec<usize>]) -> Vec<Range<usize>>) -> Vec<NaturalLoop> {
    let mut code_positions = vec![0; laid.num_blocks()];
    laid.code_order().into_iter().enumerate().for_each(|(position, block)| code_positions[block] = position);
    let predecessors: Vec<Vec<usize>> = (0..laid.num_blocks()).map(|b| predecessors(laid, b).collect()).collect();
    ranges(&predecessors).into_iter().filter_map(|range| inner_loop(laid, range, &code_positions)).collect()
}

/// Returns the runs of blocks, in reverse postorder, that are loops without another loop in them and are entered at the
/// first block only.
pub(super) fn innermost_ranges(predecessors: &[Vec<usize>]) -> Vec<Range<usize>> {
    let mut found = ranges(predecessors);
    let is_head = |b: usize| predecessors[b].iter().any(|from| *from >= b);
    found.retain(|blocks| !(blocks.start + 1..blocks.end).any(is_head));
    found
}

/// Returns the runs of blocks, in reverse postorder, that are loops and are entered at the first block only.
fn ranges(predecessors: &[Vec<usize>]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for head in 1..predecessors.len() {
        let Some(last) = predecessors[head].iter().copied().filter(|b| *b >= head).max() else { continue };
        let blocks = head..last + 1;
        let is_entered = |b: usize| predecessors[b].iter().any(|from| !blocks.contains(from));
        if !(head + 1..blocks.end).any(is_entered) {
            found.push(blocks);
        }
    }
    found
}

fn predecessors(laid: &Laid<'_>, block: usize) -> impl Iterator<Item = usize> {
    laid.block_preds(Block::new(block)).iter().map(|b| b.index())
}

fn inner_loop(laid: &Laid<'_>, blocks: Range<usize>, code_positions: &[usize]) -> Option<NaturalLoop> {
    let head = blocks.start;
    let preds = |b: usize| predecessors(laid, b);
    let succs = |b: usize| laid.block_succs(Block::new(b)).iter().map(|b| b.index());
    let before: Vec<usize> = preds(head).filter(|b| !blocks.contains(b)).collect();
    if before.iter().any(|b| succs(*b).count() != 1) {
        return None;
    }
    let mut exits = Vec::new();
    for block in blocks.clone() {
        for to in succs(block).filter(|b| !blocks.contains(b)) {
            let is_inside = succs(block).count() == 1;
            let at = match is_inside {
                true => laid.block_insns(Block::new(block)).last(),
                false if preds(to).count() == 1 => laid.block_insns(Block::new(to)).first(),
                false => return None,
            };
            exits.push(Exit { to, at: ProgPoint::before(at), is_inside });
        }
    }
    let rare = blocks.clone().map(|b| code_positions[b] > code_positions[blocks.end - 1]).collect();
    let firsts = blocks.clone().map(|b| laid.block_insns(Block::new(b)).first()).collect();
    Some(NaturalLoop { blocks, before, exits, rare, firsts })
}

impl NaturalLoop {
    /// Returns the point behind all of a block but its jump.
    pub(super) fn end(&self, laid: &Laid<'_>, block: usize) -> ProgPoint {
        ProgPoint::before(laid.block_insns(Block::new(block)).last())
    }
    /// Returns the instructions of the loop.
    pub(super) fn insts(&self, laid: &Laid<'_>) -> InstRange {
        let first = laid.block_insns(Block::new(self.blocks.start)).first();
        InstRange::new(first, laid.block_insns(Block::new(self.blocks.end - 1)).last().next())
    }
    /// Returns the numbers of the moves in the loop.
    pub(super) fn edits(&self, laid: &Laid<'_>, output: &Output) -> Range<usize> {
        let insts = self.insts(laid);
        let start = output.edits.partition_point(|(at, _)| *at < ProgPoint::before(insts.first()));
        let end = output.edits.partition_point(|(at, _)| *at <= ProgPoint::before(insts.last()));
        start..end
    }
    /// Returns how often an instruction runs in an iteration: once, or rarely.
    pub(super) fn weight(&self, inst: Inst) -> usize {
        let block = self.firsts.partition_point(|first| *first <= inst);
        usize::from(!self.rare[block.saturating_sub(1)])
    }
}
