//! Loops that are cut where conditions on several loops begin to hold, coordinates that are halved in vectors, and
//! storage of constant size.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::boundary;
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Windows of any direction over an input with a border, whose loops are inside of those that are cut.
pub(super) fn borders(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let border = match random.below(4) {
        0 | 1 => boundary::repeat_edge(&image),
        2 => boundary::constant_exterior(&image, 7),
        _ => boundary::mirror_image(&image),
    };
    let r = RDom::named("r", [(random.between(-3, 1) as i32, random.between(2, 5) as i32), (-1, 3)]);
    let (u, v) = (r.dim(0).expr(), r.dim(1).expr());
    let mut at = |main: Expr, window: Expr| {
        let (a, b) = (random.pick(&[1, 1, 1, -1, 2]), random.pick(&[1, -1, -1, 2, -2, 0]));
        main * a + window * b + random.between(-2, 2) as i32
    };
    let read = [at(x, u), at(y, v)];
    let mut g = func("g", &[x, y], 0.expr());
    let old = g.read([x, y]);
    let conditioned = random.one_in(4);
    g[[x, y]] = match conditioned {
        true => old + select((u * random.pick(&[2, -1, -2])).le(x), border.read(read), y),
        false => old * 3 + border.read(read),
    };
    let f = func("f", &[x, y], g.read([x, y]) + border.read([x + random.between(-2, 2) as i32, y]));
    let loops = random.pick(&[
        "",
        " reorder(r.x, x)",
        " reorder(r.x, r.y, x, y)",
        " reorder(x, r.x, y)",
        " reorder(r.x, r.y, x) vectorize(x, 4)",
        " reorder(y, x)",
    ]);
    let cut = random.pick(&["x", "y", "x", "r.x"]);
    let lines = vec![
        random.pick(&["g: compute_root()", "g: compute_at(f, y)", "g: compute_root()"]).to_string(),
        format!("g.update(0):{loops}"),
        format!("g.update(0): {}_partition({cut})", random.pick(&["always", "auto"])),
        random
            .pick(&["f: vectorize(x, 4)", "f: always_partition(y)", "f: split(x, xo, xi, 3, GuardWithIf)"])
            .to_string(),
    ];
    Drawn::new(f, lines.into_iter().filter(|line| !line.ends_with(':')).collect())
}

/// Coordinates that are multiples of lanes, halved: inside of vectorized loops, and of stages computed there.
pub(super) fn halves(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let (x, y) = (var("x"), var("y"));
    let n = random.pick(&[2, 3, 4]);
    let m = n * random.between(1, 3) as i32;
    let param = Param::<i32>::new("offset").with_range(-3, 4).expr();
    let c = random.between(-3, 3) as i32;
    let halved = |random: &mut Random, e: Expr| match random.below(4) {
        0 => (e + c) / n,
        1 => (e + param) / n,
        2 => e % n + e / n,
        _ => (e + y) / n,
    };
    let at = halved(random, x);
    let h = func("h", &[x], image.read([x]) * 2 + x);
    let source = if random.one_in(2) { h.read([at]) } else { image.read([at]) };
    let g = func("g", &[x, y], source - y);
    let at = [x * m, x * m + 1, x, x * n][random.below(4)];
    let f = func("f", &[x, y], g.read([at, y]) + g.read([at + random.between(0, 2) as i32, y]));
    let lanes = random.pick(&[4, 8]);
    let lines = vec![
        format!("f: split(x, xo, xi, {lanes}) vectorize(xi)"),
        format!("h: {}", random.pick(&["compute_root()", "compute_at(f, xi)", "compute_at(f, xo)"])),
        format!(
            "g: {}",
            random.pick(&["compute_at(f, xi)", "compute_at(f, xi)", "compute_at(f, xo)", "compute_root()"])
        ),
        random.pick(&["g: vectorize(x, 4)", "g: unroll(x, 2)", "g: reorder(y, x)"]).to_string(),
    ];
    Drawn::new(f, lines)
}

/// Storage of two dimensions, of which one has a constant length and the other one is cut short in the last piece.
pub(super) fn boxes(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let x = var("x");
    let channels = random.pick(&[3, 40, 64, 64]);
    let c = var("c");
    let g = func("g", &[x, c], image.read([x, c]) * 3 - x);
    let r = RDom::named("r", [(0, channels)]);
    let mut f = func("f", &[x], 0.expr());
    let read = g.read([x + random.between(0, 1) as i32, r.x.expr()]);
    f[[x]] = f.read([x]) + read;
    let out = func("out", &[x], f.read([x]));
    let factor = random.pick(&[16, 32, 64, 100]);
    let tail = random.pick(&[", GuardWithIf", ", GuardWithIf", "", ", Predicate"]);
    let place = random.pick(&["out, xo", "f.update(0), xo", "out, xo"]);
    let lines = vec![
        format!("out: split(x, xo, xi, {factor}{tail})"),
        format!("f: {}", if place == "out, xo" { "compute_at(out, xo)" } else { "compute_root()" }),
        format!("f.update(0): split(x, xo, xi, {factor}{})", random.pick(&[", GuardWithIf", ""])),
        format!("g: compute_at({place})"),
        random.pick(&["g: store_in(Stack)", "g: reorder(c, x)", "g: reorder_storage(c, x)"]).to_string(),
    ];
    Drawn::new(out, lines)
}

/// Choices that are likely in the innermost loop only, of which other stages may take the place.
pub(super) fn marks(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 2);
    let (x, y) = (var("x"), var("y"));
    let g = func("g", &[x, y], image.read([x, y]) * 2 + y);
    let (a, b) = (random.between(-1, 3) as i32, random.between(0, 3) as i32);
    let (inner, outer) = (x.ge(a), y.gt(b));
    let condition = match random.below(3) {
        0 => likely_if_innermost(inner),
        1 => likely_if_innermost(outer),
        _ => likely_if_innermost(inner).and(likely_if_innermost(outer)),
    };
    let f = func("f", &[x, y], select(condition, g.read([x, y]), x - image.read([x + 1, y])));
    let at = random.pick(&["x", "y", "xi"]);
    let lines = vec![
        random.pick(&["f: reorder(y, x)", "f: split(x, x, xi, 3, GuardWithIf)", "f: vectorize(y, 4)"]).to_string(),
        format!("g: {}", if random.one_in(3) { "compute_root()".to_string() } else { format!("compute_at(f, {at})") }),
    ];
    Drawn::new(f, lines)
}

/// Products of three coordinates and parameters, each of which is small.
pub(super) fn triples(random: &mut Random) -> Drawn {
    let image = ImageParam::new("in", I32, 1);
    let (x, y) = (var("x"), var("y"));
    let p = Param::<i32>::new("p").expr();
    let q = Param::<i32>::new("q").expr();
    let mut small = |e: Expr| {
        let n = random.pick(&[3, 50, 900]);
        match random.below(5) {
            0 => e % n,
            1 => min(max(e, -n), n),
            2 => e / 70_000,
            3 => select(e.gt(n), n, clamp(e, 0, n)),
            _ => (e % n) - 5,
        }
    };
    let product = small(p) * small(x + y) * small(q) - small(p + q) * y;
    let f = func("f", &[x, y], image.read([clamp(product, 0, 7)]));
    Drawn { far: true, ..Drawn::new(f, vec![random.pick(&["f: vectorize(x, 4)", "f: reorder(y, x)"]).to_string()]) }
}
