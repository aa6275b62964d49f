//! The elements of one buffer during a run, with what is known of each.

use super::error::EvalError;
use crate::sym::BufId;
use crate::tuning::MOST_ELEMENTS;
use halide_core::buffer::{AnyBuffer, BufferError};
use halide_core::limits::OverCap;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::collections::HashMap;

/// The reason for there being no memory for a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) enum NoRoom {
    /// It has more elements than [`MOST_ELEMENTS`], or than there is memory for.
    TooLarge { elements: usize },
    /// It would exceed the run's cap.
    OverCap(OverCap),
}

impl NoRoom {
    /// The same as an error of the run, for the buffer `buf`.
    pub(super) fn of(self, buf: BufId) -> EvalError {
        match self {
            NoRoom::TooLarge { elements } => EvalError::TooLarge { buf, elements },
            NoRoom::OverCap(over) => EvalError::OverCap { buf, over },
        }
    }
}

/// Checks that so many bytes are within the run's cap.
pub(super) type Room<'a> = &'a dyn Fn(u64) -> Result<(), OverCap>;

/// One dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct Dim {
    pub(super) min: i64,
    pub(super) extent: i64,
    pub(super) stride: i64,
    pub(super) fold: Option<i64>,
}

/// The state of an element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Never written.
    Empty,
    /// Holds a value.
    Full,
    /// Holds a value that depends on a hole.
    Garbage,
    /// Between the elements of the caller's buffer.
    Gap,
}

/// A reason for which an element has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Hole {
    /// It was never written.
    Empty,
    /// It holds another coordinate of a folded dimension.
    Stale,
    /// It is in shared memory that another allocation has overwritten.
    Overwritten,
    /// It was computed from this hole of the run.
    Garbage(u32),
}

/// The elements of one buffer. One dimension or none for linear allocations.
#[derive(Clone, Debug)]
pub(super) struct Storage {
    pub(super) dims: Vec<Dim>,
    elem: ScalarType,
    /// Position in `data` of the element at the min coordinates.
    base: i64,
    data: Vec<u64>,
    state: Vec<State>,
    /// The folded dimensions, and for each element its coordinates in them.
    folded: Vec<usize>,
    tags: Vec<i64>,
    /// The holes that elements in state `Garbage` were computed from.
    garbage: HashMap<usize, u32>,
}

impl Storage {
    /// A copy of the caller's buffer; an output starts without values.
    pub(super) fn of_caller(buffer: &AnyBuffer, filled: bool, room: Room<'_>) -> Result<Storage, NoRoom> {
        let dims: Vec<Dim> =
            buffer.dims().iter().map(|d| Dim { min: d.min, extent: d.extent, stride: d.stride, fold: None }).collect();
        let reach = |d: &Dim| (d.extent - 1).max(0) * d.stride;
        let base: i64 = -dims.iter().map(|d| reach(d).min(0)).sum::<i64>();
        let last: i64 = base + dims.iter().map(|d| reach(d).max(0)).sum::<i64>();
        let len = if buffer.is_empty() { 0 } else { last as usize + 1 };
        let mut storage = Storage::empty(buffer.ty(), dims, base);
        storage.resize(len, State::Gap, room)?;
        let given = if filled { State::Full } else { State::Empty };
        let (memory, size) = (buffer.memory(), buffer.ty().bytes());
        // The lowest element is the first of both.
        let bytes = memory.bytes.get(memory.used.clone()).unwrap_or_default();
        let Storage { dims, data, state, .. } = &mut storage;
        each_position(dims, base as usize, &mut |at| {
            state[at] = given;
            data[at] = bytes.get(at * size..(at + 1) * size).map_or(0, word);
        });
        Ok(storage)
    }

    /// Multi-dimensional storage: dense, but a folded dimension takes as much as its fold.
    pub(super) fn realized(
        elem: ScalarType,
        bounds: &[(i64, i64)],
        folds: &[Option<i64>],
        room: Room<'_>,
    ) -> Result<Storage, NoRoom> {
        let mut size = 1i64;
        let mut dims = Vec::with_capacity(bounds.len());
        for (d, &(min, extent)) in bounds.iter().enumerate() {
            let fold = folds.get(d).copied().flatten();
            dims.push(Dim { min, extent, stride: size, fold });
            size = size.saturating_mul(fold.unwrap_or(extent.max(0)));
        }
        let mut storage = Storage::empty(elem, dims, 0);
        storage.folded = (0..bounds.len()).filter(|&d| storage.dims[d].fold.is_some()).collect();
        storage.resize(usize::try_from(size).unwrap_or(usize::MAX), State::Empty, room)?;
        storage.tags = vec![0; storage.data.len() * storage.folded.len()];
        Ok(storage)
    }

    /// Linear storage.
    pub(super) fn linear(elem: ScalarType, count: i64, room: Room<'_>) -> Result<Storage, NoRoom> {
        let mut storage = Storage::empty(elem, Vec::new(), 0);
        storage.resize(usize::try_from(count).unwrap_or(usize::MAX), State::Empty, room)?;
        Ok(storage)
    }

    fn empty(elem: ScalarType, dims: Vec<Dim>, base: i64) -> Storage {
        let (data, state, folded, tags) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Storage { dims, elem, base, data, state, folded, tags, garbage: HashMap::new() }
    }

    fn resize(&mut self, len: usize, state: State, room: Room<'_>) -> Result<(), NoRoom> {
        room(self.bytes_of(len)).map_err(NoRoom::OverCap)?;
        let fits = len <= MOST_ELEMENTS
            && self.data.try_reserve_exact(len).is_ok()
            && self.state.try_reserve_exact(len).is_ok();
        if !fits {
            return Err(NoRoom::TooLarge { elements: len });
        }
        self.data.resize(len, 0);
        self.state.resize(len, state);
        Ok(())
    }
    /// The bytes of memory that so many elements take here.
    fn bytes_of(&self, elements: usize) -> u64 {
        let each = size_of::<u64>() + size_of::<State>() + self.folded.len() * size_of::<i64>();
        (elements as u64).saturating_mul(each as u64)
    }
    /// The bytes of memory that it takes here.
    pub(super) fn taken(&self) -> u64 {
        self.bytes_of(self.len())
    }

    /// Number of elements.
    pub(super) fn len(&self) -> usize {
        self.data.len()
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.data.len() * self.elem.bytes()) as u64
    }

    pub(super) fn field(&self, dim: usize, field: DimField) -> Option<i64> {
        let d = self.dims.get(dim)?;
        Some(match field {
            DimField::Min => d.min,
            DimField::Extent => d.extent,
            DimField::Stride => d.stride,
        })
    }

    /// The position of the element at the coordinates; the error is the dimension in which it is outside.
    #[inline]
    pub(super) fn locate(&self, coordinate: impl Fn(usize) -> i64) -> Result<usize, usize> {
        let mut at = self.base;
        for (d, dim) in self.dims.iter().enumerate() {
            let c = coordinate(d);
            let from_min = c.wrapping_sub(dim.min);
            if from_min < 0 || from_min >= dim.extent || c < dim.min {
                return Err(d);
            }
            at += dim.stride * dim.fold.map_or(from_min, |f| c.rem_euclid(f));
        }
        Ok(at as usize)
    }

    /// The position of the element with a linear index.
    #[inline]
    pub(super) fn linear_at(&self, index: i64) -> Option<usize> {
        let at = usize::try_from(self.base.checked_add(index)?).ok()?;
        (at < self.data.len() && self.state[at] != State::Gap).then_some(at)
    }

    /// The smallest and largest linear index.
    pub(super) fn linear_range(&self) -> (i64, i64) {
        (-self.base, self.data.len() as i64 - 1 - self.base)
    }

    /// The value at a position, asked for by its coordinates in folded dimensions.
    #[inline]
    pub(super) fn fetch(&self, at: usize, coordinate: impl Fn(usize) -> i64) -> Result<u64, Hole> {
        match self.state[at] {
            State::Full if self.folded.is_empty() => Ok(self.data[at]),
            State::Empty | State::Gap => Err(Hole::Empty),
            _ if !self.holds(at, coordinate) => Err(Hole::Stale),
            State::Full => Ok(self.data[at]),
            State::Garbage => Err(Hole::Garbage(self.garbage.get(&at).copied().unwrap_or(0))),
        }
    }

    fn holds(&self, at: usize, coordinate: impl Fn(usize) -> i64) -> bool {
        let n = self.folded.len();
        self.folded.iter().zip(&self.tags[at * n..]).all(|(&d, &tag)| tag == coordinate(d))
    }

    /// The coordinates in folded dimensions that an element holds.
    pub(super) fn tags_at(&self, at: usize) -> &[i64] {
        let n = self.folded.len();
        self.tags.get(at * n..(at + 1) * n).unwrap_or(&[])
    }

    /// The bits at a position, whatever is known of them; for the rule that racing writes agree.
    pub(super) fn bits(&self, at: usize) -> Option<u64> {
        (self.state[at] == State::Full).then_some(self.data[at])
    }

    /// Writes a value, or garbage computed from hole `hole` (0 is none).
    #[inline]
    pub(super) fn put(&mut self, at: usize, bits: u64, hole: u32, coordinate: impl Fn(usize) -> i64) {
        self.data[at] = bits;
        self.state[at] = State::Full;
        if hole != 0 {
            self.state[at] = State::Garbage;
            self.garbage.insert(at, hole);
        }
        let n = self.folded.len();
        for (k, &d) in self.folded.iter().enumerate() {
            self.tags[at * n + k] = coordinate(d);
        }
    }

    /// The first garbage element with its hole.
    pub(super) fn first_garbage(&self) -> Option<(usize, u32)> {
        let at = self.state.iter().position(|s| *s == State::Garbage)?;
        Some((at, self.garbage.get(&at).copied().unwrap_or(0)))
    }

    /// The number of elements without a value.
    pub(super) fn unwritten(&self) -> u64 {
        self.state.iter().filter(|s| **s == State::Empty).count() as u64
    }

    /// The coordinates of a position (nothing is folded), or its linear index.
    pub(super) fn place(&self, at: usize) -> String {
        if self.dims.is_empty() {
            return format!("[{at}]");
        }
        // Dimensions by falling stride: what is left after each is the offset in the smaller ones.
        let mut order: Vec<usize> = (0..self.dims.len()).filter(|&d| self.dims[d].stride != 0).collect();
        order.sort_by_key(|&d| std::cmp::Reverse(self.dims[d].stride.abs()));
        let mut left = at as i64;
        let mut coords: Vec<i64> = self.dims.iter().map(|d| d.min).collect();
        for d in order {
            let dim = &self.dims[d];
            let steps = left / dim.stride.abs();
            left %= dim.stride.abs();
            coords[d] += if dim.stride < 0 { dim.extent - 1 - steps } else { steps };
        }
        let coords: Vec<String> = coords.iter().map(i64::to_string).collect();
        format!("({})", coords.join(", "))
    }

    /// The elements as memory, from the lowest to the highest; 0 where there is none.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let size = self.elem.bytes();
        self.data.iter().flat_map(|bits| bits.to_le_bytes().into_iter().take(size)).collect()
    }

    /// Gives every element the value that it has in memory of that form.
    pub(super) fn set_bytes(&mut self, bytes: &[u8]) {
        let elements = bytes.chunks_exact(self.elem.bytes());
        for ((data, state), element) in self.data.iter_mut().zip(&mut self.state).zip(elements) {
            if *state != State::Gap {
                (*data, *state) = (word(element), State::Full);
            }
        }
        self.garbage.clear();
    }

    /// Writes every element that has a value to the caller's buffer.
    pub(super) fn copy_to(&self, buffer: &mut AnyBuffer) -> Result<(), BufferError> {
        let coords = buffer.coords();
        let mut view = buffer.view_mut()?;
        for at in coords {
            if let Ok(index) = self.locate(|d| at[d] as i64)
                && self.state[index] == State::Full
            {
                view.set(&at, Scalar::from_bits(self.elem, self.data[index]))?;
            }
        }
        Ok(())
    }
}

/// Calls `f` with the position of each element. An image has millions, so nothing is made for one.
fn each_position(dims: &[Dim], at: usize, f: &mut impl FnMut(usize)) {
    let Some((last, inner)) = dims.split_last() else { return f(at) };
    for step in 0..last.extent {
        let at = (at as i64 + step * last.stride) as usize;
        if inner.is_empty() { f(at) } else { each_position(inner, at, f) }
    }
}

/// The bits of an element in memory.
fn word(element: &[u8]) -> u64 {
    let mut word = [0; 8];
    word[..element.len()].copy_from_slice(element);
    u64::from_le_bytes(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use halide_core::buffer::Region;
    use halide_core::types::*;

    /// Each element of a view is at the place of its coordinates, and nothing else has a value.
    #[test]
    fn views_of_the_caller_are_taken_element_by_element() {
        for ty in [Bool, I8, U16, F32, F64] {
            let whole = {
                let mut whole = AnyBuffer::with_region(ty, &Region::of_spans([(-3, 7), (2, 5), (0, 3)])).unwrap();
                for (n, at) in whole.coords().enumerate() {
                    whole
                        .set(&at, Scalar::from_bits(ty, if ty == Bool { n as u64 % 2 } else { n as u64 + 1 }))
                        .unwrap();
                }
                whole
            };
            let part = whole.crop(&Region::of_spans([(-1, 3), (3, 2), (1, 2)])).unwrap();
            let padded = AnyBuffer::with_strides(ty, &Region::of_extents([3, 4]), &[2, 9]).unwrap();
            let empty = whole.crop(&Region::of_spans([(0, 0), (3, 2), (1, 2)])).unwrap();
            let turned = [part.transpose(&[2, 0, 1]).unwrap(), part.slice(1, 3).unwrap()];
            for view in [whole, part, padded, empty].into_iter().chain(turned) {
                let storage = Storage::of_caller(&view, true, &|_| Ok(())).unwrap();
                for at in view.coords() {
                    let place = storage.locate(|d| i64::from(at[d])).unwrap();
                    let found = storage.fetch(place, |d| i64::from(at[d]));
                    assert_eq!(found, Ok(view.get(&at).unwrap().bits()), "{view:?} {at:?}");
                }
                let full = storage.state.iter().filter(|state| **state == State::Full).count();
                assert_eq!(full as u64, view.len(), "{view:?}");
            }
        }
    }
}
