//! Cases that random schedules found on a device, each with the mechanism that was wrong.

use crate::engines_agree::noise;
use crate::gpu::agree;
use halide::prelude::*;

/// `Bool` outputs come back through bytes of their own, which hold nothing where host code wrote the output last.
#[test]
fn bools_that_host_code_writes_last() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = (x + y).eq(3);
    f[(x, 1)] = x.gt(2) | f[(x, 1)];
    let p = Pipeline::new([&f]).unwrap();
    let schedules =
        ["f: gpu_tile(x, y, xo, yo, xi, yi, 4, 2)", "f.update(0): gpu_tile(x, xo, xi, 4)", "f: parallel(y)"];
    agree(&p, &schedules, &[], &[Region::of_extents([7, 5]), Region::of_extents([1, 3])]);
}

/// How many threads an inner loop has may depend on the position in an outer one.
#[test]
fn ranges_of_threads_that_depend_on_other_threads() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x * 10 + y;
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f: split(x, xo, xi, 2, Predicate) gpu_blocks(y) gpu_threads(xi) split(xo, xb, xm, 2) gpu_threads(xm)",
        "f: split(x, xo, xi, 2, GuardWithIf) gpu_blocks(y) gpu_threads(xi) split(xo, xb, xm, 2) gpu_threads(xm) \
         split(xb, xbo, xbi, 2) gpu_threads(xbi)",
    ];
    agree(&p, &schedules, &[], &[[1, 1], [2, 1], [3, 2], [7, 3], [22, 2]].map(Region::of_extents));
}

/// Parts of a loop that was partitioned each allocate the storage that the host keeps for the kernel, once.
#[test]
fn device_memory_in_partitioned_loops() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = cast::<u16>(input[(x, y)]) * 3;
    f[(x, y)] += cast::<u16>(1);
    g[(x, y)] = f[(max(x, 4), 1)] + cast::<u16>(y);
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "g: gpu_single_thread() partition(x, Always)\n f: compute_at(g, x) store_in(Global)",
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 2) partition(xo, Always)\n f: compute_at(g, xi) store_in(Global)",
        "g: split(y, yo, yi, 2) gpu_blocks(yo) gpu_threads(yi) reorder(x, yi, yo) partition(x, Always)\n \
         f: compute_at(g, x) store_in(Global)",
    ];
    let image = noise(U8, &Region::of_extents([30, 20]), 3);
    agree(&p, &schedules, &[("in", image)], &[[1, 1], [3, 2], [7, 3], [22, 5]].map(Region::of_extents));
}
