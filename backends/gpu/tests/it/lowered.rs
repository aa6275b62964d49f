//! Whole pipelines, lowered for a GPU: their kernels, run by as little of a host as there can be,
//! against the interpreter.

use crate::harness::{Given, compiled, run};
use crate::runner::{Runner, runner};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::{cast, cast_to, clamp, exp, sqrt};
use halide_core::interp::{self, Inputs};
use halide_core::types::*;
use halide_core::value::Scalar;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_gpu::codegen::{Options, range};
use halide_ir::target::{Arch, Budget, Gpu, Target};
use halide_ir::{
    BufId, BufferRole, DimField, Expr, ExprKind, ForKind, KernelId, Program, Stmt, Sym, Writes, build, visit,
};
use halide_sched::lower::{LowerOptions, lower};
use std::collections::HashMap;

const TARGET: Target = Target {
    arch: Arch::X86_64,
    vector_bits: 128,
    features: None,
    threads: 2,
    cache_bytes: 1 << 20,
    gpu: Some(Gpu::LEAST),
    budget: Budget::DEFAULT,
};

/// Host code, interpreted: names, loops, conditions, allocations and dispatches; nothing that stores.
struct Host<'a> {
    program: &'a Program,
    runner: &'a Runner,
    symbols: HashMap<Sym, Expr>,
    memory: HashMap<BufId, Vec<Scalar>>,
}

/// A check failed: another variant of the code serves.
struct Refused;

impl Host<'_> {
    fn value(&self, e: &Expr) -> Expr {
        visit::substitute(e, &|s| self.symbols.get(&s).cloned())
    }
    fn int(&self, e: &Expr) -> i64 {
        build::as_int(&self.value(e)).unwrap_or_else(|| panic!("{e} is not constant"))
    }
    fn truth(&self, e: &Expr) -> bool {
        build::as_bool(&self.value(e)).unwrap_or_else(|| panic!("{e} is not constant"))
    }

    fn stmt(&mut self, s: &Stmt) -> Result<(), Refused> {
        match s {
            Stmt::Block(list) => list.iter().try_for_each(|s| self.stmt(s)),
            Stmt::Produce { body, .. } => self.stmt(body),
            Stmt::Free { .. } | Stmt::Reside { .. } => Ok(()),
            Stmt::Let { bindings, body } => {
                for (s, e) in bindings {
                    let value = self.value(e);
                    self.symbols.insert(*s, value);
                }
                self.stmt(body)
            }
            Stmt::If { cond, then, otherwise } => self.stmt(if self.truth(cond) { then } else { otherwise }),
            Stmt::Assert { cond, .. } => self.truth(cond).then_some(()).ok_or(Refused),
            Stmt::Alloc { buf, count, body, .. } => {
                let zero = Scalar::zero(self.program.buffers[*buf].elem);
                self.memory.insert(*buf, vec![zero; self.int(count).max(0) as usize]);
                self.stmt(body)
            }
            Stmt::For(l) if l.kind == ForKind::Serial => {
                let min = self.int(&l.min);
                for i in min..min + self.int(&l.extent).max(0) {
                    self.symbols.insert(Sym::Loop(l.id), build::int(i));
                    self.stmt(&l.body)?;
                }
                Ok(())
            }
            Stmt::Dispatch { kernel, grid } => {
                let grid: Vec<i64> = grid.iter().map(|e| self.int(e)).collect();
                self.dispatch(*kernel, &grid);
                Ok(())
            }
            other => panic!("host code that does the work: {other}"),
        }
    }

    fn dispatch(&mut self, id: KernelId, grid: &[i64]) {
        let kernel = &self.program.kernels[id];
        assert!(kernel.params.is_empty());
        let bits = |(s, _): &(Sym, halide_ir::Type)| match self.symbols[s].kind() {
            ExprKind::Int(v) => *v as u64,
            ExprKind::Const(c) => c.bits(),
            other => panic!("{other:?} is captured"),
        };
        let scalars: Vec<u64> = kernel.captures.iter().map(bits).collect();
        let offsets = vec![0; kernel.buffers.len()];
        assert!(range::fits(self.program, kernel, &scalars, &offsets, grid), "{}", self.program);
        let features = self.runner.features;
        let mut code = compiled(self.program, id, &Options { features, pieces: false });
        if !code.layout.serves(&scalars) {
            code = compiled(self.program, id, &Options { features, pieces: true });
        }
        let memory: Vec<Vec<Scalar>> = kernel.buffers.iter().map(|b| self.memory[&b.buf].clone()).collect();
        if memory.iter().any(Vec::is_empty) {
            return;
        }
        let made = run(self.runner, &code, grid, &Given { scalars, ..Given::default() }, &memory);
        for (b, values) in kernel.buffers.iter().zip(made) {
            if b.writes != Writes::None {
                self.memory.insert(b.buf, values);
            }
        }
    }

    /// Gives a buffer of the caller's and its properties.
    fn give(&mut self, buf: BufId, b: &AnyBuffer) {
        for (d, dim) in (0..).zip(b.dims()) {
            for (field, v) in [(DimField::Min, dim.min), (DimField::Extent, dim.extent), (DimField::Stride, dim.stride)]
            {
                self.symbols.insert(Sym::Buffer { buf, dim: d, field }, build::int(v));
            }
        }
        let last: i64 = b.dims().iter().map(|d| (d.extent - 1) * d.stride).sum();
        let mut values = vec![Scalar::zero(b.ty()); last as usize + 1];
        for at in b.region().coords() {
            values[position(b, &at)] = b.get(&at).unwrap();
        }
        self.memory.insert(buf, values);
    }
}

/// Returns the offset of an element from the first.
fn position(b: &AnyBuffer, at: &[i32]) -> usize {
    b.dims().iter().zip(at).map(|(d, &x)| (i64::from(x) - d.min) * d.stride).sum::<i64>() as usize
}

/// A buffer of random bits (floats: of values from -4 to 4).
fn random_image(ty: ScalarType, region: &Region) -> AnyBuffer {
    let mut r = crate::harness::SplitMix(3);
    let mut image = AnyBuffer::with_region(ty, region).unwrap();
    for at in region.coords() {
        let bits = r.next();
        let value = match ty.is_float() {
            true => Scalar::float(ty, f64::from(bits as i32) / 2f64.powi(29)),
            false => Scalar::from_bits(ty, bits),
        };
        image.set(&at, value).unwrap();
    }
    image
}

/// Runs the pipeline under each schedule on regions of several sizes.
fn sweep(pipeline: &Pipeline, schedules: &[&str]) {
    let Some(runner) = runner() else { return };
    for schedule in schedules {
        let parsed = schedule.parse().unwrap_or_else(|e| panic!("{schedule}\n{e}"));
        let plan = halide_sched::plan::resolve(pipeline, &parsed, &TARGET).unwrap_or_else(|e| panic!("{e:?}"));
        let mut ran = 0;
        for exact_tails in [false, true] {
            let options = LowerOptions { exact_tails, ..Default::default() };
            let program = lower(&plan, &options).unwrap_or_else(|e| panic!("{schedule}\n{e:?}")).program;
            for (w, h) in [(1, 1), (5, 3), (16, 8), (37, 18), (64, 33)] {
                let region = Region::of_spans([(-1, w), (2, h)]);
                let regions = vec![region; pipeline.outputs.len()];
                let images: Vec<AnyBuffer> = pipeline
                    .images
                    .iter()
                    .map(|i| random_image(i.ty, &Region::of_spans([(-9, w + 90), (-6, h + 60)])))
                    .collect();
                let inputs = pipeline.images.iter().zip(&images);
                let inputs = inputs.fold(Inputs::new(), |all, (i, image)| all.image(&*i.name, image.clone()));
                let expected = interp::run(pipeline, &inputs, &regions).unwrap();
                let mut host = Host { program: &program, runner, symbols: HashMap::new(), memory: HashMap::new() };
                for (buf, info) in program.buffers.enumerate() {
                    match info.role {
                        BufferRole::Input(i) => host.give(buf, &images[i.0 as usize]),
                        BufferRole::Output(n) => {
                            host.give(buf, &AnyBuffer::with_region(info.elem, &expected[n as usize].region()).unwrap())
                        }
                        BufferRole::Internal => {}
                    }
                }
                match host.stmt(&program.body) {
                    Ok(()) => ran += 1,
                    Err(Refused) => continue,
                }
                for (buf, info) in program.buffers.enumerate() {
                    let BufferRole::Output(n) = info.role else { continue };
                    let expected = &expected[n as usize];
                    for at in expected.region().coords() {
                        let (want, got) = (expected.get(&at).unwrap(), host.memory[&buf][position(expected, &at)]);
                        assert!(
                            want.same(got),
                            "{schedule}\nexact {exact_tails} {w} x {h}: at {at:?} {got:?} is not {want:?}\n{program}"
                        );
                    }
                }
            }
        }
        assert!(ran > 1, "{schedule} does not run");
    }
}

const TILE: &str = "gpu_tile(x, y, xo, yo, xi, yi, 8, 4)";

#[test]
fn stencils_of_every_type() {
    for ty in [I8, U8, I16, U16, I32, U32, I64, F16, BF16, F32, F64] {
        let input = ImageParam::new("in", ty, 2);
        let (x, y) = vars!(x, y);
        let (mut f, mut g) = (Func::new("f"), Func::new("g"));
        f[(x, y)] = input[(x, y)] * cast_to(ty, 3) - input[(x + 1, y)] + cast_to(ty, x + 7 * y);
        g[(x, y)] = (f[(x - 1, y)] + f[(x + 1, y + 1)]) / cast_to(ty, 5);
        let p = Pipeline::new([&g]).unwrap();
        let places = [
            "f: compute_at(g, xo) split(x, xo, xi, 4) split(y, yo, yi, 2) reorder(xi, yi, xo, yo) gpu_threads(xi, yi)",
            "f: compute_at(g, xi)",
            "f: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 4, 4)",
        ];
        let schedules: Vec<String> = places.iter().map(|p| format!("g: {TILE}\n{p}")).collect();
        sweep(&p, &schedules.iter().map(String::as_str).collect::<Vec<_>>());
    }
}

/// Vectors of bytes, whole words where strides allow it.
#[test]
fn blurred_bytes() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let wide = |dx: i32| cast::<u16>(input[(x + dx, y)]);
    f[(x, y)] = cast::<u8>((wide(-1) + wide(0) * 2 + wide(1) + 2) / 4);
    g[(x, y)] =
        cast::<u8>((cast::<u16>(f[(x, y - 1)]) + cast::<u16>(f[(x, y)]) * 2 + cast::<u16>(f[(x, y + 1)]) + 2) / 4);
    let p = Pipeline::new([&g]).unwrap();
    sweep(
        &p,
        &[
            "g: gpu_tile(x, y, xo, yo, xi, yi, 16, 4)",
            "g: gpu_tile(x, y, xo, yo, xi, yi, 16, 4)\n f: compute_at(g, xo) split(x, xo, xi, 8, GuardWithIf) \
             split(y, yo, yi, 8, GuardWithIf) reorder(xi, yi, xo, yo) gpu_threads(xi, yi)",
            "g: split(x, xo, xi, 32, RoundUp) vectorize(xi, 4) gpu_blocks(xo, y) gpu_threads(xi)",
            "g: split(x, xo, xi, 32, GuardWithIf) vectorize(xi, 8) gpu_blocks(xo, y) gpu_threads(xi)\n\
             f: compute_at(g, xi) vectorize(x, 8)",
            "g: split(x, xo, xi, 32) vectorize(xi, 4) gpu_blocks(xo, y) gpu_threads(xi)\n\
             f: compute_root() split(x, xo, xi, 32) vectorize(xi, 4) gpu_blocks(xo, y) gpu_threads(xi)",
        ],
    );
}

/// Updates: sums over windows, in registers and in memory, and a scatter by one thread.
#[test]
fn reductions() {
    let input = ImageParam::new("in", F32, 2);
    let (x, y) = vars!(x, y);
    let (mut sum, mut g) = (Func::new("sum"), Func::new("g"));
    let r = RDom::named("r", [(0, 5), (0, 3)]);
    sum[(x, y)] += input[(x + r.x, y + r.y)] * input[(x + r.y, y + r.x)];
    g[(x, y)] = sqrt(sum[(x, y)] * sum[(x, y)]) + exp(clamp(sum[(x, y)], -9.0f32, 9.0f32));
    let p = Pipeline::new([&g]).unwrap();
    sweep(
        &p,
        &[
            "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n sum: compute_at(g, xi)",
            "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n sum: compute_at(g, xo) split(x, xo, xi, 8, GuardWithIf) \
             reorder(xi, xo, y) gpu_threads(xi)\n sum.update(0): split(x, xo, xi, 8, GuardWithIf) \
             reorder(r.x, r.y, xi, xo, y) gpu_threads(xi)",
            "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n sum: compute_root() gpu_tile(x, y, xo, yo, xi, yi, 8, 4)\n\
             sum.update(0): gpu_tile(x, y, xo, yo, xi, yi, 8, 4) unroll(r.x)",
        ],
    );
}
