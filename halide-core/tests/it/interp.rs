//! The interpreter on pipelines as users write them, against plain loops.

use halide_core::boundary::*;
use halide_core::buffer::{AnyBuffer, Buffer, Region};
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::reduce::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Pipeline, RDom, vars};

#[track_caller]
fn realize(output: &Func, inputs: &Inputs, spans: &[(i32, i32)]) -> AnyBuffer {
    let pipeline = Pipeline::new([output]).unwrap_or_else(|e| panic!("{e}"));
    run(&pipeline, inputs, &[Region::of_spans(spans)]).unwrap_or_else(|e| panic!("{e}")).remove(0)
}

/// Checks every boundary condition of a row of three from coordinate 10, as text.
#[test]
fn boundary_conditions_of_a_row() {
    let input = ImageParam::new("input", U8, 1);
    let check = |func: Func, row: &[u8], expected: &str| {
        let row = Buffer::from_slice([row.len()], row).unwrap().with_mins([10]).unwrap();
        let out = realize(&func, &Inputs::new().image("input", row), &[(3, 17)]);
        let text: String = out.coords().map(|at| out.get(at).unwrap().as_u64() as u8 as char).collect();
        assert_eq!(text, expected);
    };
    //                                                 |||
    check(repeat_edge(&input), b"abc", "aaaaaaaabcccccccc");
    check(repeat_image(&input), b"abc", "cabcabcabcabcabca");
    check(mirror_image(&input), b"abc", "aabccbaabccbaabcc");
    check(mirror_interior(&input), b"abc", "bcbabcbabcbabcbab");
    check(constant_exterior(&input, b'.'), b"abc", ".......abc.......");
    check(mirror_image(&input), b"z", "zzzzzzzzzzzzzzzzz");
    check(mirror_interior(&input), b"z", "zzzzzzzzzzzzzzzzz");
    check(repeat_image(&input), b"xy", "yxyxyxyxyxyxyxyxy");
}

#[test]
fn an_update_of_a_cropped_photo() {
    // The largest pixel of each row and where it is, then a shift of the rows by their maximum.
    let input = ImageParam::new("input", I16, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::new([(input.dim(0).min(), input.dim(0).extent())]);
    let mut best = Func::new("best");
    best[y] = tuple([input.dim(0).min() - 1, i32::MIN.expr()]);
    let value = input[(r.x, y)].cast(I32);
    let better = value.gt(best[y].at(1));
    best[y] = tuple([select(better, r.x, best[y].at(0)), select(better, value, best[y].at(1))]);
    let mut out = Func::new("out");
    out[(x, y)] = best[y + x].at(0) * 1000 + best[y - x].at(1);

    let region = Region::of_spans([(-5, 13), (100, 40)]);
    let pixel = |x: i32, y: i32| (x * x * 31 % 47 - y * x % 13) as i16;
    let photo = Buffer::from_fn(&region, |at| pixel(at[0], at[1])).unwrap();
    let got = realize(&out, &Inputs::new().image("input", &photo), &[(-2, 5), (102, 36)]);
    let row = |y: i32| {
        (-5..8).fold((-6, i32::MIN), |b, x| if pixel(x, y) as i32 > b.1 { (x, pixel(x, y) as i32) } else { b })
    };
    for at in got.coords() {
        let expected = row(at[1] + at[0]).0 * 1000 + row(at[1] - at[0]).1;
        assert_eq!(got.get(&at), Some(expected.into()), "{at:?}");
    }
}

/// Values that the interpreter keeps may need more memory than there is. A test process with little memory tells.
#[test]
fn values_that_no_memory_can_hold_are_an_error() {
    if !cfg!(target_os = "linux") {
        return halide_skips::skip(halide_skips::Need::System("linux"), "a limit of a process's memory");
    }
    let r = RDom::new([(0, 1 << 20)]);
    let (x, mut f, mut g) = (vars!(x), Func::new("f"), Func::new("g"));
    // A point of each page of values.
    f[x] = x.cast(I64) * 3;
    g[x] = sum(f[r.x * 1024 + x]);
    if std::env::var_os("HALIDE_LITTLE_MEMORY").is_some() {
        let pipeline = Pipeline::new([&g]).unwrap_or_else(|e| panic!("{e}"));
        let error = run(&pipeline, &Inputs::new(), &[Region::of_extents([1])]).unwrap_err().to_string();
        assert_eq!(error, "the system has no memory for values of `f`; ask for a smaller output");
        return;
    }
    let name = "interp::values_that_no_memory_can_hold_are_an_error";
    let child = std::process::Command::new("sh")
        .args(["-c", "ulimit -v 600000 && exec \"$0\" --exact \"$1\" --test-threads 1"])
        .args([std::env::current_exe().unwrap().as_os_str(), name.as_ref()])
        .env("HALIDE_LITTLE_MEMORY", "yes")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&child.stdout);
    assert!(child.status.success() && text.contains("1 passed"), "{text}\n{}", String::from_utf8_lossy(&child.stderr));
}
