//! Elements of tuples in one buffer (`tuple_storage`).

use halide::prelude::*;

/// A table of pairs, or triples, that is read with all elements at scattered coordinates.
fn table(elements: usize) -> Pipeline {
    let (data, index) = (ImageParam::new("data", F32, 1), ImageParam::new("index", I32, 1));
    index.promise_coordinates(&data, 0);
    let (x, mut f, mut g) = (Var::new("x"), Func::new("f"), Func::new("g"));
    let all = [data[x] * 2.0f32, data[x] + 1.0f32, 0.5f32 - data[x]];
    f[x] = tuple(all[..elements].to_vec());
    let at = f[index[x]];
    let mut sum = at.at(0);
    for i in 1..elements {
        sum = sum * 3.0f32 + at.at(i);
    }
    g[x] = sum;
    Pipeline::new([&g]).unwrap()
}

const SCHEDULES: [&str; 8] = [
    "f: compute_root() tuple_storage(v)",
    "f: compute_root() tuple_storage(v) vectorize(x, 8)",
    "f: tuple_storage(v) compute_root() split(x, xo, xi, 8) vectorize(xi) parallel(xo)\n g: vectorize(x, 8)",
    "f: compute_root() tuple_storage(v) reorder(x, v) vectorize(x, 8)",
    "f: compute_root() tuple_storage(v) split_storage(x, xo, xi, 4) reorder_storage(xi, v, xo) vectorize(x, 4)",
    "f: compute_root()\n f.in(g): compute_root() tuple_storage(v) vectorize(x, 4)",
    "f: compute_at(g, x) tuple_storage(v)",
    "f: tuple_storage(v) compute_root()\n f.in(): compute_root() vectorize(x, 8)",
];

#[test]
fn engines_agree() {
    for elements in [2, 3] {
        let pipeline = table(elements);
        for n in [1i64, 7, 64, 133] {
            let data = Buffer::<f32>::from_fn(&Region::of_spans([(-3, n)]), |at| (at[0] * at[0] % 11) as f32).unwrap();
            let index = Buffer::<i32>::from_fn(&Region::of_extents([n]), |at| (at[0] * 7 % n as i32) - 3).unwrap();
            let run = |engine: Engine, schedule: &str| {
                let schedule: Schedule = schedule.parse().unwrap();
                let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule).compile();
                let compiled = compiled.unwrap_or_else(|e| panic!("{schedule}: {e}"));
                let call = compiled.inputs().image_named("data", &data).image_named("index", &index);
                call.realize::<f32>([n]).unwrap_or_else(|e| panic!("{schedule}: {e}")).to_vec()
            };
            let expected = run(Engine::Interp, "");
            for schedule in SCHEDULES {
                for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
                    assert_eq!(run(engine, schedule), expected, "{engine:?} {n} {schedule}");
                }
            }
        }
    }
}

#[test]
fn tuples_that_cannot_lie_in_one_buffer() {
    let (x, mut f, mut u, mut t, mut g) =
        (Var::new("x"), Func::new("f"), Func::new("u"), Func::new("t"), Func::new("g"));
    f[x] = x * 2;
    u[x] = tuple([x.expr(), x + 1]);
    let old = (u[x].at(0), u[x].at(1));
    u[x] = tuple([old.1, old.0]);
    t[x] = tuple([x.expr(), cast::<f32>(x)]);
    g[x] = tuple([f[x] + u[x].at(0) + u[x].at(1), t[x].at(0) + cast::<i32>(t[x].at(1))]);
    let pipeline = Pipeline::new([&g]).unwrap();
    let text = "f: compute_root() tuple_storage(v)
        u: compute_root() tuple_storage(v)
        t: compute_root() tuple_storage(v)
        g: tuple_storage(v)";
    let errors = pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap_err().to_string();
    expect_test::expect![[r#"
        schedule:1:19: f: tuple_storage(v)
          the elements of `f` cannot lie in one buffer: it has one element
          help: say it of a tuple
        schedule:2:27: u: tuple_storage(v)
          the elements of `u` cannot lie in one buffer: it has updates
          help: say it of a wrapper, such as u.in(...)
        schedule:3:27: t: tuple_storage(v)
          the elements of `t` cannot lie in one buffer: they are of several types
          help: convert them to one type, or leave them apart
        schedule:4:12: g: tuple_storage(v)
          the elements of `g` cannot lie in one buffer: it is an output, whose memory the caller gives
          help: give the output that dimension in the algorithm"#]]
    .assert_eq(&errors);
    let pairs = table(2);
    let of = |text: &str| pairs.compile(&text.parse().unwrap(), &Target::host()).unwrap_err().to_string();
    expect_test::expect![[r#"
        schedule:1:19: f: tuple_storage(x)
          the storage of `f` has a dimension `x` already
          help: choose another name"#]]
    .assert_eq(&of("f: compute_root() tuple_storage(x)"));
    expect_test::expect![[r#"
        schedule:1:4: f: tuple_storage(v)
          `f` is computed inline, so it has no loops and no storage of its own
          help: give `f` a place with compute_root() or compute_at(...)"#]]
    .assert_eq(&of("f: tuple_storage(v)"));
    expect_test::expect![[r#"
        schedule:1:4: f: memoize()
          `f` cannot be memoized beside directives that make Funcs of it, or it of others
          help: leave out memoize(), or its in, clone_in, rfactor or tuple_storage
        schedule:1:14: f: tuple_storage(v)
          `f` is computed inline, so it has no loops and no storage of its own
          help: give `f` a place with compute_root() or compute_at(...)"#]]
    .assert_eq(&of("f: memoize() tuple_storage(v)"));
    expect_test::expect![[r#"
        schedule:1:36: f: tuple_storage(w)
          the elements of `f` cannot lie in one buffer: it has one element
          help: say it of a tuple"#]]
    .assert_eq(&of("f: compute_root() tuple_storage(v) tuple_storage(w)"));
}

/// The predicted time, advice and counts are of the loops that there are, or an error that says why not.
#[test]
fn prices_of_tuples_in_one_buffer() {
    let pipeline = table(2);
    let schedule: Schedule = "f: compute_root() tuple_storage(v) vectorize(x, 8)".parse().unwrap();
    let sizes = Estimates::new().output("g", [1000]).input("data", [1000]);
    let target = Target::host();
    let price = pipeline.price(&schedule, &target, &sizes);
    expect_test::expect!["priced"].assert_eq(&price.map_or_else(|e| e.to_string(), |_| "priced".to_string()));
    let advice = pipeline.advise(&schedule, &target, &sizes, 3);
    expect_test::expect!["advised"].assert_eq(&advice.map_or_else(|e| e.to_string(), |_| "advised".to_string()));
}
