//! Several outputs of one pipeline: Funcs of different sizes and dimensions, tuples, outputs that others read, and
//! producers that they share.

use crate::engines_agree::noise;
use halide::prelude::*;

/// A picture, what it is made of, the sums of its rows, and one number: four outputs of 2, 2, 1 and 0 dimensions, of
/// which each reads the one before it. The third has two elements.
fn statistics() -> Pipeline {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let inside = repeat_edge(&input);
    let mut blur = Func::new("blur");
    blur[(x, y)] = cast::<u16>(inside[(x - 1, y)]) + cast::<u16>(inside[(x + 1, y)]);
    let mut edges = Func::new("edges");
    edges[(x, y)] = absd(blur[(x, y)], blur[(x, y + 2)]);
    let across = RDom::named("across", [(0, 13)]);
    let mut rows = Func::new("rows");
    rows[y] = (0u32.expr(), 0u16.expr()).into();
    let (sum, most) = (rows[y].at(0), rows[y].at(1));
    rows[y] = (sum + cast::<u32>(edges[(across.x, y)]), max(most, edges[(across.x, y)])).into();
    let down = RDom::named("down", [(0, 5)]);
    let mut total = Func::new("total");
    total[()] = 0u32.expr();
    total[()] += rows[down.x * 2].at(0);
    Pipeline::new([&blur, &edges, &rows, &total]).unwrap()
}

const SCHEDULES: [&str; 4] = [
    "",
    "blur: vectorize(x, 8) parallel(y)\n edges: vectorize(x, 8)\n rows.update(0): vectorize(y, 4)",
    "blur: split(y, yo, yi, 4) parallel(yo)\n edges: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)",
    "blur: reorder(y, x)\n edges: split(x, xo, xi, 5, GuardWithIf) unroll(xi)\n rows: vectorize(y, 8)",
];

/// Regions that overlap in what they ask of others, and that differ in all else.
fn regions() -> [[Region; 4]; 3] {
    let number = || Region::new([]);
    let of = |spans: &[(i64, i64)]| Region::of_spans(spans);
    [
        [of(&[(0, 13), (0, 11)]), of(&[(0, 13), (0, 9)]), of(&[(0, 9)]), number()],
        [of(&[(-3, 40), (-1, 30)]), of(&[(-2, 17), (0, 20)]), of(&[(0, 20)]), number()],
        [of(&[(0, 16), (0, 14)]), of(&[(-0, 16), (0, 12)]), of(&[(0, 10)]), number()],
    ]
}

fn run(compiled: &Compiled, image: &AnyBuffer, regions: &[Region]) -> Result<Vec<AnyBuffer>, Error> {
    compiled.inputs().image_named("input", image).threads(2).realize_all(regions)
}

#[test]
fn outputs_of_different_sizes_and_dimensions_on_every_engine() {
    let pipeline = statistics();
    let image = noise(U8, &Region::of_extents([15, 9]), 5);
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).compile().unwrap();
    for regions in regions() {
        let expected = run(&reference, &image, &regions).unwrap();
        assert_eq!(expected.len(), 5, "one per element");
        for text in SCHEDULES {
            for engine in [Engine::Eval, crate::CPU] {
                let compiled =
                    Compiler::new(&pipeline).engine(engine).schedule(&text.parse().unwrap()).compile().unwrap();
                let got = run(&compiled, &image, &regions).unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}"));
                assert_eq!(got, expected, "{text}\n{engine:?} {regions:?}");
            }
        }
    }
}

#[cfg(feature = "gpu")]
#[test]
fn outputs_of_different_sizes_and_dimensions_on_a_device() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let pipeline = statistics();
    let image = noise(U8, &Region::of_extents([15, 9]), 5);
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let reference = Compiler::new(&pipeline).engine(Engine::Interp).target(&target).compile().unwrap();
    let schedules = [
        "blur: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n edges: gpu_tile(x, y, xo, yo, xi, yi, 8, 2)",
        "edges: gpu_tile(x, y, xo, yo, xi, yi, 4, 4)\n rows: gpu_tile(y, yo, yi, 8)\n rows.update(0): gpu_tile(y, yo, yi, 4)",
    ];
    for text in schedules {
        let compiled =
            Compiler::new(&pipeline).gpu(gpu).schedule(&text.parse().unwrap()).target(&target).compile().unwrap();
        for regions in regions() {
            assert_eq!(run(&compiled, &image, &regions).unwrap(), run(&reference, &image, &regions).unwrap(), "{text}");
        }
    }
}

#[test]
fn an_output_that_is_too_small_for_another_says_so() {
    let pipeline = statistics();
    let image = noise(U8, &Region::of_extents([15, 9]), 5);
    let mut regions = regions()[0].clone();
    regions[0] = Region::of_spans([(0, 13), (0, 10)]);
    for engine in [Engine::Eval, crate::CPU] {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let error = run(&compiled, &image, &regions).unwrap_err();
        assert_eq!(
            error.to_string(),
            "output `blur` does not suit the schedule in dimension 1: 0 to 10 is needed, but it has 0 to 9, and the pipeline \
             itself reads or writes more of it; choose another output size or another schedule"
        );
    }
}

#[test]
fn every_output_needs_its_region_and_its_buffers() {
    let pipeline = statistics();
    let image = noise(U8, &Region::of_extents([15, 9]), 5);
    let compiled = pipeline.compile(&Schedule::new(), &Target::host()).unwrap();
    let all = &regions()[0];
    let error = |regions: &[Region]| run(&compiled, &image, regions).unwrap_err().to_string();
    assert_eq!(error(&all[..3]), "the pipeline has 4 outputs, but 3 regions were given; give one per output Func");
    let swapped = [all[0].clone(), all[2].clone(), all[1].clone(), all[3].clone()];
    assert_eq!(
        error(&swapped),
        "output `edges` has 2 dimensions, but the region given for it has 1; give one span per dimension"
    );
    let call = compiled.inputs().image_named("input", &image);
    let mut out = Buffer::<u16>::new([13, 11]).unwrap();
    let few = call.realize_into(out.view_mut().unwrap()).unwrap_err();
    let text = "the pipeline's outputs have 5 elements in all, but 1 buffers were given; give one per element";
    assert_eq!(few.to_string(), text);
    assert_eq!(call.realize::<u16>([13, 11]).unwrap_err().to_string(), text);
}
