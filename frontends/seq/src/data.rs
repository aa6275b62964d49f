//! Data of procs: scalars, sequences, nested sequences.

use crate::error::Error;
use crate::meaning::Datum;
use crate::types::Type;
use halide::prelude::{AnyBuffer, Buffer, Region};
use halide_core::value::Element;
use halide_core::value::Scalar;

/// An argument or a result of a proc.
#[derive(Clone, Debug)]
pub enum Data {
    /// A number or a truth value.
    Scalar(Scalar),
    /// A tuple.
    Tuple(Vec<Data>),
    /// A sequence of scalars: a buffer of one dimension from 0 on.
    Values(AnyBuffer),
    /// A sequence of tuples: a sequence of each part.
    Zipped(Vec<Data>),
    /// A sequence of sequences.
    Rows(Rows),
}

/// Sequences that lie one after the other in another sequence.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The beginning of each row, and the end of the last one.
    pub(crate) offsets: Buffer<i32>,
    /// The elements of all rows.
    pub(crate) elements: Box<Data>,
}

impl Data {
    /// A sequence of scalars.
    ///
    /// # Errors
    /// There is no memory for it.
    pub fn values<T: Element>(elements: &[T]) -> Result<Data, Error> {
        let extent = i32::try_from(elements.len()).unwrap_or(i32::MAX);
        Ok(Data::Values(Buffer::from_slice([extent], elements)?.into_any()))
    }

    /// A sequence of the sequences that `elements` consists of: row `i` is from `offsets[i]` to `offsets[i + 1]`.
    ///
    /// # Errors
    /// The offsets do not begin at 0, fall, or do not end with the elements; `elements` are no sequence.
    pub fn rows(elements: Data, offsets: &[i32]) -> Result<Data, Error> {
        elements.check()?;
        let count = elements.len().ok_or(Error::NotASequence)?;
        let falls = offsets.windows(2).position(|pair| pair[0] > pair[1]);
        if let Some(at) = falls {
            return Err(Error::OffsetsFall { at: at + 1, before: offsets[at], after: offsets[at + 1] });
        }
        match (offsets.first(), offsets.last()) {
            (Some(0), Some(&last)) if last as usize == count => {}
            (first, last) => {
                let (first, last) = (first.copied(), last.copied());
                return Err(Error::OffsetsEnd { first, last, count });
            }
        }
        let extent = i32::try_from(offsets.len()).unwrap_or(i32::MAX);
        let offsets = Buffer::from_slice([extent], offsets)?;
        Ok(Data::Rows(Rows { offsets, elements: Box::new(elements) }))
    }

    /// Checks what the variants of this type let through: sequences of tuples whose parts have other lengths, and
    /// buffers that are no sequence.
    ///
    /// # Errors
    /// The first part that is wrong.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Data::Scalar(_) => Ok(()),
            Data::Tuple(parts) => parts.iter().try_for_each(Data::check),
            Data::Values(buffer) => match buffer.dims() {
                [dim] if dim.min == 0 => Ok(()),
                _ => Err(Error::NotASequence),
            },
            Data::Zipped(parts) => {
                parts.iter().try_for_each(Data::check)?;
                let first = self.len().ok_or(Error::NotASequence)?;
                let lengths = parts.iter().map(|part| part.len().ok_or(Error::NotASequence));
                let lengths = lengths.collect::<Result<Vec<usize>, Error>>()?;
                let other = lengths.into_iter().find(|length| *length != first);
                other.map_or(Ok(()), |other| Err(Error::ZippedLengths { first, other }))
            }
            Data::Rows(rows) => rows.elements.check(),
        }
    }

    /// The number of elements of a sequence.
    pub fn len(&self) -> Option<usize> {
        match self {
            Data::Scalar(_) | Data::Tuple(_) => None,
            Data::Values(buffer) => Some(buffer.len() as usize),
            Data::Zipped(parts) => parts.first().and_then(Data::len),
            Data::Rows(rows) => Some(rows.offsets.as_any().len().saturating_sub(1) as usize),
        }
    }

    /// Returns true for a sequence without elements.
    pub fn is_empty(&self) -> bool {
        self.len() == Some(0)
    }

    /// The elements of a sequence of scalars.
    ///
    /// # Errors
    /// It is none, or its elements have another type.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>, Error> {
        match self {
            Data::Values(buffer) => Ok(buffer.typed::<T>()?.to_vec()),
            _ => Err(Error::NotASequence),
        }
    }

    /// The scalar.
    ///
    /// # Errors
    /// It is none, or of another type.
    pub fn scalar<T: Element>(&self) -> Result<T, Error> {
        match self {
            Data::Scalar(value) => value.get::<T>().ok_or(Error::NotAScalar),
            _ => Err(Error::NotAScalar),
        }
    }

    /// The beginning of each row of a nested sequence, and the end of the last one.
    pub fn offsets(&self) -> Option<Vec<i32>> {
        match self {
            Data::Rows(rows) => Some(rows.offsets.to_vec()),
            _ => None,
        }
    }

    /// The elements of all rows of a nested sequence.
    pub fn elements(&self) -> Option<&Data> {
        match self {
            Data::Rows(rows) => Some(&rows.elements),
            _ => None,
        }
    }

    /// The data as the interpreter takes them.
    pub fn datum(&self) -> Datum {
        match self {
            Data::Scalar(value) => Datum::Scalar(*value),
            Data::Tuple(parts) => Datum::Tuple(parts.iter().map(Data::datum).collect()),
            _ => Datum::seq(self.data()),
        }
    }

    /// The elements of a sequence.
    fn data(&self) -> Vec<Datum> {
        match self {
            Data::Scalar(_) | Data::Tuple(_) => Vec::new(),
            Data::Values(buffer) => {
                (0..buffer.len() as i32).filter_map(|i| buffer.get([i]).map(Datum::Scalar)).collect()
            }
            Data::Zipped(parts) => {
                let parts: Vec<Vec<Datum>> = parts.iter().map(Data::data).collect();
                let count = parts.first().map_or(0, Vec::len);
                (0..count).map(|k| Datum::Tuple(parts.iter().map(|part| part[k].clone()).collect())).collect()
            }
            Data::Rows(rows) => {
                let all = rows.elements.data();
                let offsets = rows.offsets.to_vec();
                offsets.windows(2).map(|pair| Datum::seq(all[pair[0] as usize..pair[1] as usize].to_vec())).collect()
            }
        }
    }
}

macro_rules! from_scalars {
    ($($ty:ty),*) => {$(
        impl From<$ty> for Data {
            fn from(value: $ty) -> Data {
                Data::Scalar(value.into())
            }
        }
    )*};
}

from_scalars!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f32, f64);

impl From<AnyBuffer> for Data {
    fn from(buffer: AnyBuffer) -> Data {
        Data::Values(buffer)
    }
}

impl Data {
    /// The data that `datum`, of type `ty`, is.
    ///
    /// # Errors
    /// There is no memory for it.
    pub(crate) fn from_datum(datum: &Datum, ty: &Type) -> Result<Data, Error> {
        match (datum, ty) {
            (Datum::Scalar(value), _) => Ok(Data::Scalar(*value)),
            (Datum::Tuple(parts), Type::Tuple(types)) => {
                let parts: Result<_, _> =
                    parts.iter().zip(types.iter()).map(|(p, ty)| Data::from_datum(p, ty)).collect();
                Ok(Data::Tuple(parts?))
            }
            (Datum::Seq(elements), Type::Seq(element)) => Data::from_elements(elements, element),
            _ => Err(Error::NotASequence),
        }
    }

    /// The sequence of `elements`, each of type `ty`.
    fn from_elements(elements: &[Datum], ty: &Type) -> Result<Data, Error> {
        match ty {
            Type::Scalar(ty) => {
                let scalars = elements.iter().filter_map(|element| match element {
                    Datum::Scalar(value) => Some(*value),
                    _ => None,
                });
                let bytes: Vec<u8> =
                    scalars.flat_map(|value| value.bits().to_le_bytes().into_iter().take(ty.bytes())).collect();
                let extent = i32::try_from(elements.len()).unwrap_or(i32::MAX);
                Ok(Data::Values(AnyBuffer::from_bytes(*ty, &Region::of_extents([extent]), &bytes)?))
            }
            Type::Tuple(types) => {
                let part = |(i, ty): (usize, &Type)| {
                    let parts: Vec<Datum> = elements.iter().filter_map(|element| part(element, i)).collect();
                    Data::from_elements(&parts, ty)
                };
                Ok(Data::Zipped(types.iter().enumerate().map(part).collect::<Result<_, _>>()?))
            }
            Type::Seq(inner) => {
                let (mut offsets, mut all) = (vec![0i32], Vec::new());
                for element in elements {
                    if let Datum::Seq(row) = element {
                        all.extend(row.iter().cloned());
                    }
                    offsets.push(i32::try_from(all.len()).unwrap_or(i32::MAX));
                }
                Data::rows(Data::from_elements(&all, inner)?, &offsets)
            }
            Type::Function(..) | Type::Variable(_) => Err(Error::NotASequence),
        }
    }
}

fn part(datum: &Datum, i: usize) -> Option<Datum> {
    match datum {
        Datum::Tuple(parts) => parts.get(i).cloned(),
        _ => None,
    }
}
