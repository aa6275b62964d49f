//! Dimensions of a few elements: channels that follow each other in memory, and small blocks.

use crate::chosen::{TARGET, chosen};
use halide_auto::Estimates;
use halide_core::expr::{ExprMethods, cast, clamp, min, select};
use halide_core::types::{F32, I16, U8};
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};
use halide_ir::target::Target;

/// The schedule for one thread, which arithmetic limits, and not memory alone.
fn text(output: &Func, sizes: &[i64]) -> String {
    let target = Target { threads: 1, ..TARGET };
    let pipeline = Pipeline::new([output]).unwrap_or_else(|e| panic!("{e}"));
    chosen(&pipeline, &target, &Estimates::new().output("output", sizes)).schedule.to_string()
}

/// All channels are written out, so that pixels are whole vectors, in code for four channels.
#[test]
fn channels_have_code_of_their_own() {
    let (c, x, y) = vars!(c, x, y);
    let (above, below) = (ImageParam::new("above", U8, 2), ImageParam::new("below", U8, 2));
    let mut output = Func::new("output");
    let clear = cast::<u16>(255 - above[(4 * x + 3, y)]);
    let product = cast::<u16>(below[(4 * x + c, y)]) * clear + 128;
    let part = (product + (product >> 8)) >> 8;
    output[(c, x, y)] = cast::<u8>(min(cast::<u16>(above[(4 * x + c, y)]) + part, 255));
    output.output().dim(1).set_stride(4);
    let text = text(&output, &[4, 2048, 1024]);
    for part in ["unroll(cr)", "vectorize(xr", "specialize(output.extent(0) == 4 && output.min(0) == 0)"] {
        assert!(text.contains(part), "`{part}` is not in\n{text}");
    }
}

/// The few terms of a product of small matrices are written out, with vectors along their rows.
#[test]
fn small_sums_are_written_out() {
    let (i, j, n) = vars!(i, j, n);
    let (a, b) = (ImageParam::new("a", F32, 2), ImageParam::new("b", F32, 2));
    let k = RDom::named("k", [(0, 4)]);
    let mut output = Func::new("output");
    output[(i, j, n)] = cast::<f32>(0);
    output[(i, j, n)] += a[(4 * j + k.x, n)] * b[(4 * k.x + i, n)];
    let text = text(&output, &[4, 4, 65536]);
    let update = text.lines().find(|line| line.starts_with("output.update(0)")).unwrap_or_default();
    assert!(update.contains("unroll(k.x)") && !update.contains("vectorize(n"), "{text}");
}

/// Lanes that a clamp moves anywhere are as dear as they are: vectors lie across blocks, of which all is written out.
#[test]
fn blocks_that_clamps_mix_are_written_out() {
    let (k, b, y) = vars!(k, b, y);
    let input = ImageParam::new("input", I16, 2);
    let mut before = Func::new("pass0");
    before[(k, b, y)] = input[(8 * b + k, y)];
    for (step, name) in [(1, "pass1"), (2, "pass2"), (4, "output")] {
        let mut after = Func::new(name);
        let other = |by: i32| before[(clamp(k + by, 0, 7), b, y)];
        let is_first = (k / step % 2).eq(0);
        after[(k, b, y)] = select(is_first, other(0) + other(step), other(-step) - other(0));
        before = after;
    }
    before.output().dim(1).set_stride(8);
    let text = text(&before, &[8, 256, 1024]);
    let output = text.lines().find(|line| line.starts_with("output:")).unwrap_or_default();
    assert!(output.contains("unroll(kr)") && output.contains("vectorize(b"), "{text}");
}
