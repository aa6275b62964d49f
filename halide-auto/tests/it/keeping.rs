//! Schedules that are chosen around directives that are given.

use crate::chosen::TARGET;
use halide_auto::{Auto, AutoError, AutoOptions, Estimates};
use halide_core::types::{U8, U16};
use halide_core::{Func, ImageParam, IntoExpr, Pipeline, RDom, vars};
use halide_ir::target::Target;
use halide_sched::plan::resolve;
use halide_sched::schedule::Schedule;

const ONE: Target = Target { threads: 1, ..TARGET };

/// Three filters in a row, and a sum of what the second one makes.
fn filters() -> Pipeline {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(0, 3)]);
    let [mut first, mut second, mut sum, mut out] = ["first", "second", "sum", "out"].map(Func::new);
    first[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    second[(x, y)] = (first[(x, y)] + first[(x, y + 1)] + first[(x, y + 2)]) / 3;
    sum[(x, y)] = second[(x, y)] - 1;
    sum[(x, y)] += second[(x + r.x, y)];
    out[(x, y)] = sum[(x, y)] + second[(x + 1, y + 1)];
    Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"))
}

fn keep(text: &str, target: &Target) -> Result<Auto, AutoError> {
    let sizes = Estimates::new().output("out", [4096, 2048]);
    let given: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let options = AutoOptions::default().keep(&given);
    halide_auto::auto_schedule(&filters(), target, &sizes, &options, &mut |_| Ok(None))
}

#[test]
fn what_is_given_stays_and_the_rest_is_chosen() {
    let cases = [
        "out: split(y, rows, row, 24) vectorize(x, 4)",
        "second: compute_root() vectorize(x, 8)",
        "second: store_at(out, band) compute_at(out, row) out: split(y, band, row, 64) prefetch(input, row, row, 2)",
        "first: compute_at(out, y)",
        "sum: compute_at(out, x) sum.update(0): unroll(r.x) out: vectorize(x, 16)",
        "first: in(second) first.in(second): compute_at(second, y) second: compute_root()",
        "second: reorder_storage(y, x) compute_root()",
        "second: reorder_storage(y, x)",
        "out: fuse(x, y, t) parallel(t, 64)",
        "out: bound(x, 0, 4096)",
    ];
    for text in cases {
        for target in [ONE, TARGET] {
            let given: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
            let Auto { schedule, refused, predicted_ns, .. } = match keep(text, &target) {
                Ok(auto) => auto,
                Err(error) => panic!("{text}: {error}"),
            };
            assert_eq!(refused, Vec::<String>::new(), "{text}\n{schedule}");
            assert!(predicted_ns.is_finite() && predicted_ns < 1e12, "{text} {predicted_ns}");
            let begins: Schedule = schedule.directives()[..given.len()].to_vec().into();
            assert_eq!(begins, given);
            resolve(&filters(), &schedule, &target).unwrap_or_else(|e| panic!("{schedule}: {e:?}"));
        }
    }
}

#[test]
fn the_rest_is_placed_in_given_loops() {
    let schedule = keep("out: split(y, band, row, 64) parallel(band) vectorize(x, 8)", &ONE);
    let text = schedule.unwrap_or_else(|e| panic!("{e}")).schedule.to_string();
    assert!(text.contains("compute_at(out, row)") || text.contains("compute_at(out, band)"), "{text}");
    assert_eq!(text.matches("\nout").count() + usize::from(text.starts_with("out")), 1, "{text}");
}

#[test]
fn given_loops_cost_what_they_cost() {
    let free = keep("", &ONE).unwrap_or_else(|e| panic!("{e}")).predicted_ns;
    let slow = keep("out: reorder(y, x)", &ONE).unwrap_or_else(|e| panic!("{e}")).predicted_ns;
    assert!(free < slow, "{free} {slow}");
}

#[test]
fn given_mistakes_are_those_of_schedules() {
    for (text, part) in
        [("out: vectorize(z, 8)", "`z`"), ("ouut: vectorize(x, 8)", "ouut"), ("first: compute_at(out, z)", "`z`")]
    {
        let Err(AutoError::Schedule(errors)) = keep(text, &ONE) else { panic!("{text} is no mistake") };
        assert!(errors.iter().any(|e| e.to_string().contains(part)), "{errors:?}");
    }
}

/// Parts of sums, which a search thinks of, are placed by it also beside what is given, and given parts stay.
#[test]
fn parts_of_sums_are_chosen_beside_what_is_given() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let r = RDom::named("r", [(0, 4096), (0, 4096)]);
    let [mut counts, mut out] = ["counts", "out"].map(Func::new);
    counts[i] = 0u32.expr();
    counts[input[(r.x, r.y)].expr()] += 1u32;
    out[(x, y)] = counts[input[(x, y)].expr()] + 1u32;
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("out", [4096, 4096]);
    let parts = "counts.update(0): split(r.x, a, b, 1024) rfactor(a, part)";
    for (text, made) in [("out: vectorize(x, 4)", "counts.rfactor(r_yp)"), (parts, "counts.rfactor(part)")] {
        let given: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let options = AutoOptions::default().keep(&given);
        let auto = halide_auto::auto_schedule(&pipeline, &TARGET, &sizes, &options, &mut |_| Ok(None));
        let Auto { schedule, refused, .. } = auto.unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(refused, Vec::<String>::new(), "{text}\n{schedule}");
        let told = schedule.to_string();
        assert!(told.starts_with(text) && told.contains(made), "{told}");
        assert!(told.matches("compute_root").count() <= 3, "a place is said once:\n{told}");
    }
}
