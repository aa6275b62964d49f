//! Definitions that leave elements as they are.

use expect_test::expect;
use halide::prelude::*;

const ENGINES: [(Engine, usize); 4] = [(Engine::Interp, 1), (Engine::Eval, 1), (crate::CPU, 1), (crate::CPU, 2)];

fn compiled(pipeline: &Pipeline, engine: Engine, schedule: &str) -> Compiled {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    Compiler::new(pipeline).engine(engine).schedule(&schedule).compile().unwrap_or_else(|e| panic!("{schedule}\n{e}"))
}

/// Every engine under every schedule makes `after` of a buffer that holds `before`, from coordinate `min` on.
fn changes(output: &Func, schedules: &[&str], min: i32, before: &[i32], after: &[i32]) {
    let pipeline = Pipeline::new([output]).unwrap();
    for schedule in schedules {
        for (engine, threads) in ENGINES {
            let compiled = compiled(&pipeline, engine, schedule);
            let mut out = Buffer::from_slice([before.len()], before).unwrap().with_mins([min]).unwrap();
            let call = compiled.inputs().threads(threads);
            call.realize_into(out.view_mut().unwrap()).unwrap_or_else(|e| panic!("{schedule}\n{engine:?}: {e}"));
            assert_eq!(out.to_vec(), after, "{schedule}\n{engine:?}, {threads} threads");
        }
    }
}

#[test]
fn updates_go_on_from_what_the_buffer_holds() {
    let x = vars!(x);
    let r = RDom::named("r", [(2, 3)]);
    let mut f = Func::new("f");
    f[x] = undef::<i32>();
    f[x] += x;
    f[r.x] *= 10;
    let schedules = ["", "f.update(0): vectorize(x, 4)", "f.update(0): parallel(x)\n f.update(1): unroll(r.x)"];
    changes(&f, &schedules, 0, &[7, 7, 7, 7, 7, 7, 7], &[7, 8, 90, 100, 110, 12, 13]);
    changes(&f, &schedules, 2, &[1, 2, 3], &[30, 50, 70]);
}

#[test]
fn some_points_are_left_alone() {
    let (x, n) = (vars!(x), Param::<i32>::new("n").with_default(3));
    let mut f = Func::new("f");
    f[x] = select((x % 2).eq(0), x * 100, undef::<i32>());
    f[x] = select(x.expr().lt(n), undef::<i32>(), f[x] + 1);
    let schedules =
        ["", "f: vectorize(x, 4)\n f.update(0): vectorize(x, 4)", "f: parallel(x)", "f: split(x, xo, xi, 3)"];
    // Two tasks never compute the same point: what one keeps, the other would read. (Seed 50297 of random_schedules.)
    let schedules = schedules.into_iter().chain(["f: parallel(x, 2)"]).collect::<Vec<_>>();
    changes(&f, &schedules, 0, &[-5; 9], &[0, -5, 200, -4, 401, -4, 601, -4, 801]);
}

#[test]
fn elements_of_tuples_are_left_alone() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = tuple([x.expr(), undef::<i32>()]);
    f[x] = tuple([undef::<i32>(), f.read(x).at(1) + f.read(x).at(0)]);
    let pipeline = Pipeline::new([&f]).unwrap();
    for schedule in ["", "f: vectorize(x, 4)\n f.update(0): vectorize(x, 4)"] {
        for (engine, _) in ENGINES {
            let compiled = compiled(&pipeline, engine, schedule);
            let mut out =
                [Buffer::from_slice([5], &[9; 5]).unwrap(), Buffer::from_slice([5], &[1, 2, 3, 4, 5]).unwrap()];
            let mut views: Vec<_> = out.iter_mut().map(|b| b.view_mut().unwrap().into_any()).collect();
            compiled.inputs().realize_all_into(&mut views).unwrap();
            assert_eq!(out[0].to_vec(), [0, 1, 2, 3, 4], "{schedule} {engine:?}");
            assert_eq!(out[1].to_vec(), [1, 3, 5, 7, 9], "{schedule} {engine:?}");
        }
    }
}

#[test]
fn what_nobody_wrote_is_zero() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 3)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = undef::<i32>();
    f[2 * r.x] += 5;
    g[x] = f[x] + f[x + 1];
    for schedule in
        ["f: compute_root()", "f: compute_root() vectorize(x, 4)\n g: vectorize(x, 4)", "f: compute_at(g, x)"]
    {
        changes(&g, &[schedule], 0, &[1, 1, 1, 1, 1, 1, 1], &[5, 5, 5, 5, 5, 0, 0]);
    }
}

#[test]
fn a_fresh_output_begins_with_zeros() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = undef::<i32>();
    f[x] += 1;
    let pipeline = Pipeline::new([&f]).unwrap();
    for (engine, _) in ENGINES {
        assert_eq!(compiled(&pipeline, engine, "").inputs().realize::<i32>([3]).unwrap().to_vec(), [1; 3]);
    }
}

/// Contents are copied only where the interpreter may be asked about them: with a requirement, or as the engine.
#[test]
fn contents_are_copied_only_for_requirements() {
    let x = vars!(x);
    let made = |checked: bool| {
        let mut f = Func::new("f");
        f[x] = undef::<i32>();
        let old = f[x];
        f[x] = if checked { require(old.lt(100), old + 1, ("was", old)) } else { old + 1 };
        Pipeline::new([&f]).unwrap()
    };
    for (checked, old) in [(false, 7), (true, 7), (true, 200)] {
        let compiled = compiled(&made(checked), crate::CPU, "");
        let run = |cap: u64| {
            let mut out = Buffer::from_slice([1000], &[old; 1000]).unwrap();
            let result = compiled.inputs().memory_cap(cap).realize_into(out.view_mut().unwrap());
            result.map(|_| out.to_vec()).map_err(|e| e.to_string())
        };
        match (checked, old) {
            (false, _) => assert_eq!(run(10), Ok(vec![8; 1000])),
            (_, 7) => assert_eq!(run(1 << 20), Ok(vec![8; 1000])),
            _ => assert!(run(1 << 20).is_err_and(|e| e.contains("was 200")), "the interpreter sees what was there"),
        }
        assert_eq!(run(10).is_err_and(|e| e.contains("a copy of an output")), checked);
    }
}

#[test]
fn mistakes() {
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = undef::<i32>() + 1;
    f[x] += select(x.expr().lt(2), undef::<i32>(), 3);
    let text = Pipeline::new([&f]).unwrap_err().to_string();
    let places: Vec<&str> = text.lines().map(|l| l.split_once(": ").map_or(l, |(_, rest)| rest)).collect();
    expect![[r#"
        `undef` is used as an operand, and has no value
        let it be the whole value of a definition, or what a `select` there gives
        `undef` is used as an operand, and has no value
        let it be the whole value of a definition, or what a `select` there gives"#]]
    .assert_eq(&places.join("\n"));
    let mut kept = Func::new("kept");
    kept[x] = undef::<i32>();
    kept[x] += 1;
    g[x] = kept[x];
    let pipeline = Pipeline::new([&kept, &g]).unwrap();
    let error = pipeline.compile(&"kept: clone_in(g)".parse().unwrap(), &Target::host()).unwrap_err();
    expect![[r#"
        schedule:1:7: kept: clone_in(g)
          `kept` begins with what its output holds (`undef`), which a copy has not"#]]
    .assert_eq(&error.to_string());
}
