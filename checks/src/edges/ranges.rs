//! Coordinates at the ends of `i32`, and products that leave 64 bits.

use super::edge::{Edge, Expected};
use crate::funcs::{func, var};
use halide::buffer::Span;
use halide::prelude::*;
use halide_testing::pipelines::Random;

/// A region of one dimension at the upper end of `i32`, or at the lower one.
fn at_an_end(random: &mut Random) -> Region {
    let extent = random.between(1, 9);
    let gap = random.between(0, 8);
    let min = match random.one_in(2) {
        true => i64::from(i32::MAX) - extent + 1 - gap,
        false => i64::from(i32::MIN) + gap,
    };
    Region::new(vec![Span { min, extent }])
}

fn offset(random: &mut Random) -> i32 {
    random.between(-6, 6) as i32
}

/// An input that is read within its first elements only.
fn limited(x: Expr) -> Expr {
    ImageParam::new("in", I32, 1).read([clamp(x, 0, 7)])
}

/// `f(x) = g(x + a) + g(x + b)`, with `g` computed before.
pub(super) fn neighbours(random: &mut Random) -> Edge {
    let x = var("x");
    let g = func("g", &[x], limited(x) + 1);
    let f = func("f", &[x], g.read([x + offset(random)]) - g.read([x + offset(random)]));
    let place =
        random.pick(&["compute_root()", "compute_at(f, x)", "store_root() compute_at(f, x)", "compute_inline()"]);
    Edge::new(&f, &format!("g: {place}"), at_an_end(random), random.bits(), Expected::AsInterpreted)
}

/// Calls of what is inlined, in chains.
pub(super) fn inlined(random: &mut Random) -> Edge {
    let x = var("x");
    let h = func("h", &[x], limited(x) * 3);
    let g = func("g", &[x], h.read([x + offset(random)]) + h.read([x]));
    let f = func("f", &[x], g.read([x + offset(random)]) + g.read([x + offset(random)]));
    let places = ["", "h: compute_root()", "g: compute_root()"];
    Edge::new(&f, random.pick(&places), at_an_end(random), random.bits(), Expected::AsInterpreted)
}

/// Sums over domains that begin at a parameter.
pub(super) fn domains(random: &mut Random) -> Edge {
    let x = var("x");
    let first = Param::<i32>::new(random.pick(&["p", "q", "first", "start"])).expr();
    let r = RDom::named("r", [(first, random.between(1, 3) as i32)]);
    let mut f = func("f", &[x], x);
    let c = if random.one_in(2) { 0 } else { offset(random) };
    let g = func("g", &[x], limited(x));
    let old = f.read([x]);
    // Where the points of a domain are no coordinates, they must be in range all the same.
    let read = !random.one_in(3);
    f[[x]] = if read { old + g.read([r.x + c]) } else { old + r.x };
    if read && random.one_in(2) {
        let s = RDom::named("s", [(first + 1, 2)]);
        let old = f.read([x]);
        f[[x]] = old * 3 + g.read([s.x.expr()]);
    }
    let region = Region::new(vec![Span { min: 0, extent: 3 }]);
    let place = if read { random.pick(&["", "", "g: compute_root()"]) } else { "" };
    // The regions of both domains are computed as one.
    let expected = if place.is_empty() { Expected::AsInterpreted } else { Expected::AtLeastAsInterpreted };
    Edge::new(&f, place, region, random.bits(), expected)
}

/// The product of three coordinates or parameters, less another one.
fn product(random: &mut Random, params: [Expr; 3]) -> Expr {
    let x = var("x");
    let [p, q, s] = params;
    match random.below(6) {
        0 => x * p * q,
        1 => x * p * q - x * s,
        2 => (x - p) * (q + x) * s,
        3 => p * q * s + x,
        4 => (x + p) * q - (x - q) * p * s,
        _ => (x * p - q) * (p - x) * 2,
    }
}

fn at_a_product(random: &mut Random, params: [Expr; 3], expected: Expected) -> Edge {
    let x = var("x");
    let coordinate = product(random, params);
    let in_table = random.one_in(3);
    let f = match in_table {
        true => func("f", &[x], func("g", &[x], limited(x) + x).read([coordinate])),
        false => func("f", &[x], limited(coordinate)),
    };
    let region = match random.one_in(2) {
        true => Region::new(vec![Span { min: random.between(-9, 9), extent: random.between(1, 5) }]),
        false => at_an_end(random),
    };
    Edge::new(&f, "", region, random.bits(), expected)
}

/// Products that may leave 64 bits, in a coordinate that is then limited.
pub(super) fn products(random: &mut Random) -> Edge {
    let params = ["p", "q", "s"].map(|name| Param::<i32>::new(name).expr());
    at_a_product(random, params, Expected::AtLeastAsInterpreted)
}

/// Products of numbers that are far from the ends, which are served.
pub(super) fn small_products(random: &mut Random) -> Edge {
    let (x, y) = (var("x"), var("y"));
    let params = ["p", "q", "s"].map(|name| Param::<i32>::new(name).expr());
    // A thousand at most, which bounds inference is not told.
    let params = params.map(|p| p % random.pick(&[3, 50, 1000]));
    let coordinate = product(random, params);
    let f = func("f", &[x, y], limited(coordinate + y));
    let spans = [Span { min: random.between(-9, 9), extent: random.between(1, 5) }, Span { min: 0, extent: 2 }];
    Edge::new(&f, "", Region::new(spans.to_vec()), random.bits(), Expected::AsInterpreted)
}
