//! The values of one Func that are known so far, in pages of neighbouring points.

use crate::tuning::PAGE_POINTS_LOG2;
use crate::tuning::RECENT_PAGES;
use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

const PAGE: usize = 1 << PAGE_POINTS_LOG2;

/// The values of a Func by point and tuple element.
pub(super) struct Store {
    /// A coordinate's low bits, as many as this, are its place within a page.
    bits: Vec<u32>,
    elements: usize,
    /// The pages by their first points. Only looked up, never walked, so its order does not matter.
    index: HashMap<Box<[i32]>, usize, BuildHasherDefault<KeyHasher>>,
    /// The first point of each page.
    corners: Vec<i32>,
    /// The number of stages applied at each point of each page; 0 where nothing is known.
    applied: Vec<u32>,
    /// The bits of the elements of each point of each page.
    values: Vec<u64>,
    /// The page found last, and pages found lately, each where [`Store::slot`] puts it.
    last: Cell<usize>,
    recent: [Cell<usize>; RECENT_PAGES],
}

/// The index of a point in a store.
#[derive(Clone, Copy)]
pub(super) struct PointIndex(usize);

/// There was no memory for a page.
pub(super) struct NoMemory;

impl Store {
    pub(super) fn new(dims: usize, elements: usize) -> Store {
        let mut bits = vec![0; dims];
        for i in 0..if dims == 0 { 0 } else { PAGE_POINTS_LOG2 as usize } {
            bits[i % dims] += 1;
        }
        Store {
            bits,
            elements,
            index: HashMap::default(),
            corners: Vec::new(),
            applied: Vec::new(),
            values: Vec::new(),
            last: Cell::new(0),
            recent: std::array::from_fn(|_| Cell::new(0)),
        }
    }
    /// The place of a point, if its page exists.
    pub(super) fn find(&self, at: &[i32]) -> Option<PointIndex> {
        if let Some(place) = self.on_page(self.last.get(), at) {
            return Some(place);
        }
        let recent = &self.recent[self.slot(at)];
        if self.on_page(recent.get(), at).is_none() {
            recent.set(*self.index.get(&self.corner(at))?);
        }
        self.last.set(recent.get());
        self.on_page(recent.get(), at)
    }
    /// The place of a point; makes its page if need be.
    pub(super) fn make(&mut self, at: &[i32]) -> Result<PointIndex, NoMemory> {
        if let Some(place) = self.find(at) {
            return Ok(place);
        }
        let corner = self.corner(at);
        self.index.try_reserve(1).map_err(|_| NoMemory)?;
        self.corners.try_reserve(corner.len()).map_err(|_| NoMemory)?;
        grow(&mut self.applied, PAGE)?;
        grow(&mut self.values, PAGE * self.elements)?;
        let page = self.index.len();
        self.corners.extend(corner.iter());
        self.index.insert(corner, page);
        self.recent[self.slot(at)].set(page);
        self.find(at).ok_or(NoMemory)
    }
    /// Returns how many bytes the next page takes: only those of its names where the lists have room for it.
    pub(super) fn page_bytes(&self) -> u64 {
        let bytes = |more: usize, size: usize| (more * size) as u64;
        let corner = self.bits.len() * size_of::<i32>();
        // In the list of corners, and as a key of the index.
        let names = bytes(2 * corner + 3 * size_of::<usize>(), 2);
        bytes(room(&self.applied, PAGE), size_of::<u32>())
            + bytes(room(&self.values, PAGE * self.elements), size_of::<u64>())
            + names
    }
    /// The number of stages that have been applied to a point: 0 if it is unknown.
    pub(super) fn applied(&self, place: PointIndex) -> u32 {
        self.applied[place.0]
    }
    /// Notes how many stages have been applied to a point.
    pub(super) fn set_applied(&mut self, place: PointIndex, stages: u32) {
        self.applied[place.0] = stages;
    }
    pub(super) fn value(&self, place: PointIndex, element: usize) -> u64 {
        self.values[place.0 * self.elements + element]
    }
    pub(super) fn set_value(&mut self, place: PointIndex, element: usize, bits: u64) {
        self.values[place.0 * self.elements + element] = bits;
    }

    /// The place of a point if it is on this page.
    fn on_page(&self, page: usize, at: &[i32]) -> Option<PointIndex> {
        let (mut point, mut shift) = (0, 0);
        let corner = self.corners.get(page * at.len()..(page + 1) * at.len())?;
        for ((c, first), bits) in at.iter().zip(corner).zip(&self.bits) {
            let inside = c.wrapping_sub(*first) as u32;
            if inside >> bits != 0 {
                return None;
            }
            point |= (inside as usize) << shift;
            shift += bits;
        }
        (page < self.index.len()).then_some(PointIndex(page * PAGE + point))
    }
    /// The first point of the page of a point.
    fn corner(&self, at: &[i32]) -> Box<[i32]> {
        at.iter().zip(&self.bits).map(|(c, b)| c >> b << b).collect()
    }
    fn slot(&self, at: &[i32]) -> usize {
        let mix = |h: usize, (c, b): (&i32, &u32)| h.wrapping_mul(5).wrapping_add((c >> b) as usize);
        at.iter().zip(&self.bits).fold(0, mix) % RECENT_PAGES
    }
}

/// Multiplies and folds: keys are small and nobody attacks them.
#[derive(Default)]
struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().rev().fold(0u64, |w, b| w << 8 | *b as u64);
            let mixed = (self.0 ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            self.0 = mixed ^ mixed >> 32;
        }
    }
    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns how many elements a list makes room for to get `more`: at least as many again as it has, so that it seldom
/// moves; 0 where it has room.
fn room<T>(all: &Vec<T>, more: usize) -> usize {
    if all.capacity() - all.len() >= more { 0 } else { more.max(all.len()) }
}

fn grow<T: Clone + Default>(all: &mut Vec<T>, more: usize) -> Result<(), NoMemory> {
    all.try_reserve_exact(more.max(room(all, more))).map_err(|_| NoMemory)?;
    all.resize(all.len() + more, T::default());
    Ok(())
}

/// A list of points.
#[derive(Clone, Debug)]
pub(super) struct Points {
    dims: usize,
    count: usize,
    flat: Vec<i32>,
}

impl Points {
    pub(super) fn new(dims: usize) -> Points {
        Points { dims, count: 0, flat: Vec::new() }
    }
    pub(super) fn dims(&self) -> usize {
        self.dims
    }
    pub(super) fn len(&self) -> usize {
        self.count
    }
    pub(super) fn get(&self, i: usize) -> &[i32] {
        &self.flat[i * self.dims..(i + 1) * self.dims]
    }
    /// The points with these numbers.
    pub(super) fn only(&self, numbers: &[usize]) -> Points {
        let mut points = Points::new(self.dims);
        numbers.iter().for_each(|i| points.push(self.get(*i)));
        points
    }
    pub(super) fn push(&mut self, at: &[i32]) {
        self.flat.extend_from_slice(at);
        self.count += 1;
    }
}
