//! Questions that a program asks itself in front of its loops: they must be answered for right programs, or slower code
//! runs that checks each access.

use crate::engines_agree::noise;
use halide::prelude::*;

/// Runs a pipeline on inputs that have exactly what it needs, with the same values as in the interpreter; the main
/// variant or the one for tight inputs serves, and nothing is checked in an innermost loop.
#[track_caller]
fn check(pipeline: &Pipeline, schedule: &str, region: &Region) {
    let schedule: Schedule = schedule.parse().unwrap();
    let run = |engine: Engine| {
        let compiled = Compiler::new(pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        let needs = compiled.inputs().infer_input_bounds(std::slice::from_ref(region)).unwrap();
        let call = needs
            .iter()
            .fold(compiled.inputs(), |call, need| call.image_named(&need.name, noise(need.ty, &need.region, 5)));
        (call.realize_all(std::slice::from_ref(region)).unwrap(), compiled)
    };
    let (expected, _) = run(Engine::Interp);
    for engine in [Engine::Eval, crate::CPU] {
        let (found, compiled) = run(engine);
        assert!(found == expected, "{engine:?}: {schedule}");
        let variants = compiled.variants();
        assert!(variants.iter().all(|v| !v.checks_in_place), "{engine:?}: {variants:?} for {schedule}");
        let explained = compiled.explain().unwrap();
        assert!(!explained.contains("checked each time"), "{engine:?}: {explained}");
    }
}

/// Rows of a window that slides are cut by a factor that is no multiple of the planes' rows; the first iteration of the
/// loop makes more of them than others do, so that where they begin is a choice inside of a quotient.
#[test]
fn rows_that_begin_at_a_choice_are_asked_for_in_front_of_loops() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let [mut even, mut odd] = ["even", "odd"].map(Func::new);
    even[(x, y)] = max(input[(2 * x - 2, 2 * y)], input[(2 * x + 2, 2 * y)]);
    odd[(x, y)] = even[(x, y)] + input[(2 * x + 1, 2 * y + 1)];
    let [mut woven, mut across, mut out] = ["woven", "across", "out"].map(Func::new);
    let of_row = |f: &Func| f[(x / 2, y / 2)];
    woven[(x, y)] = select((y % 2).eq(0), of_row(&even), of_row(&odd));
    let mut curved = Func::new("curved");
    curved[(x, y)] = woven[(x, y)] * 3;
    across[(x, y)] = curved[(x, y - 1)] + curved[(x, y + 1)];
    out[(x, y)] = across[(x - 1, y)] + across[(x + 1, y)] + curved[(x, y)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedule = "even: store_root() compute_at(out, y) vectorize(x, 8) \
        odd: store_root() compute_at(out, y) vectorize(x, 8) \
        woven: store_root() compute_at(out, y) split(x, x, xr, 8) split(y, y, yr, 3) reorder(xr, yr, x, y) \
            vectorize(xr) unroll(yr) \
        curved: store_root() compute_at(out, y) vectorize(x, 8) \
        across: compute_at(out, y) vectorize(x, 8) \
        out: split(x, x, xr, 16) split(y, y, yr, 3) reorder(xr, yr, x, y) vectorize(xr) unroll(yr)";
    for spans in [[(0, 96), (0, 48)], [(5, 131), (-3, 31)], [(-40, 16), (7, 3)]] {
        check(&pipeline, schedule, &Region::of_spans(spans));
    }
}

/// Coordinates that are stored are limited by what has a name next to the store, and is known outside of it.
#[test]
fn limits_of_stored_coordinates_may_be_names() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let far = Param::<i32>::new("far").with_default(3).with_range(0, 100);
    let (mut offset, mut wide, mut out) = (Func::new("offset"), Func::new("wide"), Func::new("out"));
    let most = far.expr() * 2 + 1;
    let drawn = cast::<i32>(input[(x, y)]) * 7 - 300;
    offset[(x, y)] = tuple([clamp(drawn, -most, most), clamp(drawn / 3, -most, most)]);
    wide[(x, y)] = cast::<u16>(input[(x, y)]) + 1u16;
    let (u, v) = (offset[(x, y)].at(0), offset[(x, y)].at(1));
    out[(x, y)] = wide[(x + u, y + v)] + wide[(x, y)];
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedule = "offset: compute_root() vectorize(x, 8) wide: compute_root() vectorize(x, 16) out: vectorize(x, 8)";
    for spans in [[(0, 40), (0, 9)], [(-9, 33), (4, 1)]] {
        check(&pipeline, schedule, &Region::of_spans(spans));
    }
}
