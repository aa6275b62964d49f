//! Stores at coordinates that are data, of inputs with and without equal elements.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// An update at elements of an input, moved, cut to size, or read at coordinates of several variables, by loops that
/// run at once where that is legal.
pub(super) fn scatters(random: &mut Random) -> Drawn {
    let dims = random.pick(&[1, 1, 2]);
    let (ty, most) = if dims == 1 { (random.pick(&[I32, I16, U8, U32]), 50) } else { (random.pick(&[I32, I16]), 1600) };
    let order = ImageParam::new("order", ty, dims);
    order.promise_values(0, most + 3);
    if !random.one_in(4) {
        order.promise_distinct();
    }
    let (x, y) = (var("x"), var("y"));
    let mut f = func("f", &[x, y], x * 3 - y);
    let ranges: Vec<(i32, i32)> = (0..2).map(|_| (random.between(0, 2) as i32, random.between(1, 9) as i32)).collect();
    let r = RDom::named("r", ranges);
    let (a, b) = (r.dim(0).expr(), r.dim(1).expr());
    let own = |first: Expr| if dims == 1 { order.read([first]) } else { order.read([first, b]) };
    let first = random.pick(&[a, a, a + 1, a / 2, a * 2]);
    let at = cast::<i32>(own(first)) + random.pick(&[0, 0, 3]);
    let at = if random.one_in(6) { clamp(at, 2, 90) } else { at };
    let line = random.pick(&[b, b, y, 0.expr()]);
    let old = match random.below(5) {
        0 => 7.expr(),
        1 => f.read([cast::<i32>(own(a)), line]),
        2 => f.read([at + 1, line]),
        _ => f.read([at, line]),
    };
    f[[at, line]] = old * 2 + a - b;
    let mut lines = vec!["f: compute_root()".to_string()];
    for n in 0..3 {
        let (one, other) = (random.pick(&["r.x", "r.y", "i0", "o0"]), random.pick(&["r.x", "r.y", "y"]));
        let verb = match random.below(6) {
            0 => format!("parallel({one})"),
            1 => format!("vectorize({one}, {})", random.pick(&[2, 4])),
            2 => format!("split({one}, o{n}, i{n}, {})", random.between(2, 4)),
            3 => format!("reorder({other}, {one})"),
            4 => format!("fuse({one}, {other}, o{n})"),
            _ => format!("atomic() parallel({one})"),
        };
        lines.push(format!("f.update(0): {verb}"));
    }
    let g = func("g", &[x, y], f.read([x, y]));
    Drawn::new(g, lines)
}
