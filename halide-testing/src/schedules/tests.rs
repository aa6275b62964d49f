//! Tests that every schedule that is drawn is legal, and that every directive is drawn.

use super::aim::Aim;
use super::random::{RandomOptions, random_gpu_schedule, random_schedule};
use halide_core::expr::{ExprMethods, tuple};
use halide_core::pipeline::Pipeline;
use halide_core::types::{F32, U16};
use halide_core::{Func, ImageParam, Param, RDom, vars};
use halide_ir::target::{Arch, Budget, Target};
use halide_sched::plan::resolve;
use halide_sched::schedule::{Schedule, Verb, rows};
use std::collections::BTreeSet;

const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 128,
    features: None,
    threads: 4,
    cache_bytes: 1 << 20,
    gpu: None,
    budget: Budget::DEFAULT,
};

fn pipeline() -> Pipeline {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U16, 2);
    let p = Param::<i32>::new("p");
    let fast = Param::<bool>::new("fast");
    let r = RDom::named("r", [(0, 3), (0, 5)]);
    let (mut a, mut b, mut c, mut d) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"));
    a[(x, y)] = input[(x, y)] + input[(x + 1, y)];
    b[(x, y)] = a[(x, y)] / 2;
    b[(x, y)] += a[(x + r.x, y + r.y)];
    d[(x, y)] = tuple([input[(x, y)], input[(x, y)] * 2]);
    c[(x, y)] =
        b[(x, y)] + d[(x, y)].at(0) + d[(x, y)].at(1) + a[(x, y + 1)] + halide_core::expr::select(fast, p, 1).cast(U16);
    let (left, right, mut product) =
        (ImageParam::new("left", F32, 2), ImageParam::new("right", F32, 2), Func::new("product"));
    product[(x, y)] += left[(r.x, y)] * right[(x, r.x)];
    Pipeline::new([&c, &product]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn schedules_are_legal_and_belong_to_their_seed() {
    let p = pipeline();
    for seed in 0..200 {
        for any_shape in [false, true] {
            let options =
                RandomOptions { any_shape, long: seed % 2 == 0, floats: seed % 3 == 0, ..RandomOptions::default() };
            let schedule = random_schedule(&p, &TARGET, seed, options);
            assert!(resolve(&p, &schedule, &TARGET).is_ok(), "seed {seed}: {schedule}");
            assert_eq!(random_schedule(&p, &TARGET, seed, options), schedule);
            assert_eq!(schedule.to_string().parse().as_ref(), Ok(&schedule), "seed {seed}: {schedule}");
        }
    }
}

/// The words of the directives that 400 seeds give.
fn words_drawn(draw: impl Fn(u64) -> Schedule) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for seed in 0..400 {
        for d in draw(seed).directives() {
            let text = d.verb.to_string();
            words.insert(text.split('(').next().unwrap_or_default().to_string());
            if let Verb::StoreIn(memory) = &d.verb {
                words.insert(format!("{memory:?}"));
            }
        }
    }
    words
}

#[test]
fn every_word_is_drawn() {
    let p = pipeline();
    let options = RandomOptions { any_shape: true, long: true, floats: true, ..RandomOptions::default() };
    let target =
        Target { gpu: Some(halide_ir::target::Gpu { subgroup: Some(8), ..halide_ir::target::Gpu::LEAST }), ..TARGET };
    let host = words_drawn(|seed| random_schedule(&p, &TARGET, seed, options));
    let gpu = words_drawn(|seed| random_gpu_schedule(&p, &target, seed, RandomOptions::default()));
    // What a schedule prints as other words.
    let short = ["tile", "gpu_tile", "partition", "eager_inline"];
    for word in rows().map(|row| row.word).filter(|word| !short.contains(word)) {
        let on_device = word.starts_with("gpu_") || word.starts_with("copy_");
        assert!((if on_device { &gpu } else { &host }).contains(word), "{word} is not among {host:?} and {gpu:?}");
    }
    for memory in ["Auto", "Heap", "Stack", "Register"] {
        assert!(host.contains(memory), "{memory}");
    }
    assert!(gpu.contains("Shared") && gpu.contains("Global"));
}

/// Arguments that are drawn for rows fit often enough that most words come to stand in a legal schedule.
#[test]
fn rows_are_drawn_with_arguments_that_fit() {
    let p = pipeline();
    let options = RandomOptions { aim: Aim::Rows, ..RandomOptions::default() };
    let words = words_drawn(|seed| {
        let schedule = random_schedule(&p, &TARGET, seed, options);
        assert!(resolve(&p, &schedule, &TARGET).is_ok(), "seed {seed}: {schedule}");
        schedule
    });
    let known = rows().filter(|row| words.contains(row.word)).count();
    assert!(known >= 35, "{known}: {words:?}");
}

#[test]
fn kernels_are_legal() {
    let target =
        Target { gpu: Some(halide_ir::target::Gpu { subgroup: Some(8), ..halide_ir::target::Gpu::LEAST }), ..TARGET };
    let p = pipeline();
    for seed in 0..200 {
        let schedule = random_gpu_schedule(&p, &target, seed, RandomOptions::default());
        assert!(resolve(&p, &schedule, &target).is_ok(), "seed {seed}: {schedule}");
        assert_eq!(schedule.to_string().parse().as_ref(), Ok(&schedule), "seed {seed}: {schedule}");
    }
}

#[test]
fn empty_and_large_pipelines_are_fine() {
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = x + 1;
    let p = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    for seed in 0..50 {
        random_schedule(&p, &TARGET, seed, RandomOptions::default());
    }
}
