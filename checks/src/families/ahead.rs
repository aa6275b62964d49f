//! Producers that run ahead: computed for the next iteration of a loop while this one runs, in copies of their storage
//! or in windows that slide, and beside each other at the root.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Two or three stages before the last one, each of which reads some of those before it.
pub(super) fn ahead(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let names = if random.one_in(2) { &["p", "q", "r"][..] } else { &["p", "q"] };
    let mut funcs: Vec<Func> = Vec::new();
    for name in names {
        let mut value = image.read([x, y]) * 2 + x;
        for earlier in &funcs {
            if random.one_in(2) {
                value -= near(random, earlier, x, y);
            }
        }
        let mut made = func(name, &[x, y], value);
        if random.one_in(5) {
            made[[x, y]] = made.read([x, y]) + image.read([x, y + 1]);
        }
        funcs.push(made);
    }
    let reads = funcs.iter().fold(x * 1, |sum, of| sum * 3 + near(random, of, x, y));
    let f = func("f", &[x, y], reads);

    let (text, levels) = random.pick(&[
        ("reorder(x, y)", &["x", "y"][..]),
        ("reorder(y, x)", &["y", "x"]),
        ("split(y, yo, yi, 3) reorder(x, yi, yo)", &["x", "yi", "yo"]),
        (
            "split(y, yo, yi, 2, GuardWithIf) split(x, xo, xi, 4, GuardWithIf) reorder(xi, yi, xo, yo)",
            &["xi", "yi", "xo", "yo"],
        ),
    ]);
    let mut lines = vec![format!("f: {text}")];
    lines.extend(random.one_in(4).then(|| format!("f: parallel({})", random.pick(levels))));
    lines.extend(random.one_in(4).then(|| format!("f: vectorize({}, 4)", levels[0])));
    for name in names {
        lines.extend(place(random, name, levels));
    }
    Drawn::new(f, lines)
}

fn near(random: &mut Random, of: &Func, x: Expr, y: Expr) -> Expr {
    let (dx, dy) = (random.between(-1, 1) as i32, random.between(-1, 2) as i32);
    of.read([x, y]) * 5 + of.read([x + dx, y + dy])
}

/// Lines that place a stage, and let it run ahead.
fn place(random: &mut Random, name: &str, levels: &[&str]) -> Vec<String> {
    let at = random.below(levels.len());
    let outer = levels.get(at + 1).map_or("hoist_storage_root()".to_string(), |l| match random.one_in(2) {
        true => format!("hoist_storage(f, {l})"),
        false => "hoist_storage_root()".to_string(),
    });
    let store = match levels.get(at + 1) {
        Some(l) if random.one_in(2) => format!("store_at(f, {l})"),
        _ => "store_root()".to_string(),
    };
    let mut lines = vec![format!("{name}: compute_root()")];
    if !random.one_in(4) {
        lines.push(format!("{name}: compute_at(f, {})", levels[at]));
    }
    lines.push(match random.below(5) {
        0 => format!("{name}: {store}"),
        1 => format!("{name}: {store} fold_storage(y, {})", random.between(2, 6)),
        _ => format!("{name}: {outer} ring_buffer({})", random.between(2, 3)),
    });
    lines.extend(random.one_in(3).then(|| format!("{name}: vectorize(x, {})", random.pick(&[2, 4, 8]))));
    lines.extend(random.one_in(5).then(|| format!("{name}: parallel(y)")));
    lines.extend(random.one_in(6).then(|| format!("{name}: split_storage(x, so, si, 4)")));
    lines.extend((!random.one_in(3)).then(|| format!("{name}: async()")));
    lines
}
