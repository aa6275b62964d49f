//! Pure Funcs: stencils, coordinates, selects, data-dependent reads, tuples, long chains.

use super::Build;
use crate::buffer::{Buffer, Region};
use crate::interp::{Inputs, run};
use crate::ops::{BinOp, MathFn, UnOp};
use crate::pipeline::{DimField, Kind};
use crate::types::ScalarType::*;
use crate::value::Scalar;

/// (in(x) + in(x+1) + in(x+2)) / 3 in x, then in y; all in wrapping u16.
#[test]
fn blur() {
    let mut b = Build::default();
    let [x, y] = b.vars(["x", "y"]);
    let input = b.image("input", U16, 2);
    let three = b.lit(3u16);
    let (vx, vy) = (b.var(x), b.var(y));
    let sum3 = |b: &mut Build, at: &mut dyn FnMut(&mut Build, i32) -> crate::ids::ExprId| {
        let (p, q, r) = (at(b, 0), at(b, 1), at(b, 2));
        let pq = b.add(p, q);
        let sum = b.add(pq, r);
        b.bin(BinOp::Div, sum, three)
    };
    let value = sum3(&mut b, &mut |b, d| {
        let at = b.plus(vx, d);
        b.read(input, &[at, vy])
    });
    let blur_x = b.func("blur_x", &[x, y], &[value]);
    let value = sum3(&mut b, &mut |b, d| {
        let at = b.plus(vy, d);
        b.call(blur_x, &[vx, at])
    });
    let blur_y = b.func("blur_y", &[x, y], &[value]);

    let pixel = |x: i32, y: i32| (x * 7919 + y * 10007 + x * y * 13) as u16;
    let region = Region::of_spans([(-3, 42), (5, 31)]);
    let photo = Buffer::from_fn(&region, |at| pixel(at[0], at[1])).unwrap();
    let out = b.run(blur_y, &Inputs::new().image("input", &photo), &[(-3, 40), (5, 29)]).unwrap();
    let row = |x: i32, y: i32| (0..3).fold(0u16, |s, d| s.wrapping_add(pixel(x + d, y))) / 3;
    for at in out[0].coords() {
        let expected = (0..3).fold(0u16, |s, d| s.wrapping_add(row(at[0], at[1] + d))) / 3;
        assert_eq!(out[0].get(&at), Some(expected.into()), "{at:?}");
    }
    let out = b.run(blur_y, &Inputs::new().image("input", &photo), &[(0, 0), (5, 29)]).unwrap();
    assert!(out[0].is_empty());
}

#[test]
fn data_wraps_and_coordinates_do_not() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let big = b.lit(i32::MAX);
    let sum = b.add(vx, big);
    let data = b.func("data", &[x], &[sum]);
    b.check(data, &Inputs::new(), (0, 3), &[i32::MAX as i64, i32::MIN as i64, i32::MIN as i64 + 1]);
    // The same node as a coordinate, brought back before it is used, does not wrap on the way.
    let back = b.bin(BinOp::Sub, sum, big);
    let inner = b.func("inner", &[x], &[vx]);
    let read = b.call(inner, &[back]);
    let outer = b.func("outer", &[x], &[read]);
    b.check(outer, &Inputs::new(), (5, 3), &[5, 6, 7]);
    let direct = b.call(inner, &[sum]);
    let outside = b.func("outside", &[x], &[direct]);
    b.check(outside, &Inputs::new(), (0, 1), &[i32::MAX as i64]);
    let expected = "`outside` accesses `inner` at coordinate 2147483648 of dimension 0, which leaves the range of i32; \
                    compute a smaller output or check the parameters";
    b.check_error(outside, &Inputs::new(), (0, 2), expected);
    // Below a cast it is data again.
    let wide = b.cast(I64, sum);
    let narrow = b.cast(I32, wide);
    let read = b.call(inner, &[narrow]);
    let wrapped = b.func("wrapped", &[x], &[read]);
    b.check(wrapped, &Inputs::new(), (1, 1), &[i32::MIN as i64]);
}

#[test]
fn coordinates_divide_as_euclid() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let id = b.func("id", &[x], &[vx]);
    for (divisor, quotients, remainders) in [
        (3, [-2, -1, -1, -1, 0, 0], [2, 0, 1, 2, 0, 1]),
        (-3, [2, 1, 1, 1, 0, 0], [2, 0, 1, 2, 0, 1]),
        (0, [0; 6], [0; 6]),
    ] {
        for (op, expected) in [(BinOp::Div, quotients), (BinOp::Mod, remainders)] {
            let d = b.lit(divisor);
            let at = b.bin(op, vx, d);
            let read = b.call(id, &[at]);
            let f = b.func("f", &[x], &[read]);
            b.check(f, &Inputs::new(), (-4, 6), &expected);
        }
    }
}

#[test]
fn select_reads_only_the_arm_chosen() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let input = b.image("input", I32, 1);
    let (zero, four) = (b.lit(0), b.lit(4));
    let low = b.bin(BinOp::Lt, vx, zero);
    let high = b.bin(BinOp::Ge, vx, four);
    let (left, right) = (b.lit(-100), b.lit(100));
    let pixel = b.read(input, &[vx]);
    let inner = b.select(high, right, pixel);
    let outer = b.select(low, left, inner);
    let f = b.func("f", &[x], &[outer]);
    let inputs = Inputs::new().image("input", Buffer::from_slice([4], &[10, 11, 12, 13]).unwrap());
    b.check(f, &inputs, (-2, 8), &[-100, -100, 10, 11, 12, 13, 100, 100]);
    // A condition that itself depends on pixels chosen by a select.
    let twelve = b.lit(12);
    let large = b.bin(BinOp::Ge, outer, twelve);
    let previous = b.plus(vx, -2);
    let shifted = b.read(input, &[previous]);
    let clamped = b.bin(BinOp::Min, vx, zero);
    let clamped = b.bin(BinOp::Max, clamped, zero);
    let first = b.read(input, &[clamped]);
    let both = b.bin(BinOp::Lt, outer, right);
    let condition = b.bin(BinOp::BitAnd, large, both);
    let g = b.select(condition, shifted, first);
    let g = b.func("g", &[x], &[g]);
    b.check(g, &inputs, (-2, 8), &[10, 10, 10, 10, 10, 11, 10, 10]);
}

#[test]
fn reads_may_depend_on_data() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let square = b.bin(BinOp::Mul, vx, vx);
    let squares = b.func("squares", &[x], &[square]);
    let once = b.call(squares, &[vx]);
    let twice = b.call(squares, &[once]);
    let input = b.image("table", U8, 1);
    let ten = b.lit(10);
    let wrapped = b.bin(BinOp::Mod, twice, ten);
    let pixel = b.read(input, &[wrapped]);
    let f = b.func("f", &[x], &[pixel]);
    let table = Buffer::from_fn(&Region::of_extents([10]), |at| 100 + at[0] as u8).unwrap();
    b.check(f, &Inputs::new().image("table", &table), (-3, 7), &[101, 106, 101, 100, 101, 106, 101]);
}

#[test]
fn images_tell_their_shape_and_parameters_their_value() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let input = b.image("input", F32, 2);
    let mut sum = vx;
    let mut weight = 1;
    for dim in 0..2 {
        for field in [DimField::Min, DimField::Extent, DimField::Stride] {
            let value = b.image_dim(input, dim, field);
            let weight_expr = b.lit(weight);
            let weighted = b.bin(BinOp::Mul, value, weight_expr);
            sum = b.add(sum, weighted);
            weight *= 100;
        }
        weight = 7;
    }
    let id = b.func("id", &[x], &[vx]);
    let read = b.call(id, &[sum]);
    let f = b.func("f", &[x], &[read]);
    let photo = Buffer::<f32>::with_region(&Region::of_spans([(-3, 5), (9, 4)])).unwrap();
    let expected = 1 - 3 + 500 + 10000 + 7 * 9 + 700 * 4 + 70000 * 5;
    b.check(f, &Inputs::new().image("input", &photo), (1, 1), &[expected]);

    let gain = b.param("gain", I32, Some(Scalar::from(-5)));
    let gain = b.node(Kind::Param(gain), I32);
    let at = b.add(vx, gain);
    let read = b.call(id, &[at]);
    let both = b.bin(BinOp::Mul, read, gain);
    let g = b.func("g", &[x], &[both]);
    let inputs = Inputs::new().image("input", &photo);
    b.check(g, &inputs, (0, 2), &[25, 20]);
    b.check(g, &inputs.param("gain", 3), (0, 2), &[9, 12]);
}

#[test]
fn tuples_have_elements_of_their_own_types() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let (byte, float) = (b.cast(U8, vx), b.cast(F32, vx));
    let pair = b.func("pair", &[x], &[byte, float]);
    let (first, second) = (b.element(pair, 0, &[vx]), b.element(pair, 1, &[vx]));
    let half = b.lit(0.5f32);
    let halved = b.bin(BinOp::Mul, second, half);
    let both = b.func("both", &[x], &[halved, first]);
    let out = b.run(both, &Inputs::new(), &[(-1, 2)]).unwrap();
    assert_eq!(out[0].get([-1]), Some(Scalar::from(-0.5f32)));
    assert_eq!((out[1].ty(), out[1].get([-1])), (U8, Some(Scalar::from(255u8))));
}

#[test]
fn several_outputs_of_several_shapes() {
    let mut b = Build::default();
    let [x, y] = b.vars(["x", "y"]);
    let (vx, vy) = (b.var(x), b.var(y));
    let sum = b.add(vx, vy);
    let f = b.func("f", &[x, y], &[sum]);
    let seven = b.lit(7);
    let point = b.call(f, &[seven, seven]);
    let g = b.func("g", &[], &[point]);
    b.p.outputs = vec![g, f];
    let out = run(&b.p, &Inputs::new(), &[Region::default(), Region::of_extents([2, 2])]).unwrap();
    assert_eq!(out[0].get::<i32>([]), Some(14.into()));
    assert_eq!(out[1].coords().map(|at| out[1].get(at).unwrap().as_i64()).collect::<Vec<_>>(), [0, 1, 1, 2]);
}

#[test]
fn a_chain_of_500_stencils_uses_no_stack() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let one = b.lit(1u64);
    let mut f = b.func("f", &[x], &[one]);
    for _ in 0..500 {
        let (left, right) = (b.plus(vx, -1), b.plus(vx, 1));
        let (l, r) = (b.call(f, &[left]), b.call(f, &[right]));
        let sum = b.add(l, r);
        f = b.func("f", &[x], &[sum]);
    }
    // 2^500 wraps to 0.
    b.check(f, &Inputs::new(), (0, 5), &[0; 5]);
    // So does an expression that is 100,000 operations deep.
    let (mut deep, two) = (vx, b.lit(2));
    for _ in 0..50_000 {
        let product = b.bin(BinOp::Mul, deep, two);
        deep = b.add(product, vx);
    }
    let g = b.func("g", &[x], &[deep]);
    b.check(g, &Inputs::new(), (3, 1), &[-3]);
}

#[test]
fn functions_and_casts_apply_lane_by_lane() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let float = b.cast(F32, vx);
    let root = b.un(UnOp::Sqrt, float);
    let exponential = b.node(Kind::Math(MathFn::Exp, vec![root]), F32);
    let byte = b.node(Kind::SaturatingCast(exponential), U8);
    let f = b.func("f", &[x], &[byte]);
    // e^sqrt(x), truncated: sqrt(36) is 6 and e^6 is 403.
    let expected: Vec<i64> = (0..40).map(|x| (f64::from(x).sqrt().exp() as i64).min(255)).collect();
    b.check(f, &Inputs::new(), (0, 40), &expected);
    let bits = b.node(Kind::Reinterpret(float), U32);
    let g = b.func("g", &[x], &[bits]);
    b.check(g, &Inputs::new(), (1, 1), &[0x3f80_0000]);
}

#[test]
fn comparisons_of_index_values_are_exact() {
    let mut b = Build::default();
    let [x] = b.vars(["x"]);
    let vx = b.var(x);
    let (one, zero) = (b.lit(1), b.lit(0));
    let far = b.plus(vx, i32::MAX);
    let beyond = b.bin(BinOp::Gt, far, vx);
    let exact = b.select(beyond, one, zero);
    // The same sum of data wraps, and so does an index value where it is not compared.
    let data = b.cast(I32, vx);
    let wrapped = b.plus(data, i32::MAX);
    let turned = b.bin(BinOp::Gt, wrapped, data);
    let as_data = b.select(turned, one, zero);
    let f = b.func("f", &[x], &[exact]);
    b.check(f, &Inputs::new(), (0, 3), &[1, 1, 1]);
    let g = b.func("g", &[x], &[as_data]);
    b.check(g, &Inputs::new(), (0, 3), &[1, 0, 0]);
    let h = b.func("h", &[x], &[far]);
    b.check(h, &Inputs::new(), (0, 2), &[i64::from(i32::MAX), i64::from(i32::MIN)]);
}
