//! Code for calls of known sizes: the same pixels, nothing that depends on a size, and refusals of other sizes.

use crate::engines_agree::noise;
use halide::prelude::*;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    Pipeline::new([&down]).unwrap()
}

fn schedule() -> Schedule {
    let text = "down: split(y, yo, yi, 8) parallel(yo) vectorize(x, 16)\n across: store_at(down, yo) compute_at(down, yi) vectorize(x, 16)";
    text.parse().unwrap()
}

#[test]
fn the_same_pixels_at_every_size() {
    let pipeline = blur();
    let image = noise(U16, &Region::of_spans([(-1, 80), (2, 40)]), 5);
    for engine in [Engine::Interp, Engine::Eval, crate::CPU] {
        let made = ShapeCache::new(Compiler::new(&pipeline).schedule(&schedule()).engine(engine));
        for spans in [[(0, 1), (3, 1)], [(5, 16), (2, 8)], [(-1, 33), (4, 17)], [(0, 64), (2, 32)], [(5, 16), (2, 8)]] {
            let region = Region::of_spans(spans);
            let expected = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
            let want =
                expected.inputs().image_named("input", &image).realize_all(std::slice::from_ref(&region)).unwrap();
            let shapes = Shapes::of_outputs([region.clone()]);
            for shapes in [shapes.clone(), shapes.input("input", image.region())] {
                let compiled = made.get(&shapes).unwrap();
                let got = compiled.inputs().image_named("input", &image).threads(2);
                let got = got.realize_all(std::slice::from_ref(&region)).unwrap();
                assert_eq!(got[0].first_difference(&want[0]), None, "{engine:?} {spans:?}");
            }
        }
        assert_eq!(made.shapes().len(), 8);
    }
}

#[test]
fn sizes_are_constants_in_the_code() {
    let shapes = Shapes::of_outputs([Region::of_extents([64, 32])]);
    let fixed = Compiler::new(&blur()).shapes(&shapes).schedule(&schedule()).compile().unwrap();
    let any = blur().compile(&schedule(), &Target::host()).unwrap();
    let loops = |compiled: &Compiled| {
        let text = compiled.ir().unwrap();
        text.lines().filter(|l| l.trim_start().starts_with("for ")).map(str::to_string).collect::<Vec<_>>()
    };
    // One loop per loop of the schedule, of a constant extent; elsewhere there are tails.
    assert!(loops(&fixed).len() < loops(&any).len(), "{}", loops(&fixed).join("\n"));
    let constant = |l: &String| l.split("extent ").nth(1).is_some_and(|e| e.starts_with(|c: char| c.is_ascii_digit()));
    assert!(loops(&fixed).iter().any(|l| l.contains("down.x") && constant(l)), "{}", loops(&fixed).join("\n"));
}

#[test]
fn other_sizes_are_refused() {
    let region = Region::of_extents([64, 32]);
    let shapes = Shapes::of_outputs([region.clone()]);
    let compiled = Compiler::new(&blur()).shapes(&shapes).schedule(&schedule()).compile().unwrap();
    let image = noise(U16, &Region::of_extents([80, 40]), 5);
    let call = compiled.inputs().image_named("input", &image);
    let error = call.realize_all(&[Region::of_extents([64, 31])]).unwrap_err().to_string();
    assert!(error.starts_with("output `down` needs extent 32 in dimension 1, by the rule at "), "{error}");
    let text = |shapes: Shapes| {
        Compiler::new(&blur()).shapes(&shapes).schedule(&schedule()).compile().map(|_| ()).unwrap_err()
    };
    assert_eq!(
        text(shapes.clone().input("inptu", region.clone())).to_string(),
        "the pipeline reads no image `inptu`; its images are input"
    );
    assert!(text(Shapes::of_outputs([])).to_string().contains('1'));
    assert!(text(Shapes::of_outputs([Region::of_extents([4])])).to_string().contains("`down`"));
    assert!(text(shapes.input("input", Region::of_extents([4]))).to_string().contains("`input`"));
}

#[test]
fn what_was_used_last_is_kept() {
    let made = ShapeCache::new(Compiler::new(&blur()).schedule(&schedule()).engine(Engine::Eval)).keep(2);
    let shape = |n: i64| Shapes::of_outputs([Region::of_extents([n, n])]);
    for n in [16, 17, 16, 18] {
        made.get(&shape(n)).unwrap();
    }
    assert_eq!(made.shapes(), [shape(16), shape(18)]);
}
