//! Loops that end by what they store, with producers inside of them: computed anew in each iteration, in memory further
//! out, in copies that iterations take in turn, in windows that slide, or ahead.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A sum for each element until it is large enough, of what one or two stages give for each step.
pub(super) fn settled(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let (x, y) = (var("x"), var("y"));
    let p = func("p", &[x, y], image.read([x]) % 5 + y % 3 + 1);
    let ahead = random.below(3) as i32;
    let q = func("q", &[x, y], p.read([x, y]) * 2 + p.read([x, y + ahead]));
    let step = if random.one_in(2) { &q } else { &p };
    let mut f = func("f", &[x], image.read([x]) % 7);
    let r = RDom::named("r", [(0, random.pick(&[1, 3, 40, 40, 5000]))]);
    let old = f.read([x]);
    let is_open = old.lt(random.between(2, 60) as i32);
    r.where_(match random.below(3) {
        0 => is_open.and(old.gt(-1)),
        1 => is_open.and(r.x.le(random.between(0, 50) as i32)),
        _ => is_open,
    });
    f[[x]] = old + step.read([x, r.x.expr()]);
    let g = func("g", &[x], f.read([x]) * 3 - image.read([x]));
    let places = ["f.update(0), r.x", "f.update(0), x", "f.update(0), ri", "f.update(0), ro", "q, y", "q, x"];
    let mut lines: Vec<String> = [
        "f: compute_root()",
        "f: compute_at(g, x)",
        "f.update(0): split(r.x, ro, ri, 3)",
        "f.update(0): reorder(x, r.x)",
        "f.update(0): reorder(r.x, x)",
        "f.update(0): parallel(x)",
        "f.update(0): vectorize(x, 4)",
        "g: vectorize(x, 4)",
    ]
    .into_iter()
    .filter(|_| random.one_in(3))
    .map(String::from)
    .collect();
    for name in ["q", "p"] {
        lines.push(format!("{name}: compute_at({})", random.pick(&places)));
        let more = [
            format!("store_at({})", random.pick(&places)),
            format!("hoist_storage({})", random.pick(&places)),
            "hoist_storage_root()".to_string(),
            "store_root()".to_string(),
            "ring_buffer(2)".to_string(),
            "async()".to_string(),
            "vectorize(x, 4)".to_string(),
        ];
        let drawn = more.into_iter().filter(|_| random.one_in(3));
        lines.extend(drawn.map(|word| format!("{name}: {word}")));
    }
    Drawn::new(g, lines)
}
