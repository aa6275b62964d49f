//! The examples in the headers of passes, run as tests.
//!
//! Under a line that starts with `Example`, a header has pairs of text blocks: what goes into the pass and what comes
//! out of it. For passes from program to program both are loop IR over [`TABLES`]; for those that work on the shared
//! state of a plan, what goes in is a schedule of [`pipeline`]. With `UPDATE_EXPECT` in the environment, headers are
//! rewritten instead of compared.

use super::*;
use crate::lower::nests::ctx::Ctx;
use crate::lower::trace::LoweringTrace;
use crate::plan::{StorageDim, StoragePart};
use halide_core::expr::min;
use halide_core::ids::FuncId;
use halide_core::types::U8;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::target::{Arch, Budget, Gpu, Target};
use halide_ir::{BufId, LoopId, PrefetchBound, PrefetchRequest, Program, Stmt, print, verify};
use halide_solve::simplify::Facts;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

/// The meaning of the ids in examples. `in`, `f` and `out` are one row of bytes, `image`, `g` and `result` are planes.
pub(crate) const TABLES: &str = "
buffer in#b0: u8 dims 1 input i0 unit_stride 0
buffer f#b1: u8 dims 1 internal
buffer out#b2: u8 dims 1 output 0 unit_stride 0
buffer image#b3: u16 dims 2 input i1 unit_stride 0
buffer g#b4: u16 dims 2 internal
buffer result#b5: u16 dims 2 output 1 unit_stride 0
image i0 = b0
image i1 = b3
func f0 = (b1)
func f1 = (b2)
func f2 = (b4)
func f3 = (b5)
loop x#L0
loop y#L1
loop xi#L2
loop yi#L3
fault fault0 = promise \"x is small\"
counter \"points\"
counter \"elements\"
temps 4
";

/// `f(x) = in(x) + 1`, `g(x) = f(x) + f(x + 2)`.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("in", U8, 1);
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x] + 1;
    g[x] = f[x] + f[x + 2];
    Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"))
}

/// `f(x) = x`, `g(x) = f(x - 1) + f(x + 1)`.
fn without_input() -> Pipeline {
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x.expr();
    g[x] = f[x - 1] + f[x + 1];
    Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"))
}

/// `index(x) = min(in(x) / 2, 100)`, `table(i) = i * 3`, `g(x) = table(index(x))`.
fn with_table() -> Pipeline {
    let input = ImageParam::new("in", U8, 1);
    let (x, i) = vars!(x, i);
    let (mut index, mut table, mut g) = (Func::new("index"), Func::new("table"), Func::new("g"));
    index[x] = min(input[x] / 2, 100);
    table[i] = i * 3;
    g[x] = table[index[x]];
    Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"))
}

/// An example: the lines of its two blocks, without comment marks.
struct Example {
    before: String,
    after: String,
    /// The lines of the file that `after` stands in.
    at: std::ops::Range<usize>,
}

fn examples(file: &str, source: &str) -> Vec<Example> {
    let header: Vec<&str> = source.lines().map_while(|l| l.strip_prefix("//!")).collect();
    let start =
        header.iter().position(|l| l.starts_with(" Example")).unwrap_or_else(|| panic!("{file} has no example"));
    let mut blocks: Vec<std::ops::Range<usize>> = Vec::new();
    let mut open = None;
    for (i, line) in header.iter().enumerate().skip(start) {
        match (line.trim(), open) {
            ("```text", _) => open = Some(i + 1),
            ("```", Some(from)) => {
                blocks.push(from..i);
                open = None;
            }
            _ => {}
        }
    }
    let text = |r: &std::ops::Range<usize>| -> String {
        header[r.clone()].iter().map(|l| format!("{}\n", l.strip_prefix(' ').unwrap_or(l))).collect()
    };
    let pairs: Vec<Example> = blocks
        .chunks_exact(2)
        .map(|pair| Example { before: text(&pair[0]), after: text(&pair[1]), at: pair[1].clone() })
        .collect();
    assert!(blocks.len().is_multiple_of(2) && !pairs.is_empty(), "{file}: an example is a block before and one after");
    pairs
}

/// Holds every example of a header to what `run` makes of it.
fn check(file: &str, source: &str, run: impl Fn(&str) -> String) {
    let mut lines: Vec<String> = source.lines().map(str::to_string).collect();
    for example in examples(file, source).into_iter().rev() {
        let got = run(&example.before);
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            lines.splice(example.at, got.lines().map(|l| format!("//! {l}").trim_end().to_string()));
        } else {
            assert!(got == example.after, "{file}: of\n{}\ncame\n{got}\nand not\n{}", example.before, example.after);
        }
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        let path = format!("{}/src/lower/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::write(path, lines.join("\n") + "\n").unwrap_or_else(|e| panic!("{file}: {e}"));
    }
}

/// Tables and statements as a program of `stage`, the pass, and its result without the tables.
fn on_program(stage: &str, before: &str, pass: impl Fn(Program, &mut LoweringTrace) -> Program) -> String {
    let text = format!("program {stage}{TABLES}body {{\n{before}}}");
    let program: Program = text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"));
    verify::verify(&program).unwrap_or_else(|e| panic!("before: {e:?}\n{program}"));
    let mut trace = LoweringTrace::new();
    let after = pass(program, &mut trace);
    verify::verify(&after).unwrap_or_else(|e| panic!("after: {e:?}\n{after}"));
    let whole = after.to_string();
    let body =
        whole.split_once("\ntemps ").and_then(|(_, rest)| rest.split_once('\n')).expect("temps end the tables").1;
    match body.strip_prefix("body {\n").and_then(|b| b.strip_suffix("}\n")) {
        Some(inside) => inside.lines().map(|l| format!("{}\n", l.strip_prefix("  ").unwrap_or(l))).collect(),
        None => body.to_string(),
    }
}

/// The early passes on a pipeline under a schedule, up to where `show` looks.
fn on_plan(pipeline: &Pipeline, schedule: &str, show: impl Fn(&mut Ctx<'_>, Stmt) -> String) -> String {
    let target = Target {
        arch: Arch::X86_64,
        vector_bits: 128,
        features: None,
        threads: 2,
        cache_bytes: 1 << 20,
        gpu: None,
        budget: Budget::DEFAULT,
    };
    let schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    let plan = crate::plan::resolve(pipeline, &schedule, &target).unwrap_or_else(|e| panic!("{e:?}"));
    let options = LowerOptions::default();
    let mut ctx = Ctx::new(&plan, &options);
    let nest = nests::build_nests::build_nests(&mut ctx);
    show(&mut ctx, nest)
}

fn built(ctx: &mut Ctx<'_>, nest: Stmt) -> String {
    print::stmt_in(&nest, &ctx.program)
}

fn bounded(ctx: &mut Ctx<'_>, nest: Stmt) -> String {
    let mut facts = regions::facts::of_arguments(ctx);
    let regions = regions::infer_bounds::find_regions(ctx, &Default::default(), &mut facts).expect("bounded");
    let body = regions::infer_bounds::infer_bounds(ctx, &regions, &facts, Default::default(), nest);
    print::stmt_in(&body, &ctx.program)
}

/// The loops that start early.
fn early(ctx: &mut Ctx<'_>, nest: Stmt) -> String {
    let mut facts = regions::facts::of_arguments(ctx);
    let mut regions = regions::infer_bounds::find_regions(ctx, &Default::default(), &mut facts).expect("bounded");
    let slid = regions::slide_windows::slide_windows(ctx, &mut regions, &facts, &mut LoweringTrace::new());
    regions::start_early::start_early(ctx, &mut regions, &facts, slid, &mut LoweringTrace::new());
    let body = regions::infer_bounds::infer_bounds(ctx, &regions, &facts, Default::default(), nest);
    print::stmt_in(&body, &ctx.program)
}

/// The definitions that sliding changes.
fn slid(ctx: &mut Ctx<'_>, _: Stmt) -> String {
    let mut facts = regions::facts::of_arguments(ctx);
    let mut regions = regions::infer_bounds::find_regions(ctx, &Default::default(), &mut facts).expect("bounded");
    let before = regions.values.clone();
    let mut trace = LoweringTrace::new();
    regions::slide_windows::slide_windows(ctx, &mut regions, &facts, &mut trace);
    let mut text = String::new();
    for (s, new) in &regions.values {
        if before[s] != *new {
            let show = |e| print::expr_in(e, &ctx.program);
            let name = print::sym_in(*s, &ctx.program);
            let _ = writeln!(text, "{name} = {}\n    -> {}", show(&before[s]), show(new));
        }
    }
    text + &decisions(&trace)
}

fn decisions(trace: &LoweringTrace) -> String {
    trace.passes.iter().flat_map(|p| &p.decisions).map(|d| format!("{d}\n")).collect()
}

/// The factors that folding chooses.
fn folded(ctx: &mut Ctx<'_>, _: Stmt) -> String {
    let mut facts = regions::facts::of_arguments(ctx);
    let mut regions = regions::infer_bounds::find_regions(ctx, &Default::default(), &mut facts).expect("bounded");
    regions::slide_windows::slide_windows(ctx, &mut regions, &facts, &mut LoweringTrace::new());
    let mut trace = LoweringTrace::new();
    let errors = storage::fold_storage::fold_storage(ctx, &regions, &facts, &mut trace);
    let mut text = decisions(&trace);
    errors.iter().for_each(|e| text += &format!("{e}\n"));
    let whole = ctx.program.to_string();
    whole.lines().filter(|l| l.contains(" fold ")).for_each(|l| text += &format!("{l}\n"));
    text
}

/// The assertions, with what each failure is.
fn checked(ctx: &mut Ctx<'_>, _: Stmt) -> String {
    let mut facts = regions::facts::of_arguments(ctx);
    let regions = regions::infer_bounds::find_regions(ctx, &Default::default(), &mut facts).expect("bounded");
    let checks = checks::check_arguments::check_arguments(ctx, &regions, &facts);
    let text: String = checks.at.values().flatten().map(|s| print::stmt_in(s, &ctx.program)).collect();
    let whole = ctx.program.to_string();
    whole.lines().filter(|l| l.starts_with("fault ")).map(|l| format!("{l}\n")).collect::<String>() + &text
}

/// The intervals found, and the values of the output, with coordinates clamped where that is needed.
fn valued(ctx: &mut Ctx<'_>, _: Stmt) -> String {
    let facts = regions::facts::of_program(&ctx.program, &ctx.plan.pipeline, ctx.options);
    let values = regions::value_bounds::value_bounds(ctx, &facts);
    let mut text = String::new();
    for (buf, interval) in &values.known {
        let end = |e: &Option<_>| e.as_ref().map_or("?".to_string(), |e| print::expr_in(e, &ctx.program));
        let name = &ctx.program.buffers[*buf].name;
        let _ = writeln!(text, "{name} holds {} to {}", end(&interval.min), end(&interval.max));
    }
    let output = ctx.plan.pipeline.outputs[0];
    let value = &ctx.templates[&(output, 0)].sites[0].values[0];
    text + &format!("{}\n", print::expr_in(value, &ctx.program))
}

macro_rules! on_programs {
    ($($name:ident $file:literal at $stage:literal: $pass:expr;)*) => {
        $(#[test]
        fn $name() {
            check($file, include_str!($file), |before| on_program($stage, before, $pass));
        })*
    };
}

macro_rules! on_plans {
    ($($name:ident $file:literal of $pipeline:ident: $show:expr;)*) => {
        $(#[test]
        fn $name() {
            check($file, include_str!($file), |before| on_plan(&$pipeline(), before, $show));
        })*
    };
}

/// Allocates the memory of `f` and `g` outside of all loops.
fn at_root(mut p: Program) -> Program {
    p.hoisted = BTreeSet::from([FuncId(0), FuncId(2)]);
    p
}

/// Asks in `x` for what the next iteration of `y` reads of `image`.
fn of_image(mut p: Program) -> Program {
    let (from, bound) = (LoopId(1), PrefetchBound::GuardWithIf);
    p.loops[LoopId(0)].prefetches = vec![PrefetchRequest { bufs: vec![BufId(3)], from, offset: 1, bound }];
    p
}

/// Blocks of 8 along dimension 0 of `g`, which are apart by less than rows.
fn in_blocks() -> storage::split_storage::Splits {
    let part = |dim, part| StorageDim { name: String::new(), dim, part, align: 1, fold: None, at: None };
    let parts = vec![part(0, StoragePart::Inner(8)), part(0, StoragePart::Outer(8)), part(1, StoragePart::Whole)];
    BTreeMap::from([(FuncId(2), parts)])
}

/// `g` is computed ahead, in storage of each iteration's own.
fn ahead() -> loops::fork_producers::Asked {
    let g = BTreeSet::from([FuncId(2)]);
    loops::fork_producers::Asked { funcs: g.clone(), in_turn: g, ..Default::default() }
}

on_plans! {
    build_nests_example "nests/build_nests.rs" of pipeline: built;
    infer_bounds_example "regions/infer_bounds.rs" of pipeline: bounded;
    slide_windows_example "regions/slide_windows/mod.rs" of pipeline: slid;
    start_early_example "regions/start_early.rs" of pipeline: early;
    fold_storage_example "storage/fold_storage.rs" of pipeline: folded;
    value_bounds_example "regions/value_bounds.rs" of with_table: valued;
    check_coordinates_example "checks/check_coordinates.rs" of without_input: checked;
    check_arguments_example "checks/check_arguments.rs" of pipeline: checked;
}

on_programs! {
    uniquify_example "loops/uniquify.rs" at "bounded": |p, _| loops::uniquify::uniquify(p);
    skip_stages_example "loops/skip_stages/mod.rs" at "bounded": |p, t| loops::skip_stages::skip_stages(p, &Facts::new(), t);
    ring_buffer_example "storage/ring_buffer.rs" at "bounded":
        |p, _| storage::ring_buffer::ring_buffer(p, &BTreeMap::from([(FuncId(0), 2)]));
    fork_producers_example "loops/fork_producers/mod.rs" at "bounded":
        |p, t| loops::fork_producers::fork_producers(p, &ahead(), &Facts::new(), t);
    fork_siblings_example "loops/fork_siblings.rs" at "bounded":
        |p, t| loops::fork_siblings::fork_siblings(p, &BTreeSet::from([FuncId(0)]), t);
    hoist_storage_example "storage/hoist_storage.rs" at "bounded": |p, t| storage::hoist_storage::hoist_storage(at_root(p), &Facts::new(), t);
    inject_prefetches_example "loops/inject_prefetches/mod.rs" at "bounded":
        |p, t| loops::inject_prefetches::inject_prefetches(of_image(p), &Facts::new(), t);
    instrument_example "loops/instrument.rs" at "bounded": |p, _| loops::instrument::instrument(p).0;
    only_counts_example "loops/only_counts.rs" at "bounded":
        |p, _| loops::only_counts::only_counts(p).expect("no count depends on what is stored");
    sum_counts_example "loops/sum_counts.rs" at "bounded": |p, _| loops::sum_counts::sum_counts(p);
    bound_small_allocations_example "storage/bound_small_allocations.rs" at "bounded":
        |p, t| storage::bound_small_allocations::bound_small_allocations(p, &Facts::new(), t);
    stop_early_example "loops/stop_early/mod.rs" at "shaped":
        |p, t| loops::stop_early::stop_early(p, &Default::default(), t);
    bound_loops_example "loops/bound_loops.rs" at "bounded":
        |p, t| loops::bound_loops::bound_loops(p, &Facts::new(), t).unwrap_or_else(|e| panic!("{e:?}"));
    split_storage_example "storage/split_storage.rs" at "bounded":
        |p, t| storage::split_storage::split_storage(p, &in_blocks(), &Facts::new(), t);
    flatten_storage_example "storage/flatten_storage.rs" at "bounded": |p, _| storage::flatten_storage::flatten_storage(p);
    unroll_example "loops/unroll.rs" at "flat": loops::unroll::unroll;
    privatize_example "vectors/privatize.rs" at "flat": vectors::privatize::privatize;
    vectorize_example "vectors/vectorize/mod.rs" at "flat": vectors::vectorize::vectorize;
    partition_loops_example "loops/partition_loops/mod.rs" at "shaped":
        |p, t| loops::partition_loops::partition_loops(p, &Facts::new(), u64::MAX, t).program;
    loop_trimming_example "loops/loop_trimming.rs" at "shaped": |p, t| loops::loop_trimming::loop_trimming(p, &Facts::new(), t);
    interleave_example "vectors/interleave/mod.rs" at "shaped": |p, _| vectors::interleave::interleave(p);
    join_sums_example "vectors/join_sums.rs" at "shaped": |p, _| vectors::join_sums::join_sums(p);
    find_intrinsics_example "vectors/find_intrinsics/mod.rs" at "shaped": |p, _| vectors::find_intrinsics::find_intrinsics(p, &Facts::new());
    indices_example "vectors/find_intrinsics/index.rs" at "shaped": |p, _| vectors::find_intrinsics::find_intrinsics(p, &Facts::new());
    licm_example "code/licm.rs" at "shaped": |p, _| code::licm::licm(p);
    register_promotion_example "code/register_promotion/mod.rs" at "shaped": |p, _| code::register_promotion::register_promotion(p);
    scalar_replacement_example "code/scalar_replacement.rs" at "shaped": |p, _| code::scalar_replacement::scalar_replacement(p);
    cse_example "code/cse/mod.rs" at "shaped": |p, _| code::cse::cse(p);
    offload_example "gpu/offload/mod.rs" at "shaped":
        |p, t| gpu::offload::offload(p, &Facts::new(), &Gpu::LEAST, t).unwrap_or_else(|e| panic!("{e:?}"));
    place_copies_example "gpu/place_copies.rs" at "shaped": |p, t| {
        let kernels = gpu::offload::offload(p, &Facts::new(), &Gpu::LEAST, t);
        gpu::place_copies::place_copies(kernels.unwrap_or_else(|e| panic!("{e:?}")), &Default::default(), &mut LoweringTrace::new())
    };
    check_accesses_example "checks/check_accesses/mod.rs" at "shaped": |p, t| checks::check_accesses::check_accesses(p, None, false, t);
    last_use_example "storage/last_use.rs" at "final": |p, _| storage::last_use::last_use(p);
    split_functions_example "code/split_functions.rs" at "final":
        |p, t| code::split_functions::split_beyond(p, code::split_functions::Limits { long: 12, part: 5 }, t);
    outline_tasks_example "code/outline_tasks.rs" at "shaped": |p, _| code::outline_tasks::outline_tasks(p);
}
