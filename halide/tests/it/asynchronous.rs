//! Asynchronous producers and ring buffers: what the next iteration reads is computed while this one runs.

use crate::engines_agree::noise;
use halide::prelude::*;

/// A stage of a few rows, computed for tiles of another.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut low, mut blur, mut out) = (Func::new("low"), Func::new("blur"), Func::new("out"));
    low[(x, y)] = input[(x, y)] / 2 + input[(x + 1, y)] / 2;
    blur[(x, y)] = low[(x, y)] / 3 + low[(x, y + 1)] / 3 + low[(x, y + 2)] / 3;
    out[(x, y)] = blur[(x, y)] * 3 - blur[(x + 1, y)] + low[(x, y)];
    Pipeline::new([&out]).unwrap()
}

const ENGINES: [Engine; 2] = [Engine::Eval, crate::CPU];

/// Sizes of one, primes, and less than a tile.
const SIZES: [(i64, i64); 4] = [(1, 1), (7, 3), (33, 11), (16, 8)];

#[track_caller]
fn check(pipeline: &Pipeline, schedules: &[&str]) {
    let reference = Compiler::new(pipeline).engine(Engine::Interp).compile().unwrap();
    for (w, h) in SIZES {
        let wanted = Region::of_spans([(-3, w), (2, h)]);
        let image = noise(U16, &Region::of_spans([(-20, w + 60), (-20, h + 60)]), 8);
        let wanted = std::slice::from_ref(&wanted);
        let want = reference.inputs().image_named("input", &image).realize_all(wanted).unwrap();
        for text in schedules {
            for engine in ENGINES {
                let compiled = Compiler::new(pipeline).engine(engine).schedule(&text.parse().unwrap()).compile();
                let compiled = compiled.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}"));
                for threads in [1, 2, 4] {
                    let got = compiled.inputs().image_named("input", &image).threads(threads).realize_all(wanted);
                    assert_eq!(got.unwrap_or_else(|e| panic!("{text}\n{engine:?}: {e}")), want, "{text}\n{engine:?}");
                }
            }
        }
    }
}

#[test]
fn producers_run_ahead_in_copies_of_their_storage() {
    check(
        &pipeline(),
        &[
            "blur: compute_at(out, y) hoist_storage_root() ring_buffer(2) async()",
            "blur: compute_at(out, y) hoist_storage_root() ring_buffer(3) async() vectorize(x, 4)",
            "out: tile(x, y, xo, yo, xi, yi, 8, 4)\n blur: compute_at(out, xo) hoist_storage(out, yo) ring_buffer(2) async()",
            "out: tile(x, y, xo, yo, xi, yi, 8, 4) vectorize(xi) parallel(yo)
             blur: compute_at(out, xo) hoist_storage(out, yo) ring_buffer(2) async() vectorize(x, 8)
             low: compute_at(out, xo) vectorize(x, 8)",
            "out: tile(x, y, xo, yo, xi, yi, 8, 4, GuardWithIf) vectorize(xi)
             blur: compute_at(out, xo) hoist_storage_root() ring_buffer(2) async() parallel(y)
             low: compute_at(out, xo) hoist_storage(out, yo) ring_buffer(2) async()",
            "low: compute_root()\n blur: compute_at(out, x) hoist_storage(out, y) ring_buffer(4) async()",
            // Copies without anybody who runs ahead.
            "blur: compute_at(out, y) hoist_storage_root() ring_buffer(2) split_storage(x, xo, xi, 4)
             low: compute_at(out, y) hoist_storage_root() ring_buffer(5) reorder_storage(y, x)",
            "blur: compute_at(out, y) hoist_storage_root() ring_buffer(2) async() split_storage(x, xo, xi, 4)
             low: compute_at(out, y)",
        ],
    );
}

/// Storage of an iteration that what runs ahead fills in its own loops.
#[test]
fn storage_between_an_iteration_and_what_runs_ahead_goes_with_it() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut low, mut blur, mut out) = (Func::new("low"), Func::new("blur"), Func::new("out"));
    low[(x, y)] = input[(x, y)] / 2 + input[(x + 1, y)] / 2;
    blur[(x, y)] = low[(x, y)] / 3 + low[(x, y + 1)] / 3 + low[(x, y + 2)] / 3;
    out[(x, y)] = blur[(x, y)] * 3 - blur[(x + 1, y)];
    check(
        &Pipeline::new([&out]).unwrap(),
        &[
            "out: split(y, yo, yi, 4)\n blur: compute_at(out, yo) hoist_storage_root() ring_buffer(2) async()
             low: compute_at(blur, y) store_at(out, yo)",
            "blur: compute_at(out, x) hoist_storage(out, y) ring_buffer(2) async()\n low: compute_at(blur, x) store_at(out, x)",
            "blur: compute_at(out, y) store_root() async()\n low: compute_at(blur, y) store_at(out, y) vectorize(x, 4)",
        ],
    );
}

#[test]
fn producers_run_ahead_in_windows_that_slide() {
    check(
        &pipeline(),
        &[
            "low: compute_at(out, y) store_root() async() vectorize(x, 8)\n blur: compute_at(out, y)",
            "low: compute_at(out, y) store_root() async() fold_storage(y, 4)",
            "out: reorder(y, x)\n low: compute_at(out, x) store_root() async()",
            "out: split(y, yo, yi, 4) parallel(yo)
             low: compute_at(out, yi) store_at(out, yo) async()
             blur: compute_at(out, yi) hoist_storage(out, yo) ring_buffer(2) async()",
        ],
    );
}

#[test]
fn producers_at_the_root_run_beside_each_other() {
    check(
        &siblings(),
        &[
            "a: compute_root() async()\n b: compute_root()",
            "a: compute_root() async() parallel(y)\n b: compute_root() async() vectorize(x, 8)\n c: compute_root()",
            "a: compute_root() async()\n c: compute_root() async()\n b: compute_at(c, y) store_root() async()",
        ],
    );
}

/// Two stages that do not need each other, and one that needs both.
fn siblings() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut out) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("out"));
    a[(x, y)] = input[(x, y)] / 2 + input[(x + 1, y)] / 2;
    b[(x, y)] = input[(x, y)] * 3 - input[(x, y + 1)];
    c[(x, y)] = b[(x, y)] / 5 + b[(x, y - 1)];
    out[(x, y)] = a[(x, y)] * 3 - c[(x + 1, y)] + a[(x, y + 1)];
    Pipeline::new([&out]).unwrap()
}

/// The decisions about a schedule that are explained.
fn explained(pipeline: &Pipeline, text: &str) -> String {
    let compiled = Compiler::new(pipeline).schedule(&text.parse().unwrap()).compile().unwrap();
    compiled.explain().unwrap()
}

#[test]
fn explanations_say_who_runs_ahead_and_who_does_not() {
    let own = "compute_at(out, y) hoist_storage_root() ring_buffer(2)";
    let says = |text: &str, what: &str| {
        let text = explained(&pipeline(), text);
        assert!(text.contains(what), "{text}");
    };
    says(&format!("blur: {own} async()"), "blur: computed for the next iteration of out.y while this one runs");
    let why = "both iterations use `low`, and one of them writes it";
    says(&format!("blur: {own} async()\n low: compute_at(out, y) store_root()"), why);
    says(
        "low: compute_at(out, y) store_root() async()\n blur: compute_at(out, y)",
        "low: computed for the next iteration of out.y while this one runs",
    );
    says(
        "low: compute_at(out, y) store_root() fold_storage(y, 4) async()",
        "low: computed for the next iteration of out.y while this one runs",
    );
    let together = "a: compute_at(out, y) hoist_storage_root() ring_buffer(2)
         b: compute_at(out, y) hoist_storage_root() ring_buffer(2) async() compute_with(a, y) c: compute_at(out, y)";
    let text = explained(&siblings(), together);
    assert!(text.contains("not computed for"), "{text}");
    let text = explained(&siblings(), "a: compute_root() async()\n b: compute_root()\n c: compute_root()");
    assert!(text.contains("a, b: computed at the same time at the root"), "{text}");
    let text = explained(&siblings(), "a: compute_root()\n b: compute_root() async()\n c: compute_root()");
    assert!(text.contains("what follows it needs it"), "{text}");
}

#[track_caller]
fn refused(text: &str, message: &str) {
    let error = Compiler::new(&pipeline()).schedule(&text.parse().unwrap()).compile().unwrap_err().to_string();
    assert!(error.contains(message), "{text}\n{error}");
}

#[test]
fn loads_past_the_caches_are_explained() {
    let text = explained(&pipeline(), "low: compute_root()\n out: stream_loads()");
    assert!(text.contains("out: not loading what it reads past the caches"), "{text}");
    let inlined: Schedule = "low: eager_inline()".parse().unwrap();
    assert_eq!(inlined.to_string().trim(), "low: compute_inline()");
}

#[test]
fn schedules_that_leave_no_storage_to_run_ahead_in_are_refused() {
    refused(
        "blur: compute_at(out, y) ring_buffer(2)",
        "is allocated where it is stored, so there is one copy at a time",
    );
    refused("blur: compute_root() ring_buffer(2)", "is allocated where it is stored, so there is one copy at a time");
    refused("blur: compute_at(out, y) hoist_storage_root() ring_buffer(1)", "copies");
    refused("blur: compute_at(out, y) async()", "in the storage that this one reads");
    refused("out: ring_buffer(2)", "whose memory the caller gives");
    let own = "blur: compute_at(out, y) hoist_storage_root() ring_buffer(2) async()";
    refused(&format!("out: unroll(y, 2) unroll(x, 4)\n{}", own.replace("(out, y)", "(out, yi)")), "yi");
    refused(
        "out: split(y, yo, yi, 4) unroll(yi)
         blur: compute_at(out, yi) hoist_storage(out, yo) ring_buffer(2) async()",
        "whose iterations do not run one after the other",
    );
}
