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
        let compiled = pipeline.compile_on(engine, &schedule.parse().unwrap(), &Target::host()).unwrap();
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
        assert_eq!(run(Engine::Cpu, schedule).first_difference(&expected), None, "{schedule}");
    }
}
