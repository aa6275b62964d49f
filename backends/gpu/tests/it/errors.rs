//! Kernels that cannot be compiled, and their errors as text.

use crate::harness::*;
use expect_test::{Expect, expect};
use halide_core::types::ScalarType::{self, *};
use halide_gpu::codegen::{Features, Options, compile};
use halide_ir::{BufId, Expr, ForKind, KernelId, Program, Stmt, Sym, Writes, build};

/// A kernel of one block and one thread that stores `value` to its output, and then does what `rest` says.
fn storing(ty: ScalarType, value: Expr, rest: Stmt) -> (Program, KernelId) {
    let mut p = program(&[], &[ty]);
    let id = kernel(&mut p, [1, 1, 1], |p, block| {
        build::block([phase(p, build::int(1), |_| store(BufId(0), block, value)), rest])
    });
    p.kernels[id].name = "blur_y".to_string();
    let writes = if ty.bytes() < 4 { Writes::Pieces } else { Writes::Words };
    uses(&mut p, id, BufId(0), false, writes);
    (p, id)
}

/// The error and its hint on a device with some features.
#[track_caller]
fn refused((p, id): (Program, KernelId), features: Features, expected: Expect) {
    let error = compile(&p, id, &Options { features, pieces: false }).expect_err("it is refused");
    let hint = error.hint().map_or(String::new(), |h| format!("\n  help: {h}"));
    expected.assert_eq(&format!("{error}{hint}"));
}

fn zero(ty: ScalarType) -> Expr {
    build::constant(halide_core::value::Scalar::zero(ty))
}

#[test]
fn types_that_the_device_lacks() {
    let none = Features::default();
    refused(
        storing(I64, zero(I64), build::nothing()),
        none,
        expect![[r#"
        kernel `blur_y` computes in i64, and the device lacks 64-bit integers in shaders
          help: cast to a narrower type, schedule the Func for the CPU, or use another device"#]],
    );
    refused(
        storing(F64, zero(F64), build::nothing()),
        none,
        expect![[r#"
        kernel `blur_y` computes in f64, and the device lacks 64-bit floats in shaders
          help: cast to a narrower type, schedule the Func for the CPU, or use another device"#]],
    );
    refused(
        storing(F64, zero(F64), build::nothing()),
        Features { float64: true, ..none },
        expect![[r#"
        kernel `blur_y` computes in f64, and the device lacks 64-bit integers in shaders
          help: cast to a narrower type, schedule the Func for the CPU, or use another device"#]],
    );
    // Also where no buffer has the type.
    let wide = build::cast_data(U64, build::loop_var(halide_ir::LoopId(0)));
    refused(
        storing(U8, build::cast_data(U8, wide), build::nothing()),
        none,
        expect![[r#"
        kernel `blur_y` computes in u64, and the device lacks 64-bit integers in shaders
          help: cast to a narrower type, schedule the Func for the CPU, or use another device"#]],
    );
}

#[test]
fn what_no_device_does() {
    let x = build::cast_data(F64, build::loop_var(halide_ir::LoopId(0)));
    let sine = build::math(halide_core::ops::MathFn::Sin, vec![x]);
    refused(
        storing(F64, sine, build::nothing()),
        ALL.features,
        expect![[r#"
        kernel `blur_y` has sin of f64, which GPUs do not have
          help: compute it in f32"#]],
    );
    let x = build::cast_data(F32, build::loop_var(halide_ir::LoopId(0)));
    let fused = build::math(halide_core::ops::MathFn::Fma, vec![x.clone(), x.clone(), x]);
    refused(
        storing(F32, fused, build::nothing()),
        ALL.features,
        expect![[r#"
        kernel `blur_y` has fma of f32, which GPUs do not have
          help: compute it outside of kernels"#]],
    );
    let count = Stmt::Count { counter: 0, amount: build::int(1) };
    refused(
        storing(I32, zero(I32), count),
        ALL.features,
        expect![[r#"
        kernel `blur_y` has a counter of the profile, which GPUs do not have
          help: profile the Func on the CPU"#]],
    );
}

#[test]
fn malformed_kernels() {
    let features = ALL.features;
    let outside = store(BufId(0), build::int(0), zero(I32));
    refused(
        storing(I32, zero(I32), outside),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): b0 is stored to outside of loops over threads"],
    );
    refused(
        storing(I32, build::typed_sym(Sym::Temp(3), halide_ir::Type::data(I32)), build::nothing()),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): Temp(3) is not bound"],
    );
    refused(
        storing(I32, build::load(BufId(7), I32, build::int(0), None), build::nothing()),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): b7 is used and not there"],
    );
    let (mut p, id) = storing(U8, zero(U8), build::nothing());
    p.kernels[id].buffers[0].writes = Writes::Words;
    refused(
        (p, id),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): a store to b0 does not write whole words"],
    );
    let (mut p, id) = storing(U8, zero(U8), build::nothing());
    p.kernels[id].buffers[0].buf = BufId(9);
    refused((p, id), features, expect!["kernel `blur_y` is malformed (a bug in halide): b9 is not in the table"]);
    refused(
        (storing(U8, zero(U8), build::nothing()).0, KernelId(4)),
        features,
        expect!["kernel `kernel4` is malformed (a bug in halide): it is not in the table"],
    );
}

#[test]
fn statements_in_the_wrong_place() {
    let features = ALL.features;
    let with_loop = |kind, inner: Stmt| {
        let (mut p, id) = storing(I32, zero(I32), build::nothing());
        let l = new_loop(&mut p, "z");
        p.kernels[id].body = build::for_loop(l, kind, build::int(0), build::int(1), inner);
        (p, id)
    };
    refused(
        with_loop(ForKind::GpuThreads, Stmt::Barrier),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): a barrier is inside of a loop over threads"],
    );
    refused(
        with_loop(ForKind::Parallel, Stmt::Barrier),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): a Parallel loop is left"],
    );
    let (mut p, id) = storing(I32, zero(I32), build::nothing());
    let l = new_loop(&mut p, "z");
    let body = store(BufId(0), build::loop_var(l), zero(I32));
    p.kernels[id].body = build::for_loop(l, ForKind::GpuThreads, build::int(0), build::int(2), body);
    refused(
        (p, id),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): a loop has 2 threads, and the block 1"],
    );
    let dispatch = Stmt::Dispatch { kernel: KernelId(0), grid: Vec::new() };
    refused(
        with_loop(ForKind::Serial, dispatch),
        features,
        expect!["kernel `blur_y` is malformed (a bug in halide): a statement of the host stands in it"],
    );
}
