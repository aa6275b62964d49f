//! Kernels with no machine code around them, as in a browser: nothing waits, and what is left to the host is evaluated.
//! Also to be run with `--no-default-features --features gpu`, where this is what `Compiler::compile` does too.

use halide::gpu::{Choice, Gpu};
use halide::prelude::*;
use halide_skips::{Need, skip};

/// The device; where there is none, tests are skipped.
fn gpu() -> Option<Gpu> {
    Gpu::open(&Choice::from_env()).inspect_err(|error| skip(Need::Device, error)).ok()
}

/// `mean` of three steps: bytes, wider sums, and a table of 16 counts that brightens.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let r = RDom::named("r", [(0, 8), (0, 8)]);
    let (mut sum, mut hist, mut mean) = (Func::new("sum"), Func::new("hist"), Func::new("mean"));
    let inside = repeat_edge(&input);
    sum[(x, y)] = cast::<u16>(inside[(x - 1, y)]) + cast::<u16>(inside[(x + 1, y)]);
    hist[i] = 0.expr();
    hist[cast::<i32>(inside[(r.x, r.y)] / 16)] += 1;
    mean[(x, y)] = cast::<u8>((sum[(x, y)] + sum[(x, y + 1)]) / 4) + cast::<u8>(hist[(x + y) % 16]);
    Pipeline::new([&mean]).unwrap()
}

fn photo() -> Buffer<u8> {
    Buffer::from_fn(&Region::of_extents([37, 21]), |at| (at[0] * 7 + at[1] * 13 + at[0] * at[1] % 5) as u8).unwrap()
}

/// Each with stages on the host, on the device, or both, and copies between.
const SCHEDULES: [&str; 6] = [
    "mean: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n hist: compute_root()",
    "mean: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n hist: compute_root()\n sum: compute_at(mean, xo) gpu_threads(x, y)",
    "mean: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n hist: compute_root()\n hist.update(0): gpu_single_thread()\n \
     sum: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
    "mean: vectorize(x, 4) parallel(y)\n hist: compute_root()\n sum: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
    "mean: split(y, yo, yi, 4) gpu_tile(x, xo, xi, 8)\n hist: compute_root()\n sum: compute_at(mean, yo) gpu_tile(x, xo, xi, 8)",
    "mean: parallel(y)\n hist: compute_root()",
];

fn regions() -> [Region; 3] {
    [(1, 1), (16, 8), (35, 19)].map(|(w, h)| Region::of_spans([(-2, w), (3, h)]))
}

#[test]
fn nothing_waits() {
    let Some(gpu) = gpu() else { return };
    let p = pipeline();
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let reference = Compiler::new(&p).engine(Engine::Interp).target(&target).compile().unwrap();
    for text in SCHEDULES {
        let schedule = text.parse().unwrap();
        let compiled = gpu
            .wait(Compiler::new(&p).gpu(&gpu).schedule(&schedule).target(&target).compile_async())
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(compiled.engine(), Engine::Gpu);
        for region in regions() {
            let want = reference.inputs().image_named("input", photo()).realize_all(std::slice::from_ref(&region));
            let call = compiled.inputs().image_named("input", photo());
            let got = gpu.wait(call.realize_all_async(std::slice::from_ref(&region)));
            let got = got.unwrap_or_else(|e| panic!("{text}\n{e}"));
            assert_eq!(got[0].first_difference(&want.unwrap()[0]), None, "{text}\n{region:?}");
        }
    }
}

#[test]
fn threads_that_wait_get_the_same() {
    let Some(gpu) = gpu() else { return };
    let p = pipeline();
    let reference = Compiler::new(&p).engine(Engine::Interp).compile().unwrap();
    let region = Region::of_extents([30, 11]);
    let want = reference.inputs().image_named("input", photo()).realize_all(std::slice::from_ref(&region)).unwrap();
    for text in &SCHEDULES[..3] {
        let compiled = Compiler::new(&p).gpu(&gpu).schedule(&text.parse().unwrap()).compile().unwrap();
        let call = compiled.inputs().image_named("input", photo()).profile();
        let got = call.realize_all(std::slice::from_ref(&region)).unwrap();
        assert_eq!(got[0].first_difference(&want[0]), None, "{text}");
        assert!(compiled.wgsl().unwrap().contains("fn main"), "{text}");
    }
}

/// Errors of a call are reported as ever, and a lost device ends a run with an error.
#[test]
fn errors_are_values() {
    let Some(gpu) = gpu() else { return };
    let p = pipeline();
    let schedule: Schedule = SCHEDULES[0].parse().unwrap();
    let compiled = gpu.wait(Compiler::new(&p).gpu(&gpu).schedule(&schedule).compile_async()).unwrap();
    let region = Region::of_extents([8, 8]);
    let missing = gpu.wait(compiled.inputs().realize_all_async(std::slice::from_ref(&region)));
    assert!(missing.expect_err("an input is missing").to_string().contains("`input`"));
    gpu.lose();
    let call = compiled.inputs().image_named("input", photo());
    let lost = gpu.wait(call.realize_all_async(std::slice::from_ref(&region))).expect_err("the device is gone");
    assert!(lost.to_string().contains("the device was lost"), "{lost}");
}
