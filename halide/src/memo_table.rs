//! Values of memoized Funcs that are kept, with what they were computed of.

use halide_core::buffer::{AnyBuffer, Dim, Region};
use halide_core::value::Scalar;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// The most values that are kept with one memory. More pipelines than that seldom share an image.
const MOST_KEPT: usize = 8;

/// The values that are kept in one place: with the memory of an image, or with the code.
#[derive(Default)]
pub(crate) struct MemoTable(Mutex<Vec<Kept>>);

/// Values of one Func.
#[derive(Clone)]
struct Kept {
    key: MemoKey,
    regions: MemoRegions,
    values: Vec<AnyBuffer>,
}

/// The regions of values.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct MemoRegions {
    /// The elements that were computed.
    pub(crate) computed: Region,
    /// The elements that there are, since code with vectors reads beyond those it needs; around the others.
    pub(crate) read: Region,
}

impl MemoRegions {
    /// The regions around both.
    pub(crate) fn around(&self, other: &MemoRegions) -> MemoRegions {
        MemoRegions { computed: self.computed.around(&other.computed), read: self.read.around(&other.read) }
    }
}

/// All that values depend on.
#[derive(Clone)]
pub(crate) struct MemoKey {
    /// Stands for the code that computes them.
    pub(crate) owner: Arc<()>,
    pub(crate) params: Vec<Scalar>,
    pub(crate) images: Vec<MemoImage>,
}

/// An image as it was: the elements of a buffer in a memory that nobody has written since.
#[derive(Clone)]
pub(crate) struct MemoImage {
    /// Goes with the memory, and when that may be written.
    pub(crate) unwritten: Arc<Unwritten>,
    pub(crate) first: usize,
    pub(crate) dims: Vec<Dim>,
}

/// Kept with a memory while nobody writes it.
pub(crate) struct Unwritten;

impl MemoImage {
    pub(crate) fn new(buffer: &AnyBuffer) -> MemoImage {
        let unwritten = buffer.companion_or(|| Unwritten);
        MemoImage { unwritten, first: buffer.memory().first, dims: buffer.dims().to_vec() }
    }
}

impl PartialEq for MemoImage {
    fn eq(&self, other: &MemoImage) -> bool {
        Arc::ptr_eq(&self.unwritten, &other.unwritten) && (self.first, &self.dims) == (other.first, &other.dims)
    }
}

impl PartialEq for MemoKey {
    fn eq(&self, other: &MemoKey) -> bool {
        let same = |(a, b): (&Scalar, &Scalar)| a.same(*b);
        Arc::ptr_eq(&self.owner, &other.owner)
            && self.images == other.images
            && self.params.len() == other.params.len()
            && self.params.iter().zip(&other.params).all(same)
    }
}

impl MemoTable {
    /// The values for `key` over regions that have `regions` in them; else the regions over which there are some.
    pub(crate) fn find(&self, key: &MemoKey, regions: &MemoRegions) -> Result<Vec<AnyBuffer>, Option<MemoRegions>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match kept.iter().find(|kept| kept.key == *key) {
            Some(kept) if kept.regions.around(regions) == kept.regions => Ok(kept.values.clone()),
            known => Err(known.map(|kept| kept.regions.clone())),
        }
    }
    /// Keeps values, in place of others of the same key.
    pub(crate) fn keep(&self, key: MemoKey, regions: MemoRegions, values: Vec<AnyBuffer>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.key != key);
        if kept.len() >= MOST_KEPT {
            kept.remove(0);
        }
        kept.push(Kept { key, regions, values });
    }
}

/// The runs of a memoized Func, and those that it was spared.
#[derive(Default)]
pub(crate) struct MemoCounts {
    computed: AtomicU64,
    reused: AtomicU64,
}

impl MemoCounts {
    pub(crate) fn count(&self, reused: bool) {
        let counter = if reused { &self.reused } else { &self.computed };
        counter.fetch_add(1, Ordering::Relaxed);
    }
    /// Returns how often values were computed, and how often there were some.
    pub(crate) fn get(&self) -> (u64, u64) {
        (self.computed.load(Ordering::Relaxed), self.reused.load(Ordering::Relaxed))
    }
}
