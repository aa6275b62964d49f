//! Constructs of the language on every engine, with other schedules than the default.

use halide::prelude::*;

/// Every engine under every schedule gives what the interpreter gives over `region`.
fn agree(output: &Func, schedules: &[&str], images: &[(&str, AnyBuffer)], region: &Region) -> Vec<AnyBuffer> {
    let pipeline = Pipeline::new([output]).unwrap();
    let run = |engine, threads, schedule: &str| {
        let parsed: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
        let compiled = Compiler::new(&pipeline)
            .engine(engine)
            .schedule(&parsed)
            .compile()
            .unwrap_or_else(|e| panic!("{schedule}\n{e}"));
        let call = images.iter().fold(compiled.inputs().threads(threads), |c, (n, b)| c.image_named(n, b.clone()));
        call.realize_all(std::slice::from_ref(region)).unwrap_or_else(|e| panic!("{schedule}\n{e}"))
    };
    let expected = run(Engine::Interp, 1, "");
    for schedule in schedules {
        for (engine, threads) in [(Engine::Eval, 1), (crate::CPU, 1), (crate::CPU, 2)] {
            for (got, want) in run(engine, threads, schedule).iter().zip(&expected) {
                assert_eq!(got.first_difference(want), None, "{schedule}\n{engine:?}, {threads} threads, {region:?}");
            }
        }
    }
    expected
}

#[test]
fn choices_among_many_values_and_among_tuples() {
    let x = vars!(x);
    let mut f = Func::new("f");
    let pairs = [tuple([x.expr(), 7.expr()]), tuple([-x.expr(), x * x]), tuple([5.expr(), x - 3])];
    let chosen = mux(x % 5 - 1, pairs);
    let first = select_first([(x.expr().lt(3), 10), (x.expr().lt(6), 20), (x.expr().eq(9), 30)], 40);
    let pair = select(x.expr().gt(4), chosen, tuple([first, first + 1]));
    f[x] = tuple([pair.at(0), pair.at(1), first]);
    let schedules = ["", "f: vectorize(x, 4)", "f: split(x, xo, xi, 3) parallel(xo)"];
    let out = agree(&f, &schedules, &[], &Region::of_extents([13]));
    let column = |n: usize| out[n].typed::<i32>().unwrap().to_vec();
    // An index of no value takes the last: -1 at 5 and 10, 3 at 9.
    assert_eq!(column(0)[..13], [10, 10, 10, 20, 20, 5, 6, -7, 5, 5, 5, 11, -12]);
    assert_eq!(column(1)[5..10], [2, 7, 49, 5, 6]);
    assert_eq!(column(2), [10, 10, 10, 20, 20, 20, 40, 40, 40, 30, 40, 40, 40]);
}

#[test]
fn domains_that_are_no_boxes() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let image = crate::engines_agree::noise(U8, &Region::of_spans([(-4, 40), (-4, 40)]), 5);
    type Predicate = fn(&RDom, Expr, &ImageParam) -> Expr;
    let predicates: [(&str, Predicate); 7] = [
        ("a triangle", |r, _, _| r.x.le(r.y)),
        ("another one", |r, _, _| (r.x + r.y).lt(9)),
        ("a disk", |r, _, _| ((r.x - 4) * (r.x - 4) + (r.y - 4) * (r.y - 4)).le(13)),
        ("every other", |r, _, _| ((r.x + r.y) % 2).eq(0)),
        ("up to a coordinate", |r, x, _| r.x.lt(x)),
        ("what data says", |r, _, i| i[(r.x, r.y)].gt(100)),
        ("two at once", |r, x, _| r.y.ge(2).and(r.x.lt(x - r.y))),
    ];
    let schedules = [
        "f: compute_root()",
        "f: compute_root() vectorize(x, 4)\n f.update(0): vectorize(x, 4)",
        "f: compute_at(g, y)\n f.update(0): unroll(r.x, 2)\n g: vectorize(x, 4)",
        "f: compute_root()\n f.update(0): split(r.x, ro, ri, 3) reorder(ri, r.y, ro, x, y) parallel(y)",
    ];
    for (name, predicate) in predicates {
        let r = RDom::named("r", [(0, 8), (1, 7)]);
        r.where_(predicate(&r, x.expr(), &input));
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[(x, y)] = cast::<i32>(input[(x, y)]);
        f[(x, y)] += cast::<i32>(input[(r.x, r.y)]) * (x + 1) + y;
        g[(x, y)] = f[(x, y)] - f[(x + 1, y)];
        println!("{name}");
        for (w, h) in [(1, 1), (6, 3), (9, 4)] {
            agree(&g, &schedules, &[("input", image.clone())], &Region::of_extents([w, h]));
        }
    }
}

#[test]
fn sums_that_stop_at_the_ends_of_their_type() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let r = RDom::named("r", [(0, 300)]);
    let ones = saturating_sum_over(&r, cast::<u8>(select(r.x.lt(x), 1, 0)));
    let deep = saturating_sum_over(&r, cast::<i8>(select(r.x.lt(200), -1, 1)));
    let mut f = Func::new("f");
    f[x] = tuple([ones, cast::<u8>(deep), saturating_sum_over(&r, input[(x + r.x) % 40])]);
    let image = crate::engines_agree::noise(U8, &Region::of_extents([40]), 6);
    let schedules = ["", "f: vectorize(x, 4)"];
    let out = agree(&f, &schedules, &[("input", image)], &Region::of_spans([(250, 10)]));
    assert_eq!(out[0].typed::<u8>().unwrap().to_vec(), [250, 251, 252, 253, 254, 255, 255, 255, 255, 255]);
    assert_eq!(out[1].typed::<u8>().unwrap().to_vec(), [(-128i8 + 100) as u8; 10]);
    assert_eq!(out[2].typed::<u8>().unwrap().to_vec(), [255; 10]);
    let mut g = Func::new("g");
    g[x] = saturating_sum_over(&r, cast::<f32>(r.x));
    let text = Pipeline::new([&g]).unwrap_err().to_string();
    assert!(text.contains("`saturating_sum` takes integers, not f32"), "{text}");
}

#[test]
fn passes_over_what_earlier_passes_left() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let image = crate::engines_agree::noise(U8, &Region::of_spans([(-3, 80)]), 8);
    let (a, b, c) = (RDom::named("a", [(0, 20)]), RDom::named("b", [(1, 19)]), RDom::named("c", [(0, 18)]));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = cast::<i32>(input[x]);
    f[a.x] += cast::<i32>(input[a.x + 3]) * 2;
    let before = f[b.x - 1];
    f[b.x] += before;
    let last = 18 - c.x;
    f[last] = max(f[last], f[last + 1] / 2);
    f[x] = f[x] * 2 + x;
    g[x] = f[x + 2] + f[x];
    let schedules = [
        "f: compute_root()",
        "f: compute_root() vectorize(x, 8)\n f.update(0): vectorize(a.x, 4)\n f.update(3): vectorize(x, 4)\n g: vectorize(x, 4)",
        "f: compute_root()\n f.update(0): parallel(a.x)\n f.update(1): unroll(b.x, 3)\n f.update(3): parallel(x)",
    ];
    for extent in [1, 4, 11, 30] {
        agree(&g, &schedules, &[("input", image.clone())], &Region::of_extents([extent]));
    }
}

#[test]
fn random_numbers_are_the_same_under_every_schedule() {
    let (x, y, seed) = (vars!(x), vars!(y), Param::<i32>::new("seed").with_default(11));
    let r = RDom::named("r", [(0, 5)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = random_f32(seed) + random_f32(seed);
    f[(x, y)] += random_f32(3) * cast::<f32>(r.x);
    g[(x, y)] = tuple([f[(x, y)] - f[(x + 1, y)], random_f32(1), random_u32(x).cast(F32)]);
    let schedules = [
        "f: compute_root()",
        "f: compute_at(g, y) vectorize(x, 4)\n f.update(0): vectorize(x, 4)\n g: parallel(y)",
        "f: compute_at(g, xo)\n g: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi, 8) unroll(yi)",
    ];
    for (w, h) in [(1, 1), (9, 5), (16, 8)] {
        agree(&g, &schedules, &[], &Region::of_spans([(-3, w), (2, h)]));
    }
}
