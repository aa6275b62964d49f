//! Asking what inputs a call needs, and giving exactly that.

use crate::engines_agree::noise;
use halide::prelude::*;

fn spans(region: &Region) -> Vec<(i64, i64)> {
    region.spans().iter().map(|s| (s.min, s.extent)).collect()
}

/// Checks that `pipeline` needs `expected` for `region`; it runs on exactly that on every engine, and on nothing that
/// is a row or column smaller.
#[track_caller]
fn check(pipeline: &Pipeline, schedule: &str, region: &Region, expected: &[&[(i64, i64)]]) {
    let schedule: Schedule = schedule.parse().unwrap();
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(pipeline).engine(engine).schedule(&schedule).compile().unwrap();
        let regions = vec![region.clone(); pipeline.outputs.len()];
        let needs = compiled.inputs().infer_input_bounds(&regions).unwrap();
        let found: Vec<Vec<(i64, i64)>> = needs.iter().map(|n| spans(&n.region)).collect();
        assert_eq!(found, expected, "{schedule}");
        let run = |needs: &[(String, AnyBuffer)]| {
            let call = needs.iter().fold(compiled.inputs(), |c, (name, image)| c.image_named(name, image.clone()));
            call.realize_all(&regions)
        };
        let images = |shrunk: Option<(usize, usize)>| -> Vec<(String, AnyBuffer)> {
            let image = |(i, need): (usize, &halide::input_requirements::InputNeed)| {
                let mut wanted = need.region.spans().to_vec();
                if let Some((image, dim)) = shrunk
                    && image == i
                {
                    wanted[dim].extent -= 1;
                }
                (need.name.clone(), noise(need.ty, &Region::new(wanted), 11))
            };
            needs.iter().enumerate().map(image).collect()
        };
        run(&images(None)).unwrap_or_else(|e| panic!("{engine:?}: {e}"));
        for (i, need) in needs.iter().enumerate() {
            for dim in 0..need.region.dims() {
                assert!(run(&images(Some((i, dim)))).is_err(), "{engine:?}: dimension {dim} of {}", need.name);
            }
        }
    }
}

#[test]
fn stencils_tables_and_several_inputs() {
    let (input, table) = (ImageParam::new("input", U8, 2), ImageParam::new("table", U16, 1));
    let (x, y) = vars!(x, y);
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[(x, y)] = table[cast::<i32>(input[(x, y)])] + table[3];
    b[(x, y)] = a[(x - 1, 2 * y)] + a[(x + 3, 2 * y + 1)];
    let pipeline = Pipeline::new([&b]).unwrap();
    let region = Region::of_spans([(5, 21), (-2, 6)]);
    let compiled = pipeline.compile(&"a: compute_root()".parse().unwrap(), &Target::host()).unwrap();
    let needs = compiled.inputs().infer_input_bounds(&[region]).unwrap();
    assert_eq!(spans(&needs[0].region), [(4, 25), (-4, 12)]);
    assert_eq!(spans(&needs[1].region), [(0, 256)]);
    assert_eq!((needs[0].ty, needs[1].ty), (U8, U16));
    assert_eq!(needs[1].name, "table");
}

#[test]
fn what_is_needed_is_what_is_read() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b) = (Func::new("a"), Func::new("b"));
    a[(x, y)] = input[(x, y - 1)] + input[(x + 2, y + 1)];
    b[(x, y)] = a[(x, y)] + a[(x + 1, y - 3)];
    let pipeline = Pipeline::new([&b]).unwrap();
    let expected: &[&[(i64, i64)]] = &[&[(-3, 10), (1, 14)]];
    for schedule in ["", "a: compute_root()", "b: vectorize(x, 4)\n a: compute_at(b, y)"] {
        check(&pipeline, schedule, &Region::of_spans([(-3, 7), (5, 9)]), expected);
    }
    // The main variant reads whole vectors.
    let schedule = "b: split(x, xo, xi, 4) vectorize(xi)\n a: compute_root() vectorize(x, 8)".parse().unwrap();
    let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
    let needs = compiled.inputs().infer_input_bounds(&[Region::of_extents([5, 5])]).unwrap();
    assert_eq!(spans(&needs[0].region), [(0, 8), (-4, 10)]);
    assert_eq!(spans(&needs[0].roomy)[0], (0, 10));
}

#[test]
fn boundary_conditions_need_what_they_need_not_make_up() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    let inside = repeat_edge(&input);
    f[(x, y)] = inside[(x - 2, y)] + inside[(x + 1, y + 1)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let regions = [Region::of_extents([30, 20])];
    let needs = compiled.inputs().infer_input_bounds(&regions).unwrap();
    assert_eq!(spans(&needs[0].region), [(-2, 33), (0, 21)]);
    // With an image given, what is read of it.
    let call = compiled.inputs().image_named("input", AnyBuffer::new(U8, [8, 9]).unwrap());
    assert_eq!(spans(&call.infer_input_bounds(&regions).unwrap()[0].region), [(0, 8), (0, 9)]);
}

#[test]
fn rules_are_followed_until_they_agree() {
    // Each input's size depends on another's, and that on what is read: several rounds.
    let (left, right) = (ImageParam::new("left", U16, 1), ImageParam::new("right", U16, 2));
    left.dim(0).set_min_multiple_of(8).set_extent_multiple_of(8);
    right.dim(0).set_bounds(left.dim(0).min(), left.dim(0).extent());
    right.dim(1).set_bounds(0, right.dim(0).extent() / 4);
    right.dim(1).set_stride_multiple_of(32);
    right.set_host_alignment(32);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = left[x + 3] + right[(x + 4, y)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let regions = [Region::of_spans([(6, 29), (1, 7)])];
    let needs = compiled.inputs().infer_input_bounds(&regions).unwrap();
    let find = |name: &str| needs.iter().find(|n| n.name == name).unwrap();
    let (left, right) = (find("left"), find("right"));
    assert_eq!(spans(&left.region), [(8, 32)]);
    assert_eq!(spans(&right.region), [(8, 32), (0, 8)]);
    assert_eq!((right.strides.clone(), right.alignment), (vec![1, 32], 32));
}

#[test]
fn there_may_be_no_answer() {
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = input[x] + input[x + input.dim(0).extent()];
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let error = |call: Call<'_>| call.infer_input_bounds(&[Region::of_extents([9])]).unwrap_err().to_string();
    assert_eq!(
        error(compiled.inputs()),
        "what is read of `input` depends on its own region and never settles; give a buffer for it, or a rule for its region"
    );
    let ruled = line!() + 1;
    input.dim(0).set_bounds(0, 16);
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let error = error(compiled.inputs());
    assert_eq!(
        error,
        format!(
            "input `input` is read from 0 to 24 in dimension 0, but by the rule at halide/tests/it/needs.rs:{ruled}:18 it has 0 \
             to 15 only; ask for a smaller output, or change the rule"
        )
    );
}

#[test]
fn needs_can_be_allocated() {
    let input = ImageParam::new("input", U8, 3);
    input.dim(0).set_stride(3);
    input.dim(2).set_stride(1).set_bounds(0, 3);
    let (x, y, c) = vars!(x, y, c);
    let mut f = Func::new("f");
    f[(x, y, c)] = input[(x + 1, y, c)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let regions = [Region::of_extents([10, 4, 3])];
    let needs = compiled.inputs().infer_input_bounds(&regions).unwrap();
    assert_eq!(needs[0].strides, [3, 30, 1]);
    let image = needs[0].allocate().unwrap();
    assert!(compiled.inputs().image_named("input", image).realize_all(&regions).is_ok());
    let border = Param::<i32>::new("border");
    let mut g = Func::new("g");
    g[(x, y, c)] = input[(x + border, y, c)];
    let pipeline = Pipeline::new([&g]).unwrap();
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let call = compiled.inputs().param(&border, 7);
    assert_eq!(spans(&call.infer_input_bounds(&regions).unwrap()[0].region)[0], (7, 10));
    let missing = compiled.inputs().infer_input_bounds(&regions).unwrap_err().to_string();
    assert_eq!(missing, "parameter `border` was not given and has no default; give it a value");
}

/// Choices by two coordinates, one of which stands still in an iteration: what the condition leaves of it over the
/// whole run, it leaves of it in each iteration. (Seed 2000152 of random_schedules.)
#[test]
fn choices_by_two_coordinates_leave_iterations_what_they_leave_the_run() {
    let input = ImageParam::new("in", I32, 1);
    let choices: [fn(Expr, Expr) -> Expr; 5] = [
        |x, y| select(ne(x, y), y + 1, y),
        |x, y| select(gt(x + y, 0), y - 1, y),
        |x, y| select(lt(x, y - 2), y + x, x),
        |x, y| select(le(x * 2, y), select(ge(y, 1), y - 1, y + 3), y),
        |x, y| select(lt(x, y) & gt(y, 3), y - x, y),
    ];
    for choice in choices {
        let (x, y) = vars!(x, y);
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[x] = input[x] * 2;
        g[(x, y)] = f[choice(x.expr(), y.expr())];
        let pipeline = Pipeline::new([&g]).unwrap();
        for schedule in ["f: compute_at(g, y)", "f: compute_at(g, x)", "g: split(y, yo, yi, 2)\n f: compute_at(g, yo)"]
        {
            for spans in [[(0, 1), (-2, 1)], [(0, 4), (-5, 11)], [(-3, 5), (2, 3)], [(1, 7), (-2, 1)]] {
                let region = Region::of_spans(spans);
                let run = |engine| {
                    let compiled =
                        Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
                    let need = &compiled.inputs().infer_input_bounds(std::slice::from_ref(&region)).unwrap()[0];
                    let image = noise(need.ty, &need.region, 11);
                    let call = compiled.inputs().image_named("in", image);
                    let regions = std::slice::from_ref(&region);
                    call.realize_all(regions).unwrap_or_else(|e| panic!("{engine:?} {schedule}, {region}: {e}"))
                };
                assert_eq!(run(Engine::Eval), run(crate::CPU), "{schedule}, {region}");
            }
        }
    }
}

/// Pieces that round up begin where the windows of their consumer are new, which is no multiple of their length behind
/// the first one: they reach beyond the multiple that holds the last point.
#[test]
fn pieces_in_a_window_that_slides_need_what_they_round_up_to() {
    let input = ImageParam::new("in", I32, 1);
    let x = Var::new("x");
    let (mut inner, mut window, mut out) = (Func::new("inner"), Func::new("window"), Func::new("out"));
    inner[x] = input[x] * 3;
    window[x] = inner[x] * 2;
    out[x] = window[x] - window[x - 1];
    let pipeline = Pipeline::new([&out]).unwrap();
    let place = "compute_at(out, x)";
    let schedule =
        format!("out: vectorize(x, 4)\n window: {place} store_root()\n inner: {place} vectorize(x, 4, RoundUp)");
    for n in 4..20 {
        let region = Region::of_spans([(0, n)]);
        let run = |engine| {
            let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile();
            let compiled = compiled.unwrap();
            let need = &compiled.inputs().infer_input_bounds(std::slice::from_ref(&region)).unwrap()[0];
            let call = compiled.inputs().image_named("in", noise(need.ty, &need.region, 11));
            call.realize_all(std::slice::from_ref(&region)).unwrap_or_else(|e| panic!("{engine:?}, {region}: {e}"))
        };
        assert_eq!(run(Engine::Eval), run(crate::CPU), "{region}");
    }
}
