//! Cases of Halide's own tests restated: loops over reduction variables in any order that keeps what they mean, in
//! parts, unrolled, in lanes, and many updates after each other.

use crate::support::{hold, hold_legal};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Expr, Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

/// Passes over a table: up, down, each over the whole of the one before.
#[test]
fn passes_in_every_order() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (up, down) = (RDom::named("up", [(1, 9)]), RDom::named("down", [(0, 9)]));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)];
    f[(x, up.x)] = f[(x, up.x - 1)] / 2 + f[(x, up.x)];
    f[(x, 8 - down.x)] = f[(x, 9 - down.x)] / 3 + f[(x, 8 - down.x)];
    f[(up.x, y)] = max(f[(up.x - 1, y)] - 5, f[(up.x, y)]);
    g[(x, y)] = f[(x, y)] * 2;
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for (a, b, c) in [
        ("reorder(x, up.x)", "reorder(x, down.x)", "reorder(y, up.x)"),
        ("reorder(x, up.x) vectorize(x, 4)", "parallel(x)", "vectorize(y, 4)"),
        (
            "split(x, xo, xi, 4) reorder(xi, up.x, xo) vectorize(xi)",
            "unroll(down.x, 3)",
            "split(y, yo, yi, 4) reorder(yi, up.x, yo)",
        ),
        ("split(up.x, uo, ui, 4)", "split(down.x, a, b, 2) unroll(b)", "parallel(y) split(up.x, uo, ui, 3) unroll(ui)"),
    ] {
        for place in ["compute_root()", "compute_at(g, y)", "compute_at(g, xo)"] {
            schedules.push(format!(
                "g: split(x, xo, xi, 8, GuardWithIf)\n f: {place}\n f.update(0): {a}\n f.update(1): {b}\n f.update(2): {c}"
            ));
        }
    }
    assert_eq!(hold_legal(&p, &schedules), 12);
}

/// A domain of four variables, in all orders of two splits.
#[test]
fn reduction_variables_reordered() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3), (-1, 4), (0, 2)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = y - x;
    f[(x, y)] += input[(x + r.x, y + r.y)] * (r.z + 1) - r.x;
    g[(x, y)] = f[(x, y)] + f[(x + 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for order in [
        "r.x, r.y, r.z, x, y",
        "r.z, r.y, r.x, x, y",
        "x, r.z, r.x, y, r.y",
        "r.y, x, y, r.z, r.x",
        "y, x, r.x, r.z, r.y",
    ] {
        for more in
            ["", "unroll(r.x)", "split(r.y, ro, ri, 3) unroll(ri)", "split(x, xo, xi, 4, GuardWithIf) vectorize(xi)"]
        {
            schedules.push(format!("f: compute_root()\n f.update(0): reorder({order}) {more}"));
            schedules.push(format!("f: compute_at(g, y)\n f.update(0): reorder({order}) {more}"));
        }
    }
    assert_eq!(hold_legal(&p, &schedules), 40);
}

/// Reductions of reductions, each in the loops of the next, slid and whole.
#[test]
fn chains_of_reductions() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    let (r, s, t) = (RDom::named("r", [(-2, 5)]), RDom::named("s", [(-1, 3)]), RDom::named("t", [(0, 4)]));
    a[(x, y)] = 1.expr();
    a[(x, y)] += input[(x + r.x, y)];
    b[(x, y)] = 0.expr();
    b[(x, y)] = max(b[(x, y)], a[(x, y + s.x)] - s.x);
    c[(x, y)] = x.expr();
    c[(x, y)] += b[(x + t.x, y)] * t.x;
    let p = Pipeline::new([&c]).unwrap();
    hold(
        &p,
        &[
            "a: compute_root()\n b: compute_root()",
            "a: compute_at(b.update(0), y)\n b: compute_root()\n b.update(0): reorder(s.x, x, y)",
            "b: compute_at(c.update(0), y)\n a: compute_at(b.update(0), s.x)",
            "a: store_root() compute_at(c.update(0), y)\n b: compute_at(c.update(0), y)",
            "a: store_root() compute_at(c.update(0), y) vectorize(x, 4)\n a.update(0): vectorize(x, 4)\n b: store_at(c.update(0), y) compute_at(c.update(0), x)",
            "c.update(0): reorder(x, t.x, y) vectorize(x, 4)\n b: compute_at(c.update(0), t.x) vectorize(x, 4)\n a: compute_at(c.update(0), y)",
            "c.update(0): unroll(t.x) split(x, xo, xi, 4, GuardWithIf)\n b: store_at(c.update(0), xo) compute_at(c.update(0), xi)\n a: compute_at(c.update(0), xo)",
        ],
    );
}

/// Chains that slide along the loop of a reduction, whose iterations read what the ones before computed.
#[test]
fn windows_slide_along_reductions() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(-2, 13)]);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    g[(x, y)] = 0.expr();
    g[(x, y)] += f[(x, y + r.x)] * f[(x, y + r.x + 2)] - r.x;
    let p = Pipeline::new([&g]).unwrap();
    crate::sliding::slides(
        &p,
        "g.update(0): reorder(r.x, x, y)\n f: store_at(g.update(0), x) compute_at(g.update(0), r.x)",
        "f",
        |w, h| (w * h * 15, w * h * 3),
    );
    hold(
        &p,
        &[
            "f: store_root() compute_at(g.update(0), r.x)",
            "g.update(0): reorder(x, y, r.x)\n f: store_root() compute_at(g.update(0), r.x)",
            "g.update(0): split(r.x, ro, ri, 4) reorder(ri, x, ro, y)\n f: store_at(g.update(0), y) compute_at(g.update(0), ro)",
            "g.update(0): reorder(x, r.x, y)\n f: store_at(g.update(0), y) compute_at(g.update(0), r.x) vectorize(x, 4)",
            "g.update(0): reorder(x, r.x, y) unroll(r.x, 2)\n f: store_at(g.update(0), y) compute_at(g.update(0), r.x) fold_storage(y, 8)",
        ],
    );
}

/// Sums, products, minima and choices in lanes of a reduction, over all small types.
#[test]
fn lanes_of_one_element() {
    for ty in [U8, I16, I32, U64] {
        let input = ImageParam::new("in", ty, 2);
        let (x, y) = vars!(x, y);
        let r = RDom::named("r", [(0, 16), (0, 3)]);
        type Step = fn(Expr, Expr) -> Expr;
        let steps: [(&str, Step); 7] = [
            ("add", |a, b| a + b),
            ("mul", |a, b| a * b),
            ("min", |a, b| min(a, b)),
            ("max", |a, b| max(a, b)),
            ("and", |a, b| a & b),
            ("or", |a, b| a | b),
            ("xor", |a, b| a ^ b),
        ];
        for (name, step) in steps {
            let mut f = Func::new(name);
            f[(x, y)] = cast_to(ty, 3);
            f[(x, y)] = step(f[(x, y)], input[(x + r.x, y + r.y)]);
            let p = Pipeline::new([&f]).unwrap();
            let update = format!("{name}.update(0): atomic()");
            let schedules = [
                format!("{update} vectorize(r.x)"),
                format!("{update} vectorize(r.x, 8) unroll(r.y)"),
                format!(
                    "{update} split(r.x, ro, ri, 4) reorder(ri, x, ro, r.y, y) vectorize(ri) vectorize(x, 4, GuardWithIf)"
                ),
                format!(
                    "{name}.update(0): split(r.x, ro, ri, 8) rfactor(ri, u)\n {name}.rfactor(u): compute_at({name}.update(0), y) vectorize(u)\n {name}.rfactor(u).update(0): reorder(u, x, ro, r.y, y) vectorize(u)"
                ),
            ];
            hold_legal(&p, &schedules);
            assert!(hold_legal(&p, &schedules[..2]) == 2, "{name}");
        }
    }
}

/// Pairs that are reduced together: complex products, the place of the greatest.
#[test]
fn pairs_in_lanes_and_parts() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 16)]);
    let (mut z, mut best, mut out) = (Func::new("z"), Func::new("best"), Func::new("out"));
    z[x] = (1, 0).into();
    let (re, im) = (z[x].at(0), z[x].at(1));
    let (a, b) = (input[(r.x, x)], input[(x, r.x)]);
    z[x] = (re * a - im * b, re * b + im * a).into();
    best[x] = (i32::MIN, 0).into();
    let better = input[(r.x, x)].gt(best[x].at(0));
    best[x] = (select(better, input[(r.x, x)], best[x].at(0)), select(better, r.x, best[x].at(1))).into();
    out[(x, y)] = z[x].at(0) ^ z[y].at(1) ^ best[x].at(0) ^ best[y].at(1);
    let p = Pipeline::new([&out]).unwrap();
    let mut schedules = Vec::new();
    for f in ["z", "best"] {
        for how in [
            "atomic() vectorize(r.x)",
            "atomic() parallel(r.x)",
            "split(r.x, ro, ri, 4) rfactor(ri, u)",
            "split(r.x, ro, ri, 4) rfactor(ro, u)",
            "unroll(r.x, 4)",
            "reorder(x, r.x) vectorize(x, 4)",
        ] {
            schedules.push(format!("z: compute_root()\n best: compute_root()\n {f}.update(0): {how}"));
        }
    }
    assert!(hold_legal(&p, &schedules) >= 9);
}

/// One definition and very many updates, each of another row, scheduled one by one.
#[test]
fn many_updates() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)];
    for i in 0..12 {
        f[(x, i)] = f[(x, i)] * 3 + f[(x, (i + 5) % 12)];
    }
    g[(x, y)] = f[(x, y)] - x;
    let p = Pipeline::new([&g]).unwrap();
    let each = |how: &str| (0..12).map(|i| format!("\n f.update({i}): {how}")).collect::<String>();
    hold(
        &p,
        &[
            format!("f: compute_root(){}", each("vectorize(x, 4)")),
            format!("f: compute_at(g, y){}", each("unroll(x, 3)")),
            format!("g: split(x, xo, xi, 4, GuardWithIf)\n f: compute_at(g, xo){}", each("")),
            format!("f: compute_root(){}", each("split(x, xo, xi, 4) parallel(xo)")),
        ],
    );
}

/// A running count that says where each element goes, and a table made of a histogram.
#[test]
fn compaction_and_equalisation() {
    let input = ImageParam::new("in", U8, 1);
    let (x, i) = vars!(x, i);
    let r = RDom::named("r", [(0, 24)]);
    let (mut keep, mut to, mut out) = (Func::new("keep"), Func::new("to"), Func::new("out"));
    keep[x] = select((input[x] % 3).eq(0), 1, 0);
    to[x] = 0.expr();
    to[r.x + 1] = to[r.x] + keep[r.x];
    out[x] = cast::<u8>(0);
    out[clamp(to[r.x], 0, 24)] = select(keep[r.x].eq(1), input[r.x], out[clamp(to[r.x], 0, 24)]);
    let mut last = Func::new("last");
    last[x] = out[clamp(x, 0, 24)];
    let p = Pipeline::new([&last]).unwrap();
    hold(
        &p,
        &[
            "keep: compute_root() vectorize(x, 8)\n to: compute_root()\n out: compute_root()",
            "to: compute_root()\n out: compute_root()\n to.update(0): unroll(r.x, 4)\n keep: compute_at(out.update(0), r.x) clone_in(to)",
            "to: compute_root() vectorize(x, 4)\n out: compute_root() vectorize(x, 4)\n keep: compute_root() parallel(x)",
        ],
    );
    let (mut hist, mut sum, mut flat) = (Func::new("hist"), Func::new("sum"), Func::new("flat"));
    hist[i] = 0.expr();
    hist[cast::<i32>(input[r.x] / 8)] += 1;
    let s = RDom::named("s", [(1, 31)]);
    sum[i] = hist[i];
    sum[s.x] = sum[s.x - 1] + hist[s.x];
    flat[x] = cast::<u8>(sum[input[x] / 8] * 255 / 24);
    let p = Pipeline::new([&flat]).unwrap();
    hold(
        &p,
        &[
            "hist: compute_root() vectorize(i, 8)\n sum: compute_root() vectorize(i, 8)\n flat: vectorize(x, 8)",
            "hist: compute_root()\n hist.update(0): atomic() parallel(r.x)\n sum: compute_root()\n sum.update(0): unroll(s.x)",
            "hist: compute_root()\n hist.update(0): split(r.x, ro, ri, 6) rfactor(ro, u)\n hist.rfactor(u): compute_root() parallel(u)\n hist.rfactor(u).update(0): parallel(u)\n sum: compute_root()",
            "hist: compute_at(flat, xo)\n sum: compute_at(flat, xo)\n flat: split(x, xo, xi, 8, GuardWithIf) parallel(xo) vectorize(xi)",
        ],
    );
}
