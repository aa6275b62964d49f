//! Prices of schedules that people write, and steps from these to faster ones.

use crate::chosen::{TARGET, chosen};
use halide_auto::{Advice, AutoError, Estimates, Part, Priceable, Priced};
use halide_core::expr::exp;
use halide_core::types::{F32, U16};
use halide_core::{Func, ImageParam, IntoExpr, Param, Pipeline, RDom, vars};
use halide_ir::machine::Machine;
use halide_ir::target::{Gpu, Target};
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

const ONE: Target = Target { threads: 1, ..TARGET };

/// A filter of two stages.
fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    down[(x, y)] = (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3;
    Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"))
}

fn sizes() -> Estimates {
    Estimates::new().output("down", [4096, 2048])
}

fn product() -> (Pipeline, Estimates) {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let k = RDom::named("k", [(0, 512)]);
    let (mut product, mut out) = (Func::new("product"), Func::new("out"));
    product[(x, y)] = 0f32.expr();
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    out[(x, y)] = product[(x, y)];
    (Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}")), Estimates::new().output("out", [512, 512]))
}

fn parsed(text: &str) -> Schedule {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn try_price(pipeline: &Pipeline, sizes: &Estimates, target: &Target, text: &str) -> Result<Priced, AutoError> {
    let (machine, schedule) = (Machine::typical(target), parsed(text));
    halide_auto::price(&Priceable { pipeline, schedule: &schedule, target, machine: &machine, sizes }, &mut |_| {
        Ok(None)
    })
}

fn price(target: &Target, text: &str) -> Priced {
    try_price(&blur(), &sizes(), target, text).unwrap_or_else(|e| panic!("{e}"))
}

fn advise(pipeline: &Pipeline, sizes: &Estimates, target: &Target, text: &str) -> Vec<Advice> {
    let (machine, schedule) = (Machine::typical(target), parsed(text));
    let question = Priceable { pipeline, schedule: &schedule, target, machine: &machine, sizes };
    halide_auto::advise(&question, 100, &mut |_| Ok(None)).unwrap_or_else(|e| panic!("{e}")).steps
}

/// Memory is as fast for tasks of which the last ones leave a thread without work, but for that time.
#[test]
fn tasks_that_threads_cannot_share_evenly_are_a_little_dearer() {
    let two = Target { threads: 2, ..TARGET };
    let of = |rows: i64| {
        let sizes = Estimates::new().output("down", [1 << 16, rows]);
        let priced = try_price(&blur(), &sizes, &two, "down: parallel(y) vectorize(x, natural)");
        priced.unwrap_or_else(|e| panic!("{e}")).predicted_ns / rows as f64
    };
    let (even, odd) = (of(100), of(101));
    assert!((1.0..1.02).contains(&(odd / even)), "{even} and {odd} ns a row");
}

#[test]
fn equal_loops_have_equal_prices_however_they_are_written() {
    let pairs = [
        ("down: vectorize(x, 16)", "down: split(x, xo, xi, 16) vectorize(xi)"),
        ("down: parallel(y, 32) vectorize(x, 16)", "down: split(y, yo, yi, 32) parallel(yo) vectorize(x, 16)"),
        (
            "down: tile(x, y, xo, yo, xi, yi, 256, 64) vectorize(xi, 16) across: compute_at(down, xo)",
            "down: tile(x, y, xo, yo, xi, yi, 256, 64) fuse(xo, yo, t) vectorize(xi, 16) across: compute_at(down, t)",
        ),
        (
            "down: vectorize(x, 16) unroll(y, 4)",
            "down: split(y, y, yi, 4) reorder(yi, x, y) unroll(yi) vectorize(x, 16)",
        ),
        ("down: fuse(x, y, t) split(t, t, i, 16) vectorize(i)", "down: vectorize(x, 16)"),
        ("down: rename(x, column) vectorize(column, 16)", "down: vectorize(x, 16)"),
        ("down: vectorize(x, 32)", "down: vectorize(x, 16) split(x, x, two, 2) unroll(two)"),
    ];
    for (one, other) in pairs.iter().take(6) {
        let [a, b] = [one, other].map(|text| price(&ONE, text));
        assert!((a.predicted_ns / b.predicted_ns - 1.0).abs() < 1e-3, "{one} {a:?}\n{other} {b:?}");
    }
    let [wide, written] = [pairs[6].0, pairs[6].1].map(|text| price(&ONE, text).predicted_ns);
    assert!((wide / written - 1.0).abs() < 0.05, "{wide} {written}");
}

#[test]
fn places_decide_about_points_and_times() {
    let points = |text: &str| {
        let priced = price(&ONE, text);
        (priced.groups.iter().filter_map(|g| g.points.get("across")).sum::<f64>(), priced.predicted_ns)
    };
    let rows = 4096.0 * 2048.0;
    let vectors = "down: split(y, yo, yi, 32) vectorize(x, 16) across: vectorize(x, 16)";
    let (root, _) = points(&format!("{vectors} compute_root()"));
    assert_eq!(root, 4096.0 * 2050.0);
    let (strips, ns_of_strips) = points(&format!("{vectors} compute_at(down, yo)"));
    assert_eq!(strips, rows * 34.0 / 32.0);
    let (line, ns_of_line) = points(&format!("{vectors} compute_at(down, yi)"));
    assert_eq!(line, 3.0 * rows);
    let (slid, ns_of_slid) = points(&format!("{vectors} store_at(down, yo) compute_at(down, yi)"));
    assert!((slid / strips - 1.0).abs() < 0.01, "{slid}");
    assert!(ns_of_slid < ns_of_line && ns_of_strips < ns_of_line, "{ns_of_slid} {ns_of_strips} {ns_of_line}");
}

#[test]
fn only_what_is_said_to_be_parallel_is() {
    let [serial, parallel, alone] = [(&TARGET, ""), (&TARGET, "parallel(y)"), (&ONE, "parallel(y)")]
        .map(|(target, word)| price(target, &format!("down: vectorize(x, 16) {word}")).predicted_ns);
    assert_eq!(serial, alone);
    let [inner, both] = ["parallel(x)", "parallel(y) parallel(x)"]
        .map(|words| price(&TARGET, &format!("down: reorder(y, x) {words}")).predicted_ns);
    let [rows, fused] = ["reorder(x, y) parallel(x)", "fuse(x, y, t) parallel(t)"]
        .map(|words| price(&TARGET, &format!("down: {words}")).predicted_ns);
    // Threads are woken for each row.
    assert!(rows > inner + 1e6 && both <= inner, "{rows} {inner} {both}");
    assert!(fused < rows, "{fused} {rows}");
    assert!(parallel < 0.8 * serial, "{parallel} of {serial}");
}

#[test]
fn parts_that_are_priced_as_others_are_named() {
    let cases = [
        ("down: prefetch(input, y, y, 1)", Part::Prefetch, "down"),
        ("down: split(x, x, two, 2) unroll(two) vectorize(x, 16)", Part::LanesApart, "down"),
        ("down: reorder(x, y) split(y, yo, yi, 2) reorder(x, yi, yo) unroll(yi)", Part::InsideUnrolled, "down"),
        (
            "down: split(y, a, b, 64) split(b, b, c, 8) split(x, xo, xi, 64) reorder(c, xi, b, xo, a)",
            Part::Tiles,
            "down",
        ),
        (
            "down: tile(x, y, xo, yo, xi, yi, 64, 64) reorder(xi, yi, yo, xo) across: compute_at(down, yo)",
            Part::TileOrder,
            "down",
        ),
        ("across: compute_at(down, y) parallel(x)", Part::InnerParallel, "across"),
        ("down: specialize(input.extent(0) == 100) vectorize(x, 16)", Part::Specialisations, "down"),
        ("across: compute_root() reorder_storage(y, x)", Part::Storage, "across"),
        ("across: store_root() compute_at(down, x)", Part::KeptFar, "across"),
    ];
    for (text, part, of) in cases {
        let found = price(&TARGET, text).approximations;
        assert!(found.iter().any(|a| a.part == part && a.of == of), "{text}: {found:?}");
        assert!(found.iter().all(|a| a.part == part), "{text}: {found:?}");
    }
    let text = price(&TARGET, "down: prefetch(input, y, y, 1)").approximations[0].to_string();
    assert_eq!(text, "`down`: prefetches are not priced");
    assert_eq!(price(&ONE, "across: compute_at(down, y) parallel(x)").approximations, []);
}

#[test]
fn specialisations_for_the_sizes_are_priced() {
    let known = "down: specialize(down.extent(0) == 4096) down.specialize(0): vectorize(x, 16)";
    let other = "down: specialize(down.extent(0) == 4095) down.specialize(0): vectorize(x, 16)";
    let of = |text: &str| price(&ONE, text).predicted_ns;
    assert_eq!(of(known), of("down: vectorize(x, 16)"));
    assert_eq!(of(other), of(""));
}

#[test]
fn factors_may_be_parameters() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y, rows) = (halide_core::Var::new("x"), halide_core::Var::new("y"), Param::<i32>::new("rows"));
    let mut down = Func::new("down");
    down[(x, y)] = input[(x, y)] + halide_core::expr::cast::<u16>(rows.expr());
    let pipeline = Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"));
    let of = |text: &str| {
        let priced = try_price(&pipeline, &sizes().param("rows", 8), &ONE, text);
        priced.unwrap_or_else(|e| panic!("{e}")).predicted_ns
    };
    let [by_param, by_number] = ["rows", "8"].map(|f| of(&format!("down: tile(x, y, xo, yo, xi, yi, 64, {f})")));
    assert_eq!(by_param, by_number);
}

#[test]
fn mistakes_are_errors() {
    let refused = |text: &str, target: &Target, sizes: &Estimates| {
        let Err(error) = try_price(&blur(), sizes, target, text) else { panic!("{text} has a price") };
        error.to_string()
    };
    assert!(refused("down: vectorize(z, 8)", &ONE, &sizes()).contains('z'));
    assert!(refused("", &ONE, &Estimates::new()).contains("down"));
    let gpu = Target { gpu: Some(Gpu::LEAST), ..ONE };
    let text = refused("down: gpu_tile(x, y, xo, yo, xi, yi, 8, 8)", &gpu, &sizes());
    assert!(text.starts_with("`down` is computed by kernels"), "{text}");
}

/// The price of a schedule after a step is what was predicted of it, and a step from what was chosen gains little.
#[test]
fn steps_are_legal_and_as_fast_as_predicted() {
    let (products, size_of_product) = product();
    let texts = [
        "",
        "across: compute_root()",
        "across: compute_root() down: parallel(y, 8) vectorize(x, 16)",
        "down: tile(x, y, xo, yo, xi, yi, 256, 64) parallel(yo) vectorize(xi, 16) across: compute_at(down, xo)",
    ];
    let of_blur = texts.map(|text| (blur(), sizes(), text));
    let of_product =
        ["", "product: compute_root()", "product: compute_at(out, y) product.update(0): reorder(x, k.x, y)"]
            .map(|text| (products.clone(), size_of_product.clone(), text));
    for (pipeline, sizes, text) in of_blur.into_iter().chain(of_product) {
        let advice = advise(&pipeline, &sizes, &TARGET, text);
        assert!(!advice.is_empty(), "{text}");
        assert!(advice.windows(2).all(|pair| pair[0].after_ns <= pair[1].after_ns));
        for step in advice {
            assert!(step.after_ns < step.before_ns && !step.changes.is_empty(), "{text} {step:?}");
            let after = step.schedule.to_string();
            let priced = try_price(&pipeline, &sizes, &TARGET, &after).unwrap_or_else(|e| panic!("{after}: {e}"));
            let ratio = priced.predicted_ns / step.after_ns;
            assert!((ratio - 1.0).abs() < 1e-3, "{ratio} {text}\n{after}\n{:?}", priced.groups);
        }
    }
    let auto = chosen(&blur(), &TARGET, &sizes());
    for step in advise(&blur(), &sizes(), &TARGET, &auto.schedule.to_string()) {
        assert!(step.after_ns > 0.9 * step.before_ns, "{} {step:?}", auto.schedule);
    }
}

#[test]
fn steps_keep_what_the_model_does_not_write() {
    let text = "across: compute_root() reorder_storage(y, x) align_storage(y, 64) vectorize(x, 4)
                down: prefetch(across, y, y, 2) vectorize(x, 16)";
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = exp(exp(input[(x, y)]));
    down[(x, y)] = across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)];
    let pipeline = Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"));
    let advice = advise(&pipeline, &sizes(), &ONE, text);
    let step = advice.iter().find(|step| step.changes.iter().all(|change| change.func == "across"));
    let step = step.unwrap_or_else(|| panic!("{advice:?}"));
    let after = step.schedule.to_string();
    assert!(step.changes[0].after.to_string().contains("compute_root"), "{step:?}");
    for kept in ["reorder_storage(y, x)", "align_storage(y, 64)", "prefetch(across, y, y, 2)"] {
        assert!(after.contains(kept), "{after}");
    }
    let change = &step.changes[0];
    assert!(change.before.to_string().starts_with("across: compute_root()"), "{change:?}");
    assert!(change.after.to_string().contains("vectorize(x, natural)"), "{change:?}");
    resolve(&pipeline, &step.schedule, &ONE).unwrap_or_else(|e| panic!("{e:?}"));
}

#[test]
fn parts_of_reductions_have_prices_and_steps() {
    let input = ImageParam::new("input", F32, 2);
    let (y, r) = (halide_core::Var::new("y"), RDom::named("r", [(0, 4096)]));
    let mut rows = Func::new("rows");
    rows[y] = 0f32.expr();
    rows[y] += input[(r.x, y)];
    let pipeline = Pipeline::new([&rows]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("rows", [1024]);
    let text = "rows.update(0): float(relaxed) split(r.x, ro, ri, 8) rfactor(ri, lane)
                rows.rfactor(lane): compute_root()
                rows.rfactor(lane).update(0): reorder(lane, ro, y) vectorize(lane, 8)";
    let priced = try_price(&pipeline, &sizes, &ONE, text).unwrap_or_else(|e| panic!("{e}"));
    assert!(priced.groups.iter().any(|group| group.root == "rows.rfactor(lane)"), "{priced:?}");
    for step in advise(&pipeline, &sizes, &ONE, text) {
        resolve(&pipeline, &step.schedule, &ONE).unwrap_or_else(|e| panic!("{}: {e:?}", step.schedule));
    }
}
/// Steps of long pipelines are told by what they gain nearby: no Func takes much of the whole time.
#[test]
fn long_pipelines_have_steps() {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", F32, 2);
    let mut last = Func::new("s0");
    last[(x, y)] = input[(x, y)] * 0.5f32;
    for n in 1..200 {
        let mut next = Func::new(format!("s{n}"));
        next[(x, y)] = last[(x - 1, y)] + last[(x, y + 1)] + last[(x + 1, y)];
        last = next;
    }
    let pipeline = Pipeline::new([&last]).unwrap_or_else(|e| panic!("{e}"));
    let lines: Vec<String> = (0..200).map(|n| format!("s{n}: compute_root()")).collect();
    let (machine, schedule) = (Machine::typical(&ONE), parsed(&lines.join("\n")));
    let sizes = Estimates::new().output("s199", [1024, 1024]);
    let (pipeline, sizes, schedule, machine) = (&pipeline, &sizes, &schedule, &machine);
    let question = Priceable { pipeline, schedule, target: &ONE, machine, sizes };
    let advised = halide_auto::advise(&question, 5, &mut |_| Ok(None)).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(advised.steps.len(), 5);
    assert!(advised.steps.iter().all(|step| step.after_ns < advised.priced.predicted_ns));
}
