//! Copies between host and device, and memory that is used again.

use crate::support::{b, code, counting, dense, dispatch_scale, gpu, kernel, program, scale, scaled, words};
use halide_core::buffer::{AnyBuffer, Buffer, Region};
use halide_core::types::ScalarType::*;
use halide_gpu::GpuError;
use halide_gpu::runtime::GpuProgram;
use halide_ir::device::Device;
use halide_ir::{KernelId, Residency};
use std::future::Future;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::thread;

#[test]
fn an_unchanged_input_is_copied_once() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut input = counting(500);
    let triple = |values: &[u32]| values.iter().map(|v| 3 * v).collect::<Vec<u32>>();
    assert_eq!(scaled(&program, &input, 3).unwrap(), (triple(&input.to_vec()), 1));
    assert_eq!(scaled(&program, &input, 3).unwrap(), (triple(&input.to_vec()), 0));
    // Clones, translations and crops are the same memory.
    let moved = input.translate([17]).unwrap();
    assert_eq!(scaled(&program, &moved, 3).unwrap().1, 0);
    let crop = input.crop(&Region::of_spans([(7, 100)])).unwrap();
    assert_eq!(scaled(&program, &crop, 3).unwrap(), (triple(&crop.to_vec()), 0));
    // Writing the clone copies it, so the others stay known; writing the only owner does not copy, so it is new.
    drop((moved, crop));
    let mut clone = input.clone();
    clone.set([3], 99).unwrap();
    assert_eq!(scaled(&program, &clone, 3).unwrap(), (triple(&clone.to_vec()), 1));
    assert_eq!(scaled(&program, &input, 3).unwrap().1, 0);
    input.set([3], 77).unwrap();
    assert_eq!(scaled(&program, &input, 3).unwrap(), (triple(&input.to_vec()), 1));
    // Another device has copies of its own.
    let Some(other) = crate::support::gpu() else { return };
    assert_eq!(scaled(&scale(&other), &input, 3).unwrap().1, 1);
    assert_eq!(scaled(&program, &input, 3).unwrap().1, 0);
}

#[test]
fn parts_are_copied_as_they_are_needed() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let input = counting(4000);
    let before = gpu.memory_bytes();
    let part = |min: i64, extent: i64| input.crop(&Region::of_spans([(min, extent)])).unwrap();
    assert_eq!(scaled(&program, &part(100, 50), 2).unwrap().1, 1);
    assert!(gpu.memory_bytes() - before < 10_000, "only the part");
    assert_eq!(scaled(&program, &part(120, 20), 2).unwrap().1, 0, "inside of the part");
    assert_eq!(scaled(&program, &part(140, 20), 2).unwrap().1, 1, "not quite inside");
    assert_eq!(scaled(&program, &input, 2).unwrap().1, 1);
    assert_eq!(scaled(&program, &part(3000, 20), 2).unwrap(), ((3000..3020).map(|v| 2 * v).collect(), 0));
}

#[test]
fn two_inputs_of_one_memory_are_copied_once() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[U32, U32], &[U32], &[]);
    let id = kernel(&mut p, "add", [32, 1, 1], &[(b(0), false), (b(1), false), (b(2), true)], 1);
    let code = code(&p, id, "if (i < c0) { b2[at2 + i] = b0[at0 + i] + b1[at1 + i]; }");
    let program = GpuProgram::from_code(&gpu, &p, vec![code]).unwrap();
    let input = counting(100);
    let part = |min| input.crop(&Region::of_spans([(min, 90)])).unwrap();
    let mut run = program.start();
    run.bind_input(b(0), &input).unwrap();
    run.bind_input(b(1), &part(10)).unwrap();
    run.bind_output(b(2), &dense(90)).unwrap();
    run.dispatch(id, &[3], &[90], &[&[], &[], &[]]).unwrap();
    let mut out = vec![0; 360];
    run.finish_output(b(2), &mut out).unwrap();
    assert_eq!(words(&out), (0..90).map(|i| 2 * i + 10).collect::<Vec<u32>>());
    assert_eq!(run.finish().unwrap().uploads, 1);
}

/// Crops of narrow elements start anywhere in a word, but kernels find their first element at the start of one.
#[test]
fn crops_of_narrow_elements_start_at_a_word() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[U8], &[U32], &[]);
    let id = kernel(&mut p, "widen", [32, 1, 1], &[(b(0), false), (b(1), true)], 1);
    let body = "if (at0 % 4u != 0u) { b1[at1] = 12345u; } else if (i < c0) {
        let e = at0 + i; b1[at1 + i] = (b0[e / 4u] >> (8u * (e % 4u))) & 255u; }";
    let program = GpuProgram::from_code(&gpu, &p, vec![code(&p, id, body)]).unwrap();
    let input = Buffer::<u8>::from_fn(&Region::of_extents([200]), |at| at[0] as u8).unwrap();
    let uploads = |input: &AnyBuffer| {
        let n = input.len() as usize;
        let mut run = program.start();
        run.bind_input(b(0), input).unwrap();
        run.bind_output(b(1), &dense(n)).unwrap();
        run.dispatch(id, &[n.div_ceil(32) as i64], &[n as u64], &[&[], &[]]).unwrap();
        let mut out = vec![0; 4 * n];
        run.finish_output(b(1), &mut out).unwrap();
        let first = input.min(0) as u32;
        assert_eq!(words(&out), (first..first + n as u32).collect::<Vec<u32>>());
        run.finish().unwrap().uploads
    };
    let part = |min: i64, extent: i64| input.crop(&Region::of_spans([(min, extent)])).unwrap();
    assert_eq!(uploads(&input), 1);
    for min in 0..8 {
        // The whole serves crops at words; one copy serves all that are off by as much.
        assert_eq!(uploads(&part(min, 190 - min)), u64::from(min > 0 && min < 4), "at {min}");
        assert_eq!(uploads(&part(min + 4, 3)), 0, "at {min}");
    }
}

#[test]
fn memory_does_not_grow_with_the_number_of_runs() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut after_ten = 0;
    for i in 0..1000u32 {
        // New memory each time, so each run copies.
        let input = counting(300 + (i % 3) as usize);
        let (found, uploads) = scaled(&program, &input, 2).unwrap();
        assert_eq!((found[299], uploads), (598, 1));
        if i == 10 {
            after_ten = gpu.memory_bytes();
        }
    }
    assert!(gpu.memory_bytes() <= 2 * after_ten, "{} after {after_ten}", gpu.memory_bytes());
    gpu.trim();
    assert_eq!(gpu.memory_bytes(), 0, "nothing is in use");
}

#[test]
fn many_threads_share_a_device() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let shared: AnyBuffer = counting(5000).into();
    thread::scope(|scope| {
        for t in 0..4u64 {
            let (program, shared) = (&program, &shared);
            scope.spawn(move || {
                for i in 0..50 {
                    let factor = 100 * t + i;
                    let input: AnyBuffer = if i % 2 == 0 { shared.clone() } else { counting(3000).into() };
                    let (found, _) = scaled(program, &input, factor).unwrap();
                    assert!(found.iter().enumerate().all(|(i, v)| u64::from(*v) == factor * i as u64));
                }
            });
        }
    });
    assert_eq!(scaled(&program, &shared, 1).unwrap().1, 0);
}

/// Memory that a run gives back before its work is submitted is not another's yet.
#[test]
fn allocations_of_one_run_use_memory_again() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[U32], &[U32]);
    let fill = kernel(&mut p, "fill", [32, 1, 1], &[(b(1), true)], 1);
    let add = kernel(&mut p, "add", [32, 1, 1], &[(b(1), false), (b(0), true)], 0);
    let codes = vec![code(&p, fill, "b0[at0 + i] = c0;"), code(&p, add, "b1[at1 + i] += b0[at0 + i];")];
    let program = GpuProgram::from_code(&gpu, &p, codes).unwrap();
    let mut run = program.start();
    run.bind_output(b(0), &dense(1024)).unwrap();
    // The sum starts at what the host has there.
    let mut out = vec![0; 4096];
    run.reside(b(0), Residency::ChangedOnHost, &mut out).unwrap();
    let before = gpu.memory_bytes();
    for i in 0..100 {
        run.begin(b(1), 4096).unwrap();
        run.dispatch(fill, &[32], &[i], &[&[]]).unwrap();
        run.dispatch(add, &[32], &[], &[&[], &out]).unwrap();
        run.end(b(1));
    }
    assert!(gpu.memory_bytes() - before < 20_000, "{}", gpu.memory_bytes() - before);
    run.finish_output(b(0), &mut out).unwrap();
    assert_eq!(words(&out), vec![4950; 1024]);
}

#[test]
fn a_result_that_is_kept_is_an_input_that_is_there() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut run = program.start();
    run.bind_input(b(0), &counting(100)).unwrap();
    run.bind_output(b(1), &dense(100)).unwrap();
    dispatch_scale(&mut run, 100, 3).unwrap();
    let mut memory = vec![0; 400];
    run.finish_output(b(1), &mut memory).unwrap();
    let result = AnyBuffer::from_bytes(U32, &Region::of_extents([100]), &memory).unwrap();
    run.keep_output(b(1), &result).unwrap();
    run.finish().unwrap();
    assert_eq!(scaled(&program, &result, 2).unwrap(), ((0..100).map(|i| 6 * i).collect(), 0));
}

/// Copies of inputs that live on are no reason to be out of memory.
#[test]
fn copies_go_when_memory_is_out() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    gpu.set_memory_cap(Some(200_000));
    let inputs: Vec<Buffer<u32>> = (0..30).map(|_| counting(5000)).collect();
    for input in &inputs {
        assert_eq!(scaled(&program, input, 3).unwrap().0[4999], 14_997);
    }
    assert!(gpu.memory_bytes() <= 200_000);
    assert_eq!(scaled(&program, &inputs[0], 3).unwrap().1, 1, "it has gone");
    assert_eq!(scaled(&program, &inputs[0], 3).unwrap().1, 0);
}

/// Nothing blocks in futures: a program that looks after the device now and then gets its results.
#[test]
fn runs_are_awaited_without_blocking() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let input = counting(1000);
    let whole = async {
        let mut out = vec![0; 4000];
        let mut run = program.start();
        run.bind_input(b(0), &input)?;
        run.bind_output(b(1), &dense(1000))?;
        run.dispatch_async(KernelId(0), &[16], &[1000, 2], &[&[], &[]]).await?;
        run.finish_outputs_async(&mut [(b(1), &mut out)]).await?;
        let stats = run.finish_async().await?;
        Ok::<_, GpuError>((stats, out))
    };
    let mut whole = pin!(whole);
    let mut context = Context::from_waker(Waker::noop());
    let (stats, out) = loop {
        match whole.as_mut().poll(&mut context) {
            Poll::Ready(done) => break done.unwrap(),
            Poll::Pending => gpu.poll(),
        }
    };
    assert_eq!(stats.dispatches, 1);
    assert_eq!(words(&out)[999], 1998);
}
