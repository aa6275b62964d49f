//! The memory that machine code holds at a time.

use halide::prelude::*;

/// Bytes of intermediate values held at most by a chain of `n` stages of f32 on 512x200.
fn peak_of_chain(n: usize, stage: &str) -> u64 {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let mut last = Func::new("s0");
    last[(x, y)] = input[(x, y)] * 0.5;
    let mut schedule = String::new();
    for i in 1..n {
        schedule += &format!("s{}: {stage}\n", i - 1);
        let mut next = Func::new(format!("s{i}"));
        next[(x, y)] = last[(x, y)] + 1.0;
        last = next;
    }
    let pipeline = Pipeline::new([&last]).unwrap();
    let compiled = Compiler::new(&pipeline).engine(crate::CPU).schedule(&schedule.parse().unwrap()).compile().unwrap();
    let image = AnyBuffer::new(F32, [512, 200]).unwrap();
    let mut out = AnyBuffer::new(F32, [512, 200]).unwrap();
    let stats = compiled.inputs().image(&input, image).realize_all_into(&mut [out.view_mut().unwrap()]).unwrap();
    stats.peak_bytes
}

#[test]
fn a_chain_of_stages_holds_two_at_a_time() {
    let stage = 512 * 200 * 4;
    let stages = |bytes: u64| bytes as f64 / stage as f64;
    for schedule in ["compute_root()", "compute_root() vectorize(x, natural) parallel(y)"] {
        let peaks: Vec<f64> = [2, 3, 9].iter().map(|n| stages(peak_of_chain(*n, schedule))).collect();
        // Rows are padded to cache lines, and allocations have slack.
        let close = |peak: f64, want: f64| (want..want * 1.05).contains(&peak);
        assert!(close(peaks[0], 1.0) && close(peaks[1], 2.0) && close(peaks[2], 2.0), "{schedule}: {peaks:?}");
    }
}
