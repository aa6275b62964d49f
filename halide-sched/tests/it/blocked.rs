//! Storage in blocks (`split_storage`): where values lie changes, never which.

use crate::matrix::{check, random_image};
use crate::support::{hold, hold_at, illegal, lowered, lowered_whole, stencil, sweep};
use halide_core::buffer::Region;
use halide_core::expr::{cast, max};
use halide_core::types::*;
use halide_core::{Func, ImageParam, IntoExpr, Layout, Pipeline, RDom, vars};
use halide_ir::{Expr, ExprKind, Program, Stmt, build, print, visit};

/// `f` reads an image of channels, columns and rows, and `g` reads neighbours of it in all three.
fn channels() -> Pipeline {
    let input = ImageParam::new("in", I16, 3);
    let (c, x, y) = vars!(c, x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(c, x, y)] = input[(c, x, y)] * 3 - input[(c + 1, x, y)];
    g[(c, x, y)] = f[(c - 1, x, y)] + f[(c + 1, x + 1, y)] * 5 + f[(c, x, y + 1)];
    Pipeline::new([&g]).unwrap()
}

#[test]
fn blocks_of_every_size_at_every_level() {
    let mut schedules = Vec::new();
    for factor in [1, 2, 3, 4, 16] {
        for place in ["compute_root()", "compute_at(g, y)", "compute_at(g, x)", "store_root() compute_at(g, y)"] {
            for order in ["", "reorder_storage(ci, x, y, co)", "reorder_storage(x, co, ci, y)"] {
                schedules.push(format!("f: {place} split_storage(c, co, ci, {factor}) {order}"));
            }
        }
    }
    hold(&channels(), &schedules);
}

#[test]
fn blocks_along_several_dimensions() {
    hold(
        &channels(),
        &[
            "f: compute_root() split_storage(c, co, ci, 4) split_storage(x, xo, xi, 3)",
            "f: compute_root() split_storage(x, xo, xi, 8) split_storage(y, yo, yi, 8) reorder_storage(xi, yi, c, xo, yo)",
            "f: compute_at(g, y) split_storage(y, yo, yi, 2) split_storage(c, co, ci, 5) reorder_storage(yi, co, ci)",
            "f: reorder_storage(y, c, x) compute_root() split_storage(c, co, ci, 3) align_storage(ci, 8) align_storage(y, 5)",
            "f: compute_root() bound_storage(c, 64) split_storage(c, co, ci, 3)",
            "f: compute_at(g, y) split_storage(c, co, ci, 3) store_in(Stack) bound_storage(c, 40) bound_storage(x, 40)",
            "f: compute_root() align_bounds(c, 16) split_storage(c, co, ci, 16) reorder_storage(ci, x, y, co)",
            "f: hoist_storage_root() compute_at(g, x) split_storage(c, co, ci, 3)",
        ],
    );
}

#[test]
fn blocks_and_vectors() {
    let mut schedules = Vec::new();
    for along in ["c", "x"] {
        for order in ["", "reorder_storage(ci, x, y, co)", "reorder_storage(x, y, ci, co)"] {
            for (factor, lanes) in [(4, 4), (8, 4), (16, 8), (3, 4), (4, 8)] {
                let store = format!("split_storage(c, co, ci, {factor}) {order}");
                schedules.push(format!(
                    "f: compute_root() vectorize({along}, {lanes}) {store}\n g: vectorize({along}, {lanes})"
                ));
                schedules.push(format!(
                    "f: compute_at(g, y) align_bounds(c, {factor}) split(c, o, i, {lanes}) vectorize(i) {store}\n \
                     g: split({along}, o, i, {lanes}, GuardWithIf) vectorize(i)"
                ));
            }
        }
    }
    hold(&channels(), &schedules);
}

#[test]
fn blocks_in_parallel_loops_and_kernels() {
    hold(
        &channels(),
        &[
            "f: compute_root() parallel(y) split_storage(c, co, ci, 4) reorder_storage(ci, x, y, co)\n g: parallel(y)",
            "f: compute_at(g, y) split_storage(c, co, ci, 4) parallel(x)\n g: parallel(y)",
            "f: compute_root() split_storage(c, co, ci, 4) gpu_tile(c, x, co, xo, ci, xi, 4, 4)\n g: gpu_tile(c, x, co, xo, ci, xi, 4, 2)",
            "f: compute_at(g, co) split_storage(c, co, ci, 4) gpu_threads(c, x)\n g: gpu_tile(c, x, co, xo, ci, xi, 4, 2)",
            "f: compute_at(g, xi) split_storage(c, co, ci, 2)\n g: gpu_tile(c, x, co, xo, ci, xi, 4, 2)",
            "f: compute_at(g, co) store_in(Shared) split_storage(x, o, i, 2) gpu_threads(c, x)\n g: gpu_tile(c, x, co, xo, ci, xi, 8, 2)",
        ],
    );
}

#[test]
fn blocks_under_updates_wrappers_and_windows() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let (r, s) = (RDom::named("r", [(0, 5), (-1, 3)]), RDom::named("s", [(-2, 9)]));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(x + r.x, y + r.y)] * 3;
    let before = f[(s.x - 1, y)] + 1;
    f[(s.x, y)] += before;
    g[(x, y)] = f[(x, y)] + f[(x + 1, y + 2)];
    let p = Pipeline::new([&g]).unwrap();
    hold(
        &p,
        &[
            "f: compute_root() split_storage(x, xo, xi, 4) reorder_storage(xi, y, xo)",
            "f: compute_at(g, y) split_storage(x, xo, xi, 3)\n f.update(0): vectorize(x, 4)",
            "f: compute_root() split_storage(y, yo, yi, 3)\n f.update(0): parallel(y) reorder(x, r.x, r.y, y) vectorize(x, 8)",
            "f: compute_root()\n f: in() \n f.in(): compute_at(g, y) split_storage(x, o, i, 4) vectorize(x, 4)",
            "in: in(f)\n in.in(f): compute_at(g, y) split_storage(_1, o, i, 2) reorder_storage(i, _0, o)\n f: compute_at(g, y)",
            "f: clone_in(g)\n f.clone_in(g): compute_root() split_storage(x, o, i, 7)",
        ],
    );
    // A circle of rows, each in blocks.
    let windows = [
        "f: store_root() compute_at(g, y) split_storage(x, xo, xi, 4)",
        "f: store_root() compute_at(g, y) fold_storage(y, 4) split_storage(x, xo, xi, 4) reorder_storage(xi, y, xo)",
        "f: store_root() compute_at(g, y) split_storage(y, yo, yi, 4)",
        "g: split(y, yo, yi, 2, GuardWithIf)\n f: store_at(g, yo) compute_at(g, yi) split_storage(x, xo, xi, 16)",
    ];
    sweep(&stencil(), &windows, &[(1, 1), (2, 5), (7, 3), (13, 8), (24, 9)]);
}

#[test]
fn tuples_and_specialisations() {
    let input = ImageParam::new("in", I16, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = (input[(x, y)], cast::<u8>(input[(x, y + 1)])).into();
    g[(x, y)] = f[(x + 1, y)].at(0) + cast::<i16>(f[(x, y)].at(1));
    let p = Pipeline::new([&g]).unwrap();
    hold(
        &p,
        &[
            "f: compute_root() split_storage(x, xo, xi, 8) vectorize(x, 8)",
            "f: compute_at(g, y) split_storage(x, xo, xi, 3)\n g: specialize(g.extent(0) > 6) vectorize(x, 4)",
        ],
    );
}

/// Loads and stores of vectors of the buffer of a name: those of neighbouring elements, and others.
fn vectors(program: &Program, name: &str) -> [usize; 2] {
    let buf = program.buffers.enumerate().find(|(_, info)| info.name == name).expect("a buffer of this name").0;
    let is_dense = |index: &Expr| match index.kind() {
        ExprKind::Ramp { stride, .. } => build::as_int(stride) == Some(1),
        _ => false,
    };
    let mut found = [0, 0];
    let mut note = |index: &Expr| {
        if index.lanes() > 1 {
            found[usize::from(!is_dense(index))] += 1;
        }
    };
    let mut look = |s: &Stmt| {
        if let Stmt::Store { buf: b, index, .. } = s
            && *b == buf
        {
            note(index);
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| match n.kind() {
                ExprKind::Load { buf: b, index, .. } if *b == buf => note(index),
                _ => {}
            })
        });
    };
    each(&program.body, &mut look);
    program.tasks.iter().for_each(|task| each(&task.body, &mut look));
    found
}

fn each(s: &Stmt, f: &mut impl FnMut(&Stmt)) {
    f(s);
    visit::for_each_stmt(s, |inner| each(inner, f));
}

/// Division and remainder vanish where loops are split as storage is and begin at a multiple of the factor: lanes are
/// neighbours in memory then, along the blocks as within.
#[test]
fn vectors_within_blocks_are_dense() {
    let input = ImageParam::new("in", I16, 3);
    let (c, x, y) = vars!(c, x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(c, x, y)] = input[(c, x, y)] * 3;
    g[(c, x, y)] = f[(c, x, y)] + f[(c, x + 1, y)] * 5 + f[(c, x, y + 1)];
    let p = Pipeline::new([&g]).unwrap();
    let blocks = "split_storage(c, co, ci, 16) reorder_storage(ci, x, y, co)";
    let loops = "split(c, o, i, 16) reorder(i, x, y, o)";
    for place in ["compute_root()", "compute_at(g, o)", "compute_at(g, y)"] {
        for lanes in [4, 8, 16] {
            let schedule = format!(
                "f: {place} align_bounds(c, 16) {blocks} {loops} vectorize(i, {lanes})\n \
                 g: bound(c, 0, 32) {loops} vectorize(i, {lanes})"
            );
            let program = lowered(&p, &schedule);
            let [dense, apart] = vectors(&program, "f");
            assert!(dense >= 4 && apart == 0, "{schedule}\n{dense} dense, {apart} not\n{program}");
            hold_at(&p, &[schedule], &[&[(0, 32), (-3, 7), (2, 5)], &[(0, 32), (0, 1), (0, 1)]]);
        }
    }
    // Where nothing is known of the start, lanes may be in two blocks.
    let anywhere = lowered(&p, &format!("f: compute_root() {blocks}\n g: {loops} vectorize(i, 4)"));
    let [dense, apart] = vectors(&anywhere, "f");
    assert!(dense == 0 && apart > 0, "{dense} dense, {apart} not\n{anywhere}");
    // Lanes along another dimension step over blocks.
    let across = lowered(&p, &format!("f: compute_root() {blocks} vectorize(x, 4)\n g: vectorize(x, 4)"));
    let lines = "f: compute_root() split_storage(c, co, ci, 16) reorder_storage(x, ci, y, co) vectorize(x, 4)\n \
                 g: vectorize(x, 4)";
    let [dense, apart] = vectors(&lowered(&p, lines), "f");
    assert!(vectors(&across, "f")[0] == 0 && dense > 0 && apart == 0, "{across}");
}

#[test]
fn explained_and_counted() {
    let whole = lowered_whole(&channels(), "f: compute_root() split_storage(c, co, ci, 16)");
    let said: Vec<String> = whole.trace.passes.iter().flat_map(|p| p.decisions.iter().map(|d| d.to_string())).collect();
    assert!(said.contains(&"f: stored in blocks of 16, as `co` and `ci`".to_string()), "{said:?}");
    assert_eq!(whole.program.buffers.iter().find(|b| b.name == "f").map(|b| b.dims), Some(4));
}

#[test]
fn refusals() {
    let p = channels();
    for (schedule, message) in [
        ("f: compute_root() split_storage(k, co, ci, 4)", "`f` has no dimension `k`; its dimensions: `c`, `x`, `y`"),
        ("f: compute_root() split_storage(c, co, ci, 0)", "the factor must be at least 1, not 0"),
        ("f: compute_root() split_storage(c, x, ci, 4)", "the storage of `f` has a dimension `x` already"),
        ("f: compute_root() split_storage(c, i, i, 4)", "`i` is listed twice"),
        ("g: split_storage(c, co, ci, 4)", "`g` is an output, whose memory the caller gives"),
        ("in: split_storage(_0, co, ci, 4)", "the pipeline has no Func `in`"),
        ("f: split_storage(c, co, ci, 4)", "`f` is computed inline, so it has no loops and no storage of its own"),
        (
            "f: compute_root() split_storage(c, co, ci, 4) split_storage(c, a, b, 4)",
            "the storage of `f` along `c` is split into `co`, `ci`",
        ),
    ] {
        let text = illegal(&p, schedule);
        assert!(text.contains(message), "{schedule}\n{text}");
    }
}

/// A convolution of channels in blocks of 8 (`NCHW8c`) with weights `[ki, s, r, ci, ko]`, whose sums are in blocks,
/// too: weights and sums are loaded as vectors of neighbours, pixels one by one for all lanes.
#[test]
fn convolutions_in_blocks_load_neighbours() {
    let pixels = Layout::of(["c", "x", "y"]).split("c", 8).order(["c.i", "x", "y", "c.o"]);
    let filters = Layout::of(["k", "c", "s", "r"]).split("k", 8).order(["k.i", "s", "r", "c", "k.o"]);
    let (input, weights) = (ImageParam::with_layout("in", I32, &pixels), ImageParam::with_layout("w", I32, &filters));
    let (k, x, y) = vars!(k, x, y);
    let (mut conv, mut out) = (Func::new("conv"), Func::new("out"));
    let r = RDom::named("r", [(0, 3), (0, 3), (0, 16)]);
    conv[(k, x, y)] = 0.expr();
    conv[(k, x, y)] += weights[(k, r.z, r.x, r.y)] * input[(r.z, x + r.x, y + r.y)];
    out[(k, x, y)] = max(conv[(k, x, y)], 0);
    let p = Pipeline::new([&out]).unwrap();
    let tile = "split(k, ko, ki, 8) split(x, xo, xi, 4) reorder(ki, xi, xo, y, ko) vectorize(ki) unroll(xi)";
    let schedule = format!(
        "out: bound(k, 0, 32) bound(x, 0, 8) {tile} parallel(ko)\n \
         conv: compute_at(out, ko) align_bounds(k, 8) split_storage(k, ko, ki, 8) reorder_storage(ki, x, y, ko) {tile}\n \
         conv.update(0): split(k, ko, ki, 8) split(x, xo, xi, 4) split(r.z, zo, zi, 8) \
         reorder(ki, xi, zi, r.x, r.y, zo, xo, y, ko) vectorize(ki) unroll(xi)"
    );
    let program = lowered(&p, &schedule);
    for name in ["in", "w", "conv"] {
        let [dense, apart] = vectors(&program, name);
        assert!(apart == 0 && (dense > 0 || name == "in"), "{name}: {dense} dense, {apart} not\n{program}");
    }
    let [task] = &program.tasks.iter().collect::<Vec<_>>()[..] else { panic!("one parallel loop\n{program}") };
    let text = print::stmt_in(&task.body, &program);
    assert!(!text.contains(" % ") && !text.contains(" / "), "{text}");
    // More channels than are asked for, and blocks that are padded.
    let random = |spans: &[(i64, i64)]| random_image(I32, &Region::of_spans(spans), 3);
    let given = [
        ("in", pixels.pack(&random(&[(0, 20), (-4, 20), (1, 9)])).unwrap()),
        ("w", filters.pack(&random(&[(0, 32), (0, 16), (0, 3), (0, 3)])).unwrap()),
    ];
    check(&p, &schedule, &given, &Region::of_spans([(0, 32), (0, 8), (2, 3)]));
}
