//! The simplifier keeps values: of expressions of every type and lane count for all values, and of whole programs.

use crate::case;
use halide::ir::build;
use halide::ir::eval::{self, Check, EvalError};
use halide::ir::visit::any_node;
use halide::ir::{
    BufId, BufferInfo, BufferRole, Elem, Expr, ExprKind, LoopId, Memory, Program, Side, Stage, Stmt, Sym, Type,
    verify::verify,
};
use halide::prelude::*;
use halide_solve::simplify::{Facts, Proofs, simplify, simplify_stmt};
use halide_testing::pipelines::Random;
use halide_testing::programs::{self, Vocabulary};

/// The number of times that each expression is evaluated.
const VALUES: usize = 6;

/// A random expression and its simplified form have the same value wherever the first has one, and simplifying again
/// changes nothing.
pub fn expression(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let words = words();
    let elem = if random.one_in(3) { Elem::Index } else { Elem::Data(random.pick(&ScalarType::ALL)) };
    let ty = Type { elem, lanes: random.pick(&[1, 1, 1, 4]) };
    let size = 1 + random.below(24) as u32;
    let e = programs::expr(&mut programs::Random::new(random.bits()), &words, ty, size);
    let simple = simplify(&e, &Facts::new());
    if simple.ty() != ty {
        return Err(format!("{e}\nof {ty:?} becomes\n{simple}\nof {:?}", simple.ty()));
    }
    for _ in 0..VALUES {
        let bindings: Vec<(Sym, Expr)> = words.symbols.iter().map(|&(s, ty)| (s, value(ty, &mut random))).collect();
        // Where the expression as written leaves 64 bits, it means nothing.
        let Ok(before) = evaluate(&e, &bindings) else { continue };
        match evaluate(&simple, &bindings) {
            Ok(after) if after.first_difference(&before).is_none() => {}
            // Index arithmetic is exact in the simplifier's laws: near the ends of 64 bits a sum in another order may
            // leave them.
            Err(e) if e.check() == Some(Check::IndexOverflow) => {}
            // The sign and payload of a NaN mean nothing.
            Ok(_) if shows_bits_of_nan(&e, &bindings) => {}
            Ok(after) => return Err(format!("{e}\nis {before:?}, but\n{simple}\nis {after:?} for {bindings:?}")),
            Err(error) => return Err(format!("{e}\nis {before:?}, but\n{simple}\nis {error} for {bindings:?}")),
        }
    }
    Ok(())
}

/// Returns true if the bits of a NaN become a number somewhere in an expression.
fn shows_bits_of_nan(e: &Expr, bindings: &[(Sym, Expr)]) -> bool {
    any_node(e, |n| match n.kind() {
        ExprKind::Reinterpret(a) if a.ty().scalar().is_some_and(ScalarType::is_float) => {
            evaluate(a, bindings).is_ok_and(|lanes| (0..i64::from(a.lanes())).any(|i| lanes.get([i]).unwrap().is_nan()))
        }
        _ => false,
    })
}

/// A random program does the same after it was simplified, and `verify` still accepts it.
pub fn program(seed: u64) -> Result<(), String> {
    let mut random = Random::new(seed);
    let stage = random.pick(&[Stage::Bounded, Stage::Flat, Stage::Shaped]);
    let before = programs::program(&mut programs::Random::new(random.bits()), stage, 20);
    let mut after = before.clone();
    after.body = simplify_stmt(after.body, &Facts::new(), Proofs::All);
    if let Err(errors) = verify(&after) {
        return Err(format!("{before}\nbecomes\n{after}\n{errors:?}"));
    }
    let Ok(expected) = run(&before) else { return Ok(()) };
    let got = match run(&after) {
        Ok(got) => got,
        Err(e) if e.check() == Some(Check::IndexOverflow) => return Ok(()),
        Err(e) => return Err(format!("{before}\nruns, but\n{after}\ndoes not: {e}")),
    };
    match got.iter().zip(&expected).find_map(|(a, b)| a.first_difference(b)) {
        None => Ok(()),
        Some(at) => Err(format!("{before}\nand\n{after}\ndiffer: {at:?}")),
    }
}

fn run(program: &Program) -> Result<[AnyBuffer; 2], EvalError> {
    let image = AnyBuffer::new(U8, [4, 4])?;
    let mut outputs = [AnyBuffer::new(U16, [4, 4])?, AnyBuffer::new(F32, [4])?];
    eval::run(program, &[Scalar::int(I32, 7), Scalar::float(F32, 0.5)], &[image], &mut outputs)?;
    Ok(outputs)
}

/// Symbols of every type.
fn words() -> Vocabulary {
    let mut symbols: Vec<(Sym, Type)> = (0..3).map(|i| (Sym::Loop(LoopId(i)), Type::INDEX)).collect();
    for (n, ty) in ScalarType::ALL.into_iter().enumerate() {
        symbols.push((Sym::Temp(n as u32), Type::data(ty)));
        symbols.push((Sym::Temp(100 + n as u32), Type::data(ty).with_lanes(4)));
    }
    Vocabulary { symbols, ..Vocabulary::default() }
}

/// A constant that a symbol stands for: an edge often.
fn value(ty: Type, random: &mut Random) -> Expr {
    let mut one = || match ty.elem {
        Elem::Index => build::int(match random.below(4) {
            0 => random.between(-(1 << 31), 1 << 31),
            _ => random.between(-9, 20),
        }),
        Elem::Data(scalar) => build::constant(match random.below(8) {
            0 if scalar.is_float() => {
                Scalar::float(scalar, random.pick(&[f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0]))
            }
            _ => case::edge_value(scalar, random),
        }),
    };
    match ty.lanes {
        1 => one(),
        lanes => build::shuffle((0..lanes).map(|_| one()).collect(), (0..lanes).collect()),
    }
}

/// The lanes of `e`, by the evaluator of loop IR. Index lanes come as i64.
fn evaluate(e: &Expr, bindings: &[(Sym, Expr)]) -> Result<AnyBuffer, EvalError> {
    let elem = e.ty().scalar().unwrap_or(I64);
    let value = if e.ty().is_index() { build::cast_data(I64, e.clone()) } else { e.clone() };
    let lanes = e.lanes();
    let index = if lanes == 1 { build::int(0) } else { build::ramp(build::int(0), build::int(1), lanes) };
    let store = Stmt::Store { buf: BufId(0), index, value, mask: None };
    // A symbol that stands for a loop is bound by a loop of one iteration.
    let mut body = store;
    for (symbol, value) in bindings.iter().rev() {
        body = match (symbol, value.kind()) {
            (Sym::Loop(id), ExprKind::Int(_)) => {
                build::for_loop(*id, halide::ir::ForKind::Serial, value.clone(), build::int(1), body)
            }
            _ => build::let_in(vec![(*symbol, value.clone())], body),
        };
    }
    let output = BufferInfo {
        name: "out".into(),
        elem,
        dims: 1,
        role: BufferRole::Output(0),
        order: vec![0],
        align: vec![1],
        fold: vec![None],
        unit_stride: Some(0),
        memory: Memory::Auto,
        keeps: false,
        stream: halide_ir::Stream::Never,
        side: Side::Host,
    };
    let program = Program {
        body,
        buffers: [output].into_iter().collect(),
        func_buffers: [vec![BufId(0)]].into_iter().collect(),
        loops: (0..3).map(|i| format!("loop {i}").into()).collect(),
        next_temp: 200,
        ..Program::empty(Stage::Shaped)
    };
    let mut outputs = [AnyBuffer::new(elem, [i64::from(lanes)])?];
    eval::run(&program, &[], &[], &mut outputs)?;
    let [output] = outputs;
    Ok(output)
}
