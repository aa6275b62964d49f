//! Ladders of numbers: a change of a number is a step on one.

use crate::tune::random::Random;
use halide_sched::schedule::Amount;

/// Factors of splits, and chunks of parallel loops.
pub(crate) const FACTORS: [i64; 22] =
    [2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512, 1024];

/// Factors of unrolled loops: beyond, code grows and gains nothing.
pub(crate) const UNROLLED: [i64; 9] = [2, 3, 4, 5, 6, 8, 10, 12, 16];

/// Coordinates in a circle of storage: powers of two, so that coordinates are masked.
pub(crate) const FOLDS: [i64; 7] = [2, 4, 8, 16, 32, 64, 128];

/// Iterations that values are asked for ahead of their use.
pub(crate) const OFFSETS: [i64; 5] = [1, 2, 4, 8, 16];

/// Another number of the ladder: one or two steps from `value`, which need not be on it.
pub(crate) fn step(value: i64, ladder: &[i64], random: &mut Random) -> Option<i64> {
    let up = ladder.iter().filter(|v| **v > value).take(2);
    let down = ladder.iter().rev().filter(|v| **v < value).take(2);
    // A step is twice as likely as two.
    let steps: Vec<(i64, f64)> = up.zip([2.0, 1.0]).chain(down.zip([2.0, 1.0])).map(|(v, w)| (*v, w)).collect();
    let weights: Vec<f64> = steps.iter().map(|(_, weight)| *weight).collect();
    random.weighted(&weights).map(|i| steps[i].0)
}

/// Another number of lanes: as many as a register holds, half of it or twice that.
pub(crate) fn lanes(value: &Amount, natural: i64, random: &mut Random) -> Option<Amount> {
    let all = [Amount::Natural, Amount::Const(natural / 2), Amount::Const(natural * 2), Amount::Const(natural * 4)];
    let is_other = |lanes: &&Amount| match (lanes, value) {
        (Amount::Const(lanes), _) if *lanes < 2 => false,
        (Amount::Natural, Amount::Const(given)) => *given != natural,
        (lanes, value) => *lanes != value,
    };
    let others: Vec<&Amount> = all.iter().filter(is_other).collect();
    random.pick(&others).map(|lanes| (*lanes).clone())
}
