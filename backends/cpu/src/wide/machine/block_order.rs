//! The order of blocks in which registers are chosen.
//!
//! `regalloc2` takes each jump to an earlier block for the end of a loop, and what is between the two for its body. In
//! the order of code, where rare blocks stand behind all others, their jumps back would count as loops. So registers
//! are chosen in reverse postorder, in which only loops jump back and the blocks of a loop follow each other.

use super::inst::{BlockId, Body, End};

/// Returns the blocks in reverse postorder, with each loop before what follows it; then those that nothing leads to.
///
/// Of two successors, the one that stands later in the code is left for later. The code has a loop in front of what
/// follows it.
pub(super) fn reverse_postorder(body: &Body) -> Vec<BlockId> {
    let mut positions = vec![usize::MAX; body.blocks.len()];
    body.order.iter().enumerate().for_each(|(i, b)| positions[b.0] = i);
    let sorted = |block: BlockId| {
        let mut all = successors(body, block);
        all.sort_by_key(|b| positions[b.0]);
        all
    };
    let mut seen = vec![false; body.blocks.len()];
    let mut done = Vec::with_capacity(body.order.len());
    // Blocks under way, each with the successors that are still to be visited, the last one first.
    let mut path: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
    if let Some(first) = body.order.first() {
        seen[first.0] = true;
        path.push((*first, sorted(*first)));
    }
    while let Some((block, rest)) = path.last_mut() {
        match rest.pop() {
            Some(next) if seen[next.0] => {}
            Some(next) => {
                seen[next.0] = true;
                path.push((next, sorted(next)));
            }
            None => {
                done.push(*block);
                path.pop();
            }
        }
    }
    done.reverse();
    done.extend(body.order.iter().filter(|b| !seen[b.0]));
    done
}

/// Returns the blocks in which a block may go on.
pub(super) fn successors(body: &Body, block: BlockId) -> Vec<BlockId> {
    match &body.blocks[block.0].end {
        Some(End::Jump(to, _)) => vec![*to],
        Some(End::Branch { yes, no, .. }) => vec![*yes, *no],
        Some(End::Return) | None => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::inst::{BlockId, Body, Condition, End, Right, View};
    use super::reverse_postorder;

    /// Appends `count` blocks, and gives them these ends.
    fn body(order: &[usize], ends: &[&[usize]]) -> Body {
        let mut body = Body::new(View::Z, true);
        while body.blocks.len() < ends.len() {
            body.block();
        }
        for (i, to) in ends.iter().enumerate() {
            body.blocks[i].end = Some(match **to {
                [] => End::Return,
                [to] => End::Jump(BlockId(to), Vec::new()),
                [yes, no, ..] => End::Branch {
                    condition: Condition::Equal,
                    left: body.argument,
                    right: Right::Const(0),
                    yes: BlockId(yes),
                    no: BlockId(no),
                },
            });
        }
        body.order = order.iter().map(|b| BlockId(*b)).collect();
        body
    }
    fn numbers(body: &Body) -> Vec<usize> {
        reverse_postorder(body).into_iter().map(|b| b.0).collect()
    }

    #[test]
    fn a_rare_block_behind_the_code_is_chosen_for_before_its_join() {
        // 0 -> 1 (a loop's head) -> 2 or 5 (rare) -> 3 (join and latch) -> 6 -> 1, or 4.
        let made = body(&[0, 1, 2, 3, 6, 4, 5], &[&[1], &[2, 5], &[3], &[6, 4], &[], &[3], &[1]]);
        assert_eq!(numbers(&made), [0, 1, 2, 5, 3, 6, 4]);
    }

    #[test]
    fn an_early_exit_stays_behind_the_loop_and_unreachable_blocks_at_the_end() {
        // 0 -> 1 -> 2 or 4 (exit); 2 -> 1 or 3. Nothing leads to 5.
        let made = body(&[0, 1, 2, 6, 3, 4, 5], &[&[1], &[2, 4], &[6, 3], &[], &[], &[3], &[1]]);
        assert_eq!(numbers(&made), [0, 1, 2, 6, 3, 4, 5]);
    }
}
