//! Rows that share pointers: addresses of a loop that differ by multiples of one stride.

use super::super::value::{Sum, Value};
use crate::tuning::{POINTERS_SEARCHED, ROWS_SEARCHED, STRIDE_MULTIPLES};
use std::collections::{BTreeMap, BTreeSet};

/// Addresses that change in the same way from one iteration to the next, and differ by multiples of a stride.
pub(super) struct Group {
    /// The rows, each with the multiple of the stride that it is behind the first one, in that order.
    pub(super) rows: Vec<(usize, u64)>,
    pub(super) stride: Sum,
    pub(super) cover: Cover,
    /// Registers that it needs less than one for each row.
    pub(super) saved: i64,
}

/// Pointers from which all rows of a group are reached.
pub(super) struct Cover {
    pub(super) pointers: Vec<Pointer>,
    /// The pointer of each row, and how far it is from there.
    pub(super) reached: Vec<(usize, Reach)>,
}

/// A register that rows are reached from.
pub(super) struct Pointer {
    /// The multiple of the stride that it is behind the first row.
    far: u64,
    pub(super) origin: Origin,
}

/// The way to a pointer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Origin {
    /// It is the address of this row of the group.
    Row(usize),
    /// It is so far from this pointer.
    Pointer(usize, Reach),
}

/// A distance in strides: nothing, or a register of strides and its scale.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Reach {
    Here,
    Further { multiple: u64, scale: u8 },
}

/// Groups rows, those that save most registers first.
pub(super) fn groups(rows: &[Value]) -> Vec<Group> {
    let mut by_change: BTreeMap<(&Sum, &Sum), Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        by_change.entry((&row.step, &row.varying)).or_default().push(i);
    }
    let mut made = Vec::new();
    for ((_, varying), mut left) in by_change {
        while let Some(first) = left.first().copied() {
            let others = &left[1..left.len().min(ROWS_SEARCHED)];
            let Some((stride, members)) = largest_line(rows, first, others) else {
                left.remove(0);
                continue;
            };
            let gone: BTreeSet<usize> = members.iter().map(|(row, _)| *row).collect();
            left.retain(|row| !gone.contains(row));
            let cover = Cover::new(&members.iter().map(|(_, far)| *far).collect::<Vec<_>>());
            // What is not computed from the pointer of the last iteration needs a register for what it starts from.
            let starts = cover.starts() * (1 + usize::from(*varying != Sum::default()));
            let saved = members.len() as i64 - (starts + cover.shared()) as i64;
            made.push(Group { rows: members, stride, cover, saved });
        }
    }
    made.sort_by_key(|g| std::cmp::Reverse(g.saved));
    made
}

/// The most rows among `others` that differ from a row by multiples of one stride, with that row; and the stride.
fn largest_line(rows: &[Value], first: usize, others: &[usize]) -> Option<(Sum, Vec<(usize, u64)>)> {
    let mut lines: BTreeMap<Sum, Vec<(usize, i64)>> = BTreeMap::new();
    for other in others {
        let Some((direction, times)) = direction(&rows[first].start, &rows[*other].start) else { continue };
        lines.entry(direction).or_default().push((*other, times));
    }
    let (direction, mut line) = lines.into_iter().max_by_key(|(_, line)| line.len())?;
    line.push((first, 0));
    line.sort_by_key(|(_, times)| *times);
    let lowest = line[0].1;
    let far = |times: i64| times.abs_diff(lowest);
    let unit = line.iter().fold(0, |unit, (_, times)| gcd(unit, far(*times)));
    let stride = Sum::default().plus(&direction, i64::try_from(unit).ok()?)?;
    Some((stride, line.into_iter().map(|(row, times)| (row, far(times) / unit)).collect()))
}

/// The difference of two sums, but for constants, as a multiple of a sum whose factors have no common divisor, the
/// first above 0.
fn direction(from: &Sum, to: &Sum) -> Option<(Sum, i64)> {
    let mut difference = to.plus(from, -1)?;
    difference.constant = 0;
    let unit = difference.terms.iter().fold(0, |unit, (_, factor)| gcd(unit, factor.unsigned_abs()));
    let unit = i64::try_from(unit).ok()?;
    let signed = if difference.terms.first()?.1 < 0 { -unit } else { unit };
    difference.terms.iter_mut().for_each(|(_, factor)| *factor = factor.wrapping_div(signed));
    Some((difference, signed))
}

fn gcd(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Cover {
    /// The cover of rows at these distances that needs the fewest registers and instructions.
    fn new(distances: &[u64]) -> Cover {
        let covers = (0..STRIDE_MULTIPLES).map(|i| Cover::with(2 * i + 1, distances));
        let cost = |c: &Cover| c.starts() + c.shared() + c.pointers.len();
        covers.min_by_key(cost).unwrap_or_else(|| Cover::with(1, distances))
    }
    /// Makes a pointer for the first row that no other pointer reaches, until all are reached.
    fn with(multiples: u64, distances: &[u64]) -> Cover {
        let mut cover = Cover { pointers: Vec::new(), reached: Vec::new() };
        for (at, far) in distances.iter().enumerate() {
            if let Some(reached) = cover.find(*far, multiples) {
                cover.reached.push(reached);
                continue;
            }
            let between = cover.between(&distances[at..], multiples);
            let pointer = between.unwrap_or(Pointer { far: *far, origin: Origin::Row(at) });
            let reach = reach(far - pointer.far, multiples).unwrap_or(Reach::Here);
            cover.reached.push((cover.pointers.len(), reach));
            cover.pointers.push(pointer);
        }
        cover
    }
    /// The newest pointers, each with its number.
    fn newest(&self) -> impl Iterator<Item = (usize, &Pointer)> {
        self.pointers.iter().enumerate().rev().take(POINTERS_SEARCHED)
    }
    /// The newest pointer that reaches a distance.
    fn find(&self, far: u64, multiples: u64) -> Option<(usize, Reach)> {
        self.newest().filter(|(_, p)| p.far <= far).find_map(|(i, p)| Some((i, reach(far - p.far, multiples)?)))
    }
    /// A pointer that is reached from another one, and reaches the first of these distances and as many others as it
    /// can.
    fn between(&self, distances: &[u64], multiples: u64) -> Option<Pointer> {
        let far = *distances.first()?;
        let steps = (0..multiples.div_ceil(2)).flat_map(|i| (0..4).map(move |bits| (2 * i + 1) << bits));
        let all = steps.flat_map(|step| self.newest().map(move |(i, p)| (i, p.far, step)));
        let reaching = all.filter_map(|(i, from, step)| {
            let here = from.checked_add(step).filter(|here| *here <= far)?;
            reach(far - here, multiples)?;
            Some(Pointer { far: here, origin: Origin::Pointer(i, reach(step, multiples)?) })
        });
        let others = |p: &Pointer| {
            let near = distances.iter().take_while(|d| **d - p.far <= 8 * multiples);
            near.filter(|d| self.find(**d, multiples).is_none() && reach(**d - p.far, multiples).is_some()).count()
        };
        reaching.max_by_key(|p| (others(p), p.far))
    }
    /// The number of pointers that are addresses of rows.
    fn starts(&self) -> usize {
        self.pointers.iter().filter(|p| matches!(p.origin, Origin::Row(_))).count()
    }
    /// The registers of multiples of the stride that are in use, and one for pointers that are computed on the way.
    fn shared(&self) -> usize {
        let ways = self.pointers.iter().filter_map(|p| match p.origin {
            Origin::Row(_) => None,
            Origin::Pointer(_, reach) => Some(reach),
        });
        let multiples = self.reached.iter().map(|(_, reach)| *reach).chain(ways).filter_map(|reach| match reach {
            Reach::Here => None,
            Reach::Further { multiple, .. } => Some(multiple),
        });
        multiples.collect::<BTreeSet<_>>().len() + usize::from(self.starts() < self.pointers.len())
    }
}

/// The register and the scale for a distance in strides, if the odd multiples up to `multiples` are in registers.
fn reach(far: u64, multiples: u64) -> Option<Reach> {
    if far == 0 {
        return Some(Reach::Here);
    }
    // The largest scale needs the smallest multiple.
    let scale = 1 << far.trailing_zeros().min(3);
    let multiple = far / scale;
    (multiple <= multiples && multiple % 2 == 1).then_some(Reach::Further { multiple, scale: scale as u8 })
}

#[cfg(test)]
mod tests {
    use super::super::super::inst::{Body, View};
    use super::*;

    fn registers(count: usize) -> Vec<regalloc2::VReg> {
        let mut body = Body::new(View::Z, true);
        (0..count).map(|_| body.register(View::G64)).collect()
    }
    fn row(terms: &[(regalloc2::VReg, i64)]) -> Value {
        let start = terms.iter().fold(Sum::default(), |sum, (v, times)| sum.plus(&Sum::of(*v), *times).unwrap());
        Value { start, ..Value::default() }
    }

    #[test]
    fn ten_rows_share_one_start_and_a_stride() {
        let r = registers(2);
        let rows: Vec<Value> = (0..10).map(|y| row(&[(r[0], 1), (r[1], 4 * (y - 3))])).collect();
        let groups = groups(&rows);
        assert_eq!(groups.len(), 1);
        assert_eq!(groups[0].stride, Sum::default().plus(&Sum::of(r[1]), 4).unwrap());
        assert_eq!(groups[0].rows, (0..10).map(|y| (y as usize, y)).collect::<Vec<_>>());
        assert_eq!(groups[0].saved, 7);
        assert_covers(&(0..10).collect::<Vec<_>>(), &groups[0].cover);
    }

    /// Asserts that the ways to pointers and rows lead there.
    fn assert_covers(distances: &[u64], cover: &Cover) {
        let length = |reach: Reach| match reach {
            Reach::Here => 0,
            Reach::Further { multiple, scale } => multiple * u64::from(scale),
        };
        for (i, pointer) in cover.pointers.iter().enumerate() {
            let wanted = match pointer.origin {
                Origin::Row(row) => distances[row],
                Origin::Pointer(other, reach) if other < i => cover.pointers[other].far + length(reach),
                Origin::Pointer(..) => panic!("pointer {i} comes from a later one"),
            };
            assert_eq!(pointer.far, wanted);
        }
        for (far, (pointer, reach)) in distances.iter().zip(&cover.reached) {
            assert_eq!(cover.pointers[*pointer].far + length(*reach), *far);
        }
    }

    #[test]
    fn rows_at_any_distances_are_covered() {
        let sets: [&[u64]; 6] =
            [&[0], &[0, 1], &[0, 5, 6, 7, 100, 101, 117], &[0, 1 << 40, u64::MAX], &[0, 63, 64], &[0, 7, 11]];
        // So many that a search of all pointers for all rows would not end.
        let rows: Vec<u64> = (0..20_000).collect();
        for distances in sets.into_iter().chain([&rows[..]]) {
            (0..4).for_each(|i| assert_covers(distances, &Cover::with(2 * i + 1, distances)));
            assert_covers(distances, &Cover::new(distances));
        }
        assert_eq!(Cover::new(&rows).starts(), 1);
    }

    #[test]
    fn rows_of_planes_are_grouped_by_plane_and_unrelated_rows_not_at_all() {
        let r = registers(5);
        let plane = |c: i64| (0..4).map(move |y| (c, y));
        let mut rows: Vec<Value> =
            (0..3).flat_map(plane).map(|(c, y)| row(&[(r[0], 1), (r[1], 4 * c), (r[2], 4 * y)])).collect();
        rows.push(row(&[(r[3], 1)]));
        rows.push(row(&[(r[4], 1)]));
        let groups: Vec<Group> = groups(&rows).into_iter().filter(|g| g.saved > 0).collect();
        assert_eq!(groups.iter().map(|g| g.rows.len()).collect::<Vec<_>>(), [4, 4, 4]);
        assert!(groups.iter().all(|g| g.saved == 1), "a pointer, one stride and three strides");
    }

    #[test]
    fn many_unrelated_rows_are_searched_in_parts() {
        let r = registers(5000);
        let rows: Vec<Value> = r.iter().map(|v| row(&[(*v, 1)])).collect();
        assert!(groups(&rows).iter().all(|g| g.saved <= 0));
    }

    #[test]
    fn distances_have_no_constant_overflow() {
        let r = registers(2);
        let rows = [row(&[(r[0], 1), (r[1], i64::MIN)]), row(&[(r[0], 1)]), row(&[(r[0], 1), (r[1], 8)])];
        assert!(groups(&rows).iter().all(|g| g.rows.len() <= 3));
    }
}
