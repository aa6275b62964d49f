//! Runs that fail in the middle leave nothing behind, whatever was allocated by then.

use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::limits::Limits;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, vars};
use halide_cpu::{CpuFault, CpuOptions, RunArgs, compile};
use halide_ir::target::Target;
use halide_sched::lower::{LowerOptions, lower};
use halide_sched::plan::resolve;

/// A chain of stages, the last but one of which fails where a pixel is 255.
pub(crate) fn pipeline() -> Pipeline {
    let input = ImageParam::new("in", U8, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c, mut out) = (Func::new("a"), Func::new("b"), Func::new("c"), Func::new("out"));
    a[(x, y)] = cast::<u16>(input[(x, y)]) * 2;
    b[(x, y)] = a[(x, y)] + a[(x + 1, y)];
    c[(x, y)] = require(input[(x, y)].lt(255), b[(x, y)] - a[(x, y + 1)], "a white pixel");
    out[(x, y)] = c[(x, y)] + b[(x, y + 1)];
    Pipeline::new([&out]).unwrap()
}

pub(crate) const W: i64 = 200;
pub(crate) const H: i64 = 90;

pub(crate) fn image(white: Option<[i64; 2]>) -> AnyBuffer {
    let mut image = AnyBuffer::with_region(U8, &Region::of_extents([W + 1, H + 2])).unwrap();
    if let Some(at) = white {
        image.set(at, halide_core::value::Scalar::from(255u8)).unwrap();
    }
    image
}

#[test]
fn a_failed_requirement_frees_everything() {
    let schedules = [
        "a: compute_root()\n b: compute_root()\n c: compute_root()",
        "a: compute_root()\n b: compute_root() parallel(y)\n c: compute_root() parallel(y) vectorize(x, 8)\n out: parallel(y)",
        "a: compute_root()\n out: split(y, yo, yi, 16, GuardWithIf) parallel(yo)\n b: compute_at(out, yo)\n c: compute_at(out, yi)",
        "a: store_root() compute_at(out, y)\n b: store_root() compute_at(out, y)\n c: compute_at(out, x)",
        "out: tile(x, y, xo, yo, xi, yi, 32, 16) parallel(yo)\n a: compute_at(out, xo)\n b: compute_at(out, xo)\n c: compute_at(out, xo) store_in(Heap)",
    ];
    for schedule in schedules {
        let plan =
            resolve(&pipeline(), &schedule.parse().unwrap(), &Target::host()).unwrap_or_else(|e| panic!("{e:?}"));
        let program = lower(&plan, &LowerOptions::default()).unwrap().program;
        let code = compile(&program, &CpuOptions::default()).unwrap();
        let mut out = AnyBuffer::new(U16, [W, H]).unwrap();
        let mut run = |white, memory_cap| {
            let source = image(white);
            let raws = [source.raw(), out.view_mut().unwrap().raw_mut()];
            let limits = Option::map(memory_cap, Limits::with_cap);
            code.run(&RunArgs { buffers: &raws, limits: limits.as_ref(), threads: Some(2), ..RunArgs::default() })
        };
        let good = run(None, None).unwrap_or_else(|e| panic!("{schedule}: {e}"));
        // Twice what one run takes, since each thread has memory of its own.
        let cap = Some(2 * good.peak_bytes);
        for round in 0..300 {
            let white = [(round * 37) % W, (round * 11) % H];
            let failed = run(Some(white), cap);
            assert!(matches!(failed, Err(CpuFault::Check { .. })), "{schedule}: {failed:?}");
        }
        // Were anything still held, there would be no room now.
        assert!(run(None, cap).is_ok(), "{schedule}");
        let kept = code.retained_bytes();
        assert!(kept <= 4 * good.peak_bytes as usize + (1 << 20), "{schedule}: {kept} of {}", good.peak_bytes);
        code.trim();
        assert_eq!(code.retained_bytes(), 0, "{schedule}");
        // Memory that runs out in the middle is given back too.
        for part in 1..8 {
            let small = Some(good.peak_bytes * part / 8);
            if let Err(fault) = run(None, small) {
                assert!(matches!(fault, CpuFault::OverCap { .. }), "{schedule}: {fault}");
            }
        }
        assert!(run(None, cap).is_ok(), "{schedule}");
        code.trim();
        assert_eq!(code.retained_bytes(), 0, "{schedule}");
    }
}
