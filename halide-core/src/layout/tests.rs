//! Layouts against the coordinates that they stand for.

use super::{Layout, LayoutError};
use crate::boundary::{constant_exterior, repeat_edge_in};
use crate::buffer::{AnyBuffer, Buffer, BufferError, Region};
use crate::interp::{Inputs, run};
use crate::types::{Bool, F32, I32, U16};
use crate::value::Scalar;
use crate::{Func, ImageParam, Pipeline, vars};

/// Layouts of three dimensions, of which `c` is the first and `y` the last.
fn layouts() -> Vec<Layout> {
    let of = || Layout::of(["c", "x", "y"]);
    vec![
        of(),
        of().order(["y", "c", "x"]),
        of().split("c", 4),
        of().split("c", 1),
        of().split("c", 16).order(["c.i", "x", "y", "c.o"]),
        of().split("x", 3).split("y", 5).order(["x.i", "y.i", "c", "y.o", "x.o"]),
        of().split("y", 2).split("c", 3).split("x", 2).order(["x.o", "c.o", "y.i", "x.i", "c.i", "y.o"]),
    ]
}

const REGIONS: [[(i64, i64); 3]; 5] = [
    [(0, 1), (0, 1), (0, 1)],
    [(0, 8), (0, 6), (0, 10)],
    [(-3, 7), (2, 5), (-11, 13)],
    [(5, 2), (-1, 3), (7, 1)],
    [(0, 0), (0, 3), (-5, 4)],
];

fn numbered(region: &Region) -> Buffer<i32> {
    let mut next = 0;
    let mut number = |_: &[i32]| {
        next += 1;
        next
    };
    Buffer::from_fn(region, &mut number).unwrap()
}

#[test]
fn packed_elements_are_where_the_parts_say() {
    for layout in layouts() {
        for spans in &REGIONS {
            let array = numbered(&Region::of_spans(spans));
            let packed = layout.pack(&array).unwrap().typed::<i32>().unwrap();
            let parts = layout.parts().unwrap();
            assert_eq!(packed.region(), layout.region(&array.region()).unwrap());
            for (at, value) in array.iter() {
                let place = parts.iter().map(|part| match part.place {
                    super::Place::Whole => at[part.dim],
                    super::Place::Outer(n) => at[part.dim].div_euclid(n as i32),
                    super::Place::Inner(n) => at[part.dim].rem_euclid(n as i32),
                });
                assert_eq!(packed.get(place.collect::<Vec<i32>>()), Some(value), "{layout:?} {at:?}");
            }
            let sum = |b: &Buffer<i32>| b.to_vec().iter().map(|v| i64::from(*v)).sum::<i64>();
            assert_eq!(sum(&packed), sum(&array), "{layout:?}: what is padding is zero");
            let back = layout.unpack(&packed).unwrap();
            assert!(array.is_empty() || back.crop(&array.region()).unwrap() == *array, "{layout:?}");
        }
    }
}

#[test]
fn any_strides_and_types_are_packed() {
    let layout = Layout::of(["x", "c"]).split("c", 4).order(["c.i", "x", "c.o"]);
    let planar = numbered(&Region::of_extents([5, 6]));
    let interleaved = planar.transpose(&[1, 0]).unwrap().compact().unwrap().transpose(&[1, 0]).unwrap();
    assert_eq!(layout.pack(&planar), layout.pack(&interleaved));
    let mut truths = AnyBuffer::new(Bool, [3, 2]).unwrap();
    truths.set([2, 1], Scalar::from(true)).unwrap();
    let packed = layout.pack(&truths).unwrap();
    assert_eq!((packed.get([1, 2, 0]), packed.get([3, 2, 0])), (Some(true.into()), Some(false.into())));
    assert_eq!(layout.extents([5, 6]).unwrap(), [4, 5, 2]);
    assert_eq!(Layout::of(["x"]).split("x", 8).extents([0]).unwrap(), [8, 0]);
}

#[test]
fn layouts_that_make_no_sense() {
    let of = || Layout::of(["c", "x"]);
    let text = |layout: Layout| layout.pack(&AnyBuffer::new(F32, [2, 2]).unwrap()).unwrap_err().to_string();
    assert_eq!(
        text(Layout::of(["c", "c"])),
        "the layout has two dimensions `c`; give each dimension a name of its own"
    );
    assert_eq!(
        text(Layout::of(["c", "c.i"]).split("c", 2)),
        "the layout has two dimensions `c.i`; give each dimension a name of its own"
    );
    assert_eq!(
        text(of().split("k", 2)),
        "the layout has no dimension `k`; its dimensions: `c`, `x`; split one of its dimensions"
    );
    assert_eq!(
        text(of().split("c", 2).split("c", 4)),
        "dimension `c` of the layout is split twice; split each dimension once"
    );
    for factor in [0, -1, 1 << 40] {
        let at_fault = format!("blocks along `c` have {factor} coordinates; use 1 to 2147483647 coordinates");
        assert_eq!(text(of().split("c", factor)), at_fault);
    }
    for order in [&["c", "x"][..], &["c.i", "x"], &["c.i", "c.o", "x", "x"], &["c.i", "c.o", "y"], &[]] {
        let text = text(of().split("c", 2).order(order.iter().copied()));
        assert!(
            text.contains("does not name each part of the layout once: `c.i`, `c.o`, `x`; list every part"),
            "{text}"
        );
    }
    let wrong = of().split("c", 2).pack(&AnyBuffer::new(F32, [2]).unwrap());
    assert_eq!(wrong, Err(BufferError::WrongDims { expected: 2, found: 1 }));
}

#[test]
fn buffers_that_are_not_packed() {
    let layout = Layout::of(["c", "x"]).split("c", 4);
    let unpack = |region: &Region| layout.unpack(&AnyBuffer::with_region(F32, region).unwrap());
    assert!(matches!(unpack(&Region::of_extents([4, 2])), Err(BufferError::WrongDims { expected: 3, found: 2 })));
    for spans in [[(0, 3), (0, 2), (0, 5)], [(1, 4), (0, 2), (0, 5)]] {
        let error = unpack(&Region::of_spans(spans)).unwrap_err();
        let BufferError::Layout { error } = error else { panic!("{error}") };
        assert!(matches!(*error, LayoutError::Block { factor: 4, .. }), "{error}");
    }
    let far = unpack(&Region::of_spans([(0, 4), (1 << 30, 1), (0, 1)]));
    assert!(matches!(far, Err(BufferError::CoordinateRange { dim: 0, .. })), "{far:?}");
    let cut = layout.unpack(&AnyBuffer::with_region(F32, &Region::of_extents([3, 1, 1])).unwrap()).unwrap_err();
    assert_eq!(
        cut.to_string(),
        "`c.i` of the buffer is 3 coordinates from 0, not 4 from 0; give a buffer in whole blocks, as `pack` makes them"
    );
}

#[test]
fn views_of_blocks() {
    let image = numbered(&Region::of_spans([(-4, 8), (3, 2)]));
    let tall = image.split(0, 4).unwrap();
    assert_eq!(tall.region(), Region::of_spans([(0, 4), (-1, 2), (3, 2)]));
    assert!(tall.shares_memory(&image));
    for (at, value) in image.iter() {
        assert_eq!(tall.get([at[0].rem_euclid(4), at[0].div_euclid(4), at[1]]), Some(value));
    }
    assert_eq!(tall.join(0).unwrap(), image);
    assert_eq!(image.split(1, 1).unwrap().join(1).unwrap(), image);
    // Blocks of rows are apart by more than rows.
    let row = image.slice(1, 3).unwrap();
    assert_eq!(
        row.split(0, 8).unwrap_err().to_string(),
        "dimension 0 has coordinates -4..=3, which are not whole \
        blocks of 8; split where min and extent are multiples, or copy with a layout"
    );
    assert!(matches!(image.split(0, 0), Err(BufferError::Split { factor: 0, .. })));
    assert!(matches!(image.split(2, 2), Err(BufferError::WrongDims { .. })));
    assert!(matches!(image.join(1), Err(BufferError::WrongDims { .. })));
    assert!(matches!(image.join(0), Err(BufferError::Join { min: -4, .. })));
    let crossed = tall.transpose(&[0, 2, 1]).unwrap().with_mins([0, 0, 0]).unwrap();
    let apart = crossed.join(0).unwrap_err();
    assert_eq!(
        apart.to_string(),
        "blocks of dimension 0 are 8 elements apart, where 4 would make it one dimension with the next; copy with a \
         layout"
    );
    // One block is wherever it is, and blocks of one coordinate are apart as they like.
    assert_eq!(crossed.crop(&Region::of_extents([4, 1, 2])).unwrap().join(0).unwrap().to_vec().len(), 8);
    let every_fourth = tall.crop(&Region::of_spans([(0, 1), (-1, 2), (3, 2)])).unwrap().join(0).unwrap();
    assert_eq!(every_fourth.stride(0), 4);
    let none = numbered(&Region::of_extents([0, 2]));
    assert_eq!(none.split(0, 4).unwrap().join(0).unwrap(), none);
}

#[test]
fn images_are_read_at_coordinates_of_the_array() {
    for layout in layouts() {
        let input = ImageParam::with_layout("input", I32, &layout);
        let (c, x, y) = vars!(c, x, y);
        let mut f = Func::new("f");
        f[(c, x, y)] = input[(c, x, y)] + input[(c + 1, x - 2, y)] * 1000;
        let pipeline = Pipeline::new([&f]).unwrap();
        assert_eq!(pipeline.images.iter().map(|i| i.dims).collect::<Vec<_>>(), [layout.parts().unwrap().len()]);
        let array = numbered(&Region::of_spans([(-3, 9), (-4, 11), (2, 5)]));
        let region = Region::of_spans([(-3, 8), (-2, 9), (2, 5)]);
        let inputs = Inputs::new().image("input", layout.pack(&array).unwrap());
        let out = run(&pipeline, &inputs, std::slice::from_ref(&region)).unwrap()[0].typed::<i32>().unwrap();
        for (at, value) in out.iter() {
            let of = |c, x| array.get([at[0] + c, at[1] + x, at[2]]).unwrap();
            assert_eq!(value, of(0, 0) + of(1, -2) * 1000, "{layout:?} {at:?}");
        }
    }
}

#[test]
fn boundary_conditions_are_of_the_array() {
    let layout = Layout::of(["x", "c"]).split("c", 4).order(["c.i", "x", "c.o"]);
    let input = ImageParam::with_layout("input", U16, &layout);
    let array = Buffer::from_fn(&Region::of_extents([3, 6]), |at| (1 + at[0] + 10 * at[1]) as u16).unwrap();
    let inputs = Inputs::new().image("input", layout.pack(&array).unwrap());
    let at = |f: &Func, x: i64, c: i64| {
        let region = Region::of_spans([(x, 1), (c, 1)]);
        run(&Pipeline::new([f]).unwrap(), &inputs, &[region]).unwrap()[0].get([x, c])
    };
    let exterior = constant_exterior(&input, 7u16);
    let value = |n: u16| Some(Scalar::from(n));
    assert_eq!((at(&exterior, 2, 5), at(&exterior, 3, 5), at(&exterior, 0, 8)), (value(53), value(7), value(7)));
    // The last block is whole: what pads it is inside.
    assert_eq!(at(&exterior, 0, 7), value(0));
    let edges = repeat_edge_in(&input, &[None, crate::boundary::bounds(0, 6)]);
    assert_eq!(at(&edges, 0, 9), value(51));
}

#[test]
fn images_whose_layout_makes_no_sense() {
    let input = ImageParam::with_layout("input", F32, &Layout::of(["x", "c"]).split("c", 0));
    let ((x, c), mut f) = (vars!(x, c), Func::new("f"));
    f[(x, c)] = input[(x, c)] + constant_exterior(&input, 0.0f32)[(x, c)];
    let errors = Pipeline::new([&f]).map(drop).unwrap_err().to_string();
    assert!(errors.contains("`input` has no layout: blocks along `c` have 0 coordinates"), "{errors}");
    let (good, mut g) = (ImageParam::with_layout("good", F32, &Layout::of(["x", "c"]).split("c", 4)), Func::new("g"));
    g[(x, c)] = good[(x, c, 0)];
    let errors = Pipeline::new([&g]).map(drop).unwrap_err().to_string();
    assert!(errors.contains("`good` has 2 dimensions but 3 coordinates are given"), "{errors}");
}
