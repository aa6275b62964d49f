//! A pipeline as long as one likes: what compile times are measured on.

use halide::prelude::*;

/// A chain of `n` three-point stencils (at least 1), from `s0`, which reads the image `input` of f32.
pub fn stencils(n: usize) -> Result<Pipeline, AlgorithmErrors> {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut last = Func::new("s0");
    last[(x, y)] = input[(x, y)] * 0.5;
    for i in 1..n {
        let mut next = Func::new(format!("s{i}"));
        next[(x, y)] = last[(x - 1, y)] + last[(x, y + 1)] + last[(x + 1, y)];
        last = next;
    }
    Pipeline::new([&last])
}

/// Says `directives` of every stage but the last, whose name stands for `LAST`.
pub fn schedule(n: usize, directives: &str) -> Result<Schedule, halide::schedule::ParseErrors> {
    let directives = directives.replace("LAST", &format!("s{}", n - 1));
    let lines: Vec<String> = (0..n - 1).map(|i| format!("s{i}: {directives}")).collect();
    lines.join("\n").parse()
}
