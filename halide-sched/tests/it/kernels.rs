//! Cases of Halide's own tests restated: grids, blocks and memory of kernels, as the evaluator runs them.

use crate::support::{hold, hold_at, illegal, why_not_taken};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};

const TILE: &str = "gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";

/// Stages in one kernel that have other numbers of threads, other numbers of dimensions, and loops besides.
#[test]
fn stages_of_other_dimensions() {
    let input = ImageParam::new("in", I16, 3);
    let (x, y, z) = vars!(x, y, z);
    let (mut line, mut plane, mut volume, mut out) =
        (Func::new("line"), Func::new("plane"), Func::new("volume"), Func::new("out"));
    line[x] = input[(x, 0, 0)] * 3;
    plane[(x, y)] = line[x] + input[(x, y, 1)];
    volume[(x, y, z)] = plane[(x, y)] - input[(x, y, z)];
    out[(x, y, z)] = volume[(x, y, z)] + volume[(x + 1, y, z)] * plane[(x, y + 1)];
    let p = Pipeline::new([&out]).unwrap();
    let grid = "out: gpu_tile([x, y, z], [xo, yo, zo], [xi, yi, zi], [4, 2, 2])";
    let flat =
        "out: tile(x, y, xo, yo, xi, yi, 8, 4) reorder(xi, yi, z, xo, yo) gpu_blocks(xo, yo) gpu_threads(xi, yi)";
    let mut schedules = Vec::new();
    for (out, at) in [(grid, "xo"), (flat, "z")] {
        for line in ["", "gpu_threads(x)"] {
            for plane in ["", "gpu_threads(x, y)", "gpu_threads(y)", "vectorize(x, 4)"] {
                for volume in
                    ["gpu_threads(x, y)", "gpu_threads(x, y, z)", "gpu_threads(z)", "unroll(z, 2) gpu_threads(y)"]
                {
                    schedules.push(format!(
                        "{out}\n line: compute_at(out, {at}) {line}\n plane: compute_at(out, {at}) {plane}\n \
                         volume: compute_at(out, {at}) {volume}"
                    ));
                }
            }
        }
    }
    let regions: [&[(i64, i64)]; 3] =
        [&[(-3, 1), (2, 1), (0, 1)], &[(0, 7), (0, 5), (1, 3)], &[(-5, 17), (1, 9), (-1, 5)]];
    hold_at(&p, &schedules, &regions);
}

/// Loops over blocks under a guard, one block per point, and blocks around reductions.
#[test]
fn blocks_under_guards() {
    let input = ImageParam::new("in", I32, 3);
    let (x, y, z) = vars!(x, y, z);
    let mut f = Func::new("f");
    f[(x, y, z)] = input[(x, y, z)] * 5 - x;
    let p = Pipeline::new([&f]).unwrap();
    hold(
        &p,
        &[
            "f: split(y, yo, yi, 16, GuardWithIf) reorder(x, z, yi, yo) gpu_blocks(z, yi, yo)",
            "f: split(y, yo, yi, 4, GuardWithIf) reorder(x, yi, z, yo) gpu_blocks(z, yo) gpu_threads(yi)",
            "f: split(x, xo, xi, 8, GuardWithIf) split(xi, xa, xb, 4, GuardWithIf) reorder(xb, xa, y, xo, z) gpu_blocks(xo, z) gpu_threads(xb)",
            "f: fuse(x, y, t) split(t, to, ti, 8, GuardWithIf) gpu_blocks(z, to) gpu_threads(ti)",
            "f: fuse(y, z, t) gpu_tile(x, t, xo, to, xi, ti, 4, 4, GuardWithIf)",
        ],
    );
}

/// Threads that are fused, of several stages with other extents, serial loops between them.
#[test]
fn fused_threads() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] * 3;
    g[(x, y)] = f[(x, y)] + f[(x + 3, y + 1)] - f[(x - 1, y)];
    let p = Pipeline::new([&g]).unwrap();
    let tile = "g: tile(x, y, xo, yo, xi, yi, 8, 4) gpu_blocks(xo, yo)";
    hold_each(
        &p,
        &[
            format!("{tile} fuse(xi, yi, t) gpu_threads(t)\n f: compute_at(g, xo) reorder(y, x) gpu_threads(y)"),
            format!("{tile} fuse(xi, yi, t) gpu_threads(t)\n f: compute_at(g, xo) gpu_threads(x, y)"),
            format!(
                "{tile} gpu_threads(xi, yi)\n f: compute_at(g, xo) fuse(x, y, t) split(t, to, ti, 8) gpu_threads(ti)"
            ),
            format!("{tile} fuse(xi, yi, t) split(t, to, ti, 8) gpu_threads(ti)\n f: compute_at(g, to)"),
            format!("{tile} gpu_threads(xi)\n f: store_at(g, xo) compute_at(g, yi) gpu_threads(x)"),
            "g: fuse(x, y, t) split(t, to, ti, 16, GuardWithIf) gpu_blocks(to) gpu_threads(ti)\n f: compute_root()"
                .into(),
        ],
        5,
    );
}

/// Memory of a block whose extent does not grow with the block's number, of other sizes and types, used again.
#[test]
fn shared_memory_of_every_shape() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x * 2 + 1;
    g[x] = f[clamp(x, 0, 30) * (30 - clamp(x, 0, 30))];
    let p = Pipeline::new([&g]).unwrap();
    let line = "g: split(x, xo, xi, 4) gpu_blocks(xo) gpu_threads(xi)";
    hold_each(
        &p,
        &[
            format!("{line}\n f: compute_at(g, xo)"),
            format!("{line}\n f: compute_at(g, xo) store_in(Global)"),
            format!("{line}\n f: compute_at(g, xi)"),
            format!("{line}\n f: compute_root() split(x, xo, xi, 8) gpu_blocks(xo) gpu_threads(xi)"),
        ],
        3,
    );
    let (mut a, mut b, mut c, mut d) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"));
    a[(x, y)] = cast::<u8>(input[(x, y)]);
    b[(x, y)] = cast::<i16>(a[(x, y)]) - cast::<i16>(a[(x + 1, y)]);
    c[(x, y)] = (cast::<i32>(b[(x, y)]) * 7, cast::<f32>(b[(x, y + 1)])).into();
    d[(x, y)] = c[(x, y)].at(0) + cast::<i32>(c[(x + 2, y)].at(1));
    let p = Pipeline::new([&d]).unwrap();
    let mut schedules = Vec::new();
    for a in ["gpu_threads(x, y)", "gpu_threads(y)", "store_in(Global)", "vectorize(x, 2) gpu_threads(x, y)"] {
        for b in ["gpu_threads(x, y)", "gpu_threads(x)"] {
            for c in [
                "compute_at(d, xo) gpu_threads(x, y)",
                "compute_at(d, yi)",
                "compute_at(d, xi)",
                "compute_at(d, xi) store_in(Register)",
            ] {
                schedules.push(format!("d: {TILE}\n a: compute_at(d, xo) {a}\n b: compute_at(d, xo) {b}\n c: {c}"));
            }
        }
    }
    hold_each(&p, &schedules, 24);
}

/// Registers without lanes: variable numbers of elements under a guard, unrolled into conditions.
#[test]
fn registers_under_guards() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = input[(x, y)] ^ x;
    g[(x, y)] = f[(x, y)] * 3;
    let p = Pipeline::new([&g]).unwrap();
    let mut schedules = Vec::new();
    for tail in ["GuardWithIf", "Auto"] {
        for inner in ["unroll(xii) unroll(yii)", "serial(xii) serial(yii)", "vectorize(xii) serial(yii)"] {
            let out =
                format!("g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4, {tail}) tile(xi, yi, xi, yi, xii, yii, 2, 2) {inner}");
            schedules.push(format!("{out}\n f: compute_at(g, xi) store_in(Register) unroll(x) unroll(y)"));
            schedules.push(format!("{out}\n f: compute_at(g, xi) store_in(Stack)"));
        }
    }
    hold_each(&p, &schedules, 10);
}

/// Wrappers that stage a producer in lanes, an outer product of two of them, and chains with idle lanes.
#[test]
fn wrappers_in_lanes() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    a[x] = input[(x, 0)] * 3;
    b[y] = input[(0, y)] - 5;
    c[(x, y)] = a[x] * 100 + b[y];
    let p = Pipeline::new([&c]).unwrap();
    let out = "c: tile(x, y, xo, yo, xi, yi, 8, 8) gpu_blocks(xo, yo) gpu_lanes(xi)\n a: compute_root() in(c)\n b: compute_root() in(c)";
    hold_each(
        &p,
        &[
            format!(
                "{out}\n a.in(c): compute_at(c, xo) bound_extent(x, 8) gpu_lanes(x) store_in(Register)\n b.in(c): compute_at(c, xo) bound_extent(y, 8) gpu_lanes(y) store_in(Register)"
            ),
            format!("{out}\n a.in(c): compute_at(c, xo) bound_extent(x, 8) gpu_lanes(x)\n b.in(c): compute_at(c, yi)"),
            format!(
                "{out}\n a.in(c): compute_at(c, yi) split(x, x, l, 8, RoundUp) gpu_lanes(l)\n b.in(c): compute_at(c, xi)"
            ),
        ],
        2,
    );
    let (mut f, mut g, mut h, mut out) = (Func::new("f"), Func::new("g"), Func::new("h"), Func::new("out"));
    f[(x, y)] = input[(x, y)] + 1;
    g[(x, y)] = f[(x - 1, y)] + f[(x + 1, y)];
    h[(x, y)] = g[(x - 1, y)] * g[(x, y)] - g[(x + 1, y)];
    out[(x, y)] = h[(x, y)] + h[(x + y % 2, y)];
    let p = Pipeline::new([&out]).unwrap();
    let rows = "out: tile(x, y, xo, yo, xi, yi, 8, 2) gpu_blocks(xo, yo) gpu_lanes(xi)";
    let stage = |how: &str| {
        format!("{rows}\n f: compute_at(out, yi) {how}\n g: compute_at(out, yi) {how}\n h: compute_at(out, yi) {how}")
    };
    hold_each(
        &p,
        &[
            stage("split(x, x, l, 8, GuardWithIf) gpu_lanes(l)"),
            stage("split(x, x, l, 8, RoundUp) gpu_lanes(l) store_in(Register)"),
            stage(""),
        ],
        3,
    );
}

/// Reductions on device: a scan by one thread per row, sums in parts by threads, a histogram per block, specialised.
#[test]
fn reductions_in_kernels() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (r, s) = (RDom::named("r", [(1, 11)]), RDom::named("s", [(0, 16)]));
    let (mut scan, mut sum, mut out) = (Func::new("scan"), Func::new("sum"), Func::new("out"));
    scan[(x, y)] = input[(x, y)];
    scan[(r.x, y)] = scan[(r.x, y)] + scan[(r.x - 1, y)];
    sum[y] = 0.expr();
    sum[y] += input[(s.x, y)] * (s.x + 1);
    out[(x, y)] = scan[(clamp(x, 0, 11), y)] - sum[y];
    let p = Pipeline::new([&out]).unwrap();
    let out = format!("out: {TILE}");
    let rows = "split(y, yo, yi, 4) gpu_blocks(yo) gpu_threads(yi)";
    hold_each(
        &p,
        &[
            format!(
                "{out}\n scan: compute_root() {TILE}\n scan.update(0): reorder(r.x, y) {rows}\n sum: compute_root()"
            ),
            format!(
                "{out}\n scan: compute_at(out, xo) gpu_threads(x, y)\n scan.update(0): gpu_threads(y)\n sum: compute_at(out, xo) gpu_threads(y)"
            ),
            format!(
                "{out}\n scan: compute_root()\n sum: compute_root() {rows}\n sum.update(0): {rows} split(s.x, so, si, 4) unroll(si)"
            ),
            format!(
                "{out}\n sum: compute_at(out, xo)\n sum.update(0): split(s.x, so, si, 4) rfactor(si, u)\n sum.rfactor(u): compute_at(out, xo) gpu_threads(u, y)\n sum.rfactor(u).update(0): reorder(so, u, y) gpu_threads(u, y)\n scan: compute_root()"
            ),
            format!(
                "{out} specialize(out.extent(0) >= 8)\n scan: compute_root()\n sum: compute_root() specialize(out.extent(1) > 4) {rows}"
            ),
        ],
        3,
    );
}

/// Kernels beside loops of the host that read what they wrote, in any order, and kernels in parallel loops.
#[test]
fn kernels_between_host_loops() {
    let input = ImageParam::new("in", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut d) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("d"));
    a[(x, y)] = input[(x, y)] + 3;
    b[(x, y)] = a[(x, y)] * 2 - x;
    b[(x, y)] += a[(x + 1, y)];
    c[(x, y)] = a[(x, y)] + b[(x, y + 1)];
    d[(x, y)] = c[(x, y)] ^ (b[(x - 1, y)] + a[(y, x)]);
    let p = Pipeline::new([&d]).unwrap();
    let mut schedules = Vec::new();
    for mask in 0..32 {
        let on = |bit: u32| if mask >> bit & 1 == 1 { TILE } else { "vectorize(x, 4)" };
        schedules.push(format!(
            "a: compute_root() {}\n b: compute_root() {}\n b.update(0): {}\n c: compute_root() {}\n d: {}",
            on(0),
            on(1),
            on(2),
            on(3),
            on(4)
        ));
    }
    schedules.push(format!(
        "d: split(y, yo, yi, 4) \n a: compute_root() {TILE}\n b: compute_root()\n c: compute_at(d, yo) {TILE}"
    ));
    hold_each(&p, &schedules, 32);
}

/// Kernels that serial loops of the host start; parallel ones are refused.
#[test]
fn kernels_in_host_loops() {
    let input = ImageParam::new("in", I32, 3);
    let (x, y, z) = vars!(x, y, z);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y, z)] = input[(x, y, z)] + z;
    g[(x, y, z)] = f[(x, y, z)] * f[(x, y + 1, z)];
    let p = Pipeline::new([&g]).unwrap();
    let out = format!("g: {TILE}");
    let schedules = [
        out.clone(),
        format!("{out}\n f: compute_at(g, z) {TILE}"),
        format!("{out}\n f: compute_at(g, xo) gpu_threads(x, y)"),
        format!("{out}\n f: compute_root() {TILE} reorder(z, xi, yi, xo, yo)"),
    ];
    hold_each(&p, &schedules, 4);
    let text = illegal(&p, &format!("{out} parallel(z)"));
    assert!(text.contains("`yo` runs over blocks inside of parallel `z`; a kernel is started by one thread"), "{text}");
}

/// Holds those schedules that lowering takes, which are at least so many.
#[track_caller]
fn hold_each(p: &Pipeline, schedules: &[String], least: usize) {
    let (taken, others): (Vec<_>, Vec<_>) =
        schedules.iter().map(|s| (s, why_not_taken(p, s))).partition(|(_, why)| why.is_none());
    hold(p, &taken.iter().map(|(s, _)| s).collect::<Vec<_>>());
    assert!(taken.len() >= least, "{} of {}: {others:#?}", taken.len(), schedules.len());
}
