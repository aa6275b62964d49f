//! Cases that random schedules found on a device, each with the mechanism that was wrong.

use crate::engines_agree::noise;
use crate::gpu::agree;
use halide::prelude::*;

/// `Bool` outputs come back through bytes of their own, which hold nothing where host code wrote the output last.
#[test]
fn bools_that_host_code_writes_last() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = (x + y).eq(3);
    f[(x, 1)] = x.gt(2) | f[(x, 1)];
    let p = Pipeline::new([&f]).unwrap();
    let schedules =
        ["f: gpu_tile(x, y, xo, yo, xi, yi, 4, 2)", "f.update(0): gpu_tile(x, xo, xi, 4)", "f: parallel(y)"];
    agree(&p, &schedules, &[], &[Region::of_extents([7, 5]), Region::of_extents([1, 3])]);
}

/// The number of threads of an inner loop may depend on the position in an outer one.
#[test]
fn ranges_of_threads_that_depend_on_other_threads() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x * 10 + y;
    let p = Pipeline::new([&f]).unwrap();
    let schedules = [
        "f: split(x, xo, xi, 2, Predicate) gpu_blocks(y) gpu_threads(xi) split(xo, xb, xm, 2) gpu_threads(xm)",
        "f: split(x, xo, xi, 2, GuardWithIf) gpu_blocks(y) gpu_threads(xi) split(xo, xb, xm, 2) gpu_threads(xm) \
         split(xb, xbo, xbi, 2) gpu_threads(xbi)",
    ];
    agree(&p, &schedules, &[], &[[1, 1], [2, 1], [3, 2], [7, 3], [22, 2]].map(Region::of_extents));
}

/// Parts of a loop that was partitioned each allocate the storage that the host keeps for the kernel, once.
#[test]
fn device_memory_in_partitioned_loops() {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[(x, y)] = cast::<u16>(input[(x, y)]) * 3;
    f[(x, y)] += cast::<u16>(1);
    g[(x, y)] = f[(max(x, 4), 1)] + cast::<u16>(y);
    let p = Pipeline::new([&g]).unwrap();
    let schedules = [
        "g: gpu_single_thread() partition(x, Always)\n f: compute_at(g, x) store_in(Global)",
        "g: gpu_tile(x, y, xo, yo, xi, yi, 8, 2) partition(xo, Always)\n f: compute_at(g, xi) store_in(Global)",
        "g: split(y, yo, yi, 2) gpu_blocks(yo) gpu_threads(yi) reorder(x, yi, yo) partition(x, Always)\n \
         f: compute_at(g, x) store_in(Global)",
    ];
    let image = noise(U8, &Region::of_extents([30, 20]), 3);
    agree(&p, &schedules, &[("in", image)], &[[1, 1], [3, 2], [7, 3], [22, 5]].map(Region::of_extents));
}

/// Evaluated host code computes in copies of the outputs, which lie in memory as rules say.
#[test]
fn strides_by_rule_with_evaluated_host_code() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = cast::<f32>(x) + cast::<f32>(y) * 0.5;
    f.output().dim(1).set_stride_multiple_of(2);
    let p = Pipeline::new([&f]).unwrap();
    let schedules = ["f: split(x, xo, xi, 2) gpu_blocks(xo)", "f: gpu_tile(x, y, xo, yo, xi, yi, 4, 2)"];
    agree(&p, &schedules, &[], &[[1, 1], [3, 2], [7, 5]].map(Region::of_extents));
}

/// Outputs whose rows are no whole words are computed in a copy, which begins with what the output holds where that is
/// kept.
#[test]
fn kept_values_in_rows_of_odd_length() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let (x, y) = vars!(x, y);
    let (mut kept, mut made) = (Func::new("kept"), Func::new("made"));
    kept[(x, y)] = select((x % 2).eq(0), cast::<u8>(x + 1), undef::<u8>());
    made[(x, y)] = cast::<u8>(x * y);
    let p = Pipeline::new([&kept, &made]).unwrap();
    let schedule = "made: gpu_tile(x, y, xo, yo, xi, yi, 4, 2)".parse().unwrap();
    for compiled in [
        Compiler::new(&p).engine(Engine::Interp).schedule(&schedule).target(&target).compile().unwrap(),
        Compiler::new(&p).engine(Engine::Eval).schedule(&schedule).target(&target).compile().unwrap(),
        Compiler::new(&p).gpu(gpu).schedule(&schedule).target(&target).compile().unwrap(),
    ] {
        let region = Region::of_extents([3, 2]);
        let mut kept = Buffer::<u8>::from_fn(&region, |at| 100 + at[0] as u8).unwrap();
        let mut made = Buffer::<u8>::new([3, 2]).unwrap();
        let views = &mut [kept.view_mut().unwrap().into_any(), made.view_mut().unwrap().into_any()];
        compiled.inputs().realize_all_into(views).unwrap();
        assert_eq!(kept.to_vec(), [1, 101, 3, 1, 101, 3], "{:?}", compiled.engine());
        assert_eq!(made.to_vec(), [0, 0, 0, 0, 1, 2], "{:?}", compiled.engine());
    }
}

/// Machine code alone runs no kernels: that is said when it is asked for, not in the middle of a run.
#[test]
fn kernels_without_a_device() {
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x + y;
    let p = Pipeline::new([&f]).unwrap();
    let target = Target { gpu: Some(halide::target::Gpu::LEAST), ..Target::host() };
    let schedule = "f: gpu_tile(x, y, xo, yo, xi, yi, 4, 2)".parse().unwrap();
    let error = p.compile(&schedule, &target).unwrap_err().to_string();
    expect_test::expect![[r#"
        the schedule gives `f` to a GPU, and machine code for this CPU alone was asked for
          help: leave out Engine::Cpu and compile with Compiler::gpu(&gpu), or ask for Engine::Gpu"#]]
    .assert_eq(&error);
}

/// Shared memory for a Func over an empty domain has no elements, and a kernel is made all the same. (Seed 510113 of
/// random_gpu_schedules.)
#[test]
fn shared_memory_for_no_elements() {
    let Some(gpu) = crate::gpu::gpu() else { return };
    let target = Target { gpu: Some(gpu.limits()), ..Target::host() };
    let (x, y) = vars!(x, y);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    let r = RDom::named("r", [(2, 0)]);
    f[(x, y)] = x + y;
    g[(x, y)] = 7.expr();
    g[(x, y)] += f[(r.x, y)];
    let p = Pipeline::new([&g]).unwrap();
    let schedule = "g.update(0): split(x, xo, xi, 4) reorder(r.x, xi, y, xo) gpu_blocks(y, xo) gpu_threads(xi)
        f: compute_at(g.update(0), y)"
        .parse()
        .unwrap();
    let compiled = Compiler::new(&p).gpu(gpu).schedule(&schedule).target(&target).compile().unwrap();
    let out: Buffer<i32> = compiled.inputs().realize([5, 2]).unwrap();
    assert_eq!(out.to_vec(), [7; 10]);
}
