//! Costs of loop nests at given sizes, against what is known of the classic schedules of a filter of two stages.

use halide::nest::{Item, Operation};
use halide::prelude::*;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Pipeline::new([&blur_y]).unwrap()
}

/// Points of `blur_x`, and the elements that an allocation of it has.
fn counts(schedule: &str) -> (f64, f64) {
    let compiled = blur().compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
    let nest = compiled.inputs().nest(&[Region::of_extents([3072, 2046])]).unwrap();
    assert_eq!(nest.guesses, Vec::<String>::new());
    let (allocations, elements) = nest.stored("blur_x");
    (nest.points("blur_x"), elements / allocations)
}

/// The five strategies give what runs of them count (`classic_counts.rs`), without a run.
#[test]
fn classic_strategies_cost_what_runs_count() {
    assert_eq!(counts("blur_x: compute_root()"), (6_291_456.0, 2048.0 * 3072.0));
    assert_eq!(counts("blur_x: store_root() compute_at(blur_y, y)"), (6_291_456.0, 3.0 * 3072.0));
    assert_eq!(counts("blur_x: compute_at(blur_y, x)"), (18_855_936.0, 3.0));
    let tiles = "blur_y: tile(x, y, xo, yo, xi, yi, 32, 32)\n blur_x: compute_at(blur_y, xo)";
    assert_eq!(counts(tiles), (6_684_672.0, 34.0 * 32.0));
    let strips = "blur_y: split(y, yo, yi, 8)\n blur_x: store_at(blur_y, yo) compute_at(blur_y, yi)";
    assert_eq!(counts(strips), (7_864_320.0, 3.0 * 3072.0));
}

#[test]
fn costs_are_explained() {
    let schedule = "blur_y: split(y, yo, yi, 8) parallel(yo) vectorize(x, 16)\n blur_x: compute_at(blur_y, yo)";
    let compiled = blur().compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
    let text = compiled.inputs().explain_nest(&[Region::of_extents([64, 80])]).unwrap();
    expect_test::expect![[r#"
        parallel blur_y.yo: 10 iterations, each touches 3.54 KiB
          store blur_x: 64 x 10, 1.25 KiB, 10 times
            for blur_x.y: 10 x 10 iterations, each touches 260 B
              for blur_x.x: 100 x 64 iterations, each touches 8 B
                blur_x: 6400 points of 3 operations and 3 reads
            for blur_y.yi: 10 x 8 iterations, each touches 512 B
              for blur_y.x: 80 x 4 iterations, each touches 128 B
                vectorized blur_y.x$v: 320 x 16 iterations, each touches 8 B
                  blur_y: 5120 points of 3 operations and 3 reads
        work: 34.6 k operations, of which 17.1 can run at once
        memory: 1.25 KiB allocated at once by a thread, 20.6 KiB of inputs and outputs
        recompute: blur_x 1.22 times
        work in comparison with all of them at the root: 1.11
    "#]]
    .assert_eq(&text);
    let error = compiled.inputs().nest(&[]).unwrap_err().to_string();
    assert_eq!(error, "the pipeline has 1 outputs, but 0 regions were given; give one per output Func");
}

/// The bytes between neighbouring iterations where `blur_x` is stored in blocks: within a block they are neighbours,
/// and a row away is a block of the next row.
#[test]
fn steps_in_blocks() {
    let steps = |storage: &str| {
        let schedule = format!("blur_x: compute_root() {storage}");
        let compiled = blur().compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
        let nest = compiled.inputs().nest(&[Region::of_extents([64, 80])]).unwrap();
        let mut found = Vec::new();
        nest.for_each(&mut |item| {
            let Item::Points(points) = item else { return };
            let stores = points.accesses.iter().filter(|a| a.is_store && a.name == "blur_x");
            found.extend(stores.flat_map(|a| a.steps.iter().map(|(_, step)| *step)));
        });
        found
    };
    // Along y, then along x; elements have two bytes.
    assert_eq!(steps(""), [Some(64 * 2), Some(2)]);
    assert_eq!(steps("split_storage(x, xo, xi, 16) reorder_storage(xi, y, xo)"), [Some(16 * 2), Some(2)]);
    assert_eq!(steps("split_storage(y, yo, yi, 8) reorder_storage(yi, x, yo)"), [Some(2), Some(8 * 2)]);
}

/// Reductions over data of unknown size are counted by a guess, which is said.
#[test]
fn what_depends_on_data_is_guessed() {
    let (lengths, values) = (ImageParam::new("lengths", I32, 1), ImageParam::new("values", I32, 2));
    let x = vars!(x);
    let mut sums = Func::new("sums");
    let r = RDom::named("r", [(0, 100)]);
    r.where_(r.x.lt(lengths[x]));
    sums[x] = 0.expr();
    sums[x] += values[(r.x, x)];
    let compiled = Pipeline::new([&sums]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let nest = compiled.inputs().nest(&[Region::of_extents([10])]).unwrap();
    assert!(!nest.guesses.is_empty(), "{nest}");
    assert!(nest.points("sums") >= 10.0, "{nest}");
}

/// A product of a matrix and the lower triangle of another one: work in a triangle, of reads that lie next to each
/// other, apart, or in one place.
#[test]
fn work_of_a_triangle() {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let r = RDom::new([(0, 100)]);
    r.where_(r.x.le(y));
    let mut f = Func::new("f");
    f[(x, y)] = a[(x, y)] * 0.5f32;
    f[(x, y)] += a[(r.x, y)] * b[(x, r.x)] / 3.0f32;
    let schedule = "f.update(0): split(y, yo, yi, 8) reorder(yi, r.x, x, yo)".parse().unwrap();
    let compiled = Pipeline::new([&f]).unwrap().compile(&schedule, &Target::host()).unwrap();
    let work = compiled.inputs().work(&[Region::of_extents([30, 100])]).unwrap();
    expect_test::expect![[r#"
        f: 154 k points
          add f32: 152 k
          multiply f32: 154 k
          divide f32: 152 k
          reads a, dense: 11.7 KiB
          reads a, strided: 592 KiB
          reads b, broadcast: 592 KiB
          reads f, strided: 592 KiB
          stores f, dense: 11.7 KiB
          stores f, strided: 592 KiB
    "#]]
    .assert_eq(&work.to_string());
    assert_eq!(work.operations(Operation::Divide, F32), 30 * 5050);
    assert_eq!(work.bytes_read("b"), 30 * 5050 * 4);
    assert_eq!(work.bytes_stored("f"), 30 * (5050 + 100) * 4);
}

/// Work of what data decide is not counted, and listed.
#[test]
fn work_that_depends_on_data() {
    let (lengths, x) = (ImageParam::new("lengths", I32, 1), Var::new("x"));
    let r = RDom::new([(0, 10)]);
    r.where_(r.x.lt(lengths[x]));
    let mut f = Func::new("f");
    f[x] = Expr::from(0i32);
    f[x] += r.x;
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let work = compiled.inputs().work(&[Region::of_extents([30])]).unwrap();
    assert_eq!((work.bytes_stored("f"), work.operations(Operation::Add, I32)), (30 * 4, 0));
    expect_test::expect!["a condition depends on data"].assert_eq(&work.unknown.join("; "));
}

/// Iterations that all differ are counted up to a number of steps; what is beyond is told.
#[test]
fn counts_of_work_end() {
    let (mut f, r) = (Func::new("f"), RDom::named("r", [(0, 1_000_000), (0, 1_000_000)]));
    r.where_(((r.x * 7 + r.y) % 3).eq(1));
    f[()] += r.x;
    let compiled = Pipeline::new([&f]).unwrap().compile(&Schedule::new(), &Target::host()).unwrap();
    let work = compiled.inputs().work(&[Region::of_extents([0i32; 0])]).unwrap();
    assert!(work.unknown.iter().any(|what| what.contains("differ in more than 1000000 ways")), "{work}");
}
