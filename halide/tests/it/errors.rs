//! The error type: its sources are the errors of the layers below, and its faults have kinds.

use halide::error::{AlgorithmErrors, BufferError, ParseErrors, RunError, ScheduleError};
use halide::prelude::*;
use halide::{CallFault, FaultKind};
use std::error::Error as _;

fn shifted() -> Pipeline {
    let input = ImageParam::new("input", U8, 1);
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = input[x + 1];
    Pipeline::new([&f]).unwrap()
}

/// Returns true if the source of an error is a `T` whose text is part of the error's.
fn is_from<T: std::error::Error + 'static>(error: impl Into<Error>) -> bool {
    let error = error.into();
    let source = error.source().and_then(|source| source.downcast_ref::<T>());
    source.is_some_and(|source| error.to_string().contains(&source.to_string()))
}

#[test]
fn an_error_has_that_of_the_layer_below_as_its_source() {
    assert!(is_from::<AlgorithmErrors>(Pipeline::new(std::iter::empty()).unwrap_err()));
    assert!(is_from::<ParseErrors>("f: vektorize(x, 8)".parse::<Schedule>().unwrap_err()));
    assert!(is_from::<BufferError>(Buffer::<u8>::new([-1]).unwrap_err()));
    let wrong = shifted().compile(&"f: vectorize(z, 8)".parse().unwrap(), &Target::host());
    assert!(is_from::<ScheduleError>(wrong.unwrap_err()));
    let compiled = Compiler::new(&shifted()).compile().unwrap();
    assert!(is_from::<RunError>(compiled.inputs().realize::<u8>([4]).unwrap_err()));
    let small = compiled.inputs().image_named("input", Buffer::<u8>::new([4]).unwrap());
    assert!(is_from::<CallFault>(small.realize::<u8>([4]).unwrap_err()));
    let cancel = Cancel::new();
    cancel.cancel();
    assert!(small.cancel_with(&cancel).realize::<u8>([4]).unwrap_err().source().is_none());
}

#[test]
fn faults_have_kinds() {
    let kind = |schedule: &str, input: usize, output: usize| {
        let compiled = Compiler::new(&shifted()).schedule(&schedule.parse().unwrap()).compile().unwrap();
        let input = Buffer::<u8>::new([input]).unwrap();
        match compiled.inputs().image_named("input", input).realize::<u8>([output]) {
            Err(Error::Fault(fault)) => Some(fault.kind()),
            Err(error) => panic!("{error}"),
            Ok(_) => None,
        }
    };
    assert_eq!(kind("", 9, 8), None);
    assert_eq!(kind("", 8, 8), Some(FaultKind::InputTooSmall));
    assert_eq!(kind("f: split(x, xo, xi, 4, RoundUp)", 9, 7), Some(FaultKind::OutputRegion));
}

/// A promise is looked at where it matters: by then, earlier definitions may have been stored.
#[test]
fn a_fault_of_an_update_comes_after_what_was_written() {
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = x * 2;
    f[0] = 7.expr();
    let schedule = "f.update(0): specialize(f.extent(0) > 100) specialize_fail(\"wide ones only\")";
    let compiled = Pipeline::new([&f]).unwrap().compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
    let mut out = Buffer::<i32>::from_slice([3], &[9; 3]).unwrap();
    let error = compiled.inputs().realize_into(out.view_mut().unwrap()).unwrap_err();
    assert!(matches!(&error, Error::Fault(fault) if fault.kind() == FaultKind::Promise), "{error}");
    assert_ne!(out.to_vec(), [9; 3], "which FaultKind::Promise says");
}

/// Rust prints `Debug` of what `main` returns.
#[test]
fn debug_of_an_error_is_its_text() {
    let x = Var::new("x");
    let mut f = Func::new("f");
    f[x] = Func::new("g").read(x);
    let algorithm = Error::from(Pipeline::new([&f]).unwrap_err());
    let parse = Error::from("f: vektorize(x, 8)".parse::<Schedule>().unwrap_err());
    let schedule = shifted().compile(&"f: vectorize(z, 8)".parse().unwrap(), &Target::host()).unwrap_err();
    let run = Compiler::new(&shifted()).compile().unwrap().inputs().realize::<u8>([4]).unwrap_err();
    let buffer = Error::from(Buffer::<u8>::new([-1]).unwrap_err());
    for error in [algorithm, parse, schedule, run, buffer] {
        assert_eq!(format!("{error:?}"), error.to_string());
        let source = error.source().expect("each comes from the layer below");
        assert_eq!(format!("{source:?}"), source.to_string());
    }
}
