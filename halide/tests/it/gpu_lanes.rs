//! Lanes of a subgroup on the device at hand, whose subgroups say by what schedules split.

use crate::engines_agree::noise;
use crate::gpu::{agree, gpu};
use halide::prelude::*;
use halide_skips::{Need, skip};

/// The lanes of a subgroup; where the device has none of one size, the test is skipped.
fn lanes() -> Option<u32> {
    let lanes = gpu()?.limits().subgroup;
    if lanes.is_none() {
        skip(Need::DeviceFeature("subgroups"), "of one size");
    }
    lanes
}

fn regions() -> Vec<Region> {
    [(1, 1), (2, 5), (7, 3), (16, 8), (33, 17), (64, 9)].map(|(w, h)| Region::of_spans([(-2, w), (3, h)])).into()
}

/// `f` is wider than what `g` computes of it, by a lane on each side.
fn stencil(ty: ScalarType) -> Pipeline {
    let input = ImageParam::new("in", ty, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let inside = repeat_edge(&input);
    f[(x, y)] = inside[(x, y)] * 3 - inside[(x + 1, y)];
    g[(x, y)] = f[(x - 1, y)] + f[(x, y)] + f[(x + 1, y)] * 5;
    Pipeline::new([&g]).unwrap()
}

fn schedules(lanes: u32) -> Vec<String> {
    let mut list = Vec::new();
    // A subgroup, and parts of one.
    for n in [lanes, lanes / 2, 2].into_iter().filter(|n| *n > 0) {
        let row = format!("g: split(x, xo, xi, {n}) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)");
        let tile = format!("g: tile(x, y, xo, yo, xi, yi, {n}, 3) gpu_blocks(xo, yo) gpu_threads(yi) gpu_lanes(xi)");
        let held = format!("split(x, x, xi, {n}, RoundUp) gpu_lanes(xi) store_in(Register)");
        list.push(format!("{row}\n f: compute_at(g, y) {held}"));
        list.push(format!("{tile}\n f: compute_at(g, yi) {held}"));
        list.push(format!(
            "{tile}\n f: compute_at(g, xo) split(x, x, xi, {n}) reorder(xi, x, y) gpu_threads(y) gpu_lanes(xi)"
        ));
        list.push(format!(
            "{}\n f: compute_at(g, y) {held}",
            row.replace(&format!("{n})"), &format!("{n}, GuardWithIf)"))
        ));
    }
    let (l, wide) = (lanes, 4 * lanes);
    list.push(format!(
        "g: split(x, xo, xi, {wide}) split(xi, l, v, 4) reorder(v, l, y, xo) gpu_blocks(y, xo) gpu_lanes(l) vectorize(v)\n \
         f: compute_at(g, y) split(x, x, xi, {wide}, RoundUp) split(xi, l, v, 4) gpu_lanes(l) vectorize(v) store_in(Register)"
    ));
    list.push(format!(
        "g: tile(x, y, xo, yo, xi, yi, {l}, 4) gpu_blocks(xo, yo) gpu_lanes(xi)\n \
         f: compute_at(g, yi) split(x, x, xi, {l}, RoundUp) gpu_lanes(xi) store_in(Register)"
    ));
    list
}

#[test]
fn lanes_hand_values_over() {
    let Some(lanes) = lanes() else { return };
    let list = schedules(lanes);
    let list: Vec<&str> = list.iter().map(String::as_str).collect();
    for ty in [I16, F32, U8, I32] {
        agree(&stencil(ty), &list, &[("in", noise(ty, &Region::of_extents([50, 20]), 3))], &regions());
    }
    // Two words each, where the device has such integers.
    if !gpu().is_some_and(|gpu| gpu.features().int64) {
        return skip(Need::DeviceFeature("int64"), "lanes of 64-bit integers");
    }
    agree(&stencil(I64), &list[..2], &[("in", noise(I64, &Region::of_extents([50, 20]), 3))], &regions());
}

/// Each lane adds what the lane across has, until all have the sum of all.
#[test]
fn butterflies() {
    let Some(lanes) = lanes() else { return };
    let n = lanes as i32;
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut sums = vec![Func::new("s0")];
    sums[0][(x, y)] = input[(x, y)];
    let mut schedule = format!(
        "out: align_bounds(x, {n}, 0) split(x, xo, xi, {n}) reorder(xi, y, xo) gpu_blocks(y, xo) gpu_lanes(xi)\n \
         s0: compute_at(out, y) split(x, x, xi, {n}, RoundUp) gpu_lanes(xi) store_in(Register)"
    );
    for k in 0..lanes.trailing_zeros() {
        let name = format!("s{}", k + 1);
        let mut next = Func::new(&*name);
        let before = &sums[k as usize];
        let across = x + select(((x / (1 << k)) % 2).eq(0), 1 << k, -(1 << k));
        next[(x, y)] = before[(x, y)] + before[(clamp(across, x / n * n, x / n * n + n - 1), y)];
        sums.push(next);
        schedule +=
            &format!("\n {name}: compute_at(out, y) split(x, x, xi, {n}, RoundUp) gpu_lanes(xi) store_in(Register)");
    }
    let mut out = Func::new("out");
    out[(x, y)] = sums[sums.len() - 1][(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    let input = noise(I32, &Region::of_extents([8 * n, 20]), 3);
    let regions = [(n, 1), (2 * n, 3), (4 * n, 7)].map(|(w, h)| Region::of_extents([w, h]));
    agree(&p, &[&schedule], &[("in", input)], &regions);
}

#[test]
fn lanes_that_the_device_does_not_have() {
    let Some(lanes) = lanes() else { return };
    let Some(gpu) = gpu() else { return };
    let many = 2 * lanes;
    let schedule = format!("g: split(x, xo, xi, {many}) gpu_blocks(y, xo) reorder(xi, y, xo) gpu_lanes(xi)");
    let error =
        Compiler::new(&stencil(I16)).gpu(gpu).schedule(&schedule.parse().unwrap()).compile().expect_err("too many");
    let text = error.to_string();
    let why = format!("`xi` has {many} iterations, and a subgroup of {lanes} lanes cannot be divided into such parts");
    assert!(text.contains(&why), "{text}");
    assert!(text.contains(&format!("split by {lanes}, or by a power of two that is less")), "{text}");
}
