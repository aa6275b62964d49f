//! Checks that the elements of the images given are as promised. A promise that was found to hold is remembered with
//! the memory until that may be written, so an image that is given again and again is checked once.

use super::broken_promise::BrokenPromise;
use super::error::RunError;
use crate::buffer::{AnyBuffer, Buffer, Dim, Region, Span};
use crate::ids::ImageId;
use crate::pipeline::{ImageDef, PipelineData};
use crate::promise::{CoordinatePromise, ValuePromise};
use crate::tuning::REMEMBERED_PROMISES;
use crate::types::ScalarType;
use crate::value::Element;
use std::sync::{Mutex, PoisonError};

/// The promises that were found to hold of elements of one memory.
#[derive(Default)]
struct Held(Mutex<Vec<HeldPromise>>);

/// A promise that holds of the elements of a buffer.
#[derive(PartialEq)]
struct HeldPromise {
    promise: ValuePromise,
    /// The spans that the elements are coordinates in.
    coordinates: Vec<Span>,
    ty: ScalarType,
    /// The first byte of the buffer in the memory, and its dimensions: crops and views of a memory have other elements.
    first: usize,
    dims: Vec<Dim>,
}

/// Checks the images of which something is promised, as far as they were given.
pub(super) fn check<'b>(
    pipeline: &PipelineData,
    given: &dyn Fn(ImageId) -> Option<&'b AnyBuffer>,
) -> Result<(), RunError> {
    for (id, def) in pipeline.images.enumerate().filter(|(_, def)| def.is_promised()) {
        let Some(buffer) = given(id) else { continue };
        let span = |promise: &CoordinatePromise| given(promise.image).map(|of| of.dims()[promise.dim].span());
        let spans: Vec<Option<Span>> = def.coordinates.iter().map(span).collect();
        check_image(pipeline, def, buffer, &spans)?;
    }
    Ok(())
}

/// Checks an image, unless what is promised was found to hold since its memory was last written. Its elements are
/// coordinates in `spans`, where these are known.
fn check_image(
    pipeline: &PipelineData,
    def: &ImageDef,
    buffer: &AnyBuffer,
    spans: &[Option<Span>],
) -> Result<(), RunError> {
    let (promise, first, dims) = (def.values, buffer.memory().first, buffer.dims().to_vec());
    let coordinates = spans.iter().copied().flatten().collect();
    let asked = HeldPromise { promise, coordinates, ty: buffer.ty(), first, dims };
    let known = buffer.companion::<Held>();
    if known.is_some_and(|held| held.0.lock().unwrap_or_else(PoisonError::into_inner).contains(&asked)) {
        return Ok(());
    }
    if !def.values.is_nothing() {
        check_elements(def, buffer)?;
    }
    for (promise, span) in def.coordinates.iter().zip(spans) {
        let Some(span) = *span else { continue };
        let (min, max) = (span.min, span.min + span.extent - 1);
        let within = ValuePromise { range: Some((min, max)), ..ValuePromise::default() };
        let alone = ImageDef { values: within, coordinates: Vec::new(), ..def.clone() };
        check_elements(&alone, buffer).map_err(|error| match error {
            BrokenPromise::Range { image, at, value, .. } => {
                let (of, dim) = (pipeline.images[promise.image].name.clone(), promise.dim);
                BrokenPromise::Coordinate { image, at, value, of, dim, min, max }
            }
            error => error,
        })?;
    }
    let held = buffer.companion_or(Held::default);
    let mut held = held.0.lock().unwrap_or_else(PoisonError::into_inner);
    if held.len() >= REMEMBERED_PROMISES {
        held.remove(0);
    }
    held.push(asked);
    Ok(())
}

/// Checks every element of an image of which something is promised.
fn check_elements(def: &ImageDef, buffer: &AnyBuffer) -> Result<(), BrokenPromise> {
    match def.ty {
        ScalarType::I8 => check_typed::<i8>(def, buffer, |v| v.into()),
        ScalarType::I16 => check_typed::<i16>(def, buffer, |v| v.into()),
        ScalarType::I32 => check_typed::<i32>(def, buffer, |v| v.into()),
        ScalarType::I64 => check_typed::<i64>(def, buffer, |v| v.into()),
        ScalarType::U8 => check_typed::<u8>(def, buffer, |v| v.into()),
        ScalarType::U16 => check_typed::<u16>(def, buffer, |v| v.into()),
        ScalarType::U32 => check_typed::<u32>(def, buffer, |v| v.into()),
        ScalarType::U64 => check_typed::<u64>(def, buffer, |v| v.into()),
        // Freezing lets promises be made of integers only.
        _ => Ok(()),
    }
}

/// Returns true if the promise holds for elements that are contiguous in memory, dimension 0 innermost.
fn holds<T: Element>(promise: ValuePromise, buffer: &AnyBuffer, elements: &[T], wide: fn(T) -> i128) -> bool {
    let inside = |(min, max): (i64, i64)| {
        let (min, max) = (i128::from(min), i128::from(max));
        elements.iter().all(|&e| min <= wide(e) && wide(e) <= max)
    };
    let never_falls = |dim: usize| {
        let step: usize = buffer.dims()[..dim].iter().map(|d| d.extent.max(0) as usize).product();
        let whole = step * buffer.extent(dim).max(0) as usize;
        let rows = elements.chunks(whole.max(1));
        rows.flat_map(|row| row.iter().zip(row.iter().skip(step))).all(|(&a, &b)| wide(a) <= wide(b))
    };
    promise.range.is_none_or(inside) && promise.grows.is_none_or(never_falls)
}

/// Finds an element that there is twice, and the first two places of it.
fn equal<T: Element>(buffer: &Buffer<T>, wide: fn(T) -> i128) -> Option<(i128, [Vec<i32>; 2])> {
    let region = buffer.region();
    let all: Vec<i128> = match buffer.as_slice() {
        Some(elements) => elements.iter().map(|&e| wide(e)).collect(),
        None => region.coords().filter_map(|at| buffer.get(&at).map(wide)).collect(),
    };
    let value = repeated(all)?;
    let mut places = region.coords().filter(|at| buffer.get(at).map(wide) == Some(value));
    Some((value, [places.next()?, places.next()?]))
}

/// Returns a number that is there twice. Numbers near each other are ticked off, which takes a bit each; others are
/// sorted.
fn repeated(mut all: Vec<i128>) -> Option<i128> {
    let (min, max) = (*all.iter().min()?, *all.iter().max()?);
    let near = (all.len() as i128).saturating_mul(i128::from(u64::BITS));
    if max - min < near {
        let mut seen = vec![0u64; ((max - min) as usize).div_euclid(64) + 1];
        return all.into_iter().find(|value| {
            let at = (value - min) as usize;
            let (word, bit) = (&mut seen[at / 64], 1 << (at % 64));
            let was_there = *word & bit != 0;
            *word |= bit;
            was_there
        });
    }
    all.sort_unstable();
    all.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0])
}

/// Finds the first element that breaks the promise.
fn check_typed<T: Element>(def: &ImageDef, buffer: &AnyBuffer, wide: fn(T) -> i128) -> Result<(), BrokenPromise> {
    let Ok(typed) = buffer.typed::<T>() else { return Ok(()) };
    let ValuePromise { range, grows, distinct } = def.values;
    if distinct && let Some((value, [first, second])) = equal(&typed, wide) {
        let (image, value) = (def.name.clone(), Box::new(value));
        return Err(BrokenPromise::Distinct { image, first, second, value });
    }
    if typed.as_slice().is_some_and(|elements| holds(def.values, buffer, elements, wide)) {
        return Ok(());
    }
    let region: Region = buffer.region();
    for at in region.coords() {
        let Some(value) = typed.get(&at).map(wide) else { continue };
        if let Some((min, max)) = range
            && !(i128::from(min) <= value && value <= i128::from(max))
        {
            return Err(BrokenPromise::Range { image: def.name.clone(), at, value: Box::new(value), min, max });
        }
        let Some(dim) = grows.filter(|&dim| i64::from(at[dim]) > buffer.min(dim)) else { continue };
        let mut previous = at.clone();
        previous[dim] -= 1;
        if let Some(before) = typed.get(&previous).map(wide).filter(|&before| before > value) {
            let (value, before) = (Box::new(value), Box::new(before));
            return Err(BrokenPromise::Growth { image: def.name.clone(), dim, at, value, before });
        }
    }
    Ok(())
}
