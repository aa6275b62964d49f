//! Values of memoized Funcs that are kept, with what they were computed of.

use halide_core::buffer::{AnyBuffer, Dim, Region};
use halide_core::value::Scalar;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

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
    /// Stands for the code that computes them; goes with it.
    pub(crate) owner: Weak<()>,
    pub(crate) params: Vec<Scalar>,
    pub(crate) images: Vec<MemoImage>,
}

/// An image as it was: the elements of a buffer in a memory that nobody has written since.
#[derive(Clone)]
pub(crate) struct MemoImage {
    /// Goes with the memory, and when that may be written.
    unwritten: Weak<Unwritten>,
    first: usize,
    dims: Vec<Dim>,
}

/// Kept with a memory while nobody writes it.
pub(crate) struct Unwritten;

impl MemoImage {
    pub(crate) fn new(buffer: &AnyBuffer) -> MemoImage {
        let unwritten = Arc::downgrade(&buffer.companion_or(|| Unwritten));
        MemoImage { unwritten, first: buffer.memory().first, dims: buffer.dims().to_vec() }
    }
}

impl PartialEq for MemoImage {
    fn eq(&self, other: &MemoImage) -> bool {
        Weak::ptr_eq(&self.unwritten, &other.unwritten) && (self.first, &self.dims) == (other.first, &other.dims)
    }
}

impl PartialEq for MemoKey {
    fn eq(&self, other: &MemoKey) -> bool {
        let same = |(a, b): (&Scalar, &Scalar)| a.same(*b);
        Weak::ptr_eq(&self.owner, &other.owner)
            && self.images == other.images
            && self.params.len() == other.params.len()
            && self.params.iter().zip(&other.params).all(same)
    }
}

impl MemoKey {
    /// Returns true if a later run may have this key: the code is there, and no image went or was written.
    fn may_return(&self) -> bool {
        self.owner.strong_count() > 0 && self.images.iter().all(|image| image.unwritten.strong_count() > 0)
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
    /// Keeps values, in place of others of the same key and of those that no run can have any more.
    pub(crate) fn keep(&self, key: MemoKey, regions: MemoRegions, values: Vec<AnyBuffer>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.retain(|other| other.key != key && other.key.may_return());
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

#[cfg(test)]
mod tests {
    use crate::memo_table::*;
    use halide_core::types::I32;

    /// Values of images that were written or went are dropped when others are kept.
    #[test]
    fn values_that_cannot_return_go() {
        let (table, owner) = (MemoTable::default(), Arc::new(()));
        let buffer = || AnyBuffer::new(I32, [4]).unwrap();
        let regions = MemoRegions { computed: Region::of_extents([4]), read: Region::of_extents([4]) };
        let key = |images: &[&AnyBuffer]| MemoKey {
            owner: Arc::downgrade(&owner),
            params: Vec::new(),
            images: images.iter().map(|image| MemoImage::new(image)).collect(),
        };
        let kept = || table.0.lock().unwrap().len();
        let weights = buffer();
        for _ in 0..4 {
            let frame = buffer();
            let now = key(&[&weights, &frame]);
            assert!(table.find(&now, &regions).is_err());
            table.keep(now, regions.clone(), vec![buffer()]);
            assert!(table.find(&key(&[&weights, &frame]), &regions).is_ok());
            assert_eq!(kept(), 1);
        }
        let mut frame = buffer();
        table.keep(key(&[&weights, &frame]), regions.clone(), Vec::new());
        drop(frame.view_mut().unwrap());
        assert!(table.find(&key(&[&weights, &frame]), &regions).is_err());
        let stays = buffer();
        table.keep(key(&[&weights, &stays]), regions.clone(), Vec::new());
        assert_eq!(kept(), 1);
        drop(owner);
        table.keep(MemoKey { owner: Weak::new(), params: Vec::new(), images: Vec::new() }, regions, Vec::new());
        assert_eq!(kept(), 1);
    }
}
