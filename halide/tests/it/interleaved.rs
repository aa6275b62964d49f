//! Interleaved inputs and outputs: a variant of the code for each way in which the buffers of a call lie in memory.

use crate::engines_agree::noise;
use halide::VariantKey;
use halide::buffer::Span;
use halide::lower::{LowerOptions, Pixels, lower};
use halide::plan::resolve;
use halide::prelude::*;

/// Brightness around each point, times its colours.
fn sharpened() -> Pipeline {
    let (input, x, y, c) = (ImageParam::new("input", U8, 3), Var::new("x"), Var::new("y"), Var::new("c"));
    let inside = repeat_edge(&input);
    let (mut gray, mut out) = (Func::new("gray"), Func::new("out"));
    gray[(x, y)] = cast::<i32>(inside[(x, y, 0)]) + cast::<i32>(inside[(x, y, 1)]) + cast::<i32>(inside[(x, y, 2)]);
    let sum = gray[(x - 1, y)] + gray[(x, y)] + gray[(x + 1, y + 1)];
    out[(x, y, c)] = cast::<u8>(sum / 9 + cast::<i32>(inside[(x, y, c)]));
    Pipeline::new([&out]).unwrap()
}

const SCHEDULE: &str = "gray: compute_at(out, y) vectorize(x, 16)
    out: reorder(c, x, y) bound(c, 0, 3) unroll(c) vectorize(x, 16)";

/// The same values, where the last dimension is the innermost one in memory.
fn interleaved(buffer: &AnyBuffer) -> AnyBuffer {
    let mut made = AnyBuffer::interleaved(buffer.ty(), &buffer.region()).unwrap();
    made.view_mut().unwrap().copy_from(buffer).unwrap();
    made
}

fn spans(all: [(i64, i64); 3]) -> Region {
    all.into_iter().map(|(min, extent)| Span { min, extent }).collect()
}

/// Inputs and outputs that are dense, interleaved, of pixels with a fourth value, and crops of these: values are those
/// of the interpreter, and calls with the same layout share a variant.
#[test]
fn each_layout_has_its_variant() {
    let pipeline = sharpened();
    let compiled = pipeline.compile(&SCHEDULE.parse().unwrap(), &Target::host()).unwrap();
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    let colours = |n: usize| Pixels::default().with(n, 3);
    let (main, both) = (VariantKey::default(), colours(0).with(1, 3));
    let with = |pixels| VariantKey { pixels, ..main };
    let generic = VariantKey { generic_strides: true, ..main };
    let run = |input: &AnyBuffer, size: [i64; 2], turned: bool| {
        let region = spans([(-3, size[0]), (5, size[1]), (0, 3)]);
        let expected =
            &reference.inputs().image_named("input", input).realize_all(std::slice::from_ref(&region)).unwrap()[0];
        let mut out = match turned {
            true => AnyBuffer::interleaved(U8, &region).unwrap(),
            false => AnyBuffer::with_region(U8, &region).unwrap(),
        };
        let call = compiled.inputs().image_named("input", input);
        call.realize_all_into(&mut [out.view_mut().unwrap()]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(&out, expected, "{size:?}, {turned}");
    };
    for size in [[1, 1], [15, 2], [16, 3], [67, 5]] {
        let planes = noise(U8, &spans([(-4, size[0] + 5), (4, size[1] + 2), (0, 3)]), 7);
        let four = noise(U8, &spans([(-4, size[0] + 5), (4, size[1] + 2), (0, 4)]), 7);
        // Colours of pixels with a fourth value: no pixel of three.
        let three_of_four = interleaved(&four).crop(&planes.region()).unwrap();
        for (input, turned) in [(&planes, false), (&interleaved(&planes), false), (&planes, true)] {
            run(input, size, turned);
        }
        run(&interleaved(&planes), size, true);
        run(&interleaved(&four), size, false);
        run(&three_of_four, size, false);
    }
    let made: Vec<VariantKey> =
        compiled.variants().into_iter().filter(|key| !key.exact_tails && !key.checks_in_place).collect();
    let wanted = [main, with(colours(0)), with(colours(1)), with(both), with(Pixels::default().with(0, 4)), generic];
    assert!(wanted.iter().all(|key| made.contains(key)), "{made:?}");
    assert_eq!(made.len(), wanted.len(), "{made:?}");
}

/// Loads of the steady state read elements that follow each other, of which lanes are picked; code for any stride reads
/// every lane by a distance that it does not know.
#[test]
fn colours_are_loaded_densely() {
    let plan = resolve(&sharpened(), &SCHEDULE.parse().unwrap(), &Target::host()).unwrap();
    let text = |options: LowerOptions| lower(&plan, &options).unwrap().program.to_string();
    let pixels = text(LowerOptions { pixels: Pixels::default().with(0, 3), ..LowerOptions::default() });
    let generic = text(LowerOptions { generic_strides: true, ..LowerOptions::default() });
    assert!(generic.contains("input#b0.stride0, 16)]") && !pixels.contains("input#b0.stride0, 16)]"), "{pixels}");
    assert!(pixels.contains("shuffle([input#b0[ramp("), "{pixels}");
}

/// The evaluator and machine code give what the interpreter does.
#[test]
fn engines_agree_on_interleaved_buffers() {
    let pipeline = sharpened();
    let input = interleaved(&noise(U8, &Region::of_extents([40, 8, 3]), 3));
    let expected = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    let expected = expected.inputs().image_named("input", &input).realize::<u8>([33, 4, 3]).unwrap();
    for engine in [Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&SCHEDULE.parse().unwrap()).compile().unwrap();
        let mut out = AnyBuffer::interleaved(U8, &Region::of_extents([33, 4, 3])).unwrap();
        let call = compiled.inputs().image_named("input", &input);
        call.realize_all_into(&mut [out.view_mut().unwrap()]).unwrap();
        assert_eq!(out.typed::<u8>().unwrap(), expected, "{engine:?}");
    }
}

/// Kernels that read and write interleaved colours.
#[cfg(feature = "gpu")]
#[test]
fn kernels_take_interleaved_buffers() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let (pipeline, input) = (sharpened(), interleaved(&noise(U8, &Region::of_extents([40, 8, 3]), 3)));
    let schedule =
        "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n gray: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let region = Region::of_extents([33, 4, 3]);
    let expected = reference.inputs().image_named("input", &input).realize_all(std::slice::from_ref(&region)).unwrap();
    for turned in [false, true] {
        let mut out =
            if turned { AnyBuffer::interleaved(U8, &region) } else { AnyBuffer::with_region(U8, &region) }.unwrap();
        let call = compiled.inputs().image_named("input", &input);
        call.realize_all_into(&mut [out.view_mut().unwrap()]).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(out, expected[0], "{turned}");
    }
    assert!(compiled.variants().iter().any(|key| !key.pixels.is_empty()), "{:?}", compiled.variants());
}

/// Conditions on strides that a variant takes for granted leave one arm in its code, so the others take no time.
#[test]
fn arms_for_other_strides_are_left_out() {
    let schedule = "gray: compute_at(out, y) vectorize(x, 32)
        out: bound(c, 0, 3)
        out.specialize(out.stride(0) == 3): reorder(c, x, y) unroll(c) vectorize(x, 16)
        out.specialize(input.stride(0) == 3): reorder(x, c, y) vectorize(x, 8)
        out: reorder(x, c, y) vectorize(x, 4)";
    let plan = resolve(&sharpened(), &schedule.parse().unwrap(), &Target::host()).unwrap();
    for (pixels, width) in [
        (Pixels::default(), 4),
        (Pixels::default().with(0, 3), 8),
        (Pixels::default().with(1, 3), 16),
        (Pixels::default().with(0, 3).with(1, 3), 16),
    ] {
        let options = LowerOptions { pixels, ..LowerOptions::default() };
        let lowered = lower(&plan, &options).unwrap();
        let done = lowered.trace.to_string();
        let widths = [4, 8, 16].map(|lanes| done.contains(&format!("vectorized by {lanes}\n")));
        assert_eq!(widths, [4, 8, 16].map(|lanes| lanes == width), "{pixels:?}\n{done}");
        assert!(!lowered.program.to_string().contains("stride0 == 3 {"), "{pixels:?}");
    }
    let options = LowerOptions { generic_strides: true, ..LowerOptions::default() };
    let done = lower(&plan, &options).unwrap().trace.to_string();
    assert!([4, 8, 16].iter().all(|lanes| done.contains(&format!("vectorized by {lanes}\n"))), "{done}");
}
