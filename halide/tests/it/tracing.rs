//! Runs told step by step: the order that a schedule prescribes, and every value.

use expect_test::{Expect, expect};
use halide::prelude::*;
use halide::trace::TraceEvent;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// `g(x) = f(x) + f(x + 1)` of an input.
fn pair() -> Pipeline {
    let input = ImageParam::new("in", U8, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] * 2;
    g[x] = f[x] + f[x + 1];
    Pipeline::new([&g]).unwrap()
}

fn image(n: i32) -> AnyBuffer {
    Buffer::from_fn(&Region::of_extents([n]), |at| at[0] as u8 + 1).unwrap().into()
}

fn events(pipeline: &Pipeline, schedule: &str, image: &AnyBuffer, region: &Region) -> (Vec<TraceEvent>, AnyBuffer) {
    let compiled =
        Compiler::new(pipeline).engine(Engine::Interp).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let mut all = Vec::new();
    let call = compiled.inputs().image_named("in", image);
    let outputs = call.trace(std::slice::from_ref(region), &mut |event| all.push(event));
    (all, outputs.unwrap_or_else(|e| panic!("{schedule}\n{e}")).swap_remove(0))
}

fn check(pipeline: &Pipeline, schedule: &str, n: i32, expected: Expect) {
    let (events, _) = events(pipeline, schedule, &image(n + 1), &Region::of_extents([n]));
    let lines: Vec<String> = events.iter().map(|e| format!("{e}\n")).collect();
    expected.assert_eq(&lines.concat());
}

#[test]
fn the_order_of_schedules() {
    check(
        &pair(),
        "f: compute_root()",
        2,
        expect![[r#"
        allocate f(0..3)
        produce f
        load in(0) = 1
        store f(0) = 2
        load in(1) = 2
        store f(1) = 4
        load in(2) = 3
        store f(2) = 6
        produced f
        produce g
        load f(0) = 2
        load f(1) = 4
        store g(0) = 6
        load f(1) = 4
        load f(2) = 6
        store g(1) = 10
        produced g
        free f
    "#]],
    );
    check(
        &pair(),
        "f: compute_at(g, x)",
        2,
        expect![[r#"
        produce g
        allocate f(0..2)
        produce f
        load in(0) = 1
        store f(0) = 2
        load in(1) = 2
        store f(1) = 4
        produced f
        load f(0) = 2
        load f(1) = 4
        store g(0) = 6
        free f
        allocate f(1..3)
        produce f
        load in(1) = 2
        store f(1) = 4
        load in(2) = 3
        store f(2) = 6
        produced f
        load f(1) = 4
        load f(2) = 6
        store g(1) = 10
        free f
        produced g
    "#]],
    );
    check(
        &pair(),
        "f: store_root() compute_at(g, x)",
        3,
        expect![[r#"
        allocate f(0..4)
        produce g
        produce f
        load in(0) = 1
        store f(0) = 2
        produced f
        produce f
        load in(1) = 2
        store f(1) = 4
        produced f
        load f(0) = 2
        load f(1) = 4
        store g(0) = 6
        produce f
        load in(2) = 3
        store f(2) = 6
        produced f
        load f(1) = 4
        load f(2) = 6
        store g(1) = 10
        produce f
        load in(3) = 4
        store f(3) = 8
        produced f
        load f(2) = 6
        load f(3) = 8
        store g(2) = 14
        produced g
        free f
    "#]],
    );
    check(
        &pair(),
        "",
        2,
        expect![[r#"
        produce g
        load in(0) = 1
        load in(1) = 2
        store g(0) = 6
        load in(1) = 2
        load in(2) = 3
        store g(1) = 10
        produced g
    "#]],
    );
    check(
        &pair(),
        "g: split(x, xo, xi, 2) reorder(xo, xi)\n f: compute_root()",
        4,
        expect![[r#"
        allocate f(0..5)
        produce f
        load in(0) = 1
        store f(0) = 2
        load in(1) = 2
        store f(1) = 4
        load in(2) = 3
        store f(2) = 6
        load in(3) = 4
        store f(3) = 8
        load in(4) = 5
        store f(4) = 10
        produced f
        produce g
        load f(0) = 2
        load f(1) = 4
        store g(0) = 6
        load f(2) = 6
        load f(3) = 8
        store g(2) = 14
        load f(1) = 4
        load f(2) = 6
        store g(1) = 10
        load f(3) = 8
        load f(4) = 10
        store g(3) = 18
        produced g
        free f
    "#]],
    );
}

#[test]
fn updates_tuples_and_choices() {
    let input = ImageParam::new("in", U8, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(0, 2)]);
    let (mut t, mut g) = (Func::new("t"), Func::new("g"));
    t[x] = (input[x], cast::<i16>(x)).into();
    t[x] = (t[x].at(0) + input[x + r.x], t[x].at(1)).into();
    g[x] = select(x.gt(0), cast::<i16>(t[x].at(0)), t[x].at(1));
    check(
        &Pipeline::new([&g]).unwrap(),
        "t: compute_at(g, x)",
        2,
        expect![[r#"
        produce g
        allocate t(0..1)
        produce t
        load in(0) = 1
        store t(0) = 1
        store t(0).1 = 0
        load t(0) = 1
        load in(0) = 1
        store t(0) = 2
        load t(0) = 2
        load in(1) = 2
        store t(0) = 4
        produced t
        load t(0) = 4
        load t(0).1 = 0
        store g(0) = 0
        free t
        allocate t(1..2)
        produce t
        load in(1) = 2
        store t(1) = 2
        store t(1).1 = 1
        load t(1) = 2
        load in(1) = 2
        store t(1) = 4
        load t(1) = 4
        load in(2) = 3
        store t(1) = 7
        produced t
        load t(1) = 7
        load t(1).1 = 1
        store g(1) = 7
        free t
        produced g
    "#]],
    );
}

/// The value that was stored last is the one that is loaded and that comes out, under any schedule; and each Func is
/// produced between the ends of its storage.
#[test]
fn values_and_nesting() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g, mut h) = (Func::new("f"), Func::new("g"), Func::new("h"));
    f[(x, y)] = input[(x, y)] ^ 77;
    g[(x, y)] = f[(x - 1, y)] + f[(x + 1, y + 1)];
    h[(x, y)] = g[(x, y)] - g[(x, y + 1)];
    let pipeline = Pipeline::new([&h]).unwrap();
    for schedule in [
        "f: compute_root()\n g: compute_root()",
        "g: store_root() compute_at(h, y)\n f: compute_at(g, x)",
        "h: tile(x, y, xo, yo, xi, yi, 4, 2) parallel(yo) vectorize(xi)\n g: compute_at(h, xo) vectorize(x, 4)\n f: compute_at(h, xo)",
        "h: split(y, yo, yi, 2, GuardWithIf)\n g: store_at(h, yo) compute_at(h, yi)\n f: compute_at(g, x)",
    ] {
        for (w, n) in [(1, 1), (4, 3), (9, 5)] {
            let region = Region::of_spans([(2, w), (-1, n)]);
            let image = crate::engines_agree::noise(U8, &Region::of_spans([(-9, 60), (-9, 60)]), 4);
            let (events, out) = events(&pipeline, schedule, &image, &region);
            let compiled = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
            let want = compiled.inputs().image_named("in", &image).realize_all(std::slice::from_ref(&region)).unwrap();
            assert_eq!(out, want[0], "{schedule}");
            let mut held: BTreeMap<(String, Vec<i64>), Option<Scalar>> = BTreeMap::new();
            let mut open: Vec<String> = Vec::new();
            for event in events {
                match event {
                    TraceEvent::Store { of, at, value, .. } => drop(held.insert((of, at), value)),
                    TraceEvent::Load { of, at, value, .. } if of == "in" => assert_eq!(value, image.get(&at)),
                    TraceEvent::Load { of, at, value, .. } => assert_eq!(held.get(&(of, at)).cloned(), Some(value)),
                    TraceEvent::Allocate { func, .. } => open.push(func),
                    TraceEvent::Free { func } => {
                        assert_eq!(open.pop().as_ref(), Some(&func));
                        held.retain(|(of, _), _| *of != func);
                    }
                    TraceEvent::Produce { func } => assert!(func == "h" || open.contains(&func)),
                    TraceEvent::Produced { .. } | TraceEvent::Iterate { .. } | TraceEvent::Iterated => {}
                }
            }
            assert!(open.is_empty());
            for at in region.coords() {
                let at: Vec<i64> = at.iter().map(|c| i64::from(*c)).collect();
                assert_eq!(held.get(&("h".to_string(), at.clone())).cloned(), Some(out.get(&at)));
            }
        }
    }
}

/// Iterations begin and end in pairs around the same events, and those of parallel loops are told from others.
#[test]
fn iterations_are_told_to_those_who_ask() {
    let (pipeline, image, region) = (pair(), image(5), Region::of_extents([4]));
    let schedule = "g: split(x, xo, xi, 2) parallel(xo)\n f: compute_at(g, xo)";
    let (plain, _) = events(&pipeline, schedule, &image, &region);
    let compiled =
        Compiler::new(&pipeline).engine(Engine::Interp).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let mut all = Vec::new();
    compiled.inputs().image_named("in", &image).trace_loops(&[region], |event| all.push(event)).unwrap();
    let (mut open, mut begun) = (Vec::new(), Vec::new());
    for event in &all {
        match event {
            TraceEvent::Iterate { of, parallel, value } => {
                open.push(of.as_str());
                begun.push((of.as_str(), *parallel, *value));
            }
            TraceEvent::Iterated => assert!(open.pop().is_some(), "an end without a beginning"),
            TraceEvent::Store { of, .. } if of == "f" => assert_eq!(open, ["g.xo", "f.x"]),
            TraceEvent::Store { .. } => assert_eq!(open, ["g.xo", "g.xi"]),
            _ => {}
        }
    }
    assert!(open.is_empty());
    let of = |name: &str| begun.iter().filter(|of| of.0 == name).map(|of| (of.1, of.2)).collect::<Vec<_>>();
    assert_eq!(of("g.xo"), [(true, 0), (true, 1)]);
    assert_eq!(of("g.xi"), [(false, 0), (false, 1), (false, 0), (false, 1)]);
    assert_eq!(of("f.x").len(), 6);
    all.retain(|event| !matches!(event, TraceEvent::Iterate { .. } | TraceEvent::Iterated));
    assert_eq!(all, plain);
}

#[test]
fn what_a_run_cannot_have_is_said_first() {
    let pipeline = pair();
    let compiled = pipeline.compile(&"f: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let mut steps = 0;
    let mut trace = |call: Call<'_>, extent: i32| {
        call.trace(&[Region::of_extents([extent])], &mut |_| steps += 1).unwrap_err().to_string()
    };
    assert_eq!(trace(compiled.inputs(), 3), "input image `in` was not given; bind a buffer to it");
    let small = trace(compiled.inputs().image_named("in", image(3)), 3);
    assert_eq!(
        small,
        "input `in` is too small in dimension 0: 0 to 3 is read, but it has 0 to 2; give a larger image, a smaller output, or a \
         boundary condition"
    );
    let (x, input) = (vars!(x), ImageParam::new("in", U8, 1));
    let mut f = Func::new("f");
    f[x] = require(input[x].lt(3), input[x], "small ones only");
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let text = trace(compiled.inputs().image_named("in", image(3)), 3);
    assert!(text.ends_with("`f` at x = 2: requirement failed: small ones only"), "{text}");
    assert_eq!(steps, 0);
    let call = compiled.inputs().image_named("in", image(2));
    assert!(call.trace(&[Region::of_extents([2])], &mut |_| steps += 1).is_ok());
    assert_eq!(steps, 6);
}

/// A sink that answers with `Break` ends the run, and is told of nothing more.
#[test]
fn sinks_end_runs() {
    let pipeline = pair();
    let compiled = pipeline.compile(&"f: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let call = compiled.inputs().image_named("in", image(9));
    let region = Region::of_extents([4]);
    let mut all = 0;
    call.trace(std::slice::from_ref(&region), |_| all += 1).unwrap();
    for most in [1, 2, all - 1] {
        let mut steps = 0;
        let ended = call.trace(std::slice::from_ref(&region), |_| {
            steps += 1;
            if steps == most { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{most}: {ended:?}");
        assert_eq!(steps, most);
    }
}

/// Faults in the rest of a step, after the sink ended the run, are not told.
#[test]
fn an_ended_run_has_no_fault() {
    let (x, input) = (vars!(x), ImageParam::new("in", U8, 1));
    let (mut a, mut b, mut g) = (Func::new("a"), Func::new("b"), Func::new("g"));
    a[x] = input[x] * 2;
    b[x] = input[x] * 3;
    g[x] = a[x] + a[x + 1] + b[x] + b[x + 1];
    let pipeline = Pipeline::new([&g]).unwrap();
    for func in ["a", "b"] {
        // Its place holds one element less than is needed, which shows after the first event.
        let places = "a: compute_at(g, xo)\n b: compute_at(g, xo)\n g: split(x, xo, xi, 3)";
        let schedule = format!("{places}\n {func}: bound_storage(x, 3)").parse().unwrap();
        let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
        let call = compiled.inputs().image_named("in", image(9));
        let region = [Region::of_extents([3])];
        let mut steps = 0;
        let failed = call.trace(&region, |_| steps += 1);
        assert!(matches!(&failed, Err(Error::Fault(fault)) if fault.kind() == FaultKind::Promise), "{failed:?}");
        assert!(steps > 0, "the fault is midway");
        let mut told = 0;
        let ended = call.trace(&region, |_| {
            told += 1;
            if told == steps { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(matches!(ended, Err(Error::Cancelled)), "{func}: {ended:?}");
    }
}
