//! Tiles of definitions of pipelines: the nests that are read, and the directives that cut them.

use crate::chosen::TARGET;
use crate::support::server;
use halide_auto::tss::{AccessKind, Array, Block, LoopKind, TssOptions};
use halide_auto::{Estimates, Priceable, Tileable, tile, tileable};
use halide_core::expr::ExprMethods;
use halide_core::types::{F32, F64, U8, U16};
use halide_core::{Expr, Func, ImageParam, IntoExpr, Pipeline, RDom, Var, boundary, vars};
use halide_ir::machine::Machine;
use halide_ir::target::Target;
use halide_sched::schedule::{Schedule, StageName, update};

/// Calls `f` with the nest of a definition.
fn with_tileable<R>(
    pipeline: &Pipeline,
    schedule: &str,
    stage: impl StageName,
    sizes: &Estimates,
    f: impl FnOnce(&Tileable<'_>) -> R,
) -> R {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{e:?}"));
    let machine = server();
    let question = Priceable { pipeline, schedule: &schedule, target: &TARGET, machine: &machine, sizes };
    f(&tileable(&question, stage).unwrap_or_else(|e| panic!("{e}")).with_block(None))
}

fn refused(pipeline: &Pipeline, schedule: &str, stage: impl StageName, sizes: &Estimates) -> String {
    let schedule: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{e:?}"));
    let machine = server();
    let question = Priceable { pipeline, schedule: &schedule, target: &TARGET, machine: &machine, sizes };
    tile(&question, stage, &TssOptions::default()).unwrap_err().to_string()
}

/// An array as text: its use, its name and its subscripts over loops, rows last, with its offsets.
fn told(array: &Array) -> String {
    let subscript = |s: &halide_auto::tss::Subscript| {
        let terms: Vec<String> = s.terms.iter().map(|(index, factor)| format!("{factor}*{index}")).collect();
        terms.join("+")
    };
    let subscripts: Vec<String> = array.subscripts.iter().map(subscript).collect();
    let access = match array.access {
        AccessKind::Read => "read",
        AccessKind::Write => "write",
        AccessKind::Update => "update",
    };
    let offsets = if array.offsets.len() > 1 { format!(" at {:?}", array.offsets) } else { String::new() };
    format!("{access} {}[{}]{offsets}", array.name, subscripts.join(", "))
}

fn loops<'a>(of: &'a Tileable<'_>) -> Vec<(&'a str, u64, LoopKind)> {
    of.nest().loops.iter().map(|l| (l.name.as_str(), l.trips, l.kind)).collect()
}

fn product() -> Pipeline {
    let (a, b) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2));
    let (j, i) = vars!(j, i);
    let k = RDom::named("k", [(0, 1599)]);
    let mut c = Func::new("c");
    c[(j, i)] = 0f64.expr();
    c[(j, i)] += a[(k.x, i)] * b[(j, k.x)];
    Pipeline::new([&c]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_product_of_matrices_is_read_and_cut() {
    let (pipeline, sizes) = (product(), Estimates::new().output("c", [1599, 1599]));
    with_tileable(&pipeline, "", update("c", 0), &sizes, |of| {
        use LoopKind::{Independent, Parallel, Reduction};
        assert_eq!(loops(of), [("i", 1599, Parallel), ("k.x", 1599, Reduction), ("j", 1599, Independent)]);
        let arrays: Vec<String> = of.nest().arrays.iter().map(told).collect();
        assert_eq!(arrays, ["update c[1*0, 1*2]", "read a[1*0, 1*1]", "read b[1*1, 1*2]"]);
        assert!(of.nest().arrays.iter().all(|a| a.ld == 1599 && a.base == 0 && a.element == F64));
        let text = |sizes: [u64; 3]| {
            let tiling = of.with_sizes(&sizes, &TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(tiling.tiles.sizes, sizes);
            tiling.schedule.to_string().trim().to_string()
        };
        assert_eq!(
            text([20, 24, 128]),
            "c.update(0): split(i, io, ii, 20) split(k.x, k_xo, k_xi, 24) split(j, jo, ji, 128) \
             reorder(ji, k_xi, ii, jo, k_xo, io) vectorize(ji, natural) parallel(io)"
        );
        assert_eq!(
            text([1, 1599, 128]),
            "c.update(0): split(j, jo, ji, 128) reorder(ji, k.x, jo, i) vectorize(ji, natural) parallel(i)"
        );
        assert_eq!(text([1599, 1599, 1599]), "c.update(0): reorder(j, k.x, i) vectorize(j, natural)");
        let tiling = of.tile(&TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(tiling.tiles.sizes[2] < 1599 && tiling.tiles.tasks > 8, "{:?}", tiling.tiles);
    });
}

/// Blocks have as many sums as registers have room for, and few loads for each.
#[test]
fn blocks_keep_sums_in_registers() {
    let (pipeline, sizes) = (product(), Estimates::new().output("c", [1599, 1599]));
    let schedule: Schedule = "c.update(0): float(contract)".parse().unwrap_or_else(|e| panic!("{e:?}"));
    let machine = server();
    let question =
        Priceable { pipeline: &pipeline, schedule: &schedule, target: &TARGET, machine: &machine, sizes: &sizes };
    let of = tileable(&question, update("c", 0)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(of.block(), Some(Block { along: Some(0), rows: 4, vectors: 6 }));
    let text = |sizes: [u64; 3]| {
        let tiling = of.with_sizes(&sizes, &TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        tiling.schedule.to_string().trim().to_string()
    };
    assert_eq!(
        text([20, 24, 128]),
        "c.update(0): float(contract) split(i, io, ii, 20) split(k.x, k_xo, k_xi, 24) split(j, jo, ji, 128) \
         split(ii, ii, ir, 4) split(ji, ji, jr, 24) reorder(jr, ir, k_xi, ji, ii, jo, k_xo, io) vectorize(jr, natural) \
         unroll(ir) unroll(jr) parallel(io)"
    );
    assert_eq!(
        text([1, 1599, 4]),
        "c.update(0): float(contract) split(j, jo, ji, 4) split(ji, ji, jr, 4) reorder(jr, k.x, ji, jo, i) \
         vectorize(jr, natural) parallel(i)"
    );
    let tiling = of.tile(&TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let sizes = tiling.tiles.sizes;
    assert!(sizes[0].is_multiple_of(4) && (sizes[2].is_multiple_of(48) || sizes[2] == 1599), "{sizes:?}");
}

/// A condition on two coordinates of an element and a term of its sum.
type Holds = fn(Var, Var, &RDom) -> Expr;

/// A condition, the slants that it makes, and the block.
type Case = (Holds, Vec<(usize, usize)>, Block);

/// Conditions that couple two loops are slants, along which masks leave out a part of blocks: these are smaller.
#[test]
fn triangles_have_slants_and_smaller_blocks() {
    let product_where = |holds: Holds| {
        let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
        let (i, j) = vars!(i, j);
        let k = RDom::named("k", [(0, 799)]);
        k.where_(holds(i, j, &k));
        let mut c = Func::new("c");
        c[(j, i)] = 0f32.expr();
        c[(j, i)] += a[(k.x, i)] * b[(j, k.x)];
        Pipeline::new([&c]).unwrap_or_else(|e| panic!("{e}"))
    };
    let sizes = Estimates::new().output("c", [799, 799]);
    let schedule: Schedule = "c.update(0): float(contract)".parse().unwrap_or_else(|e| panic!("{e:?}"));
    let wide = Block { along: Some(0), rows: 4, vectors: 6 };
    let tall = Block { along: Some(0), rows: 6, vectors: 4 };
    let small = Block { along: Some(0), rows: 8, vectors: 1 };
    let cases: [Case; 5] = [
        (|i, j, _| j.gt(i), vec![(0, 2)], small),
        (|i, j, _| (j + 3).le(i), vec![(0, 2)], small),
        (|i, _, k| k.x.expr().ge(i), vec![(0, 1)], wide),
        (|_, j, _| j.gt(400), Vec::new(), tall),
        (|i, j, _| (i + j).gt(200), Vec::new(), tall),
    ];
    let wide_vectors = Target { vector_bits: 512, threads: 1, ..TARGET };
    let machine = Machine::typical(&wide_vectors);
    for (number, (holds, slants, block)) in cases.into_iter().enumerate() {
        let pipeline = product_where(holds);
        let question = Priceable {
            pipeline: &pipeline,
            schedule: &schedule,
            target: &wide_vectors,
            machine: &machine,
            sizes: &sizes,
        };
        let of = tileable(&question, update("c", 0)).unwrap_or_else(|e| panic!("{number}: {e}"));
        assert_eq!((&of.nest().slants, of.block()), (&slants, Some(block)), "{number}");
    }
}

#[test]
fn stencils_have_offsets_and_funcs_whole_lines() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut sum, mut out) = (Func::new("sum"), Func::new("out"));
    sum[(x, y)] = input[(x, y)] + input[(x + 1, y)];
    out[(x, y)] = sum[(x, y)] + sum[(x, y + 2)];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("out", [1001, 800]);
    with_tileable(&pipeline, "sum: compute_root", "out", &sizes, |of| {
        let arrays: Vec<String> = of.nest().arrays.iter().map(told).collect();
        assert_eq!(arrays, ["write out[1*0, 1*1]", "read sum[1*0, 1*1] at [[0, 0], [2, 0]]"]);
        assert_eq!(of.nest().arrays.iter().map(|a| a.ld).collect::<Vec<_>>(), [1001, 1024]);
    });
    with_tileable(&pipeline, "", "out", &sizes, |of| {
        let arrays: Vec<String> = of.nest().arrays.iter().map(told).collect();
        let input = "read input[1*0, 1*1] at [[0, 0], [0, 1], [2, 0], [2, 1]]";
        assert_eq!(arrays, ["write out[1*0, 1*1]", input], "what is substituted is no array");
    });
    with_tileable(&pipeline, "sum: compute_at(out, y)", "sum", &sizes, |of| {
        assert_eq!(loops(of), [("y", 3, LoopKind::Parallel), ("x", 1001, LoopKind::Independent)]);
        let tiling = of.with_sizes(&[1, 128], &TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert!(!tiling.schedule.to_string().contains("parallel"), "{}", tiling.schedule);
    });
}

/// Clamped, scaled and mirrored coordinates, and rows that begin before the first store.
#[test]
fn coordinates_have_slopes() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let edges = boundary::repeat_edge(&input);
    let (mut out, mut half) = (Func::new("out"), Func::new("half"));
    out[(x, y)] = edges[(2 * x, y / 2)] + edges[(2 * x - 1, y / 2)] + edges[(x - 3, 100 - y)];
    half[(x, y)] = out[(x, y)];
    let pipeline = Pipeline::new([&half]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("half", [300, 100]).input("input", [700, 200]);
    with_tileable(&pipeline, "out: compute_root", "out", &sizes, |of| {
        let arrays: Vec<String> = of.nest().arrays.iter().map(told).collect();
        assert_eq!(arrays[0], "write out[1*0, 1*1]");
        assert!(arrays.contains(&"read input[1*0, 2*1] at [[0, 0], [0, -1]]".to_string()), "{arrays:?}");
        assert!(arrays.contains(&"read input[-1*0, 1*1]".to_string()), "{arrays:?}");
        let mirrored = of.nest().arrays.iter().find(|a| a.subscripts[0].factor(0) == -1);
        assert_eq!(mirrored.map(|a| a.base), Some(-3));
    });
}

/// Sums along rows and windows: the outermost reduction is cut, others keep their order.
#[test]
fn reductions_in_order_are_cut_outermost() {
    let input = ImageParam::new("input", F32, 3);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3), (0, 5), (0, 64)]);
    let mut f = Func::new("f");
    f[(x, y)] = 0f32.expr();
    f[(x, y)] = f[(x, y)] * 0.5f32 + input[(x + r.x, y + r.y, r.z)];
    let pipeline = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("f", [500, 400]);
    with_tileable(&pipeline, "", update("f", 0), &sizes, |of| {
        use LoopKind::{Independent, Ordered, Parallel, Reduction};
        let expected = [
            ("y", 400, Parallel),
            ("r.z", 64, Reduction),
            ("r.y", 5, Ordered),
            ("r.x", 3, Ordered),
            ("x", 500, Independent),
        ];
        assert_eq!(loops(of), expected);
        let tiling = of.with_sizes(&[8, 4, 2, 1, 128], &TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(tiling.tiles.sizes, [8, 4, 5, 3, 128]);
        assert!(tiling.schedule.to_string().contains("reorder(xi, r.x, r.y, r_zi, yi, xo, r_zo, yo)"));
        of.tile(&TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    });
}

/// Rows are the only loop that no other iteration needs: its tiles are tasks, outside of those of the reduction.
#[test]
fn the_vector_loop_makes_tasks_where_no_other_does() {
    let (a, v) = (ImageParam::new("a", F32, 2), ImageParam::new("v", F32, 1));
    let i = vars!(i);
    let k = RDom::named("k", [(0, 2000)]);
    let mut f = Func::new("f");
    f[i] = 0f32.expr();
    f[i] += a[(i, k.x)] * v[k.x];
    let pipeline = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("f", [4000]);
    with_tileable(&pipeline, "", update("f", 0), &sizes, |of| {
        assert_eq!(loops(of), [("k.x", 2000, LoopKind::Reduction), ("i", 4000, LoopKind::Parallel)]);
        let tiling = of.with_sizes(&[100, 512], &TssOptions::default()).unwrap_or_else(|e| panic!("{e}"));
        let text = tiling.schedule.to_string();
        assert!(text.contains("reorder(ii, k_xi, k_xo, io) vectorize(ii, natural) parallel(io)"), "{text}");
        assert!(of.tile(&TssOptions::default()).unwrap_or_else(|e| panic!("{e}")).tiles.tasks > 8);
    });
}

#[test]
fn tuples_are_an_array_each() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 10)]);
    let input = ImageParam::new("input", F32, 2);
    let mut f = Func::new("f");
    f[x] = halide_core::expr::tuple([0f32.expr(), 0i32.expr()]);
    f[x] = halide_core::expr::tuple([f[x].at(0) + input[(x, r.x)], f[x].at(1) + r.x]);
    let mut g = Func::new("g");
    g[x] = f[x].at(0) + halide_core::expr::cast_to(F32, f[x].at(1));
    let pipeline = Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("g", [500]);
    with_tileable(&pipeline, "f: compute_root", update("f", 0), &sizes, |of| {
        let arrays: Vec<String> = of.nest().arrays.iter().map(told).collect();
        assert_eq!(arrays, ["update f.0[1*1]", "update f.1[1*1]", "read input[1*0, 1*1]"]);
    });
}

#[test]
fn definitions_without_tiles() {
    let (pipeline, sizes) = (product(), Estimates::new().output("c", [100, 100]));
    assert_eq!(
        refused(&pipeline, "", update("c", 1), &sizes),
        "`c` has no `update(1)` whose loops could be tiled; it has 1 updates, numbered from 0"
    );
    assert_eq!(
        refused(&pipeline, "c.update(0): split(i, a, b, 4)", update("c", 0), &sizes),
        "directives have changed the loops of `c.update(0)` already; leave out those that split, mark or specialise them"
    );
    let input = ImageParam::new("input", U8, 1);
    let x = vars!(x);
    let r = RDom::named("r", [(0, 1000)]);
    let (mut hist, mut out, mut run) = (Func::new("hist"), Func::new("out"), Func::new("run"));
    hist[x] = 0i32.expr();
    hist[halide_core::expr::cast_to(halide_core::types::I32, input[r.x])] += 1;
    run[x] = hist[x] * 2;
    let s = RDom::named("s", [(1, 255)]);
    run[s.x] = run[s.x] + run[s.x - 1];
    out[x] = run[x];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("out", [256]);
    assert_eq!(
        refused(&pipeline, "", "hits", &sizes),
        "the pipeline has no Func `hits` whose loops could be tiled; did you mean `hist`?"
    );
    assert_eq!(
        refused(&pipeline, "hist: compute_root run: compute_root", update("hist", 0), &sizes),
        "`hist.update(0)` accesses elements of `hist` about which data decide, so reuse cannot be told; give sizes of \
         tiles by `split`"
    );
    assert_eq!(
        refused(&pipeline, "hist: compute_root run: compute_root", update("run", 0), &sizes),
        "iterations of the innermost loop `s.x` depend on each other; move a loop inside whose iterations do not"
    );
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x * 2;
    g[x] = f[x] + 1;
    let pipeline = Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(
        refused(&pipeline, "", "f", &Estimates::new().output("g", [100])),
        "`f` is substituted where it is used and has no loops to tile; compute it with `compute_root` or `compute_at`"
    );
}
