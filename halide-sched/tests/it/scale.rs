//! Lowering stays near-linear in the number of stages. No test asserts a time: work is counted in visits of expressions
//! by the simplifier and by proofs of accesses, and in looks of bound queries, and its growth is asserted.

use crate::matrix::{TARGET, check, random_image};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::interp::{self, Inputs};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_sched::lower::{Accesses, LowerOptions, lower};

/// A chain of `n` three-point stencils.
fn chain(n: usize) -> Pipeline {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut last = Func::new("s0");
    last[(x, y)] = input[(x, y)] * 0.5;
    for i in 1..n {
        let mut next = Func::new(format!("s{i}"));
        next[(x, y)] = last[(x - 1, y)] + last[(x, y + 1)] + last[(x + 1, y)];
        last = next;
    }
    Pipeline::new([&last]).unwrap()
}

/// Lowers a chain of stencils, each under the directives of its number, and returns how much work that was.
fn lower_chain(n: usize, directives: impl Fn(usize) -> String) -> u64 {
    let pipeline = chain(n);
    let text: Vec<String> = (0..n - 1).map(|i| format!("s{i}: {}", directives(i))).collect();
    let schedule = text.join("\n").parse().unwrap();
    let plan = halide_sched::plan::resolve(&pipeline, &schedule, &TARGET).unwrap();
    let options = LowerOptions { accesses: Accesses::BeforeLoops, ..LowerOptions::default() };
    lower(&plan, &options).unwrap().trace.visits
}

/// Asserts that the work for a chain of `n` stages is at most this power of the work for half of them.
fn assert_growth(n: usize, most: f64, directives: impl Fn(usize, usize) -> String) {
    let [half, whole] = [n / 2, n].map(|n| lower_chain(n, |i| directives(n, i)));
    let exponent = (whole as f64 / half as f64).log2();
    println!("{n} stages: {whole} visits, {exponent:.3}");
    assert!(half > n as u64, "work is counted: {half} visits");
    assert!(exponent <= most, "from {} to {n} stages, work grows from {half} to {whole} visits: {exponent:.3}", n / 2);
}

/// Half a thousand stages, on the stack of a test's thread: statements nest as deep as the chain is long.
#[test]
fn chains_of_stencils() {
    assert_growth(500, 1.1, |_, _| "compute_root() vectorize(x, 4)".into());
    assert_growth(500, 1.1, |n, _| format!("store_root() compute_at(s{}, y)", n - 1));
    assert_growth(500, 1.1, |n, _| format!("store_root() compute_at(s{}, y) vectorize(x, 4)", n - 1));
    assert_growth(500, 1.1, |n, _| format!("compute_at(s{}, y)", n - 1));
}

/// An inlined call at one point is translated once, over however many paths it is reached.
#[test]
fn inlined_chains() {
    assert_growth(30, 2.5, |_, _| "compute_inline()".into());
    assert_growth(120, 1.3, |_, i| if i % 4 == 0 { "compute_root()".into() } else { "compute_inline()".into() });
}

/// Long enough to be cut into several functions, with names, vectors and storage used across the cuts.
#[test]
fn long_programs_are_cut_into_functions() {
    let n = 330;
    let input = ImageParam::new("input", I32, 1);
    let x = vars!(x);
    let mut stages = vec![Func::new("s0")];
    stages[0][x] = input[x] * 3;
    for i in 1..n {
        let mut next = Func::new(format!("s{i}"));
        let last = &stages[i - 1];
        next[x] = last[x] - last[x + 1] * 5 + stages[i.saturating_sub(7)][x + 2];
        stages.push(next);
    }
    let pipeline = Pipeline::new([&stages[n - 1]]).unwrap();
    let image = random_image(I32, &Region::of_spans([(-1, 3 * n as i32)]), 7);
    let each = |text: &dyn Fn(usize) -> String| {
        (0..n - 1).map(|i| format!("s{i}: {}", text(i))).collect::<Vec<_>>().join("\n")
    };
    let schedules = [
        each(&|_| "compute_root() vectorize(x, 4)".into()),
        each(&|i| format!("compute_root() {}", if i % 3 == 0 { "split(x, xo, xi, 8) parallel(xo)" } else { "" })),
        each(&|_| format!("store_root() compute_at(s{}, x)", n - 1)),
    ];
    for schedule in &schedules {
        check(&pipeline, schedule, &[("input", image.clone())], &Region::of_spans([(-1, 9)]));
        let plan = halide_sched::plan::resolve(&pipeline, &schedule.parse().unwrap(), &TARGET).unwrap();
        let lowered = lower(&plan, &LowerOptions::default()).unwrap();
        let cut = lowered.trace.passes.iter().find(|p| p.name == "split_functions").unwrap();
        assert_eq!(cut.decisions.len(), 1, "{schedule}");
    }
}

/// Stages that many read, and stages that read many.
#[test]
fn fans() {
    let n = 64;
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut source, mut last) = (Func::new("source"), Func::new("last"));
    source[(x, y)] = input[(x, y)] * 0.5;
    let mut sum = 0f32.expr();
    for i in 0..n {
        let mut ray = Func::new(format!("ray{i}"));
        ray[(x, y)] = source[(x - i % 7, y)] * source[(x, y + i % 5)];
        sum += ray[(x, y)];
    }
    last[(x, y)] = sum;
    lower_graph(&Pipeline::new([&last]).unwrap());
}

/// Stages each of which reads three of the twenty before it.
#[test]
fn tangles() {
    let n = 200;
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut random = crate::matrix::Random(3);
    let mut below = |n: usize| (random.next() % n as u64) as usize;
    let mut stages: Vec<Func> = Vec::new();
    for i in 0..n {
        let name = if i + 1 == n { "last".to_string() } else { format!("s{i}") };
        let mut next = Func::new(name);
        let mut value = input[(x, y)] * (i as f32);
        for _ in 0..3.min(i) {
            let from = i - 1 - below(i.min(20));
            value += stages[from][(x + below(3) as i32 - 1, y + below(3) as i32 - 1)];
        }
        next[(x, y)] = value;
        stages.push(next);
    }
    lower_graph(&Pipeline::new([&stages[n - 1]]).unwrap());
}

/// Lowers under schedules that keep every stage.
fn lower_graph(pipeline: &Pipeline) {
    for directives in ["compute_root() vectorize(x, 4)", "compute_at(last, y)", "store_root() compute_at(last, y)"] {
        let others = pipeline.funcs.iter().filter(|f| f.name != "last");
        let text: Vec<String> = others.map(|f| format!("{}: {directives}", f.name)).collect();
        let plan = halide_sched::plan::resolve(pipeline, &text.join("\n").parse().unwrap(), &TARGET).unwrap();
        lower(&plan, &LowerOptions::default()).unwrap();
    }
}

/// A definition that a loop of the user made is deeper than any stack.
#[test]
fn definitions_of_many_terms() {
    let x = vars!(x);
    let mut sum = cast::<f32>(x);
    for _ in 0..30_000 {
        sum = sum * 0.5 + x;
    }
    let mut f = Func::new("f");
    f[x] = sum;
    let pipeline = Pipeline::new([&f]).unwrap();
    let one = interp::run(&pipeline, &Inputs::new(), &[Region::of_spans(vec![(4, 1)])]).unwrap();
    assert_eq!(one[0].get([4]).unwrap().as_f64(), 8.0);
    let plan = halide_sched::plan::resolve(&pipeline, &"f: vectorize(x, 4)".parse().unwrap(), &TARGET).unwrap();
    assert!(lower(&plan, &LowerOptions::default()).is_ok());
}
