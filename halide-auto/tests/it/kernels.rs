//! Schedules with kernels that are chosen.

use crate::chosen::TARGET;
use halide_auto::{Auto, AutoError, AutoOptions, Estimates};
use halide_core::expr::cast_to;
use halide_core::types::{F32, F64, U8, U16};
use halide_core::{Expr, Func, ImageParam, IntoExpr, Pipeline, RDom, vars};
use halide_ir::machine::{GpuSpeed, Machine};
use halide_ir::target::{Gpu, Target};
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::{Plan, resolve};
use halide_sched::schedule::Schedule;

const GPU: Target = Target { gpu: Some(Gpu::LEAST), ..TARGET };

/// Two filters in a row.
fn filters() -> Pipeline {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let [mut across, mut down] = ["across", "down"].map(Func::new);
    let wide = |at: (Expr, Expr)| cast_to(U16, input[at].expr());
    across[(x, y)] = (wide((x.expr(), y.expr())) + wide((x + 1, y.expr())) + wide((x + 2, y.expr()))) / 3;
    down[(x, y)] = cast_to(U8, (across[(x, y)] + across[(x, y + 1)] + across[(x, y + 2)]) / 3);
    Pipeline::new([&down]).unwrap_or_else(|e| panic!("{e}"))
}

fn chosen_with(pipeline: &Pipeline, target: &Target, sizes: &Estimates, options: &AutoOptions) -> (Auto, Plan) {
    let choose = || halide_auto::auto_schedule(pipeline, target, sizes, options, &mut |_| Ok(None));
    let auto = choose().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(auto.schedule, choose().unwrap_or_else(|e| panic!("{e}")).schedule, "equal questions");
    assert_eq!(auto.refused, Vec::<String>::new(), "{}", auto.schedule);
    let plan = resolve(pipeline, &auto.schedule, target).unwrap_or_else(|e| panic!("{e:?}\n{}", auto.schedule));
    (auto, plan)
}

fn chosen(pipeline: &Pipeline, sizes: &Estimates) -> (Auto, Plan) {
    chosen_with(pipeline, &GPU, sizes, &AutoOptions::default())
}

#[test]
fn threads_compute_what_they_read_a_few_points_at_once() {
    let (auto, plan) = chosen(&filters(), &Estimates::new().output("down", [4096, 4096]));
    let text = auto.schedule.to_string();
    assert!(auto.has_kernels() && !text.contains("parallel"), "{text}");
    for part in ["across: compute_at(down, xi)", "gpu_blocks(", "gpu_threads(", "vectorize(", "unroll("] {
        assert!(text.contains(part), "no {part}:\n{text}");
    }
    assert!(auto.predicted_ns < 0.8 * auto.breadth_first_ns, "{auto:?}");
    let lowered = lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(lowered.program.kernels.len(), 1);
}

#[test]
fn blocks_have_no_more_threads_and_memory_than_devices() {
    let sizes = Estimates::new().output("down", [4096, 4096]);
    for gpu in [
        Gpu { most_threads: [16, 4, 2], most_threads_in_all: 64, shared_bytes: 512, ..Gpu::LEAST },
        Gpu { most_threads: [1, 8, 1], most_threads_in_all: 8, shared_bytes: 0, ..Gpu::LEAST },
        Gpu { most_threads: [1024; 3], most_threads_in_all: 1024, shared_bytes: 1 << 20, ..Gpu::LEAST },
    ] {
        let target = Target { gpu: Some(gpu), ..TARGET };
        let (auto, plan) = chosen_with(&filters(), &target, &sizes, &AutoOptions::default());
        assert!(auto.has_kernels(), "{}", auto.schedule);
        let lowered = lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
        for kernel in lowered.program.kernels.iter() {
            let fits = kernel.threads.iter().zip(gpu.most_threads).all(|(threads, most)| *threads <= most);
            assert!(fits && kernel.threads.iter().product::<u32>() <= gpu.most_threads_in_all, "{:?}", kernel.threads);
        }
    }
}

/// A device that can do nothing gets nothing, and figures of no device are no reason to fail.
#[test]
fn devices_that_cannot_be_leave_all_to_the_host() {
    let sizes = Estimates::new().output("down", [4096, 4096]);
    let none = Gpu { most_threads: [0; 3], most_threads_in_all: 0, shared_bytes: 0, ..Gpu::LEAST };
    let target = Target { gpu: Some(none), ..TARGET };
    let options = AutoOptions::default();
    let auto = halide_auto::auto_schedule(&filters(), &target, &sizes, &options, &mut |_| Ok(None));
    assert!(!auto.unwrap_or_else(|e| panic!("{e}")).has_kernels());
    let slow = GpuSpeed { units: 0, lanes: 0, ghz: 0.0, bytes_per_ns: f64::NAN, ..GpuSpeed::DISCRETE };
    let (auto, _) = chosen_with(&filters(), &GPU, &sizes, &options.gpu(slow));
    assert!(!auto.has_kernels(), "{}", auto.schedule);
}

/// Many short dimensions are not all written out by one thread.
#[test]
fn short_dimensions_are_written_out_as_far_as_that_is_good() {
    let input = ImageParam::new("input", F32, 6);
    let [a, b, c, d, e, f] = ["a", "b", "c", "d", "e", "f"].map(halide_core::Var::new);
    let mut out = Func::new("out");
    out[(a, b, c, d, e, f)] = input[(a, b, c, d, e, f)] + 1f32;
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let slow = Machine { ghz: 1e-3, ..Machine::typical(&GPU) };
    let options = AutoOptions::default().machine(&slow).gpu(GpuSpeed { launch_ns: 1.0, ..GpuSpeed::DISCRETE });
    let (auto, plan) = chosen_with(&pipeline, &GPU, &Estimates::new().output("out", [4; 6]), &options);
    assert!(auto.has_kernels(), "{}", auto.schedule);
    lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
}

/// Counts of values: threads meet in one element.
#[test]
fn terms_that_meet_are_added_in_single_steps() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y, i) = vars!(x, y, i);
    let r = RDom::named("r", [(0, 4096), (0, 4096)]);
    let [mut counts, mut out] = ["counts", "out"].map(Func::new);
    counts[i] = 0u32.expr();
    counts[input[(r.x, r.y)].expr()] += 1u32;
    out[(x, y)] = counts[input[(x, y)].expr()] + 1u32;
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let (auto, _) = chosen(&pipeline, &Estimates::new().output("out", [4096, 4096]));
    let text = auto.schedule.to_string();
    let line = text.lines().find(|line| line.starts_with("counts.update(0)")).unwrap_or_default();
    assert!(line.contains("atomic()") && line.contains("gpu_threads(r_xi) gpu_threads(r_yi)"), "{text}");

    // The order of sums of floats is part of their value, unless an algorithm leaves it open.
    let mut sums = Func::new("sums");
    sums[i] = 0f32.expr();
    sums[input[(r.x, r.y)].expr()] += 0.5f32;
    let pipeline = Pipeline::new([&sums]).unwrap_or_else(|e| panic!("{e}"));
    let (auto, _) = chosen(&pipeline, &Estimates::new().output("sums", [256]));
    assert!(!auto.schedule.to_string().contains("atomic"), "{}", auto.schedule);
}

/// A product of matrices has sums in the registers of threads.
#[test]
fn sums_of_threads_stay_in_registers() {
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let (x, y) = vars!(x, y);
    let k = RDom::named("k", [(0, 1024)]);
    let [mut product, mut out] = ["product", "out"].map(Func::new);
    product[(x, y)] = 0f32.expr();
    product[(x, y)] += a[(k.x, y)] * b[(x, k.x)];
    out[(x, y)] = product[(x, y)];
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let (auto, plan) = chosen(&pipeline, &Estimates::new().output("out", [1024, 1024]));
    let text = auto.schedule.to_string();
    assert!(text.contains("product: compute_at(out, ") && text.contains("unroll("), "{text}");
    let lowered = lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}"));
    assert_eq!(lowered.program.kernels.len(), 1, "{text}");
}

/// A recurrence along one dimension, and none along the other.
#[test]
fn recurrences_are_loops_of_threads() {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(1, 2047)]);
    let mut rows = Func::new("rows");
    rows[(x, y)] = input[(x, y)].expr();
    rows[(x, r.x)] = rows[(x, r.x)] + rows[(x, r.x - 1)] * 0.5f32;
    let pipeline = Pipeline::new([&rows]).unwrap_or_else(|e| panic!("{e}"));
    let (auto, _) = chosen(&pipeline, &Estimates::new().output("rows", [2048, 2048]));
    let text = auto.schedule.to_string();
    let line = text.lines().find(|line| line.starts_with("rows.update(0)")).unwrap_or_default();
    assert!(line.contains("gpu_threads(xi)") && !line.contains("r_x"), "{text}");
}

#[test]
fn a_host_that_is_faster_computes_all() {
    let sizes = Estimates::new().output("down", [64, 64]);
    let options = AutoOptions::default().gpu(GpuSpeed::SOFTWARE);
    let (auto, _) = chosen_with(&filters(), &GPU, &sizes, &options);
    assert!(!auto.has_kernels(), "{}", auto.schedule);
    let alone = halide_auto::auto_schedule(&filters(), &TARGET, &sizes, &options, &mut |_| Ok(None));
    assert_eq!(auto.schedule, alone.unwrap_or_else(|e| panic!("{e}")).schedule);
}

/// The host does what one thread of a device would take long for, and a device the rest.
#[test]
fn serial_parts_stay_on_the_host() {
    let input = ImageParam::new("input", F32, 1);
    let (x, y) = vars!(x, y);
    let r = RDom::named("r", [(1, 99_999)]);
    let [mut scan, mut out] = ["scan", "out"].map(Func::new);
    scan[x] = input[x].expr();
    scan[r.x] = scan[r.x] + scan[r.x - 1] * 0.5f32;
    let at = cast_to(halide_core::types::I32, (x * 7 + y * 13) % 100_000);
    out[(x, y)] = halide_core::expr::exp(scan[at].expr()) * 2f32;
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("out", [8192, 8192]).input("input", [100_000]);
    let slow = Machine { ghz: 1.0, ..Machine::typical(&GPU) };
    let (auto, _) = chosen_with(&pipeline, &GPU, &sizes, &AutoOptions::default().machine(&slow));
    let text = auto.schedule.to_string();
    let of = |name: &str| text.lines().filter(|line| line.starts_with(name)).collect::<String>();
    assert!(of("out").contains("gpu_blocks") && !of("scan").contains("gpu_"), "{text}");
}

#[test]
fn what_is_given_stays_on_the_host() {
    let sizes = Estimates::new().output("down", [4096, 4096]);
    let keep = |text: &str| -> Result<Auto, AutoError> {
        let given: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let options = AutoOptions::default().keep(&given);
        halide_auto::auto_schedule(&filters(), &GPU, &sizes, &options, &mut |_| Ok(None))
    };
    let auto = keep("across: compute_root() parallel(y)").unwrap_or_else(|e| panic!("{e}"));
    let text = auto.schedule.to_string();
    assert!(text.starts_with("across: compute_root() parallel(y)\n"), "{text}");
    assert!(resolve(&filters(), &auto.schedule, &GPU).is_ok(), "{text}");
    let refused = keep("down: gpu_tile(x, y, xo, yo, xi, yi, 16, 16)").map(|auto| auto.schedule.to_string());
    let text = refused.err().map(|e| e.to_string()).unwrap_or_default();
    assert!(text.starts_with("`down` is computed by kernels"), "{text}");
}

/// Columns that neighbouring threads read one element of each cost more than rows.
#[test]
fn neighbours_in_memory_are_cheaper() {
    let of_rows = |rows: bool| {
        let input = ImageParam::new("input", F32, 2);
        let (x, y) = vars!(x, y);
        let mut out = Func::new("out");
        out[(x, y)] = if rows { input[(x, y)].expr() } else { input[(y, x)].expr() } + 1f32;
        let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
        let (auto, _) = chosen(&pipeline, &Estimates::new().output("out", [4096, 4096]));
        auto.predicted_ns
    };
    let [rows, columns] = [true, false].map(of_rows);
    assert!(1.02 * rows < columns, "{rows} {columns}");
}

/// Four dimensions are more than blocks have, one element is fewer, and few channels are for one thread.
#[test]
fn any_number_of_dimensions_is_computed() {
    let input = ImageParam::new("input", F32, 4);
    let (x, y, z, w) = vars!(x, y, z, w);
    for extents in [[64, 64, 64, 64], [3, 512, 512, 2], [1, 1, 1, 1], [1, 1 << 20, 1, 1], [5, 7, 11, 13]] {
        let mut out = Func::new("out");
        out[(x, y, z, w)] = input[(x, y, z, w)] + 1f32;
        let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
        let slow = Machine { ghz: 1e-3, ..Machine::typical(&GPU) };
        let options = AutoOptions::default().machine(&slow).gpu(GpuSpeed { launch_ns: 1.0, ..GpuSpeed::DISCRETE });
        let (auto, plan) = chosen_with(&pipeline, &GPU, &Estimates::new().output("out", extents), &options);
        assert!(auto.has_kernels(), "{extents:?}\n{}", auto.schedule);
        lower(&plan, &LowerOptions::default()).unwrap_or_else(|e| panic!("{e:?}\n{}", auto.schedule));
    }
}

/// Types of 64 bits are for devices that have them; what computes in others goes to the device.
#[test]
fn types_that_a_device_lacks_stay_on_the_host() {
    let input = ImageParam::new("input", F32, 2);
    let (x, y) = vars!(x, y);
    let [mut first, mut second, mut out] = ["first", "second", "out"].map(Func::new);
    first[(x, y)] = halide_core::expr::exp(input[(x, y)].expr()) + halide_core::expr::sin(input[(x, y)].expr());
    second[(x, y)] = cast_to(F64, first[(x, y)].expr()) * 0.1f64;
    out[(x, y)] = cast_to(F32, second[(x, y)] + second[(x + 1, y)]);
    let pipeline = Pipeline::new([&out]).unwrap_or_else(|e| panic!("{e}"));
    let sizes = Estimates::new().output("out", [4096, 4096]);
    let slow = Machine { ghz: 0.01, ..Machine::typical(&GPU) };
    let options = AutoOptions::default().machine(&slow);
    let text = chosen_with(&pipeline, &GPU, &sizes, &options).0.schedule.to_string();
    let of = |text: &str, name: &str| text.lines().filter(|line| line.starts_with(name)).collect::<String>();
    assert!(of(&text, "first").contains("gpu_blocks") && !of(&text, "out").contains("gpu_"), "{text}");
    let gpu = Gpu { int64: true, float64: true, ..Gpu::LEAST };
    let text = chosen_with(&pipeline, &Target { gpu: Some(gpu), ..TARGET }, &sizes, &options).0.schedule.to_string();
    assert!(of(&text, "out").contains("gpu_blocks"), "{text}");
}
