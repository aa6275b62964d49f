//! Wide and tangled pipelines, as large as one likes: what compile times are measured on beside chains.

use halide::prelude::*;

/// One stage that `n` others read, and one that reads all of these.
pub fn fan(n: usize) -> Result<Pipeline, AlgorithmErrors> {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut source = Func::new("source");
    source[(x, y)] = input[(x, y)] * 0.5;
    let mut sum = 0f32.expr();
    for i in 0..n as i32 {
        let mut ray = Func::new(format!("ray{i}"));
        ray[(x, y)] = source[(x - i % 7, y)] * source[(x, y + i % 5)];
        sum += ray[(x, y)];
    }
    let mut last = Func::new("last");
    last[(x, y)] = sum;
    Pipeline::new([&last])
}

/// `n` stages (at least 1), each of which reads up to three of the 20 before it, chosen by a generator that always
/// gives the same; what nothing reads is summed at the end.
pub fn tangle(n: usize) -> Result<Pipeline, AlgorithmErrors> {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut state = 1u64;
    let mut below = move |n: usize| {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 33) as usize % n
    };
    let mut stages: Vec<Func> = Vec::new();
    let mut read = vec![false; n];
    for i in 0..n {
        let mut next = Func::new(format!("s{i}"));
        let mut value = input[(x, y)] * (i as f32);
        for _ in 0..3.min(i) {
            let from = i - 1 - below(i.min(20));
            read[from] = true;
            let (dx, dy) = (below(3) as i32 - 1, below(3) as i32 - 1);
            value += stages[from][(x + dx, y + dy)];
        }
        next[(x, y)] = value;
        stages.push(next);
    }
    let ends = stages.iter().zip(&read).filter(|(_, read)| !**read).map(|(s, _)| s[(x, y)]);
    let sum = ends.reduce(|a, b| a + b).unwrap_or_else(|| 0f32.expr());
    let mut last = Func::new("last");
    last[(x, y)] = sum;
    Pipeline::new([&last])
}

/// Says `directives` of every stage but the last.
pub fn schedule(pipeline: &Pipeline, directives: &str) -> Result<Schedule, halide::schedule::ParseErrors> {
    let all = pipeline.funcs.iter().filter(|f| f.name != "last");
    let lines: Vec<String> = all.map(|f| format!("{}: {directives}", f.name)).collect();
    lines.join("\n").parse()
}
