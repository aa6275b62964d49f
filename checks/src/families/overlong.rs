//! Sliding windows around stages whose pieces are longer than what is asked of them: such a piece ends where it begins
//! suits, so it ends elsewhere in the first iteration, in which what reads it computes a whole window, than behind it.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A chain of three to five producers, each of which slides, or is computed in long pieces or as it comes, in the same
/// loop of the output; sometimes the output reads a second one of them.
pub(super) fn overlong(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let names = &["p", "q", "r", "s", "t"][..random.between(3, 5) as usize];
    let mut stages = vec![func(names[0], &[x, y], image.read([x, y]) * 3 + y)];
    for name in &names[1..] {
        let value = rows(random, stages.last().expect("there is a first one"), x, y);
        stages.push(func(name, &[x, y], value));
    }
    let mut value = rows(random, stages.last().expect("there is a first one"), x, y);
    if random.one_in(3) {
        value += stages[random.below(stages.len() - 1)].read([x, y + random.between(-2, 4) as i32]);
    }
    let f = func("f", &[x, y], value);
    let tail = random.pick(&["", ", GuardWithIf"]);
    let factor = random.between(3, 12);
    let (loops, store, at) = match random.below(4) {
        0 | 1 => (String::new(), "store_root()", "y"),
        2 => (format!("f: split(y, yo, yi, {factor}{tail})"), "store_at(f, yo)", "yi"),
        _ => (format!("f: split(y, yo, yi, {}{tail})", random.between(2, 4)), "store_root()", "yo"),
    };
    let mut lines = if loops.is_empty() { Vec::new() } else { vec![loops] };
    for name in names.iter().rev() {
        let place = format!("{name}: compute_at(f, {at})");
        match random.below(8) {
            0 => lines.push(format!("{name}: compute_root()")),
            1..4 => lines.push(format!("{place} {store}")),
            4 => lines.extend([place, format!("{name}: {}", random.pick(&["reorder(y, x)", "vectorize(x, 4)"]))]),
            5 => lines.extend([format!("{place} {store}"), pieces(random, name)]),
            _ => lines.extend([place, pieces(random, name)]),
        }
    }
    Drawn::new(f, lines)
}

/// Pieces along the dimension in which windows move, up to many times as long as what is new.
fn pieces(random: &mut Random, name: &str) -> String {
    let factor = random.pick(&[2, 4, 8, 12, 16, 24]);
    let tail = random.pick(&["", "", ", ShiftInwards", ", RoundUp", ", GuardWithIf"]);
    match random.below(4) {
        0 => format!("{name}: unroll(y, {factor}{tail})"),
        _ => format!("{name}: split(y, y, t, {factor}{tail})"),
    }
}

/// Reads two rows near a point, sometimes of twice as many rows or of mirrored ones.
fn rows(random: &mut Random, of: &Func, x: Expr, y: Expr) -> Expr {
    let by = random.pick(&[1, 1, 1, 1, 1, 1, 2, -1]);
    let mut near = |least: i64| of.read([x, y * by + random.between(least, 4) as i32]);
    near(-3) * 2 - near(0)
}
