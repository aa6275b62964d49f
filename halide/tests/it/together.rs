//! Stages that are computed together, beside extern stages and in the memory of inputs.

use crate::engines_agree::noise;
use halide::externs::Extern;
use halide::prelude::*;

const ENGINES: [Engine; 3] = [Engine::Interp, Engine::Eval, crate::CPU];

/// A stage that adds its two inputs, as a closure or in the language.
fn added(a: &Func, b: &Func, closure: bool) -> Func {
    let (x, y) = vars!(x, y);
    if !closure {
        let mut sum = Func::new("sum");
        sum[(x, y)] = a[(x, y)] + b[(x, y)];
        return sum;
    }
    Extern::new("sum", [I32], 2).input(a).input(b).compute(|call| {
        let (a, b) = (call.input(0).typed::<i32>()?, call.input(1).typed::<i32>()?);
        for at in call.region().clone().coords() {
            let sum = a.get(&at).zip(b.get(&at)).map(|(a, b)| a.wrapping_add(b)).ok_or("a region is too small")?;
            call.output(0).set(&at, Scalar::from(sum))?;
        }
        Ok(())
    })
}

/// Two inputs of a stage, and two consumers of it, of one producer.
fn around(closure: bool) -> Pipeline {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut p, mut a, mut b) = (Func::new("p"), Func::new("a"), Func::new("b"));
    p[(x, y)] = input[(x, y)] * 3;
    a[(x, y)] = p[(x, y)] + p[(x, y + 1)];
    b[(x, y)] = p[(x + 1, y)] - p[(x, y)];
    let sum = added(&a, &b, closure);
    let (mut c, mut d, mut out) = (Func::new("c"), Func::new("d"), Func::new("out"));
    c[(x, y)] = sum[(x, y)] + 1;
    d[(x, y)] = sum[(x, y - 1)] ^ 7;
    out[(x, y)] = c[(x, y)] - d[(x + 1, y)];
    Pipeline::new([&out]).unwrap()
}

#[test]
fn beside_extern_stages() {
    let reference = Compiler::new(&around(false)).engine(Engine::Interp).compile().unwrap();
    let pipeline = around(true);
    for text in [
        "a: compute_root() b: compute_root() compute_with(a, y)",
        "a: compute_root() b: compute_root() compute_with(a, x, AlignEnd) p: compute_at(a, y)",
        "c: compute_root() d: compute_root() compute_with(c, y)",
        "a: compute_root() vectorize(x, 4) b: compute_root() vectorize(x, 4) compute_with(a, y)\n \
         c: compute_at(out, y) d: compute_at(out, y) compute_with(c, x, AlignStart)\n out: parallel(y)",
    ] {
        let schedule: Schedule = text.parse().unwrap();
        for (w, h) in [(1, 1), (4, 5), (13, 9)] {
            let region = [Region::of_spans([(-2, w), (3, h)])];
            let image = noise(I32, &Region::of_spans([(-9, 60), (-9, 60)]), 5);
            let want = reference.inputs().image_named("input", &image).realize_all(&region).unwrap();
            for engine in ENGINES {
                let compiled = Compiler::new(&pipeline)
                    .engine(engine)
                    .schedule(&schedule)
                    .compile()
                    .unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}"));
                let got = compiled.inputs().image_named("input", &image).realize_all(&region);
                assert_eq!(got.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}")), want, "{text}\n{engine:?}");
            }
        }
    }
}

/// Stages on the two sides of an extern stage cannot be computed together: they come before and after the closure.
#[test]
fn not_across_extern_stages() {
    let text = |schedule: &str| {
        let schedule = Schedule::parse(schedule, "test").unwrap();
        around(true).compile(&schedule, &Target::host()).map(drop).unwrap_err().to_string()
    };
    expect_test::expect![[r#"
        test:1:37: c: compute_with(a, y)
          an extern stage stands between this and `a`, so they have no loops in common"#]]
    .assert_eq(&text("a: compute_root() c: compute_root() compute_with(a, y)"));
    expect_test::expect![[r#"
        test:1:37: a: compute_with(c, y)
          an extern stage stands between this and `c`, so they have no loops in common"#]]
    .assert_eq(&text("c: compute_root() a: compute_root() compute_with(c, y)"));
    expect_test::expect![[r#"
        test:1:24: sum: compute_with(a, y)
          an extern stage stands between this and `a`, so they have no loops in common
        test:1:24: sum: compute_with(a, y)
          `sum` is computed inline, so it has no loops and no storage of its own
          help: give `sum` a place with compute_root() or compute_at(...)"#]]
    .assert_eq(&text("a: compute_root() sum: compute_with(a, y)"));
    expect_test::expect![[r#"
        test:1:37: b: compute_with(sum, y)
          an extern stage stands between this and `sum`, so they have no loops in common"#]]
    .assert_eq(&text("a: compute_root() b: compute_root() compute_with(sum, y)"));
}

/// Two outputs of one input, each of which may be in its memory.
fn halves(read: impl Fn(&ImageParam, Var, Var) -> Expr) -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] / 2;
    g[(x, y)] = read(&input, x, y);
    Pipeline::new([&f, &g]).unwrap()
}

/// Runs with output `f` in the memory of the input; the text of the error, if it is one. Results are held to those of
/// two buffers.
fn in_place(pipeline: &Pipeline, schedule: &str) -> Option<String> {
    let mut texts = Vec::new();
    for engine in ENGINES {
        let compiled = Compiler::new(pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let image = noise(U16, &Region::of_extents([19, 11]), 5);
        let regions = [Region::of_extents([19, 11]), Region::of_extents([19, 11])];
        let want = compiled.inputs().image_named("input", &image).realize_all(&regions).unwrap();
        let (mut memory, mut other) = (image.compact().unwrap(), AnyBuffer::new(U16, [19, 11]).unwrap());
        let call = compiled.inputs().in_place_named("input", 0);
        let outcome = call.realize_all_into(&mut [memory.view_mut().unwrap(), other.view_mut().unwrap()]);
        match outcome {
            Ok(_) => assert_eq!([memory, other], [want[0].clone(), want[1].clone()], "{schedule} {engine:?}"),
            Err(error) => {
                assert_eq!(memory, image, "nothing was written");
                texts.push(error.to_string());
            }
        }
    }
    assert!(texts.is_empty() || texts.len() == ENGINES.len(), "{texts:?}");
    texts.into_iter().next()
}

#[test]
fn in_the_memory_of_an_input() {
    let own = halves(|input, x, y| input[(x, y)] + 1);
    let apart = halves(|_, x, y| cast::<u16>(x * y));
    for schedule in ["", "g: compute_with(f, y)", "f: vectorize(x, 8)\n g: vectorize(x, 8) compute_with(f, x)"] {
        assert_eq!(in_place(&apart, schedule), None, "{schedule}");
        let text = in_place(&own, schedule).expect("`g` reads what `f` overwrites");
        assert!(text.starts_with("`f` cannot be computed in the memory of `input`: `g` reads `input`, at "), "{text}");
        assert!(text.ends_with("help: give two buffers, or compute `g` by itself: `g: compute_root()`"), "{text}");
    }
}
