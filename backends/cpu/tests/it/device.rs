//! Host code of kernels: what a device is told, in which order, and what happens when it fails.

use crate::harness::{add_buffer, buffer, compiled, internal, program, serial, store, values};
use halide_core::buffer::{AnyBuffer, RawBuffer};
use halide_core::ids::Id;
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;
use halide_cpu::{CpuFault, RunArgs};
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{
    BufId, BufferRole, Expr, Kernel, KernelBuffer, KernelId, Memory, Program, Residency, Side, Stmt, Sym, Type, Writes,
    build,
};
use std::sync::Mutex;

/// Notes what it is asked, and multiplies the bytes that it was shown last by 3 when they are asked back.
#[derive(Default)]
struct Notes {
    told: Vec<String>,
    bytes: Vec<u8>,
    fails_at: Option<usize>,
}

impl Notes {
    fn note(&mut self, what: String) -> Result<(), DeviceFault> {
        self.told.push(what);
        match self.fails_at {
            Some(at) if at < self.told.len() => Err(DeviceFault::Lost { reason: "gone".into() }),
            _ => Ok(()),
        }
    }
}

impl Device for Notes {
    fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), DeviceFault> {
        self.note(format!("begin {buf:?} {bytes}"))
    }
    fn end(&mut self, buf: BufId) {
        self.told.push(format!("end {buf:?}"));
    }
    fn dispatch(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> Result<(), DeviceFault> {
        let sizes: Vec<usize> = memory.iter().map(|m| m.len()).collect();
        if let Some(shown) = memory.iter().find(|m| !m.is_empty()) {
            self.bytes = shown.to_vec();
        }
        self.note(format!("dispatch {kernel:?} {grid:?} {scalars:x?} {sizes:?}"))
    }
    fn reside(&mut self, buf: BufId, what: Residency, memory: &mut [u8]) -> Result<(), DeviceFault> {
        if what == Residency::OnHost {
            memory.iter_mut().zip(&self.bytes).for_each(|(m, b)| *m = b.wrapping_mul(3));
        }
        self.note(format!("{what:?} {buf:?} {}", memory.len()))
    }
}

/// The host fills a buffer, a kernel "triples" it, and the host copies what came back to the output.
fn tripled() -> (Program, BufId, BufId) {
    let mut p = program(&[F32], &[U8]);
    let (input, output) = (BufId::new(0), BufId::new(1));
    let level = p.params.push(("level".into(), F32));
    let both = internal(&mut p, U8, Memory::Auto);
    p.buffers[both].side = Side::Both;
    let alone = add_buffer(&mut p, "alone", F32, BufferRole::Internal);
    p.buffers[alone].side = Side::Device;
    let extent = Sym::Buffer { buf: output, dim: 0, field: DimField::Extent };
    let temps: Vec<Type> = [Bool, I16, F32, F64].map(Type::data).into();
    let captures = std::iter::once((extent, Type::INDEX));
    let captures = captures.chain(temps.iter().enumerate().map(|(i, ty)| (Sym::Temp(i as u32), *ty)));
    let used = |buf, reads, writes| KernelBuffer { buf, reads, writes, word_strides: Vec::new() };
    let kernel = p.kernels.push(Kernel {
        name: "triple".into(),
        blocks: Vec::new(),
        threads: [8, 1, 1],
        captures: captures.collect(),
        params: vec![level],
        buffers: vec![
            used(input, true, Writes::None),
            used(both, true, Writes::Pieces),
            used(alone, true, Writes::Words),
        ],
        shared: Vec::new(),
        shared_words: 0,
        lanes: None,
        body: build::nothing(),
    });
    let n = build::sym(extent);
    let fill = serial(&mut p, n.clone(), |i| store(both, i.clone(), build::cast_data(U8, i)));
    let copy = serial(&mut p, n.clone(), |i| store(output, i.clone(), build::load(both, U8, i, None)));
    let values = [Scalar::from(true), Scalar::from(-2i16), Scalar::from(1.5f32), Scalar::from(-0.5f64)];
    let bindings = values.iter().enumerate().map(|(i, v)| (Sym::Temp(i as u32), build::constant(*v)));
    let bindings: Vec<(Sym, Expr)> = bindings.collect();
    p.next_temp = 4;
    let launch = Stmt::Dispatch { kernel, grid: vec![n.clone(), build::int(2)] };
    p.kernels[kernel].blocks = vec![p.loops.push("bx".into()), p.loops.push("by".into())];
    let steps = build::block([
        fill,
        Stmt::Reside { buf: both, what: Residency::ChangedOnHost },
        launch,
        Stmt::Reside { buf: both, what: Residency::OnHost },
        copy,
        Stmt::Free { buf: both },
    ]);
    let inner = Stmt::Alloc { buf: alone, count: build::int(5), constant: Some(5), body: Box::new(steps) };
    let outer = Stmt::Alloc { buf: both, count: n, constant: None, body: Box::new(inner) };
    p.body = build::let_in(bindings, outer);
    (p, input, both)
}

fn run(p: &Program, device: Option<&Mutex<dyn Device>>) -> Result<Vec<Scalar>, CpuFault> {
    let input = buffer(F32, &[Scalar::from(1f32)]);
    let mut out = AnyBuffer::new(ScalarType::U8, [6]).unwrap();
    let raws: Vec<RawBuffer> = vec![input.raw(), out.view_mut().unwrap().raw_mut()];
    let params = [Scalar::from(2f32)];
    compiled(p).run(&RunArgs { params: &params, buffers: &raws, device, ..RunArgs::default() })?;
    Ok(values(&out))
}

#[test]
fn a_device_is_told_what_the_host_does() {
    let (p, _, both) = tripled();
    let device = Mutex::new(Notes::default());
    let found = run(&p, Some(&device)).unwrap();
    assert_eq!(found, [0u8, 3, 6, 9, 12, 15].map(Scalar::from));
    let told = device.into_inner().unwrap().told;
    assert_eq!(
        told,
        [
            format!("begin {both:?} 6"),
            "begin b3 20".into(),
            format!("ChangedOnHost {both:?} 6"),
            // Grid; extent, true, -2i16, 1.5f32, -0.5f64, and the parameter 2f32; the input is not shown.
            "dispatch kernel0 [6, 2] [6, 1, fffe, 3fc00000, bfe0000000000000, 40000000] [0, 6, 0]".into(),
            format!("OnHost {both:?} 6"),
            format!("end {both:?}"),
            "end b3".into(),
            format!("end {both:?}"),
        ]
    );
}

#[test]
fn the_first_failure_of_a_device_ends_the_run() {
    let (p, ..) = tripled();
    for fails_at in 0..5 {
        let device = Mutex::new(Notes { fails_at: Some(fails_at), ..Notes::default() });
        let found = run(&p, Some(&device));
        assert_eq!(found, Err(CpuFault::Device(DeviceFault::Lost { reason: "gone".into() })));
        assert_eq!(device.into_inner().unwrap().told.len(), fails_at + 1);
    }
}

#[test]
fn kernels_without_a_device_are_an_error() {
    let found = run(&tripled().0, None);
    assert!(matches!(&found, Err(CpuFault::Arguments(why)) if why.contains("no device")), "{found:?}");
}
