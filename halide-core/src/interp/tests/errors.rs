//! Every way in which a run is refused, by its text.

use super::Build;
use crate::buffer::{Buffer, Region};
use crate::ids::FuncId;
use crate::interp::{Inputs, run};
use crate::ops::BinOp;
use crate::types::ScalarType::*;
use crate::value::Scalar;

/// f(x) = input(x + 1) * gain.
fn scaled() -> (Build, FuncId) {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let input = b.image("input", I32, 1);
    let gain = b.param("gain", I32, None);
    b.p.params[gain].min = Some(Scalar::from(1));
    b.p.params[gain].max = Some(Scalar::from(9));
    let gain = b.node(crate::pipeline::Kind::Param(gain), I32);
    let next = b.plus(vx, 1);
    let pixel = b.read(input, &[next]);
    let value = b.bin(BinOp::Mul, pixel, gain);
    let f = b.func("f", &[x], &[value]);
    (b, f)
}

fn ramp(extent: i32) -> Buffer<i32> {
    Buffer::from_fn(&Region::of_extents([extent]), |at| at[0]).unwrap()
}

#[test]
fn inputs_that_do_not_fit() {
    let (mut b, f) = scaled();
    let good = Inputs::new().image("input", ramp(5)).param("gain", 2);
    b.check(f, &good, (0, 4), &[2, 4, 6, 8]);
    let mut check = |inputs: Inputs, expected: &str| b.check_error(f, &inputs, (0, 4), expected);
    check(Inputs::new().param("gain", 2), "input image `input` was not given; bind a buffer to it");
    check(Inputs::new().image("input", ramp(5)), "parameter `gain` was not given and has no default; give it a value");
    check(good.clone().image("imput", ramp(1)), "the pipeline reads no image `imput`; its images are input");
    check(good.clone().param("gian", 1), "the pipeline reads no parameter `gian`; its parameters are gain");
    check(
        good.clone().image("input", Buffer::<u8>::new([5]).unwrap()),
        "input image `input` is of i32, but the buffer given is of u8; convert the buffer",
    );
    check(
        good.clone().image("input", ramp(5).embed(1, 0).unwrap()),
        "input image `input` has 1 dimensions, but the buffer given has 2; slice or embed the buffer",
    );
    check(good.clone().param("gain", 2u8), "parameter `gain` is of i32, but u8 was given; convert the value");
    check(good.clone().param("gain", 10), "parameter `gain` is 10; give a value from 1 to 9");
    check(good.clone().param("gain", 0), "parameter `gain` is 0; give a value from 1 to 9");
    check(
        good.clone().image("input", ramp(4)),
        "`f` reads `input` at coordinate 4 of dimension 0, but it has 4 coordinates from 0; \
         make the image larger, the output smaller, or put a boundary condition around the image",
    );
}

#[test]
fn outputs_that_cannot_be() {
    let (mut b, f) = scaled();
    let inputs = Inputs::new().image("input", ramp(5)).param("gain", 2);
    b.check_error(f, &inputs, (0, -1), "output `f`: the extent of dimension 0 is -1; use 0 or more");
    let error = b.run(f, &inputs, &[(0, 1), (0, 1)]).unwrap_err();
    let expected = "output `f` has 1 dimensions, but the region given for it has 2; give one span per dimension";
    assert_eq!(error.to_string(), expected);
    let error = run(&b.p, &inputs, &[]).unwrap_err();
    let expected = "the pipeline has 1 outputs, but 0 regions were given; give one per output Func";
    assert_eq!(error.to_string(), expected);
    let [y, z] = b.vars(["y", "z"]);
    let one = b.lit(1.0f64);
    let g = b.func("g", &[y, z], &[one]);
    let error = b.run(g, &inputs, &[(0, i32::MAX), (0, 1 << 25)]).unwrap_err();
    assert!(error.to_string().starts_with("output `g`: the system has no memory for a buffer of "), "{error}");
    let error = b.run(g, &inputs, &[(0, i32::MAX), (0, i32::MAX)]).unwrap_err();
    assert!(error.to_string().contains("do not fit an address space"), "{error}");
    let error = b.run(g, &inputs, &[(i32::MAX, 2), (0, 1)]).unwrap_err();
    assert!(error.to_string().contains("has coordinates outside i32"), "{error}");
}

#[test]
fn a_nan_is_within_no_range() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let alpha = b.param("alpha", F32, None);
    b.p.params[alpha].max = Some(Scalar::from(1f32));
    let alpha = b.node(crate::pipeline::Kind::Param(alpha), F32);
    let f = b.func("f", &[x], &[alpha]);
    let expected = "parameter `alpha` is NaN; give 1.0 or less";
    b.check_error(f, &Inputs::new().param("alpha", f32::NAN), (0, 1), expected);
}

#[test]
fn index_arithmetic_that_overflows() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let id = b.func("id", &[x], &[vx]);
    let mut product = vx;
    for _ in 0..3 {
        product = b.bin(BinOp::Mul, product, product);
    }
    let zero = b.lit(0);
    let nothing = b.bin(BinOp::Mul, product, zero);
    let read = b.call(id, &[nothing]);
    let f = b.func("f", &[x], &[read]);
    b.check(f, &Inputs::new(), (200, 1), &[0]);
    let text = "`f` computes a coordinate outside i32; keep index arithmetic small, or do it in data of a wider type";
    b.check_error(f, &Inputs::new(), (i32::MAX, 1), text);
    // A store and the bounds of a domain.
    let g = b.func("g", &[x], &[zero]);
    let r = b.rdom(&[(i32::MAX - 2, 3)]);
    let rx = b.rvar(r, 0);
    let next = b.plus(rx, 1);
    b.update(g, Some(r), &[next], &[rx]);
    let text = "update 0 of `g` accesses `g` at coordinate 2147483648 of dimension 0, which leaves the range of i32; compute \
                a smaller output or check the parameters";
    b.check_error(g, &Inputs::new(), (0, 1), text);
    let h = b.func("h", &[x], &[zero]);
    let r = b.rdom(&[(i32::MAX - 2, 4)]);
    let rx = b.rvar(r, 0);
    b.update(h, Some(r), &[rx], &[rx]);
    b.p.order.retain(|f| *f != g);
    let error = b.run(h, &Inputs::new(), &[(0, 1)]).unwrap_err();
    assert_eq!(error, crate::interp::RunError::IndexOverflow { func: "h".into(), stage: 1 });
}

#[test]
fn frozen_pipelines_that_break_the_rules() {
    let mut b = Build::default();
    let [x, y] = b.vars(["x", "y"]);
    let (vx, vy) = (b.var(x), b.var(y));
    let f = b.func("f", &[x], &[vx]);
    let next = b.plus(vx, 1);
    let neighbour = b.call(f, &[next]);
    b.update(f, None, &[vx], &[neighbour]);
    let text = "update 0 of `f`: variable x is used, but is not the coordinate of its own dimension in every access \
                to the Func; this pipeline was not made by Pipeline::new";
    b.check_error(f, &Inputs::new(), (0, 1), text);
    let mut b = Build { p: b.p };
    b.p.funcs[f].stages.truncate(1);
    b.p.funcs[f].stages[0].values = vec![vy];
    let text = "`f`: variable y is not one of the Func's; this pipeline was not made by Pipeline::new";
    b.check_error(f, &Inputs::new(), (0, 1), text);
    b.p.funcs[f].stages[0].values = vec![neighbour];
    let text = "`f`: f is not defined before it is read; this pipeline was not made by Pipeline::new";
    b.check_error(f, &Inputs::new(), (0, 1), text);
}
