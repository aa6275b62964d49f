//! Expressions of many nodes: limits of searches are powers of two, so sizes lie at and beside these.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Exponents of sizes: many are large, where most limits are.
const EXPONENTS: [usize; 6] = [2, 3, 4, 5, 5, 5];

/// A power of two, or one more or less.
fn size(random: &mut Random) -> usize {
    (1 << random.pick(&EXPONENTS)) + random.below(3) - 1
}

/// Conditions and limits of many nodes: of parameters, which decide arms; of coordinates, which bound what is read; and
/// of lanes.
pub(super) fn deep(random: &mut Random) -> Drawn {
    match random.below(5) {
        0 | 1 => arms(random),
        2 => limits(random),
        3 => guards(random),
        _ => masks(random),
    }
}

/// So many small parameters.
fn params(count: usize) -> Vec<Expr> {
    (0..count).map(|i| Param::<i32>::new(&format!("p{i}")).with_range(-2, 3).expr()).collect()
}

/// Sums, or minima and maxima, of `n` of the leaves.
fn chain(random: &mut Random, n: usize, leaves: &[Expr]) -> Expr {
    let sums = random.one_in(2);
    let mut e = leaves[0];
    for i in 1..n {
        let next = leaves[i % leaves.len()];
        e = match (sums, random.below(2)) {
            (true, 0) => e + next,
            (true, _) => next - e,
            (false, 0) => min(e, next + i as i32 % 3),
            (false, _) => max(next, e),
        };
    }
    e
}

/// A condition of all of which a run decides, before any stage: one arm has a stage that the other one does without.
fn arms(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    let n = size(random);
    // As many parameters as leaves, so that nothing cancels.
    let leaves = params(n);
    let e = leaves[1..].iter().fold(leaves[0], |e, next| if random.one_in(2) { e + *next } else { *next - e });
    let limit = random.between(1, 3) as i32;
    let condition = if random.one_in(2) { abs(e).gt(limit) } else { e.gt(limit) };
    let g = func("g", &[x], image.read([x]) * 3 - x);
    let other = if random.one_in(2) { x } else { image.read([x + 1]) };
    let f = func("f", &[x], select(condition, g.read([x]) + g.read([x + 1]), other));
    let lines = vec![
        format!("g: {}", random.pick(&["compute_root()", "compute_root()", "compute_at(f, x)"])),
        random.pick(&["f: vectorize(x, 4)", "f: unroll(x, 2)", "f: parallel(x)"]).to_string(),
    ];
    Drawn::new(f, lines)
}

/// Coordinates that are values of a stage between limits of many nodes.
fn limits(random: &mut Random) -> Drawn {
    let (image, a, x) = (ImageParam::new("in", I32, 1), ImageParam::new("a", I32, 1), var("x"));
    let (n, all) = (size(random), params(5));
    let low = chain(random, n, &all);
    let value = if random.one_in(2) { a.read([x]) } else { x * 5 - 3 };
    let g = func("g", &[x], clamp(value, low, low + random.between(0, 4) as i32));
    let f = func("f", &[x], image.read([clamp(g.read([x]), -9, 9)]) + x);
    Drawn::new(f, vec!["g: compute_root()".to_string(), "f: vectorize(x, 4)".to_string()])
}

/// A read that a comparison of sums of data and coordinates guards.
fn guards(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    let n = size(random);
    let mut all = params(random.pick(&[4, n]));
    all.insert(random.below(2), x);
    let e = chain(random, n, &all);
    let condition = if random.one_in(2) { e.le(random.between(-3, 9) as i32) } else { x.gt(e) };
    let g = func("g", &[x], image.read([x]) + x);
    let guarded = g.read([select(condition, x, random.between(0, 3) as i32)]);
    let f = func("f", &[x], guarded - x);
    let place = random.pick(&["compute_root()", "compute_at(f, xo)", "compute_at(f, xi)"]);
    Drawn::new(f, vec!["f: split(x, xo, xi, 4)".to_string(), format!("g: {place}"), "f: vectorize(xi)".to_string()])
}

/// Lanes that a condition of many comparisons masks, around a loop or a store.
fn masks(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    let r = RDom::named("r", [(0, random.between(2, 4) as i32)]);
    let u = r.x.expr();
    let n = size(random);
    let mut condition = (x % 3).ne(1);
    for i in 1..n as i32 {
        let next = [(x * (i % 4)).lt(u + 7 - i % 5), (x % (2 + i % 5)).le(i % 3), (x - u).ne(i)][random.below(3)];
        condition = if i % 2 == 0 { condition.and(next) } else { condition.or(next) };
    }
    r.where_(condition);
    let mut f = func("f", &[x], 0.expr());
    // What all lanes read is read if any of them runs.
    let read = if random.one_in(2) { image.read([u]) } else { image.read([x + u]) };
    f[[x]] = f.read([x]) * 2 + read;
    let loops = random.pick(&["vectorize(x, 4)", "reorder(x, r.x) vectorize(x, 4)", "reorder(r.x, x) vectorize(x, 8)"]);
    Drawn::new(f, vec![format!("f.update(0): {loops}")])
}
