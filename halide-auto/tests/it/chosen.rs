//! Schedules that are chosen, and the texts of mistakes in estimates.

use halide_auto::{Auto, AutoError, AutoOptions, CodeFacts, Estimates, Priceable};
use halide_core::buffer::Region;
use halide_core::expr::{cast_to, clamp, exp};
use halide_core::ids::IdVec;
use halide_core::types::{F32, I32, U8, U16};
use halide_core::{Expr, Func, ImageParam, IntoExpr, Param, Pipeline, RDom, Var, boundary, vars};
use halide_ir::machine::Machine;
use halide_ir::target::{Arch, Budget, Target};
use halide_sched::lower::LowerOptions;
use halide_sched::nest::{NestQuery, Sizes, dense_dims};
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::Verb;

pub(crate) const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 256,
    features: None,
    threads: 4,
    cache_bytes: 1 << 20,
    gpu: None,
    budget: Budget::DEFAULT,
};

fn auto_schedule(pipeline: &Pipeline, sizes: &Estimates) -> Result<Auto, AutoError> {
    halide_auto::auto_schedule(pipeline, &TARGET, sizes, &AutoOptions::default(), &mut |_| Ok(None))
}

pub(crate) fn chosen(pipeline: &Pipeline, target: &Target, sizes: &Estimates) -> Auto {
    let options = AutoOptions::default();
    let auto = halide_auto::auto_schedule(pipeline, target, sizes, &options, &mut |_| Ok(None));
    let auto = auto.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(auto.refused, Vec::<String>::new(), "{}", auto.schedule);
    assert!(auto.predicted_ns <= auto.breadth_first_ns, "{}", auto.schedule);
    reads_back(pipeline, target, sizes, &auto);
    auto
}

/// The price of a schedule that was chosen is what it was chosen for.
fn reads_back(pipeline: &Pipeline, target: &Target, sizes: &Estimates, auto: &Auto) {
    let machine = Machine::typical(target);
    let question = Priceable { pipeline, schedule: &auto.schedule, target, machine: &machine, sizes };
    let priced = halide_auto::price(&question, &mut |_| Ok(None)).unwrap_or_else(|e| panic!("{e}"));
    let ratio = priced.predicted_ns / auto.predicted_ns;
    assert!((ratio - 1.0).abs() < 1e-3, "{ratio} {:?} {:?}\n{}", priced.groups, auto.groups, auto.schedule);
    assert_eq!(priced.approximations, [], "{}", auto.schedule);
}

/// A filter of two stages behind a boundary condition.
fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let edges = boundary::repeat_edge(&input);
    let (mut across, mut down) = (Func::new("across"), Func::new("down"));
    across[(x, y)] = (edges[(x - 1, y)] + edges[(x, y)] + edges[(x + 1, y)]) / 3;
    down[(x, y)] = (across[(x, y - 1)] + across[(x, y)] + across[(x, y + 1)]) / 3;
    Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn a_filter_is_computed_in_pieces_on_all_threads() {
    let sizes = Estimates::new().output("down", [6400, 4800]).input("input", [6400, 4800]);
    let Auto { schedule, predicted_ns, breadth_first_ns, priced, .. } = chosen(&blur(), &TARGET, &sizes);
    let text = schedule.to_string();
    for part in ["across: compute_at(down, ", "parallel(", "vectorize("] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
    // The boundary condition costs nothing where it is read.
    assert!(!text.contains("repeat_edge"), "{text}");
    assert!(predicted_ns < 0.8 * breadth_first_ns && priced > 4, "{predicted_ns} of {breadth_first_ns}, {priced}");
    let alone = chosen(&blur(), &Target { threads: 1, ..TARGET }, &sizes).schedule.to_string();
    assert!(!alone.contains("parallel"), "{alone}");
}

/// The model counts the points that the compiler's loops compute.
#[test]
fn points_are_counted_as_the_compiler_makes_them() {
    let sizes = Estimates::new().output("down", [6400, 4800]).input("input", [6400, 4800]);
    for threads in [1, 4] {
        let target = Target { threads, ..TARGET };
        let Auto { schedule, groups, .. } = chosen(&blur(), &target, &sizes);
        let plan = resolve(&blur(), &schedule, &target).unwrap_or_else(|e| panic!("{e:?}"));
        let query = NestQuery::new(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
        let dims = dense_dims(&Region::of_extents([6400, 4800]));
        let (images, params) = ([dims.clone()].into_iter().collect(), IdVec::new());
        let nest = query.at(&Sizes { images: &images, outputs: &[dims], params: &params });
        for (name, predicted) in groups.iter().flat_map(|group| &group.points) {
            let counted = nest.points(name);
            assert!((predicted / counted - 1.0).abs() < 0.05, "{name}: {predicted}, not {counted}\n{schedule}");
        }
    }
}

/// A product of matrices, the first of 1024 columns.
fn matrix_product() -> Pipeline {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let (mut product, mut out) = (Func::new("product"), Func::new("out"));
    let k = RDom::named("k", [(0, 1024)]);
    product[(x, y)] = cast_to(F32, 0);
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    out[(x, y)] = product[(x, y)];
    Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"))
}

/// A sum of products is added up in registers, for several rows and vectors at once.
#[test]
fn sums_are_added_up_in_registers() {
    let pipeline = matrix_product();
    let auto = chosen(&pipeline, &TARGET, &Estimates::new().output("out", [1024, 1024]));
    let text = auto.schedule.to_string();
    let update = text.lines().find(|line| line.starts_with("product.update(0)")).unwrap_or_default();
    assert!(text.contains("product: compute_at(out, "), "{text}");
    assert!(update.contains("unroll(") && update.contains("k.x, "), "{text}");
    assert!(auto.predicted_ns * 10.0 < auto.breadth_first_ns, "{text}");
}

/// Columns of a matrix whose rows are a multiple of a cache's period apart are copied to lie together; those of another
/// width stay where they are.
#[test]
fn inputs_are_packed_whose_rows_share_sets_of_caches() {
    let pipeline = matrix_product();
    let target = Target { threads: 1, ..TARGET };
    let of = |columns: i64| chosen(&pipeline, &target, &Estimates::new().output("out", [columns, 1024]));
    let [packed, plain] = [of(1024), of(1040)];
    let text = packed.schedule.to_string();
    assert!(text.contains("b.in(product): compute_at("), "{text}");
    assert!(!plain.schedule.to_string().contains("in(product)"), "{}", plain.schedule);
}

/// Threads share a sum into few elements by doing parts of it; one thread alone does it at once, and so do others where
/// every sum is in an order.
#[test]
fn sums_into_few_elements_are_done_in_parts() {
    let input = ImageParam::new("input", U8, 2);
    let histogram = |next: fn(Expr) -> Expr| {
        let i = Var::new("i");
        let r = RDom::named("r", [(0, 4096), (0, 4096)]);
        let mut counts = Func::new("counts");
        counts[i] = 0u32.expr();
        let bin = input[(r.x, r.y)].expr();
        counts[&bin] = next(counts[&bin].expr());
        Pipeline::new([&counts]).unwrap_or_else(|e| panic!("{e}"))
    };
    let sizes = Estimates::new().output("counts", [256]).input("input", [4096, 4096]);
    let of = |pipeline: &Pipeline, threads: u32| {
        chosen(pipeline, &Target { threads, ..TARGET }, &sizes).schedule.to_string()
    };
    let (counted, ordered) = (histogram(|n| n + 1u32), histogram(|n| n * 3u32 + 1u32));
    let text = of(&counted, 4);
    assert!(text.contains("counts.update(0): split(r.y, r_yo, r_yi, 256) rfactor(r_yo, r_yp)"), "{text}");
    assert!(text.contains("counts.rfactor(r_yp).update(0): parallel(r_yp)"), "{text}");
    for text in [of(&counted, 1), of(&ordered, 4)] {
        assert!(!text.contains("rfactor"), "{text}");
    }
}

/// A compiler that makes slow code of a stage is asked again, and what it says of the first schedule counts.
#[test]
fn code_is_looked_at() {
    let sizes = Estimates::new().output("down", [6400, 4800]).input("input", [6400, 4800]);
    let options = AutoOptions::default();
    let asked = |slow: &dyn Fn(&Plan) -> bool| {
        let mut times = 0;
        let mut inspect = |plan: &Plan| {
            times += 1;
            let refused = if slow(plan) { vec!["down.x".to_string(), "across.x".to_string()] } else { Vec::new() };
            Ok(Some(CodeFacts { refused }))
        };
        let auto = halide_auto::auto_schedule(&blur(), &TARGET, &sizes, &options, &mut inspect);
        (auto.unwrap_or_else(|e| panic!("{e}")), times)
    };
    let (fast, once) = asked(&|_| false);
    let (slow, often) = asked(&|_| true);
    assert_eq!(fast.schedule, chosen(&blur(), &TARGET, &sizes).schedule);
    assert!(once == 1 && (2..10).contains(&often), "{once} and {often} times");
    assert!(slow.predicted_ns > fast.predicted_ns, "{} and {}", slow.predicted_ns, fast.predicted_ns);
    assert_eq!(slow.refused, Vec::<String>::new());
}

/// A table of few entries is computed once, however cheap it would be to compute an entry where it is used.
#[test]
fn tables_are_stored() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y, i) = vars!(x, y, i);
    let (mut table, mut out) = (Func::new("table"), Func::new("out"));
    let value = cast_to(F32, i);
    table[i] = exp(value * 0.01f32);
    out[(x, y)] = table[cast_to(I32, input[(x, y)] % 256)];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let text = chosen(&pipeline, &TARGET, &Estimates::new().output("out", [1000, 1000])).schedule.to_string();
    assert!(text.contains("table: "), "{text}");
}

/// Reductions whose steps depend on each other stay in their order; other loops around them run at once.
#[test]
fn recurrences_stay_serial() {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut rows, mut out) = (Func::new("rows"), Func::new("out"));
    let r = RDom::named("r", [(1, 999)]);
    rows[(x, y)] = input[(x, y)] * 1.0f32;
    rows[(r.x, y)] = rows[(r.x - 1, y)] * 0.5f32 + rows[(r.x, y)];
    out[(x, y)] = rows[(x, y)];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let schedule = chosen(&pipeline, &TARGET, &Estimates::new().output("out", [1000, 1000])).schedule;
    let at_once = schedule.directives().iter().filter(|d| d.subject.func == "rows" && d.subject.stage == 1);
    let of_r = |verb: &Verb| matches!(verb, Verb::Mark { var, .. } if var == "r.x");
    assert!(!at_once.clone().any(|d| of_r(&d.verb)), "{schedule}");
}

/// Sizes of one point, below a vector, and as large as coordinates get: the question ends, and has an answer.
#[test]
fn every_size_has_an_answer() {
    for size in [[1, 1], [3, 2], [1, 1 << 30], [1 << 30, 1 << 30], [100_003, 7]] {
        chosen(&blur(), &TARGET, &Estimates::new().output("down", size));
    }
    let error = auto_schedule(&blur(), &Estimates::new().output("down", [i64::from(i32::MAX) + 1, -1]));
    assert!(error.is_err_and(|e| e.to_string().contains("dimension 0 of `down` is estimated as 2147483648")));
}

#[test]
fn equal_questions_have_equal_answers() {
    let sizes = Estimates::new().output("down", [333, 77]);
    let first = chosen(&blur(), &TARGET, &sizes);
    let second = chosen(&blur(), &TARGET, &sizes);
    assert_eq!((first.schedule, first.predicted_ns), (second.schedule, second.predicted_ns));
}

/// Every mistake is told, with the nearest name there is.
#[test]
fn mistakes_in_estimates_are_told_at_once() {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", F32, 2);
    let (strength, levels) = (Param::<f32>::new("strength"), Param::<i32>::new("levels").with_range(1, 8));
    let mut out = Func::new("output");
    out[(x, y)] = input[(x, y)] * strength + cast_to(F32, levels.expr());
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let errors = |sizes: Estimates| {
        let error = auto_schedule(&pipeline, &sizes).map(|auto| auto.schedule);
        error.map_or_else(|e| e.to_string(), |schedule| panic!("{schedule}"))
    };
    let wrong = Estimates::new().output("outptu", [1, 1]).input("inptu", [2]).param("strenght", 1.0f32);
    expect_test::expect![[r#"
        the pipeline has no output `outptu`, of which a size is estimated; did you mean `output`?
        the pipeline has no parameter `strenght`, of which a value is estimated; did you mean `strength`?
        the pipeline has no input `inptu`, of which a size is estimated; did you mean `input`?
        output `output` has no size; estimate its 2 extents
        parameter `strength` has neither a default nor an estimate; estimate its value
        parameter `levels` has neither a default nor an estimate; estimate its value"#]]
    .assert_eq(&errors(wrong));
    let sizes = Estimates::new().output("output", [0, 5]).input("input", [2]).param("strength", 1.0f32);
    expect_test::expect![[r#"
        dimension 0 of `output` is estimated as 0; extents are 1 to 2147483647
        `input` has 2 dimensions, and 1 extents are estimated; give one for each
        parameter `levels` cannot be 9; it is a i32, at least 1, at most 8"#]]
    .assert_eq(&errors(sizes.param("levels", 9)));
}

/// Most Funcs of a long chain stay substituted without being looked at, and walks are as deep as it is long.
#[test]
fn chains_of_many_funcs_end_soon() {
    let x = Var::new("x");
    let input = ImageParam::new("input", F32, 1);
    let mut last = Func::new("f0");
    last[x] = input[x] * 2.0f32;
    for n in 1..2000 {
        let mut next = Func::new(format!("f{n}"));
        next[x] = last[x] + 1.0f32;
        last = next;
    }
    let pipeline = Pipeline::new([&last]).unwrap_or_else(|e| panic!("{e}"));
    let auto = chosen(&pipeline, &TARGET, &Estimates::new().output("f1999", [1000]));
    assert!(auto.priced < 10 * 2000, "{}", auto.priced);
    let stored = auto.schedule.to_string().lines().count();
    assert!((2..200).contains(&stored), "code is cut where it is too long: {}", auto.schedule);
}

/// Registers hold no table that data index, so its sums are not computed again for parts of its reader.
#[test]
fn tables_that_data_index_are_computed_once() {
    let (x, y, i) = vars!(x, y, i);
    let input = ImageParam::new("input", U8, 2);
    let (mut counts, mut rank, mut output) = (Func::new("counts"), Func::new("rank"), Func::new("output"));
    let r = RDom::new([(0, 1536), (0, 1024)]);
    counts[i] = 0.expr();
    counts[cast_to(I32, input[(r.x, r.y)])] += 1;
    let b = RDom::named("b", [(1, 255)]);
    rank[i] = counts[i];
    rank[b.x] = rank[b.x - 1] + rank[b.x];
    output[(x, y)] = rank[cast_to(I32, input[(x, y)])];
    let pipeline = Pipeline::new([&output]).unwrap_or_else(|e| panic!("{e}"));
    for vector_bits in [128, 256, 512] {
        let target = Target { vector_bits, threads: 1, ..TARGET };
        let auto = chosen(&pipeline, &target, &Estimates::new().output("output", [1536, 1024]));
        let points: f64 = auto.groups.iter().filter_map(|group| group.points.get("counts")).sum();
        assert!(points < 1.1 * 1536.0 * 1024.0, "{points} points of counts under\n{}", auto.schedule);
    }
}

/// Levels that one output needs at all points, and another one at those that data decide about, are copied for one.
#[test]
fn funcs_are_copied_where_data_decide_for_some_readers() {
    let (x, y, k) = vars!(x, y, k);
    let input = ImageParam::new("input", F32, 2);
    let clamped = boundary::repeat_edge(&input);
    let (mut levels, mut rows, mut half) = (Func::new("levels"), Func::new("rows"), Func::new("half"));
    levels[(x, y, k)] = clamped[(x, y)] * 8.0f32 - exp(clamped[(x, y)] * 3.0f32 - cast_to(F32, k.expr()));
    rows[(x, y, k)] = levels[(x, 2 * y - 1, k)] + levels[(x, 2 * y, k)] * 2.0f32 + levels[(x, 2 * y + 1, k)];
    half[(x, y, k)] = rows[(2 * x - 1, y, k)] + rows[(2 * x, y, k)] * 2.0f32 + rows[(2 * x + 1, y, k)];
    let level = clamp(cast_to(I32, clamped[(x, y)] * 7.0f32), 0, 7);
    let mut output = Func::new("output");
    output[(x, y)] = levels[(x, y, level)];
    let pipeline = Pipeline::new([&output, &half]).unwrap_or_else(|e| panic!("{e}"));
    let target = Target { vector_bits: 512, threads: 1, ..TARGET };
    let sizes = Estimates::new().output("output", [1536, 1024]).output("half", [768, 512, 8]);
    let auto = chosen(&pipeline, &target, &sizes);
    assert!(auto.schedule.to_string().contains("levels: clone_in(output)"), "{}", auto.schedule);
}
