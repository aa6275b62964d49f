//! Boxes around the nodes of loop nests.

use std::collections::BTreeMap;

/// Left, upper, right and lower side of a box or a node.
pub(super) type Sides = [f64; 4];

/// Space between a box and its nodes: at the sides, above, where the name of the nest stands, and below.
const ASIDE: f64 = 10.0;
const ABOVE: f64 = 17.0;
const BELOW: f64 = 7.0;

/// A box for each nest of several nodes, by its number. `members` are the nodes of nests.
pub(super) fn boxes(members: impl Iterator<Item = (usize, Sides)>) -> BTreeMap<usize, Sides> {
    let mut all: BTreeMap<usize, (usize, Sides)> = BTreeMap::new();
    for (nest, [left, top, right, bottom]) in members {
        let none = [f64::INFINITY, f64::INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY];
        let (count, sides) = all.entry(nest).or_insert((0, none));
        *count += 1;
        *sides = [sides[0].min(left), sides[1].min(top), sides[2].max(right), sides[3].max(bottom)];
    }
    let around = |[left, top, right, bottom]: Sides| [left - ASIDE, top - ABOVE, right + ASIDE, bottom + BELOW];
    let boxes = all.into_iter().filter(|(_, (count, _))| *count > 1);
    boxes.map(|(nest, (_, sides))| (nest, around(sides))).collect()
}
