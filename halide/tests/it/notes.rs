//! Requirements and lines to print, on every engine and under many schedules.

use expect_test::{Expect, expect};
use halide::prelude::*;
use std::sync::{Arc, Mutex};

const ENGINES: [(Engine, usize); 4] = [(Engine::Interp, 1), (Engine::Eval, 1), (crate::CPU, 1), (crate::CPU, 2)];

/// A pipeline with what it is given.
struct Case {
    pipeline: Pipeline,
    images: Vec<(&'static str, AnyBuffer)>,
    params: Vec<(&'static str, Scalar)>,
}

impl Case {
    fn new(output: &Func, images: &[(&'static str, Buffer<u8>)], params: &[(&'static str, i32)]) -> Case {
        Case {
            pipeline: Pipeline::new([output]).unwrap(),
            images: images.iter().map(|(name, image)| (*name, AnyBuffer::from(image.clone()))).collect(),
            params: params.iter().map(|(name, value)| (*name, Scalar::from(*value))).collect(),
        }
    }

    fn compile(&self, engine: Engine, schedule: &str) -> Compiled {
        let parsed: Schedule = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
        Compiler::new(&self.pipeline)
            .engine(engine)
            .schedule(&parsed)
            .compile()
            .unwrap_or_else(|e| panic!("{schedule}\n{e}"))
    }

    fn call<'c>(&self, compiled: &'c Compiled) -> Call<'c> {
        let call = self.images.iter().fold(compiled.inputs(), |call, (n, image)| call.image_named(n, image.clone()));
        self.params.iter().fold(call, |call, (name, value)| call.param_named(name, *value))
    }

    fn run(
        &self,
        (engine, threads): (Engine, usize),
        schedule: &str,
        region: &Region,
    ) -> Result<Vec<AnyBuffer>, Error> {
        let compiled = self.compile(engine, schedule);
        let call = self.call(&compiled).threads(threads);
        call.realize_all(&vec![region.clone(); self.pipeline.outputs.len()])
    }

    /// Every engine under every schedule fails with this text, whose place is relative to line `start`.
    fn fails(&self, schedules: &[&str], region: &Region, start: u32, expected: Expect) {
        let mut first: Option<String> = None;
        for schedule in schedules {
            for engine in ENGINES {
                let failure = self.run(engine, schedule, region).err();
                let text = failure.unwrap_or_else(|| panic!("{schedule}\n{engine:?} does not fail")).to_string();
                let known = first.get_or_insert(text.clone());
                assert_eq!(text, *known, "{schedule}\n{engine:?}");
            }
        }
        expected.assert_eq(&relative(&first.unwrap(), start));
    }

    /// Every engine under every schedule gives what the interpreter gives.
    fn agrees(&self, schedules: &[&str], region: &Region) {
        let expected = self.run(ENGINES[0], "", region).unwrap();
        for schedule in schedules {
            for engine in ENGINES {
                let got = self.run(engine, schedule, region).unwrap_or_else(|e| panic!("{schedule}\n{engine:?}: {e}"));
                for (a, b) in got.iter().zip(&expected) {
                    assert_eq!(a.first_difference(b), None, "{schedule}\n{engine:?}");
                }
            }
        }
    }
}

/// `file:line:column: rest` as `+line:column: rest`.
fn relative(text: &str, start: u32) -> String {
    let (place, rest) = text.split_once(": ").unwrap();
    let parts: Vec<&str> = place.rsplitn(3, ':').collect();
    format!("+{}:{}: {rest}", parts[1].parse::<u32>().unwrap() - start, parts[0])
}

fn bytes(values: &[u8]) -> Buffer<u8> {
    Buffer::from_slice([values.len()], values).unwrap()
}

#[test]
fn a_requirement_that_fails_says_where_at_what_and_why() {
    let s = line!();
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = require(input[x].lt(200), input[x] + 1, ("pixel", input[x], "is not below", 200));
    g[x] = f[x] * 2 + f[x + 1];
    let image = bytes(&[1, 2, 3, 199, 5, 6, 7, 8, 9, 250, 11, 12, 13, 14, 15, 16, 17, 18, 255, 255]);
    let case = Case::new(&g, &[("input", image)], &[]);
    let schedules = [
        "",
        "f: compute_root() vectorize(x, 8)\n g: vectorize(x, 4)",
        "f: compute_at(g, x)",
        "f: store_root() compute_at(g, xo)\n g: split(x, xo, xi, 4) vectorize(xi)",
        "g: split(x, xo, xi, 4) parallel(xo) vectorize(xi, 4)\n f: compute_at(g, xo) vectorize(x, 8)",
        "f: compute_root() unroll(x, 4)",
    ];
    let e = expect!["+3:12: `f` at x = 9: requirement failed: pixel 250 is not below 200"];
    case.fails(&schedules, &Region::of_extents([17]), s, e);
    // The first nine pixels are good, also where vectors compute more.
    for extent in [1, 5, 8] {
        case.agrees(&schedules, &Region::of_extents([extent]));
    }
}

#[test]
fn points_that_nobody_needs_make_no_error() {
    let (x, y, input) = (vars!(x), vars!(y), ImageParam::new("input", U8, 1));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    // Of the square that is computed of `f`, the definition of `g` takes the lower triangle.
    f[(x, y)] = require(x.expr().le(y), input[x] + input[y], ("x", x, "is beyond", y));
    g[(x, y)] = select(x.expr().lt(y), f[(x, y)] * 2, 7);
    let case = Case::new(&g, &[("input", bytes(&[3, 1, 4, 1, 5, 9, 2, 6, 5, 3]))], &[]);
    let schedules = [
        "",
        "f: compute_root()",
        "f: compute_root() vectorize(x, 4)\n g: vectorize(x, 4) parallel(y)",
        "f: compute_at(g, y) vectorize(x, 8)",
        "g: tile(x, y, xo, yo, xi, yi, 4, 2)\n f: compute_at(g, xo)",
    ];
    case.agrees(&schedules, &Region::of_extents([10, 10]));
    let compiled = case.compile(crate::CPU, schedules[1]);
    case.call(&compiled).realize_all(&[Region::of_extents([10, 10])]).unwrap();
    let unchecked = VariantKeys(compiled.variants().iter().map(|key| key.unchecked).collect());
    assert_eq!(unchecked.0, [false, true]);
}

struct VariantKeys(Vec<bool>);

#[test]
fn what_depends_on_parameters_only_is_checked_before_anything_is_written() {
    let s = line!();
    let (x, n) = (vars!(x), Param::<i32>::new("n"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = cast::<u8>(x + require(n.expr().gt(0).and(n.expr().le(8)), n, ("n is", n, "and has to be 1 to", 8)));
    g[x] = f[x] + 1;
    let case = Case::new(&g, &[], &[("n", 9)]);
    let schedules = ["", "f: compute_root()", "g: split(x, xo, xi, 4) parallel(xo)\n f: compute_at(g, xo)"];
    let e = expect!["+3:27: `f` at x = 0: requirement failed: n is 9 and has to be 1 to 8"];
    case.fails(&schedules, &Region::of_extents([50]), s, e);
    for schedule in schedules {
        let compiled = case.compile(crate::CPU, schedule);
        let mut out = bytes(&[77; 50]);
        assert!(case.call(&compiled).realize_into(out.view_mut().unwrap()).is_err());
        assert_eq!(out.to_vec(), [77; 50]);
        // Nobody asks for a point.
        assert!(case.call(&compiled).realize::<u8>([0]).is_ok());
    }
    Case::new(&g, &[], &[("n", 8)]).agrees(&schedules, &Region::of_extents([50]));
}

#[test]
fn what_is_required_of_a_value_bounds_it() {
    let s = line!();
    let (x, input) = (vars!(x), ImageParam::new("input", I32, 1));
    let (mut table, mut f) = (Func::new("table"), Func::new("f"));
    table[x] = x * x;
    let i = input[x];
    f[x] = table[require(i.ge(-2).and(i.lt(6)), i, ("index", i))] + table[promise_clamped(i, -1, 7)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let run = |engine, schedule: &str, values: &[i32]| {
        let compiled = Compiler::new(&pipeline).engine(engine).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let image = Buffer::from_slice([values.len()], values).unwrap();
        compiled.inputs().image(&input, image).realize::<i32>([values.len()])
    };
    for schedule in ["table: compute_root()", "table: compute_root() vectorize(x, 4)\n f: vectorize(x, 4)"] {
        for (engine, _) in ENGINES {
            let good = run(engine, schedule, &[-1, 5, 0, 3, 2]).unwrap();
            assert_eq!(good.to_vec(), [2, 50, 0, 18, 8]);
            let text = |values: &[i32]| relative(&run(engine, schedule, values).unwrap_err().to_string(), s);
            assert_eq!(text(&[0, 1, 6, 0, 0]), "+5:18: `f` at x = 2: requirement failed: index 6");
            let promise = "+5:75: `f` at x = 0: requirement failed: -2 is promised to be -1 to 7";
            assert_eq!(text(&[-2, 1, 0, 0, 0]), promise);
        }
    }
}

#[test]
fn a_promise_that_nobody_checks_never_reads_outside() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (mut table, mut f) = (Func::new("table"), Func::new("f"));
    table[x] = cast::<u8>(x * 3);
    f[x] = table[promise_clamped_unchecked(cast::<i32>(input[x]), 0, 15)];
    let case = Case::new(&f, &[("input", bytes(&[0, 15, 7, 200, 16, 255, 1]))], &[]);
    case.agrees(&["table: compute_root()", "table: compute_root()\n f: vectorize(x, 4)"], &Region::of_extents([7]));
}

#[test]
fn requirements_stand_in_updates_domains_and_coordinates() {
    let s = line!();
    let (x, n, input) = (vars!(x), Param::<i32>::new("n"), ImageParam::new("input", U8, 1));
    let r = RDom::named("r", [(0.expr(), require(n.expr().le(12), n, ("n is", n)))]);
    r.where_(require(input[r.x].ne(99), input[r.x], "no 99").ne(5));
    let mut hist = Func::new("hist");
    hist[x] = cast::<u8>(0);
    hist[require(input[r.x].lt(100), cast::<i32>(input[r.x]), ("bin", input[r.x]))] += cast::<u8>(1);
    let mut out = Func::new("out");
    out[x] = hist[x];
    let values = [7, 5, 7, 101, 5, 99, 5, 5, 0, 7, 7, 7];
    let case =
        |n: i32, skip: usize| Case::new(&out, &[("input", bytes(&[&values[skip..], &[1; 8]].concat()))], &[("n", n)]);
    let schedules = ["hist: compute_root()", "hist: compute_root() vectorize(x, 4)\n hist.update(0): unroll(r.x, 2)"];
    let bins = Region::of_extents([100]);
    case(3, 0).agrees(&schedules, &bins);
    case(5, 6).agrees(&schedules, &bins);
    let e = expect!["+6:10: update 0 of `hist` at r.x = 3: requirement failed: bin 101"];
    case(4, 0).fails(&schedules, &bins, s, e);
    let e = expect!["+3:14: update 0 of `hist` at r.x = 1: requirement failed: no 99"];
    case(4, 4).fails(&schedules, &bins, s, e);
    let e = expect!["+2:42: update 0 of `hist`: requirement failed: n is 13"];
    case(13, 6).fails(&schedules, &bins, s, e);
}

/// Returns the printed lines, sorted.
fn printed(case: &Case, engine: (Engine, usize), schedule: &str, region: &Region) -> Vec<String> {
    let compiled = case.compile(engine.0, schedule);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let call = case.call(&compiled).threads(engine.1).print_to(move |line| sink.lock().unwrap().push(line.to_string()));
    call.realize_all(std::slice::from_ref(region)).unwrap();
    let mut lines = lines.lock().unwrap().clone();
    lines.sort();
    lines
}

#[test]
fn lines_are_printed_for_every_point_that_is_computed() {
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = print_when(input[x].gt(3), input[x], ("at", x, "twice", cast::<f32>(input[x]) * 2.0));
    g[x] = select(x.expr().eq(2), print(f[x], ()), f[x]);
    let case = Case::new(&g, &[("input", bytes(&[1, 5, 4, 0, 9]))], &[]);
    let all = ["4", "4 at 2 twice 8.0", "5 at 1 twice 10.0", "9 at 4 twice 18.0"];
    let schedules =
        ["f: compute_root()", "f: compute_root() vectorize(x, 4)", "f: compute_at(g, x)\n g: parallel(x)", ""];
    for schedule in schedules {
        for engine in ENGINES {
            let mut lines = printed(&case, engine, schedule, &Region::of_extents([5]));
            // A vector at the end may compute a point again.
            lines.dedup();
            assert_eq!(lines, all, "{schedule}\n{engine:?}");
        }
    }
}

#[test]
fn lines_of_parallel_tasks_are_whole() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = cast::<u8>(print(x + 100 * y, ("is the sum of", x, "and", 100 * y)));
    let case = Case::new(&f, &[], &[]);
    let lines = printed(&case, (crate::CPU, 2), "f: parallel(y) vectorize(x, 4)", &Region::of_extents([16, 40]));
    assert_eq!(lines.len(), 640);
    for line in lines {
        let numbers: Vec<i32> = line.split(' ').filter_map(|word| word.parse().ok()).collect();
        assert_eq!(numbers[0], numbers[1] + numbers[2], "{line}");
    }
}

/// The run ends as an error, whichever thread the receiver panicked on, and the call can be used again.
#[test]
fn a_receiver_of_lines_that_panics_is_an_error() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = cast::<u8>(print(x + 10 * y, ()));
    let case = Case::new(&f, &[], &[]);
    for engine in ENGINES {
        let compiled = case.compile(engine.0, "f: parallel(y)");
        let full = Arc::new(Mutex::new(true));
        let now = full.clone();
        let sink = move |line: &str| {
            let full = *now.lock().unwrap();
            assert!(line != "13" || !full, "no room for {line}");
        };
        let call = case.call(&compiled).threads(engine.1).print_to(sink);
        for _ in 0..2 {
            let error = call.realize_all(&[Region::of_extents([5, 3])]).unwrap_err();
            let expected = expect!["the receiver of the lines that the pipeline prints panicked: no room for 13"];
            expected.assert_eq(&error.to_string());
        }
        *full.lock().unwrap() = false;
        assert_eq!(call.realize_all(&[Region::of_extents([5, 3])]).unwrap()[0].get([3, 1]), Some(13u8.into()));
    }
}

#[test]
fn mistakes_in_what_is_said() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let pair = tuple([x.expr(), x.expr()]);
    f[x] = require(x, x, "") + print(x, pair) + print_when(1, x, ());
    let r = RDom::named("r", [(0.expr(), print(3, ()))]);
    f[x] += r.x;
    let errors = Pipeline::new([&f]).unwrap_err();
    let text: Vec<String> = errors.0.iter().map(|e| relative(&e.to_string(), s)).collect();
    expect![[r#"
        +4:12: `require` takes a bool condition, not i32
          help: cast the operand to a type that it takes
        +4:32: `print` takes a scalar, not a tuple of 2 elements
          help: take one element with `.at(i)`
        +4:49: `print` takes a bool condition, not i32
          help: cast the operand to a type that it takes
        +5:13: a bound of the domain `r` prints
          help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool"#]]
    .assert_eq(&text.join("\n"));
}
