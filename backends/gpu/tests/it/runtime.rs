//! Runs: kernels, copies between host and device, and buffers that stay there.

use crate::harness;
use crate::support::{b, bytes, code, counting, dense, dispatch_scale, gpu, kernel, program, scale, scaled, words};
use halide_core::buffer::{AnyBuffer, Buffer, Dim, Region};
use halide_core::pipeline::DimField;
use halide_core::types::ScalarType::*;
use halide_gpu::runtime::{Choice, Gpu, GpuProgram, list_devices};
use halide_ir::device::{Device, DeviceFault};
use halide_ir::{Residency, Sym, Type, Writes, build};
use std::thread;
use std::time::Duration;

#[test]
fn devices_are_listed_and_chosen() {
    let Some(gpu) = gpu() else { return };
    let devices = list_devices();
    assert!(devices.contains(gpu.describe()), "{devices:?}");
    let at = devices.iter().position(|d| d == gpu.describe()).unwrap();
    assert_eq!(Gpu::open(&Choice::Index(at)).unwrap().describe(), gpu.describe());
    let missing = Gpu::open(&Choice::Named("abacus".into())).unwrap_err();
    assert!(missing.to_string().starts_with("a device whose name contains \"abacus\" was asked for"), "{missing}");
    assert!(missing.hint().is_some());
    let has = gpu.limits();
    assert!(has.most_threads_in_all >= 128 && has.shared_bytes >= 16 << 10, "{has:?}");
    fn shared<T: Send + Sync + Clone>(_: &T) {}
    shared(&gpu);
}

#[test]
fn a_kernel_reads_what_the_host_wrote_and_the_host_what_it_wrote() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    for n in [0, 1, 63, 64, 1000, 300_000] {
        let expected: Vec<u32> = (0..n as u32).map(|i| i.wrapping_mul(7)).collect();
        assert_eq!(scaled(&program, &counting(n), 7).unwrap().0, expected);
    }
}

#[test]
fn grids_over_no_blocks_do_nothing_and_very_large_ones_are_split() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[U32], &[]);
    let id = kernel(&mut p, "number", [1, 1, 1], &[(b(0), true)], 0);
    let code = code(&p, id, "b0[at0 + i] = i + 1u;");
    let program = GpuProgram::from_code(&gpu, &p, vec![code]).unwrap();
    let n = 140_001;
    let mut run = program.start();
    run.bind_output(b(0), &dense(n)).unwrap();
    run.dispatch(id, &[0], &[], &[&[]]).unwrap();
    run.dispatch(id, &[-5], &[], &[&[]]).unwrap();
    assert!(!run.is_on_device(b(0)));
    run.dispatch(id, &[n as i64], &[], &[&[]]).unwrap();
    assert!(run.is_on_device(b(0)));
    let mut out = vec![0; 4 * n];
    run.finish_output(b(0), &mut out).unwrap();
    assert!(words(&out).iter().enumerate().all(|(i, w)| *w == i as u32 + 1));
    let stats = run.finish().unwrap();
    assert_eq!((stats.dispatches, stats.submissions, stats.uploads), (3, 1, 0));
    assert_eq!(stats.download_bytes, 4 * n as u64);
}

/// Kernels between which the host changes what they work on.
#[test]
fn host_and_device_take_turns() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[U32], &[U32]);
    let (out, tmp) = (b(0), b(1));
    let copy = kernel(&mut p, "copy", [32, 1, 1], &[(tmp, false), (out, true)], 0);
    let double = kernel(&mut p, "double", [32, 1, 1], &[(tmp, true)], 0);
    let codes = vec![code(&p, copy, "b1[at1 + i] = b0[at0 + i];"), code(&p, double, "b0[at0 + i] = 2u * b0[at0 + i];")];
    let program = GpuProgram::from_code(&gpu, &p, codes).unwrap();
    let mut run = program.start();
    run.bind_output(out, &dense(64)).unwrap();
    let mut host = bytes(&(0..64).collect::<Vec<u32>>());
    let mut expected: Vec<u32> = (0..64).collect();
    let mut result = vec![0; 256];
    for _ in 0..2 {
        run.begin(tmp, 256).unwrap();
        run.reside(tmp, Residency::ChangedOnHost, &mut host).unwrap();
        run.dispatch(double, &[2], &[], &[&host]).unwrap();
        run.reside(tmp, Residency::OnHost, &mut host).unwrap();
        // Both have the newest now, so this copies nothing.
        run.reside(tmp, Residency::OnHost, &mut host).unwrap();
        host.iter_mut().step_by(4).for_each(|byte| *byte ^= 1);
        expected.iter_mut().for_each(|w| *w = (2 * *w) ^ 1);
        run.reside(tmp, Residency::ChangedOnHost, &mut host).unwrap();
        run.dispatch(double, &[2], &[], &[&host]).unwrap();
        run.dispatch(copy, &[2], &[], &[&host, &result]).unwrap();
        run.end(tmp);
        run.end(tmp);
    }
    run.reside(out, Residency::OnHost, &mut result).unwrap();
    assert_eq!(words(&host), expected);
    assert_eq!(words(&result), expected.iter().map(|w| 2 * w).collect::<Vec<u32>>());
    let stats = run.finish().unwrap();
    assert_eq!((stats.uploads, stats.dispatches), (4, 6));
    assert_eq!(stats.download_bytes, 3 * 256);
}

/// Bytes between the elements of an output are not a kernel's to change.
#[test]
fn gaps_of_outputs_stay_as_they_are() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[U8], &[]);
    let id = kernel(&mut p, "mark", [1, 1, 1], &[(b(0), true)], 1);
    let body = "let e = at0 + i * c0; let m = 255u << (8u * (e % 4u));
        b0[e / 4u] = (b0[e / 4u] & ~m) | (m & 0x09090909u);";
    let program = GpuProgram::from_code(&gpu, &p, vec![code(&p, id, body)]).unwrap();
    // Every fourth byte, upwards and downwards: the element at the min coordinates is then the highest.
    for stride in [4i64, -4] {
        let mut run = program.start();
        run.bind_output(b(0), &[Dim { min: 3, extent: 6, stride }]).unwrap();
        let mut memory: Vec<u8> = (100..121).collect();
        run.dispatch(id, &[6], &[stride as u64], &[&memory]).unwrap();
        run.finish_output(b(0), &mut memory).unwrap();
        let expected: Vec<u8> = (0..21).map(|i| if i % 4 == 0 { 9 } else { 100 + i }).collect();
        assert_eq!(memory, expected);
        assert_eq!(run.finish().unwrap().uploads, 0);
    }
}

#[test]
fn results_may_stay_on_the_device() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let region = Region::of_extents([1000]);
    let mut run = program.start();
    run.bind_input(b(0), &counting(1000)).unwrap();
    run.bind_device_output(b(1), &region).unwrap();
    dispatch_scale(&mut run, 1000, 3).unwrap();
    let tripled = run.take_output(b(1), &region).unwrap();
    assert_eq!(run.finish().unwrap().download_bytes, 0);

    // An input of the next run, whole and in part, without passing through the host.
    for part in [Region::of_spans([(0, 1000)]), Region::of_spans([(137, 500)])] {
        let (crop, n) = (tripled.crop(&part).unwrap(), part.points().unwrap() as usize);
        assert_eq!(crop.region(), part);
        let mut run = program.start();
        run.bind_device_input(b(0), &crop).unwrap();
        run.bind_output(b(1), &dense(n)).unwrap();
        dispatch_scale(&mut run, n, 5).unwrap();
        let mut out = vec![0; 4 * n];
        run.finish_output(b(1), &mut out).unwrap();
        assert_eq!(run.finish().unwrap().upload_bytes, 0);
        let first = part.spans()[0].min as u32;
        assert_eq!(words(&out), (first..first + n as u32).map(|i| 15 * i).collect::<Vec<u32>>());
    }
    let host = tripled.to_host().unwrap();
    assert_eq!(host.typed::<u32>().unwrap().to_vec(), (0..1000).map(|i| 3 * i).collect::<Vec<u32>>());
    let crop = tripled.crop(&Region::of_spans([(10, 3)])).unwrap().to_host().unwrap();
    assert!(crop.shares_memory(&host), "copied once");
    assert_eq!(crop.typed::<u32>().unwrap().to_vec(), [30, 33, 36]);
    // And the host's copy is known to be on the device.
    assert_eq!(scaled(&program, &host, 1).unwrap(), ((0..1000).map(|i| 3 * i).collect(), 0));
    assert!(tripled.crop(&Region::of_spans([(999, 2)])).is_err());
}

#[test]
fn kernels_are_timed() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let creation = program.pipeline_creation();
    assert_eq!(creation.len(), 1);
    assert_eq!(creation[0].0, "scale");
    let mut run = program.start_timed();
    run.bind_input(b(0), &counting(100_000)).unwrap();
    run.bind_output(b(1), &dense(100_000)).unwrap();
    for factor in 0..3 {
        dispatch_scale(&mut run, 100_000, factor).unwrap();
    }
    let stats = run.finish().unwrap();
    assert_eq!(stats.dispatches, 3);
    assert!(stats.pipeline_creation > Duration::ZERO);
    match stats.kernels.as_slice() {
        [] => halide_skips::skip(halide_skips::Need::DeviceFeature("timestamps"), format!("{gpu:?}")),
        [(name, took)] => assert!(name == "scale" && !took.is_zero(), "{took:?}"),
        more => panic!("{more:?}"),
    }
}

#[test]
fn many_dispatches_go_out_in_a_few_submissions() {
    let Some(gpu) = gpu() else { return };
    let program = scale(&gpu);
    let mut run = program.start();
    run.bind_input(b(0), &counting(64)).unwrap();
    run.bind_output(b(1), &dense(64)).unwrap();
    for factor in 0..1000 {
        dispatch_scale(&mut run, 64, factor).unwrap();
    }
    let mut out = vec![0; 256];
    run.finish_output(b(1), &mut out).unwrap();
    assert_eq!(words(&out), (0..64).map(|i| 999 * i).collect::<Vec<u32>>());
    let stats = run.finish().unwrap();
    assert_eq!((stats.dispatches, stats.uploads), (1000, 1));
    assert!(stats.submissions < 10, "{}", stats.submissions);
}

/// Code of the code generator, for rows that start at words and, made when it is needed, for those that do not.
#[test]
fn rows_may_start_within_words() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[], &[U8], &[]);
    let out = b(0);
    p.buffers[out].dims = 2;
    let stride = Sym::Buffer { buf: out, dim: 1, field: DimField::Stride };
    let id = harness::kernel(&mut p, [2, 1, 1], |p, row| {
        harness::phase(p, build::int(2), |thread| {
            let first =
                build::add(build::mul(thread.clone(), build::int(4)), build::mul(row.clone(), build::sym(stride)));
            let x = harness::dense(build::mul(thread, build::int(4)), 4);
            let value = build::add(x, build::broadcast(build::mul(row, build::int(10)), 4));
            harness::store(out, harness::dense(first, 4), build::cast_data(U8, value))
        })
    });
    harness::uses(&mut p, id, out, false, Writes::Words);
    p.kernels[id].buffers[0].word_strides.push(stride);
    p.kernels[id].captures.push((stride, Type::INDEX));
    let program = GpuProgram::new(&gpu, &p).unwrap();
    for stride in [8i64, 9, 11, 12, 9] {
        let dims = [Dim { min: 0, extent: 8, stride: 1 }, Dim { min: 3, extent: 5, stride }];
        let mut memory = vec![255u8; 4 * stride as usize + 8];
        let mut expected = memory.clone();
        for (y, x) in (0..5).flat_map(|y| (0..8).map(move |x| (y, x))) {
            expected[y * stride as usize + x] = (10 * y + x) as u8;
        }
        let mut run = program.start();
        run.bind_output(out, &dims).unwrap();
        run.dispatch(id, &[5], &[stride as u64], &[&memory]).unwrap();
        run.finish_output(out, &mut memory).unwrap();
        assert_eq!(memory, expected, "stride {stride}");
    }
    // Coordinates that 32 bits do not hold are refused before the device sees them.
    let mut run = program.start();
    run.bind_output(out, &[Dim { min: 0, extent: 8, stride: 1 }, Dim { min: 3, extent: 1, stride: 8 }]).unwrap();
    let fault = run.dispatch(id, &[5], &[1 << 40], &[&[0; 8]]).unwrap_err();
    assert_eq!(fault, DeviceFault::IndexTooLarge { kernel: id });
}

#[test]
fn a_device_compiles_equal_kernels_once() {
    let Some(gpu) = gpu() else { return };
    let created = || scale(&gpu).pipeline_creation()[0].1;
    let first = created();
    let again = (0..5).map(|_| created()).min().unwrap();
    assert!(again < first, "{again:?} after {first:?}");
    assert_eq!(scaled(&scale(&gpu), &counting(10), 3).unwrap().0[9], 27);
}

/// A crop on the device that starts within a word passes through the host; others do not.
#[test]
fn narrow_results_on_the_device_are_cropped_anywhere() {
    let Some(gpu) = gpu() else { return };
    let mut p = program(&[U8], &[U8], &[]);
    let id = kernel(&mut p, "copy", [1, 1, 1], &[(b(0), false), (b(1), true)], 0);
    let code = code(&p, id, "b1[at1 / 4u + i] = b0[at0 / 4u + i];");
    let program = GpuProgram::from_code(&gpu, &p, vec![code]).unwrap();
    let whole = Region::of_extents([40]);
    let input = Buffer::<u8>::from_fn(&whole, |at| at[0] as u8).unwrap();
    let mut run = program.start();
    run.bind_input(b(0), &input).unwrap();
    run.bind_device_output(b(1), &whole).unwrap();
    run.dispatch(id, &[10], &[], &[&[], &[]]).unwrap();
    let result = run.take_output(b(1), &whole).unwrap();
    run.finish().unwrap();
    for (min, uploads) in [(0, 0), (4, 0), (8, 0), (5, 1), (13, 1)] {
        let mut run = program.start();
        run.bind_device_input(b(0), &result.crop(&Region::of_spans([(min, 20)])).unwrap()).unwrap();
        run.bind_output(b(1), &dense(20)).unwrap();
        run.dispatch(id, &[5], &[], &[&[], &[]]).unwrap();
        let mut out = vec![0; 20];
        run.finish_output(b(1), &mut out).unwrap();
        assert_eq!(out, (min as u8..min as u8 + 20).collect::<Vec<u8>>());
        assert_eq!(run.finish().unwrap().uploads, uploads, "at {min}");
    }
    let copies: Vec<AnyBuffer> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(|| result.to_host().unwrap())).collect();
        threads.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(copies.iter().all(|c| c.shares_memory(&copies[0])));
}
