//! The loop nests that tiles are chosen for: loops, and the arrays that their body reads and writes.

use super::error::{NoVector, TssError};
use halide_core::types::ScalarType;

/// A perfect nest of loops over a box, and the arrays that its body accesses.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Nest {
    /// The loops, outermost first. Vectors go along the last one.
    pub loops: Vec<Loop>,
    /// The arrays. Two references whose subscripts differ by more than constants are two arrays: what they share is
    /// counted twice, which is an upper bound. [`Tiles::is_upper_bound`](super::Tiles) says so where names agree.
    pub arrays: Vec<Array>,
    /// Pairs of loops of whose iterations about half run: those on one side of a slanted line, as in a triangle.
    pub slants: Vec<(usize, usize)>,
}

/// A loop of a nest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its name, for messages.
    pub name: String,
    /// The number of iterations. Of a loop whose bounds depend on other loops, as in a triangle, it is the mean.
    pub trips: u64,
    /// The order that its iterations need.
    pub kind: LoopKind,
}

/// The order that the iterations of a loop need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopKind {
    /// None, and its tiles are tasks of threads. These loops over tiles are outside of all others.
    Parallel,
    /// None, but its tiles run one after another.
    Independent,
    /// One iteration needs what another one left. Tiles run in its order.
    Reduction,
    /// One iteration needs what another one left, and tiles would change their order: the loop stays whole.
    Ordered,
}

/// A sum of loop variables with factors, without its constant.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Subscript {
    /// Each loop by its number in the nest, with its factor.
    pub terms: Vec<(usize, i64)>,
}

/// The use of the elements of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AccessKind {
    /// They are read.
    Read,
    /// They are written.
    Write,
    /// They are read and written.
    Update,
}

/// An array that the body of a nest accesses at one or more places that are constants apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Array {
    /// Its name, for messages and to find arrays that are given twice.
    pub name: String,
    /// The type of its elements.
    pub element: ScalarType,
    /// The use of its elements. One that writes stores to the first reference.
    pub access: AccessKind,
    /// The leading dimension: the elements from a row to the next.
    pub ld: i64,
    /// The place of its first element, in elements from the start of a line.
    pub base: i64,
    /// A subscript for each dimension. Rows are along the last one.
    pub subscripts: Vec<Subscript>,
    /// The constants of each reference, a number for each subscript. A number that is missing is 0, and an array
    /// without references has one at 0.
    pub offsets: Vec<Vec<i64>>,
}

impl Loop {
    /// A loop whose tiles are tasks.
    pub fn parallel(name: &str, trips: u64) -> Loop {
        Loop { name: name.to_string(), trips, kind: LoopKind::Parallel }
    }

    /// A loop whose iterations need no order.
    pub fn independent(name: &str, trips: u64) -> Loop {
        Loop { name: name.to_string(), trips, kind: LoopKind::Independent }
    }

    /// A loop whose iterations depend on each other.
    pub fn reduction(name: &str, trips: u64) -> Loop {
        Loop { name: name.to_string(), trips, kind: LoopKind::Reduction }
    }

    /// A loop that stays whole.
    pub fn ordered(name: &str, trips: u64) -> Loop {
        Loop { name: name.to_string(), trips, kind: LoopKind::Ordered }
    }

    /// Returns true if one iteration needs what another one left.
    pub fn is_reduction(&self) -> bool {
        matches!(self.kind, LoopKind::Reduction | LoopKind::Ordered)
    }

    /// Returns the iterations in a tile that are nearest to `size` and allowed.
    pub fn allowed(&self, size: u64) -> u64 {
        if self.kind == LoopKind::Ordered { self.trips } else { size.clamp(1, self.trips.max(1)) }
    }
}

impl Subscript {
    /// The variable of a loop, by the loop's number.
    pub fn of_loop(index: usize) -> Subscript {
        Subscript { terms: vec![(index, 1)] }
    }

    /// Adds a multiple of the variable of a loop: `x.plus(r, 1)` is `x + r`.
    pub fn plus(mut self, index: usize, factor: i64) -> Subscript {
        self.terms.push((index, factor));
        self
    }

    /// Returns the factor of a loop's variable.
    pub fn factor(&self, index: usize) -> i64 {
        let own = self.terms.iter().filter(|(of, _)| *of == index);
        own.fold(0, |sum: i64, (_, factor)| sum.saturating_add(*factor))
    }
}

impl Array {
    /// An array that is read at one place, and begins at the start of a line.
    pub fn read(name: &str, element: ScalarType, ld: i64, subscripts: &[&Subscript]) -> Array {
        let subscripts = subscripts.iter().map(|s| (*s).clone()).collect();
        Array {
            name: name.to_string(),
            element,
            access: AccessKind::Read,
            ld,
            base: 0,
            subscripts,
            offsets: Vec::new(),
        }
    }

    /// An array that is written at one place.
    pub fn write(name: &str, element: ScalarType, ld: i64, subscripts: &[&Subscript]) -> Array {
        Array { access: AccessKind::Write, ..Array::read(name, element, ld, subscripts) }
    }

    /// An array that is read and written at one place.
    pub fn update(name: &str, element: ScalarType, ld: i64, subscripts: &[&Subscript]) -> Array {
        Array { access: AccessKind::Update, ..Array::read(name, element, ld, subscripts) }
    }

    /// Sets the places that are accessed, in place of the one without offsets.
    pub fn at(mut self, offsets: &[&[i64]]) -> Array {
        self.offsets = offsets.iter().map(|o| o.to_vec()).collect();
        self
    }

    /// Returns true if some subscript uses a loop.
    pub fn uses(&self, index: usize) -> bool {
        self.subscripts.iter().any(|s| s.factor(index) != 0)
    }

    /// Returns true if its elements are written.
    pub fn is_written(&self) -> bool {
        self.access != AccessKind::Read
    }

    /// Returns the number of references.
    pub fn references(&self) -> u64 {
        self.offsets.len().max(1) as u64
    }

    /// Returns the bytes of an element.
    pub fn bytes(&self) -> u64 {
        self.element.bytes() as u64
    }

    /// Returns the elements from an access to the next one along a loop; `None` if they are in different rows.
    pub fn step(&self, index: usize) -> Option<i64> {
        let (last, outer) = self.subscripts.split_last().map_or((None, &[][..]), |(last, outer)| (Some(last), outer));
        let in_row = outer.iter().all(|s| s.factor(index) == 0);
        in_row.then(|| last.map_or(0, |s| s.factor(index)))
    }

    /// Returns the constant of a subscript in each reference.
    pub(super) fn constants(&self, dim: usize) -> impl Iterator<Item = i64> {
        let given = self.offsets.iter().map(move |o| o.get(dim).copied().unwrap_or(0));
        given.chain(self.offsets.is_empty().then_some(0))
    }
}

impl Nest {
    /// Returns true if two of the arrays are references to one.
    pub fn has_shared_arrays(&self) -> bool {
        self.arrays.iter().enumerate().any(|(i, a)| self.arrays[..i].iter().any(|b| a.name == b.name))
    }

    /// Returns the bytes of the widest elements, or 1 without arrays.
    pub fn widest(&self) -> u64 {
        self.arrays.iter().map(Array::bytes).max().unwrap_or(1).max(1)
    }

    /// Returns the number of iterations of each loop.
    pub fn trips(&self) -> Vec<u64> {
        self.loops.iter().map(|l| l.trips).collect()
    }

    /// Returns the number of the array whose rows vectors go along: the first that is written, or else the first whose
    /// elements are neighbours.
    pub fn row_array(&self) -> Option<usize> {
        let innermost = self.loops.len().checked_sub(1)?;
        let is_dense = |a: &Array| a.step(innermost) == Some(1);
        let written = self.arrays.iter().position(|a| a.is_written() && is_dense(a));
        written.or_else(|| self.arrays.iter().position(is_dense))
    }

    /// Checks that subscripts are of these loops, that no loop is empty, and that vectors can go along the last one.
    pub fn check(&self) -> Result<(), TssError> {
        let loops = self.loops.len();
        for array in &self.arrays {
            let mut used = array.subscripts.iter().flat_map(|s| &s.terms);
            if let Some((index, _)) = used.find(|(index, _)| *index >= loops) {
                return Err(TssError::UnknownLoop { array: array.name.clone(), index: *index, loops });
            }
            let subscripts = array.subscripts.len();
            if let Some(offsets) = array.offsets.iter().map(Vec::len).find(|len| *len > subscripts) {
                return Err(TssError::Offsets { array: array.name.clone(), subscripts, offsets });
            }
        }
        if self.slants.iter().any(|(a, b)| a == b || *a.max(b) >= loops) {
            return Err(TssError::Slant { loops });
        }
        if let Some(empty) = self.loops.iter().find(|l| l.trips == 0) {
            return Err(TssError::EmptyLoop { name: empty.name.clone() });
        }
        self.no_vector().map_or(Ok(()), |why| Err(TssError::NoVectorLoop { why }))
    }

    /// The reason that vectors cannot go along the last loop.
    fn no_vector(&self) -> Option<NoVector> {
        let Some(innermost) = self.loops.last() else { return Some(NoVector::NoLoops) };
        let (index, name) = (self.loops.len() - 1, innermost.name.clone());
        if innermost.is_reduction() {
            return Some(NoVector::Carries { name });
        }
        let is_strided = |a: &&Array| a.is_written() && a.step(index) != Some(1);
        if let Some(array) = self.arrays.iter().find(is_strided) {
            let step = array.step(index).unwrap_or(array.ld);
            return Some(NoVector::Strided { name, array: array.name.clone(), step });
        }
        self.row_array().is_none().then_some(NoVector::NothingDense { name })
    }
}
