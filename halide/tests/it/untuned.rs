//! Plain schedules of pipelines that nobody tuned: the code that they should become.

use crate::engines_agree::noise;
use halide::prelude::*;

/// The product of two matrices in tiles whose sums stay in registers.
fn product() -> (Pipeline, Schedule) {
    let (x, y) = vars!(x, y);
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let k = RDom::named("k", [(0.expr(), a.width())]);
    let (mut product, mut output) = (Func::new("product"), Func::new("output"));
    product[(x, y)] = 0f32.expr();
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    output[(x, y)] = product[(x, y)];
    let text = "output: tile(x, y, xo, yo, xi, yi, 32, 4) vectorize(xi, 16) unroll(xi) unroll(yi)
        product: compute_at(output, xo) vectorize(x, 16) unroll(x) unroll(y)
        product.update(0): reorder(x, y, k.x) vectorize(x, 16) unroll(x) unroll(y)";
    (Pipeline::new([&output]).unwrap(), text.parse().unwrap())
}

/// The first coordinate of a tile that divides a known size is a multiple of a loop variable. It must cancel against
/// itself in the accumulators' indices: these are constants, as for sizes that are not known.
#[test]
fn accumulators_of_known_sizes_have_constant_indices() {
    let (pipeline, schedule) = product();
    let square = Region::of_extents([64, 64]);
    let shapes = Shapes::of_outputs([square.clone()]).input("a", square.clone()).input("b", square.clone());
    let any = Compiler::new(&pipeline).schedule(&schedule);
    let (a, b) = (noise(F32, &square, 3), noise(F32, &square, 4));
    let mut results = Vec::new();
    for compiled in [any.compile().unwrap(), any.shapes(&shapes).compile().unwrap()] {
        let ir = compiled.ir().unwrap();
        let indices: Vec<&str> = ir.split("product#b3[ramp(").skip(1).collect();
        assert!(!indices.is_empty(), "{ir}");
        for index in indices {
            let (base, _) = index.split_once(',').unwrap();
            assert!(base.parse::<i64>().is_ok(), "{base} in\n{ir}");
        }
        let call = compiled.inputs().image_named("a", &a).image_named("b", &b);
        results.push(call.realize_all(std::slice::from_ref(&square)).unwrap());
    }
    assert_eq!(results[0], results[1]);
}

/// A sum over the channels of each pixel in chunks of 16, for which what it reads is computed before.
fn channels() -> (Pipeline, Schedule) {
    let (c, x) = vars!(c, x);
    let (input, filter) = (ImageParam::new("input", I32, 2), ImageParam::new("filter", I32, 2));
    let k = RDom::named("k", [(0.expr(), input.dim(0).extent())]);
    let (mut scaled, mut sum, mut output) = (Func::new("scaled"), Func::new("sum"), Func::new("output"));
    scaled[(c, x)] = input[(c, x)] * 2;
    sum[(c, x)] = 0.expr();
    sum[(c, x)] += filter[(c, k.x)] * scaled[(k.x, x)];
    output[(c, x)] = sum[(c, x)] + 1;
    let text = "output: split(x, xo, xi, 4) reorder(c, xi, xo) vectorize(c, 16)
        sum: compute_at(output, xo) vectorize(c, 16)
        sum.update(0): split(k.x, ko, ki, 16) reorder(c, x, ki, ko) vectorize(c, 16)
        scaled: compute_at(sum.update(0), ko) vectorize(c, 16)";
    (Pipeline::new([&output]).unwrap(), text.parse().unwrap())
}

/// Chunks of a split reduction begin at multiples of the vectors that they are computed in, so these demand no more
/// of the input than the next multiple; where it has less, `--explain` says so.
#[test]
fn chunks_of_a_split_reduction_demand_whole_vectors_and_no_more() {
    let (pipeline, schedule) = channels();
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    let out = Region::of_extents([32, 8]);
    for (extent, main) in [(16, true), (32, true), (48, true), (33, false), (7, false)] {
        let compiled = pipeline.compile(&schedule, &Target::host()).unwrap();
        let input = noise(I32, &Region::of_extents([extent, 8]), 5);
        let filter = noise(I32, &Region::of_extents([32, extent]), 6);
        let run = |c: &Compiled| {
            let call = c.inputs().image_named("input", &input).image_named("filter", &filter);
            call.realize_all(std::slice::from_ref(&out)).unwrap()
        };
        assert_eq!(run(&compiled), run(&reference), "{extent} channels");
        assert_eq!(compiled.variants().len() == 1, main, "{extent} channels: {:?}", compiled.variants());
        let explained = compiled.explain().unwrap();
        let needed = (extent + 15) / 16 * 16 - 1;
        let why = format!(
            "made when a call needed it: the variant before it reads 0 to {needed} of `input` in dimension 0, which has \
             0 to {}",
            extent - 1
        );
        assert_eq!(explained.contains(&why), !main, "{explained}");
    }
}

/// `--explain` says how many iterations of a short loop run at a time, unless its schedule says that it stays rolled.
/// Machines without vectors of 256 bits have no such loops.
#[test]
fn loops_that_are_unrolled_are_explained() {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", I32, 2);
    let mut output = Func::new("output");
    output[(x, y)] = input[(x, y)] + 1;
    let pipeline = Pipeline::new([&output]).unwrap();
    let explained = |text: &str| {
        let schedule: Schedule = text.parse().unwrap();
        pipeline.compile(&schedule, &Target::host()).unwrap().explain().unwrap()
    };
    let title = "unrolled by the code generator";
    let short = explained("output: vectorize(x, 8)");
    assert_eq!(short.contains(title), Target::host().vector_bits >= 256, "{short}");
    assert_eq!(
        short.contains("iterations at a time, since its instructions limit it"),
        short.contains(title),
        "{short}"
    );
    let rolled = explained("output: vectorize(x, 8) never_unroll()");
    assert!(!rolled.contains(title), "{rolled}");
}
