//! Operators and functions between all kinds of operands, as frozen text.

use expect_test::{Expect, expect};
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};

/// The values of Funcs over `x`, one per line with its type.
fn text(values: Vec<Expr>) -> String {
    let x = vars!(x);
    let define = |value| {
        let mut f = Func::new("f");
        f[x] = value;
        f
    };
    let funcs: Vec<Func> = values.into_iter().map(define).collect();
    let p = Pipeline::new(&funcs).unwrap_or_else(|e| panic!("{e}"));
    p.outputs.iter().fold(String::new(), |text, &f| {
        let value = halide_core::print::expr(&p, p.funcs[f].stages[0].values[0]);
        format!("{text}{} {value}\n", p.funcs[f].types[0])
    })
}

fn check(values: Vec<Expr>, expected: Expect) {
    expected.assert_eq(&text(values));
}

#[test]
fn every_operator_stands_between_every_kind_of_operand() {
    let x = vars!(x);
    let e = likely(x);
    let p = Param::<i32>::new("p");
    let mut all = Vec::new();
    let mut expected = String::new();
    macro_rules! between {
        ($($op:tt)*) => {$(
            all.extend([e $op e, e $op x, e $op p, e $op 2, x $op e, x $op x, x $op p, x $op 2]);
            all.extend([p $op e, p $op x, p $op p, p $op 2, 2 $op e, 2 $op x, 2 $op p]);
            for (left, right) in (0..15).map(|i| (i / 4, i % 4)) {
                let operand = |i: usize| ["likely(x)", "x", "p", "2"][i];
                expected += &format!("i32 {} {} {}\n", operand(left), stringify!($op), operand(right));
            }
        )*};
    }
    between!(+ - * / % & | ^ << >>);
    all.extend([-e, -x, -p, !e, !x, !p]);
    expected += "i32 -likely(x)\ni32 -x\ni32 -p\ni32 !likely(x)\ni32 !x\ni32 !p\n";
    assert_eq!(text(all), expected);
}

#[test]
fn reduction_variables_stand_wherever_variables_do() {
    let x = vars!(x);
    let r = RDom::named("r", [(0, 3), (0, 3)]);
    let one = RDom::named("one", [(0, 3)]);
    let mut f = Func::new("f");
    f[x] = 0.expr();
    let (mut a, e) = (r.x + r.y, r.x.expr());
    a += r.x;
    a -= 1;
    a *= 3;
    a /= e;
    a %= 7;
    a &= 15;
    a |= r.y;
    a ^= 3;
    a <<= 1;
    a >>= r.x;
    f[r.x] = 2 * r.x - r.y % 2 + (-r.x) + !r.y + (r.x & 1) + (3 << r.y) + a;
    f[&one] += one.x * one.dim(0);
    f[x] += r.dim(1);
    let text = Pipeline::new([&f]).unwrap().to_string();
    expect![[r#"
        rdom r: r.x from 0 for 3, r.y from 0 for 3
        rdom one: one.x from 0 for 3
        func f(x): i32
          f(x) = 0
          f(r.x) = 2 * r.x - r.y % 2 + -r.x + !r.y + (r.x & 1) + (3 << r.y) + ((((r.x + r.y + r.x - 1) * 3 / r.x % 7 & 15 | r.y) ^ 3) << 1 >> r.x)
          f(one.x) = f(one.x) + one.x * one.x
          f(x) = f(x) + r.y
        output f
    "#]].assert_eq(&text);
}

#[test]
fn operands_meet_in_a_common_type() {
    let x = vars!(x);
    let of = |ty: ScalarType| x.cast(ty);
    let mut all = Vec::new();
    for (i, &a) in ScalarType::ALL.iter().enumerate().skip(1) {
        for &b in &ScalarType::ALL[i..] {
            all.push(of(a) + of(b));
        }
    }
    check(
        all,
        expect![[r#"
        i8 i8(x) + i8(x)
        i16 i16(i8(x)) + i16(x)
        i32 i32(i8(x)) + x
        i64 i64(i8(x)) + i64(x)
        i8 i8(x) + i8(u8(x))
        i16 i16(i8(x)) + i16(u16(x))
        i32 i32(i8(x)) + i32(u32(x))
        i64 i64(i8(x)) + i64(u64(x))
        f16 f16(i8(x)) + f16(x)
        bf16 bf16(i8(x)) + bf16(x)
        f32 f32(i8(x)) + f32(x)
        f64 f64(i8(x)) + f64(x)
        i16 i16(x) + i16(x)
        i32 i32(i16(x)) + x
        i64 i64(i16(x)) + i64(x)
        i16 i16(x) + i16(u8(x))
        i16 i16(x) + i16(u16(x))
        i32 i32(i16(x)) + i32(u32(x))
        i64 i64(i16(x)) + i64(u64(x))
        f16 f16(i16(x)) + f16(x)
        bf16 bf16(i16(x)) + bf16(x)
        f32 f32(i16(x)) + f32(x)
        f64 f64(i16(x)) + f64(x)
        i32 x + x
        i64 i64(x) + i64(x)
        i32 x + i32(u8(x))
        i32 x + i32(u16(x))
        i32 x + i32(u32(x))
        i64 i64(x) + i64(u64(x))
        f16 f16(x) + f16(x)
        bf16 bf16(x) + bf16(x)
        f32 f32(x) + f32(x)
        f64 f64(x) + f64(x)
        i64 i64(x) + i64(x)
        i64 i64(x) + i64(u8(x))
        i64 i64(x) + i64(u16(x))
        i64 i64(x) + i64(u32(x))
        i64 i64(x) + i64(u64(x))
        f16 f16(i64(x)) + f16(x)
        bf16 bf16(i64(x)) + bf16(x)
        f32 f32(i64(x)) + f32(x)
        f64 f64(i64(x)) + f64(x)
        u8 u8(x) + u8(x)
        u16 u16(u8(x)) + u16(x)
        u32 u32(u8(x)) + u32(x)
        u64 u64(u8(x)) + u64(x)
        f16 f16(u8(x)) + f16(x)
        bf16 bf16(u8(x)) + bf16(x)
        f32 f32(u8(x)) + f32(x)
        f64 f64(u8(x)) + f64(x)
        u16 u16(x) + u16(x)
        u32 u32(u16(x)) + u32(x)
        u64 u64(u16(x)) + u64(x)
        f16 f16(u16(x)) + f16(x)
        bf16 bf16(u16(x)) + bf16(x)
        f32 f32(u16(x)) + f32(x)
        f64 f64(u16(x)) + f64(x)
        u32 u32(x) + u32(x)
        u64 u64(u32(x)) + u64(x)
        f16 f16(u32(x)) + f16(x)
        bf16 bf16(u32(x)) + bf16(x)
        f32 f32(u32(x)) + f32(x)
        f64 f64(u32(x)) + f64(x)
        u64 u64(x) + u64(x)
        f16 f16(u64(x)) + f16(x)
        bf16 bf16(u64(x)) + bf16(x)
        f32 f32(u64(x)) + f32(x)
        f64 f64(u64(x)) + f64(x)
        f16 f16(x) + f16(x)
        f32 f32(f16(x)) + f32(bf16(x))
        f32 f32(f16(x)) + f32(x)
        f64 f64(f16(x)) + f64(x)
        bf16 bf16(x) + bf16(x)
        f32 f32(bf16(x)) + f32(x)
        f64 f64(bf16(x)) + f64(x)
        f32 f32(x) + f32(x)
        f64 f64(f32(x)) + f64(x)
        f64 f64(x) + f64(x)
    "#]],
    );
}

#[test]
fn literals_take_the_type_they_meet() {
    let x = vars!(x);
    let of = |ty: ScalarType| x.cast(ty);
    check(
        vec![
            of(U8) + 255,
            255 + of(U8),
            of(I8) - -128,
            of(U64) * u64::MAX,
            of(F32) * 0.1,
            of(F64) * 0.1,
            of(F16) + 2048,
            of(F32) + 1,
            of(BF16) / 3.0f32,
            select(x.lt(3), 1, of(U16)),
            select(x.lt(3), 1.5, of(F32)),
            select(x.lt(3), 1, 2),
            select(x.lt(3), true, x.gt(1)),
            select_first([(x.lt(1), 1.expr()), (x.lt(2), of(U8)), (x.lt(3), of(U16))], 4),
            clamp(of(U16), 3, 700),
            min(of(I8), 5) - max(2, of(I8)),
            of(U8).eq(3).and(of(U8).ne(4)).or(!x.le(5)).and(true),
            pow(of(F32), 2),
            pow(x, 2),
            sqrt(x),
            lerp(of(F32), 1, 0.5),
            lerp(of(U8), 200, 128),
            lerp(of(U8), 200, 0.3),
            1.expr() + 2u8.expr(),
        ],
        expect![[r#"
            u8 u8(x) + 255u8
            u8 255u8 + u8(x)
            i8 i8(x) - -128i8
            u64 u64(x) * 18446744073709551615u64
            f32 f32(x) * 0.1f32
            f64 f64(x) * 0.1f64
            f16 f16(x) + 2048.0f16
            f32 f32(x) + 1.0f32
            bf16 bf16(x) / 3.0bf16
            u16 select(x < 3, 1u16, u16(x))
            f32 select(x < 3, 1.5f32, f32(x))
            i32 select(x < 3, 1, 2)
            bool select(x < 3, true, x > 1)
            u16 select(x < 1, 1u16, select(x < 2, u16(u8(x)), select(x < 3, u16(x), 4u16)))
            u16 min(max(u16(x), 3u16), 700u16)
            i8 min(i8(x), 5i8) - max(2i8, i8(x))
            bool ((u8(x) == 3u8) & (u8(x) != 4u8) | !(x <= 5)) & true
            f32 pow(f32(x), 2.0f32)
            f32 pow(f32(x), 2.0f32)
            f32 sqrt(f32(x))
            f32 f32(x) * (1.0f32 - 0.5f32) + 1.0f32 * 0.5f32
            u8 select(u8(x) < 200u8, u8(x) + u8((u16(absd(u8(x), 200u8)) * u16(128u8) + 127u16) / 255u16), u8(x) - u8((u16(absd(u8(x), 200u8)) * u16(128u8) + 127u16) / 255u16))
            u8 u8(i32(u8(x)) + i32(floor(f64(i32(200u8) - i32(u8(x))) * f64(min(max(0.3f32, 0.0f32), 1.0f32)) + 0.5f64)))
            i32 1 + 2
        "#]],
    );
}

#[test]
fn shift_amounts_become_signed_of_the_left_width_and_keep_their_meaning() {
    let x = vars!(x);
    let of = |ty: ScalarType| x.cast(ty);
    check(
        vec![
            of(U8) << 3,
            of(U8) << 300,
            of(U8) >> -300,
            of(U8) << of(U8),
            of(U8) << of(I8),
            of(U8) >> x,
            of(I64) << of(U8),
            of(I16) >> of(U64),
            1 << of(U8),
        ],
        expect![[r#"
            u8 u8(x) << 3i8
            u8 u8(x) << 8i8
            u8 u8(x) >> -8i8
            u8 u8(x) << i8(min(u8(x), 8u8))
            u8 u8(x) << i8(x)
            u8 u8(x) >> i8(max(min(x, 8), -8))
            i64 i64(x) << i64(min(u8(x), 64u8))
            i16 i16(x) >> i16(min(u64(x), 16u64))
            i32 1 << i32(min(u8(x), 32u8))
        "#]],
    );
}

#[test]
fn functions_by_name() {
    let x = vars!(x);
    let (f, i, u) = (x.cast(F32), x.cast(I16), x.cast(U16));
    check(
        vec![
            abs(i),
            abs(u),
            abs(f),
            absd(i, 3),
            absd(u, i),
            floor(f),
            ceil(f),
            round(f),
            trunc(f),
            fract(f),
            sqrt(f),
            exp(f),
            log(f),
            sin(f),
            cos(f),
            tan(f),
            asin(f),
            acos(f),
            atan(f),
            atan2(f, 2),
            sinh(f),
            cosh(f),
            tanh(f),
            asinh(f),
            acosh(f),
            atanh(f),
            hypot(f, i),
            erf(x),
            fast_exp(f),
            fast_log(f),
            fast_pow(f, 2),
            fast_sin(f),
            fast_cos(f),
            fast_inverse(f),
            fast_inverse_sqrt(x.cast(F16)),
            is_nan(f),
            is_inf(f),
            is_finite(f),
            popcount(i),
            clz(u),
            ctz(u),
            div_round_to_zero(i, 3),
            mod_round_to_zero(i, u),
            cast::<u8>(f),
            cast_to(F64, i),
            f.cast(F32),
            saturating_cast::<i8>(f),
            u.saturating_cast(U8),
            reinterpret::<u32>(f),
            i.reinterpret(U16),
            likely(x),
            eq(f, 1),
            ne(f, 1),
            lt(f, 1),
            le(f, 1),
            gt(1, f),
            ge(1, f),
            x.cast(Bool),
        ],
        expect![[r#"
            u16 abs(i16(x))
            u16 abs(u16(x))
            f32 abs(f32(x))
            u16 absd(i16(x), 3i16)
            u16 absd(i16(u16(x)), i16(x))
            f32 floor(f32(x))
            f32 ceil(f32(x))
            f32 round(f32(x))
            f32 trunc(f32(x))
            f32 f32(x) - floor(f32(x))
            f32 sqrt(f32(x))
            f32 exp(f32(x))
            f32 log(f32(x))
            f32 sin(f32(x))
            f32 cos(f32(x))
            f32 tan(f32(x))
            f32 asin(f32(x))
            f32 acos(f32(x))
            f32 atan(f32(x))
            f32 atan2(f32(x), 2.0f32)
            f32 sinh(f32(x))
            f32 cosh(f32(x))
            f32 tanh(f32(x))
            f32 asinh(f32(x))
            f32 acosh(f32(x))
            f32 atanh(f32(x))
            f32 hypot(f32(x), f32(i16(x)))
            f32 erf(f32(x))
            f32 fast_exp(f32(x))
            f32 fast_log(f32(x))
            f32 fast_pow(f32(x), 2.0f32)
            f32 fast_sin(f32(x))
            f32 fast_cos(f32(x))
            f32 fast_inverse(f32(x))
            f16 fast_inverse_sqrt(f16(x))
            bool is_nan(f32(x))
            bool is_inf(f32(x))
            bool is_finite(f32(x))
            i16 popcount(i16(x))
            u16 clz(u16(x))
            u16 ctz(u16(x))
            i16 div_round_to_zero(i16(x), 3i16)
            i16 mod_round_to_zero(i16(x), i16(u16(x)))
            u8 u8(f32(x))
            f64 f64(i16(x))
            f32 f32(x)
            i8 saturating_i8(f32(x))
            u8 saturating_u8(u16(x))
            u32 bits_u32(f32(x))
            u16 bits_u16(i16(x))
            i32 likely(x)
            bool f32(x) == 1.0f32
            bool f32(x) != 1.0f32
            bool f32(x) < 1.0f32
            bool f32(x) <= 1.0f32
            bool 1.0f32 > f32(x)
            bool 1.0f32 >= f32(x)
            bool bool(x)
        "#]],
    );
}

#[test]
fn tuples_select_adapt_and_update_at_once() {
    let x = vars!(x);
    let mut t = Func::new("t");
    t[x] = (x, x.cast(F32)).into();
    t[x] = (1, 2.5).into();
    t[x] = select(x.lt(3), t[x], tuple([x + 1, x + 2]).at(0).cast(I32).into_pair(t[x].at(1)));
    let mut u = Func::new("u");
    u[x] = t[x];
    expect![[r#"
        func t(x): (i32, f32)
          t(x) = (x, f32(x))
          t(x) = (1, 2.5f32)
          t(x) = (select(x < 3, t(x).0, x + 1), select(x < 3, t(x).1, t(x).1))
        func u(x): (i32, f32)
          u(x) = (t(x).0, t(x).1)
        output u
    "#]]
    .assert_eq(&Pipeline::new([&u]).unwrap().to_string());
}

trait IntoPair {
    fn into_pair(self, other: Expr) -> Expr;
}

impl IntoPair for Expr {
    fn into_pair(self, other: Expr) -> Expr {
        (self, other).into()
    }
}

#[test]
fn coordinates_of_every_form_and_integer_type() {
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let zero = {
        let mut f = Func::new("zero");
        f[()] = 3.expr();
        f
    };
    let mut f = Func::new("f");
    f[[x, y]] = input[(x, y)]
        + input[[x + 1, y + 0]]
        + input[&[x, y][..]]
        + input[vec![x, y]]
        + input[(x.cast(U8), 3u64)]
        + input[(x.cast(I64) + 1, Param::<i16>::new("p"))]
        + zero[()].cast(U8);
    let mut g = Func::new("g");
    let v: Vec<_> = (0..8).map(|i| halide_core::Var::new(format!("v{i}"))).collect();
    g[&v] = f[(v[0], v[7])];
    let mut h = Func::new("h");
    h[x] = g[(x, 1, 2, 3, 4, 5, 6, x)];
    expect![[r#"
        image input(2): u8
        param p: i16
        func zero(): i32
          zero() = 3
        func f(x, y): u8
          f(x, y) = input(x, y) + input(x + 1, y + 0) + input(x, y) + input(x, y) + input(i32(u8(x)), 3) + input(i32(i64(x) + 1i64), i32(p)) + u8(zero())
        func g(v0, v1, v2, v3, v4, v5, v6, v7): u8
          g(v0, v1, v2, v3, v4, v5, v6, v7) = f(v0, v7)
        func h(x): u8
          h(x) = g(x, 1, 2, 3, 4, 5, 6, x)
        output h
    "#]].assert_eq(&Pipeline::new([&h]).unwrap().to_string());
}

#[test]
fn freezing_twice_gives_equal_text() {
    let input = ImageParam::new("input", U8, 2);
    let (x, y) = vars!(x, y);
    let r = RDom::new([(-1, 3)]);
    let edge = halide_core::boundary::mirror_image(&input);
    let mut f = Func::new("f");
    f[(x, y)] = halide_core::reduce::sum(edge[(x + r.x, y)].cast(U16));
    f[(x, r.x)] += 1;
    let mut g = Func::new("f");
    g[(x, y)] = f[(x, y)] + f[(y, x)];
    let (a, b) = (Pipeline::new([&g, &f]).unwrap(), Pipeline::new([&g, &f]).unwrap());
    assert_eq!(a.to_string(), b.to_string());
    assert_eq!(a.to_string(), a.clone().to_string());
    assert_eq!(format!("{:?}", a.exprs), format!("{:?}", b.exprs));
    let names: Vec<&str> = a.order.iter().map(|&f| a.funcs[f].name.as_str()).collect();
    assert_eq!(names, ["mirror_image_input", "sum", "f", "f$1"]);
}
