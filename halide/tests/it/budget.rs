//! Schedules that ask for more copies of code than anybody could use: an error that names them, or code that runs on
//! any thread.

use halide::prelude::*;
use halide::target::Budget;

/// The classic blur of two stages.
fn blur() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut blur_x, mut blur_y) = (Func::new("blur_x"), Func::new("blur_y"));
    blur_x[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur_y[(x, y)] = (blur_x[(x, y)] + blur_x[(x, y + 1)] + blur_x[(x, y + 2)]) / 3;
    Pipeline::new([&blur_y]).unwrap()
}

fn image() -> AnyBuffer {
    let mut image = AnyBuffer::new(U16, [70, 514]).unwrap();
    for at in image.region().coords().collect::<Vec<_>>() {
        image.set(&at, Scalar::from((at[0] * 31 + at[1] * 7) as u16 % 1000)).unwrap();
    }
    image
}

/// `f` on a thread with so much stack.
fn on_thread<T: Send>(bytes: usize, f: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(bytes).spawn_scoped(scope, f).unwrap();
        thread.join().unwrap()
    })
}

/// Values of hundreds of rows that no register is free for, on threads with less stack than they take.
#[test]
fn columns_of_hundreds_of_rows_run_on_threads_with_little_stack() {
    let pipeline = blur();
    let schedule = "blur_y: tile(x, y, xo, yo, xi, yi, natural, 512) reorder(xi, yi, xo, yo) vectorize(xi) unroll(yi) parallel(yo)\n\
                    blur_x: compute_at(blur_y, xo) vectorize(x, natural) unroll(y, 10) store_in(Register)";
    let run = |schedule: &str, bits: u32| {
        let target = Target { vector_bits: bits, ..Target::host() };
        let compiled = pipeline.compile(&schedule.parse().unwrap(), &target).unwrap();
        compiled.inputs().image_named("input", image()).realize_all(&[Region::of_extents([68, 512])]).unwrap().remove(0)
    };
    let expected = run("", 128);
    for bits in [128, Target::host().vector_bits] {
        for kib in [256, 2048] {
            let out = on_thread(kib << 10, || run(schedule, bits));
            assert_eq!(out.first_difference(&expected), None, "{bits} bits on {kib} KiB");
        }
    }
}

fn refused(schedule: &str, budget: Budget) -> String {
    let pipeline = blur();
    let target = Target { vector_bits: 128, budget, ..Target::host() };
    match pipeline.compile(&Schedule::parse(schedule, "test").unwrap(), &target) {
        Ok(_) => panic!("it was compiled"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn copies_that_nobody_could_use_are_refused_before_they_are_made() {
    let schedule = "blur_y: split(x, xo, xi, 4096) unroll(xi) split(y, yo, yi, 4096) unroll(yi)";
    let text = refused(schedule, Budget::DEFAULT);
    let lines: Vec<&str> = text.lines().collect();
    let (first, nodes) = lines[0].split_once("the program would have ").unwrap_or_else(|| panic!("{text}"));
    assert_eq!(first, "test:1:32: `blur_y.xi` is unrolled 4096 times: ");
    let (nodes, rest) = nodes.split_once(' ').unwrap();
    assert!(nodes.parse::<u64>().unwrap() > 1 << 26 && rest == "nodes, more than the 2000000 allowed", "{text}");
    assert_eq!(
        lines[1..],
        [
            "  test:1:66: `blur_y.yi` is unrolled 4096 times",
            "  help: unroll, vectorize or specialize by less, or allow more by the target's budget"
        ]
    );
}

#[test]
fn code_beyond_the_budget_is_refused_with_the_directives_to_blame() {
    let schedule = "blur_y: split(x, xo, xi, 64) unroll(xi)";
    let budget = Budget { instructions: 500, ..Budget::DEFAULT };
    let text = refused(schedule, budget);
    assert!(text.starts_with("the code has ") && text.contains(" instructions with `"), "{text}");
    let blame =
        "more than the 500 allowed\n  test:1:30: `blur_y.xi` is unrolled 64 times\n  help: unroll or vectorize by less";
    assert!(text.contains(blame), "{text}");
    let text = refused(schedule, Budget { code_bytes: 1000, ..Budget::DEFAULT });
    assert!(text.contains(" bytes of machine code with `") && text.contains("more than the 1000 allowed"), "{text}");
    let text = refused(schedule, Budget { stack_bytes: 16, ..Budget::DEFAULT });
    assert!(text.contains(" bytes of values on the stack") && text.contains("`blur_y.xi` is unrolled 64"), "{text}");
    let pipeline = blur();
    assert!(pipeline.compile(&schedule.parse().unwrap(), &Target::host()).is_ok());
}

/// Each stage of a chain is computed inside of the loops of all variants of the next: as many copies as there are ways
/// through.
#[test]
fn variants_of_variants_are_counted_before_they_are_made() {
    let (x, stages) = (vars!(x), 12);
    let mut last = Func::new("s0");
    last[x] = x.expr();
    let mut schedule = String::new();
    for i in 1..stages {
        let mut next = Func::new(format!("s{i}"));
        next[x] = last[x] + last[x + 1];
        schedule += &format!("s{}: compute_at(s{i}, x)\n", i - 1);
        last = next;
    }
    for i in 1..stages {
        (1..8).for_each(|n| schedule += &format!("s{i}: specialize(s{}.extent(0) == {n})\n", stages - 1));
    }
    let pipeline = Pipeline::new([&last]).unwrap();
    let error = pipeline.compile(&schedule.parse().unwrap(), &Target::host()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("has 8 variants: the program would have") && error.contains("help: unroll"), "{error}");
}

#[test]
fn cuts_of_loops_in_loops_are_counted_before_they_are_made() {
    let input = ImageParam::new("input", U8, 4);
    let (x, y, z, w) = vars!(x, y, z, w);
    let mut f = Func::new("f");
    let bounded = halide::boundary::repeat_edge(&input);
    f[(x, y, z, w)] = bounded[(x - 1, y - 1, z - 1, w - 1)] + bounded[(x + 1, y + 1, z + 1, w + 1)];
    let pipeline = Pipeline::new([&f]).unwrap();
    let schedule: Schedule =
        "f: always_partition(x) always_partition(y) always_partition(z) always_partition(w)".parse().unwrap();
    let compile = |nodes| {
        let target = Target { budget: Budget { nodes, ..Budget::DEFAULT }, ..Target::host() };
        pipeline.compile(&schedule, &target).map(|_| ())
    };
    let error = compile(1000).unwrap_err().to_string();
    assert!(error.contains("is cut into prologue, steady state and epilogue: the program would have"), "{error}");
    assert!(compile(2_000_000).is_ok());
}
