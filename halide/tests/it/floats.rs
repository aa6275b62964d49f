//! Changes that may be made to floats: none, unless the schedule says so, and never where the algorithm forbids it.

use halide::features::CpuFeatures;
use halide::prelude::*;

fn compiled(pipeline: &Pipeline, engine: Engine, schedule: &str) -> Compiled {
    compiled_for(&Target::host(), pipeline, engine, schedule)
}

fn compiled_for(target: &Target, pipeline: &Pipeline, engine: Engine, schedule: &str) -> Compiled {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    Compiler::new(pipeline)
        .engine(engine)
        .schedule(&schedule)
        .target(target)
        .compile()
        .unwrap_or_else(|e| panic!("{schedule}\n{e}"))
}

/// Returns true if this machine has an instruction for a product and a sum.
fn fuses() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// A large term, and many small ones that a sum beside it loses a part of.
fn terms(n: usize) -> Vec<f32> {
    let mut seed = 9u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / 2f32.powi(24)
    };
    std::iter::once(1e6).chain((1..n).map(|_| next() * 0.3)).collect()
}

/// Kahan's sum of `input`: value and compensation.
fn kahan(input: &ImageParam, n: i32, strict: bool) -> Func {
    let x = vars!(x);
    let r = RDom::named("r", [(0, n)]);
    let mut sum = Func::new("sum");
    let keep = |e: Expr| if strict { strict_float(e) } else { e };
    sum[x] = tuple([0.0f32, 0.0f32]);
    let (total, lost) = (sum.read(x).at(0), sum.read(x).at(1));
    let term = keep(input[r.x] * 3.0 - lost);
    let next = keep(total + term);
    sum[x] = tuple([next, keep((next - total) - term)]);
    sum
}

fn kahan_by_hand(terms: &[f32]) -> f32 {
    let (mut total, mut lost) = (0.0f32, 0.0f32);
    for t in terms {
        let term = t * 3.0 - lost;
        let next = total + term;
        (total, lost) = (next, (next - total) - term);
    }
    total
}

#[test]
fn compensated_sums_survive_what_schedules_allow() {
    let values = terms(1000);
    let image = Buffer::from_slice([values.len()], &values).unwrap();
    let exact: f64 = values.iter().map(|v| f64::from(*v) * 3.0).sum();
    let by_hand = kahan_by_hand(&values);
    let plain = values.iter().fold(0.0f32, |sum, v| sum + v * 3.0);
    assert!((f64::from(by_hand) - exact).abs() * 4.0 < (f64::from(plain) - exact).abs(), "the terms are hard to sum");
    let input = ImageParam::new("input", F32, 1);
    for (strict, schedules) in [
        (false, ["", "sum.update(0): unroll(r.x, 4)", "sum: vectorize(x, 4)"]),
        (
            true,
            ["sum.update(0): float(relaxed)", "sum.update(0): float(contract) unroll(r.x, 2)", "sum: float(relaxed)"],
        ),
    ] {
        let pipeline = Pipeline::new([&kahan(&input, values.len() as i32, strict)]).unwrap();
        for schedule in schedules {
            for engine in ENGINES {
                let compiled = compiled(&pipeline, engine, schedule);
                let out =
                    compiled.inputs().image(&input, image.clone()).realize_all(&[Region::of_extents([9])]).unwrap();
                let got = out[0].typed::<f32>().unwrap().to_vec();
                assert_eq!(got, [by_hand; 9], "{schedule} {engine:?}, strict {strict}");
            }
        }
    }
}

#[test]
fn products_and_sums_are_one_operation_where_the_schedule_says_so() {
    let (x, a) = (vars!(x), ImageParam::new("a", F32, 1));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = a[x] * a[x] - 1.0;
    g[x] = strict_float(a[x] * a[x] - 1.0);
    // Its square needs 25 bits.
    let v = 1.0 + 2f32.powi(-12);
    let (once, twice) = (v.mul_add(v, -1.0), v * v - 1.0);
    assert_ne!(once, twice);
    let image = Buffer::from_slice([19], &[v; 19]).unwrap();
    // Code that has no such instruction rounds twice.
    let bare = Target { features: Some(CpuFeatures::NONE), vector_bits: 128, ..Target::host() };
    let engines = [
        (Engine::Eval, Target::host(), true),
        (crate::CPU, Target::host(), fuses()),
        (crate::CPU, bare, cfg!(target_arch = "aarch64")),
    ];
    for (func, name) in [(&f, "f"), (&g, "g")] {
        let pipeline = Pipeline::new([func]).unwrap();
        for (mode, vector) in
            [("contract", ""), ("contract", "vectorize(x, 8)"), ("relaxed", "vectorize(x, 4)"), ("strict", "")]
        {
            let schedule = format!("{name}: float({mode}) {vector}");
            for (engine, target, fuses) in &engines {
                let compiled = compiled_for(target, &pipeline, *engine, &schedule);
                let got = compiled.inputs().image(&a, image.clone()).realize::<f32>([19]).unwrap().to_vec();
                let fused = name == "f" && mode != "strict" && *fuses;
                assert_eq!(got, [if fused { once } else { twice }; 19], "{schedule} {engine:?} {target:?}");
            }
        }
    }
}

#[test]
fn a_fused_product_and_sum_rounds_once_everywhere() {
    let (x, a) = (vars!(x), ImageParam::new("a", F32, 1));
    let mut f = Func::new("f");
    let wide = cast::<f64>(a[x]);
    f[x] = tuple([fma(a[x], a[x + 1], -1.0), cast::<f32>(fma(wide, 3, cast::<f64>(a[x + 1]) / 7))]);
    let pipeline = Pipeline::new([&f]).unwrap();
    let values: Vec<f32> = terms(41)[1..].iter().map(|v| 1.0 + v * v).collect();
    let want = |i: usize| values[i].mul_add(values[i + 1], -1.0);
    let image = Buffer::from_slice([values.len()], &values).unwrap();
    let expected: Vec<f32> = (0..39).map(want).collect();
    let wide = |i: usize| f64::from(values[i]).mul_add(3.0, f64::from(values[i + 1]) / 7.0) as f32;
    for schedule in ["", "f: vectorize(x, 8)"] {
        for engine in ENGINES {
            let compiled = compiled(&pipeline, engine, schedule);
            let out = compiled.inputs().image(&a, image.clone()).realize_all(&[Region::of_extents([39])]).unwrap();
            assert_eq!(out[0].typed::<f32>().unwrap().to_vec(), expected, "{schedule} {engine:?}");
            let doubles = out[1].typed::<f32>().unwrap().to_vec();
            assert_eq!(doubles, (0..39).map(wide).collect::<Vec<_>>(), "{schedule} {engine:?}");
        }
    }
}

#[test]
fn a_strict_sum_keeps_its_order() {
    let (x, input) = (vars!(x), ImageParam::new("input", F32, 1));
    let r = RDom::named("r", [(0, 64)]);
    let schedule = "sum: compute_root()\n sum.update(0): float(relaxed) split(r.x, ro, ri, 8) rfactor(ro, u)";
    for strict in [false, true] {
        let mut sum = Func::new("sum");
        sum[x] = cast::<f32>(x);
        let total = sum[x] + input[r.x];
        sum[x] = if strict { strict_float(total) } else { total };
        let mut out = Func::new("out");
        out[x] = sum[x];
        let pipeline = Pipeline::new([&out]).unwrap();
        let made = pipeline.compile(&schedule.parse().unwrap(), &Target::host());
        assert_eq!(made.is_err(), strict, "{:?}", made.err());
    }
}
