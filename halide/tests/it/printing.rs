//! Receivers of printed lines: each run has its own account of their panics, and all stages print to them.

use halide::externs::Extern;
use halide::prelude::*;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

/// A Func that prints the parameter `n` at its only point, and another that reads it.
fn printing() -> Pipeline {
    let (x, n) = (vars!(x), Param::<i32>::new("n"));
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = print(n.expr() + x, ());
    g[x] = f[x] * 2;
    Pipeline::new([&g]).unwrap()
}

fn compiled() -> Compiled {
    printing().compile(&"f: compute_root()".parse().unwrap(), &Target::host()).unwrap()
}

fn refuse_thirteen(line: &str) {
    assert!(line != "13", "no room for {line}");
}

/// A run inside of another, of a call with the same receiver.
#[test]
fn a_panic_of_a_receiver_is_of_the_run_that_it_was_in() {
    let compiled = compiled();
    let call = compiled.inputs().print_to(refuse_thirteen);
    let (unlucky, other) = (call.clone().param_named("n", 13), call.param_named("n", 7));
    let mut inner = Vec::new();
    let region = [Region::of_extents([1])];
    // The line was printed when the first step after it is told.
    let outer = unlucky.trace(&region, |_| inner.push(other.realize::<i32>([1])));
    assert!(matches!(&outer, Err(Error::Print { panic }) if panic == "no room for 13"), "{outer:?}");
    assert!(inner.len() > 2);
    for result in inner {
        assert_eq!(result.unwrap().to_vec(), [14]);
    }
}

/// A run that its trace ended after a panic leaves nothing to the next.
#[test]
fn a_panic_of_a_receiver_ends_with_its_run() {
    let compiled = compiled();
    let call = compiled.inputs().print_to(refuse_thirteen);
    let ended = call.clone().param_named("n", 13).trace(&[Region::of_extents([1])], |event| {
        let last = event.to_string().starts_with("store g");
        if last { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    assert!(matches!(&ended, Err(Error::Print { .. })), "{ended:?}");
    let next = call.param_named("n", 7).realize::<i32>([1]);
    assert_eq!(next.unwrap().to_vec(), [14]);
}

/// Stages that compute inputs of an extern stage print where the run does.
#[test]
fn stages_before_extern_stages_print_to_the_receiver_of_the_run() {
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = print(x + 5, ());
    let same = Extern::new("same", [I32], 1).input(&f).compute(|call| {
        let from = call.input(0).clone();
        for at in call.region().clone().coords() {
            call.output(0).set(&at, from.get(&at).ok_or("too little")?)?;
        }
        Ok(())
    });
    g[x] = same[x] * 2;
    let pipeline = Pipeline::new([&g]).unwrap();
    for engine in [Engine::Interp, Engine::Eval, Engine::default()] {
        let compiled = Compiler::new(&pipeline).engine(engine).compile().unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let sink = lines.clone();
        let call = compiled.inputs().print_to(move |line| sink.lock().unwrap().push(line.to_string()));
        assert_eq!(call.realize::<i32>([2]).unwrap().to_vec(), [10, 12]);
        assert_eq!(*lines.lock().unwrap(), ["5", "6"], "{engine:?}");
        let call = compiled.inputs().print_to(|line| panic!("no room for {line}"));
        let error = call.realize::<i32>([1]).unwrap_err().to_string();
        assert_eq!(error, "the receiver of the lines that the pipeline prints panicked: no room for 5", "{engine:?}");
    }
}
