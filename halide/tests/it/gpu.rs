//! Pipeline x schedule on a GPU: the same bits as the interpreter's, copies included.

use crate::engines_agree::noise;
use halide::gpu::{Choice, Gpu};
use halide::prelude::*;
use halide_skips::{Need, skip};
use std::sync::OnceLock;

/// The device of the tests, opened once. Without one they skip what needs it.
pub(crate) fn gpu() -> Option<&'static Gpu> {
    static OPENED: OnceLock<Result<Gpu, String>> = OnceLock::new();
    let opened = OPENED.get_or_init(|| Gpu::open(&Choice::from_env()).map_err(|error| error.to_string()));
    opened.as_ref().inspect_err(|why| skip(Need::Device, why)).ok()
}

/// Holds the device, and the evaluator of the same loops, against the interpreter.
pub(crate) fn agree(pipeline: &Pipeline, schedules: &[&str], inputs: &[(&str, AnyBuffer)], regions: &[Region]) {
    let Some(gpu) = gpu() else { return };
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let run = |compiled: &Compiled, region: &Region| {
        let call = inputs.iter().fold(compiled.inputs(), |call, (name, image)| call.image_named(name, image.clone()));
        let regions = vec![region.clone(); pipeline.outputs.len()];
        call.realize_all(&regions).unwrap_or_else(|e| panic!("{e}"))
    };
    let reference = Compiler::new(pipeline).engine(Engine::Interp).target(&target).compile().unwrap();
    let expected: Vec<Vec<AnyBuffer>> = regions.iter().map(|region| run(&reference, region)).collect();
    for text in schedules {
        let schedule: Schedule = text.parse().unwrap_or_else(|e| panic!("{text}\n{e}"));
        let evaluated = Compiler::new(pipeline)
            .engine(Engine::Eval)
            .schedule(&schedule)
            .target(&target)
            .compile()
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        let compiled = Compiler::new(pipeline)
            .gpu(gpu)
            .schedule(&schedule)
            .target(&target)
            .compile()
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        let hosted = gpu
            .wait(Compiler::new(pipeline).gpu(gpu).schedule(&schedule).target(&target).compile_async())
            .unwrap_or_else(|e| panic!("{text}\n{e}"));
        for (region, expected) in regions.iter().zip(&expected) {
            let call = inputs.iter().fold(hosted.inputs(), |call, (name, image)| call.image_named(name, image.clone()));
            let got = gpu.wait(call.realize_all_async(&vec![region.clone(); pipeline.outputs.len()]));
            for (got, want) in got.unwrap_or_else(|e| panic!("{text}\n{e}")).iter().zip(expected) {
                assert_eq!(got.first_difference(want), None, "{text}\ndevice with evaluated host code, {region:?}");
            }
            for (engine, compiled) in [("evaluator", &evaluated), ("device", &compiled)] {
                for (got, want) in run(compiled, region).iter().zip(expected) {
                    assert_eq!(got.first_difference(want), None, "{text}\n{engine}, {region:?}");
                }
            }
        }
    }
}

/// Sizes below, at and above those of tiles, odd ones, and mins that are not 0.
fn regions() -> Vec<Region> {
    [(1, 1), (2, 2), (7, 3), (16, 8), (33, 17), (64, 31)].map(|(w, h)| Region::of_spans([(-2, w), (3, h)])).into()
}

fn blur(ty: ScalarType) -> Pipeline {
    let input = ImageParam::new("input", ty, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    let inside = repeat_edge(&input);
    blur_x[(x, y)] = (inside[(x, y)] + inside[(x + 1, y)] + inside[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Pipeline::new([&blur_y]).unwrap()
}

#[test]
fn blur_of_every_type() {
    let schedules = [
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
        "blur_y: split(x, xw, xv, 4) vectorize(xv) gpu_tile(xw, y, xo, yo, xi, yi, 4, 4)",
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n blur_x: compute_at(blur_y, xo) \
         tile(x, y, xo, yo, xi, yi, 8, 4) reorder(xo, yo, xi, yi) gpu_threads(xi, yi)",
        "blur_y: split(y, yt, yi, 4) reorder(yi, x, yt) gpu_tile(x, yt, xo, yo, xt, yu, 8, 2)\n \
         blur_x: store_at(blur_y, xt) compute_at(blur_y, yi)",
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n blur_x: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n blur_x: compute_root() vectorize(x, 4) parallel(y)",
        "blur_y: vectorize(x, 4) parallel(y)\n blur_x: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
    ];
    for ty in [U8, I8, U16, I16, U32, I32, F32] {
        let image = noise(ty, &Region::of_extents([40, 20]), 1);
        let (schedules, regions) =
            if ty == U16 { (&schedules[..], regions()) } else { (&schedules[1..4], regions()[2..5].to_vec()) };
        agree(&blur(ty), schedules, &[("input", image)], &regions);
    }
}

#[test]
fn tails_of_every_kind() {
    let tails = ["Auto", "GuardWithIf", "ShiftInwards"].map(|tail| {
        format!(
            "blur_y: split(x, xo, xi, 8, {tail}) split(y, yo, yi, 4, {tail}) reorder(xi, yi, xo, yo) \
             split(xi, xw, xv, 2, {tail}) vectorize(xv) gpu_blocks(xo, yo) gpu_threads(xw, yi)"
        )
    });
    let tails: Vec<&str> = tails.iter().map(String::as_str).collect();
    // Asked for in so many words, ShiftInwards needs outputs of at least a tile.
    let large: Vec<Region> =
        regions().into_iter().filter(|r| r.spans()[0].extent >= 8 && r.spans()[1].extent >= 4).collect();
    for ty in [U8, U16] {
        let image = noise(ty, &Region::of_extents([50, 40]), 4);
        agree(&blur(ty), &tails[..2], &[("input", image.clone())], &regions());
        agree(&blur(ty), &tails[2..], &[("input", image)], &large);
    }
}

#[test]
fn pyramids_of_floats_and_tables() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut table, mut down, mut up) = (Func::new("table"), Func::new("down"), Func::new("up"));
    let inside = mirror_image(&input);
    table[x] = exp(-(cast::<f32>(x) * cast::<f32>(x)) / 1000.0);
    down[(x, y)] = (table[inside[(2 * x - 1, 2 * y)]] + table[inside[(2 * x + 1, 2 * y + 1)]] * 3.0) / 4.0;
    up[(x, y)] = lerp(down[((x + 1) / 2, y / 2)], down[((x - 1) / 2, y / 2)], cast::<f32>((x % 2) * 2 + 1) / 4.0);
    let pipeline = Pipeline::new([&up]).unwrap();
    let schedules = [
        "table: compute_root()\n up: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)",
        "table: compute_root() gpu_tile(x, xo, xi, 32)\n down: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 8)\n \
         up: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)",
        "table: compute_root() gpu_tile(x, xo, xi, 32)\n down: compute_at(up, xo)\n up: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)",
        "table: compute_root()\n down: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 8)\n up: vectorize(x, 8) parallel(y)",
    ];
    agree(&pipeline, &schedules, &[("input", noise(U8, &Region::of_extents([19, 11]), 2))], &regions());
}

/// Values from memory that become coordinates stay within 32 bits only if they are clamped before anything is added.
#[test]
fn coordinates_that_are_data() {
    let (image, levels) =
        (ImageParam::new("image", F32, 1), Param::<i32>::new("levels").with_default(8).with_range(2, 64));
    let x = vars!(x);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    table[x] = x * x;
    let index = clamp(cast::<i32>(image[x] * 1e12f32), 0, (levels - 1) * 256);
    out[x] = table[index - 256 * (x % 3) + 1000] + table[index + 7];
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedules = ["table: compute_root()\n out: gpu_tile(x, xo, xi, 8)"];
    agree(&pipeline, &schedules, &[("image", noise(F32, &Region::of_extents([40]), 2))], &[Region::of_extents([40])]);
}

#[test]
fn reductions_scatters_and_tuples() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let r = RDom::over(&input);
    let (mut hist, mut cdf, mut out) = (Func::new("hist"), Func::new("cdf"), Func::new("out"));
    hist[i] = 0u32.expr();
    hist[input[(r.x, r.y)]] += 1;
    let s = RDom::named("s", [(1, 255)]);
    cdf[i] = hist[i];
    cdf[s.x] = cdf[s.x - 1] + hist[s.x];
    let window = RDom::named("w", [(-1, 3), (-1, 3)]);
    let inside = repeat_edge(&input);
    let most = maximum(inside[(x + window.x, y + window.y)]);
    out[(x, y)] = (cdf[input[(x, y)]], most, sum(cast::<u16>(inside[(x + window.x, y + window.y)]))).into();
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedules = [
        "hist: compute_root()\n cdf: compute_root()\n out: gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        "hist: compute_root() gpu_tile(i, io, ii, 16)\n cdf: compute_root() gpu_tile(i, io, ii, 16)\n \
         out: gpu_tile(x, y, xo, yo, xi, yi, 4, 4)\n maximum: compute_at(out, xo) gpu_threads(x, y)",
    ];
    let image = noise(U8, &Region::of_extents([23, 9]), 3);
    let regions = [Region::of_extents([23, 9]), Region::of_extents([3, 2])];
    agree(&pipeline, &schedules[..1], &[("input", image)], &regions);
}

/// Tiles are read along rows and written along columns, through memory that the threads of a block share.
#[test]
fn a_transpose_staged_in_shared_memory() {
    for ty in [U8, U16, F32] {
        let input = ImageParam::new("input", ty, 2);
        let (x, y) = vars!(x, y);
        let (mut block, mut out) = (Func::new("block"), Func::new("out"));
        block[(x, y)] = input[(x, y)];
        out[(x, y)] = block[(y, x)];
        let schedules = [
            "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)\n block: compute_at(out, xo) tile(x, y, a, b, xi, yi, 8, 8) \
             reorder(a, b, xi, yi) gpu_threads(xi, yi)",
            "out: tile(x, y, xo, yo, xi, yi, 16, 16) split(yi, yi, yj, 4) reorder(yj, xi, yi, xo, yo) gpu_blocks(xo, yo) \
             gpu_threads(xi, yi)\n block: compute_at(out, xo) tile(x, y, a, b, xi, yi, 16, 4, GuardWithIf) \
             reorder(a, b, xi, yi) gpu_threads(xi, yi)",
        ];
        let regions = [[1, 1], [8, 8], [9, 23], [40, 17]].map(Region::of_extents);
        let image = noise(ty, &Region::of_extents([64, 64]), 7);
        agree(&Pipeline::new([&out]).unwrap(), &schedules, &[("input", image)], &regions);
    }
}

/// Every way for values to go between host and device: to and from either, both at once, there and back.
#[test]
fn values_flow_between_host_and_device() {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let mut stages = vec![Func::new("s0")];
    stages[0][x] = input[x] * 3 - input[x + 1];
    for i in 1..5 {
        let mut next = Func::new(format!("s{i}"));
        next[x] = stages[i - 1][x] + stages[i - 1][x + 1] * 2 + stages[i / 2][x];
        stages.push(next);
    }
    let pipeline = Pipeline::new([&stages[4]]).unwrap();
    let mut schedules = Vec::new();
    for places in 0..32 {
        let place = |i: i32| if places >> i & 1 == 1 { "gpu_tile(x, xo, xi, 8)" } else { "vectorize(x, 4)" };
        let text: Vec<String> = (0..4).map(|i| format!("s{i}: compute_root() {}", place(i))).collect();
        schedules.push(format!("{}\n s4: {}", text.join("\n"), place(4)));
    }
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    let regions = [1, 13, 64].map(|n| Region::of_spans([(-3, n)]));
    agree(&pipeline, &schedules, &[("input", noise(I32, &Region::of_spans([(-10, 100)]), 5))], &regions);
}

/// A scan of blocks by one kernel, of their sums by the next, and a last one that adds these.
#[test]
fn a_scan_by_several_kernels() {
    const BLOCK: i32 = 16;
    let input = ImageParam::new("input", I32, 1);
    let (i, b, x) = vars!(i, b, x);
    let (mut scan, mut sums, mut all) = (Func::new("scan"), Func::new("sums"), Func::new("all"));
    let inside = constant_exterior(&input, 0);
    let r = RDom::named("r", [(1, BLOCK - 1)]);
    scan[(i, b)] = inside[b * BLOCK + i];
    let before = scan[(r.x - 1, b)];
    scan[(r.x, b)] += before;
    let s = RDom::named("s", [(1, 8)]);
    sums[b] = select(b.eq(0), 0, scan[(BLOCK - 1, max(b - 1, 0))]);
    let before = sums[s.x - 1];
    sums[s.x] += before;
    all[x] = scan[(x % BLOCK, x / BLOCK)] + sums[x / BLOCK];
    let pipeline = Pipeline::new([&all]).unwrap();
    let scan = "scan: compute_root() gpu_blocks(b)\n scan.update(0): gpu_blocks(b)\n";
    let schedules = [
        format!(
            "{scan} sums: compute_root() gpu_single_thread()\n sums.update(0): gpu_single_thread()\n all: gpu_tile(x, xo, xi, 8)"
        ),
        format!("{scan} sums: compute_root()\n all: gpu_tile(x, xo, xi, 8)"),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    let regions = [1, 16, 100, 128].map(|n| Region::of_extents([n]));
    agree(&pipeline, &schedules, &[("input", noise(I32, &Region::of_extents([77]), 9))], &regions);
}

/// The same by `rfactor`, on one level and on two.
#[test]
fn scans_in_chunks_by_kernels() {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let inside = constant_exterior(&input, 0);
    let mut y = Func::new("y");
    y[x] = inside[x];
    let r = RDom::named("r", [(1, 127)]);
    let before = y[r.x - 1];
    y[r.x] += before;
    let pipeline = Pipeline::new([&y]).unwrap();
    let chunks = "y.update(0): split(r.x, ro, ri, 8) rfactor(ro, u)\n y: gpu_tile(x, xo, xi, 8)
         y.rfactor(u): compute_root() gpu_tile(x, u, xb, ub, xt, ut, 8, 2)
         y.rfactor(u).update(0): gpu_tile(u, ub, ut, 4)
         y.total(u): compute_root() gpu_tile(u, ub, ut, 4)\n y.total(u).update(0): gpu_tile(u, ub, ut, 4)
         y.carry(u): compute_root()";
    let schedules = [
        format!("{chunks} gpu_single_thread()\n y.carry(u).update(0): gpu_single_thread()"),
        format!(
            "{chunks} gpu_tile(u, ub, ut, 4)\n y.carry(u).update(0): split(ro, a, b, 4) rfactor(a, v)
             y.carry(u).rfactor(v): compute_root() gpu_tile(u, v, ub, vb, ut, vt, 4, 2)
             y.carry(u).rfactor(v).update(0): gpu_tile(v, vb, vt, 2)
             y.carry(u).total(v): compute_root() gpu_blocks(v)\n y.carry(u).total(v).update(0): gpu_blocks(v)
             y.carry(u).carry(v): compute_root()"
        ),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    let regions = [1, 8, 100, 128, 131].map(|n| Region::of_extents([n]));
    agree(&pipeline, &schedules, &[("input", noise(I32, &Region::of_extents([77]), 9))], &regions);
}

/// A stage in the blocks, and in the threads, of one whose values it needs.
#[test]
fn values_kept_by_the_kernel() {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let inside = constant_exterior(&input, 0);
    let (mut p, mut f) = (Func::new("p"), Func::new("f"));
    p[(x, y)] = inside[(x, y)] * 3 + x;
    f[(x, y)] = p[(x, y)] ^ inside[(x, y)];
    let pipeline = Pipeline::new([&p, &f]).unwrap();
    let tiles = "gpu_tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf)";
    let schedules = [
        format!("p: {tiles}\n f: {tiles} compute_with(p, xi)"),
        format!("p: {tiles}\n f: {tiles} compute_with(p, xo)"),
        format!(
            "p: {tiles}\n f: split(x, xo, xi, 8, GuardWithIf) split(y, yo, yi, 4, GuardWithIf) \
                 reorder(yi, xi, xo, yo) gpu_blocks(xo, yo) gpu_threads(yi, xi) compute_with(p, xo)"
        ),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    let regions = [[1, 1], [13, 9], [40, 24]].map(Region::of_extents);
    agree(&pipeline, &schedules, &[("input", noise(I32, &Region::of_extents([33, 20]), 9))], &regions);
}

/// Threads that store at coordinates that are promised to be distinct.
#[test]
fn distinct_places() {
    let order = ImageParam::new("order", I32, 1);
    order.promise_values(0, 99);
    order.promise_distinct();
    let (x, mut f) = (vars!(x), Func::new("f"));
    f[x] = x * 3;
    let r = RDom::named("r", [(0, 50)]);
    f[order[r.x]] = f[order[r.x]] * 2 + r.x;
    let pipeline = Pipeline::new([&f]).unwrap();
    let places = Buffer::<i32>::from_fn(&Region::of_extents([50]), |at| at[0] * 37 % 100).unwrap();
    let schedule = "f: gpu_tile(x, xo, xi, 8)\n f.update(0): gpu_tile(r.x, ro, ri, 8)";
    agree(&pipeline, &[schedule], &[("order", places.into_any())], &[Region::of_extents([100])]);
}

/// Nothing to compute is nothing to do, also for a device.
#[test]
fn sizes_of_zero() {
    let schedules = [
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n blur_x: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)",
    ];
    let regions = [[0, 0], [5, 0], [0, 3]].map(Region::of_extents);
    agree(&blur(U16), &schedules, &[("input", noise(U16, &Region::of_extents([9, 9]), 1))], &regions);
}

/// Many threads change few elements, each in one step.
#[test]
fn histograms_and_sums_by_atomic_steps() {
    for ty in [U8, U16, I32, U32, F32] {
        let input = ImageParam::new("input", U8, 2);
        let (i, x) = vars!(i, x);
        let r = RDom::over(&input);
        let (mut hist, mut out) = (Func::new("hist"), Func::new("out"));
        hist[i] = cast_to(ty, 0);
        hist[cast::<i32>(input[(r.x, r.y)] / 16)] += cast_to(ty, 1);
        out[x] = hist[x % 16];
        let pipeline = Pipeline::new([&out]).unwrap();
        let relaxed = if ty == F32 { "float(relaxed) " } else { "" };
        let schedules = [
            format!(
                "hist: compute_root() gpu_tile(i, io, ii, 16)\n hist.update(0): {relaxed}atomic() \
                 gpu_tile(r.x, r.y, xo, yo, xi, yi, 8, 4)\n out: gpu_tile(x, xo, xi, 8)"
            ),
            format!(
                "hist: compute_root()\n hist.update(0): {relaxed}atomic() split(r.x, xo, xi, 4) vectorize(xi) \
                 gpu_tile(xo, r.y, xb, yb, xt, yt, 4, 4)"
            ),
        ];
        let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
        let image = noise(U8, &Region::of_extents([53, 29]), 3);
        agree(&pipeline, &schedules, &[("input", image)], &[Region::of_extents([40])]);
    }
}

/// All threads of all blocks into one element; and those of a block into one that they share.
#[test]
fn one_element_of_all_threads() {
    let input = ImageParam::new("input", I32, 1);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 512)]);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[y] = 0.expr();
    sum[y] += input[r.x] * (y + 1);
    sum[y] = max(sum[y], input[r.x] / 2);
    out[(x, y)] = sum[y] + x;
    let pipeline = Pipeline::new([&out]).unwrap();
    let tile = "gpu_tile(r.x, xo, xi, 64)";
    let schedules = [
        format!("sum: compute_root()\n sum.update(0): atomic() {tile}\n sum.update(1): atomic() {tile}"),
        "out: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n sum: compute_at(out, xo) gpu_threads(y)\n \
         sum.update(0): atomic() split(r.x, a, b, 32) gpu_threads(b)\n \
         sum.update(1): atomic() split(r.x, a, b, 32) gpu_threads(b)"
            .to_string(),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    agree(&pipeline, &schedules, &[("input", noise(I32, &Region::of_extents([512]), 5))], &regions()[..4]);
}

/// Drivers that stop long loops without a word are not given any.
#[test]
fn loops_that_the_driver_would_stop() {
    let Some(gpu) = gpu() else { return };
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x + 3 * y;
    let pipeline = Pipeline::new([&f]).unwrap();
    let schedule: Schedule = "f: gpu_single_thread()".parse().unwrap();
    let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule).compile().unwrap();
    let small: Buffer<i32> = compiled.inputs().realize([200, 300]).unwrap();
    assert_eq!(small.get([199, 299]), Some(199 + 3 * 299));
    let large = compiled.inputs().realize::<i32>([300, 300]);
    match gpu.most_iterations() {
        None => assert_eq!(large.unwrap().get([299, 299]), Some(4 * 299)),
        Some(most) => {
            let text = large.unwrap_err().to_string();
            assert!(text.contains("a thread of kernel `f` may run 90300 iterations"), "{text}");
            assert!(text.contains(&format!("the driver stops it after {most}")), "{text}");
        }
    }
}

/// Schedules with kernels that are chosen for a device: filters, a histogram, sums of tiles and a recurrence.
#[test]
fn kernels_that_are_chosen() {
    let Some(gpu) = gpu() else { return };
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let edges = halide::boundary::repeat_edge(&input);
    let at = |dx: i32, dy: i32| cast::<u16>(edges[(x + dx, y + dy)].expr());
    let mut across = Func::new("across");
    across[(x, y)] = (at(-1, 0) + at(0, 0) + at(1, 0)) / 3;
    let mut filter = Func::new("filter");
    filter[(x, y)] = cast::<u8>((across[(x, y - 1)] + across[(x, y)] + across[(x, y + 1)]) / 3);
    let r = RDom::named("r", [(0, 64), (0, 48)]);
    let (mut counts, mut equalized) = (Func::new("counts"), Func::new("equalized"));
    counts[i] = 0u32.expr();
    counts[input[(r.x, r.y)].expr()] += 1u32;
    equalized[(x, y)] = counts[input[(x, y)].expr()] + 1u32;
    let (mut tiles, mut means) = (Func::new("tiles"), Func::new("means"));
    let t = RDom::named("t", [(0, 4), (0, 4)]);
    tiles[(x, y)] = 0u32.expr();
    tiles[(x, y)] += cast::<u32>(input[(x * 4 + t.x, y * 4 + t.y)].expr());
    means[(x, y)] = tiles[(x, y)] / 16u32;
    let s = RDom::named("s", [(1, 47)]);
    let mut sums = Func::new("sums");
    sums[(x, y)] = cast::<u32>(input[(x, y)].expr());
    sums[(x, s.x)] = sums[(x, s.x)] + sums[(x, s.x - 1)];
    let image = noise(U8, &Region::of_extents([64, 48]), 11);
    for (func, extents) in [(&filter, [61, 43]), (&equalized, [64, 48]), (&means, [15, 11]), (&sums, [64, 48])] {
        let pipeline = Pipeline::new([func]).unwrap_or_else(|e| panic!("{e}"));
        let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
        let side = if func.name() == "means" { 8192 } else { 2048 };
        let sizes = Estimates::new().output(func.name(), [2048, 2048]).input("input", [side, side]);
        let auto = pipeline.auto_schedule(&target, &sizes).unwrap_or_else(|e| panic!("{e}"));
        assert!(auto.has_kernels() && auto.refused.is_empty(), "{}\n{:?}", auto.schedule, auto.refused);
        agree(&pipeline, &[&auto.schedule.to_string()], &[("input", image.clone())], &[Region::of_extents(extents)]);
    }
}

/// A run is over when its results are there, and not when host code has said all to the device.
#[test]
fn profiles_have_the_wait_for_the_device() {
    let Some(gpu) = gpu() else { return };
    let (pipeline, image) = (blur(U16), noise(U16, &Region::of_extents([1000, 700]), 1));
    let schedule = "blur_y: gpu_tile(x, y, xo, yo, xi, yi, 16, 8)".parse().unwrap();
    let compiled = Compiler::new(&pipeline).gpu(gpu).schedule(&schedule).compile().unwrap();
    let mut out = Buffer::<u16>::new([990, 690]).unwrap();
    let call = compiled.inputs().image_named("input", image);
    let stats = call.profile().count().realize_into(out.view_mut().unwrap()).unwrap();
    let (profile, on_device) = (stats.profile.expect("asked for"), stats.gpu.expect("it has a kernel"));
    assert!(profile.runs > 0 && profile.wall >= on_device.download_time, "{profile:?} {on_device:?}");
    let counts = stats.counts.expect("asked for");
    assert!(counts.iter().any(|of| of.func == "blur_y" && of.points >= 990 * 690 && of.operations > 0), "{counts:?}");
}
