//! Reduction variables whose iterations run at once, in another order, or in parts.

use crate::matrix::{check, random_image};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::reduce::{argmax, argmin, maximum};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, Var, vars};

fn image(ty: ScalarType, dims: usize) -> AnyBuffer {
    random_image(ty, &Region::of_spans(vec![(-40, 120); dims]), 11)
}

fn sweep(pipeline: &Pipeline, schedules: &[&str], regions: &[&[(i32, i32)]]) {
    let (ty, dims) = pipeline.images.iter().map(|i| (i.ty, i.dims)).next().unwrap();
    for schedule in schedules {
        for region in regions {
            check(pipeline, schedule, &[("in", image(ty, dims))], &Region::of_spans(region));
        }
    }
}

/// Stores that the coordinates tell apart: one variable, several with room for each other, neighbours, and images that
/// do not overlap.
#[test]
fn loops_that_cannot_collide() {
    let input = ImageParam::new("in", I32, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = input[x];
    let r = RDom::named("r", [(0, 4), (0, 5)]);
    f[r.x + r.y * 4] = input[r.x * 2 - r.y] + 1;
    let s = RDom::named("s", [(0, 10)]);
    f[s.x * 2] = f[s.x * 2 + 1] * 3;
    let t = RDom::named("t", [(0, 8)]);
    f[t.x + 8] = f[t.x] - f[7 - t.x] + f[t.x + 8];
    let p = Pipeline::new([&f]).unwrap();
    sweep(
        &p,
        &[
            "f.update(0): parallel(r.y) vectorize(r.x)",
            "f.update(0): parallel(r.x) reorder(r.y, r.x)",
            "f.update(0): fuse(r.x, r.y, t) split(t, to, ti, 8) parallel(to) vectorize(ti)",
            "f.update(1): vectorize(s.x, 4)",
            "f.update(1): split(s.x, so, si, 3) parallel(so)",
            "f.update(2): parallel(t.x, 3)",
            "f.update(2): vectorize(t.x)",
        ],
        &[&[(0, 20)]],
    );
}

/// Within one iteration of the loop outside, the variable alone decides.
#[test]
fn loops_outside_stand_still() {
    let input = ImageParam::new("in", I16, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = cast::<i16>(0);
    let r = RDom::named("r", [(0, 7), (0, 3)]);
    f[r.x + r.y] += input[r.x] * cast::<i16>(r.y + 2);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = ["f.update(0): vectorize(r.x, 4)", "f.update(0): split(r.x, a, b, 4) parallel(b)"];
    sweep(&p, &schedules, &[&[(0, 9)]]);
}

/// All that race store the same, which the schedule vouches for.
#[test]
fn races_that_do_no_harm() {
    let input = ImageParam::new("in", U8, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = cast::<u8>(0);
    let r = RDom::named("r", [(0, 30)]);
    f[cast::<i32>(input[r.x] % 8)] = cast::<u8>(1);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f.update(0): allow_race_conditions() parallel(r.x)",
        "f.update(0): parallel(r.x, 4) allow_race_conditions",
        "f.update(0): allow_race_conditions vectorize(r.x, 4)",
    ];
    sweep(&p, &schedules, &[&[(0, 8)]]);
}

#[test]
fn histogram_of_rows() {
    let input = ImageParam::new("in", U8, 2);
    let (i, y) = vars!(i, y);
    let mut f = Func::new("f");
    f[(i, y)] = 0.expr();
    let r = RDom::named("r", [(0, 9), (0, 6)]);
    f[(cast::<i32>(input[(r.x, r.y)] % 16), r.y)] += 1;
    let p = Pipeline::new([&f]).unwrap();
    sweep(&p, &["f.update(0): parallel(r.y)", "f.update(0): reorder(r.y, r.x) vectorize(r.y)"], &[&[(0, 16), (0, 6)]]);
}

/// A sum over two variables in parts of every shape.
#[test]
fn sums_in_parts() {
    let input = ImageParam::new("in", I32, 3);
    let x = Var::new("x");
    let mut f = Func::new("f");
    let r = RDom::named("r", [(-2, 13), (1, 5)]);
    r.where_((r.x + r.y).ne(4));
    f[x] = input[(x, 0, 0)];
    f[x] = f[x] + input[(x + r.x, r.y, 1)] * (r.x - 3) - 7;
    let p = Pipeline::new([&f]).unwrap();
    sweep(
        &p,
        &[
            "f.update(0): rfactor(r.y, u)",
            "f.update(0): rfactor(r.x, u)\n f.rfactor(u): compute_root()\n f.rfactor(u).update(0): parallel(u)",
            "f.update(0): rfactor([r.x], [u]) vectorize(x, 4)\n f.rfactor(u): compute_at(f.update(0), x) vectorize(u, 4)\n f.rfactor(u).update(0): vectorize(u, 4)",
            "f.update(0): split(r.x, ro, ri, 4) rfactor(ri, u) reorder(x, ri) vectorize(x, 4)\n f.rfactor(u): compute_root() vectorize(u, 4)\n f.rfactor(u).update(0): reorder(u, ro, r.y, x) vectorize(u, 4)",
            "f.update(0): split(r.x, ro, ri, 4) rfactor([ro, r.y], [u, v])\n f.rfactor(u, v): compute_root()\n f.rfactor(u, v).update(0): parallel(v) unroll(u, 2)",
            "f.update(0): fuse(r.x, r.y, t) split(t, to, ti, 8) rename(ti, lane) rfactor(lane, u)\n f.rfactor(u): compute_root()\n f.rfactor(u).update(0): reorder(u, to) vectorize(u, 8)",
            "f.update(0): rfactor(r.y, u)\n f.rfactor(u): compute_root()\n f.rfactor(u).update(0): split(r.x, ro, ri, 5) rfactor(ri, v) parallel(u)\n f.rfactor(u).rfactor(v): compute_at(f.rfactor(u).update(0), u)\n f.rfactor(u).rfactor(v).update(0): vectorize(v, 5)",
            "f.update(0): split(r.x, ro, ri, 4) rfactor(ro, u) split(ro, a, b, 2) rfactor(a, v)\n f.rfactor(u): compute_root()",
        ],
        &[&[(0, 1)], &[(-3, 6)], &[(2, 13)]],
    );
}

/// A histogram counts at places that depend on data; its parts cover all that is asked for.
#[test]
fn histograms_in_parts() {
    let input = ImageParam::new("in", U8, 2);
    let i = Var::new("i");
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[i] = 0.expr();
    let r = RDom::named("r", [(0, 20), (0, 9)]);
    f[cast::<i32>(input[(r.x, r.y)] % 32)] += 1;
    g[i] = f[i] + f[i + 1];
    let p = Pipeline::new([&g]).unwrap();
    sweep(
        &p,
        &[
            "f: compute_root()\n f.update(0): rfactor(r.y, y) vectorize(i, 4)\n f.rfactor(y): compute_root() vectorize(i, 8)\n f.rfactor(y).update(0): parallel(y)",
            "f: compute_root()\n f.update(0): split(r.y, yo, yi, 4) rfactor(yo, y)\n f.rfactor(y): compute_at(f.update(0), yo)",
        ],
        &[&[(0, 31)], &[(4, 7)]],
    );
}

/// Tuples: the place of the smallest value, where only chunks that follow each other may be put together; with and
/// without a memory of having found one; complex products; elements that have nothing to do with each other.
#[test]
fn tuples_in_parts() {
    let input = ImageParam::new("in", U8, 2);
    let x = Var::new("x");
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 11), (0, 3)]);
    let small = |e: Expr| cast::<i32>(e) % 3 - 1;
    f[x] = (0, 0, 3.expr(), 1, 0, cast::<u8>(0)).into();
    let old = f.read(x);
    let e = small(input[(x + r.x, r.y)]);
    let closer = e.lt(old.at(2));
    let (re, im) = (small(input[(r.x, r.y)]), small(input[(r.y, r.x + x)]));
    f[x] = tuple([
        select(closer, r.x, old.at(0)),
        select(closer, r.y, old.at(1)),
        select(closer, e, old.at(2)),
        old.at(3) * re - old.at(4) * im,
        old.at(3) * im + old.at(4) * re,
        saturating_add(old.at(5), input[(x - r.x, r.y)] / 16),
    ]);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f.update(0): rfactor(r.y, u)\n f.rfactor(u): compute_root()\n f.rfactor(u).update(0): parallel(u) vectorize(x, 4)",
        "f.update(0): split(r.x, ro, ri, 4) rfactor([ro, r.y], [u, v])\n f.rfactor(u, v): compute_root()\n f.rfactor(u, v).update(0): vectorize(x, 4)",
    ];
    sweep(&p, &schedules, &[&[(0, 1)], &[(-3, 6)], &[(2, 13)]]);
}

#[test]
fn inline_reductions_in_parts() {
    let input = ImageParam::new("in", U8, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 30)]);
    r.where_((r.x % 7).ne(x % 7));
    let real = cast::<f32>(input[x + r.x] % 5) * 0.25;
    f[x] = argmin(real).at(0) * 100 + cast::<i32>(maximum(input[r.x + x * 2])) + argmax(input[x - r.x]).at(0) * 1000;
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "argmin.update(0): split(r.x, ro, ri, 8) rfactor(ro, u)\n argmin.rfactor(u): compute_root() vectorize(u, 2)\n argmin.rfactor(u).update(0): vectorize(x, 4)",
        "maximum.update(0): split(r.x, ro, ri, 8) rfactor(ri, u)\n maximum.rfactor(u): compute_at(maximum.update(0), x) vectorize(u, 8)\n maximum.rfactor(u).update(0): reorder(u, ro) vectorize(u, 8)\n maximum: compute_at(f, x)\n argmax.update(0): split(r.x, ro, ri, 8) rfactor(ro, u)",
    ];
    sweep(&p, &schedules, &[&[(0, 1)], &[(-3, 6)], &[(2, 13)]]);
}

/// Floats whose sums are exact, so that the order that the schedule allows to change changes nothing.
#[test]
fn relaxed_floats_in_parts() {
    let input = ImageParam::new("in", U8, 1);
    let x = Var::new("x");
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::named("r", [(0, 30)]);
    f[x] = 0.5.expr();
    f[x] += cast::<f32>(input[x + r.x]);
    g[x] = 0.0.expr();
    g[x] = max(g[x], cast::<f32>(input[x + r.x]) * 0.1 - 3.0);
    let p = Pipeline::new([&f, &g]).unwrap();
    let schedules = [
        "f.update(0): float(relaxed) split(r.x, ro, ri, 8) rfactor(ri, u)\n f.rfactor(u): compute_root() vectorize(u, 8)\n f.rfactor(u).update(0): reorder(u, ro) vectorize(u, 8)\n g.update(0): split(r.x, ro, ri, 8) rfactor(ro, u)\n g.rfactor(u): compute_root()",
    ];
    sweep(&p, &schedules, &[&[(0, 1)], &[(2, 13)]]);
}

/// Iterations that change the same element at once, in one step each.
#[test]
fn atomic_steps() {
    let input = ImageParam::new("in", U8, 2);
    let i = Var::new("i");
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::named("r", [(0, 13), (0, 9)]);
    r.where_(input[(r.x, r.y)].ne(7));
    let bin = cast::<i32>(input[(r.x, r.y)] % 16);
    f[i] = cast::<u16>(i);
    f[bin] += cast::<u16>(r.x) * 3;
    f[bin] = max(f[bin], cast::<u16>(r.y) * 40);
    f[bin] = select(f[bin].gt(cast::<u16>(r.x)), f[bin], cast::<u16>(r.x));
    f[0] ^= cast::<u16>(input[(r.y, r.x)]);
    g[i] = (f[i], cast::<i8>(1)).into();
    g[r.y] = (g[r.y].at(0) * 3, g[r.y].at(1) - cast::<i8>(input[(r.x, r.y)])).into();
    let p = Pipeline::new([&f, &g]).unwrap();
    let schedules = [
        "f.update(0): atomic() parallel(r.y) g.update(0): atomic parallel(r.x) allow_race_conditions",
        "f.update(0): parallel(r.y) vectorize(r.x, 4) atomic()\n f.update(1): atomic() fuse(r.x, r.y, t) parallel(t, 16) \n f.update(2): atomic() parallel(r.y) vectorize(r.x, 4)\n f.update(3): parallel(r.y) atomic() vectorize(r.x, 8)",
        "f.update(0): atomic() vectorize(r.x, 8)\n f.update(3): atomic() vectorize(r.x, 8)\n g.update(0): atomic() vectorize(r.x, 4)",
    ];
    sweep(&p, &schedules, &[&[(0, 16)]]);
}

/// Sums over lanes.
#[test]
fn vectors_are_combined() {
    let input = ImageParam::new("in", I16, 1);
    let x = Var::new("x");
    let r = RDom::named("r", [(0, 37)]);
    let mut funcs = Vec::new();
    for (n, op) in ["add", "sub", "mul", "min", "max", "and", "or", "xor"].into_iter().enumerate() {
        let mut f = Func::new(op);
        let new = input[x + r.x] ^ 21;
        f[x] = cast::<i16>(x * 7);
        let combined = match n {
            0 => f[x] + new,
            1 => f[x] - new,
            2 => new * f[x],
            3 => min(new, f[x]),
            4 => max(f[x], new),
            5 => f[x] & new,
            6 => new | f[x],
            _ => f[x] ^ new,
        };
        f[x] = combined;
        funcs.push(f);
    }
    let mut real = Func::new("real");
    real[x] = 0.25.expr();
    real[x] += cast::<f32>(input[x + r.x]) * 0.1;
    funcs.push(real);
    let p = Pipeline::new(&funcs).unwrap();
    let each = |words: &str| -> String {
        let named = funcs.iter().map(|f| format!("{}.update(0): {words}\n", f.name()));
        named.filter(|s| !s.starts_with("real")).collect()
    };
    let schedules = [
        each("atomic() vectorize(r.x, 8)"),
        each("atomic() vectorize(r.x, 7)") + "real.update(0): float(relaxed) atomic() vectorize(r.x, 4)",
        each("atomic() vectorize(r.x, 16) parallel(x)"),
        each("atomic() split(r.x, a, b, 8) parallel(a) vectorize(b)"),
    ];
    let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
    sweep(&p, &schedules, &[&[(0, 1)], &[(-3, 6)]]);
}

/// Lanes that reduce into one element, in loops around them: partial results beside each other, tails, copies, rows of
/// which some have none, and floats whose order may change.
#[test]
fn partial_results_of_lanes() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let whole = |ty: ScalarType, n: i32| {
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        let r = RDom::named("r", [(-2, n), (1, 3)]);
        f[x] = cast_to(ty, x);
        f[x] += cast_to(ty, input[(r.x, r.y + x)] % 16);
        g[(x, y)] = cast::<i32>(f[x]) + y;
        Pipeline::new([&g]).unwrap()
    };
    let reductions = [
        "atomic() vectorize(r.x, 8)",
        "atomic() split(r.x, ro, ri, 4) vectorize(ri) unroll(ro, 3)",
        "atomic() split(r.x, ro, ri, 16) vectorize(ri) reorder(ri, r.y, ro)",
        "atomic() split(r.x, ro, ri, 4) vectorize(ri) reorder(ri, x, ro) unroll(x)",
        "atomic() fuse(r.x, r.y, t) vectorize(t, 4)",
        "atomic() vectorize(r.x, 4, Predicate) parallel(x)",
    ];
    for n in [0, 1, 5, 8, 32, 61] {
        for ty in [I32, F32, U8] {
            let mode = if ty == F32 { "float(relaxed)" } else { "" };
            let schedules = reductions.map(|r| format!("f: compute_root() bound(x, 0, 4)\n f.update(0): {mode} {r}"));
            let schedules: Vec<&str> = schedules.iter().map(String::as_str).collect();
            sweep(&whole(ty, n), &schedules, &[&[(0, 4), (0, 2)]]);
        }
    }

    // Rows of a triangle, each with its own length, and a condition that a loop does not change.
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 20)]);
    f[y] = y * 7;
    r.where_(r.x.expr().le(input[(y, 3)] % 20).and((y % 3).ne(0)));
    f[y] = max(f[y], input[(r.x, y)]);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f.update(0): atomic() vectorize(r.x, 4)",
        "f.update(0): atomic() vectorize(r.x, 8) parallel(y)",
        "f: compute_root()\n f.update(0): atomic() split(r.x, ro, ri, 8) vectorize(ri) unroll(ro, 2)",
    ];
    sweep(&p, &schedules, &[&[(0, 19)], &[(-7, 11)], &[(3, 1)]]);
}
