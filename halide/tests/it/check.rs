//! Schedules that are held against the interpreter.

use halide::check::{self, Case, Cause, Check};
use halide::prelude::*;

fn blur() -> Result<Pipeline, Error> {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut rows, mut blur) = (Func::new("rows"), Func::new("blur"));
    rows[(x, y)] = (input[(x, y)] + input[(x + 1, y)] + input[(x + 2, y)]) / 3;
    blur[(x, y)] = (rows[(x, y)] + rows[(x, y + 1)] + rows[(x, y + 2)]) / 3;
    Ok(Pipeline::new([&blur])?)
}

#[test]
fn right_schedules_agree_on_every_engine() -> Result<(), Box<dyn std::error::Error>> {
    let schedules: [Schedule; 3] = [
        "".parse()?,
        "blur: split(y, yo, yi, 8) parallel(yo) vectorize(x, natural) rows: store_at(blur, yo) compute_at(blur, yi)"
            .parse()?,
        "blur: gpu_tile(x, y, xo, yo, xi, yi, 8, 4) rows: compute_at(blur, xo) gpu_threads(x, y)".parse()?,
    ];
    let cases = check::SIZES.map(|(width, height)| Case::new([width, height]));
    let negative = Case::of_regions([Region::of_spans([(-9, 21), (-5, 6)])]).seed(7);
    let agreed = check::agree(&blur()?, &schedules, cases.into_iter().chain([negative]))?;
    assert_eq!((agreed.schedules, agreed.cases), (3, 7));
    // Each schedule and case at least by the evaluator, with two sizes of inputs.
    assert!(agreed.runs >= 3 * 7 * 2, "{agreed}");
    assert!(agreed.values > 10_000, "{agreed}");
    Ok(())
}

#[test]
fn outputs_of_several_types_and_parameters_agree() -> Result<(), Box<dyn std::error::Error>> {
    let (scale, table) = (Param::<f32>::new("scale").with_range(1.0, 2.0), ImageParam::new("table", I32, 1));
    let (x, y) = vars!(x, y);
    let (mut both, mut sums) = (Func::new("both"), Func::new("sums"));
    both[(x, y)] = tuple([cast::<f32>(x + y) * scale, cast::<f32>(x)]);
    let r = RDom::named("r", [(0, 5)]);
    sums[x] = 0.expr();
    sums[x] += table[x + r.x];
    let pipeline = Pipeline::new([&both, &sums])?;
    let schedule: Schedule = "both: vectorize(x, 8) parallel(y)\nsums.updates(): vectorize(x, 4)".parse()?;
    let case = |width: i64| Case::of_regions([Region::of_extents([width, 3]), Region::of_extents([width])]);
    let agreed = check::agree(&pipeline, [&schedule], [case(1), case(13), case(64).param("scale", 1.5f32)])?;
    assert_eq!(agreed.cases, 3);
    Ok(())
}

#[test]
fn broken_promises_and_refused_schedules_are_named() -> Result<(), Box<dyn std::error::Error>> {
    let check = Check::new(&blur()?)
        .schedule("promise", &"blur: bound_extent(x, 8)".parse()?)
        .schedule("typo", &"blurr: serial(x)".parse()?)
        .case([8, 2])
        .case([9, 2]);
    let found = check.run().err().ok_or("it is wrong")?.0;
    let texts: Vec<String> = found.iter().map(ToString::to_string).collect();
    assert_eq!(found.len(), 2, "{texts:?}");
    assert!(texts[0].starts_with("promise at 9x2 on the evaluator: the run ends with an error"), "{texts:?}");
    assert!(matches!(found[0].cause, Cause::Error(_)));
    assert!(texts[1].starts_with("typo: ") && texts[1].contains("`blurr`"), "{texts:?}");
    assert!(matches!(found[1].cause, Cause::Refused(_)));
    Ok(())
}

/// An operation that is not associative, and is said to be: partial results in another order are other results.
#[test]
fn values_that_differ_are_told_with_their_point() -> Result<(), Box<dyn std::error::Error>> {
    let input = ImageParam::new("input", I32, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    let r = RDom::named("r", [(0, 16)]);
    f[x] = 0.expr();
    // One number breaks the law, which no test of the law is likely to draw.
    f[x] = select(f[x].eq(98_304), 98_305, f[x]) + input[r.x];
    let pipeline = Pipeline::new([&f])?;
    let steps = Buffer::from_fn(&Region::of_extents([16]), |_| 32_768)?;
    let schedule: Schedule =
        "f.update(0): split(r.x, ro, ri, 4) monoid(0) rfactor(ro, u)\nf.rfactor(u): compute_root()".parse()?;
    let found =
        check::agree(&pipeline, [&schedule], [Case::new([3]).image("input", steps)]).err().ok_or("it is wrong")?.0;
    assert_eq!(found.len(), 1);
    match &found[0].cause {
        Cause::Value { output, at, expected, found } => {
            assert_eq!((output.as_str(), at.as_slice()), ("f", &[0][..]));
            assert!(!expected.same(*found));
        }
        other => panic!("{other:?}"),
    }
    Ok(())
}

#[test]
fn runs_that_end_with_the_error_of_the_interpreter_agree() -> Result<(), Box<dyn std::error::Error>> {
    let least = Param::<i32>::new("least");
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = require(least.expr().gt(3), x + least.expr(), "`least` is too small");
    let pipeline = Pipeline::new([&f])?;
    let schedule: Schedule = "f: vectorize(x, 4)".parse()?;
    let cases = [Case::new([7]).param("least", 2), Case::new([7]).param("least", 5)];
    assert_eq!(check::agree(&pipeline, [&schedule], cases)?.schedules, 1);
    Ok(())
}

/// A check of nothing is no check.
#[test]
fn nothing_that_is_compared_does_not_agree() -> Result<(), Box<dyn std::error::Error>> {
    let pipeline = blur()?;
    for check in [Check::new(&pipeline).case([3, 3]), Check::new(&pipeline).schedule("none", &Schedule::new())] {
        let found = check.run().err().ok_or("nothing was compared")?;
        assert_eq!(found.to_string(), "nothing was compared; give at least one schedule and one case");
    }
    Ok(())
}

#[test]
fn cases_that_do_not_suit_the_pipeline_are_errors() -> Result<(), Box<dyn std::error::Error>> {
    let pipeline = blur()?;
    let wrong = |case: Case| -> Result<String, String> {
        let checked = Check::new(&pipeline).schedule("none", &Schedule::new()).case(case).run();
        checked.map_err(|found| found.to_string()).map_or_else(Ok, |agreed| Err(agreed.to_string()))
    };
    assert!(wrong(Case::new([4]))?.starts_with("at 4: "));
    assert!(wrong(Case::of_regions([]))?.contains("output"));
    assert!(wrong(Case::new([4, 4]).param("gain", 1))?.contains("gain"));
    assert!(wrong(Case::new([4, 4]).image("input", Buffer::<u16>::new([2, 2])?))?.starts_with("at 4x4"));
    Ok(())
}
