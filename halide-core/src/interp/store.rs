//! The values of one Func that are known so far, in pages of neighbouring points.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

/// The logarithm of the number of points of a page.
const PAGE_BITS: u32 = 8;

/// The values of a Func by point and tuple element.
pub(super) struct Store {
    /// A coordinate's low bits, as many as this, are its place within a page.
    bits: Vec<u32>,
    elements: usize,
    /// Only looked up, never walked, so its order does not matter.
    index: HashMap<Box<[i32]>, usize>,
    pages: Vec<Page>,
    last: Cell<usize>,
    key: RefCell<Vec<i32>>,
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
        let (index, key) = (HashMap::new(), RefCell::new(Vec::new()));
        Store { bits, elements, index, pages: Vec::new(), last: Cell::new(0), key }
    }
    /// The place of a point, if its page exists.
    pub(super) fn find(&self, at: &[i32]) -> Option<Place> {
        let cached = self.last.get();
        if self.pages.get(cached).is_some_and(|p| self.is_on(p, at)) {
            return Some(Place { page: cached, point: self.point(at) });
        }
        let mut key = self.key.borrow_mut();
        key.clear();
        key.extend(at.iter().zip(&self.bits).map(|(c, b)| c >> b));
        let page = *self.index.get(key.as_slice())?;
        self.last.set(page);
        Some(Place { page, point: self.point(at) })
    }
    /// The place of a point; makes its page if need be.
    pub(super) fn make(&mut self, at: &[i32]) -> Result<Place, NoMemory> {
        if let Some(place) = self.find(at) {
            return Ok(place);
        }
        let points = 1usize << self.bits.iter().sum::<u32>();
        let key: Box<[i32]> = at.iter().zip(&self.bits).map(|(c, b)| c >> b).collect();
        let page = Page { key: key.clone(), ready: zeros(points)?, values: zeros(points * self.elements)? };
        self.pages.try_reserve(1).map_err(|_| NoMemory)?;
        self.index.try_reserve(1).map_err(|_| NoMemory)?;
        self.pages.push(page);
        self.index.insert(key, self.pages.len() - 1);
        self.last.set(self.pages.len() - 1);
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
