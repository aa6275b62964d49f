//! Failures of runs: each is an error that says what went wrong, and never a panic or an old result.

use crate::support::{b, code, counting, dense, dispatch_scale, gpu, kernel, program, scale, scaled};
use halide_core::buffer::{AnyBuffer, Region};
use halide_core::types::ScalarType::*;
use halide_gpu::runtime::GpuProgram;
use halide_gpu::{GpuError, Limit};
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{KernelId, Residency};
use std::thread;
use std::time::Duration;

#[test]
fn kernels_that_need_too_much_are_refused() {
    let Some(gpu) = gpu() else { return };
    let has = gpu.limits();
    let compiled = |threads: [u32; 3], buffers: usize, shared_words: u32| {
        let mut p = program(&vec![U32; buffers], &[], &[]);
        let used: Vec<_> = (0..buffers).map(|i| (b(i), false)).collect();
        let id = kernel(&mut p, "greedy", threads, &used, 0);
        p.kernels[id].shared_words = shared_words;
        // The shader itself is modest: what is checked is what the kernel says.
        let mut modest = p.clone();
        modest.kernels[id].threads = [1, 1, 1];
        let mut code = code(&modest, id, "");
        code.workgroup = threads;
        GpuProgram::from_code(&gpu, &p, vec![code])
    };
    let limit = |what, needed: u32, most: u32| {
        let (needed, most) = (needed.into(), most.into());
        Some(GpuError::Limit { kernel: "greedy".into(), what, needed, most })
    };
    let [x, y, _] = has.most_threads;
    let all = has.most_threads_in_all;
    assert_eq!(compiled([x + 1, 1, 1], 1, 0).err(), limit(Limit::Threads(0), x + 1, x));
    assert_eq!(compiled([1, y + 1, 1], 1, 0).err(), limit(Limit::Threads(1), y + 1, y));
    assert_eq!(compiled([x, 2, 1], 1, 0).err(), limit(Limit::ThreadsInAll, 2 * x, all));
    let words = has.shared_bytes / 4 + 1;
    assert_eq!(compiled([1, 1, 1], 1, words).err(), limit(Limit::SharedBytes, 4 * words, has.shared_bytes));
    let error = compiled([1, 1, 1], 5000, 0).unwrap_err();
    assert!(matches!(error, GpuError::Limit { what: Limit::Buffers, needed: 5001, .. }), "{error}");
    let text = compiled([x + 1, 1, 1], 1, 0).unwrap_err().to_string();
    assert!(text.starts_with("kernel `greedy` needs "), "{text}");
    assert!(compiled([1, 1, 1], 3, 0).is_ok());
}

#[test]
fn a_shader_that_the_driver_refuses_is_an_error() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[U32], &[], &[]);
    let id = kernel(&mut p, "odd", [1, 1, 1], &[(b(0), false)], 0);
    let mut code = code(&p, id, "");
    code.module.entry_points[0].name = "not_main".into();
    let error = GpuProgram::from_code(&gpu, &p, vec![code]).unwrap_err();
    assert!(matches!(&error, GpuError::Refused { kernel, reason } if kernel == "odd" && !reason.is_empty()), "{error}");
    // The device is as good as before.
    assert!(scaled(&scale(&gpu), &counting(10), 2).is_ok());
}

#[test]
fn buffers_that_are_too_large_are_refused() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let most = gpu.most_buffer_bytes();
    let too_large = |bytes| DeviceFault::BufferTooLarge { buf: b(0), bytes, most };
    let mut run = program.start();
    assert_eq!(run.begin(b(0), most + 1), Err(too_large(most + 1)));
    assert_eq!(run.begin(b(0), u64::MAX), Err(too_large(u64::MAX)));
    // An output that no kernel can be given is refused when one is to write it.
    run.bind_input(b(0), &counting(64)).unwrap();
    let extent = (most / 4 + 1) as usize;
    run.bind_output(b(1), &dense(extent)).unwrap();
    let fault = dispatch_scale(&mut run, 64, 1).unwrap_err();
    assert_eq!(fault, DeviceFault::BufferTooLarge { buf: b(1), bytes: 4 * extent as u64, most });
    assert!(scaled(&program, &counting(10), 2).is_ok());
}

#[test]
fn a_device_without_memory_says_so_and_goes_on() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    gpu.set_memory_cap(Some(100_000));
    let found = scaled(&program, &counting(50_000), 2);
    assert!(matches!(&found, Err(GpuError::Fault(DeviceFault::OutOfMemory { bytes: 200_000, .. }))), "{found:?}");
    // What is idle goes before memory is out.
    for n in [500, 1000, 2000, 4000, 500] {
        assert_eq!(scaled(&program, &counting(n), 2).unwrap().0.len(), n);
    }
    assert!(gpu.memory_bytes() <= 100_000);
    gpu.set_memory_cap(None);
    assert!(scaled(&program, &counting(50_000), 2).is_ok());
}

/// Buffers of the largest size, until the driver itself has no more.
#[test]
fn absurd_sizes_are_errors() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[], &[U32; 64]);
    let buffers = (0..64).map(b);
    let ids: Vec<KernelId> = buffers.clone().map(|buf| kernel(&mut p, "touch", [1, 1, 1], &[(buf, true)], 0)).collect();
    let codes = ids.iter().map(|id| code(&p, *id, "if (i > 0u) { b0[at0] = 1u; }")).collect();
    let program = GpuProgram::from_code(&gpu, &p, codes).unwrap();
    // Memory that is only reserved costs nothing, but what is submitted is cleared; so nothing is.
    gpu.set_memory_cap(Some(4 << 30));
    let mut run = program.start();
    let bytes = gpu.most_buffer_bytes();
    let mut fault = None;
    for (buf, id) in buffers.zip(ids) {
        run.begin(buf, bytes).unwrap();
        if let Err(found) = run.dispatch(id, &[1], &[], &[&[]]) {
            fault = Some(found);
            break;
        }
    }
    assert!(matches!(fault, Some(DeviceFault::OutOfMemory { .. })), "{fault:?}");
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut run = program.start();
    let wrong = AnyBuffer::new(F32, [4]).unwrap();
    let error = run.bind_input(b(0), &wrong).unwrap_err();
    assert_eq!(error.to_string(), "b0 cannot be used so: in0 has 1 dimensions of u32, not 1 of f32");
    assert!(run.bind_input(b(9), &counting(4)).is_err());
    assert!(run.bind_output(b(1), &[]).is_err());
    // Not bound at all.
    assert!(matches!(dispatch_scale(&mut run, 4, 1), Err(DeviceFault::Refused { .. })));
    run.bind_input(b(0), &counting(64)).unwrap();
    run.bind_output(b(1), &dense(64)).unwrap();
    assert!(run.dispatch(KernelId(0), &[1], &[], &[&[], &[]]).is_err(), "too few scalars");
    assert!(run.dispatch(KernelId(0), &[1], &[1, 1], &[]).is_err(), "too few buffers");
    assert!(run.dispatch(KernelId(7), &[1], &[1, 1], &[&[], &[]]).is_err(), "no such kernel");
    let blocks = run.dispatch(KernelId(0), &[i64::MAX], &[1, 1], &[&[], &[]]);
    assert!(matches!(blocks, Err(DeviceFault::TooManyBlocks { .. })), "{blocks:?}");
    dispatch_scale(&mut run, 64, 1).unwrap();
    let mut short = vec![0; 8];
    assert!(run.finish_output(b(1), &mut short).is_err());
    assert!(run.reside(b(1), Residency::OnHost, &mut []).is_err());
    let mut right = vec![0; 256];
    assert!(run.finish_output(b(1), &mut right).is_ok());
}

#[test]
fn buffers_of_another_device_are_refused() {
    let (Some(here), Some(there)) = (gpu(), gpu()) else { return };
    let region = Region::of_extents([16]);
    let mut run = scale(&there).start();
    run.bind_input(b(0), &counting(16)).unwrap();
    run.bind_device_output(b(1), &region).unwrap();
    dispatch_scale(&mut run, 16, 1).unwrap();
    let result = run.take_output(b(1), &region).unwrap();
    let mut run = scale(&here).start();
    assert!(matches!(run.bind_device_input(b(0), &result), Err(GpuError::Argument { .. })));
}

fn is_lost<T: std::fmt::Debug>(found: Result<T, GpuError>) {
    assert!(matches!(&found, Err(GpuError::Fault(DeviceFault::Lost { .. }))), "{found:?}");
}

#[test]
fn a_lost_device_ends_the_run_and_all_later_ones() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let input: AnyBuffer = counting(1000).into();
    let region = Region::of_extents([1000]);
    // What is on the device when it goes.
    let mut run = program.start();
    run.bind_input(b(0), &input).unwrap();
    run.bind_device_output(b(1), &region).unwrap();
    dispatch_scale(&mut run, 1000, 1).unwrap();
    let resident = run.take_output(b(1), &region).unwrap();
    run.finish().unwrap();

    let mut run = program.start();
    run.bind_input(b(0), &input).unwrap();
    run.bind_output(b(1), &dense(1000)).unwrap();
    dispatch_scale(&mut run, 1000, 2).unwrap();
    gpu.lose();
    // Whatever comes next fails or does nothing; nothing comes back.
    let _ = dispatch_scale(&mut run, 1000, 3);
    let mut out = vec![0; 4000];
    is_lost(run.finish_output(b(1), &mut out));
    assert!(out.iter().all(|byte| *byte == 0));
    is_lost(run.finish());
    assert!(gpu.is_lost());
    is_lost(scaled(&program, &input, 1));
    is_lost(resident.to_host());
    is_lost(GpuProgram::from_code(&gpu, &program_of_scale().0, vec![program_of_scale().1]));
    // Another one works, also for inputs that were on the lost one.
    let Some(again) = crate::support::gpu() else { return };
    assert_eq!(scaled(&scale(&again), &input, 2).unwrap().0[999], 1998);
}

fn program_of_scale() -> (halide_ir::Program, halide_gpu::codegen::KernelCode) {
    let mut p = program(&[U32], &[], &[]);
    let id = kernel(&mut p, "none", [1, 1, 1], &[(b(0), false)], 0);
    let code = code(&p, id, "");
    (p, code)
}

#[test]
fn a_device_lost_before_the_end_is_noticed_at_the_end() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut run = program.start();
    run.bind_input(b(0), &counting(100)).unwrap();
    run.bind_output(b(1), &dense(100)).unwrap();
    dispatch_scale(&mut run, 100, 2).unwrap();
    let mut out = vec![0; 400];
    run.finish_output(b(1), &mut out).unwrap();
    dispatch_scale(&mut run, 100, 3).unwrap();
    gpu.lose();
    is_lost(run.finish());
}

/// Whenever it goes, runs end with results or with an error, and those that have results have the right ones.
#[test]
fn a_device_may_go_at_any_time() {
    for wait in [0, 1, 3, 7, 20] {
        let Some(gpu) = gpu() else { return };
        let program = scale(&gpu);
        let input: AnyBuffer = counting(20_000).into();
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    for factor in 0.. {
                        let new: AnyBuffer = counting(3000).into();
                        match scaled(&program, if factor % 2 == 0 { &input } else { &new }, factor) {
                            Ok((found, _)) => {
                                assert!(found.iter().enumerate().all(|(i, v)| u64::from(*v) == factor * i as u64));
                            }
                            lost => return is_lost(lost),
                        }
                    }
                });
            }
            thread::sleep(Duration::from_millis(wait));
            gpu.lose();
        });
        assert!(gpu.is_lost());
    }
}
