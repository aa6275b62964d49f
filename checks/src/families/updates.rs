//! Updates whose laws schedules rest on, and some that only look as if they had them; and updates with conditions on
//! what they change, as masked vectors.

use super::drawn::Drawn;
use crate::funcs::{func, var};
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// An update over one to three variables, under directives that change its order.
pub(super) fn monoids(random: &mut Random) -> Drawn {
    let dims = random.pick(&[1, 2, 3, 3]);
    let ty = random.pick(&[I32, U8, U32, I16, U64, U64, I64]);
    let a = ImageParam::new("a", ty, 1);
    let x = var("x");
    let ranges: Vec<(i32, i32)> =
        (0..dims).map(|_| (random.between(-2, 2) as i32, random.between(1, 5) as i32)).collect();
    let r = RDom::named("r", ranges);
    let names: Vec<String> = (0..dims).map(|d| r.dim(d).name()).collect();
    let at = (1..dims).fold(r.dim(0).expr(), |sum, d| sum * 3 + r.dim(d).expr());
    let e = a.read([at + random.pick(&[x, x, 0.expr()])]);
    let f = match random.below(8) {
        0 | 1 => extremes(random, x, ty, e, at),
        2 | 3 => scatter(random, x, ty, a.read([at]), &r),
        _ => single(random, x, ty, e),
    };
    let mut lines = vec!["f: compute_root()".to_string()];
    for number in 0..2 + random.below(4) {
        lines.push(changed_order(random, number, &names));
    }
    let g = func("g", &[x], f.read([x]).at(0));
    Drawn::new(g, lines)
}

/// A directive by which the update runs in another order.
fn changed_order(random: &mut Random, number: usize, names: &[String]) -> String {
    let name = names[random.below(names.len())].clone();
    let other = names[random.below(names.len())].clone();
    let (o, i) = (format!("o{number}"), format!("i{number}"));
    let verbs = match random.below(9) {
        0 => format!("rfactor({name}, u{number})"),
        1 => format!("split({name}, {o}, {i}, {}) rfactor({o}, u{number})", random.between(2, 3)),
        2 => format!("split({name}, {o}, {i}, {}) rfactor({i}, u{number})", random.between(2, 3)),
        3 if name != other => format!("rfactor([{name}, {other}], [u{number}, v{number}])"),
        4 => format!("atomic() parallel({name})"),
        5 => format!("atomic() vectorize({name}, 4)"),
        6 => format!("parallel({name})"),
        7 if name != other => format!("reorder({other}, {name})"),
        8 => format!("fuse({name}, {other}, {o}) parallel({o})"),
        _ => format!("vectorize({name}, 2)"),
    };
    format!("f.update(0): {verbs}")
}

/// One element: with the old value on the left, on the right, twice, or behind something.
fn single(random: &mut Random, x: Expr, ty: ScalarType, e: Expr) -> Func {
    let mut f = func("f", &[x], cast_to(ty, x));
    let old = f.read([x]);
    let operator = random.below(8);
    let of = |a: Expr, b: Expr| match operator {
        0 | 1 => a + b,
        2 => a - b,
        3 => a * b,
        4 => min(a, b),
        5 => max(a, b),
        6 => a ^ b,
        _ => a & b,
    };
    let one = cast_to(ty, 1);
    f[[x]] = match random.below(11) {
        0 => of(old, e),
        1..=3 => of(e, old),
        4 => of(of(old, e), e + one),
        5 => of(e, of(e + one, old)),
        6 if ty.is_unsigned_int() => saturating_add(old, e),
        7 if ty.is_unsigned_int() => saturating_add(e, old),
        6 => select(e.gt(old), e, old),
        7 => select(old.lt(e), old, e),
        8 if ty.is_unsigned_int() => {
            let sum = old + e;
            select(sum.lt(old), cast_to(ty, -1), sum)
        }
        8 => select(e.ge(old), old, e),
        9 => e - old,
        _ => {
            let difference = old - e;
            select(difference.lt(old), cast_to(ty, -1), difference)
        }
    };
    f
}

/// Two or three elements of which the first decides: the largest with its place, or what is nearly that.
fn extremes(random: &mut Random, x: Expr, ty: ScalarType, e: Expr, at: Expr) -> Func {
    let mut f = func("f", &[x], tuple([cast_to(ty, 0), cast::<i32>(-1)]));
    let old = f.read([x]);
    let (value, place) = (old.at(0), old.at(1));
    let better = match random.below(4) {
        0 => e.gt(value),
        1 => e.ge(value),
        2 => value.lt(e),
        _ => e.lt(value),
    };
    let second = match random.below(4) {
        0 | 1 => select(better, at, place),
        2 => place + at,
        _ => select(e.ge(value), place, at),
    };
    let first = if random.one_in(4) { value + e } else { select(better, e, value) };
    f[[x]] = tuple([first, second]);
    f
}

/// Elements at the variables of the domain, moved: which iterations meet depends on the distance.
fn scatter(random: &mut Random, x: Expr, ty: ScalarType, e: Expr, r: &RDom) -> Func {
    let mut f = func("f", &[x], cast_to(ty, x));
    let u = r.dim(0).expr();
    let v = r.dim(r.dims() - 1).expr();
    let to = [u, u + 3 * v, 2 * u, 4 - u, u + v][random.below(5)];
    let c = random.between(-4, 4) as i32;
    let from = [u + c, 2 * u + c, 2 * u + 1, c.expr(), u + 3 * v + c, v, u - v][random.below(7)];
    let value = if random.one_in(3) { e } else { f.read([from]) + e };
    f[[to]] = value;
    f
}

/// Tuples of which an update changes what its condition asks, and more after that.
pub(super) fn masks(random: &mut Random) -> Drawn {
    let ty = random.pick(&[I32, U8, I16, F32]);
    let (a, b) = (ImageParam::new("a", ty, 1), ImageParam::new("b", I32, 1));
    let (x, y) = (var("x"), var("y"));
    let vars: Vec<Expr> = if random.one_in(2) { vec![x] } else { vec![x, y] };
    let mut f = func("f", &vars, tuple([a.read([x]), cast_to(ty, b.read([x]))]));
    let r = RDom::named("r", [(random.between(-1, 1) as i32, random.between(1, 4) as i32)]);
    let u = r.x.expr();
    let old = f.read(&vars);
    let c = |v: i64| cast_to(ty, v);
    let condition = match random.below(4) {
        0 => old.at(0).gt(c(3)),
        1 => old.at(0).le(old.at(1)),
        2 => old.at(1).ne(c(2)).and(x.gt(1)),
        _ => old.at(1).lt(c(9)).or(old.at(0).gt(c(1))),
    };
    let other = a.read([x + u]);
    let (first, second) = (old.at(0) - other, old.at(1) + other);
    if random.one_in(2) {
        r.where_(condition);
        f[&vars] = if random.one_in(2) { tuple([first, second]) } else { tuple([second, old.at(0) + other]) };
    } else {
        let kept = select(condition, second, old.at(1) + cast_to(ty, u));
        f[&vars] = tuple([select(condition, first, old.at(0)), kept]);
    }
    let g = func("g", &vars, f.read(&vars).at(0) + f.read(&vars).at(1));
    let lanes = random.pick(&[4, 8]);
    let tail = random.pick(&["", ", GuardWithIf", ", Predicate"]);
    let lines = vec![
        "f: compute_root()".into(),
        format!("f.update(0): vectorize(x, {lanes}{tail})"),
        format!("g: vectorize(x, {lanes}{tail})"),
    ];
    Drawn::new(g, lines)
}
