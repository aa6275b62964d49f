//! Schedules that the mapper writes: equal values at all sizes, for every instruction, layout and choice.

use halide::check::Check;
use halide::isa::{Approach, Costs, Heuristic, IsaOptions, Mapped, Random, Replay};
use halide::machine::{Cache, Machine};
use halide::prelude::*;
use halide::schedule::{Extents, FloatMode, Instruction, InstructionSet, LoopKind};
use halide_skips::{Need, skip};

/// A pipeline, the extents that its schedule is made for, and those that it runs at.
struct Case {
    name: &'static str,
    pipeline: Pipeline,
    estimated: Vec<i64>,
    runs: Vec<Vec<i64>>,
}

fn case(name: &'static str, out: &Func, estimated: &[i64], runs: &[&[i64]]) -> Case {
    let runs = runs.iter().map(|run| run.to_vec()).collect();
    Case { name, pipeline: Pipeline::new([out]).unwrap(), estimated: estimated.to_vec(), runs }
}

const PLANE: [&[i64]; 5] = [&[64, 40], &[1, 1], &[7, 5], &[33, 17], &[100, 3]];

/// `out(x, y) += a * b` with a sum over k of this many terms, and operands of these types at these coordinates.
fn product(types: [ScalarType; 3], terms: i64, at: impl Fn(Expr, Expr, Expr) -> [[Expr; 2]; 2]) -> Func {
    product_of("out", ["a", "b"], types, terms, at)
}

/// A sum as of [`product`], of other names.
fn product_of(
    name: &str,
    [a_name, b_name]: [&str; 2],
    [a, b, to]: [ScalarType; 3],
    terms: i64,
    at: impl Fn(Expr, Expr, Expr) -> [[Expr; 2]; 2],
) -> Func {
    let (a, b) = (ImageParam::new(a_name, a, 2), ImageParam::new(b_name, b, 2));
    let ((x, y), k, mut out) = (vars!(x, y), RDom::named("k", [(0, terms as i32)]), Func::new(name));
    let [[a0, a1], [b0, b1]] = at(x.expr(), y.expr(), k.x.expr());
    out[(x, y)] += cast_to(to, a[(a0, a1)]) * cast_to(to, b[(b0, b1)]);
    out
}

fn rows(x: Expr, y: Expr, k: Expr) -> [[Expr; 2]; 2] {
    [[k, y], [x, k]]
}

/// A convolution of `taps` by `taps` pixels of four channels, with steps of `stride`, in images of channels first.
fn convolution(name: &str, input: impl Fn([Expr; 3]) -> Expr, taps: i32, stride: i32) -> Func {
    let filter = ImageParam::new(&format!("{name}_filter"), F32, 4);
    let (c, x, y) = vars!(c, x, y);
    let r = RDom::named("r", [(0, 4), (0, taps), (0, taps)]);
    let mut out = Func::new(name);
    out[(c, x, y)] += filter[(c, r.x, r.y, r.z)] * input([r.x.expr(), x * stride + r.y, y * stride + r.z]);
    out
}

fn cases() -> Vec<Case> {
    let (c, x, y) = vars!(c, x, y);
    let image = || {
        let input = ImageParam::new("input", F32, 3);
        move |[c, x, y]: [Expr; 3]| input[(c, x, y)].expr()
    };
    let mut biased = Func::new("biased");
    let bias = ImageParam::new("bias", F32, 1);
    let sums = product([F32; 3], 20, rows);
    let sums_of = |x: &Var, y: &Var| sums[(*x, *y)].expr();
    biased[(x, y)] = max(sums_of(&x, &y) + bias[x], 0.0);
    let first = convolution("first", image(), 3, 1);
    let mut cut = Func::new("cut");
    cut[(c, x, y)] = max(first[(c, x, y)], 0.0);
    let second = convolution("second", |[c, x, y]| cut[(c, x, y)].expr(), 1, 1);
    let (left, right) = (ImageParam::new("left", F32, 2), ImageParam::new("right", F32, 2));
    let (k, mut pairs, mut vector) = (RDom::named("k", [(0, 37)]), Func::new("pairs"), Func::new("vector"));
    pairs[x] += left[(x, k.x)] * right[(x, k.x)];
    let line = ImageParam::new("line", F64, 1);
    let matrix = ImageParam::new("matrix", F64, 2);
    vector[x] += line[k.x] * matrix[(x, k.x)];
    let gate = |name, second| product_of(name, ["a", second], [F32; 3], 20, rows);
    let (open, value) = (gate("open", "c"), gate("value", "b"));
    let longer = product_of("longer", ["d", "e"], [F32; 3], 37, rows);
    let step = ImageParam::new("step", I32, 0);
    let table = ImageParam::new("table", F32, 2);
    let (mut gated, mut turned, mut stepped) = (Func::new("gated"), Func::new("turned"), Func::new("stepped"));
    gated[(x, y)] = max(open[(x, y)], 0.0) * value[(x, y)] + longer[(x, y)];
    turned[(x, y)] = open[(x, y)] - value[(y, x)];
    let (mut curved, mut symmetric) = (Func::new("curved"), Func::new("symmetric"));
    symmetric[(x, y)] = sums_of(&x, &y) + sums_of(&y, &x);
    curved[(x, y)] = tanh(sums_of(&x, &y)) * sums_of(&x, &y);
    stepped[(x, y)] = open[(x, y)] + table[(x, clamp(step[()], 0, 3))] * value[(x, y)];
    let lines: [&[i64]; 4] = [&[200], &[1], &[13], &[64]];
    let images: [&[i64]; 3] = [&[16, 14, 6], &[1, 1, 1], &[17, 5, 3]];
    vec![
        case("product", &product([F32; 3], 20, rows), &[64, 40], &PLANE),
        case("product of f64", &product([F64; 3], 33, rows), &[64, 40], &PLANE),
        case("long sums", &product([F32; 3], 100, rows), &[48, 2], &PLANE),
        case("columns of the second", &product([F32; 3], 24, |x, y, k| [[k, y], [k, x]]), &[64, 40], &PLANE),
        case("rows of the first", &product([F32; 3], 24, |x, y, k| [[y, k], [x, k]]), &[64, 40], &PLANE),
        case("bytes", &product([U8, I8, I32], 36, rows), &[64, 40], &PLANE),
        case("bytes in columns", &product([U8, I8, I32], 36, |x, y, k| [[k, y], [k, x]]), &[64, 40], &PLANE),
        case("words", &product([I16, I16, I32], 30, rows), &[64, 40], &PLANE),
        case("bias", &biased, &[64, 40], &PLANE),
        case("convolution", &convolution("conv", image(), 3, 1), &[16, 14, 6], &images),
        case("convolution with steps", &convolution("conv", image(), 3, 2), &[32, 7, 7], &images),
        case("two layers", &second, &[16, 14, 6], &images),
        case("pairs", &pairs, &[200], &lines),
        case("vector", &vector, &[200], &lines),
        case("gates", &gated, &[64, 40], &PLANE),
        case("curve", &curved, &[64, 40], &PLANE),
        case("symmetric", &symmetric, &[64, 64], &PLANE),
        case("turned", &turned, &[64, 64], &PLANE),
        case("step", &stepped, &[64, 40], &PLANE),
    ]
}

fn map(case: &Case, target: &Target, options: &IsaOptions, approach: &mut dyn Approach) -> Result<Mapped, Error> {
    let output = &case.pipeline.funcs[case.pipeline.outputs[0]].name;
    case.pipeline.auto_isa_with(target, &Estimates::new().output(output, &case.estimated), options, approach)
}

/// The schedule of a case, or none where the target lacks the instruction.
fn mapped(case: &Case, target: &Target, approach: &mut dyn Approach) -> Option<Schedule> {
    match map(case, target, &IsaOptions::default(), approach) {
        Ok(mapped) => Some(mapped.schedule),
        Err(error) if error.to_string().contains("its code has no `v") => None,
        Err(error) => panic!("{}: {error}", case.name),
    }
}

fn agrees(case: &Case, target: &Target, schedules: &[Schedule]) {
    if schedules.is_empty() {
        return;
    }
    let check = Check::new(&case.pipeline).target(target);
    let check =
        schedules.iter().fold(check, |check, schedule| check.schedule(format!("{}\n{schedule}", case.name), schedule));
    let check = case.runs.iter().fold(check, |check, run| check.case(Region::of_extents(run)));
    check.run().unwrap_or_else(|differences| panic!("{differences}"));
}

#[test]
fn chosen_schedules_agree_with_the_interpreter() {
    for (bits, threads) in [(512, 1), (256, 2), (128, 1)] {
        let target = Target { vector_bits: bits.min(Target::host().vector_bits), threads, ..Target::host() };
        for case in cases() {
            agrees(&case, &target, mapped(&case, &target, &mut Heuristic).as_slice());
        }
    }
}

/// Whatever is chosen is right: an approach decides about time alone.
#[test]
fn all_choices_agree_with_the_interpreter() {
    let target = Target { threads: 2, ..Target::host() };
    for case in cases() {
        let chosen = (0..6).filter_map(|seed| mapped(&case, &target, &mut Random::new(seed)));
        agrees(&case, &target, &chosen.collect::<Vec<_>>());
    }
}

fn of(name: &str) -> Case {
    cases().into_iter().find(|case| case.name == name).unwrap()
}

/// Sums of products of this kind, of one value and lanes.
fn instruction(name: &str, meaning: impl Fn(Expr, Expr) -> Expr, ty: ScalarType, to: ScalarType) -> Instruction {
    let (a, b) = (ImageParam::new("a", ty, 0), ImageParam::new("b", ty, 1));
    let (j, mut c) = (Var::new("j"), Func::new("c"));
    c[j] = halide::expr::dynamic::undef_of(to);
    c[j] += meaning(a[()].expr(), b[j].expr());
    let instruction = Instruction::new(name, &Pipeline::new([&c]).unwrap());
    instruction.axis("j", Extents::Multiple(4), LoopKind::Vectorized).dense("b", "j")
}

/// Operations per instruction decide nothing: that of two products loses where it takes four times as long.
#[test]
fn measured_costs_decide_among_instructions() {
    let widened = instruction("one_product", |a, b| cast::<i32>(a) * cast::<i32>(b), I16, I32);
    let set = InstructionSet::built_in().with(widened).unwrap();
    let has_dot = mapped(&of("words"), &Target::host(), &mut Heuristic).is_some();
    if !has_dot {
        return skip(Need::Cpu("avx512vnni"), "costs of sums of products of words");
    }
    let chosen = |costs: &str| {
        let options = IsaOptions::default().set(&set).costs(&costs.parse::<Costs>().unwrap());
        let target = Target { threads: 1, ..Target::host() };
        let case = case("long", &product([I16, I16, I32], 1024, rows), &[512, 512], &[]);
        map(&case, &target, &options, &mut Heuristic).unwrap().stages[0].mapping.instruction.clone()
    };
    assert_eq!(chosen("dot_i16_2 0.5\none_product 0.5"), "dot_i16_2");
    assert_eq!(chosen("dot_i16_2 2\none_product 0.5"), "one_product");
    let wrong = "fma_f23 1".parse::<Costs>().unwrap();
    let error = map(&of("words"), &Target::host(), &IsaOptions::default().costs(&wrong), &mut Heuristic).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no instruction `fma_f23`, of which a cost is said; did you mean `fma_f32`?"
    );
    let error = "fma_f32 0".parse::<Costs>().unwrap_err();
    let wanted = "line 1: `fma_f32 0` is no cost; write an instruction and its cycles, as in `fma_f32 0.5`";
    assert_eq!(error.to_string(), wanted);
}

#[test]
fn reasons_are_told_where_nothing_maps() {
    let strict = IsaOptions::default().floats(FloatMode::Strict);
    let error = map(&of("product"), &Target::host(), &strict, &mut Heuristic).unwrap_err().to_string();
    let rounds = "out.update(0): instruction `fma_f32`: it rounds floats in another way than these options allow";
    assert!(
        error.starts_with("no instruction computes a stage of the pipeline\n") && error.contains(rounds),
        "{error}"
    );
    let (input, x, r) = (ImageParam::new("input", F32, 1), Var::new("x"), RDom::named("r", [(0, 3)]));
    let mut sums = Func::new("sums");
    sums[x] += input[x + r.x] * input[x - r.x];
    let pipeline = Pipeline::new([&sums]).unwrap();
    let error = pipeline.auto_isa(&Target::host(), &Estimates::new().output("sums", [64])).unwrap_err();
    assert!(error.to_string().contains("sums.update(0): it is no sum over a reduction domain"), "{error}");
}

/// Machines of any kind, and sizes of any kind, have an answer.
#[test]
fn corners_of_machines_and_sizes_have_answers() {
    let target = Target { threads: 1, ..Target::host() };
    let typical = Machine::typical(&target);
    let with = |bytes: u64, ways: u32, line: u32| {
        let caches = typical.caches.iter().map(|cache| Cache { bytes, ways, line, ..*cache }).collect();
        Machine { caches, ..typical.clone() }
    };
    let machines = [with(u64::MAX, 1, 1), with(0, 0, 0), Machine { caches: Vec::new(), ..typical.clone() }];
    for machine in machines.iter().chain([&typical]) {
        for estimated in [[1, 1], [i64::from(i32::MAX), 1], [64, i64::from(i32::MAX)]] {
            let case = Case { estimated: estimated.to_vec(), ..of("product") };
            let options = IsaOptions::default().machine(machine);
            match map(&case, &target, &options, &mut Heuristic) {
                Ok(mapped) => assert!(mapped.stages[0].cycles > 0.0, "{:?}", mapped.stages),
                Err(error) => assert!(error.to_string().starts_with("no instruction computes"), "{error}"),
            }
        }
    }
    // All orders of many loops would take hours.
    let vars: Vec<Var> = (0..8).map(|n| Var::new(format!("v{n}"))).collect();
    let at: Vec<Expr> = vars.iter().map(|var| var.expr()).collect();
    let (left, right) = (ImageParam::new("left", F32, 8), ImageParam::new("right", F32, 1));
    let (k, mut out) = (RDom::named("k", [(0, 8)]), Func::new("out"));
    out[&at[..]] += left.read(&[&[k.x.expr()], &at[1..]].concat()[..]) * right[at[0] + k.x];
    let pipeline = Pipeline::new([&out]).unwrap();
    drop(pipeline.auto_isa(&target, &Estimates::new().output("out", [16; 8])));
}

/// Decisions are data: those of random choices give the same schedules again, also behind choices that the compiler
/// refused.
#[test]
fn decisions_are_replayed() {
    let (target, options) = (Target { threads: 2, ..Target::host() }, IsaOptions::default());
    for case in ["convolution", "bias", "product", "two layers", "gates", "turned"].map(of) {
        for seed in 0..4 {
            let first = map(&case, &target, &options, &mut Random::new(seed)).unwrap();
            let again = map(&case, &target, &options, &mut Replay::new(first.decisions.clone())).unwrap();
            assert_eq!(again.schedule.to_string(), first.schedule.to_string(), "{} {seed}", case.name);
            assert_eq!(again.decisions, first.decisions);
        }
    }
}

/// The reader of a sum is in its tiles, and stages whose loops are given stay as they are.
#[test]
fn readers_share_tiles_and_given_loops_stay() {
    let (case, target) = (of("bias"), Target { threads: 1, ..Target::host() });
    let text = map(&case, &target, &IsaOptions::default(), &mut Heuristic).unwrap().schedule.to_string();
    assert!(text.contains("out: compute_at(biased, "), "{text}");
    let keep: Schedule = "out: compute_root() out.update(0): reorder(x, k.x, y)".parse().unwrap();
    let error = map(&case, &target, &IsaOptions::default().keep(&keep), &mut Heuristic).unwrap_err();
    assert_eq!(error.to_string(), "no instruction computes a stage of the pipeline");
}

/// Sums that one Func reads point by point are all in its tiles, also where it reads more at places that are data. A
/// sum that it reads in another order is in loops of its own.
#[test]
fn sums_of_one_reader_share_its_tiles() {
    let target = Target { threads: 1, ..Target::host() };
    let Some(schedule) = mapped(&of("gates"), &target, &mut Heuristic) else {
        return skip(Need::Cpu("fma"), "tiles of several sums");
    };
    let places = |schedule: &Schedule, of: &str| schedule.to_string().matches(&format!(": compute_at({of}, ")).count();
    assert_eq!(places(&schedule, "gated"), 3, "{schedule}");
    let written_out = |schedule: &Schedule, of: &str| {
        let (text, of) = (schedule.to_string(), format!("{of}: "));
        text.lines().any(|line| line.starts_with(&of) && line.contains("vectorize(") && line.contains("unroll("))
    };
    // A tile is written out where its values can stay in registers.
    assert!(!written_out(&schedule, "gated"), "{schedule}");
    let schedule = mapped(&of("bias"), &target, &mut Heuristic).unwrap();
    assert!(written_out(&schedule, "biased"), "{schedule}");
    let schedule = mapped(&of("curve"), &target, &mut Heuristic).unwrap();
    assert!(places(&schedule, "curved") == 1 && !written_out(&schedule, "curved"), "{schedule}");
    let schedule = mapped(&of("step"), &target, &mut Heuristic).unwrap();
    assert_eq!(places(&schedule, "stepped"), 2, "{schedule}");
    // Two places of one sum are in two tiles.
    let schedule = mapped(&of("symmetric"), &target, &mut Heuristic).unwrap();
    assert_eq!(places(&schedule, "symmetric"), 0, "{schedule}");
    let schedule = mapped(&of("turned"), &target, &mut Heuristic).unwrap();
    assert_eq!(places(&schedule, "turned"), 1, "{schedule}");
    assert!(schedule.to_string().contains("value: compute_root()"), "{schedule}");
}

/// Code of a schedule for its shapes alone is that for all, without tails.
#[test]
fn schedules_run_for_known_shapes() {
    let (case, target) = (of("product"), Target::host());
    let schedule = map(&case, &target, &IsaOptions::default(), &mut Heuristic).unwrap().schedule;
    let shapes = Shapes::of_outputs([Region::of_extents([64, 40])]);
    let compiled = Compiler::new(&case.pipeline).schedule(&schedule).shapes(&shapes).compile().unwrap();
    let [a, b] = [[20, 40], [64, 20]].map(|extents: [i64; 2]| {
        Buffer::from_fn(&Region::of_extents(extents), |at| ((at[0] * 3 + at[1]) % 5) as f32).unwrap()
    });
    let out = compiled.inputs().image_named("a", &a).image_named("b", &b).realize::<f32>([64, 40]).unwrap();
    let wanted = |x, y| (0..20).map(|k| a.get([k, y]).unwrap() * b.get([x, k]).unwrap()).sum::<f32>();
    assert!((0..40).all(|y| (0..64).all(|x| out.get([x, y]) == Some(wanted(x, y)))));
}
