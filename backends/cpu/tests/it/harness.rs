//! Making small programs and running them.

use halide_core::buffer::{AnyBuffer, Dim, RawBuffer};
use halide_core::ids::{Id, ImageId};
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, CpuOptions, Executable, RunArgs, RunStats, Tier, compile};
use halide_ir::features::CpuFeatures;
use halide_ir::{
    BufId, BufferInfo, BufferRole, Expr, LoopId, Memory, Program, Side, Stage, Stmt, Sym, Task, TaskId, build,
};
use halide_skips::{Need, skip};

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
        side: Side::Host,
    })
}

/// An internal buffer.
pub(crate) fn internal(p: &mut Program, elem: ScalarType, memory: Memory) -> BufId {
    let name = format!("tmp{}", p.buffers.len());
    let id = add_buffer(p, &name, elem, BufferRole::Internal);
    p.buffers[id].memory = memory;
    id
}

/// `for v in 0..count { body(v) }`.
pub(crate) fn serial(p: &mut Program, count: Expr, body: impl FnOnce(Expr) -> Stmt) -> Stmt {
    let id = p.loops.push(format!("loop{}", p.loops.len()).into());
    let body = body(build::loop_var(id));
    build::for_loop(id, halide_ir::ForKind::Serial, build::int(0), count, body)
}

/// A loop that runs the same twice: wide vectors are for code in loops only.
pub(crate) fn twice(p: &mut Program, body: Stmt) -> Stmt {
    serial(p, build::int(2), |_| body)
}

/// A task over a loop variable, and the statement that launches it.
pub(crate) fn task(
    p: &mut Program,
    min: Expr,
    extent: Expr,
    captures: Vec<(Sym, halide_ir::Type)>,
    buffers: Vec<BufId>,
    body: impl FnOnce(&mut Program, LoopId) -> Stmt,
) -> Stmt {
    let id = p.loops.push(format!("task{}", p.loops.len()).into());
    let body = body(p, id);
    let task: TaskId = p.tasks.push(Task { id, captures, buffers, body });
    Stmt::Launch { task, min, extent }
}

pub(crate) fn store(buf: BufId, index: Expr, value: Expr) -> Stmt {
    Stmt::Store { buf, index, value, mask: None }
}

/// `first, first + 1, ...`.
pub(crate) fn dense(first: Expr, lanes: u16) -> Expr {
    build::ramp(first, build::int(1), lanes)
}

pub(crate) fn compiled(p: &Program) -> Executable {
    compiled_for(Tier::host(), p)
}

pub(crate) fn compiled_for(tier: Tier, p: &Program) -> Executable {
    let code = compile(p, &CpuOptions { keep_text: true, tier, ..CpuOptions::default() });
    well_formed(code.unwrap_or_else(|e| panic!("{e}")))
}

/// Code of which no kernel was refused because it makes no sense.
pub(crate) fn well_formed(code: Executable) -> Executable {
    let wrong = code.refusals().iter().find(|(_, why)| why.starts_with("choosing") || why.starts_with("encoding"));
    assert_eq!(wrong, None);
    code
}

/// The families of vector instructions that this machine has. The ledger of skips gets the others.
pub(crate) fn tiers() -> impl Iterator<Item = Tier> {
    Tier::ALL.into_iter().filter(|tier| has_all(tier.needs()))
}

/// The families of vectors wider than Cranelift's that this machine has.
pub(crate) fn wide_tiers() -> Vec<Tier> {
    tiers().filter(|tier| *tier > Tier::Baseline).collect()
}

/// Returns true if this machine has these extensions; otherwise the test skips what needs them.
pub(crate) fn has_all(features: CpuFeatures) -> bool {
    let has = CpuFeatures::host().includes(features);
    if !has {
        skip(Need::Cpu(&features.to_string()), "");
    }
    has
}

/// For every family of vector instructions that this machine has.
pub(crate) fn compiled_everywhere(p: &Program) -> Vec<Executable> {
    tiers().map(|tier| compiled_for(tier, p)).collect()
}

/// Runs for every family of vector instructions; gives the outputs, which are the same for all.
pub(crate) fn run_everywhere(
    p: &Program,
    params: &[Scalar],
    inputs: &[AnyBuffer],
    outputs: &[(ScalarType, usize)],
) -> Result<(Vec<Vec<Scalar>>, RunStats), CpuFault> {
    let mut first: Option<(Vec<Vec<Scalar>>, RunStats)> = None;
    for e in compiled_everywhere(p) {
        let (outs, stats) = run(&e, params, inputs, outputs)?;
        let (expected, _) = first.get_or_insert_with(|| (outs.clone(), stats));
        for (a, b) in expected.iter().flatten().zip(outs.iter().flatten()) {
            assert!(a.same(*b), "{a:?}, but {b:?} for wider vectors");
        }
    }
    Ok(first.expect("a family that every machine has"))
}

/// A buffer of these values.
pub(crate) fn buffer(ty: ScalarType, values: &[Scalar]) -> AnyBuffer {
    let mut b = AnyBuffer::new(ty, [values.len() as i64]).unwrap();
    {
        let mut view = b.view_mut().unwrap();
        for (i, v) in values.iter().enumerate() {
            view.set([i as i64], *v).unwrap();
        }
    }
    b
}

pub(crate) fn values(b: &AnyBuffer) -> Vec<Scalar> {
    (0..b.dims()[0].extent).map(|i| b.get([i]).unwrap()).collect()
}

/// Runs with inputs, and outputs of these lengths; gives the outputs.
pub(crate) fn run(
    e: &Executable,
    params: &[Scalar],
    inputs: &[AnyBuffer],
    outputs: &[(ScalarType, usize)],
) -> Result<(Vec<Vec<Scalar>>, RunStats), CpuFault> {
    let mut outs: Vec<AnyBuffer> = outputs.iter().map(|(ty, n)| AnyBuffer::new(*ty, [*n as i64]).unwrap()).collect();
    let mut raws: Vec<RawBuffer> = inputs.iter().map(|b| b.raw()).collect();
    raws.extend(outs.iter_mut().map(|b| b.view_mut().unwrap().raw_mut()));
    let stats = e.run(&RunArgs { params, buffers: &raws, ..RunArgs::default() })?;
    Ok((outs.iter().map(values).collect(), stats))
}

/// The lane counts that tests go through: single, odd, whole and more than whole parts.
pub(crate) const LANES: [u16; 10] = [1, 2, 3, 4, 5, 8, 16, 17, 32, 64];

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

/// `count` distinct values.
pub(crate) fn ascending(ty: ScalarType, count: usize) -> Vec<Scalar> {
    (0..count)
        .map(|i| if ty == Bool { Scalar::bool(i % 3 == 1) } else { Scalar::int(ty, i as i128 % 120 + 1) })
        .collect()
}

/// The memory of these values.
pub(crate) fn bytes_of(values: &[Scalar]) -> Vec<u8> {
    values.iter().flat_map(|v| v.bits().to_le_bytes().into_iter().take(v.ty().bytes())).collect()
}

/// Memory as a buffer of one dimension.
pub(crate) fn raw(data: *mut u8, ty: ScalarType, extent: usize) -> RawBuffer {
    RawBuffer { data, ty, dims: vec![Dim { min: 0, extent: extent as i64, stride: 1 }] }
}

/// Returns the number of elements of a buffer.
pub(crate) fn extent_of(buf: BufId) -> Expr {
    build::sym(Sym::Buffer { buf, dim: 0, field: DimField::Extent })
}
