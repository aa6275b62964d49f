//! Restated cases of reduction domains and updates: ends that parameters and images say, empty domains, many updates,
//! tuples.

use crate::cases::{Case, planes, rows};
use crate::engines_agree::noise;
use halide::prelude::*;

/// Domains that parameters end, empty ones and the inner one of two empty among them; f is computed fused.
#[test]
fn domains_that_may_be_empty() {
    let (x, y) = vars!(x, y);
    let (inner, outer) = (Param::<i32>::new("inner"), Param::<i32>::new("outer"));
    let r = RDom::named("r", [(-2.expr(), inner.expr()), (1.expr(), outer.expr())]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x * 10 + y;
    g[(x, y)] = -7.expr();
    g[(r.x, r.y)] += f[(r.x + 1, r.y * 2)];
    let schedules = [
        "",
        "f: compute_root() fuse(x, y, t)",
        "f: compute_root() fuse(x, y, t) vectorize(t, 4)\n g.update(0): fuse(r.x, r.y, rt) unroll(rt, 2)",
        "f: compute_at(g.update(0), r.y) vectorize(x, 4)\n g.update(0): vectorize(r.x, 4)",
        "f: compute_root() parallel(y)\n g.update(0): reorder(r.y, r.x) parallel(r.x)",
    ];
    let region = [Region::of_spans([(-6, 17), (-3, 12)])];
    for (w, h) in [(0, 0), (0, 1), (1, 0), (1, 1), (3, 5), (9, 7), (-1, 2), (4, -5)] {
        let case = Case::new([&g]).param(inner, w).param(outer, h);
        let inside = |p: &[i64]| (-2..-2 + i64::from(w)).contains(&p[0]) && (1..1 + i64::from(h)).contains(&p[1]);
        let value = |p: &[i64]| if inside(p) { (p[0] + 1) * 10 + p[1] * 2 - 7 } else { -7 };
        case.holds(&schedules, &region, |p| [value(p)]);
    }
}

/// Sums whose ends are expressions of parameters and of the dimensions of images.
#[test]
fn ends_of_domains_are_expressions() {
    let (x, n, input) = (vars!(x), Param::<i32>::new("n"), ImageParam::new("input", U8, 1));
    let half = min(n / 2, input.dim(0).extent()) - 1;
    let r = RDom::named("r", [(input.dim(0).min(), half)]);
    let s = RDom::named("s", [(max(n - 3, 0), select(n.expr().gt(4), 2, n + 1))]);
    let mut f = Func::new("f");
    f[x] = tuple([sum_over(&r, cast::<i32>(input[r.x])), sum_over(&s, s.x * x)]);
    let image = noise(U8, &Region::of_spans([(-5, 20)]), 12).typed::<u8>().unwrap();
    let schedules = ["", "f: vectorize(x, 4)", "sum: compute_root()\n f: split(x, xo, xi, 3)"];
    for value in [0i32, 1, 4, 5, 22, 60] {
        let half = (value / 2).min(20) - 1;
        let total: i64 = (-5..-5 + i64::from(half)).map(|i| i64::from(image.get([i]).unwrap())).sum();
        let low = i64::from((value - 3).max(0));
        let extent = if value > 4 { 2 } else { i64::from(value) + 1 };
        let steps: i64 = (low..low + extent).sum();
        let case = Case::new([&f]).image(&input, image.clone()).param(n, value);
        case.holds(&schedules, &rows(), |p| [total, steps * p[0]]);
    }
}

/// The extent of an image that is read nowhere is an argument as well; an element ends a domain by a predicate.
#[test]
fn images_that_only_say_extents_and_ends() {
    let (x, j) = (vars!(x), Param::<i32>::new("j"));
    let (shape, ends) = (ImageParam::new("shape", U8, 1), ImageParam::new("ends", U8, 1));
    let r = RDom::named("r", [(0, 50)]);
    let mut f = Func::new("f");
    f[x] = x + shape.width();
    r.where_(r.x.lt(cast::<i32>(min(ends[j.expr()], 49))));
    f[r.x] = 37.expr();
    let list = Buffer::<u8>::from_slice([5], &[0, 9, 255, 49, 1]).unwrap();
    for at in 0..5 {
        let end = i64::from(list.get([at]).unwrap().min(49));
        let case = Case::new([&f]).param(j, at).image(&ends, list.clone());
        let case = case.image(&shape, Buffer::<u8>::new([31]).unwrap());
        let schedules = ["", "f: vectorize(x, 8)\n f.update(0): vectorize(r.x, 8)", "f.update(0): parallel(r.x)"];
        let regions = [Region::of_extents([50]), Region::of_spans([(-9, 77)])];
        case.holds(&schedules, &regions, |p| [if (0..end).contains(&p[0]) { 37 } else { p[0] + 31 }]);
    }
}

/// Forty updates, each at points of its own, over what all before left.
#[test]
fn forty_updates_in_order() {
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = x + y;
    for i in 0..20 {
        let below = f[(x, i - 4)];
        f[(x, i - 5)] += below * (i - 7);
        f[(i - 8, y)] -= y * i;
    }
    g[(x, y)] = f[(x, y)] + f[(y, x)];
    // The updates cover rows -5..16 and columns -8..12 of the region too.
    let (low, n) = (-40i64, 90usize);
    let mut table: Vec<Vec<i32>> = (0..n).map(|y| (0..n).map(|x| (x + y) as i32 + 2 * low as i32).collect()).collect();
    let at = |c: i32| (i64::from(c) - low) as usize;
    for i in 0..20 {
        let next = table[at(i - 4)].clone();
        for (old, next) in table[at(i - 5)].iter_mut().zip(next) {
            *old = old.wrapping_add(next.wrapping_mul(i - 7));
        }
        for (y, row) in table.iter_mut().enumerate() {
            row[at(i - 8)] = row[at(i - 8)].wrapping_sub((y as i32 + low as i32).wrapping_mul(i));
        }
    }
    let value = |x: i64, y: i64| table[(y - low) as usize][(x - low) as usize];
    let vectors: String = (0..40).map(|i| format!("\n f.update({i}): vectorize({}, 8)", ["x", "y"][i % 2])).collect();
    let schedules = [
        "f: compute_root()",
        &format!("f: compute_root() vectorize(x, 8){vectors}"),
        "f: compute_at(g, yo)\n g: split(y, yo, yi, 4)",
    ];
    Case::new([&g]).holds(&schedules, &planes(), |p| [value(p[0], p[1]).wrapping_add(value(p[1], p[0])).into()]);
}

/// Updates whose points overlap at multiples, scheduled each by itself.
#[test]
fn updates_at_multiples() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 14)]);
    let mut f = Func::new("f");
    f[x] = x.expr();
    f[2.expr()] = 100.expr();
    let steps = [(2, 13), (4, 14), (3, 15), (5, 16), (1, -1)];
    for (by, value) in steps {
        f[r.x * by] = value + f[r.x * by] % 3;
    }
    let mut list: Vec<i64> = (0..100).collect();
    list[2] = 100;
    for (by, value) in steps {
        (0..14).for_each(|i| list[i * by as usize] = i64::from(value) + list[i * by as usize] % 3);
    }
    let updates = "f.update(1): parallel(r.x)\n f.update(2): vectorize(r.x, 4)\n f.update(3): unroll(r.x, 3)\n f.update(4): vectorize(r.x, 8)\n f.update(5): parallel(r.x)";
    let schedules = ["", updates, &format!("f: vectorize(x, 16)\n {updates}")];
    let regions = [Region::of_extents([66]), Region::of_spans([(0, 71)])];
    Case::new([&f]).holds(&schedules, &regions, |p| [list[p[0] as usize]]);
}

/// Tuples along a domain: the greatest element with its place and the number of times that it was met.
#[test]
fn tuples_that_reductions_carry() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 2));
    let r = RDom::named("r", [(-3, 9)]);
    let (mut best, mut f) = (Func::new("best"), Func::new("f"));
    best[(x, y)] = (0u8, 100, 0i64).into();
    let (old, new) = (best.read((x, y)), input[(x + r.x, y)] / 16);
    let (more, same) = (new.gt(old.at(0)), new.eq(old.at(0)));
    let times = select(more, 1, old.at(2) + cast::<i64>(same));
    best[(x, y)] = tuple([max(new, old.at(0)), select(more, r.x, old.at(1)), times]);
    f[(x, y)] = tuple([cast::<i32>(best[(x, y)].at(0)) * 1000 + best[(x, y)].at(1), cast::<i32>(best[(x, y)].at(2))]);
    let image = noise(U8, &Region::of_spans([(-20, 50), (-10, 30)]), 14).typed::<u8>().unwrap();
    let value = |p: &[i64]| {
        let list: Vec<i64> = (-3..6).map(|d| i64::from(image.get([p[0] + d, p[1]]).unwrap() / 16)).collect();
        let most = *list.iter().max().unwrap();
        let place = if most == 0 { 100 } else { list.iter().position(|v| *v == most).unwrap() as i64 - 3 };
        [most * 1000 + place, list.iter().filter(|v| **v == most).count() as i64]
    };
    let schedules = [
        "best: compute_root()",
        "best: compute_root() vectorize(x, 8)\n best.update(0): reorder(x, r.x, y) vectorize(x, 8) unroll(r.x, 3)",
        "best: compute_at(f, xo)\n best.update(0): vectorize(x, 4)\n f: tile(x, y, xo, yo, xi, yi, 8, 2) vectorize(xi) parallel(yo)",
        "best.update(0): rfactor(r.x, u)\n best: compute_root()",
    ];
    Case::new([&f]).image(&input, image.clone()).holds(&schedules[..3], &planes(), value);
}

/// Stages that a value of a tuple's second element makes needless.
#[test]
fn a_choice_by_an_element_of_a_tuple() {
    let (x, p) = (vars!(x), Param::<i32>::new("p"));
    let (mut f, mut g, mut h, mut out) = (Func::new("f"), Func::new("g"), Func::new("h"), Func::new("out"));
    f[()] = tuple([p + 1, p.expr()]);
    g[x] = tuple([x + 4, x * x]);
    h[x] = g[x].at(1) + g[x + 1].at(0);
    out[x] = select(f[()].at(1).eq(3), h[x], 17);
    let schedules = [
        "",
        "f: compute_root()\n g: compute_root()\n h: compute_root()",
        "f: compute_root()\n g: compute_root() vectorize(x, 4)\n h: compute_root() vectorize(x, 8)\n out: vectorize(x, 8)",
        "f: compute_at(out, x)\n g: compute_at(out, x)\n h: compute_at(out, x)",
    ];
    for value in [3, 4] {
        let case = Case::new([&out]).param(p, value);
        case.holds(&schedules, &rows(), |at| [if value == 3 { at[0] * at[0] + at[0] + 5 } else { 17 }]);
    }
}

/// A disjunction over a domain that a predicate of its own value ends.
#[test]
fn a_search_that_a_predicate_ends() {
    let (x, limit) = (vars!(x), Param::<i32>::new("limit"));
    let (mut row, mut any, mut steps) = (Func::new("row"), Func::new("any"), Func::new("steps"));
    row[x] = (x * 7 % 50).gt(limit.expr());
    any[()] = false.expr();
    let r = RDom::named("r", [(0, 64)]);
    r.where_(!any[()]);
    any[()] = row[r.x];
    let s = RDom::named("s", [(0, 64)]);
    steps[x] = (0, false).into();
    s.where_(!steps.read(x).at(1));
    steps[x] = tuple([steps.read(x).at(0) + 1, (s.x * x % 50).gt(limit.expr())]);
    let mut out = Func::new("out");
    out[x] = select(any[()], x, -1) + steps[x].at(0) * 1000;
    let schedules = [
        "",
        "row: compute_root() vectorize(x, 8)\n any: compute_root()\n steps: compute_root() vectorize(x, 4)",
        "row: compute_root() parallel(x)\n any: compute_root()\n steps: compute_at(out, xo)\n out: split(x, xo, xi, 4)",
    ];
    for value in [-1, 30, 49, 60] {
        let found = |by: i64| (0..64).position(|s| (s * by).rem_euclid(50) > i64::from(value));
        let first = |by: i64| found(by).map_or(64, |n| n as i64 + 1);
        let case = Case::new([&out]).param(limit, value);
        case.holds(&schedules, &rows(), |p| {
            let any = if found(7).is_some() { p[0] } else { -1 };
            [any + first(p[0]) * 1000]
        });
    }
}
