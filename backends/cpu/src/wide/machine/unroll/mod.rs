//! Unrolling of innermost loops that are limited by the number of their instructions (Bacon, Graham and Sharp, Compiler
//! Transformations for High-Performance Computing, 1994, section 6.4.1).
//!
//! A core starts some instructions a cycle, of any kind, and fewer loads, stores and vector operations. Where the first
//! is the limit ([`work`]), the counter, its comparison and the branch cost time. Copies of the body follow each other,
//! addresses go on by constants, and one test is made for all. The loop as it was does what is left over. The order of
//! all operations stays, so results do.
//!
//! Before: `loop: [i]; i += 16; if i < n goto loop`
//! After: `while i < n - 16 { [i]; [i + 16]; i += 32 }; loop: ..`
//! Example: `short_loops_are_unrolled` in this file.

mod expand;
mod work;

use super::counted_loop::{CountedLoop, closed, counted};
use super::inst::{BlockId, Body};
use super::simple_loop::{SimpleLoop, simple_loops};
use expand::expand;
use work::{factor, is_short};

/// Unrolls innermost loops where that pays; their heads and factors.
pub(super) fn unroll(body: &mut Body) -> Vec<(BlockId, usize)> {
    let loops = simple_loops(body);
    let mut positions = vec![usize::MAX; body.blocks.len()];
    body.order.iter().enumerate().for_each(|(position, b)| positions[b.0] = position);
    let may = |l: &&SimpleLoop| !body.kept_rolled.contains(&l.head()) && is_short(body, l, &positions);
    let chosen: Vec<(CountedLoop<'_>, usize)> = loops
        .iter()
        .filter(may)
        .filter_map(|l| counted(body, l))
        .filter_map(|r| factor(body, &r, &positions).map(|factor| (r, factor)))
        .collect();
    if chosen.is_empty() {
        return Vec::new();
    }
    let closed = closed(body, &chosen.iter().map(|(r, _)| r).collect::<Vec<_>>());
    let chosen = chosen.into_iter().zip(closed).filter(|(_, closed)| *closed);
    chosen.map(|((r, factor), _)| (expand(body, &r, factor), factor)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::finish;
    use super::super::loop_for_tests::{Loop, counting, text_of};
    use iced_x86::Code;

    /// The text of a loop of one load and one store of 32 bytes, which go on by 8 elements of 4 bytes, and the numbers
    /// of copies of its body.
    fn copy(limit: Option<i32>, kept_rolled: bool, sums: usize) -> (String, Vec<usize>) {
        let Loop { mut body, head, .. } = counting(3, limit, |l, index| {
            let mut value = l.load(0, index);
            for _ in 0..sums {
                value = l.vector(Code::VEX_Vaddps_ymm_ymm_ymmm256, value, value);
            }
            l.store(0, index, value);
        });
        if kept_rolled {
            body.kept_rolled.push(head);
        }
        let encoded = finish(body).unwrap();
        (text_of(&encoded), encoded.unrolled.into_iter().map(|(_, copies)| copies).collect())
    }

    #[test]
    fn short_loops_are_unrolled() {
        let (text, unrolled) = copy(None, false, 0);
        assert_eq!(unrolled, [4]);
        // Four copies, whose addresses go on by constants, and the loop that does the rest.
        assert_eq!(text.matches("vmovups ymm").count(), 5, "{text}");
        for offset in ["*4]", "*4+20h]", "*4+40h]", "*4+60h]"] {
            assert!(text.contains(offset), "{offset} in {text}");
        }
        assert_eq!(text.matches("lea").count(), 3, "the limit and two counters in {text}");
    }

    #[test]
    fn loops_that_vector_operations_limit_stay() {
        assert_eq!(copy(None, false, 8).1, [0; 0]);
    }

    #[test]
    fn loops_stay_where_the_schedule_says_so() {
        assert_eq!(copy(None, true, 0).1, [0; 0]);
    }

    #[test]
    fn loops_of_few_iterations_get_fewer_copies_or_none() {
        let copies = |iterations| copy(Some(iterations), false, 0).1;
        assert_eq!([copies(3), copies(4), copies(7), copies(8)], [vec![], vec![2], vec![2], vec![4]]);
    }
}
