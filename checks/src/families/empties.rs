//! Stages that run in loops of others, of which perhaps nothing is needed: domains of their readers have few points or
//! none.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Two or three stages that share loops, each with a source of its own that is computed there. Some are read in domains
/// of no, one or two points a dimension.
pub(super) fn empties(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let has_updates = random.one_in(2);
    let stage = if has_updates { ".update(0)" } else { "" };
    let (mut sum, mut lines, mut placed): (Expr, _, Vec<String>) = (0.expr(), Vec::new(), Vec::new());
    let names = &["a", "b", "c"][..2 + random.below(2)];
    for (n, name) in names.iter().enumerate() {
        let source = func(&format!("q{name}"), &[x, y], image.read([x, y]) * 3 - y);
        let near = source.read([x + random.between(-1, 1) as i32, y]) + source.read([x, y]);
        let mut part = func(name, &[x, y], if has_updates { x + y } else { near });
        if has_updates {
            part[[x, y]] = part.read([x, y]) * 2 + near;
        }
        lines.push(format!("{name}: compute_root()"));
        if random.one_in(3) {
            sum += part.read([x, y]);
        } else {
            // Where the run tells that there are none, their code is there.
            let mut span = |dim, most: i64| {
                let count: Expr = match random.one_in(3) {
                    true => (random.between(0, most) as i32).expr(),
                    false => Param::<i32>::new(&format!("n{name}{dim}")).with_range(0, most as i32).expr(),
                };
                ((random.between(-3, 3) as i32).expr(), count)
            };
            let r = RDom::named(&format!("r{name}"), [span("x", 2), span("y", 1)]);
            let mut total = func(&format!("t{name}"), &[], 7.expr());
            total[[0; 0]] = total.read([0; 0]) + part.read([r.x, r.y]);
            lines.push(format!("t{name}: compute_root()"));
            sum += total.read([0; 0]);
        }
        let at = random.pick(&["x", "y"]);
        if n > 0 {
            let host = names[random.below(n)];
            let align = random.pick(&["", ", AlignStart", ", AlignEnd", ", NoAlign"]);
            lines.push(format!("{name}{stage}: compute_with({host}{stage}, {at}{align})"));
        }
        let host = random.pick(names);
        let store = random.pick(&[" store_root()", " store_root()", ""]);
        placed.push(format!("q{name}: compute_at({host}{stage}, {}){store}", random.pick(&["x", "y"])));
    }
    lines.append(&mut placed);
    if random.one_in(3) {
        lines.push(format!("q{}: {}(x, 4)", random.pick(names), random.pick(&["vectorize", "unroll"])));
    }
    Drawn::new(func("f", &[x, y], sum), lines)
}
