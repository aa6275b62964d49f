//! Loops that end once their elements are settled.

use crate::support::lowered_whole;
use halide_core::expr::*;
use halide_core::{Func, Pipeline, RDom, vars};

/// The steps that each number takes to become 1.
fn collatz(extent: i32) -> Pipeline {
    let x = vars!(x);
    let mut z = Func::new("z");
    z[x] = tuple([x + 1, 0.expr()]);
    let r = RDom::named("r", [(0, extent)]);
    r.where_(z[x].at(0).ne(1));
    let n = z[x].at(0);
    z[x] = tuple([select((n.clone() % 2).eq(0), n.clone() / 2, 3 * n + 1), r.x + 1]);
    let mut out = Func::new("out");
    out[x] = z[x].at(1);
    Pipeline::new([&out]).unwrap()
}

#[test]
fn show() {
    let p = collatz(i32::MAX);
    for s in [
        "",
        "z: compute_root()",
        "z: compute_root()\nz.update(0): vectorize(x, 4)",
        "z: compute_root()\nz.update(0): vectorize(x, 4, GuardWithIf)",
        "z: compute_root()\nz.update(0): split(r.x, ro, ri, 3)",
        "z: compute_root()\nz.update(0): split(r.x, ro, ri, 3) unroll(ri)",
        "z: compute_root()\nz.update(0): split(x, xo, xi, 4) reorder(xi, r.x, xo) vectorize(xi)",
        "z: compute_root()\nz.update(0): reorder(x, r.x) vectorize(x, 4)",
        "out: vectorize(x, 4)\nz: compute_at(out, x) vectorize(x)\nz.update(0): vectorize(x)",
    ] {
        let l = lowered_whole(&p, s);
        println!("=== {s}");
        for pass in &l.trace.passes { for d in &pass.decisions { println!("  {}: {} {:?}", pass.name, d.subject, d.outcome); } }
        let t = l.program.to_string();
        println!("{}", t.split_once("\ntemps").unwrap().1);
    }
}
