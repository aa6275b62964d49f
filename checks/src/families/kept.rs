//! Stages that are computed with stages whose values they need.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A chain of stages, each of which reads the one before it, or two, at elements that are stored before, at the same
/// time or later; directly or by way of a Func that is inlined. Their loops are split and marked alike, and each is
/// computed with an earlier one.
pub(super) fn kept(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let mut stages = vec![func("a", &[x, y], image.read([x, y]) * 2 + x)];
    for name in ["b", "c", "d"].into_iter().take(1 + random.below(3)) {
        let mut value = y.expr();
        for n in 0..1 + random.below(2) {
            let of = &stages[random.below(stages.len())];
            value += read(random, of, &format!("{name}{n}"), [x, y]);
        }
        let mut stage = func(name, &[x, y], value);
        if random.one_in(3) {
            let r = RDom::named("r", [(random.between(-2, 1) as i32, random.between(1, 4) as i32)]);
            let of = &stages[random.below(stages.len())];
            let more = of.read([x + r.x, y]) + if random.one_in(2) { r.x.expr() } else { 0.expr() };
            stage[[x, y]] = stage.read([x, y]) + more;
        }
        stages.push(stage);
    }
    let sum = stages.iter().fold(x.expr(), |sum, stage| match random.below(3) {
        0 => sum,
        1 => sum + stage.read([x, y]),
        _ => sum - stage.read([x + random.between(-1, 1) as i32, y + random.between(-1, 1) as i32]),
    });
    let f = func("f", &[x, y], sum);
    let lines = lines(random, &stages);
    let mut drawn = Drawn::new(f, lines);
    if random.one_in(4) {
        drawn.outputs.push(stages.swap_remove(stages.len() - 1));
    }
    drawn
}

/// A read of `of`, seldom ahead of where the stage that reads stands.
fn read(random: &mut Random, of: &Func, reader: &str, [x, y]: [Expr; 2]) -> Expr {
    let dx = random.pick(&[0, 0, 0, -1, 1, -2]);
    let dy = random.pick(&[0, 0, 0, -1, -1, -2, 1]);
    if random.one_in(4) {
        let by_way = func(&format!("{}_of_{reader}", of.name()), &[x, y], of.read([x, y + dy]) * 3);
        return by_way.read([x + dx, y]);
    }
    of.read([x + dx, y + dy])
}

/// Equal loops for all stages, but for their tails, and who is computed with whom.
fn lines(random: &mut Random, stages: &[Func]) -> Vec<String> {
    let (factor, form) = (random.between(2, 4), random.below(8));
    let tail = |random: &mut Random| random.pick(&["", ", GuardWithIf", ", GuardWithIf", ", RoundUp", ", Predicate"]);
    let loops = |random: &mut Random| match form {
        0 => format!("split(y, yo, yi, {factor}{})", tail(random)),
        1 => format!("split(y, yo, yi, {factor}{}) parallel(yo)", tail(random)),
        2 => format!("vectorize(x, {factor}{})", tail(random)),
        3 => format!("split(x, xo, xi, {factor}{}) reorder(xi, y, xo)", tail(random)),
        4 => "reorder(y, x)".to_string(),
        5 => format!("tile(x, y, xo, yo, xi, yi, {factor}, 2{}) fuse(xo, yo, t) parallel(t)", tail(random)),
        6 => format!("unroll(y, {factor}{})", tail(random)),
        _ => "parallel(y)".to_string(),
    };
    let shared = match form {
        0 | 1 => ["yo", "yo", "yi", "x"],
        2 => ["y", "y", "x", "x$v"],
        3 => ["xo", "xo", "y", "xi"],
        5 => ["t", "t", "yi", "xi"],
        _ => ["y", "y", "y", "x"],
    };
    let place = random.pick(&["compute_root()", "compute_root()", "compute_at(f, y)", "store_root() compute_at(f, y)"]);
    let mut lines = Vec::new();
    for stage in stages {
        lines.push(format!("{}: {place}", stage.name()));
        lines.push(format!("{}: {}", stage.name(), loops(random)));
    }
    for (n, stage) in stages.iter().enumerate().skip(1) {
        let any = random.below(n);
        let host = random.pick(&[n - 1, n - 1, any]);
        let (host, at) = (stages[host].name(), random.pick(&shared));
        lines.push(format!("{}: compute_with({host}, {at})", stage.name()));
        if random.one_in(2) {
            lines.push(format!("{}.update(0): {}", stage.name(), loops(random)));
            let of = random.pick(&[host, &format!("{host}.update(0)")]).to_string();
            lines.push(format!("{}.update(0): compute_with({of}, {at})", stage.name()));
        }
    }
    lines
}
