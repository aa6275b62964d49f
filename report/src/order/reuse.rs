//! Reuse distances: how many other points a run touches between two uses of one.
//!
//! A cache that holds the `n` points that were used last has a point at its next use if, and only if, the distance of
//! that use is less than `n`. So the distances say what any such cache gains, whatever its size (Mattson, Gecsei, Slutz
//! and Traiger 1970).
//!
//! The algorithm is that of Bennett and Kruskal (1975), with the tree of Fenwick (1994) for their partial sums, where
//! Olken (1981) has a balanced tree. Each touch is a moment. The tree has a mark at the moment of the last touch of
//! each point. When a point is touched again, the marks behind its own are the other points that were touched since;
//! then its mark moves to the present. `n` touches take `n log n` steps.

use super::canvas::Place;
use super::replay::Replay;
use std::collections::BTreeMap;

/// The reuse distances of a run. Loads and stores are touches; the elements of a tuple are one point.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reuse {
    /// The largest distance of each cell of each canvas; `None` of a cell that is touched once or never.
    pub largest: Vec<Vec<Option<u32>>>,
    /// The number of touches by their distance.
    pub uses: BTreeMap<u32, u64>,
    /// Touches that are the first of their point.
    pub first: u64,
}

impl Reuse {
    /// Computes the distances of a replay.
    pub fn of(replay: &Replay) -> Reuse {
        let touches = || replay.steps.iter().flat_map(|step| step.loads.iter().chain(&step.store));
        let mut last: Vec<Vec<u32>> = replay.canvases.iter().map(|canvas| vec![0; canvas.cells.len()]).collect();
        let largest = replay.canvases.iter().map(|canvas| vec![None; canvas.cells.len()]).collect();
        let mut reuse = Reuse { largest, ..Reuse::default() };
        let mut marks = Marks::new(touches().count());
        for (moment, Place { canvas, cell }) in (1..).zip(touches()) {
            let before = std::mem::replace(&mut last[*canvas][*cell], moment);
            marks.add(moment);
            if before == 0 {
                reuse.first += 1;
                continue;
            }
            // All points have one mark; those up to `before` are this one and those that were not touched since.
            let distance = reuse.first as u32 - marks.up_to(before);
            marks.take(before);
            *reuse.uses.entry(distance).or_default() += 1;
            let largest = &mut reuse.largest[*canvas][*cell];
            *largest = Some(largest.map_or(distance, |most| most.max(distance)));
        }
        reuse
    }

    /// The number of touches that are not the first of their point.
    pub fn count(&self) -> u64 {
        self.uses.values().sum()
    }

    /// The distance that a share of all uses do not exceed; `None` where no point is used twice.
    pub fn within(&self, share: f64) -> Option<u32> {
        let most = (self.count() as f64 * share).ceil() as u64;
        let mut seen = 0;
        let reaches = |(distance, uses): (&u32, &u64)| {
            seen += uses;
            (seen >= most).then_some(*distance)
        };
        self.uses.iter().find_map(reaches)
    }
}

/// Marks at moments, from 1 on, and how many there are up to one.
struct Marks {
    /// Node `i` has the sum of the marks of as many moments up to `i` as its lowest bit says.
    sums: Vec<u32>,
}

impl Marks {
    fn new(moments: usize) -> Marks {
        Marks { sums: vec![0; moments + 1] }
    }

    fn add(&mut self, moment: u32) {
        self.change(moment, |sum| *sum += 1);
    }

    fn take(&mut self, moment: u32) {
        self.change(moment, |sum| *sum -= 1);
    }

    fn change(&mut self, moment: u32, by: impl Fn(&mut u32)) {
        let mut at = moment as usize;
        while let Some(sum) = self.sums.get_mut(at) {
            by(sum);
            at += at & at.wrapping_neg();
        }
    }

    fn up_to(&self, moment: u32) -> u32 {
        let (mut at, mut sum) = (moment as usize, 0);
        while at > 0 {
            sum += self.sums[at];
            at &= at - 1;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order::canvas::{Canvas, Cell, Step};

    /// A replay that loads the points of one canvas in this order.
    fn loads(cells: usize, order: &[usize]) -> Replay {
        let canvas =
            Canvas { name: "f".to_string(), min: [0, 0], extent: [cells, 1], cells: vec![Cell::default(); cells] };
        let step = |cell: &usize| Step { loads: vec![Place { canvas: 0, cell: *cell }], ..Step::default() };
        Replay {
            canvases: vec![canvas],
            steps: order.iter().map(step).collect(),
            loops: Vec::new(),
            tasks: 0,
            left_out: Vec::new(),
        }
    }

    /// The distance of each touch by its definition.
    fn defined(order: &[usize]) -> Vec<Option<u32>> {
        let of = |(now, cell): (usize, &usize)| {
            let before = order[..now].iter().rposition(|other| other == cell)?;
            let mut others = order[before + 1..now].to_vec();
            others.sort_unstable();
            others.dedup();
            Some(others.len() as u32)
        };
        order.iter().enumerate().map(of).collect()
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        let mut state = 1u64;
        for (length, cells) in [(0, 1), (1, 1), (7, 1), (40, 3), (300, 17), (300, 200)] {
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 33) as usize % cells
            };
            let order: Vec<usize> = (0..length).map(|_| next()).collect();
            let (reuse, defined) = (Reuse::of(&loads(cells, &order)), defined(&order));
            let mut uses = BTreeMap::new();
            defined.iter().flatten().for_each(|distance| *uses.entry(*distance).or_default() += 1);
            assert_eq!(reuse.uses, uses, "{length} touches of {cells} points");
            assert_eq!(reuse.first as usize, defined.iter().filter(|distance| distance.is_none()).count());
            for cell in 0..cells {
                let own = order.iter().zip(&defined).filter(|(of, _)| **of == cell).filter_map(|(_, own)| *own);
                assert_eq!(reuse.largest[0][cell], own.max(), "point {cell} of {cells}");
            }
        }
    }

    #[test]
    fn shares_of_uses() {
        let reuse = Reuse::of(&loads(4, &[0, 0, 0, 1, 2, 3, 0]));
        assert_eq!(reuse.uses, BTreeMap::from([(0, 2), (3, 1)]));
        assert_eq!([0.0, 0.5, 0.67, 1.0].map(|share| reuse.within(share)), [0, 0, 3, 3].map(Some));
        assert_eq!(Reuse::of(&loads(2, &[0, 1])).within(0.5), None);
    }
}
