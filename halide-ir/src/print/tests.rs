use super::*;
use crate::build::*;
use crate::samples::{blur_bounded, blur_final, blur_shaped};
use crate::{DimField, Edge, ExprKind};
use expect_test::{Expect, expect};
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;

fn l(i: u32) -> Expr {
    loop_var(LoopId(i))
}

fn check(e: &Expr, expected: &str) {
    assert_eq!(e.to_string(), expected);
}

fn check_stmt(text: String, expected: Expect) {
    expected.assert_eq(&text);
}

#[test]
fn infix_has_only_the_parentheses_that_the_tree_needs() {
    let (a, b, c) = (l(0), l(1), l(2));
    check(&add(add(a.clone(), b.clone()), c.clone()), "L0 + L1 + L2");
    check(&add(a.clone(), add(b.clone(), c.clone())), "L0 + (L1 + L2)");
    check(&mul(add(a.clone(), b.clone()), c.clone()), "(L0 + L1) * L2");
    check(&sub(a.clone(), mul(b.clone(), c.clone())), "L0 - L1 * L2");
    check(&unary(UnOp::Neg, add(a.clone(), b.clone())), "-(L0 + L1)");
    check(&mul(unary(UnOp::Neg, a.clone()), b.clone()), "-L0 * L1");
    check(&offset(a.clone(), -3), "L0 + -3");
    let less = lt(a.clone(), b.clone());
    check(
        &and(less.clone(), or(ge(b.clone(), c.clone()), eq(a.clone(), c.clone()))),
        "L0 < L1 && (L1 >= L2 || L0 == L2)",
    );
    check(&eq(less.clone(), gt(b.clone(), c.clone())), "(L0 < L1) == (L1 > L2)");
    check(&not(and(less.clone(), le(b.clone(), c))), "!(L0 < L1 && L1 <= L2)");
    check(&min(a.clone(), max(b.clone(), int(0))), "min(L0, max(L1, 0))");
    check(&select(less, a, b), "select(L0 < L1, L0, L1)");
    let u = |n| typed_sym(Sym::Temp(n), Type::data(ScalarType::U8));
    check(&and(u(0), or(u(1), u(2))), "t0:u8 & (t1:u8 | t2:u8)");
    check(&binary(BinOp::Shl, u(0), typed_sym(Sym::Temp(1), Type::data(ScalarType::I8))), "t0:u8 << t1:i8");
}

#[test]
fn constants_carry_their_type_and_bits() {
    let c = |ty, bits| constant(Scalar::from_bits(ty, bits));
    check(&int(i64::MIN), "-9223372036854775808");
    check(&c(ScalarType::U16, 3), "3u16");
    check(&c(ScalarType::I8, 0xff), "-1i8");
    check(&boolean(true), "true");
    check(&c(ScalarType::F32, 1.5f32.to_bits() as u64), "1.5f32");
    check(&c(ScalarType::F32, (-0.0f32).to_bits() as u64), "-0.0f32");
    check(&c(ScalarType::F32, 0x7fc0_0001), "bits(f32, 0x7fc00001)");
    check(&c(ScalarType::F64, f64::INFINITY.to_bits()), "bits(f64, 0x7ff0000000000000)");
    check(&c(ScalarType::F64, 1e300f64.to_bits()), "1e300f64");
    check(&c(ScalarType::BF16, 0x3f80), "1.0bf16");
}

#[test]
fn symbols_vectors_and_accesses() {
    let at = Scope::Body(LoopId(3));
    let bound = Sym::Bound { func: FuncId(1), stage: 0, dim: 2, edge: Edge::Min, at };
    check(&sym(bound), "f1.s0.d2.min@L3");
    check(&sym(Sym::Stored { func: FuncId(1), dim: 0, edge: Edge::Max, at: Scope::Root }), "f1.d0.max@root");
    check(&sym(Sym::Buffer { buf: BufId(2), dim: 1, field: DimField::Stride }), "b2.stride1");
    check(&param(ParamId(0), ScalarType::F32), "p0:f32");
    let lanes = ramp(l(0), int(2), 8);
    check(&lanes, "ramp(L0, 2, 8)");
    let mask = lt(lanes.clone(), broadcast(l(1), 8));
    check(
        &load(BufId(4), ScalarType::U8, lanes.clone(), Some(mask)),
        "b4:u8[ramp(L0, 2, 8) where ramp(L0, 2, 8) < x8(L1)]",
    );
    check(&read(BufId(4), ScalarType::U8, vec![l(0), int(-1)]), "b4:u8(L0, -1)");
    check(&cast_data(ScalarType::U16, lanes.clone()), "u16x8(ramp(L0, 2, 8))");
    check(&to_index(load(BufId(4), ScalarType::U8, l(0), None)), "int(b4:u8[L0])");
    let u8s = load(BufId(4), ScalarType::U8, lanes.clone(), None);
    check(&saturating_cast(ScalarType::I8, u8s.clone()), "saturating(i8x8, b4:u8[ramp(L0, 2, 8)])");
    check(&reinterpret(ScalarType::I8, u8s.clone()), "reinterpret(i8x8, b4:u8[ramp(L0, 2, 8)])");
    check(
        &shuffle(vec![u8s, broadcast(constant(Scalar::zero(ScalarType::U8)), 8)], vec![0, 8]),
        "shuffle([b4:u8[ramp(L0, 2, 8)], x8(0u8)], [0, 8])",
    );
}

#[test]
fn names_are_decoration() {
    let mut p = blur_bounded(false);
    p.loops[LoopId(0)] = "blur_y.y in(x)".into();
    let e = read(BufId(1), ScalarType::U16, vec![l(1), l(0)]);
    assert_eq!(expr_in(&e, &p), r##"blur_x#b1(blur_x.y#L1, "blur_y.y in(x)"#L0)"##);
    assert_eq!(e.to_string(), "b1:u16(L1, L0)");
    assert_eq!(expr_in(&l(77), &p), "L77");
}

#[test]
fn doubling_prints_in_linear_space() {
    let mut e = add(l(0), l(1));
    for _ in 0..200 {
        e = min(add(e.clone(), l(2)), add(e, l(3)));
    }
    let text = e.to_string();
    assert!(text.len() < 20_000, "{}", text.len());
    assert!(text.starts_with("with($0 = min(L0 + L1 + L2, L0 + L1 + L3), $1 = min($0 + L2, $0 + L3), "), "{text}");
    assert!(matches!(e.kind(), ExprKind::Binary(..)));
}

#[test]
fn programs() {
    check_stmt(
        blur_bounded(true).to_string(),
        expect![[r#"
        program bounded
        buffer input#b0: u16 dims 2 input i0 unit_stride 0
        buffer blur_x#b1: u16 dims 2 internal fold [none, 3]
        buffer blur_y#b2: u16 dims 2 output 0 unit_stride 0
        image i0 = b0
        func f0 = (b1)
        func f1 = (b2)
        loop blur_y.y#L0
        loop blur_x.y#L1
        loop blur_x.x#L2
        loop blur_y.x#L3
        fault fault0 = input_too_small b0 dim 0
        fault fault1 = input_too_small b0 dim 1
        counter "points of blur_x"
        temps 1
        body {
          assert input#b0.min0 <= blur_y#b2.min0 && blur_y#b2.min0 + blur_y#b2.extent0 + 1 <= input#b0.min0 + input#b0.extent0 + -1 else fault0(blur_y#b2.min0, blur_y#b2.min0 + blur_y#b2.extent0 + 1, input#b0.min0, input#b0.min0 + input#b0.extent0 + -1)
          assert input#b0.min1 <= blur_y#b2.min1 && blur_y#b2.min1 + blur_y#b2.extent1 + 1 <= input#b0.min1 + input#b0.extent1 + -1 else fault1(blur_y#b2.min1, blur_y#b2.min1 + blur_y#b2.extent1 + 1, input#b0.min1, input#b0.min1 + input#b0.extent1 + -1)
          realize blur_x#f0 [blur_y#b2.min0 extent blur_y#b2.extent0] [blur_y#b2.min1 extent blur_y#b2.extent1 + 2] {
            for blur_y.y#L0 from blur_y#b2.min1 extent blur_y#b2.extent1 {
              produce blur_x#f0 {
                let t0 = select(blur_y.y#L0 == blur_y#b2.min1, blur_y.y#L0, blur_y.y#L0 + 2)
                for blur_x.y#L1 from t0 extent blur_y.y#L0 + 3 - t0 {
                  for blur_x.x#L2 from blur_y#b2.min0 extent blur_y#b2.extent0 {
                    provide blur_x#f0(blur_x.x#L2, blur_x.y#L1): blur_x#b1 = (input#b0(blur_x.x#L2, blur_x.y#L1) + input#b0(blur_x.x#L2 + 1, blur_x.y#L1) + input#b0(blur_x.x#L2 + 2, blur_x.y#L1)) / 3u16
                    count c0 += 1
                  }
                }
              }
              produce blur_y#f1 {
                vectorized blur_y.x#L3 from blur_y#b2.min0 extent blur_y#b2.extent0 {
                  provide blur_y#f1(blur_y.x#L3, blur_y.y#L0): blur_y#b2 = (blur_x#b1(blur_y.x#L3, blur_y.y#L0) + blur_x#b1(blur_y.x#L3, blur_y.y#L0 + 1) + blur_x#b1(blur_y.x#L3, blur_y.y#L0 + 2)) / 3u16
                }
              }
            }
          }
        }
    "#]],
    );
    check_stmt(
        blur_shaped(false).body.to_string(),
        expect![[r#"
        assert b0.min0 <= b2.min0 && b2.min0 + b2.extent0 + 1 <= b0.min0 + b0.extent0 + -1 else fault0(b2.min0, b2.min0 + b2.extent0 + 1, b0.min0, b0.min0 + b0.extent0 + -1)
        assert b0.min1 <= b2.min1 && b2.min1 + b2.extent1 + 1 <= b0.min1 + b0.extent1 + -1 else fault1(b2.min1, b2.min1 + b2.extent1 + 1, b0.min1, b0.min1 + b0.extent1 + -1)
        let t0 = (b2.extent0 + 7) / 8
        for L0 from b2.min1 extent b2.extent1 {
          let b1.stride1 = t0 * 8
          alloc b1[3 * b1.stride1] {
            produce f0 {
              for L1 from 0 extent 3 {
                let t1 = b2.min0 - b0.min0 + (L0 + L1 - b0.min1) * b0.stride1
                for L2 from 0 extent t0 {
                  b1[ramp(L2 * 8, 1, 8) + x8(L1 * b1.stride1)] = (b0:u16[ramp(L2 * 8, 1, 8) + x8(t1) where ramp(L2 * 8, 1, 8) < x8(b2.extent0)] + b0:u16[ramp(L2 * 8, 1, 8) + x8(t1 + 1) where ramp(L2 * 8, 1, 8) < x8(b2.extent0)] + b0:u16[ramp(L2 * 8, 1, 8) + x8(t1 + 2) where ramp(L2 * 8, 1, 8) < x8(b2.extent0)]) / x8(3u16)
                  count c0 += 8
                }
              }
            }
            produce f1 {
              let t2 = (L0 - b2.min1) * b2.stride1
              for L3 from 0 extent t0 {
                b2[ramp(L3 * 8, 1, 8) + x8(t2) where ramp(L3 * 8, 1, 8) < x8(b2.extent0)] = (b1:u16[ramp(L3 * 8, 1, 8)] + b1:u16[ramp(L3 * 8, 1, 8) + x8(b1.stride1)] + b1:u16[ramp(L3 * 8, 1, 8) + x8(2 * b1.stride1)]) / x8(3u16)
              }
            }
          }
        }
    "#]],
    );
    check_stmt(
        blur_final().to_string(),
        expect![[r#"
        program final
        buffer input#b0: u16 dims 2 input i0 unit_stride 0
        buffer blur_x#b1: u16 dims 2 internal
        buffer blur_y#b2: u16 dims 2 output 0 unit_stride 0
        image i0 = b0
        func f0 = (b1)
        func f1 = (b2)
        loop blur_y.y#L0
        loop blur_x.y#L1
        loop blur_x.xo#L2
        loop blur_y.xo#L3
        fault fault0 = input_too_small b0 dim 0
        fault fault1 = input_too_small b0 dim 1
        counter "points of blur_x"
        temps 4
        task0 blur_y.y#L0 captures (t0: int) buffers () {
          let blur_x#b1.stride1 = t0 * 8
          alloc blur_x#b1[3 * blur_x#b1.stride1] {
            produce blur_x#f0 {
              for blur_x.y#L1 from 0 extent 3 {
                let t1 = blur_y#b2.min0 - input#b0.min0 + (blur_y.y#L0 + blur_x.y#L1 - input#b0.min1) * input#b0.stride1
                for blur_x.xo#L2 from 0 extent t0 {
                  blur_x#b1[ramp(blur_x.xo#L2 * 8, 1, 8) + x8(blur_x.y#L1 * blur_x#b1.stride1)] = (input#b0[ramp(blur_x.xo#L2 * 8, 1, 8) + x8(t1) where ramp(blur_x.xo#L2 * 8, 1, 8) < x8(blur_y#b2.extent0)] + input#b0[ramp(blur_x.xo#L2 * 8, 1, 8) + x8(t1 + 1) where ramp(blur_x.xo#L2 * 8, 1, 8) < x8(blur_y#b2.extent0)] + input#b0[ramp(blur_x.xo#L2 * 8, 1, 8) + x8(t1 + 2) where ramp(blur_x.xo#L2 * 8, 1, 8) < x8(blur_y#b2.extent0)]) / x8(3u16)
                  count c0 += 8
                }
              }
            }
            produce blur_y#f1 {
              let t2 = (blur_y.y#L0 - blur_y#b2.min1) * blur_y#b2.stride1
              for blur_y.xo#L3 from 0 extent t0 {
                blur_y#b2[ramp(blur_y.xo#L3 * 8, 1, 8) + x8(t2) where ramp(blur_y.xo#L3 * 8, 1, 8) < x8(blur_y#b2.extent0)] = (blur_x#b1[ramp(blur_y.xo#L3 * 8, 1, 8)] + blur_x#b1[ramp(blur_y.xo#L3 * 8, 1, 8) + x8(blur_x#b1.stride1)] + blur_x#b1[ramp(blur_y.xo#L3 * 8, 1, 8) + x8(2 * blur_x#b1.stride1)]) / x8(3u16)
              }
            }
          }
        }
        body {
          assert input#b0.min0 <= blur_y#b2.min0 && blur_y#b2.min0 + blur_y#b2.extent0 + 1 <= input#b0.min0 + input#b0.extent0 + -1 else fault0(blur_y#b2.min0, blur_y#b2.min0 + blur_y#b2.extent0 + 1, input#b0.min0, input#b0.min0 + input#b0.extent0 + -1)
          assert input#b0.min1 <= blur_y#b2.min1 && blur_y#b2.min1 + blur_y#b2.extent1 + 1 <= input#b0.min1 + input#b0.extent1 + -1 else fault1(blur_y#b2.min1, blur_y#b2.min1 + blur_y#b2.extent1 + 1, input#b0.min1, input#b0.min1 + input#b0.extent1 + -1)
          let t0 = (blur_y#b2.extent0 + 7) / 8
          launch task0 from blur_y#b2.min1 extent blur_y#b2.extent1
        }
    "#]],
    );
}
