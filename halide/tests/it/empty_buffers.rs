//! Calls with buffers without elements: bounds must not rely on there being one.

use halide::prelude::*;

fn empty() -> Buffer<i32> {
    Buffer::from_slice([0], &[]).unwrap()
}

/// The outcome on every engine, which must be that of the interpreter, or an error about the input's size.
fn everywhere(pipeline: &Pipeline, schedules: &[&str], extents: &[&[i32]]) -> Vec<Result<Vec<AnyBuffer>, String>> {
    let regions: Vec<Region> = extents.iter().map(Region::of_extents).collect();
    let mut all = Vec::new();
    for schedule in schedules {
        for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
            let compiler = Compiler::new(pipeline).engine(engine).schedule(&schedule.parse().unwrap());
            let compiled = compiler.compile().unwrap();
            let call = compiled.inputs().image_named("data", empty());
            all.push(call.realize_all(&regions).map_err(|error| error.to_string()));
        }
    }
    all
}

#[test]
fn clamped_coordinates_of_an_empty_image_are_outside() {
    let (data, x) = (ImageParam::new("data", I32, 1), Var::new("x"));
    let (mut near, mut out) = (Func::new("near"), Func::new("out"));
    near[x] = data[clamp(x, 0, data.width() - 1)];
    out[x] = near[x] + 1;
    let pipeline = Pipeline::new([&out]).unwrap();
    let schedules = ["", "out: vectorize(x, 8)", "near: compute_root()", "near: compute_at(out, x)"];
    for outcome in everywhere(&pipeline, &schedules, &[&[11]]) {
        let error = outcome.unwrap_err();
        assert!(error.contains("has nothing") || error.contains("has 0 coordinates"), "{error}");
    }
}

#[test]
fn sums_and_scans_of_an_empty_image() {
    let (data, i) = (ImageParam::new("data", I32, 1), Var::new("i"));
    data.dim(0).set_min(0);
    let (mut total, mut places, mut count) = (Func::new("total"), Func::new("places"), Func::new("count"));
    let r = RDom::over(&data);
    total[()] = 7.expr();
    total[()] += data[r.x];
    places[i] = select(data[i].lt(3), 1, 0);
    let s = RDom::named("s", [(1.expr(), data.width() - 1)]);
    let before = places[s.x - 1];
    places[s.x] += before;
    // The last place is read only where there is one.
    count[()] = select(data.width().gt(0), places[max(data.width() - 1, 0)], 0);
    let schedules = ["", "places: compute_root()", "total.update(0): atomic() vectorize(r.x, 8)"];
    let pipeline = Pipeline::new([&total]).unwrap();
    for outcome in everywhere(&pipeline, &["", schedules[2]], &[&[]]) {
        assert_eq!(outcome.unwrap()[0].get::<i32>([]), Some(7.into()));
    }
    let pipeline = Pipeline::new([&count]).unwrap();
    for outcome in everywhere(&pipeline, &["places: compute_root()"], &[&[]]) {
        match outcome {
            Ok(out) => assert_eq!(out[0].get::<i32>([]), Some(0.into())),
            Err(error) => assert!(error.contains("too small"), "{error}"),
        }
    }
}

#[test]
fn one_output_may_be_empty_beside_others() {
    let (data, x) = (ImageParam::new("data", I32, 1), Var::new("x"));
    let (mut copy, mut size) = (Func::new("copy"), Func::new("size"));
    copy[x] = data[x] * 2;
    size[()] = data.width();
    let pipeline = Pipeline::new([&copy, &size]).unwrap();
    for outcome in everywhere(&pipeline, &["", "copy: vectorize(x, 8)", "copy: parallel(x)"], &[&[0], &[]]) {
        let out = outcome.unwrap();
        assert!(out[0].is_empty());
        assert_eq!(out[1].get::<i32>([]), Some(0.into()));
    }
}
