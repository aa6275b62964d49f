//! Chains far longer than a stack would hold if anything walked them by plain recursion: on a test's thread, whose
//! stack has 2 MiB.

use halide::prelude::*;

/// `n` stages, each of which reads the one before it.
fn chain(n: u32) -> Pipeline {
    let (x, input) = (vars!(x), ImageParam::new("input", U32, 1));
    let mut last = Func::new("s0");
    last[x] = input[x] * 3;
    for i in 1..n {
        let mut next = Func::new(format!("s{i}"));
        next[x] = last[x] * 3 + i;
        last = next;
    }
    Pipeline::new([&last]).unwrap()
}

fn check(engine: Engine, n: u32, stage: impl Fn(u32) -> String) {
    let text: Vec<String> = (0..n - 1).map(|i| format!("s{i}: {}", stage(i))).collect();
    let schedule: Schedule = text.join("\n").parse().unwrap();
    let compiled = Compiler::new(&chain(n))
        .engine(engine)
        .schedule(&schedule)
        .compile()
        .unwrap_or_else(|e| panic!("{engine:?}: {e}"));
    let image = Buffer::from_fn(&Region::of_extents([5]), |at| 7 * at[0] as u32 + 1).unwrap();
    let out: Buffer<u32> = compiled.inputs().image_named("input", image.clone()).realize([5]).unwrap();
    let expected = |x: u32| (1..n).fold(3 * (7 * x + 1), |value, i| value.wrapping_mul(3).wrapping_add(i));
    assert_eq!(out.to_vec(), (0..5).map(expected).collect::<Vec<_>>(), "{engine:?}");
}

#[test]
fn chains_of_thousands_of_stages() {
    check(Engine::Interp, 5000, |_| "compute_root()".into());
    check(Engine::Eval, 2000, |_| "compute_root()".into());
    check(crate::CPU, 2000, |_| "compute_root()".into());
    check(crate::CPU, 1000, |_| "compute_at(s999, x)".into());
}
