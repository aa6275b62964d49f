//! Operators on many operands, computed by shaders and held against their meaning.

use crate::harness::*;
use crate::runner::runner;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_gpu::codegen::{Features, Options};
use halide_ir::{BufId, Expr, Writes, build};

type Make = Box<dyn Fn(&[Expr]) -> Expr>;
type Meaning = Box<dyn Fn(&[Scalar]) -> Scalar>;

/// One output: how it is computed, and what it should be.
pub(crate) struct Case {
    name: String,
    ty: ScalarType,
    make: Make,
    meaning: Meaning,
}

pub(crate) fn case(
    name: String,
    ty: ScalarType,
    make: impl Fn(&[Expr]) -> Expr + 'static,
    meaning: impl Fn(&[Scalar]) -> Scalar + 'static,
) -> Case {
    Case { name, ty, make: Box::new(make), meaning: Box::new(meaning) }
}

/// Threads of a block.
const THREADS: u32 = 16;

/// Computes every case on every tuple of operands, `lanes` in each thread, in kernels of a few cases.
#[track_caller]
pub(crate) fn check(types: &[ScalarType], operands: &[Vec<Scalar>], cases: &[Case], lanes: u16) {
    check_with(true, types, operands, cases, lanes);
}

/// The same on a device with or without 64-bit integers.
#[track_caller]
pub(crate) fn check_with(int64: bool, types: &[ScalarType], operands: &[Vec<Scalar>], cases: &[Case], lanes: u16) {
    let options = Options { features: Features { int64, ..ALL.features }, ..ALL };
    for some in cases.chunks(8) {
        check_some(&options, types, operands, some, lanes);
    }
}

#[track_caller]
fn check_some(options: &Options, types: &[ScalarType], operands: &[Vec<Scalar>], cases: &[Case], lanes: u16) {
    let count = operands[0].len();
    let blocks = count / (lanes as usize * THREADS as usize);
    let outputs: Vec<ScalarType> = cases.iter().map(|c| c.ty).collect();
    let mut p = program(types, &outputs);
    let id = kernel(&mut p, [THREADS, 1, 1], |p, block| {
        phase(p, build::int(THREADS.into()), |t| {
            let chunk = build::add(build::mul(block, build::int(THREADS.into())), t);
            let index = dense(build::mul(chunk, build::int(i64::from(lanes))), lanes);
            let loaded: Vec<Expr> = types
                .iter()
                .enumerate()
                .map(|(i, ty)| build::load(BufId(i as u32), *ty, index.clone(), None))
                .collect();
            let one = |(i, c): (usize, &Case)| store(BufId((types.len() + i) as u32), index.clone(), (c.make)(&loaded));
            build::block(cases.iter().enumerate().map(one))
        })
    });
    for i in 0..types.len() {
        uses(&mut p, id, BufId(i as u32), true, Writes::None);
    }
    for (i, ty) in outputs.iter().enumerate() {
        let whole = (lanes as usize * ty.bytes()).is_multiple_of(4);
        let writes = if whole { Writes::Words } else { Writes::Pieces };
        uses(&mut p, id, BufId((types.len() + i) as u32), false, writes);
    }
    let code = compiled(&p, id, options);
    let Some(runner) = runner() else { return };
    if !is_for(runner, &p, id) {
        return;
    }
    let mut memory: Vec<Vec<Scalar>> = operands.to_vec();
    memory.extend(outputs.iter().map(|ty| vec![Scalar::zero(*ty); count]));
    let results = run(runner, &code, &[blocks as i64], &Given::default(), &memory);
    let mut wrong = Vec::new();
    for (c, result) in cases.iter().zip(&results[types.len()..]) {
        for i in 0..blocks * lanes as usize * THREADS as usize {
            let args: Vec<Scalar> = operands.iter().map(|v| v[i]).collect();
            let expected = (c.meaning)(&args);
            if !result[i].same(expected) {
                wrong.push(format!("{} x{lanes} of {args:?}: {:?}, not {expected:?}", c.name, result[i]));
            }
        }
    }
    let first: Vec<&String> = wrong.iter().take(40).collect();
    assert!(wrong.is_empty(), "{} wrong: {first:#?}", wrong.len());
}
