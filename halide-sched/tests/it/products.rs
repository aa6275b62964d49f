//! Coordinates whose arithmetic may leave 64 bits: a fault before anything is read, or the right values.

use crate::matrix::random_image;
use crate::support::{count_stmts, planned};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::interp::{self, Inputs};
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_ir::eval::{self, EvalError};
use halide_ir::{Fault, Stmt};
use halide_sched::lower::{LowerOptions, lower};

/// Returns true if the program refuses to run. If it does not, its values are those of the interpreter, and the sums
/// and products of indices were all exact: the evaluator says so where one is not.
fn refuses(coordinate: impl Fn([Expr; 3], Expr) -> Expr, schedule: &str) -> bool {
    let images = ["a", "b", "c"].map(|name| ImageParam::new(name, I32, 1));
    let (x, i) = (vars!(x), vars!(i));
    let (mut far, mut g) = (Func::new("far"), Func::new("g"));
    far[i] = i + 1;
    g[x] = far[coordinate(images.clone().map(|image| image[x].expr()), x.expr())];
    let p = Pipeline::new([&g]).unwrap();
    let image = |seed| {
        let mut image = random_image(I32, &Region::of_extents([4]), seed);
        (0..4).for_each(|x| image.set([x], halide_core::value::Scalar::from(((seed as i32) << 29) - x)).unwrap());
        image
    };
    let given: Vec<AnyBuffer> = (0..p.images.len() as u64).map(|i| image(i + 1)).collect();
    let region = Region::of_extents([4]);
    let inputs = p.images.iter().zip(&given).fold(Inputs::new(), |all, (i, given)| all.image(&i.name, given.clone()));
    let expected = interp::run(&p, &inputs, std::slice::from_ref(&region));
    let program = lower(&planned(&p, schedule), &LowerOptions::default()).unwrap().program;
    let mut outputs = vec![AnyBuffer::with_region(I32, &region).unwrap()];
    match eval::run(&program, &[], &given, &mut outputs) {
        Err(EvalError::Fault { fault, .. }) => {
            assert!(matches!(program.faults[fault], Fault::IndexOverflow { .. }), "{:?}", program.faults[fault]);
            true
        }
        Err(e) => panic!("{schedule}: {e}\n{program}"),
        Ok(_) => {
            let expected = expected.unwrap_or_else(|e| panic!("{e}\n{program}")).swap_remove(0);
            assert_eq!(outputs[0].first_difference(&expected), None, "{program}");
            false
        }
    }
}

const SCHEDULES: [&str; 3] = ["far: compute_root()", "far: compute_at(g, x)", ""];

/// Products of several elements that leave 64 bits: as coordinates, and inside of what keeps a coordinate small.
#[test]
fn products_of_several_elements_are_checked() {
    for schedule in SCHEDULES {
        assert!(refuses(|[a, b, c], _| a * b * c * 4, schedule));
        assert!(refuses(|[a, b, c], _| clamp(a * b * c * 4, 0, 9), schedule));
        assert!(refuses(|[a, b, c], _| (a * b * c) % 16, schedule));
        assert!(refuses(|[a, b, c], _| min(a * b * c, 3) % 4, schedule));
        assert!(refuses(|[a, b, c], _| ((a * b + c) * (a + c) / 1000) % 8, schedule));
        assert!(refuses(|[a, b, _], x| (x * a * b) / 70000 % 5 + x, schedule));
    }
}

/// Two elements, and small ones, cannot leave 64 bits: nothing is refused.
#[test]
fn small_products_are_not_refused() {
    for schedule in SCHEDULES {
        assert!(!refuses(|[a, b, c], _| (a * b + c) % 16, schedule));
        assert!(!refuses(|[a, b, c], _| clamp(a % 1000 * (b % 1000) * (c % 1000) * 4, 0, 9), schedule));
        assert!(!refuses(
            |[a, b, c], x| (cast::<i32>(cast::<i16>(a)) * cast::<i32>(cast::<i16>(b)) * c) % 5 + x,
            schedule
        ));
        assert!(!refuses(|[a, b, c], x| select((a * b + c).gt(x), x, 0), schedule));
    }
}

/// Coordinates alone: the product of four is small where the region is.
#[test]
fn products_of_coordinates_are_checked_for_the_region_at_hand() {
    for schedule in SCHEDULES {
        assert!(!refuses(|_, x| x * x * x * x % 7, schedule));
    }
    let x = vars!(x);
    let mut g = Func::new("g");
    g[x] = select((x * x * x * x).gt(5), 1, 0);
    let program = lower(&planned(&Pipeline::new([&g]).unwrap(), ""), &LowerOptions::default()).unwrap().program;
    for (min, refused) in [(0, false), (30_000, false), (-60_000, true), (2_000_000, true)] {
        let mut outputs = vec![AnyBuffer::with_region(I32, &Region::of_spans([(min, 5)])).unwrap()];
        let run = eval::run(&program, &[], &[], &mut outputs);
        assert_eq!(matches!(run, Err(EvalError::Fault { .. })), refused, "{min}: {run:?}");
    }
}

/// An operand of a sum and of a product is as small as each of them needs, whichever comes first.
#[test]
fn an_operand_of_a_sum_is_checked_for_products_too() {
    let x = vars!(x);
    let fourth = || x * x * x * x;
    let conditions =
        [(fourth() + x * x * x).gt(5) & (fourth() * 64).gt(9), (fourth() * 64).gt(9) & (fourth() + x * x * x).gt(5)];
    for cond in conditions {
        let mut g = Func::new("g");
        g[x] = select(cond, 1, 0);
        let program = lower(&planned(&Pipeline::new([&g]).unwrap(), ""), &LowerOptions::default()).unwrap().program;
        for (min, refused) in [(0, false), (10_000, false), (30_000, true)] {
            let mut outputs = vec![AnyBuffer::with_region(I32, &Region::of_spans([(min, 5)])).unwrap()];
            let run = eval::run(&program, &[], &[], &mut outputs);
            assert_eq!(matches!(run, Err(EvalError::Fault { .. })), refused, "{min}: {run:?}\n{program}");
        }
    }
}

/// Arithmetic that cannot leave 64 bits has no check.
#[test]
fn ordinary_coordinates_have_no_checks_of_products() {
    let (x, y) = vars!(x, y);
    let mut g = Func::new("g");
    g[(x, y)] = select((x * y + x * 7 - y).gt(5), x, y * 100);
    let program = lower(&planned(&Pipeline::new([&g]).unwrap(), ""), &LowerOptions::default()).unwrap().program;
    let is_check = |s: &Stmt| matches!(s, Stmt::Assert { fault, .. } if matches!(program.faults[*fault], Fault::IndexOverflow { .. }));
    let overflows = count_stmts(&program.body, &is_check);
    assert_eq!(overflows, 0, "{program}");
}
