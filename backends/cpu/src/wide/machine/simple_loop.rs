//! Innermost loops with a preheader and one latch.

use super::block_order::{reverse_postorder, successors};
use super::inner_loops::innermost_ranges;
use super::inst::{BlockId, Body, Condition, End};
use regalloc2::VReg;
use std::collections::BTreeSet;
use std::ops::Range;

/// A loop without another one in it.
pub(super) struct SimpleLoop {
    /// The blocks, in reverse postorder; true for those that dominate all later ones.
    pub(super) blocks: Vec<(BlockId, bool)>,
    /// The block that jumps into the loop and nowhere else.
    pub(super) preheader: BlockId,
    /// The block that jumps back.
    pub(super) latch: BlockId,
    params: Vec<Param>,
    /// The parameters of all blocks.
    defined: BTreeSet<VReg>,
    members: BTreeSet<usize>,
}

/// A parameter of the head.
pub(super) struct Param {
    pub(super) register: VReg,
    /// Its value in the first iteration.
    pub(super) first: VReg,
    /// Its value in the next iteration.
    pub(super) next: VReg,
}

/// Returns the innermost loops of this form.
pub(super) fn simple_loops(body: &Body) -> Vec<SimpleLoop> {
    let order = reverse_postorder(body);
    let mut positions = vec![0; body.blocks.len()];
    order.iter().enumerate().for_each(|(position, b)| positions[b.0] = position);
    let mut predecessors = vec![Vec::new(); order.len()];
    for (position, block) in order.iter().enumerate() {
        successors(body, *block).into_iter().for_each(|to| predecessors[positions[to.0]].push(position));
    }
    let ranges = innermost_ranges(&predecessors);
    ranges
        .into_iter()
        .filter_map(|range| {
            let (inside, outside): (Vec<usize>, Vec<usize>) =
                predecessors[range.start].iter().partition(|b| range.contains(b));
            let ([latch], [preheader]) = (&inside[..], &outside[..]) else { return None };
            let spine = spine(&predecessors, range.clone());
            let blocks = order[range].iter().copied().zip(spine).collect();
            simple_loop(body, blocks, order[*preheader], order[*latch])
        })
        .collect()
}

/// Tells for each block of a loop if it dominates all later ones: no edge leads past it.
fn spine(predecessors: &[Vec<usize>], range: Range<usize>) -> Vec<bool> {
    let mut dominates = vec![true; range.len()];
    for block in range.clone() {
        for from in predecessors[block].iter().filter(|from| range.contains(from) && **from < block) {
            dominates[from + 1 - range.start..block - range.start].fill(false);
        }
    }
    dominates
}

fn simple_loop(body: &Body, blocks: Vec<(BlockId, bool)>, preheader: BlockId, latch: BlockId) -> Option<SimpleLoop> {
    let (head, _) = *blocks.first()?;
    let arguments = |block: BlockId| match &body.blocks[block.0].end {
        Some(End::Jump(to, values)) if *to == head => Some(values),
        _ => None,
    };
    let params = &body.blocks[head.0].params;
    let all = params.iter().zip(arguments(preheader)?.iter().zip(arguments(latch)?));
    let params = all.map(|(param, (first, next))| Param { register: *param, first: *first, next: *next }).collect();
    let members = blocks.iter().map(|(b, _)| b.0).collect();
    let defined = blocks.iter().flat_map(|(b, _)| body.blocks[b.0].params.iter().copied()).collect();
    Some(SimpleLoop { blocks, preheader, latch, params, defined, members })
}

impl SimpleLoop {
    pub(super) fn head(&self) -> BlockId {
        self.blocks[0].0
    }
    pub(super) fn contains(&self, block: usize) -> bool {
        self.members.contains(&block)
    }
    /// Returns true for a parameter of one of its blocks.
    pub(super) fn defines(&self, register: VReg) -> bool {
        self.defined.contains(&register)
    }
    /// The parameters of the head.
    pub(super) fn params(&self) -> &[Param] {
        &self.params
    }
    /// The block whose branch goes on with the next iteration where a register is less than a limit, and its end.
    pub(super) fn test<'a>(&self, body: &'a Body) -> Option<(BlockId, &'a End)> {
        let ends = self.blocks.iter().filter_map(|(b, _)| Some((*b, body.blocks[b.0].end.as_ref()?)));
        let is_test =
            |end: &End| matches!(end, End::Branch { condition: Condition::Less, yes, .. } if *yes == self.latch);
        ends.into_iter().find(|(_, end)| is_test(end))
    }
    /// The parameter of the head that a register is.
    pub(super) fn param(&self, register: VReg) -> Option<&Param> {
        self.params.iter().find(|p| p.register == register)
    }
}
