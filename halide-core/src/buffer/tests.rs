//! Buffers against a plain map from coordinates to values.

use super::*;
use crate::types::ScalarType::{self, *};
use crate::value::Scalar;
use std::collections::BTreeMap;

/// A 3-dimensional buffer of distinct values with odd mins.
fn sample() -> Buffer<i32> {
    let region = Region::of_spans([(-2, 5), (3, 3), (7, 2)]);
    Buffer::from_fn(&region, |at| at[0] * 10000 + at[1] * 100 + at[2]).unwrap()
}

/// Checks that a view has just the elements that `expected` finds for its coordinates.
fn check(view: &Buffer<i32>, extents: &[i64], expected: impl Fn(&[i32]) -> i32) {
    assert_eq!(view.dims().iter().map(|d| d.extent).collect::<Vec<_>>(), extents);
    let mut seen = BTreeMap::new();
    for (at, value) in view.iter() {
        assert_eq!(value, expected(&at), "at {at:?}");
        seen.insert(at, value);
    }
    assert_eq!(seen.len() as i64, extents.iter().product::<i64>());
    assert_eq!(view.to_vec().len(), seen.len());
}

#[test]
fn views_share_memory_and_find_their_elements() {
    let b = sample();
    let at3 = |x: i32, y: i32, z: i32| x * 10000 + y * 100 + z;
    check(&b, &[5, 3, 2], |at| at3(at[0], at[1], at[2]));
    check(&b.crop(&Region::of_spans([(-1, 2), (5, 1), (8, 1)])).unwrap(), &[2, 1, 1], |at| at3(at[0], at[1], at[2]));
    check(&b.slice(1, 4).unwrap(), &[5, 2], |at| at3(at[0], 4, at[1]));
    check(&b.transpose(&[2, 0, 1]).unwrap(), &[2, 5, 3], |at| at3(at[1], at[2], at[0]));
    check(&b.translate([10, -3, 0]).unwrap(), &[5, 3, 2], |at| at3(at[0] - 10, at[1] + 3, at[2]));
    check(&b.with_mins([0, 0, 0]).unwrap(), &[5, 3, 2], |at| at3(at[0] - 2, at[1] + 3, at[2] + 7));
    check(&b.embed(1, -9).unwrap(), &[5, 1, 3, 2], |at| at3(at[0], at[2], at[3]));
    let all = b.slice(0, 0).unwrap().transpose(&[1, 0]).unwrap().embed(0, 5).unwrap();
    check(&all, &[1, 2, 3], |at| at3(0, at[2], at[1]));
    assert!(all.shares_memory(&b));
    assert!(b.as_slice().is_some() && all.as_slice().is_none());
    check(&Buffer::try_from(all.compact().unwrap()).unwrap(), &[1, 2, 3], |at| at3(0, at[2], at[1]));
}

#[test]
fn writes_do_not_show_in_clones() {
    let mut a = sample();
    let clone = a.clone();
    let view = a.slice(2, 8).unwrap();
    a.set([0, 4, 8], -1).unwrap();
    assert_eq!((a.get([0, 4, 8]), clone.get([0, 4, 8]), view.get([0, 4])), (Some(-1), Some(408), Some(408)));
    assert!(!a.shares_memory(&clone));
    let (before, mut alone) = (a.raw().data, a.clone());
    drop(a);
    alone.set([1, 4, 8], -2).unwrap();
    assert_eq!(alone.raw().data, before, "memory that nobody shares is written in place");
    let mut part = clone.crop(&Region::of_spans([(0, 2), (3, 2), (7, 1)])).unwrap();
    part.fill(5).unwrap();
    assert_eq!(part.to_vec(), vec![5; 4]);
    assert_eq!(clone, sample());
}

#[test]
fn mutable_views_write_in_place() {
    let mut b = sample();
    let region = Region::of_spans([(-1, 3), (4, 1), (7, 2)]);
    let mut view = b.view_mut().unwrap().crop(&region).unwrap();
    view.fill_with(|at| -at[0]);
    assert_eq!(view.set([2, 4, 7], 0), Err(outside(0, 2, -1, 3)));
    *view.get_mut([0, 4, 8]).unwrap() = 77;
    assert_eq!(view.get([0, 4, 8]), Some(77));
    for (at, value) in b.iter() {
        let inside = region.contains(&at);
        let expected = if at == [0, 4, 8] {
            77
        } else if inside {
            -at[0]
        } else {
            at[0] * 10000 + at[1] * 100 + at[2]
        };
        assert_eq!(value, expected, "{at:?}");
    }
    let mut row = b.view_mut().unwrap().slice(2, 7).unwrap().slice(1, 3).unwrap();
    row.as_mut_slice().unwrap().copy_from_slice(&[1, 2, 3, 4, 5]);
    assert_eq!(b.get([1, 3, 7]), Some(4));
}

fn outside(dim: usize, min: i64, buffer_min: i64, buffer_extent: i64) -> BufferError {
    BufferError::Outside { dim, min, extent: 1, buffer_min, buffer_extent }
}

#[test]
fn interleaved_and_planar_agree() {
    let elements: Vec<u8> = (0..24).collect();
    let b = Buffer::from_interleaved([4, 2, 3], &elements).unwrap();
    assert_eq!(b.dims().iter().map(|d| d.stride).collect::<Vec<_>>(), [3, 12, 1]);
    assert_eq!((b.get([1, 0, 2]), b.get([0, 1, 0])), (Some(5), Some(12)));
    assert_eq!(b.as_slice(), None);
    let pixels = b.transpose(&[2, 0, 1]).unwrap();
    assert_eq!(pixels.as_slice(), Some(&elements[..]));
    let planar = Buffer::from_fn(&Region::of_extents([4, 2, 3]), |at| (at[2] + at[0] * 3 + at[1] * 12) as u8).unwrap();
    assert_eq!(planar, b);
    assert_eq!(planar.to_vec(), b.to_vec());
    let mut copy = b.clone();
    copy.set([0, 0, 0], 9).unwrap();
    assert_eq!(copy.dims(), b.dims(), "a copy keeps the order in memory");
    assert_eq!(copy.first_difference(&b), Some((vec![0, 0, 0], 9u8.into(), 0u8.into())));
    assert_eq!(Buffer::from_slice([2, 3], &[1u8]), Err(BufferError::WrongLength { expected: 6, found: 1 }));
}

#[test]
fn every_type_stores_and_finds_its_edges() {
    for ty in ScalarType::ALL {
        let mut b = AnyBuffer::new(ty, [3, 2]).unwrap();
        assert_eq!(b.raw().data as usize % ALIGNMENT, 0);
        let values = [Scalar::lowest(ty), Scalar::highest(ty), Scalar::int(ty, 1)];
        for (x, value) in values.into_iter().enumerate() {
            b.set([x, 1], value).unwrap();
        }
        for (x, value) in values.into_iter().enumerate() {
            assert_eq!(b.get([x, 1]), Some(value));
            assert_eq!(b.get([x, 0]), Some(Scalar::zero(ty)));
        }
        let wrong = if ty == U8 { Scalar::from(1i8) } else { Scalar::from(1u8) };
        assert_eq!(b.set([0, 0], wrong), Err(BufferError::WrongType { expected: ty, found: wrong.ty() }));
    }
    assert!(AnyBuffer::new(U8, [1]).unwrap().typed::<i8>().is_err());
}

#[test]
fn nan_equals_nan_and_zeros_differ() {
    let with = |v: f32| Buffer::from_slice([1], &[v]).unwrap();
    assert_eq!(with(f32::NAN), with(-f32::NAN));
    assert_ne!(with(0.0), with(-0.0));
}

#[test]
fn scalars_and_empty_buffers() {
    let mut point = Buffer::<f64>::new::<i32>([]).unwrap();
    point.set::<i32>([], 2.5).unwrap();
    assert_eq!((point.get::<i32>([]), point.len(), point.to_vec()), (Some(2.5), 1, vec![2.5]));
    let mut empty = Buffer::<u16>::new([4, 0, 3]).unwrap();
    assert!(empty.is_empty());
    assert_eq!(empty.get([0, 0, 0]), None);
    empty.fill(3).unwrap();
    assert_eq!((empty.to_vec(), empty.as_slice(), empty.iter().count()), (vec![], Some(&[][..]), 0));
    assert_eq!(empty.clone(), empty.compact().unwrap().typed().unwrap());
    let cropped = sample().crop(&Region::of_spans([(3, 0), (3, 3), (7, 2)])).unwrap();
    assert_eq!(cropped.iter().count(), 0);
}

#[test]
fn impossible_shapes_are_refused() {
    let refused = |region: &Region| AnyBuffer::with_region(F64, region).map(|_| ()).unwrap_err();
    assert_eq!(refused(&Region::of_extents([3, -1])), BufferError::NegativeExtent { dim: 1, extent: -1 });
    let (min, extent) = (i32::MAX as i64 - 1, 3);
    assert_eq!(refused(&Region::of_spans([(min, extent)])), BufferError::CoordinateRange { dim: 0, min, extent });
    let full = 1i64 << 32;
    assert!(AnyBuffer::with_region(U8, &Region::of_spans([(i32::MIN as i64, full), (0, 0)])).is_ok());
    assert!(matches!(refused(&Region::of_spans([(i64::MAX, i64::MAX)])), BufferError::CoordinateRange { .. }));
    let large = i32::MAX as i64;
    assert!(matches!(refused(&Region::of_extents([large, large])), BufferError::TooLarge { .. }));
    assert!(matches!(refused(&Region::of_extents([large, large, large])), BufferError::TooLarge { .. }));
    assert!(matches!(refused(&Region::of_extents([large, 1 << 25])), BufferError::OutOfMemory { .. }));
}

#[test]
fn misuse_says_what_is_wrong() {
    let b = sample();
    let text = |e: BufferError| e.to_string();
    assert_eq!(b.clone().set([3, 3, 7], 0), Err(outside(0, 3, -2, 5)));
    assert_eq!(
        text(b.slice(2, 9).unwrap_err()),
        "dimension 2 was asked for coordinate 9, but the buffer has coordinates 7..=8; stay inside or make the buffer larger"
    );
    assert_eq!(b.clone().set([3, 3], 0), Err(BufferError::WrongDims { expected: 3, found: 2 }));
    assert!(b.slice(3, 0).is_err() && b.embed(4, 0).is_err() && b.transpose(&[0, 1, 1]).is_err());
    assert!(b.translate([i32::MAX, 0, 0]).is_err() && b.translate([1]).is_err());
    assert!(b.crop(&Region::of_spans([(-2, 6), (3, 3), (7, 2)])).is_err());
    assert_eq!((b.get([0, 0, 7]), b.get([0, 4]), b.get([i64::MIN, 4, 7])), (None, None, None));
}

#[test]
fn raw_views_point_at_the_min_corner() {
    let mut b = sample();
    let (data, raw) = (b.raw().data as usize, b.crop(&Region::of_spans([(0, 1), (4, 1), (8, 1)])).unwrap().raw());
    assert_eq!(raw.data as usize, data + 4 * (2 + 5 + 15));
    assert_eq!(raw.dims.iter().map(|d| (d.min, d.stride)).collect::<Vec<_>>(), [(0, 1), (4, 5), (8, 15)]);
    assert_eq!(b.view_mut().unwrap().into_any().raw_mut().data as usize, data);
}

#[test]
fn memory_says_where_the_elements_of_a_view_are() {
    let b = Buffer::<u16>::from_fn(&Region::of_extents([5, 4]), |at| (at[0] + 10 * at[1]) as u16).unwrap();
    let whole = b.memory();
    assert_eq!((whole.used.clone(), whole.first, whole.bytes.len()), (0..40, 0, 64));
    let crop = b.crop(&Region::of_spans([(2, 2), (1, 2)])).unwrap();
    let part = crop.memory();
    assert_eq!((part.used.clone(), part.first), (14..28, 14));
    assert_eq!(part.bytes[part.first..part.first + 2], 12u16.to_ne_bytes());
    let none = b.crop(&Region::of_spans([(2, 0), (1, 2)])).unwrap();
    assert_eq!(none.memory().used, 0..0);
}

#[test]
fn buffers_are_made_of_bytes() {
    let region = Region::of_spans([(3, 2), (0, 2)]);
    let bytes: Vec<u8> = [1u16, 2, 3, 4].iter().flat_map(|v| v.to_ne_bytes()).collect();
    let b = AnyBuffer::from_bytes(U16, &region, &bytes).unwrap();
    assert_eq!(b.get([4, 1]), Some(Scalar::from(4u16)));
    let flags = AnyBuffer::from_bytes(Bool, &region, &[0, 1, 2, 255]).unwrap();
    assert_eq!(flags.typed::<bool>().unwrap().to_vec(), [false, true, true, true]);
    let short = AnyBuffer::from_bytes(U16, &region, &bytes[..6]);
    assert_eq!(short, Err(BufferError::WrongLength { expected: 4, found: 3 }));
}

#[test]
fn companions_stay_until_the_memory_may_be_written() {
    let mut b = Buffer::<i32>::new([4, 4]).unwrap();
    let kept = b.companion_or(|| 7u8);
    let (twin, crop) = (b.clone(), b.crop(&Region::of_spans([(1, 2), (0, 1)])).unwrap());
    assert_eq!(twin.companion::<u8>().as_deref(), Some(&7));
    // One of each type; the first of a type stays.
    assert_eq!((*crop.companion_or(|| 8u8), *crop.companion_or(|| 9u16)), (7, 9));
    // The memory is shared, so this write copies: the new memory has none, the old keeps its own.
    b.set([0, 0], 1).unwrap();
    assert!(b.companion::<u8>().is_none() && crop.companion::<u8>().is_some());
    drop((twin, crop));
    assert_eq!(std::sync::Arc::strong_count(&kept), 1, "it goes with the memory");
    assert_eq!(*b.companion_or(|| 1u8), 1);
    assert!(b.view_mut().is_ok());
    assert!(b.companion::<u8>().is_none());
}

#[test]
fn errors_say_what_to_do() {
    let of = |region: &Region| AnyBuffer::with_region(F64, region).map(drop).unwrap_err().to_string();
    assert_eq!(of(&Region::of_extents([3, -1])), "the extent of dimension 1 is -1; use 0 or more");
    assert_eq!(
        of(&Region::of_spans([(i64::from(i32::MAX) - 1, 3)])),
        "dimension 0 from 2147483646 with extent 3 has coordinates outside i32; use a smaller extent or a min nearer to 0"
    );
    let large = i64::from(i32::MAX);
    assert_eq!(
        of(&Region::of_extents([large, large])),
        "[2147483647, 2147483647] elements of f64 do not fit an address space; use smaller extents"
    );
    let text = of(&Region::of_extents([large, 1 << 25]));
    let bytes = text.strip_prefix("the system has no memory for a buffer of ").expect("it is out of memory");
    assert!(bytes.ends_with(" bytes; use smaller extents"), "{text}");
    let mut b = sample();
    let texts = [
        b.set([3, 3], 0).unwrap_err(),
        b.set([3, 3, 7], 0).unwrap_err(),
        b.crop(&Region::of_spans([(-2, 6), (3, 3), (7, 2)])).unwrap_err(),
        b.crop(&Region::of_spans([(3, 0), (3, 3), (7, 0)])).map(|e| e.slice(2, 7)).unwrap().unwrap_err(),
        Buffer::from_slice([2, 3], &[1u8]).unwrap_err(),
        AnyBuffer::new(U8, [1]).unwrap().typed::<i8>().map(drop).unwrap_err(),
        AnyBuffer::with_strides(U8, &Region::of_extents([4, 3]), &[1, 3]).map(drop).unwrap_err(),
        b.transpose(&[0, 1, 1]).unwrap_err(),
    ]
    .map(|e| e.to_string());
    let expected = [
        "the buffer has 3 dimensions, but 2 were given; give one value per dimension",
        "dimension 0 was asked for coordinate 3, but the buffer has coordinates -2..=2; stay inside or make the buffer larger",
        "dimension 0 was asked for coordinates -2..=3, but the buffer has coordinates -2..=2; stay inside or make the buffer \
         larger",
        "dimension 2 was asked for coordinate 7, but the buffer has no coordinates; stay inside or make the buffer larger",
        "the shape has 6 elements, but 1 were given; give exactly one value per element",
        "the buffer holds u8, not i8; name its own type or convert the elements",
        "with strides [1, 3] two elements would be at one place; make each stride at least 1 and larger than all that smaller \
         strides reach",
        "[0, 1, 1] is not an order of 3 dimensions; name each of 0..3 once",
    ];
    assert_eq!(texts, expected.map(String::from));
}

/// A view takes its region from another buffer, whatever the strides and mins of both.
#[test]
fn copies_between_views() {
    let mut to = Buffer::<i32>::from_fn(&Region::of_spans([(-4, 12), (2, 5), (6, 4)]), |_| -1).unwrap();
    let from = sample().transpose(&[2, 0, 1]).unwrap().transpose(&[1, 2, 0]).unwrap();
    let part = Region::of_spans([(-1, 3), (4, 2), (8, 1)]);
    to.view_mut().unwrap().crop(&part).unwrap().into_any().copy_from(from.crop(&part).unwrap().as_any()).unwrap();
    for (at, value) in to.iter() {
        let expected = if part.contains(&at) { at[0] * 10000 + at[1] * 100 + at[2] } else { -1 };
        assert_eq!(value, expected, "{at:?}");
    }
}

/// Copies of rows, of stretches of several rows, and element by element are the same elements.
#[test]
fn copies_keep_elements_in_every_layout() {
    let whole = sample();
    let orders: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let parts =
        [[(-2, 5), (3, 3), (7, 2)], [(-1, 2), (3, 3), (7, 2)], [(0, 1), (3, 3), (8, 1)], [(0, 0), (4, 1), (7, 2)]];
    for part in parts.map(Region::of_spans) {
        for from in orders {
            let mut laid_out = AnyBuffer::with_layout(I32, &whole.region(), &from).unwrap();
            laid_out.view_mut().unwrap().copy_from(whole.as_any()).unwrap();
            assert_eq!(&laid_out, whole.as_any());
            let copy = laid_out.view_mut().unwrap().crop(&part).unwrap().to_buffer().unwrap();
            assert_eq!(copy, *whole.crop(&part).unwrap().as_any(), "{from:?} {part}");
            assert_eq!(laid_out.crop(&part).unwrap().compact().unwrap(), copy, "{from:?} {part}");
        }
    }
}
