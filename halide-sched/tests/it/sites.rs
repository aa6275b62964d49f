//! Updates that store to several sites at once: all is read before anything is stored, and stores come in order.

use crate::matrix::Random;
use crate::support::{hold, hold_legal, illegal, lowered};
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::interp::{self, Inputs};
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, Pipeline, RDom, vars};

/// `out` of `f`, which begins with the input and is updated as `update` says along `y`.
fn columns(update: impl Fn(&mut Func, Expr)) -> Pipeline {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut out) = (Func::new("f"), Func::new("out"));
    f[(x, y)] = input[(x, y)];
    update(&mut f, y.expr());
    out[(x, y)] = f[(x, y)] - f[(x + 1, y)] * 3;
    Pipeline::new([&out]).unwrap()
}

const SCHEDULES: [&str; 9] = [
    "f: compute_root()",
    "f: compute_root()\n f.update(0): unroll(r.x)",
    "f: compute_root()\n f.update(0): parallel(y)",
    "f: compute_root() vectorize(x, 4)\n f.update(0): reorder(y, r.x) vectorize(y, 4)",
    "f: compute_root()\n f.update(0): reorder(y, r.x) split(y, yo, yi, 3) unroll(yi)",
    "f: compute_root() reorder_storage(y, x)\n f.update(0): reorder(y, r.x) vectorize(y, 8)",
    "f: compute_at(out, y)",
    "out: split(y, yo, yi, 2) vectorize(x, 4)\n f: compute_at(out, yo) vectorize(y, 2)\n f.update(0): unroll(y)",
    "out: parallel(y)\n f: store_at(out, y) compute_at(out, y)",
];

#[test]
fn neighbours_that_change_places() {
    let r = RDom::named("r", [(1, 6)]);
    let p = columns(|f, y| f[(scatter((r.x - 1, r.x)), y)] = f[(gather((r.x, r.x - 1)), y)]);
    hold(&p, &SCHEDULES);
    // One step of a sort: the lesser one comes first.
    let p = columns(|f, y| {
        let (a, b) = (f[(r.x - 1, y)], f[(r.x, y)]);
        f[(scatter((r.x - 1, r.x)), y)] = gather((min(a, b), max(a, b)));
    });
    hold(&p, &SCHEDULES);
}

/// Values that are not scattered or gathered are the same at all sites; a choice of sites; several coordinates and
/// values of them.
#[test]
fn sites_in_every_place() {
    let r = RDom::named("r", [(0, 5)]);
    let odd = (r.x % 2).eq(1);
    let p = columns(|f, y| f[(scatter((r.x, r.x + 3, 9)), y)] += y + 1);
    hold(&p, &SCHEDULES);
    let p = columns(|f, y| {
        let at = select(odd, scatter((r.x, 3, 3)), scatter((1, 2, r.x + 4)));
        let from = select(odd, gather((3, r.x, r.x)), gather((2, r.x + 4, 1)));
        f[(at, y)] = f[(from, y)] + gather((r.x, y, y * 2)) * 5;
    });
    hold(&p, &SCHEDULES);
    // Without a scatter, the last value stays.
    let p = columns(|f, y| f[(r.x, y)] = gather((f[(r.x, y)], f[(r.x, y)] + 1, f[(r.x + 1, y)])));
    hold(&p, &SCHEDULES);
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = (input[(x, y)], x - y).into();
    let (a, b) = (f[(r.x, 2)], f[(3, r.x)]);
    f[(scatter((r.x, 3)), scatter((2, r.x)))] = tuple([gather((b.at(0), a.at(0))), gather((a.at(1), b.at(1))) + 1]);
    let mut out = Func::new("out");
    out[(x, y)] = f[(x, y)].at(0) * 7 - f[(y, x)].at(1);
    let p = Pipeline::new([&out]).unwrap();
    let update = "f.update(0): split(r.x, ro, ri, 2) unroll(ri)";
    let schedules = [
        "f: compute_root()".to_string(),
        "f: compute_root()\n f.update(0): unroll(r.x)".to_string(),
        format!("out: vectorize(x, 4)\n f: compute_root() vectorize(x, 4)\n {update}"),
    ];
    hold(&p, &schedules);
}

/// Places that are data, of the Func itself too: they are read before anything is stored.
#[test]
fn sites_that_data_say() {
    let r = RDom::named("r", [(0, 7)]);
    let place = |e: Expr| clamp(e % 8, 0, 7);
    let p = columns(|f, y| {
        let (a, b) = (place(f[(r.x, y)]), place(f[(r.x + 1, y)]));
        f[(scatter((a, b)), y)] = gather((f[(b, y)] + 1, f[(a, y)] - 1));
    });
    assert!(hold_legal(&p, &SCHEDULES) >= 7);
}

#[test]
fn loops_that_would_change_the_order_of_sites() {
    let r = RDom::named("r", [(1, 6)]);
    let p = columns(|f, y| f[(scatter((r.x - 1, r.x)), y)] = f[(gather((r.x, r.x - 1)), y)]);
    let added = columns(|f, y| f[(scatter((r.x - 1, r.x)), y)] += 2 + y);
    for p in [&p, &added] {
        for directive in [
            "parallel(r.x)",
            "vectorize(r.x)",
            "rfactor(r.x, u)",
            "atomic() parallel(r.x)",
            "atomic(any_order) parallel(r.x)",
        ] {
            let text = illegal(p, &format!("f: compute_root()\n f.update(0): {directive}"));
            assert!(!text.is_empty(), "{directive}");
        }
    }
    // Columns have nothing to do with each other.
    lowered(&p, "f: compute_root()\n f.update(0): reorder(y, r.x) vectorize(y, 8)");
}

/// Against arrays that are changed one after the other.
#[test]
fn random_permutations() {
    let x = vars!(x);
    let mut random = Random(7);
    for _ in 0..40 {
        let count = 1 + (random.next() % 4) as usize;
        let mut f = Func::new("f");
        f[x] = x * 10;
        let mut expected: Vec<i32> = (0..8).map(|i| i * 10).collect();
        for _ in 0..3 {
            let mut place = || (random.next() % 8) as i32;
            let to: Vec<i32> = (0..count).map(|_| place()).collect();
            let from: Vec<i32> = (0..count).map(|_| place()).collect();
            f[scatter(&to)] = f[gather(&from)] + 1;
            let read: Vec<i32> = from.iter().map(|i| expected[*i as usize] + 1).collect();
            to.iter().zip(read).for_each(|(to, value)| expected[*to as usize] = value);
        }
        let mut whole = Func::new("whole");
        whole[x] = f[x];
        let p = Pipeline::new([&whole]).unwrap();
        let out = interp::run(&p, &Inputs::new(), &[Region::of_extents([8])]).unwrap().remove(0);
        let got: Vec<i32> = (0..8).map(|i| out.get([i]).unwrap().as_i64() as i32).collect();
        assert_eq!(got, expected, "{p}");
        hold(&p, &["f: compute_root()", "f: compute_root() vectorize(x, 4)"]);
    }
}
