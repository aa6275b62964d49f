//! Checks that the elements of the images given are as promised.

use super::error::RunError;
use crate::buffer::{AnyBuffer, Region};
use crate::pipeline::ImageDef;
use crate::promise::ValuePromise;
use crate::types::ScalarType;
use crate::value::Element;

/// Checks every element of an image of which something is promised.
pub(super) fn check(def: &ImageDef, buffer: &AnyBuffer) -> Result<(), RunError> {
    if def.values.is_nothing() {
        return Ok(());
    }
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

/// Finds the first element that breaks the promise.
fn check_typed<T: Element>(def: &ImageDef, buffer: &AnyBuffer, wide: fn(T) -> i128) -> Result<(), RunError> {
    let Ok(typed) = buffer.typed::<T>() else { return Ok(()) };
    let ValuePromise { range, grows } = def.values;
    if typed.as_slice().is_some_and(|elements| holds(def.values, buffer, elements, wide)) {
        return Ok(());
    }
    let region: Region = buffer.region();
    for at in region.coords() {
        let Some(value) = typed.get(&at).map(wide) else { continue };
        if let Some((min, max)) = range
            && !(i128::from(min) <= value && value <= i128::from(max))
        {
            return Err(RunError::PromisedRange { image: def.name.clone(), at, value: Box::new(value), min, max });
        }
        let Some(dim) = grows.filter(|&dim| i64::from(at[dim]) > buffer.min(dim)) else { continue };
        let mut previous = at.clone();
        previous[dim] -= 1;
        if let Some(before) = typed.get(&previous).map(wide).filter(|&before| before > value) {
            let (value, before) = (Box::new(value), Box::new(before));
            return Err(RunError::PromisedGrowth { image: def.name.clone(), dim, at, value, before });
        }
    }
    Ok(())
}
