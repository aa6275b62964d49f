//! Definitions in tiles of any sizes have the values that they have without.

use crate::engines_agree::noise;
use halide::machine::Machine;
use halide::prelude::*;
use halide::schedule::{StageName, update};
use halide::tss::TssOptions;

/// Runs definition `stage` in tiles of the sizes that are chosen, and of others that fit badly, at sizes other than
/// those estimated; values are as without tiles.
#[track_caller]
fn check(pipeline: &Pipeline, given: &str, stage: impl StageName + Clone, sizes: &Estimates, regions: &[Region]) {
    let given: Schedule = given.parse().unwrap();
    let run = |schedule: &Schedule, region: &Region| {
        let compiled =
            Compiler::new(pipeline).schedule(schedule).compile().unwrap_or_else(|e| panic!("{e}\n{schedule}"));
        let needs = compiled.inputs().infer_input_bounds(std::slice::from_ref(region)).unwrap();
        let call = needs
            .iter()
            .fold(compiled.inputs(), |call, need| call.image_named(&need.name, noise(need.ty, &need.region, 5)));
        call.realize_all(std::slice::from_ref(region)).unwrap()
    };
    let expected: Vec<_> = regions.iter().map(|region| run(&given, region)).collect();
    for threads in [1, 3] {
        let target = Target { threads, ..Target::host() };
        let machine = Machine::typical(&target);
        let of = pipeline.tileable(&machine, &given, stage.clone(), &target, sizes).unwrap();
        let of = if threads == 1 { of.with_block(None) } else { of };
        let options = TssOptions { tilings: 200, ..TssOptions::default() };
        let mut tilings = vec![of.tile(&options).unwrap()];
        for size in [1, 3, 8, 29, 64, u64::MAX] {
            tilings.push(of.with_sizes(&vec![size; of.nest().loops.len()], &options).unwrap());
            let mixed: Vec<u64> = (0..of.nest().loops.len() as u64).map(|n| 1 + size % 31 * (n + 1) % 17).collect();
            tilings.push(of.with_sizes(&mixed, &options).unwrap());
        }
        for tiling in tilings {
            for (region, expected) in regions.iter().zip(&expected) {
                assert!(run(&tiling.schedule, region) == *expected, "{region:?} {}", tiling.schedule);
            }
        }
    }
}

fn regions(extents: &[[i64; 2]]) -> Vec<Region> {
    let far = Region::new([(-7i64, 33i64), (5, 12)].map(|(min, extent)| halide::buffer::Span { min, extent }));
    extents.iter().map(Region::of_extents).chain([far]).collect()
}

#[test]
fn products_in_tiles() {
    let (a, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    let (j, i) = vars!(j, i);
    let k = RDom::named("k", [(0, 37)]);
    let mut c = Func::new("c");
    c[(j, i)] = 0f64.expr();
    c[(j, i)] += a[(k.x, i)] * b[(j, k.x)];
    let pipeline = Pipeline::new([&c]).unwrap();
    let sizes = Estimates::new().output("c", [61, 43]);
    check(&pipeline, "", update(&c, 0), &sizes, &regions(&[[61, 43], [1, 1], [3, 70], [64, 64]]));
}

/// Loops of a triangle: the solution of a system of equations by rows, for many right hand sides.
#[test]
fn triangles_in_tiles() {
    let (l, b) = (ImageParam::new("l", F32, 2), ImageParam::new("b", F32, 2));
    let (j, i) = vars!(j, i);
    let r = RDom::named("r", [(0, 19), (0, 19)]);
    r.where_(lt(r.x, r.y));
    let mut x = Func::new("x");
    x[(j, i)] = b[(j, i)];
    x[(j, r.y)] = x[(j, r.y)] - l[(r.x, r.y)] * x[(j, r.x)];
    let mut out = Func::new("out");
    out[(j, i)] = x[(j, i)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let sizes = Estimates::new().output("out", [45, 19]);
    check(&pipeline, "x: compute_root", update(&x, 0), &sizes, &regions(&[[45, 19], [1, 19], [70, 3]])[..3]);
}

/// A window in order, inside of the loops of a consumer, where what is read is scaled.
#[test]
fn windows_in_tiles_of_a_member() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3), (0, 4)]);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[(x, y)] = 1u16.expr();
    sum[(x, y)] = sum[(x, y)] * 3u16 + input[(2 * x + r.x, y / 2 + r.y)];
    out[(x, y)] = sum[(x, y)] + sum[(x + 1, y + 3)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let sizes = Estimates::new().output("out", [100, 64]);
    for given in ["sum: compute_root", "out: split(y, yo, yi, 8) sum: compute_at(out, yo)"] {
        check(&pipeline, given, update(&sum, 0), &sizes, &regions(&[[100, 64], [33, 10]]));
        check(&pipeline, given, &sum, &sizes, &regions(&[[100, 64], [33, 10]]));
    }
}

/// Vectors along rows of a triangle are whole but for those at its edge and at the ends of tiles; what all lanes read
/// is read without asking if one of them runs.
#[test]
fn vectors_inside_of_triangles_have_no_masks() {
    let a = ImageParam::new("a", F64, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 100)]);
    r.where_(ge(x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f64.expr();
    sum[(x, y)] += a[(y, r.x)] * a[(x, r.x)];
    let pipeline = Pipeline::new([&sum]).unwrap();
    for tiles in ["", "split(x, xo, xi, 48) reorder(xi, r.x, xo, y)"] {
        let inner =
            if tiles.is_empty() { "reorder(x, r.x, y) vectorize(x, natural)" } else { "vectorize(xi, natural)" };
        let schedule: Schedule = format!("sum.update(0): {tiles} {inner}").parse().unwrap();
        let ir = Compiler::new(&pipeline).schedule(&schedule).compile().unwrap().ir().unwrap().to_string();
        let updates =
            ir.lines().filter_map(|line| line.trim().split_once(" = ")).filter(|(_, value)| value.contains('*'));
        let stores =
            updates.map(|(place, _)| place).filter(|place| place.starts_with("sum#") && place.contains("[ramp"));
        let (masked, whole): (Vec<&str>, Vec<&str>) = stores.partition(|place| place.contains(" where "));
        assert!(!whole.is_empty() && !masked.is_empty(), "{schedule}\n{ir}");
    }
}

/// Sums of blocks of rows and vectors that do not divide the matrix stay in registers in all blocks that are whole: if
/// a row is there is asked in front of the loop over terms.
#[test]
fn blocks_of_products_stay_in_registers() {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let k = RDom::named("k", [(0, 51)]);
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f32.expr();
    sum[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    let pipeline = Pipeline::new([&sum]).unwrap();
    let schedule: Schedule = "sum.update(0): split(x, xo, xi, 16) split(xi, xu, xv, 8) split(y, yo, yi, 3) \
                              reorder(xv, xu, yi, k.x, yo, xo) vectorize(xv) unroll(xu) unroll(yi)"
        .parse()
        .unwrap();
    let compiled = Compiler::new(&pipeline).schedule(&schedule).compile().unwrap();
    let ir = compiled.ir().unwrap().to_string();
    // Six in whole blocks, and six at the edges.
    assert_eq!(ir.lines().filter(|line| line.trim().starts_with("alloc sum$r")).count(), 12, "{ir}");
    let sizes = Estimates::new().output("sum", [61, 43]);
    check(&pipeline, "sum: compute_root", update(&sum, 0), &sizes, &regions(&[[61, 43], [16, 3], [17, 4], [1, 1]]));
    let plain = Compiler::new(&pipeline).compile().unwrap();
    for [width, height] in [[61, 43], [16, 3], [33, 7], [1, 1]] {
        let (a, b) =
            (noise(F32, &Region::of_extents([51, height]), 1), noise(F32, &Region::of_extents([width, 51]), 2));
        let run = |compiled: &Compiled| {
            let call = compiled.inputs().image_named("a", &a).image_named("b", &b);
            call.realize_all(&[Region::of_extents([width, height])]).unwrap()
        };
        assert!(run(&compiled) == run(&plain), "{width} x {height}");
    }
}

/// Code that is too long for one function is cut where sums are in registers around a loop; the loop and the sums are
/// one kernel then.
#[test]
fn sums_in_registers_have_wide_vectors_in_long_code() {
    let a = ImageParam::new("a", F64, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 100)]);
    r.where_(ge(x, y));
    let mut sum = Func::new("sum");
    sum[(x, y)] = 0f64.expr();
    sum[(x, y)] += a[(y, r.x)] * a[(x, r.x)];
    let pipeline = Pipeline::new([&sum]).unwrap();
    let schedule: Schedule = "sum.update(0): split(y, yo, yi, 64) split(r.x, r_xo, r_xi, 40) split(x, xo, xi, 64) \
                              split(yi, yi, yr, 4) split(xi, xi, xr, 32) reorder(xr, yr, r_xi, xi, yi, xo, r_xo, yo) \
                              vectorize(xr, 8) unroll(yr) unroll(xr)"
        .parse()
        .unwrap();
    let compiled = Compiler::new(&pipeline).schedule(&schedule).compile().unwrap();
    let explained = compiled.explain().unwrap().to_string();
    assert!(explained.contains("more functions, for it is long"), "{explained}");
    assert!(!explained.contains("is in registers"), "{explained}");
    let plain = Compiler::new(&pipeline).compile().unwrap();
    for [width, height] in [[101, 67], [64, 64], [5, 3]] {
        let a = noise(F64, &Region::of_extents([width.max(height), 100]), 1);
        let run = |compiled: &Compiled| {
            compiled.inputs().image_named("a", &a).realize_all(&[Region::of_extents([width, height])]).unwrap()
        };
        assert!(run(&compiled) == run(&plain), "{width} x {height}");
    }
}
