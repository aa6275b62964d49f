//! Reads at elements that are promised to be coordinates of an input, of that input and of stages over it, moved and
//! cut by the value of an input without dimensions.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// Elements of a table, or of a stage computed from it, at promised coordinates: of one or two dimensions, by an index
/// of any integer type, in vectors and in rows whose ends are data.
pub(super) fn indices(random: &mut Random) -> Drawn {
    let dims = random.pick(&[1, 1, 2]);
    let table = ImageParam::new("table", random.pick(&[I32, U8, F32, I16]), dims);
    let index = ImageParam::new("index", random.pick(&[I32, I32, I32, U8, I16, U32, I64, U64]), random.pick(&[1, 2]));
    let dim = random.below(dims);
    index.promise_coordinates(&table, dim);
    if dims == 2 && random.one_in(3) {
        index.promise_coordinates(&table, 1 - dim);
    }
    if random.one_in(4) {
        index.promise_values(-3, random.between(2, 40));
    }
    let (x, y) = (var("x"), var("y"));
    let at = |random: &mut Random, x: Expr| {
        let x = x + random.between(-2, 2) as i32;
        cast::<i32>(if index.dims() == 1 { index.read([x]) } else { index.read([x, y / 2]) })
    };
    let place = |at: Expr, other: Expr| match (dims, dim) {
        (1, _) => vec![at],
        (_, 0) => vec![at, other],
        _ => vec![other, at],
    };
    let vars = &[x, y][..dims];
    let source = func("source", vars, table.read(vars) * cast_to(table.ty(), 3));
    let n = ImageParam::new("n", random.pick(&[I32, U8, I16, U32, I64]), 0);
    if random.one_in(2) {
        n.promise_values(if n.ty().is_signed_int() { -2 } else { 0 }, random.between(0, 9));
    }
    let n = cast::<i32>(n.read([] as [Expr; 0]));
    let moved = |random: &mut Random, at: Expr| match random.below(9) {
        3 => min(max(at, 0), n),
        4 => clamp(at, 0, max(n, 1)) - n % 4,
        5 => select(n.gt(3), at, x),
        0 => at + random.between(-2, 2) as i32,
        1 => max(at, 1) - min(at, y),
        2 => select(at.gt(x), x, at),
        _ => at,
    };
    let read = |random: &mut Random, x: Expr| {
        let (at, of_source) = (at(random, x), random.one_in(2));
        let site = place(moved(random, at), y);
        if of_source { source.read(site) } else { table.read(site) }
    };
    let first = read(random, x);
    let mut f = func("f", &[x, y], if random.one_in(2) { first + read(random, x) } else { first });
    let mut lines =
        vec![format!("source: {}", random.pick(&["compute_root()", "compute_inline()", "compute_at(g, y)"]))];
    if random.one_in(2) {
        let r = RDom::named("r", [(random.between(-1, 1) as i32, random.between(1, 9) as i32)]);
        let value = read(random, r.x.expr());
        let old = f.read([x, y]);
        f[[x, y]] = old + value;
        lines.push(
            random
                .pick(&[
                    "f.update(0): reorder(x, r.x) vectorize(x, 4)",
                    "f.update(0): vectorize(x, 8, GuardWithIf)",
                    "f.update(0): atomic() vectorize(r.x, 4)",
                    "f.update(0): parallel(y)",
                ])
                .to_string(),
        );
    }
    let g = func("g", &[x, y], f.read([x, y]) + f.read([x + 1, y]));
    lines.push(format!("f: {}", random.pick(&["compute_root()", "compute_at(g, y)", "compute_inline()"])));
    let tail = random.pick(&["", ", GuardWithIf", ", Predicate", ", RoundUp", ", ShiftInwards"]);
    lines.push(format!("f: vectorize(x, {}{tail})", random.pick(&[4, 8, 16])));
    lines.push(format!("g: vectorize(x, {}{tail}) parallel(y)", random.pick(&[4, 8, 16])));
    Drawn::new(g, lines)
}
