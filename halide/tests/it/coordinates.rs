//! Inputs whose elements are coordinates of another input (`promise_coordinates`).

use halide::prelude::*;

/// A product of a sparse matrix (compressed rows) and a vector.
fn product(index: ScalarType) -> Pipeline {
    let (offsets, columns) = (ImageParam::new("offsets", I32, 1), ImageParam::new("columns", index, 1));
    let (values, x) = (ImageParam::new("values", F32, 1), ImageParam::new("x", F32, 1));
    offsets.promise_growing(0);
    columns.promise_coordinates(&x, 0);
    let (row, mut y) = (vars!(row), Func::new("y"));
    y[row] = 0.0f32.expr();
    let r = RDom::named("r", [(0.expr(), values.width())]);
    r.where_(r.x.ge(offsets[row]) & r.x.lt(offsets[row + 1]));
    y[row] += values[r.x] * x[cast::<i32>(columns[r.x])];
    Pipeline::new([&y]).unwrap()
}

const SCHEDULES: [&str; 4] = [
    "",
    "y.update(0): parallel(row)",
    "y.update(0): float(relaxed) split(r.x, ro, ri, 8) atomic() vectorize(ri)",
    "y: vectorize(row, 4)\n y.update(0): vectorize(row, 4)",
];

/// Three rows: two elements, none, three; `first` is the first column.
fn run(engine: Engine, ty: ScalarType, schedule: &str, first: i64, columns: &[i64]) -> Result<Vec<f32>, String> {
    let compiled = Compiler::new(&product(ty)).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let columns: Vec<i64> = columns.iter().map(|c| c + first).collect();
    let given = Region::of_extents([columns.len() as i64]);
    let mut index = AnyBuffer::with_region(ty, &given).unwrap();
    for (i, c) in columns.iter().enumerate() {
        index.set([i as i32], Scalar::int(ty, (*c).into())).unwrap();
    }
    let x = Buffer::<f32>::from_fn(&Region::of_spans([(first, 4)]), |at| 10.0 * (i64::from(at[0]) - first) as f32);
    let call = compiled
        .inputs()
        .image_named("offsets", Buffer::<i32>::from_slice([4], &[0, 2, 2, 5]).unwrap())
        .image_named("values", Buffer::<f32>::from_slice([5], &[1.0, 2.0, 3.0, 4.0, 5.0]).unwrap())
        .image_named("columns", index)
        .image_named("x", x.unwrap());
    call.realize::<f32>([3]).map(|y| y.to_vec()).map_err(|e| e.to_string())
}

#[test]
fn engines_agree_on_sparse_rows() {
    for ty in [I32, U8, I64, I16] {
        for first in [0, 1, 5] {
            for schedule in SCHEDULES {
                for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
                    let y = run(engine, ty, schedule, first, &[3, 0, 1, 2, 1]);
                    assert_eq!(y, Ok(vec![30.0, 0.0, 160.0]), "{engine:?} {ty} {first} {schedule}");
                }
            }
        }
    }
}

#[test]
fn elements_that_are_no_coordinates_are_errors() {
    for (engine, schedule) in [Engine::Interp, Engine::Eval, crate::CPU].into_iter().zip(SCHEDULES) {
        assert_eq!(
            run(engine, I32, schedule, 1, &[3, 0, 1, 4, 1]).unwrap_err(),
            "input `columns` has 5 at [3], but its elements are promised to be coordinates of dimension 0 of `x`, \
             which are 1 to 4 here; give other data, or a larger `x`"
        );
        assert!(run(engine, I32, schedule, 0, &[3, 0, -1, 2, 1]).unwrap_err().contains("has -1 at [2]"));
    }
}

/// Nothing is asked in a run: each access is proved, with one promise and with several.
#[test]
fn reads_at_promised_coordinates_are_proved() {
    for ty in [I32, U8, I64] {
        let (a, b) = (ImageParam::new("a", F32, 1), ImageParam::new("b", F32, 2));
        let (index, x, mut f) = (ImageParam::new("index", ty, 1), Var::new("x"), Func::new("f"));
        index.promise_coordinates(&a, 0);
        index.promise_coordinates(&b, 1);
        let at = cast::<i32>(index[x]);
        f[x] = a[at] + b[(b.dim(0).min(), at)];
        let pipeline = Pipeline::new([&f]).unwrap();
        for schedule in ["", "f: vectorize(x, 8)", "f: split(x, xo, xi, 8, GuardWithIf) vectorize(xi)"] {
            let compiled = pipeline.compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
            let text = compiled.explain().unwrap();
            assert!(!text.contains("checked"), "{ty} {schedule}\n{text}");
        }
    }
}

/// An input that is read at promised coordinates may have any size: what nothing else reads of it is one element.
#[test]
fn sizes_of_inputs_read_at_promised_coordinates() {
    let (a, index) = (ImageParam::new("a", F32, 1), ImageParam::new("index", I32, 1));
    index.promise_coordinates(&a, 0);
    let (x, mut f) = (vars!(x), Func::new("f"));
    let value = a[index[x]];
    let pipeline = |f: &Func| Pipeline::new([f]).unwrap();
    f[x] = value;
    let mut needs = Vec::new();
    let mut g = Func::new("g");
    g[x] = value + a[x + 2];
    for f in [f, g] {
        let compiled = pipeline(&f).compile(&Schedule::new(), &Target::host()).unwrap();
        let inferred = compiled.inputs().infer_input_bounds(&[Region::of_extents([3])]);
        needs.push(inferred.map_or_else(
            |e| e.to_string(),
            |all| all.iter().map(|need| format!("{} {}", need.name, need.region)).collect::<Vec<_>>().join(", "),
        ));
    }
    expect_test::expect![[r#"
        index [0..3], a [0..1]
        index [0..3], a [0..5]"#]]
    .assert_eq(&needs.join("\n"));
}

/// The value of an input without dimensions bounds what is read, as that of a parameter does.
#[test]
fn values_of_inputs_without_dimensions() {
    let (a, n, m) = (ImageParam::new("a", I32, 1), ImageParam::new("n", I32, 0), ImageParam::new("m", U8, 0));
    let (x, mut f) = (Var::new("x"), Func::new("f"));
    f[x] = a[min(x, n[()]) + cast::<i32>(m[()])];
    let pipeline = Pipeline::new([&f]).unwrap();
    for schedule in ["", "f: vectorize(x, 8)", "f: parallel(x)"] {
        for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
            let compiled =
                Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
            let of = |value: i32| Buffer::from_fn(&Region::of_extents([0i32; 0]), |_| value).unwrap();
            let byte = Buffer::from_fn(&Region::of_extents([0i32; 0]), |_| 200u8).unwrap();
            let call = compiled.inputs().image(&n, of(5)).image(&m, byte);
            let needs = call.infer_input_bounds(&[Region::of_extents([9])]).unwrap();
            let need = needs.iter().find(|need| need.name == "a").unwrap();
            assert_eq!(need.region, Region::of_spans([(200, 6)]), "{engine:?} {schedule}");
            let given = Buffer::from_fn(&need.region, |at| at[0] * 2).unwrap();
            let out = call.image(&a, given).realize::<i32>([9]).unwrap().to_vec();
            assert_eq!(out, [400, 402, 404, 406, 408, 410, 410, 410, 410]);
        }
    }
}

/// Without the value, what is read is found for all that it may be.
#[test]
fn needs_without_the_values_of_inputs_without_dimensions() {
    let (a, b, n, m) = (
        ImageParam::new("a", I32, 1),
        ImageParam::new("b", I32, 1),
        ImageParam::new("n", I32, 0),
        ImageParam::new("m", U8, 0),
    );
    let (x, mut g, mut f) = (Var::new("x"), Func::new("g"), Func::new("f"));
    g[x] = a[x] + 1;
    let promised = ImageParam::new("promised", I32, 0);
    promised.promise_values(-2, 7);
    f[x] = g[x + clamp(n[()], 0, 10)] + b[cast::<i32>(m[()]) / 2] + b[promised[()]];
    let pipeline = Pipeline::new([&f]).unwrap();
    for schedule in ["", "g: compute_root()"] {
        let compiled = pipeline.compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
        let needs = compiled.inputs().infer_input_bounds(&[Region::of_extents([4])]).unwrap();
        let of = |name: &str| needs.iter().find(|need| need.name == name).unwrap().region.clone();
        assert_eq!((of("a"), of("b")), (Region::of_extents([14]), Region::of_spans([(-2, 130)])), "{schedule}");
    }
}

/// The memory of an input without dimensions that an output shares is read before it is written, or refused.
#[test]
fn values_in_the_memory_of_an_output() {
    let (a, n, x) = (ImageParam::new("a", I32, 1), ImageParam::new("n", I32, 0), Var::new("x"));
    for first in [true, false] {
        let (mut next, mut f) = (Func::new("next"), Func::new("f"));
        next[()] = n[()] + 3;
        f[x] = a[min(x, n[()])];
        let outputs = if first { [&next, &f] } else { [&f, &next] };
        let compiled = Pipeline::new(outputs).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
        let given = Buffer::from_fn(&Region::of_extents([9]), |at| at[0] * 10).unwrap();
        let scalar = |value: i32| Buffer::from_fn(&Region::of_extents([0i32; 0]), |_| value).unwrap().into_any();
        let mut buffers = [scalar(2), AnyBuffer::with_region(I32, &Region::of_extents([6])).unwrap()];
        if !first {
            buffers.reverse();
        }
        let position = usize::from(!first);
        let result = {
            let mut views: Vec<_> = buffers.iter_mut().map(|b| b.view_mut().unwrap()).collect();
            compiled.inputs().image(&a, given).in_place(&n, position).realize_all_into(&mut views)
        };
        match result {
            Ok(_) => {
                assert!(!first, "`f` is computed behind `next`");
                assert_eq!(buffers[position].get([0i32; 0]), Some(Scalar::from(5)), "{first}");
                assert_eq!(buffers[1 - position].typed::<i32>().unwrap().to_vec(), [0, 10, 20, 20, 20, 20], "{first}");
            }
            Err(error) => {
                let error = error.to_string();
                assert!(
                    first && error.contains("`f` reads `n`") && error.contains("not computed whole before"),
                    "{error}"
                );
            }
        }
    }
}

/// Images that a rule alone mentions are inputs like others, in parts of a pipeline too.
#[test]
fn promises_of_images_that_rules_mention() {
    let (index, sized, x) = (ImageParam::new("index", I32, 1), ImageParam::new("sized", I32, 1), Var::new("x"));
    let (mut made, mut f) = (Func::new("made"), Func::new("f"));
    // An input that the main part does not have.
    let early = ImageParam::new("early", I32, 1);
    made[x] = early[x] * 2;
    let stage = halide::externs::Extern::new("stage", [I32], 1)
        .input(&made)
        .needs(|query| Ok(vec![query.region().clone()]))
        .compute(|call| {
            let region = call.region().clone();
            for at in region.coords() {
                let before = call.input(0).get(&at).map_or(0, Scalar::as_i64);
                call.output(0).set(&at, Scalar::from(before as i32 + 1))?;
            }
            Ok(())
        });
    f[x] = stage[x] + sized[0];
    index.promise_coordinates(&sized, 0);
    sized.dim(0).set_extent(index.dim(0).extent());
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let call = |last: i32| {
        let index = Buffer::<i32>::from_slice([2], &[0, last]).unwrap();
        let sized = Buffer::<i32>::from_slice([2], &[100, 200]).unwrap();
        let early = Buffer::<i32>::from_slice([3], &[0, 5, 7]).unwrap();
        let call = compiled.inputs().image_named("index", index).image_named("sized", sized);
        call.image_named("early", early).realize::<i32>([3])
    };
    assert_eq!(call(1).unwrap().to_vec(), [101, 111, 115]);
    assert!(call(2).unwrap_err().to_string().contains("coordinates of dimension 0 of `sized`"));
}
