//! Pipeline x schedule x engine: interpreter, evaluator of loop IR and machine code give the same bits.

use halide::prelude::*;

pub(crate) fn noise(ty: ScalarType, region: &Region, mut seed: u64) -> AnyBuffer {
    let mut image = AnyBuffer::with_region(ty, region).unwrap();
    for at in region.coords() {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let value = match ty.is_float() {
            true => Scalar::float(ty, ((seed >> 33) as f64) / 2f64.powi(30) - 1.0),
            false => Scalar::from_bits(ty, seed >> 24),
        };
        image.set(&at, value).unwrap();
    }
    image
}

fn agree(pipeline: &Pipeline, schedules: &[&str], input: &str, image: &AnyBuffer, regions: &[Region]) {
    let run = |engine, schedule: &str, region: &Region, threads| {
        let schedule: Schedule = schedule.parse().unwrap();
        let compiled = Compiler::new(pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        let regions = vec![region.clone(); pipeline.outputs.len()];
        compiled.inputs().image_named(input, image.clone()).threads(threads).realize_all(&regions).unwrap()
    };
    for region in regions {
        let expected = run(Engine::Interp, "", region, 1);
        for schedule in schedules {
            for (engine, threads) in [(Engine::Eval, 1), (crate::CPU, 1), (crate::CPU, 2)] {
                for (got, want) in run(engine, schedule, region, threads).iter().zip(&expected) {
                    let difference = got.first_difference(want);
                    assert_eq!(difference, None, "{schedule}\n{engine:?}, {threads} threads, {region:?}");
                }
            }
        }
    }
}

#[test]
fn blur_of_u16() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    let inside = repeat_edge(&input);
    blur_x[(x, y)] = (inside[(x, y)] + inside[(x + 1, y)] + inside[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    let pipeline = Pipeline::new([&blur_y]).unwrap();
    let schedules = [
        "",
        "blur_x: compute_root() vectorize(x, natural)\n blur_y: vectorize(x, natural)",
        "blur_x: compute_at(blur_y, x)",
        "blur_x: store_root() compute_at(blur_y, y) vectorize(x, 16)",
        "blur_y: split(y, yo, yi, 8) parallel(yo) vectorize(x, 16)\n blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 16)",
        "blur_y: tile(x, y, xo, yo, xi, yi, 8, 8) reorder(xi, yi, xo, yo) vectorize(xi) unroll(yi) parallel(yo)\n blur_x: compute_at(blur_y, xo) vectorize(x, 8) unroll(y, 10) store_in(Register)",
    ];
    let regions = [(1, 1), (7, 3), (16, 8), (33, 17), (64, 31)].map(|(w, h)| Region::of_spans([(-2, w), (3, h)]));
    agree(&pipeline, &schedules, "input", &noise(U16, &Region::of_extents([40, 20]), 1), &regions);
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
        "table: compute_root()",
        "table: compute_root() vectorize(x, 8)\n down: compute_root() vectorize(x, 4)\n up: vectorize(x, 8) parallel(y)",
        "table: compute_root()\n up: split(y, yo, yi, 4) parallel(yo) vectorize(x, 8)\n down: store_at(up, yo) compute_at(up, yi) vectorize(x, 4)",
        "table: compute_root()\n up: tile(x, y, xo, yo, xi, yi, 16, 4) vectorize(xi, 4) unroll(yi)\n down: compute_at(up, xo) vectorize(x, 4)",
    ];
    let regions = [(1, 1), (5, 7), (16, 4), (31, 13)].map(|(w, h)| Region::of_spans([(-3, w), (0, h)]));
    agree(&pipeline, &schedules, "input", &noise(U8, &Region::of_extents([19, 11]), 2), &regions);
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
        "hist: compute_root()\n cdf: compute_root()",
        "hist: compute_root() vectorize(i, 8)\n cdf: compute_root()\n out: vectorize(x, 4) parallel(y)",
        "hist: compute_root()\n cdf: compute_root()\n out: tile(x, y, xo, yo, xi, yi, 4, 4)\n maximum: compute_at(out, xo) vectorize(x, 4)",
    ];
    let image = noise(U8, &Region::of_extents([23, 9]), 3);
    agree(&pipeline, &schedules, "input", &image, &[Region::of_extents([23, 9]), Region::of_extents([3, 2])]);
}

/// Updates that store to several sites at once: sorting networks of columns, and elements that change places as data
/// say.
#[test]
fn several_sites_at_once() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut sorted, mut mixed, mut out) = (Func::new("sorted"), Func::new("mixed"), Func::new("out"));
    sorted[(x, y)] = input[(x, y)];
    // Odd and even neighbours in turn.
    let r = RDom::named("r", [(0, 4), (0, 8)]);
    let first = r.x * 2 + r.y % 2;
    let (a, b) = (sorted[(first, y)], sorted[(first + 1, y)]);
    sorted[(scatter((first, first + 1)), y)] = gather((min(a, b), max(a, b)));
    mixed[(x, y)] = (sorted[(x, y)], x).into();
    let s = RDom::named("s", [(0, 9)]);
    let other = cast::<i32>(input[(s.x, y)]) % 9;
    mixed[(scatter((s.x, other)), y)] = mixed[(gather((other, s.x)), y)];
    out[(x, y)] = cast::<i32>(mixed[(x, y)].at(0)) * 16 + mixed[(x, y)].at(1);
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedules = [
        "sorted: compute_root()\n mixed: compute_root()",
        "sorted: compute_root()\n sorted.update(0): parallel(y) unroll(r.x)\n mixed: compute_root()\n mixed.update(0): parallel(y)",
        "sorted: compute_root() reorder_storage(y, x)\n sorted.update(0): reorder(y, r.x, r.y) vectorize(y, 16)\n \
         mixed: compute_root()\n mixed.update(0): unroll(s.x)",
        "out: parallel(y) vectorize(x, 4)\n sorted: compute_at(out, y)\n mixed: compute_at(out, y)",
    ];
    let image = noise(U8, &Region::of_extents([9, 21]), 4);
    agree(&pipeline, &schedules, "input", &image, &[Region::of_extents([9, 21]), Region::of_spans([(2, 5), (1, 7)])]);
}

/// Reductions in parts, by atomic steps, and by lanes.
#[test]
fn reductions_in_any_order() {
    let input = ImageParam::new("input", U8, 2);
    let i = Var::new("i");
    let r = RDom::over(&input);
    let (mut hist, mut best, mut total) = (Func::new("hist"), Func::new("best"), Func::new("total"));
    hist[i] = 0u32.expr();
    hist[input[(r.x, r.y)] % 16] += 1;
    best[i] = (0, 0, 255u8).into();
    let (old, e) = (best.read(i), input[(r.x, r.y)] ^ cast::<u8>(i));
    let closer = e.lt(old.at(2));
    best[i] = tuple([select(closer, r.x, old.at(0)), select(closer, r.y, old.at(1)), select(closer, e, old.at(2))]);
    total[i] = (0u64.expr(), 1u32.expr()).into();
    let wide = cast::<u32>(input[(r.x, r.y)]) * 2 + 1;
    total[i] = (total[i].at(0) + cast::<u64>(wide), total[i].at(1) * wide).into();
    let pipeline = Pipeline::new([&hist, &best, &total]).unwrap();
    let schedules = [
        "hist.update(0): atomic() parallel(r.y)\n best.update(0): rfactor(r.y, u)\n best.rfactor(u): compute_root()\n best.rfactor(u).update(0): parallel(u)\n total.update(0): atomic() parallel(r.y)",
        "hist.update(0): atomic() parallel(r.y) vectorize(r.x, 8)\n total.update(0): split(r.x, ro, ri, 8) rfactor(ri, u)\n total.rfactor(u): compute_root() vectorize(u, 8)\n total.rfactor(u).update(0): reorder(u, ro, r.y) vectorize(u, 8)",
        "hist.update(0): rfactor(r.y, y) reorder(i, r.y) vectorize(i, 8)\n hist.rfactor(y): compute_at(hist.update(0), r.y) vectorize(i, 8)\n total.update(0): atomic() vectorize(r.x, 16)",
    ];
    let image = noise(U8, &Region::of_extents([23, 9]), 3);
    agree(&pipeline, &schedules, "input", &image, &[Region::of_extents([16]), Region::of_extents([25])]);
}

#[test]
fn one_compiled_pipeline_from_eight_threads() {
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[x] * 3 + x;
    let pipeline = Pipeline::new([&f]).unwrap();
    let schedule: Schedule = "f: split(x, xo, xi, 64) parallel(xo) vectorize(xi, 8)".parse().unwrap();
    let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
    std::thread::scope(|scope| {
        for seed in 0..8 {
            let compiled = compiled.clone();
            scope.spawn(move || {
                let image = noise(I32, &Region::of_extents([1000]), seed).typed::<i32>().unwrap();
                for n in [1000, 5, 64] {
                    let out: Buffer<i32> =
                        compiled.inputs().image_named("input", image.as_any().clone()).realize([n]).unwrap();
                    for (at, value) in out.iter() {
                        assert_eq!(value, image.get(&at).unwrap().wrapping_mul(3).wrapping_add(at[0]));
                    }
                }
            });
        }
    });
}

/// Long code is cut into functions that call each other.
#[test]
fn long_chains() {
    let n = 300;
    let input = ImageParam::new("input", I16, 1);
    let x = vars!(x);
    let mut last = Func::new("s0");
    last[x] = input[x] * 3;
    for i in 1..n {
        let mut next = Func::new(format!("s{i}"));
        next[x] = last[x] - last[x + 1] * 5 + last[x + 2];
        last = next;
    }
    let pipeline = Pipeline::new([&last]).unwrap();
    let each = |text: &str| (0..n - 1).map(|i| format!("s{i}: {text}\n")).collect::<String>();
    let (root, parallel) = (each("compute_root() vectorize(x, 8)"), each("compute_root() parallel(x)"));
    let slide = each(&format!("store_root() compute_at(s{}, x)", n - 1));
    let regions = [1, 20].map(|w| Region::of_spans([(5, w)]));
    agree(&pipeline, &[&root, &parallel, &slide], "input", &noise(I16, &Region::of_extents([700]), 3), &regions);
}
