//! Corners of the language, on every engine against values computed by hand.

use halide::prelude::*;
use halide_core::value::Element;

/// Runs with the default schedule on every engine; every output element as integers, floats by their bits.
#[track_caller]
fn check(output: &Func, inputs: &[(&str, AnyBuffer)], region: Region, expected: &[&[i64]]) {
    check_scheduled(output, "", inputs, region, expected);
}

#[track_caller]
fn check_scheduled(output: &Func, schedule: &str, inputs: &[(&str, AnyBuffer)], region: Region, expected: &[&[i64]]) {
    let pipeline = Pipeline::new([output]).unwrap();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let mut given = compiled.inputs();
        for (name, image) in inputs {
            given = given.image_named(name, image.clone());
        }
        let out = given.realize_all(std::slice::from_ref(&region)).unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        let values = |b: &AnyBuffer| -> Vec<i64> { b.coords().map(|at| as_integer(b.get(at).unwrap())).collect() };
        let got: Vec<Vec<i64>> = out.iter().map(values).collect();
        assert_eq!(got, expected, "{engine:?}");
    }
}

fn as_integer(value: Scalar) -> i64 {
    if value.ty().is_float() { value.bits() as i64 } else { value.as_i64() }
}

#[test]
fn comparisons_of_index_values_are_exact_wherever_they_stand() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 4)]);
    r.where_((r.x + i32::MAX).gt(i32::MAX.expr()));
    let mut f = Func::new("f");
    // As data, each of these sums wraps and the comparisons turn around.
    let beyond = (x + i32::MAX).gt(x);
    let product = (x * 100_000 * 100_000).ge(x * 2);
    f[x] = (
        select(beyond, 1, 0),
        select(product, 1, 0),
        select((cast::<i32>(x) + i32::MAX).gt(cast::<i32>(x)), 1, 0),
        sum_over(&r, cast::<i32>(r.x)),
    )
        .into();
    check(&f, &[], Region::of_extents([3]), &[&[1, 1, 1], &[1, 1, 1], &[1, 1, 1], &[6, 6, 6]]);
}

#[test]
fn a_domain_may_be_restricted_by_the_variables_of_another() {
    let x = vars!(x);
    let outer = RDom::named("outer", [(0, 3)]);
    let inner = RDom::named("inner", [(0, 4)]);
    inner.where_(inner.x.le(outer.x));
    let mut f = Func::new("f");
    f[x] = 100.expr();
    f[outer.x] += sum_over(&inner, inner.x * 10 + outer.x);
    check(&f, &[], Region::of_extents([4]), &[&[100, 100 + 12, 100 + 36, 100]]);
}

/// The coordinate and the value of `argmin` and `argmax` over the four pixels of an image, after the restriction.
#[track_caller]
fn check_arg(pixels: AnyBuffer, restrict: impl Fn(&RDom), expected: [i64; 4]) {
    let input = ImageParam::new("input", pixels.ty(), 1);
    let (x, r) = (vars!(x), RDom::named("r", [(0, 4)]));
    restrict(&r);
    let mut f = Func::new("f");
    let (least, most) = (argmin_over(&r, input[r.x + x]), argmax_over(&r, input[r.x + x]));
    f[x] = (least.at(0), least.at(1), most.at(0), most.at(1)).into();
    let expected = expected.map(|e| [e]);
    check(&f, &[("input", pixels)], Region::of_extents([1]), &expected.each_ref().map(|e| &e[..]));
}

fn pixels<T: Element>(values: [T; 4]) -> AnyBuffer
where
    AnyBuffer: From<Buffer<T>>,
{
    Buffer::from_slice([4], &values).unwrap().into()
}

#[test]
fn arg_reductions_take_the_first_of_what_is_there() {
    check_arg(pixels([7u8, 3, 3, 7]), |_| {}, [1, 3, 0, 7]);
    check_arg(pixels([255u8; 4]), |_| {}, [0, 255, 0, 255]);
    check_arg(pixels([0u8; 4]), |_| {}, [0, 0, 0, 0]);
    // The first point of the domain is not admitted, and nothing is better than what an empty domain gives.
    check_arg(pixels([255u8; 4]), |r| r.where_(r.x.gt(1)), [2, 255, 2, 255]);
    check_arg(pixels([0u8; 4]), |r| r.where_(r.x.gt(1)), [2, 0, 2, 0]);
    check_arg(pixels([1u8, 2, 3, 4]), |r| r.where_(r.x.gt(9)), [0, 255, 0, 0]);
    let bits = |v: f32| v.to_bits() as i64;
    let (inf, nan) = (f32::INFINITY, f32::NAN);
    check_arg(pixels([nan; 4]), |_| {}, [0, bits(inf), 0, bits(-inf)]);
    check_arg(pixels([nan, inf, inf, nan]), |_| {}, [1, bits(inf), 1, bits(inf)]);
    check_arg(pixels([nan, -inf, nan, -inf]), |_| {}, [1, bits(-inf), 1, bits(-inf)]);
    check_arg(pixels([nan, 2.0, 1.0, 2.0]), |_| {}, [2, bits(1.0), 1, bits(2.0)]);
}

/// Runs on every engine; the error's text must say all of `parts`.
#[track_caller]
fn refuses(output: &Func, schedule: &str, region: &Region, parts: &[&str]) {
    let pipeline = Pipeline::new([output]).unwrap();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let error = match compiled.inputs().realize_all(std::slice::from_ref(region)) {
            Ok(_) => panic!("{engine:?} runs\n{schedule}"),
            Err(error) => error.to_string(),
        };
        for part in parts {
            assert!(error.contains(part), "{engine:?}: {part} is not in: {error}\n{schedule}");
        }
    }
}

#[test]
fn coordinates_outside_of_i32_are_refused_before_anything_runs() {
    let x = vars!(x);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[x] = x + 1;
    g[x] = f[x - 1] + f[x + 2];
    h[x] = g[x] * 3;
    let four = |min: i64| Region::of_spans([(min, 4)]);
    let (first, last) = (i64::from(i32::MIN), i64::from(i32::MAX));
    let schedules = [
        "",
        "f: compute_root()",
        "g: compute_root()",
        "f: compute_root()\n g: compute_root()",
        "f: compute_at(h, x)\n g: compute_at(h, x)",
    ];
    for schedule in schedules {
        for min in [first, last - 4, last - 3] {
            refuses(&h, schedule, &four(min), &["`f`", "dimension 0", "the range of i32"]);
        }
        let near = |min: i64| (0..4).map(|i| (min + i, min + i + 3)).map(|(a, b)| 3 * (a + b)).collect::<Vec<_>>();
        for min in [first + 1, last - 5] {
            let wrapped: Vec<i64> = near(min).into_iter().map(|v| i64::from(v as i32)).collect();
            check_scheduled(&h, schedule, &[], four(min), &[&wrapped]);
        }
    }
}

#[test]
fn products_of_coordinates_beyond_64_bits_are_refused() {
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x + 1;
    g[x] = f[x * 100_000 * 100_000 * 100_000 * 100_000] + f[x * x * x * x * x * x * x];
    let small = Region::of_extents([1]);
    check_scheduled(&g, "", &[], small.clone(), &[&[2]]);
    check_scheduled(&g, "f: compute_root()", &[], small, &[&[2]]);
    for schedule in ["", "f: compute_root()", "f: compute_at(g, x)"] {
        refuses(&g, schedule, &Region::of_spans([(600_000, 3)]), &["coordinate"]);
    }
}

#[test]
fn reduction_domains_outside_of_i32_are_refused() {
    let (x, n) = (vars!(x), Param::<i32>::new("n").with_default(i32::MAX));
    let r = RDom::named("r", [(n.expr(), 3.expr())]);
    let mut f = Func::new("f");
    f[x] = 0.expr();
    f[x] += cast::<i32>(r.x);
    refuses(&f, "", &Region::of_extents([1]), &["i32"]);
}
