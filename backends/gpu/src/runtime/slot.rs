//! The two copies of each buffer of a run: their places, and which is the newest.

use super::pool::{HostCopy, Slab};
use halide_core::buffer::{AnyBuffer, Dim};
use halide_core::types::ScalarType;
use std::sync::Arc;

/// The copies that hold the contents of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Newest {
    /// Neither: nothing was written yet.
    None,
    /// The host's.
    Host,
    /// The device's.
    Device,
    /// Both.
    Both,
}

/// The place of the host's copy.
#[derive(Clone)]
pub(super) enum HostSide {
    /// It is this input.
    Input(AnyBuffer),
    /// In memory that is shown with each call.
    Shown,
    /// There is none.
    None,
}

/// The place of the device's copy.
#[derive(Clone)]
pub(super) struct DevicePlace {
    pub(super) slab: Arc<Slab>,
    /// The byte of the slab at which the host's first byte is.
    pub(super) at: i64,
    /// The number of elements from the start of the slab to the element at the min coordinates.
    pub(super) first: i64,
    /// The number of bytes of the slab that kernels may access: whole words.
    pub(super) bytes: u64,
}

/// A buffer of a run.
pub(super) struct Slot {
    pub(super) host: HostSide,
    pub(super) newest: Newest,
    /// The number of bytes of the host's memory, from the lowest element to the end of the highest.
    pub(super) bytes: u64,
    /// The byte of these at which the element at the min coordinates is.
    pub(super) first: u64,
    /// Element size in bytes.
    pub(super) size: u64,
    /// The runs of bytes that are elements, if not all bytes are.
    pub(super) rows: Option<Rows>,
    pub(super) place: Option<DevicePlace>,
}

/// The extent of the elements of a buffer in memory, for dimensions with strides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reach {
    /// Elements from the lowest to the highest, both included.
    pub(super) elements: u64,
    /// The number of elements below the one at the min coordinates.
    pub(super) below: u64,
    /// True if each of them is an element of the buffer.
    pub(super) dense: bool,
}

/// Bytes that are elements among others that are not: runs that repeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Rows {
    /// The bytes of a run.
    run: usize,
    /// The number of repetitions and their distance in bytes, from the innermost to the outermost.
    repeats: Vec<(usize, usize)>,
}

impl Rows {
    /// Returns the rows of elements of `size` bytes; the first byte is that of the lowest element. No extent is 0.
    fn of_dims(dims: &[Dim], size: u64) -> Rows {
        let of_dim = |d: &Dim| (d.extent as usize, d.stride.unsigned_abs() as usize * size as usize);
        let mut repeats: Vec<(usize, usize)> = dims.iter().map(of_dim).filter(|(n, _)| *n > 1).collect();
        repeats.sort_by_key(|(_, stride)| *stride);
        let mut run = size as usize;
        // What follows each other without a gap is one run.
        while let Some(&(n, stride)) = repeats.first()
            && stride == run
        {
            run *= n;
            repeats.remove(0);
        }
        Rows { run, repeats }
    }
    /// Copies what are elements; both have the same layout.
    pub(super) fn copy(&self, from: &[u8], to: &mut [u8]) {
        copy_rows(self.run, &self.repeats, from, to);
    }
}

fn copy_rows(run: usize, repeats: &[(usize, usize)], from: &[u8], to: &mut [u8]) {
    let Some((&(n, stride), inner)) = repeats.split_last() else {
        return to[..run].copy_from_slice(&from[..run]);
    };
    for i in 0..n {
        copy_rows(run, inner, &from[i * stride..], &mut to[i * stride..]);
    }
}

impl Reach {
    /// `None` if it does not fit the host's address space.
    pub(super) fn of_dims(dims: &[Dim]) -> Option<Reach> {
        if dims.iter().any(|d| d.extent <= 0) {
            return Some(Reach { elements: 0, below: 0, dense: true });
        }
        let (mut below, mut above, mut points) = (0i128, 0i128, 1i128);
        for d in dims {
            let reach = i128::from(d.extent - 1) * i128::from(d.stride);
            below -= reach.min(0);
            above += reach.max(0);
            points = points.saturating_mul(i128::from(d.extent));
        }
        let elements = u64::try_from(below + above + 1).ok().filter(|n| *n <= 1 << 58)?;
        // Each element has a place of its own, so as many places as elements are without gaps.
        Some(Reach { elements, below: below as u64, dense: i128::from(elements) == points })
    }
}

impl Slot {
    /// Memory that the host shows, or none at all.
    pub(super) fn new(host: HostSide, newest: Newest, ty: ScalarType, reach: Reach) -> Slot {
        let size = ty.bytes() as u64;
        Slot { host, newest, bytes: reach.elements * size, first: reach.below * size, size, rows: None, place: None }
    }
    /// An output in the host's memory, whose elements may have gaps between them.
    pub(super) fn output(ty: ScalarType, dims: &[Dim], reach: Reach) -> Slot {
        let slot = Slot::new(HostSide::Shown, Newest::None, ty, reach);
        let rows = (!reach.dense).then(|| Rows::of_dims(dims, slot.size));
        Slot { rows, ..slot }
    }
    /// Returns the number of bytes of unused memory in front of the host's first byte on the device, so that the
    /// element at the min coordinates is at a multiple of a word.
    pub(super) fn pad(&self) -> u64 {
        self.first.next_multiple_of(4) - self.first
    }
    /// Returns the number of bytes of its place on the device, whole words.
    pub(super) fn device_bytes(&self) -> u64 {
        (self.pad() + self.bytes).next_multiple_of(4).max(4)
    }
    /// A place in a slab of at least [`Slot::device_bytes`].
    pub(super) fn place_in(&self, slab: Arc<Slab>) -> DevicePlace {
        let pad = self.pad();
        DevicePlace { slab, at: pad as i64, first: ((pad + self.first) / self.size) as i64, bytes: self.device_bytes() }
    }
    /// The place of an input that a copy holds. `used` and `first` are those of the host's memory.
    pub(super) fn place_of(copy: &HostCopy, used: usize, first: usize, size: u64) -> DevicePlace {
        let end = (copy.held.end as i64 - copy.base) as u64;
        DevicePlace {
            slab: copy.slab.clone(),
            at: used as i64 - copy.base,
            first: (first as i64 - copy.base) / size as i64,
            bytes: end.next_multiple_of(4).max(4),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::runtime::slot::*;

    fn dim(extent: i64, stride: i64) -> Dim {
        Dim { min: 5, extent, stride }
    }

    #[test]
    fn reach_is_from_the_lowest_to_the_highest() {
        assert_eq!(Reach::of_dims(&[]), Some(Reach { elements: 1, below: 0, dense: true }));
        assert_eq!(Reach::of_dims(&[dim(4, 1), dim(3, 4)]), Some(Reach { elements: 12, below: 0, dense: true }));
        assert_eq!(Reach::of_dims(&[dim(4, 1), dim(3, 5)]), Some(Reach { elements: 14, below: 0, dense: false }));
        assert_eq!(Reach::of_dims(&[dim(4, -1), dim(3, 4)]), Some(Reach { elements: 12, below: 3, dense: true }));
        assert_eq!(Reach::of_dims(&[dim(4, 1), dim(0, 4)]), Some(Reach { elements: 0, below: 0, dense: true }));
        assert_eq!(Reach::of_dims(&[dim(i64::MAX, i64::MAX)]), None);
    }

    #[test]
    fn rows_are_what_is_copied() {
        // 3 elements of 2 bytes in rows of 4, downwards; two planes.
        let dims = [dim(2, 12), dim(3, 1), dim(3, -4)];
        let rows = Rows::of_dims(&dims, 2);
        assert_eq!(rows, Rows { run: 6, repeats: vec![(3, 8), (2, 24)] });
        let (from, mut to) = (vec![1u8; 46], vec![0u8; 46]);
        rows.copy(&from, &mut to);
        let expected: Vec<u8> = (0..46).map(|i| u8::from(i % 8 < 6)).collect();
        assert_eq!(to, expected);
        assert_eq!(Rows::of_dims(&[dim(4, 1), dim(3, 4)], 1), Rows { run: 12, repeats: vec![] });
        assert_eq!(Rows::of_dims(&[dim(4, 2)], 4), Rows { run: 4, repeats: vec![(4, 8)] });
    }

    #[test]
    fn the_first_element_stands_at_a_word() {
        let reach = Reach::of_dims(&[dim(4, -1), dim(3, 4)]).unwrap();
        let slot = Slot::new(HostSide::Shown, Newest::None, ScalarType::U8, reach);
        assert_eq!((slot.bytes, slot.first, slot.pad(), slot.device_bytes()), (12, 3, 1, 16));
    }
}
