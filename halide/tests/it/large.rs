//! Inputs of more elements than 31 bits count.

use halide::prelude::*;

/// Pages that nobody touches take no memory, so a large input costs address space only.
#[test]
fn inputs_beyond_two_to_the_31_elements() {
    let (w, h) = (1 << 16, 33_000);
    let mut image = AnyBuffer::with_region(U8, &Region::of_extents([w, h])).unwrap();
    assert!(image.len() > 1 << 31);
    for (x, y) in [(0, 0), (65_535, 32_999), (65_534, 32_998), (65_530, 32_770)] {
        image.set([x, y], Scalar::from((x % 251) as u8 + 1)).unwrap();
    }
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 2;
    g[(x, y)] = f[(x + 65_500, y + 32_760)] + f[(x, y)];
    let pipeline = Pipeline::new([&g]).unwrap();
    let region = Region::of_extents([36, 240]);
    let run = |engine, schedule: &str| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        compiled
            .inputs()
            .image_named("input", image.clone())
            .realize_all(std::slice::from_ref(&region))
            .unwrap()
            .remove(0)
    };
    let expected = run(Engine::Interp, "");
    assert_eq!(expected.get([35, 239]), Some(Scalar::from(((65_535 % 251) as u8 + 1) * 2)));
    // `f` stays where it is used: between the two points that one point of `g` reads lie all elements.
    for schedule in ["g: vectorize(x, 16)", "g: parallel(y, 16)", "g: split(x, x, xi, 4) unroll(xi)"] {
        assert_eq!(run(crate::CPU, schedule).first_difference(&expected), None, "{schedule}");
    }
}

/// The evaluator is for small inputs, and says so of what is given and of what it would store.
#[test]
fn what_is_too_large_for_the_evaluator() {
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let (mut far, mut wide, mut out) = (Func::new("far"), Func::new("wide"), Func::new("out"));
    far[x] = input[x] + input[x + 300_000_000];
    wide[x] = cast::<u8>(x);
    out[x] = wide[x] + wide[x + 300_000_000];
    let error = |pipeline: &Func, schedule: &str, inputs: &[AnyBuffer]| {
        let pipeline = Pipeline::new([pipeline]).unwrap();
        let compiled =
            Compiler::new(&pipeline).engine(Engine::Eval).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let given = inputs.iter().fold(compiled.inputs(), |all, image| all.image_named("input", image));
        given.realize_all(&[Region::of_extents([1])]).unwrap_err().to_string()
    };
    let text = |name: &str| {
        format!(
            "`{name}` would have 300000001 elements, too many for the evaluator; compute a smaller output, or use another \
             engine"
        )
    };
    let image = AnyBuffer::with_region(U8, &Region::of_extents([300_000_001])).unwrap();
    assert_eq!(error(&far, "", &[image]), text("input"));
    assert_eq!(error(&out, "wide: compute_root()", &[]), text("wide"));
}
