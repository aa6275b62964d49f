//! Making small kernels and running them.

use crate::runner::Runner;
use halide_core::ids::{Id, ImageId};
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_gpu::codegen::{Features, KernelCode, Options, compile, parts};
use halide_gpu::{Feature, GpuError};
use halide_ir::{
    BufId, BufferInfo, BufferRole, Expr, ForKind, Kernel, KernelBuffer, KernelId, LoopId, Memory, Program, Side, Stage,
    Stmt, Writes, build,
};
use halide_skips::{Need, skip};

/// Every feature: what needs a driver to run may still be validated.
pub(crate) const ALL: Options =
    Options { features: Features { int64: true, float64: true, subgroup: Some(8) }, pieces: false };

/// A program without statements whose external buffers are one-dimensional.
pub(crate) fn program(inputs: &[ScalarType], outputs: &[ScalarType]) -> Program {
    let mut p = Program::empty(Stage::Final);
    for (i, ty) in inputs.iter().enumerate() {
        let id = add_buffer(&mut p, &format!("in{i}"), *ty, BufferRole::Input(ImageId::new(i)));
        p.image_buffers.push(id);
    }
    for (i, ty) in outputs.iter().enumerate() {
        add_buffer(&mut p, &format!("out{i}"), *ty, BufferRole::Output(i as u32));
    }
    p
}

pub(crate) fn add_buffer(p: &mut Program, name: &str, elem: ScalarType, role: BufferRole) -> BufId {
    p.buffers.push(BufferInfo {
        name: name.into(),
        elem,
        dims: 1,
        role,
        order: vec![0],
        align: vec![1],
        fold: vec![None],
        unit_stride: Some(0),
        memory: Memory::Auto,
        keeps: false,
        stream: halide_ir::Stream::Never,
        side: Side::Both,
    })
}

/// An internal buffer.
pub(crate) fn internal(p: &mut Program, elem: ScalarType) -> BufId {
    let name = format!("tmp{}", p.buffers.len());
    add_buffer(p, &name, elem, BufferRole::Internal)
}

pub(crate) fn new_loop(p: &mut Program, name: &str) -> LoopId {
    p.loops.push(name.into())
}

/// A phase over `count` threads of the first dimension.
pub(crate) fn phase(p: &mut Program, count: Expr, body: impl FnOnce(Expr) -> Stmt) -> Stmt {
    let id = new_loop(p, "t");
    let body = body(build::loop_var(id));
    build::for_loop(id, ForKind::GpuThreads, build::int(0), count, body)
}

pub(crate) fn store(buf: BufId, index: Expr, value: Expr) -> Stmt {
    Stmt::Store { buf, index, value, mask: None }
}

/// `first, first + 1, ...`.
pub(crate) fn dense(first: Expr, lanes: u16) -> Expr {
    build::ramp(first, build::int(1), lanes)
}

/// A kernel without captures over a one-dimensional grid of blocks of `threads`; `body` gets the number of the block.
pub(crate) fn kernel(p: &mut Program, threads: [u32; 3], body: impl FnOnce(&mut Program, Expr) -> Stmt) -> KernelId {
    let block = new_loop(p, "block");
    let body = body(p, build::loop_var(block));
    p.kernels.push(Kernel {
        name: "test".to_string(),
        blocks: vec![block],
        threads,
        captures: Vec::new(),
        params: Vec::new(),
        buffers: Vec::new(),
        shared: Vec::new(),
        shared_words: 0,
        lanes: None,
        body,
    })
}

/// Adds a buffer to those of a kernel.
pub(crate) fn uses(p: &mut Program, id: KernelId, buf: BufId, reads: bool, writes: Writes) {
    p.kernels[id].buffers.push(KernelBuffer { buf, reads, writes, word_strides: Vec::new() });
}

/// The shader of a kernel, which SPIR-V's own validator accepts too, where it is installed.
#[track_caller]
pub(crate) fn compiled(p: &Program, id: KernelId, options: &Options) -> KernelCode {
    let code = compile(p, id, options).unwrap_or_else(|e| panic!("{e}"));
    crate::spirv::check(&code);
    check_places(p, &code, options);
    code
}

/// The lines with places are those of the text, and what stands in a loop of the program is in one.
fn check_places(p: &Program, code: &KernelCode, options: &Options) {
    let lines = code.wgsl_lines(options.features).unwrap_or_else(|e| panic!("{e}"));
    let text = code.wgsl().unwrap_or_else(|e| panic!("{e}"));
    assert!(lines.iter().map(|(line, _)| line.as_str()).eq(text.lines()));
    let at_loop = lines.iter().position(|(line, _)| line.trim_start() == "loop {");
    if let Some(at) = at_loop.filter(|at| lines[*at].1.is_some()) {
        let within = lines[at + 1..].iter().find_map(|(_, place)| place.and_then(|place| place.within));
        assert!(within.is_some_and(|id| p.loops.get(id).is_some()), "{text}");
    }
}

/// Returns true if the device can run a kernel. Otherwise it lacks a feature, and the test skips the kernel.
pub(crate) fn is_for(runner: &Runner, p: &Program, id: KernelId) -> bool {
    match compile(p, id, &Options { features: runner.features, pieces: false }) {
        Ok(_) => true,
        Err(GpuError::Feature { feature, ty, .. }) => {
            let name = match feature {
                Feature::Int64 => "int64",
                Feature::Float64 => "float64",
            };
            skip(Need::DeviceFeature(name), format!("kernels of {ty}"));
            false
        }
        Err(other) => panic!("{other}"),
    }
}

/// A number of elements as bytes.
pub(crate) fn bytes(values: &[Scalar]) -> Vec<u8> {
    values.iter().flat_map(|v| v.bits().to_le_bytes()[..v.ty().bytes()].to_vec()).collect()
}

/// Bytes as elements.
pub(crate) fn scalars(ty: ScalarType, bytes: &[u8]) -> Vec<Scalar> {
    let one = |chunk: &[u8]| {
        let mut all = [0; 8];
        all[..chunk.len()].copy_from_slice(chunk);
        Scalar::from_bits(ty, u64::from_le_bytes(all))
    };
    bytes.chunks_exact(ty.bytes()).map(one).collect()
}

/// The arguments of a run besides buffers.
#[derive(Clone, Default)]
pub(crate) struct Given {
    /// Captures, then parameters.
    pub(crate) scalars: Vec<u64>,
    /// The first element of each buffer; all 0 if empty.
    pub(crate) offsets: Vec<i64>,
    /// The most blocks in a dimension of a dispatch.
    pub(crate) most: Option<u32>,
}

/// Runs a kernel over a grid; the buffers are those of the kernel, in order, and so are the results.
#[track_caller]
pub(crate) fn run(
    runner: &Runner,
    code: &KernelCode,
    grid: &[i64],
    given: &Given,
    memory: &[Vec<Scalar>],
) -> Vec<Vec<Scalar>> {
    let offsets = if given.offsets.is_empty() { vec![0; memory.len()] } else { given.offsets.clone() };
    let parts: Vec<_> = parts(grid, given.most.unwrap_or(65535))
        .map(|part| (part, code.layout.pack(&given.scalars, &offsets, part)))
        .collect();
    let memory: Vec<Vec<u8>> = memory.iter().map(|values| bytes(values)).collect();
    let made = runner.run(code, &parts, &memory);
    code.layout.bindings.iter().zip(made).map(|(b, bytes)| scalars(b.elem, &bytes)).collect()
}

pub(crate) struct SplitMix(pub(crate) u64);

impl SplitMix {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
}

/// Edge values of a type.
pub(crate) fn edges(ty: ScalarType) -> Vec<Scalar> {
    match ty {
        Bool => vec![Scalar::bool(false), Scalar::bool(true)],
        _ if ty.is_float() => {
            let mut all: Vec<Scalar> = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                0.5,
                -1.5,
                2.5,
                255.5,
                -129.0,
                65536.0,
                2147483647.0,
                2147483648.0,
                -2147483649.0,
                4294967296.0,
                1e19,
                -1e19,
                f64::INFINITY,
                f64::NEG_INFINITY,
                f64::NAN,
                1e-40,
                6e-8,
            ]
            .iter()
            .map(|v| Scalar::float(ty, *v))
            .collect();
            all.push(Scalar::from_bits(ty, 1));
            all
        }
        _ => {
            let (min, max) = (ty.int_min().unwrap(), ty.int_max().unwrap());
            let list =
                [min, min + 1, max, max - 1, 0, 1, 2, 3, 7, 100, -1, -2, -7, max / 2, max / 2 + 1, 255, 256, 65535];
            let mut all: Vec<i128> = list.into_iter().filter(|v| (min..=max).contains(v)).collect();
            all.dedup();
            all.into_iter().map(|v| Scalar::int(ty, v)).collect()
        }
    }
}

/// A random value: any bits, or a small number.
pub(crate) fn random(ty: ScalarType, r: &mut SplitMix) -> Scalar {
    let (bits, how) = (r.next(), r.next() % 4);
    match how {
        0 if ty.is_float() => Scalar::float(ty, (bits as i64 >> 40) as f64 / 1024.0),
        1 if ty.is_float() => Scalar::float(ty, (bits as i64 >> 58) as f64),
        0 | 1 if ty.is_int() => Scalar::int(ty, i128::from(bits as i64 >> (64 - ty.bits() / 2))),
        _ => Scalar::from_bits(ty, bits),
    }
}

/// Every pair of edge values, then random pairs, up to a multiple of 64 in number.
pub(crate) fn pairs(a: ScalarType, b: ScalarType, seed: u64) -> (Vec<Scalar>, Vec<Scalar>) {
    let (mut x, mut y) = (Vec::new(), Vec::new());
    for p in edges(a) {
        for q in edges(b) {
            x.push(p);
            y.push(q);
        }
    }
    let mut r = SplitMix(seed);
    while x.len() % 64 != 0 || x.len() < 320 {
        x.push(random(a, &mut r));
        y.push(random(b, &mut r));
    }
    (x, y)
}
