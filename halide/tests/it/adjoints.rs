//! Gradients by `Pipeline::adjoints` against differences of the loss, on every engine.

use crate::engines_agree::noise;
use halide::prelude::*;

/// An input of a test: an image or a parameter.
pub(crate) enum Given {
    Image(&'static str, AnyBuffer),
    Param(&'static str, f64),
}

/// An image of `f64` noise between -1 and 1.
pub(crate) fn image(name: &'static str, spans: &[(i32, i32)], seed: u64) -> Given {
    Given::Image(name, noise(F64, &Region::of_spans(spans), seed))
}

/// The region of a value without dimensions.
fn point() -> Region {
    Region::of_extents([0i32; 0])
}

fn bound<'c>(compiled: &'c Compiled, inputs: &[Given]) -> Call<'c> {
    let call = inputs.iter().fold(compiled.inputs(), |call, input| match input {
        Given::Image(name, buffer) => call.image_named(name, buffer.clone()),
        Given::Param(name, value) => call.param_named(name, *value),
    });
    call.ignore_unused()
}

fn compiled(pipeline: &Pipeline, engine: Engine, schedule: &str) -> Compiled {
    let parsed: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
    let made = Compiler::new(pipeline).engine(engine).schedule(&parsed).compile();
    made.unwrap_or_else(|e| panic!("{schedule}\n{e}\n{pipeline}"))
}

/// The schedule that computes every Func but the outputs at the root.
pub(crate) fn at_root(pipeline: &Pipeline) -> String {
    let is_output = |name: &str| pipeline.outputs.iter().any(|&o| pipeline.funcs[o].name == name);
    let inner = pipeline.funcs.iter().filter(|f| !is_output(&f.name));
    inner.map(|f| format!("{}: compute_root()\n", f.name)).collect()
}

/// The values of all gradients by the interpreter, after every engine gave the same bits under each schedule.
pub(crate) fn gradients(pipeline: &Pipeline, schedules: &[&str], inputs: &[Given]) -> Vec<AnyBuffer> {
    let regions: Vec<Region> = inputs.iter().map(region).collect();
    let run = |engine, schedule: &str| {
        let compiled = compiled(pipeline, engine, schedule);
        let out = bound(&compiled, inputs).realize_all(&regions);
        out.unwrap_or_else(|e| panic!("{engine:?} {schedule}\n{e}\n{pipeline}"))
    };
    let expected = run(Engine::Interp, &at_root(pipeline));
    for schedule in schedules {
        for engine in [Engine::Eval, crate::CPU] {
            for (got, want) in run(engine, schedule).iter().zip(&expected) {
                assert_eq!(got.first_difference(want), None, "{schedule}\n{engine:?}\n{pipeline}");
            }
        }
    }
    expected
}

fn region(input: &Given) -> Region {
    match input {
        Given::Image(_, buffer) => buffer.region(),
        Given::Param(..) => point(),
    }
}

/// The largest difference of gradients and central differences, relative to the larger of 1 and the gradient.
pub(crate) fn error(loss: &Pipeline, schedules: &[&str], mut inputs: Vec<Given>, step: f64) -> f64 {
    let names: Vec<&str> = inputs
        .iter()
        .map(|i| match i {
            Given::Image(n, _) | Given::Param(n, _) => *n,
        })
        .collect();
    let output = loss.funcs[loss.outputs[0]].name.clone();
    let pipeline = loss.adjoints(&output, &names).unwrap_or_else(|e| panic!("{e}\n{loss}"));
    let found = gradients(&pipeline, schedules, &inputs);
    let original = compiled(loss, Engine::Interp, &at_root(loss));
    let value = |inputs: &[Given]| {
        let out = bound(&original, inputs).realize_all(&[point()]).unwrap();
        out[0].get([0i32; 0]).unwrap().as_f64()
    };
    let mut worst = 0f64;
    for n in 0..inputs.len() {
        for at in region(&inputs[n]).coords() {
            let mut moved = |by: f64| {
                let old = match &mut inputs[n] {
                    Given::Image(_, buffer) => {
                        let old = buffer.get(&at).unwrap().as_f64();
                        buffer.set(&at, Scalar::float(F64, old + by)).unwrap();
                        old
                    }
                    Given::Param(_, value) => std::mem::replace(value, *value + by),
                };
                let value = value(&inputs);
                match &mut inputs[n] {
                    Given::Image(_, buffer) => buffer.set(&at, Scalar::float(F64, old)).unwrap(),
                    Given::Param(_, value) => *value = old,
                }
                value
            };
            let difference = (moved(step) - moved(-step)) / (2.0 * step);
            let got = found[n].get(&at).unwrap().as_f64();
            let error = (got - difference).abs() / got.abs().max(1.0);
            assert!(error < 0.1, "{}{at:?}: {got} but differences say {difference}\n{loss}\n{pipeline}", names[n]);
            worst = worst.max(error);
        }
    }
    worst
}

/// The sum over `region` of squares of `f`, each with a weight of its own, as a Func.
fn loss_of(f: &Func, region: &[(i32, i32)]) -> Func {
    let (r, mut loss) = (RDom::new(region.iter().copied()), Func::new("loss"));
    let vars = [r.x, r.y, r.z, r.w];
    let at: Vec<Expr> = vars[..region.len()].iter().map(|v| v.expr()).collect();
    let weight = at.iter().zip(1..).fold(1.0.expr(), |sum, (e, n)| sum + cast::<f64>(*e % 5) * n);
    let value = f.read(at.as_slice());
    loss[()] = cast::<f64>(0);
    loss[()] += value * value * weight;
    loss
}

#[test]
fn stencils_of_several_reads() {
    let input = ImageParam::new("input", F64, 1);
    let x = Var::new("x");
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = input[x - 1] * 0.25 + input[x] * 0.5 + input[x + 1] * input[x];
    g[x] = f[x] * f[x + 2] - input[x];
    let loss = Pipeline::new([&loss_of(&g, &[(-3, 7)])]).unwrap();
    let schedules = ["", "f: compute_root()\n d_f: compute_root() vectorize(x, 4)\n d_input: vectorize(x, 4)"];
    let worst = error(&loss, &schedules, vec![image("input", &[(-4, 11)], 1)], 1e-4);
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn every_operation_has_its_derivative() {
    // Inputs are between -1 and 1, none of them near a place where a slope jumps.
    type Map = fn(Expr, Expr) -> Expr;
    let maps: [(&str, Map); 44] = [
        ("add", |a, b| a + b * 2.0),
        ("sub", |a, b| a - b - a * 3.0),
        ("mul", |a, b| a * b * a),
        ("div", |a, b| a / (b + 3.0)),
        ("mod", |a, b| (a + 10.3) % (b * 0.01 + 1.7)),
        ("neg", |a, b| -a * b),
        ("min", |a, b| min(a * 3.0, b)),
        ("max", |a, b| max(a * 3.0, b) * a),
        ("clamp", |a, b| clamp(a, -0.5, 0.4) * b),
        ("select", |a, b| select(a.gt(b), a * b, a - b * 2.0)),
        ("abs", |a, b| abs(a) * b),
        ("absd", |a, b| absd(a, b * 2.0)),
        ("sqrt", |a, b| sqrt(a + 2.0) * b),
        ("floor", |a, b| floor(a * 4.0) * b),
        ("ceil", |a, b| ceil(a * 4.0) + b),
        ("round", |a, b| round(a * 4.0) - b),
        ("trunc", |a, b| trunc(a * 4.0) * b),
        ("exp", |a, b| exp(a) * b),
        ("log", |a, b| log(a + 2.0) * b),
        ("pow", |a, b| pow(a + 2.0, b)),
        ("squares", |a, b| pow(a, 2.0) + b),
        ("sin", |a, b| sin(a) * b),
        ("cos", |a, b| cos(a) * b),
        ("tan", |a, b| tan(a) * b),
        ("asin", |a, b| asin(a * 0.9) * b),
        ("acos", |a, b| acos(a * 0.9) * b),
        ("atan", |a, b| atan(a) * b),
        ("atan2", |a, b| atan2(a, b + 2.0)),
        ("sinh", |a, b| sinh(a) * b),
        ("cosh", |a, b| cosh(a) * b),
        ("tanh", |a, b| tanh(a) * b),
        ("asinh", |a, b| asinh(a) * b),
        ("acosh", |a, b| acosh(a + 3.0) * b),
        ("atanh", |a, b| atanh(a * 0.9) * b),
        ("hypot", |a, b| hypot(a, b + 2.0)),
        ("erf", |a, b| erf(a) * b),
        ("fma", |a, b| fma(a, b, a)),
        ("lerp", |a, b| lerp(a, b * 3.0, 0.25)),
        ("likely", |a, b| likely(a) * b),
        ("strict", |a, b| strict_float(a * b + a)),
        ("integers", |a, b| cast::<f64>(cast::<i32>(a * 9.0)) * b),
        ("conditions", |a, b| cast::<f64>(a.gt(b)) * a),
        ("arms", |a, b| select(a.gt(0.0), log(a), sqrt(-a)) * b),
        ("fast", |a, b| fast_inverse(a + 3.0) * 0.0 + a * b),
    ];
    let mut worst = 0f64;
    for (name, map) in maps {
        println!("{name}");
        let (a, b, x) = (ImageParam::new("a", F64, 1), ImageParam::new("b", F64, 1), Var::new("x"));
        let mut f = Func::new("f");
        f[x] = map(a[x], b[x]);
        let loss = Pipeline::new([&loss_of(&f, &[(0, 7)])]).unwrap();
        let inputs = vec![image("a", &[(0, 7)], 11), image("b", &[(0, 7)], 5)];
        worst = worst.max(error(&loss, &["", "d_a: vectorize(x, 4)"], inputs, 1e-5));
    }
    println!("largest error {worst}");
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn floats_of_32_bits_through_casts() {
    let (a, x) = (ImageParam::new("a", F64, 1), Var::new("x"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = exp(cast::<f32>(a[x]));
    g[x] = cast::<f64>(f[x]) * a[x];
    let loss = Pipeline::new([&loss_of(&g, &[(0, 7)])]).unwrap();
    assert!(error(&loss, &[""], vec![image("a", &[(0, 7)], 1)], 1e-2) < 1e-3);
}

#[test]
fn boundary_conditions_scatter_and_gather() {
    type Condition = fn(&ImageParam) -> Func;
    let conditions: [(&str, Condition); 5] = [
        ("constant_exterior", |i| constant_exterior(i, 0.5)),
        ("repeat_edge", repeat_edge),
        ("repeat_image", repeat_image),
        ("mirror_image", mirror_image),
        ("mirror_interior", mirror_interior),
    ];
    for (name, condition) in conditions {
        for spans in [[(0, 1), (0, 1)], [(-2, 3), (5, 2)], [(0, 5), (-7, 7)]] {
            println!("{name} {spans:?}");
            let (input, (x, y)) = (ImageParam::new("input", F64, 2), vars!(x, y));
            let around = condition(&input);
            let mut f = Func::new("f");
            f[(x, y)] = around[(x - 1, y)] * 2.0 + around[(x, y)] * around[(x + 1, y + 1)] - around[(x, y - 2)];
            let domain = spans.map(|(min, extent)| (min - 2, extent + 3));
            let loss = Pipeline::new([&loss_of(&f, &domain)]).unwrap();
            let worst = error(&loss, &["d_f: compute_root()"], vec![image("input", &spans, 3)], 1e-4);
            assert!(worst < 1e-6, "{name} {spans:?}: {worst}");
        }
    }
}

#[test]
fn sizes_of_images_bound_the_loss() {
    // Domains that are expressions of sizes, with a smallest coordinate that is not zero.
    for spans in [[(0, 1), (0, 1)], [(-3, 5), (2, 7)]] {
        let (input, (x, y)) = (ImageParam::new("input", F64, 2), vars!(x, y));
        let inside = repeat_edge(&input);
        let (mut f, mut loss, r) = (Func::new("f"), Func::new("loss"), RDom::over(&input));
        f[(x, y)] = inside[(x - 1, y)] + inside[(x, y + 1)] * inside[(x, y)];
        loss[()] += pow(f[(r.x, r.y)] - input[(r.x, r.y)], 2.0);
        let loss = Pipeline::new([&loss]).unwrap();
        let worst = error(&loss, &[""], vec![image("input", &spans, 4)], 1e-4);
        assert!(worst < 1e-6, "{worst}");
    }
}

#[test]
fn products_of_matrices_and_convolutions() {
    let (a, b, (x, y)) = (ImageParam::new("a", F64, 2), ImageParam::new("b", F64, 2), vars!(x, y));
    let (k, mut c) = (RDom::named("k", [(0.expr(), a.width())]), Func::new("c"));
    c[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    let loss = Pipeline::new([&loss_of(&c, &[(0, 3), (0, 4)])]).unwrap();
    let schedules = ["c: compute_root()\n d_c: compute_root()
         d_a.update(0): reorder(x, r.x, y) parallel(y)\n d_b.update(0): reorder(y, x) vectorize(x, 2)"];
    let inputs = vec![image("a", &[(0, 5), (0, 4)], 1), image("b", &[(0, 3), (0, 5)], 2)];
    assert!(error(&loss, &schedules, inputs, 1e-4) < 1e-6);

    let (input, w) = (ImageParam::new("input", F64, 3), ImageParam::new("w", F64, 4));
    let (c, bias) = (Var::new("c"), ImageParam::new("bias", F64, 1));
    let r = RDom::new([(0, 2), (0, 3), (0, 2)]);
    let mut conv = Func::new("conv");
    conv[(x, y, c)] = bias[c];
    conv[(x, y, c)] += w[(c, r.z, r.x, r.y)] * input[(2 * x + r.x, y + r.y, r.z)];
    let mut relu = Func::new("relu");
    relu[(x, y, c)] = max(conv[(x, y, c)], 0.0);
    let loss = Pipeline::new([&loss_of(&relu, &[(0, 3), (0, 2), (0, 2)])]).unwrap();
    let inputs = vec![
        image("input", &[(0, 6), (0, 4), (0, 2)], 7),
        image("w", &[(0, 2), (0, 2), (0, 2), (0, 3)], 8),
        image("bias", &[(0, 2)], 9),
    ];
    let schedules = ["conv: compute_root()\n d_conv: compute_root()\n d_relu: compute_root()"];
    assert!(error(&loss, &schedules, inputs, 1e-5) < 1e-6);
}

#[test]
fn coarser_and_finer_reads() {
    let (input, (x, y)) = (ImageParam::new("input", F64, 2), vars!(x, y));
    let (mut down, mut up, mut turned) = (Func::new("down"), Func::new("up"), Func::new("turned"));
    let inside = repeat_edge(&input);
    down[(x, y)] = inside[(2 * x, 3 * y - 1)] * 0.5 + inside[(2 * x + 1, 3 * y)] * inside[(1 - 2 * x, 3 * y)];
    up[(x, y)] = down[(x / 2, (y + 1) / 3 - 1)] * down[((x + 1) / 2, y / 3)];
    turned[(x, y)] = up[(5 - y, x + y)] * up[(x, 2)] + up[(3, 3)];
    let loss = Pipeline::new([&loss_of(&turned, &[(-3, 7), (0, 5)])]).unwrap();
    let schedules = ["down: compute_root()\n up: compute_root()\n d_up: compute_root()\n d_down: compute_root()"];
    let worst = error(&loss, &schedules, vec![image("input", &[(-2, 7), (-3, 5)], 6)], 1e-4);
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn reads_that_no_formula_turns_around() {
    let (input, index, x) = (ImageParam::new("input", F64, 1), ImageParam::new("index", U8, 1), Var::new("x"));
    let (mut f, mut loss, r) = (Func::new("f"), Func::new("loss"), RDom::new([(0, 6)]));
    // The same element twice, coordinates that are data, squares of coordinates.
    f[x] = input[clamp(x * x - 3, 0, 5)] * input[clamp(cast::<i32>(index[x]), 0, 5)] + input[x % 4];
    loss[()] += f[r.x] * f[r.x] * input[5 - r.x];
    let loss = Pipeline::new([&loss]).unwrap();
    let gradients = loss.adjoints("loss", &["input"]).unwrap();
    let table = Buffer::from_slice([6], &[5u8, 0, 0, 9, 2, 2]).unwrap();
    let inputs = [image("input", &[(0, 6)], 1), Given::Image("index", table.into())];
    let got = {
        let all = |engine| {
            let compiled = compiled(&gradients, engine, "d_f: compute_root()");
            bound(&compiled, &inputs).realize::<f64>([6]).unwrap()
        };
        assert_eq!(all(Engine::Interp), all(crate::CPU));
        all(Engine::Eval)
    };
    let original = compiled(&loss, Engine::Interp, "");
    let Given::Image(_, buffer) = &inputs[0] else { panic!("an image") };
    for at in 0..6i32 {
        let value = |by: f64| {
            let mut moved = buffer.clone();
            moved.set([at], Scalar::float(F64, buffer.get([at]).unwrap().as_f64() + by)).unwrap();
            let call = bound(&original, &inputs).image_named("input", moved);
            call.realize::<f64>([0i32; 0]).unwrap().get([0i32; 0]).unwrap()
        };
        let difference = (value(1e-4) - value(-1e-4)) / 2e-4;
        assert!((difference - got.get([at]).unwrap()).abs() < 1e-6, "{at}: {difference}");
    }
}

#[test]
fn sums_with_predicates_and_several_updates() {
    let (input, (x, y)) = (ImageParam::new("input", F64, 2), vars!(x, y));
    let r = RDom::named("r", [(0, 4), (0, 4)]);
    r.where_((r.x + r.y).lt(x + 2).and(input[(r.x, r.y)].gt(-0.5)));
    let (mut f, q) = (Func::new("f"), RDom::named("q", [(1, 3)]));
    f[(x, y)] = input[(x, y)];
    f[(x, y)] += input[(r.x, r.y)] * input[(x, r.y)];
    f[(q.x, y)] -= input[(q.x - 1, y)] * 3.0;
    f[(x, q.x)] = input[(0, q.x)] * input[(x, 0)] + f[(x, q.x)];
    f[(2, 2)] += input[(1, 1)] * input[(1, 1)];
    let loss = Pipeline::new([&loss_of(&f, &[(0, 4), (0, 4)])]).unwrap();
    let worst = error(&loss, &["f: compute_root()"], vec![image("input", &[(0, 4), (0, 4)], 21)], 1e-4);
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn parameters_tuples_and_inputs_without_effect() {
    let (input, other, x) = (ImageParam::new("input", F64, 1), ImageParam::new("other", F64, 1), Var::new("x"));
    let (gain, power, idle) = (Param::<f64>::new("gain"), Param::<f64>::new("power"), Param::<f64>::new("idle"));
    let (mut pair, mut f, r) = (Func::new("pair"), Func::new("f"), RDom::named("r", [(0, 3)]));
    pair[x] = tuple([input[x] * gain, exp(input[x + 1] * power)]);
    pair[x] = tuple([pair[x].at(0) + input[r.x] * gain, pair[x].at(1) + input[r.x + 1]]);
    f[x] = pair[x].at(0) * pair[x + 1].at(1) * gain + cast::<f64>(cast::<i32>(other[0] * idle));
    let loss = Pipeline::new([&loss_of(&f, &[(0, 4)])]).unwrap();
    let inputs = vec![
        image("input", &[(0, 7)], 3),
        image("other", &[(0, 2)], 3),
        Given::Param("gain", 0.7),
        Given::Param("power", 1.3),
        Given::Param("idle", 0.4),
    ];
    let worst = error(&loss, &["pair: compute_root()\n d_f: compute_root()"], inputs, 1e-4);
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn arms_that_are_not_taken_add_nothing() {
    let (input, x) = (ImageParam::new("input", F64, 1), Var::new("x"));
    let (mut f, mut loss, r) = (Func::new("f"), Func::new("loss"), RDom::over(&input));
    // Slopes of untaken arms are infinite at zero, and not a number below.
    let root = sqrt(input[x]);
    f[x] = select(input[x].gt(0.0), root, 0.0) + select(input[x].gt(1.0), root * 2.0, 0.0) + min(log(input[x]), -100.0);
    loss[()] += f[r.x];
    let pipeline = Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).unwrap();
    let row: Buffer<f64> = Buffer::from_slice([5], &[0.0, -1.0, 0.25, 4.0, 1.0]).unwrap();
    let out = gradients(&pipeline, &["", "d_input: vectorize(x, 4)"], &[Given::Image("input", row.into())]);
    let out = out[0].typed::<f64>().unwrap().to_vec();
    // The logarithm of 0 is the smaller one; of -1 it is not a number, and the constant is taken.
    assert_eq!(out[1..], [0.0, 1.0, 0.75, 0.5]);
    assert!(out[0].is_infinite());
}

#[test]
fn ties_go_to_the_first() {
    let (input, x) = (ImageParam::new("input", F64, 1), Var::new("x"));
    let (mut f, mut loss, r) = (Func::new("f"), Func::new("loss"), RDom::over(&input));
    f[x] = min(input[x] * 2.0, input[x] * 3.0) + max(input[x] * 10.0, 0.0) + abs(input[x]) * 100.0;
    loss[()] += f[r.x];
    let pipeline = Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).unwrap();
    let row: Buffer<f64> = Buffer::from_slice([3], &[-1.0, 0.0, 1.0]).unwrap();
    let out = gradients(&pipeline, &[""], &[Given::Image("input", row.into())]);
    assert_eq!(out[0].typed::<f64>().unwrap().to_vec(), [3.0 - 100.0, 2.0 + 10.0, 2.0 + 10.0 + 100.0]);
}

#[test]
fn recurrences_run_the_other_way() {
    let (input, decay, (x, y)) = (ImageParam::new("input", F64, 2), Param::<f64>::new("decay"), vars!(x, y));
    type Step = fn(&mut Func, &RDom, Expr, Expr, &ImageParam);
    let steps: [Step; 6] = [
        // A prefix sum, in place.
        |f, r, _, x, _| {
            let before = f[(x, r.x - 1)].expr();
            f[(x, r.x)] += before;
        },
        // A recursive filter that stores anew.
        |f, r, c, x, i| {
            let before = f[(x, r.x - 1)] * c;
            f[(x, r.x)] = before + i[(x, r.x)] * (1.0 - c);
        },
        // Downwards, two steps back, not linear.
        |f, r, c, x, i| {
            let before = tanh(f[(x, 7 - r.x)]) * i[(x, r.x)];
            f[(x, 5 - r.x)] = before * c + sin(i[(x, 5 - r.x)]);
        },
        // In all columns of a domain.
        |f, r, c, _, i| {
            let before = f[(r.y, r.x - 1)] * i[(r.y, r.x)] * c;
            f[(r.y, r.x)] += before;
        },
        // Stored anew from elsewhere, and once only.
        |f, r, c, _, i| {
            f[(r.y, r.x)] = i[(r.x, 2)] * c;
            f[(2, 0)] = i[(0, 0)] * c;
        },
        // Everything stored anew.
        |f, _, c, x, i| f[(x, Var::new("y").expr())] = i[(x, 1)] * c,
    ];
    for (n, step) in steps.into_iter().enumerate() {
        println!("step {n}");
        let r = RDom::named("r", [(1, 5), (1, 2)]);
        let r = if n < 3 { RDom::named("r", [(1, 5)]) } else { r };
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[(x, y)] = input[(clamp(x, -1, 3), clamp(y, 0, 6))] * 2.0;
        f[(x, y)] += input[(clamp(y, -1, 3), clamp(x, 0, 6))] * decay.expr();
        step(&mut f, &r, decay.expr(), x.expr(), &input);
        g[(x, y)] = f[(x, y)] * f[(x, y + 1)];
        let loss = Pipeline::new([&loss_of(&g, &[(0, 3), (0, 4)])]).unwrap();
        let inputs = vec![image("input", &[(-1, 7), (0, 8)], 5), Given::Param("decay", 0.7)];
        let worst = error(&loss, &["f: compute_root()\n d_f: compute_root()"], inputs, 1e-5);
        assert!(worst < 1e-6, "step {n}: {worst}");
    }
}

/// A denoiser: three convolutions of 3 by 3 with tanh behind each, and the square of its error.
fn net(ty: ScalarType) -> Pipeline {
    let (x, y, c) = vars!(x, y, c);
    let picture = ImageParam::new("picture", ty, 2);
    let (inside, mut below) = (repeat_edge(&picture), Func::new("layer0"));
    below[(x, y, c)] = inside[(x, y)].expr();
    for (n, channels) in [1, 2, 2].into_iter().enumerate() {
        let w = ImageParam::new(&format!("w{n}"), ty, 4);
        let r = RDom::named("k", [(-1, 3), (-1, 3), (0, channels)]);
        let (mut sums, mut layer) = (Func::new(format!("sums{n}")), Func::new(format!("layer{}", n + 1)));
        sums[(x, y, c)] += w[(r.x, r.y, r.z, c)] * below[(x + r.x, y + r.y, r.z)];
        layer[(x, y, c)] = tanh(sums[(x, y, c)]);
        below = layer;
    }
    let (mut loss, r) = (Func::new("loss"), RDom::over(&picture));
    let error = below[(r.x, r.y, 0)] - picture[(r.x, r.y)] * 0.5;
    loss[()] += error * error;
    Pipeline::new([&loss]).unwrap()
}

#[test]
fn nets_of_three_layers() {
    let weights = |n: usize, from: i32, to: i32| {
        image(["w0", "w1", "w2"][n], &[(-1, 3), (-1, 3), (0, from), (0, to)], 2 + n as u64)
    };
    let inputs = || vec![weights(0, 1, 2), weights(1, 2, 2), weights(2, 2, 1), image("picture", &[(0, 6), (0, 5)], 1)];
    let gradients = |ty| net(ty).adjoints("loss", &["w0", "w1", "w2", "picture"]).unwrap();
    let wide = gradients(F64);
    let schedule = format!("{} d_w1.update(0): parallel(w) vectorize(x, 3)", at_root(&wide));
    let run = |pipeline: &Pipeline, engine, schedule: &str, ty: ScalarType| {
        let images = inputs().into_iter().filter_map(|given| match given {
            Given::Image(name, wide) => {
                let mut narrow = AnyBuffer::with_region(ty, &wide.region()).unwrap();
                for at in wide.region().coords() {
                    narrow.set(&at, Scalar::float(ty, wide.get(&at).unwrap().as_f64())).unwrap();
                }
                Some((name, narrow))
            }
            Given::Param(..) => None,
        });
        let images: Vec<_> = images.collect();
        let regions: Vec<Region> = images.iter().map(|(_, image)| image.region()).collect();
        let compiled = compiled(pipeline, engine, schedule);
        let call = images.iter().fold(compiled.inputs(), |call, (name, image)| call.image_named(name, image.clone()));
        call.realize_all(&regions).unwrap()
    };
    let worst = error(&net(F64), &[&schedule], inputs(), 1e-5);
    assert!(worst < 1e-6, "{worst}");
    // 32 bits give the same but for rounding.
    let exact = run(&wide, Engine::Interp, "", F64);
    let narrow = run(&gradients(F32), crate::CPU, &schedule, F32);
    assert_eq!(narrow, run(&gradients(F32), Engine::Interp, "", F32));
    for (exact, narrow) in exact.iter().zip(&narrow) {
        for at in exact.region().coords() {
            let (exact, narrow) = (exact.get(&at).unwrap().as_f64(), narrow.get(&at).unwrap().as_f64());
            assert!((exact - narrow).abs() < 1e-3 * exact.abs().max(1.0), "{at:?}: {exact} {narrow}");
        }
    }
}

#[test]
fn gradients_of_long_chains_stay_small() {
    let (input, x) = (ImageParam::new("input", F32, 1), Var::new("x"));
    let chain = |stages: usize| {
        let mut below = repeat_edge(&input);
        for n in 0..stages {
            let mut f = Func::new(format!("f{n}"));
            f[x] = tanh(below[x - 1] * below[x]) + below[2 * x + 1] * below[x / 2];
            below = f;
        }
        let (mut loss, r) = (Func::new("loss"), RDom::over(&input));
        loss[()] += below[r.x] * below[r.x];
        let gradients = Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).unwrap();
        gradients.exprs.len()
    };
    let (short, long) = (chain(10), chain(20));
    assert!(long < 3 * short && long < 4000, "{short} and {long} expressions");
}

#[test]
fn gradients_have_schedules_of_their_own() {
    // A sum without a Func, a Func that is called as a gradient would be, and a loss of two dimensions.
    let (input, (x, y)) = (ImageParam::new("input", F32, 2), vars!(x, y));
    let (mut f, mut d_f, r) = (Func::new("f"), Func::new("d_f"), RDom::new([(-1, 3)]));
    let inside = mirror_image(&input);
    f[(x, y)] = sum(inside[(x + r.x, y)] * inside[(x, y + r.x)]);
    d_f[(x, y)] = f[(x, y)] * f[(x + 1, y)];
    let loss = Pipeline::new([&d_f]).unwrap();
    let gradients = loss.adjoints_over("d_f", &["input"], &[("d_f", &[(-3, 13), (2, 9)])]).unwrap();
    let image = noise(F32, &Region::of_extents([11, 7]), 3);
    let run = |engine, schedule: &str| {
        let compiled = compiled(&gradients, engine, schedule);
        compiled.inputs().image_named("input", image.clone()).realize::<f32>([11, 7]).unwrap()
    };
    let expected = run(Engine::Interp, "");
    let schedules = [
        "f: compute_root()\n d_f$1: compute_root() vectorize(x, 8)",
        "f: compute_root() parallel(y)\n d_f$1: compute_root() split(y, yo, yi, 2) parallel(yo)\n d_sum: compute_root()
         d_mirror_image_input: compute_root()\n d_mirror_image_input.update(0): vectorize(x, 4) parallel(y)",
    ];
    for schedule in schedules {
        for engine in [Engine::Eval, crate::CPU] {
            assert_eq!(run(engine, schedule), expected, "{schedule}\n{gradients}");
        }
    }
}

#[test]
fn gradients_of_deep_expressions() {
    // Deeper than a stack would hold.
    let input = ImageParam::new("input", F64, 1);
    let (mut loss, r) = (Func::new("loss"), RDom::over(&input));
    loss[()] += (0..20_000).fold(input[r.x].expr(), |e, _| e * 1.0001 + 0.25);
    let gradients = Pipeline::new([&loss]).unwrap().adjoints("loss", &["input"]).unwrap();
    let compiled = compiled(&gradients, Engine::Interp, "");
    let call = compiled.inputs().image_named("input", Buffer::<f64>::new([2]).unwrap());
    let slope = call.realize::<f64>([2]).unwrap().to_vec();
    assert!(slope.iter().all(|s| (s - 2f64.powf(20_000.0 * 1.0001f64.log2())).abs() < 1e-9), "{slope:?}");
}
