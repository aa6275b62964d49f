//! Footprints and traffic against nests that are run one iteration at a time.

use crate::support::{Random, matmul, random_nest, server, variables};
use halide_auto::tss::{Array, Loop, Nest, TssOptions, assess, footprint};
use halide_core::types::ScalarType::F64;
use halide_ir::machine::Machine;
use std::collections::{BTreeMap, BTreeSet};

/// Calls `body` for all iterations of a nest in the order of tiles of `sizes`.
fn run(nest: &Nest, sizes: &[u64], body: &mut dyn FnMut(&[u64])) {
    // Loops over tiles, then loops in a tile.
    fn walk(
        at: usize,
        point: &mut Vec<u64>,
        starts: &mut Vec<u64>,
        trips: &[u64],
        sizes: &[u64],
        body: &mut dyn FnMut(&[u64]),
    ) {
        let loops = trips.len();
        if at == 2 * loops {
            return body(point);
        }
        if at < loops {
            for start in (0..trips[at]).step_by(sizes[at] as usize) {
                starts[at] = start;
                walk(at + 1, point, starts, trips, sizes, body);
            }
        } else {
            let index = at - loops;
            for x in starts[index]..(starts[index] + sizes[index]).min(trips[index]) {
                point[index] = x;
                walk(at + 1, point, starts, trips, sizes, body);
            }
        }
    }
    let loops = nest.loops.len();
    walk(0, &mut vec![0; loops], &mut vec![0; loops], &nest.trips(), sizes, body);
}

/// The values of an array's subscripts in each reference at a point.
fn places(array: &Array, point: &[u64]) -> Vec<Vec<i64>> {
    let value = |dim: usize| -> i64 {
        array.subscripts[dim].terms.iter().map(|(index, factor)| factor * point[*index] as i64).sum()
    };
    let origin = [Vec::new()];
    let offsets = if array.offsets.is_empty() { &origin[..] } else { &array.offsets };
    let dims = 0..array.subscripts.len();
    offsets.iter().map(|o| dims.clone().map(|d| value(d) + o.get(d).copied().unwrap_or(0)).collect()).collect()
}

/// No part of a nest touches more elements than its footprint, and as many where subscripts are loops.
#[test]
fn footprints_are_bounds() {
    let mut random = Random::new(5);
    for _ in 0..300 {
        let mut nest = random_nest(&mut random);
        nest.loops.iter_mut().for_each(|l| l.trips = random.from(1, 5));
        let trips = nest.trips();
        for array in &nest.arrays {
            let mut touched = BTreeSet::new();
            run(&nest, &trips, &mut |point| touched.extend(places(array, point)));
            let count = footprint(array, &trips);
            assert!(touched.len() as u64 <= count, "{} of {count}: {array:?} {trips:?}", touched.len());
            let used: Vec<usize> = array.subscripts.iter().flat_map(|s| &s.terms).map(|(index, _)| *index).collect();
            let different: BTreeSet<usize> = used.iter().copied().collect();
            let is_simple = different.len() == used.len() && array.subscripts.iter().all(|s| s.terms.len() < 2);
            if is_simple && array.offsets.len() < 2 {
                assert_eq!(touched.len() as u64, count, "{array:?} {trips:?}");
            }
        }
    }
}

/// A cache that drops the line which was used the longest ago.
#[derive(Default)]
struct Lru {
    lines: usize,
    now: u64,
    /// Each line that is there, with when it was used and if it was written.
    used: BTreeMap<(usize, i64), (u64, bool)>,
    order: BTreeMap<u64, (usize, i64)>,
    moved: u64,
}

impl Lru {
    fn access(&mut self, line: (usize, i64), writes: bool) {
        self.now += 1;
        let before = self.used.insert(line, (self.now, writes));
        self.order.insert(self.now, line);
        match before {
            Some((time, written)) => {
                self.order.remove(&time);
                self.used.insert(line, (self.now, writes || written));
            }
            None => self.moved += 1,
        }
        if self.used.len() > self.lines
            && let Some((_, oldest)) = self.order.pop_first()
        {
            let (_, written) = self.used.remove(&oldest).unwrap();
            self.moved += u64::from(written);
        }
    }

    /// The lines that came and went, with those that are written back in the end.
    fn total(&self) -> u64 {
        self.moved + self.used.values().filter(|(_, written)| *written).count() as u64
    }
}

/// A machine with one cache of some bytes.
fn small(bytes: u64) -> Machine {
    let mut machine = server();
    machine.caches.truncate(1);
    machine.caches[0].bytes = bytes;
    // Rows meet in no set.
    machine.caches[0].ways = (bytes / 64) as u32;
    machine
}

/// The bytes per point that a run moves, and those that are predicted.
fn moved(nest: &Nest, bytes: u64, sizes: &[u64]) -> (f64, f64) {
    let mut cache = Lru { lines: (bytes / 64) as usize, ..Lru::default() };
    let mut points = 0;
    run(nest, sizes, &mut |point| {
        points += 1;
        for (index, array) in nest.arrays.iter().enumerate() {
            for place in places(array, point) {
                // Planes are as far apart as rows of the array are many, and no two arrays share a line.
                let flat = place.iter().fold(0, |at, x| at * array.ld + x);
                cache.access((index, (array.base + flat).div_euclid(8)), array.is_written());
            }
        }
    });
    let tiles = assess(nest, &small(bytes), 1, &TssOptions::default(), sizes).unwrap();
    (cache.total() as f64 * 64.0 / f64::from(points), tiles.traffic[0])
}

/// Asserts that nine of ten predictions are near what was moved. The others are of tiles that just fit or just do not.
#[track_caller]
fn alike(cases: &[(&Nest, u64, [u64; 3])]) {
    let (mut near, mut text) = (0, Vec::new());
    for (nest, bytes, sizes) in cases {
        let sizes = &sizes[..nest.loops.len()];
        let (ran, predicted) = moved(nest, *bytes, sizes);
        let ratio = predicted / ran;
        assert!((0.5..1.5).contains(&ratio), "{sizes:?}, {bytes} bytes: {predicted} bytes a point, not {ran}");
        near += usize::from((0.87..1.15).contains(&ratio));
        text.push(format!("{sizes:?} {bytes}: {ratio:.3}"));
    }
    assert!(near * 10 >= cases.len() * 9, "{near} of {}:\n{}", cases.len(), text.join("\n"));
}

#[test]
fn traffic_of_products() {
    let sizes = [[40, 40, 40], [8, 8, 8], [10, 8, 20], [4, 10, 20], [20, 8, 40], [40, 8, 8], [1, 40, 10]];
    let nests = [matmul(40, 40), matmul(40, 43)];
    let mut cases = Vec::new();
    for nest in &nests {
        for sizes in sizes {
            cases.extend([1 << 10, 2 << 10, 4 << 10, 6 << 10, 10 << 10].map(|bytes| (nest, bytes, sizes)));
        }
    }
    alike(&cases);
}

#[test]
fn traffic_of_other_nests() {
    let [i, j] = variables();
    let product = Nest {
        arrays: vec![
            Array::read("a", F64, 96, &[&i, &j]),
            Array::read("x", F64, 96, &[&i]),
            Array::update("y", F64, 96, &[&j]),
        ],
        loops: vec![Loop::reduction("i", 96), Loop::parallel("j", 96)],
        ..Nest::default()
    };
    let mut cases = Vec::new();
    for sizes in [[96, 96, 1], [8, 16, 1], [96, 32, 1], [1, 96, 1]] {
        cases.extend([(&product, 1 << 10, sizes), (&product, 4 << 10, sizes)]);
    }
    let [z, y, x] = variables();
    let star: [&[i64]; 7] = [&[1, 1, 1], &[0, 1, 1], &[2, 1, 1], &[1, 0, 1], &[1, 2, 1], &[1, 1, 0], &[1, 1, 2]];
    let stencil = Nest {
        loops: vec![Loop::parallel("z", 30), Loop::independent("y", 30), Loop::independent("x", 30)],
        arrays: vec![Array::read("in", F64, 32, &[&z, &y, &x]).at(&star), Array::write("out", F64, 32, &[&z, &y, &x])],
        ..Nest::default()
    };
    for sizes in [[30, 30, 30], [10, 10, 30], [30, 6, 30], [1, 30, 30]] {
        cases.extend([(&stencil, 16 << 10, sizes), (&stencil, 64 << 10, sizes)]);
    }
    alike(&cases);
}
