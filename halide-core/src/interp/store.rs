//! The values of one Func that are known so far, in pages of neighbouring points.

use std::cell::Cell;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The logarithm of the number of points of a page.
const PAGE_BITS: u32 = 8;
/// The number of pages that are found without a look into the index.
const RECENT: usize = 256;

/// The values of a Func by point and tuple element.
pub(super) struct Store {
    /// A coordinate's low bits, as many as this, are its place within a page.
    bits: Vec<u32>,
    elements: usize,
    /// Only looked up, never walked, so its order does not matter.
    index: HashMap<Box<[i32]>, usize, BuildHasherDefault<KeyHasher>>,
    pages: Vec<Page>,
    /// Pages found lately, each where [`Store::slot`] puts it.
    recent: [Cell<usize>; RECENT],
}

struct Page {
    key: Box<[i32]>,
    /// For each point: 0 where nothing is known, else one more than the last stage applied.
    ready: Vec<u16>,
    /// Bits of `Scalar`s, points of one element after those of another.
    values: Vec<u64>,
}

/// Where a point is in a store.
#[derive(Clone, Copy)]
pub(super) struct Place {
    page: usize,
    point: usize,
}

/// There was no memory for a page.
pub(super) struct NoMemory;

impl Store {
    pub(super) fn new(dims: usize, elements: usize) -> Store {
        let mut bits = vec![0; dims];
        for i in 0..if dims == 0 { 0 } else { PAGE_BITS as usize } {
            bits[i % dims] += 1;
        }
        let recent = std::array::from_fn(|_| Cell::new(0));
        Store { bits, elements, index: HashMap::default(), pages: Vec::new(), recent }
    }
    /// The place of a point, if its page exists.
    pub(super) fn find(&self, at: &[i32]) -> Option<Place> {
        let recent = &self.recent[self.slot(at)];
        if self.pages.get(recent.get()).is_some_and(|p| self.is_on(p, at)) {
            return Some(Place { page: recent.get(), point: self.point(at) });
        }
        let page = *self.index.get(&self.key(at))?;
        recent.set(page);
        Some(Place { page, point: self.point(at) })
    }
    /// The place of a point; makes its page if need be.
    pub(super) fn make(&mut self, at: &[i32]) -> Result<Place, NoMemory> {
        if let Some(place) = self.find(at) {
            return Ok(place);
        }
        let points = 1usize << self.bits.iter().sum::<u32>();
        let key = self.key(at);
        let page = Page { key: key.clone(), ready: zeros(points)?, values: zeros(points * self.elements)? };
        self.pages.try_reserve(1).map_err(|_| NoMemory)?;
        self.index.try_reserve(1).map_err(|_| NoMemory)?;
        self.pages.push(page);
        self.index.insert(key, self.pages.len() - 1);
        self.recent[self.slot(at)].set(self.pages.len() - 1);
        Ok(Place { page: self.pages.len() - 1, point: self.point(at) })
    }
    /// How many stages have been applied to a point: 0 if it is unknown.
    pub(super) fn applied(&self, at: &[i32]) -> u16 {
        self.find(at).map_or(0, |p| self.pages[p.page].ready[p.point])
    }
    /// Notes how many stages have been applied to a point.
    pub(super) fn set_applied(&mut self, place: Place, stages: u16) {
        self.pages[place.page].ready[place.point] = stages;
    }
    pub(super) fn applied_at(&self, place: Place) -> u16 {
        self.pages[place.page].ready[place.point]
    }
    pub(super) fn value(&self, place: Place, element: usize) -> u64 {
        let page = &self.pages[place.page];
        page.values[element * page.ready.len() + place.point]
    }
    pub(super) fn set_value(&mut self, place: Place, element: usize, bits: u64) {
        let page = &mut self.pages[place.page];
        let points = page.ready.len();
        page.values[element * points + place.point] = bits;
    }

    /// The coordinates of the page of a point.
    fn key(&self, at: &[i32]) -> Box<[i32]> {
        at.iter().zip(&self.bits).map(|(c, b)| c >> b).collect()
    }
    fn slot(&self, at: &[i32]) -> usize {
        let mix = |h: usize, (c, b): (&i32, &u32)| h.wrapping_mul(5).wrapping_add((c >> b) as usize);
        at.iter().zip(&self.bits).fold(0, mix) % RECENT
    }
    fn is_on(&self, page: &Page, at: &[i32]) -> bool {
        at.iter().zip(&self.bits).zip(&page.key).all(|((c, b), k)| c >> b == *k)
    }
    fn point(&self, at: &[i32]) -> usize {
        let (mut point, mut shift) = (0, 0);
        for (c, b) in at.iter().zip(&self.bits) {
            point |= (*c as usize & ((1 << b) - 1)) << shift;
            shift += b;
        }
        point
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

fn zeros<T: Clone + Default>(count: usize) -> Result<Vec<T>, NoMemory> {
    let mut all = Vec::new();
    all.try_reserve_exact(count).map_err(|_| NoMemory)?;
    all.resize(count, T::default());
    Ok(all)
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
    pub(super) fn push(&mut self, at: impl IntoIterator<Item = i32>) {
        self.flat.extend(at);
        self.count += 1;
    }
}
