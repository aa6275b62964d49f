//! Stages of which kernels use some elements and the host others, where schedules ask for copies.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A stage of two elements, computed on either side, each of which one or two consumers read.
pub(super) fn sides(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let x = var("x");
    let mut t = Func::new("t");
    t[[x]] = tuple([image.read([x]) * 3, x - image.read([x + 1])]);
    let mut own = |name: &str| {
        let (a, b) = (t.read([x]).at(0), t.read([x]).at(1));
        let value = [a, b, a + b][random.below(3)];
        func(name, &[x], value * 2 + x)
    };
    let (g, h) = (own("g"), own("h"));
    let f = func("f", &[x], g.read([x]) - h.read([x]));
    let kernel = "compute_root() split(x, xo, xi, 4) gpu_blocks(xo) gpu_threads(xi)";
    let mut place = |name: &str| {
        let loops = if random.one_in(2) { kernel } else { "compute_root()" };
        format!("{name}: {loops}")
    };
    let mut lines = vec![place("t"), place("g"), place("h")];
    for name in ["t", "g", "h"] {
        if random.one_in(2) {
            lines.push(format!("{name}: {}", random.pick(&["copy_to_device()", "copy_to_host()"])));
        }
    }
    lines.push("t: copy_to_device()".to_string());
    Drawn::new(f, lines)
}
