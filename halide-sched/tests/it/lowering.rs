//! Whole pipelines through `resolve` and `lower`, swept over output sizes.

use crate::matrix::{TARGET, check, random_image};
use halide_core::boundary::repeat_edge;
use halide_core::buffer::Region;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::visit::{any_node, for_each_expr, for_each_node, for_each_stmt};
use halide_ir::{BufId, ExprKind, Stmt};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;

fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Pipeline::new([&blur_y]).unwrap()
}

const BLUR_SCHEDULES: [&str; 13] = [
    "",
    "blur_x: compute_root()",
    "blur_x: compute_at(blur_y, x)",
    "blur_x: store_root() compute_at(blur_y, y)",
    "blur_x: store_root() compute_at(blur_y, x)",
    "blur_y: split(y, yo, yi, 8) parallel(yo) vectorize(x, 4)\n blur_x: store_at(blur_y, yo) compute_at(blur_y, yi) vectorize(x, 4)",
    "blur_y: tile(x, y, xo, yo, xi, yi, 8, 4)\n blur_x: compute_at(blur_y, xo)",
    "blur_y: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi, 4) parallel(yo)\n blur_x: compute_at(blur_y, xo) vectorize(x, 4)",
    "blur_y: split(y, yo, yi, 5, GuardWithIf) reorder(yi, x, yo)\n blur_x: store_at(blur_y, x) compute_at(blur_y, yi)",
    "blur_y: split(x, xo, xi, 3) fuse(xo, y, t) parallel(t)\n blur_x: compute_at(blur_y, t)",
    "blur_y: unroll(x, 3) reorder(y, x)\n blur_x: store_root() compute_at(blur_y, y) unroll(y, 2)",
    "blur_y: vectorize(y, 4)\n blur_x: compute_at(blur_y, y) reorder_storage(y, x) vectorize(y, 2)",
    COLUMNS,
];

/// All that a tile needs of blur_x fits into registers.
const COLUMNS: &str =
    "blur_y: tile(x, y, xo, yo, xi, yi, 8, 4) reorder(xi, yi, xo, yo) vectorize(xi) unroll(yi) parallel(yo)
     blur_x: compute_at(blur_y, xo) vectorize(x, 8) unroll(y, 6) store_in(Register)";

/// However the coordinates of the tile are written, what the registers hold is accessed at constants.
#[test]
fn storage_in_registers_is_accessed_at_constants() {
    let plan = resolve(&blur(), &COLUMNS.parse().unwrap(), &TARGET).unwrap();
    let program = lower(&plan, &LowerOptions::default()).unwrap().program;
    let blur_x = program.buffers.enumerate().find(|(_, b)| b.name == "blur_x").unwrap().0;
    let mut loads = 0;
    for task in program.tasks.iter() {
        for_each_load(&task.body, &mut |buf, index| {
            if buf == blur_x {
                loads += 1;
                assert!(!any_node(index, |n| matches!(n.kind(), ExprKind::Sym(_))), "{index:?}");
            }
        });
    }
    assert!(loads >= 3 * 4);
}

fn for_each_load(s: &Stmt, f: &mut impl FnMut(BufId, &halide_ir::Expr)) {
    for_each_expr(s, |e| {
        for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf, index, .. } = n.kind() {
                f(*buf, index);
            }
        });
    });
    for_each_stmt(s, |inner| for_each_load(inner, f));
}

#[test]
fn blur_under_every_schedule_at_every_size() {
    let p = blur();
    for schedule in BLUR_SCHEDULES {
        for (w, h) in [(1, 1), (2, 3), (3, 8), (5, 4), (7, 13), (8, 8), (9, 5), (16, 12), (17, 19), (24, 24)] {
            let region = Region::of_spans([(-3, w), (5, h)]);
            let input = random_image(U16, &Region::of_spans([(-3, w + 2), (5, h + 2)]), 7);
            check(&p, schedule, &[("input", input)], &region);
        }
    }
}

#[test]
fn a_chain_slides_and_folds() {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    let clamped = repeat_edge(&input);
    a[(x, y)] = clamped[(x, y - 1)] + clamped[(x + 1, y + 1)];
    b[(x, y)] = a[(x, y - 1)] + a[(x, y + 1)] * 3;
    c[(x, y)] = b[(x - 1, y - 1)] + b[(x + 1, y + 2)] + a[(x, y)];
    let p = Pipeline::new([&c]).unwrap();
    for schedule in [
        "a: compute_root()\n b: compute_root()",
        "a: store_root() compute_at(c, y)\n b: store_root() compute_at(c, y)",
        "a: store_root() compute_at(c, y) vectorize(x, 4)\n b: store_root() compute_at(c, y) vectorize(x, 4)\n c: vectorize(x, 4)",
        "c: split(y, yo, yi, 4)\n b: store_at(c, yo) compute_at(c, yi)\n a: store_at(c, yo) compute_at(c, yi)",
        "c: split(y, yo, yi, 4) split(x, xo, xi, 4) reorder(xi, yi, xo, yo)\n b: compute_at(c, xo)\n a: compute_at(c, xo)",
        "repeat_edge_input: compute_at(c, y)\n a: compute_at(c, y)\n b: compute_at(c, y)",
    ] {
        for (w, h) in [(1, 1), (3, 2), (4, 4), (6, 9), (11, 7)] {
            let input = random_image(I32, &Region::of_extents([5, 6]), 3);
            check(&p, schedule, &[("input", input)], &Region::of_spans([(1, w), (-2, h)]));
        }
    }
}

#[test]
fn pyramids() {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let clamped = repeat_edge(&input);
    let mut down = Func::new("down");
    down[(x, y)] = (clamped[(2 * x - 1, 2 * y)] + clamped[(2 * x, 2 * y + 1)] + clamped[(2 * x + 2, 2 * y)]) / 3.0;
    let mut down2 = Func::new("down2");
    down2[(x, y)] = (down[(2 * x - 1, 2 * y)] + down[(2 * x + 2, 2 * y + 1)]) / 2.0;
    let mut up = Func::new("up");
    up[(x, y)] = lerp(down2[((x + 1) / 2, y / 2)], down2[((x - 1) / 2, y / 2)], cast::<f32>((x % 2) * 2 + 1) / 4.0);
    let mut out = Func::new("out");
    out[(x, y)] = up[(x, y / 2)] + down[(x / 2, y / 2)] * clamped[(x, y)];
    let p = Pipeline::new([&out]).unwrap();
    for schedule in [
        "down: compute_root()\n down2: compute_root()\n up: compute_root()",
        "down: compute_root() vectorize(x, 4)\n down2: compute_root() vectorize(x, 4)\n up: store_root() compute_at(out, y) vectorize(x, 4)\n out: vectorize(x, 8)",
        "out: split(y, yo, yi, 4)\n down: store_at(out, yo) compute_at(out, yi)\n down2: store_at(out, yo) compute_at(out, yi)\n up: store_at(out, yo) compute_at(out, yi)",
        "out: tile(x, y, xo, yo, xi, yi, 8, 8)\n down: compute_at(out, xo) vectorize(x, 4)\n down2: compute_at(out, xo)\n up: compute_at(out, xo) unroll(x, 2)",
    ] {
        for (w, h) in [(1, 1), (3, 2), (8, 8), (13, 9), (16, 17)] {
            let input = random_image(F32, &Region::of_extents([9, 7]), 3);
            check(&p, schedule, &[("input", input)], &Region::of_spans([(0, w), (0, h)]));
        }
    }
}

#[test]
fn histograms_and_scans() {
    let input = ImageParam::new("input", U8, 2);
    let (i, x, y) = vars!(i, x, y);
    let r = RDom::over(&input);
    let mut hist = Func::new("hist");
    hist[i] = 0u32.expr();
    hist[input[(r.x, r.y)]] += 1;
    let s = RDom::named("s", [(1, 255)]);
    let mut cdf = Func::new("cdf");
    cdf[i] = hist[i];
    cdf[s.x] = cdf[s.x - 1] + hist[s.x];
    let mut out = Func::new("out");
    out[(x, y)] = cdf[input[(x, y)]];
    let p = Pipeline::new([&out]).unwrap();
    for schedule in [
        "hist: compute_root()\n cdf: compute_root()",
        "hist: compute_root() vectorize(i, 8)\n hist.update(0): split(r.y, ro, ri, 4)\n cdf: compute_root()\n out: vectorize(x, 4)",
        "hist: compute_root()\n cdf: compute_at(out, y)",
    ] {
        for (w, h) in [(1, 1), (5, 3), (8, 8)] {
            let input = random_image(U8, &Region::of_extents([w, h]), 11);
            check(&p, schedule, &[("input", input)], &Region::of_extents([w, h]));
        }
    }
}
