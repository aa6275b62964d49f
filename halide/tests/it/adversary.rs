//! Shapes that nobody thinks of: every type, sizes below a vector, prime or nothing, coordinates far from zero, memory
//! with gaps and turned around, loops in parallel loops and any number of threads; all against the interpreter.

use crate::engines_agree::noise;
use expect_test::expect;
use halide::prelude::*;

/// Two sums, one along each dimension, of an image whose edge repeats; of truths, whether they differ.
fn pipeline(ty: ScalarType) -> Pipeline {
    let input = ImageParam::new("input", ty, 2);
    let (x, y) = vars!(x, y);
    let edge = repeat_edge(&input);
    let join = |a: Expr, b: Expr| if ty == Bool { a.ne(b) } else { a + b };
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = join(edge[(x - 2, y)], edge[(x + 1, y)]);
    down[(x, y)] = join(across[(x, y - 1)], across[(x, y + 2)]);
    Pipeline::new([&down]).unwrap()
}

const SCHEDULES: [&str; 4] = [
    "across: compute_root()",
    "across: store_at(down, yo) compute_at(down, yi) vectorize(x, 8)
     down: split(y, yo, yi, 7) parallel(yo) vectorize(x, 16)",
    "across: compute_at(down, xo) parallel(y)
     down: tile(x, y, xo, yo, xi, yi, 5, 3) parallel(yo) parallel(xo) unroll(yi)",
    "across: store_root() compute_at(down, y) vectorize(x, 32, GuardWithIf) fold_storage(y, 4)
     down: vectorize(x, 4)",
];

/// Extents and first coordinates, also at both ends of what coordinates can be.
const REGIONS: [[(i64, i64); 2]; 9] = [
    [(0, 1), (0, 1)],
    [(-1, 1), (5, 13)],
    [(3, 17), (-9, 1)],
    [(0, 0), (0, 5)],
    [(7, 4), (2, 0)],
    [(-1_000_003, 7), (77, 5)],
    [(i32::MIN as i64 + 2, 31), (i32::MIN as i64 + 1, 11)],
    [(i32::MAX as i64 - 100, 37), (i32::MAX as i64 - 40, 2)],
    [(-16, 64), (-3, 8)],
];

/// The ways in which a region may lie in memory.
const LAYOUTS: usize = 4;

/// Memory for a region in one of the ways, of which the caller has a part.
fn memory(ty: ScalarType, region: &Region, layout: usize) -> AnyBuffer {
    let spans = region.spans();
    let (w, h) = (spans[0].extent.max(1), spans[1].extent.max(1));
    let made = match layout {
        0 => AnyBuffer::with_region(ty, region),
        1 => AnyBuffer::with_layout(ty, region, &[1, 0]),
        2 => AnyBuffer::with_strides(ty, region, &[3, 3 * w + 5]),
        _ => AnyBuffer::with_strides(ty, region, &[2 * h + 1, 2]),
    };
    made.unwrap_or_else(|e| panic!("{region:?}: {e}"))
}

#[test]
fn every_type_at_odd_shapes() {
    for (number, ty) in ScalarType::ALL.into_iter().enumerate() {
        let pipeline = pipeline(ty);
        let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
        for text in SCHEDULES {
            let compiled = pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap();
            for (i, spans) in REGIONS.iter().enumerate() {
                let region = Region::of_spans(spans);
                let image = noise(ty, &Region::of_spans(spans.map(at_least)), 5);
                let expected =
                    reference.inputs().image_named("input", image.clone()).realize_all(std::slice::from_ref(&region));
                let expected = expected.unwrap_or_else(|e| panic!("{ty} {region:?}: {e}")).swap_remove(0);
                // Each layout of inputs meets each of outputs, over all types and regions.
                let (from, to) = ((i + number) % LAYOUTS, (i * 3 + number / LAYOUTS) % LAYOUTS);
                let mut laid = memory(ty, &image.region(), from);
                laid.view_mut().unwrap().copy_from(&image).unwrap();
                let threads = [1, 2, 8][(i + number) % 3];
                let mut out = memory(ty, &region, to);
                let call = compiled.inputs().image_named("input", laid).threads(threads);
                let run = call.realize_all_into(&mut [out.view_mut().unwrap()]);
                run.unwrap_or_else(|e| panic!("{ty} {region:?} {threads} threads\n{text}\n{e}"));
                assert_eq!(out.first_difference(&expected), None, "{ty} {region:?} {from} {to} {threads}\n{text}");
            }
        }
    }
}

/// An image has a pixel at least.
fn at_least((min, extent): (i64, i64)) -> (i64, i64) {
    (min, extent.max(1))
}

/// Data of 32 bits as a coordinate of an input: no image has all of them, so each run says which are missing, before
/// anything is written.
#[test]
fn coordinates_without_limits() {
    let (x, index, table) = (vars!(x), ImageParam::new("index", I32, 1), ImageParam::new("table", U8, 1));
    let mut f = Func::new("f");
    f[x] = table[index[x]];
    let pipeline = Pipeline::new([&f]).unwrap();
    let mut texts = Vec::new();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let index = Buffer::from_slice([3], &[5i32, -7, 100_000]).unwrap();
        let call = compiled.inputs().image_named("index", index);
        let call = call.image_named("table", AnyBuffer::new(U8, [6]).unwrap());
        let mut memory = Buffer::<u8>::from_fn(&Region::of_extents([3]), |_| 9).unwrap();
        let error = call.realize_into(memory.view_mut().unwrap()).unwrap_err().to_string();
        assert_eq!(memory.to_vec(), [9; 3], "nothing was written");
        texts.push(error);
    }
    expect![[r#"
        `f` reads `table` at coordinate -7 of dimension 0, but it has 6 coordinates from 0; make the image larger, the output smaller, or put a boundary condition around the image
        input `table` is read at data in dimension 0, which may be any number, but it has 0 to 5; bound the index in the algorithm: `clamp(index, lo, hi)`, or read through a boundary condition
        input `table` is read at data in dimension 0, which may be any number, but it has 0 to 5; bound the index in the algorithm: `clamp(index, lo, hi)`, or read through a boundary condition"#]].assert_eq(&texts.join("\n"));
}

/// Errors that no test can bring about here: a mistake of halide's own, and a page that waits.
#[test]
fn texts_of_errors_that_do_not_happen_here() {
    assert_eq!(
        Error::Internal(halide::Defect::Unwritten { outputs: vec!["out".to_string()] }).to_string(),
        "the lowered program leaves parts of out unwritten\nthis is a mistake of halide's own; please report it"
    );
    #[cfg(feature = "gpu")]
    assert_eq!(
        Error::CannotWait.to_string(),
        "a page in a browser cannot wait for its GPU\n  \
         help: compile with Compiler::compile_async, which a ShapeCache does not, and run with Call::realize_all_async"
    );
}

/// Coordinates whose products leave 64 bits end the run of machine code before anything is read.
#[test]
fn products_that_leave_64_bits_end_the_run() {
    let images = ["a", "b", "c"].map(|name| ImageParam::new(name, I32, 1));
    let (x, i) = (vars!(x), vars!(i));
    let product = || images.iter().fold(4.expr(), |all, image| all * image[x]);
    let coordinates: [Expr; 3] = [product(), product() % 16, clamp(product(), 0, 9)];
    for coordinate in coordinates {
        let (mut far, mut g) = (Func::new("far"), Func::new("g"));
        far[i] = i + 1;
        g[x] = far[coordinate];
        let pipeline = Pipeline::new([&g]).unwrap();
        for schedule in ["far: compute_root()", "far: compute_at(g, x)", "g: vectorize(x, 4, GuardWithIf)"] {
            let compiled = pipeline.compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
            let mut call = compiled.inputs();
            for name in ["a", "b", "c"] {
                call = call.image_named(name, noise(I32, &Region::of_extents([9]), 7));
            }
            let error = call.realize_all(&[Region::of_extents([9])]).expect_err("it leaves 64 bits").to_string();
            assert!(error.contains("may leave 64 bits") || error.contains("leave the range of i32"), "{error}");
        }
    }
}
