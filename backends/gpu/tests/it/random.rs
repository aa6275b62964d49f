//! Random kernels: shaders against the checked evaluator of loop IR.

use crate::harness::*;
use crate::runner::{Runner, runner};
use halide_core::buffer::AnyBuffer;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_gpu::GpuError;
use halide_gpu::codegen::{Options, compile, range};
use halide_ir::{
    BufId, Elem, Expr, ExprKind, Kernel, KernelId, LoopId, Program, Stmt, Sym, Type, Writes, build, eval, verify, visit,
};
use halide_testing::programs::{BufferWord, Random, Vocabulary, expr};

const BLOCKS: i64 = 2;
const THREADS: i64 = 4;
const OUTPUTS: usize = 4;
/// Elements of each input.
const EXTENT: i64 = 16;

/// Inputs of a few types, and a kernel that stores random values to outputs of others.
struct Case {
    program: Program,
    kernel: KernelId,
    inputs: Vec<Vec<Scalar>>,
    lanes: Vec<u16>,
    captures: Vec<Scalar>,
    params: Vec<Scalar>,
}

fn case(seed: u64) -> Case {
    let mut random_words = Random::new(seed);
    let r = &mut random_words;
    let mut any_type = || *r.pick(&ScalarType::ALL);
    let types: Vec<ScalarType> = (0..4).map(|_| any_type()).collect();
    let outputs: Vec<ScalarType> = (0..OUTPUTS).map(|_| any_type()).collect();
    let mut p = program(&types, &outputs);
    let mut values = SplitMix(seed);
    let given: Vec<Scalar> = [I32, F32, U8].iter().map(|ty| random(*ty, &mut values)).collect();
    let params: Vec<Scalar> = [I16, F64].iter().map(|ty| random(*ty, &mut values)).collect();
    let captures: Vec<(Sym, Type)> = (0..).map(Sym::Temp).zip(given.iter().map(|v| Type::data(v.ty()))).collect();
    for v in &params {
        p.params.push((format!("p{}", p.params.len()), v.ty()));
    }
    let lanes: Vec<u16> = (0..OUTPUTS).map(|_| *r.pick(&[1, 2, 4, 5])).collect();
    let id = kernel(&mut p, [THREADS as u32, 1, 1], |p, block| {
        let words = vocabulary(p, &captures, &types);
        phase(p, build::int(THREADS), |t| body(r, &words, &outputs, &lanes, (block, t)))
    });
    p.kernels[id].captures = captures.clone();
    p.kernels[id].params = p.params.ids().collect();
    for i in 0..types.len() {
        uses(&mut p, id, BufId(i as u32), true, Writes::None);
    }
    for (i, ty) in outputs.iter().enumerate() {
        let whole = (usize::from(lanes[i]) * ty.bytes()).is_multiple_of(4);
        let writes = if whole { Writes::Words } else { Writes::Pieces };
        uses(&mut p, id, BufId((types.len() + i) as u32), false, writes);
    }
    let dispatch = Stmt::Dispatch { kernel: id, grid: vec![build::int(BLOCKS)] };
    let bindings = captures.iter().zip(&given).map(|((s, _), v)| (*s, build::constant(*v))).collect();
    p.body = build::let_in(bindings, dispatch);
    p.next_temp = 10;
    let mut input = |ty: &ScalarType| (0..EXTENT).map(|_| random(*ty, &mut values)).collect();
    let inputs = types.iter().map(&mut input).collect();
    Case { program: p, kernel: id, inputs, lanes, captures: given, params }
}

fn vocabulary(p: &Program, captures: &[(Sym, Type)], types: &[ScalarType]) -> Vocabulary {
    let loops = [LoopId(0), LoopId(1)].map(|id| (Sym::Loop(id), Type::INDEX));
    let word =
        |(i, elem): (usize, &ScalarType)| BufferWord { buf: BufId(i as u32), elem: *elem, dims: 1, extent: EXTENT };
    Vocabulary {
        symbols: captures.iter().copied().chain(loops).collect(),
        params: p.params.enumerate().map(|(id, (_, ty))| (id, *ty)).collect(),
        buffers: types.iter().enumerate().map(word).collect(),
        linear: true,
    }
}

fn body(r: &mut Random, words: &Vocabulary, outputs: &[ScalarType], lanes: &[u16], (block, t): (Expr, Expr)) -> Stmt {
    let inputs = words.buffers.len();
    let one = |(i, ty): (usize, &ScalarType)| {
        let value = loop {
            let size = 2 + r.below(12) as u32;
            let e = expr(r, words, Type::data(*ty).with_lanes(lanes[i]), size);
            if !looks_at_nans(&e) {
                break e;
            }
        };
        let chunk = build::add(build::mul(block.clone(), build::int(THREADS)), t.clone());
        let at = dense(build::mul(chunk, build::int(lanes[i].into())), lanes[i]);
        store(BufId((inputs + i) as u32), at, value)
    };
    build::block(outputs.iter().enumerate().map(one))
}

/// Returns true if a value depends on the bits of floats, which mean nothing if these are NaNs.
fn looks_at_nans(e: &Expr) -> bool {
    let is_float = |e: &Expr| matches!(e.ty().elem, Elem::Data(t) if t.is_float());
    visit::any_node(e, |n| matches!(n.kind(), ExprKind::Reinterpret(a) if is_float(a)))
}

fn image(values: &[Scalar]) -> AnyBuffer {
    let mut b = AnyBuffer::new(values[0].ty(), [values.len() as i64]).unwrap();
    let mut view = b.view_mut().unwrap();
    for (i, v) in values.iter().enumerate() {
        view.set([i as i64], *v).unwrap();
    }
    drop(view);
    b
}

/// Checks that the evaluator and the device agree; `None` if the kernel is not one that must run.
fn agree(runner: &Runner, seed: u64) -> Option<()> {
    let case = case(seed);
    let p = &case.program;
    assert_eq!(verify::verify(p), Ok(()), "seed {seed}\n{p}");
    let kernel: &Kernel = &p.kernels[case.kernel];
    let scalars: Vec<u64> = case.captures.iter().chain(&case.params).map(|v| v.bits()).collect();
    let code = match compile(p, case.kernel, &Options { features: runner.features, pieces: false }) {
        Ok(code) => code,
        Err(GpuError::Unsupported { .. } | GpuError::Feature { .. }) => return None,
        Err(other) => panic!("seed {seed}: {other}\n{p}"),
    };
    crate::spirv::check(&code);
    let offsets = vec![0; kernel.buffers.len()];
    if !range::fits(p, kernel, &scalars, &offsets, &[BLOCKS]) {
        return None;
    }
    let images: Vec<AnyBuffer> = case.inputs.iter().map(|v| image(v)).collect();
    let size = |i: usize| (BLOCKS * THREADS * i64::from(case.lanes[i])) as usize;
    let zeros = |i: usize| vec![Scalar::zero(p.buffers[BufId((case.inputs.len() + i) as u32)].elem); size(i)];
    let mut expected: Vec<AnyBuffer> = (0..OUTPUTS).map(|i| image(&zeros(i))).collect();
    eval::run(p, &case.params, &images, &mut expected).ok()?;
    let mut memory = case.inputs.clone();
    memory.extend((0..OUTPUTS).map(zeros));
    let given = Given { scalars, ..Given::default() };
    let found = run(runner, &code, &[BLOCKS], &given, &memory);
    for (n, expected) in expected.iter().enumerate() {
        for (i, b) in found[case.inputs.len() + n].iter().enumerate() {
            let a = expected.get([i as i64]).unwrap();
            assert!(a.same(*b), "seed {seed}: output {n} at {i} is {b:?}, not {a:?}\n{p}\n{}", code.wgsl().unwrap());
        }
    }
    Some(())
}

#[test]
fn random_kernels() {
    let Some(runner) = runner() else { return };
    let first = std::env::var("HALIDE_FUZZ_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(0);
    let count = std::env::var("HALIDE_FUZZ_CASES").ok().and_then(|s| s.parse().ok()).unwrap_or(150);
    let ran = (first..first + count).filter(|&seed| agree(runner, seed).is_some()).count() as u64;
    assert!(ran * 5 > count, "only {ran} of {count} kernels could run");
}
