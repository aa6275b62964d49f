//! Mistakes in arguments: values that functions of the language do not take.

use crate::mistakes::check_at;
use expect_test::expect;
use halide_core::expr::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, RDom, vars};

#[test]
fn fixed_point() {
    let s = line!();
    let (i, a, b) = (vars!(i), ImageParam::new("a", U64, 1), ImageParam::new("b", U8, 1));
    let (a, b, none) = (a[i], b[i], Vec::<halide_core::Expr>::new());
    let mut f = Func::new("f");
    f[i] = tuple([
        widening_mul(a, a).cast(I32),
        saturating_add(a.cast(F32), 1).cast(I32),
        saturating_sub(b, 300).cast(I32),
        halving_add(b, b.cast(F32)).cast(I32),
        rounding_shift_right(b, 0.5).cast(I32),
        mul_shift_right(b, b, b.cast(F32)).cast(I32),
        concat_bits([b, b, b]).cast(I32),
        concat_bits([b, b.cast(I8)]).cast(I32),
        concat_bits([a, a]).cast(I32),
        concat_bits(&none).cast(I32),
        extract_bits::<u16>(b.cast(F32), 0).cast(I32),
        extract_bits::<f32>(a, 0).cast(I32),
        absd(b, i.lt(3)).cast(I32),
        concat_bits([b.cast(U16); 8]).cast(I32),
        concat_bits([b.cast(I32)]).cast(I32),
    ]);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_functions.rs:+5:9: `widening_mul` takes integers of at most 32 bits, not u64
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+6:9: `saturating_add` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+7:9: the literal 300 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes_of_functions.rs:+8:9: `halving_add` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+9:9: `rounding_shift_right` takes integers, not f64
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+10:9: `>>` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+11:9: `concat_bits` has 3 operands of 8 bits, not 16, 32 or 64 bits in all
              help: give 2, 4 or 8 operands
            mistakes_of_functions.rs:+12:9: `concat_bits` takes integers of one type, not i8
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+13:9: `concat_bits` has 2 operands of 64 bits, not 16, 32 or 64 bits in all
              help: cast the operands to a narrower type
            mistakes_of_functions.rs:+14:9: `concat_bits` has no operands
              help: give 2, 4 or 8 operands
            mistakes_of_functions.rs:+15:9: `extract_bits` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+16:9: `extract_bits` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+17:9: the operands of `absd` are a bool and a number of type u8
              help: cast the bool, or compare the number
            mistakes_of_functions.rs:+18:9: `concat_bits` has 8 operands of 16 bits, not 16, 32 or 64 bits in all
              help: give 2 or 4 operands
            mistakes_of_functions.rs:+19:9: `concat_bits` has 1 operand of 32 bits, not 16, 32 or 64 bits in all
              help: give 2 operands
        "#]],
    );
}

#[test]
fn choices() {
    let s = line!();
    let (i, a) = (vars!(i), ImageParam::new("a", F32, 1));
    let (a, none, nothing) =
        (a[i], Vec::<halide_core::Expr>::new(), Vec::<(halide_core::Expr, halide_core::Expr)>::new());
    let mut f = Func::new("f");
    f[i] = tuple([
        mux(a, [1, 2]),
        mux(i, &none),
        mux(i, [a, a.lt(0.0)]).cast(I32),
        select(a, 1, 2),
        select(i.lt(3), tuple([i, i]), i.expr()).at(0),
        select_first(&nothing, 4),
        select_first([(i.expr(), 1.expr())], 4),
        clamp(i, a.lt(0.0), 4),
        clamp(i, 0, 1i64 << 40),
        lerp(i, i + 1, a.lt(0.5)).cast(I32),
        lerp(i.cast(I64), i.cast(I64), a).cast(I32),
        lerp(i, i, a.cast(F64)).cast(I32),
        lerp(a, i, 3).cast(I32),
    ]);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_functions.rs:+6:9: `mux` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+7:9: a value of 0 elements has no element 0
              help: give at least one element
            mistakes_of_functions.rs:+8:9: the operands of `select` are a bool and a number of type f32
              help: cast the bool, or compare the number
            mistakes_of_functions.rs:+9:9: `select` takes a bool condition, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+10:9: `select` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+12:9: `select` takes a bool condition, not i32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+13:9: the operands of `max` are a bool and a number of type i32
              help: cast the bool, or compare the number
            mistakes_of_functions.rs:+14:9: the literal 1099511627776 meets i32, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes_of_functions.rs:+15:9: `lerp` takes a float or unsigned weight of at most 32 bits, not bool
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+16:9: `lerp` takes floats, or integers of at most 32 bits, not i64
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+17:9: `lerp` takes a weight of at most 32 bits between integers, not f64
              help: cast the operand to a type that it takes
        "#]],
    );
}

#[test]
fn mathematics_and_bits() {
    let s = line!();
    let (i, a) = (vars!(i), ImageParam::new("a", F32, 1));
    let a = a[i];
    let mut f = Func::new("f");
    f[i] = tuple([
        sin(i.lt(3)).cast(I32),
        pow(a, i.lt(3)).cast(I32),
        fma(a, i.lt(3), a).cast(I32),
        abs(i.lt(3)).cast(I32),
        round(i).cast(I32),
        is_nan(i).cast(I32),
        popcount(a).cast(I32),
        clz(a).cast(I32),
        reinterpret::<u16>(a).cast(I32),
        reinterpret::<bool>(a.cast(U8)).cast(I32),
        likely(tuple([i, i])).cast(I32),
        strict_float(tuple([a, a])).cast(I32),
        tuple(Vec::<i32>::new()).at(0).cast(I32),
    ]);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_functions.rs:+5:9: `sin` takes numbers, not bool
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+6:9: the operands of `pow` are a bool and a number of type f32
              help: cast the bool, or compare the number
            mistakes_of_functions.rs:+7:9: the operands of `fma` are a bool and a number of type f32
              help: cast the bool, or compare the number
            mistakes_of_functions.rs:+8:9: `abs` takes numbers, not bool
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+9:9: `round` takes floats, not i32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+10:9: `is_nan` takes floats, not i32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+11:9: `popcount` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+12:9: `clz` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+13:9: f32 cannot be reinterpreted as u16, which is of another width
              help: cast it, or reinterpret it as a type of 32 bits
            mistakes_of_functions.rs:+14:9: u8 cannot be reinterpreted as bool, which is of another width
              help: cast it, or reinterpret it as a type of 8 bits
            mistakes_of_functions.rs:+15:9: `likely` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+16:9: `strict_float` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+17:9: a value of 0 elements has no element 0
              help: give at least one element
        "#]],
    );
}

#[test]
fn what_is_said_and_drawn() {
    let s = line!();
    let (i, a) = (vars!(i), ImageParam::new("a", F32, 1));
    let a = a[i];
    let mut f = Func::new("f");
    let pair = tuple([i, i]);
    f[i] = tuple([
        require(i, i, ""),
        require(i.lt(3), pair, "").at(0),
        print(pair, ()).at(0),
        print(i, pair),
        print_when(1, i, ()),
        random_u32(a).cast(I32),
        random_f32(i.lt(3)).cast(I32),
        promise_clamped(i, 0, 1i64 << 40),
        promise_clamped(i, pair, 3),
        promise_clamped_unchecked(i, 0.5, 3),
    ]);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_functions.rs:+6:9: `require` takes a bool condition, not i32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+7:9: `require` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+8:9: `print` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+9:9: `print` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+10:9: `print` takes a bool condition, not i32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+11:9: `random_u32` takes an integer seed, not f32
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+12:9: `random_f32` takes an integer seed, not bool
              help: cast the operand to a type that it takes
            mistakes_of_functions.rs:+13:9: the literal 1099511627776 meets i32, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes_of_functions.rs:+14:9: `>=` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_functions.rs:+15:9: the literal 0.5 is a float but meets i32
              help: cast what it meets to a float type: a literal takes that type
        "#]],
    );
}

#[test]
fn sites() {
    let s = line!();
    let (x, input, r) = (vars!(x), ImageParam::new("input", I32, 1), RDom::named("r", [(0, 3)]));
    let (mut f, mut g, none) = (Func::new("f"), Func::new("g"), Vec::<halide_core::Expr>::new());
    f[x] = input[gather((x, x + 1))];
    g[x] = input[x];
    g[scatter((1, 2))] = gather((1, 2, 3));
    g[scatter((r.x, 2))] = g[gather(&none)];
    g[scatter((1, 2))] = require(g[1].lt(3), gather((1, 2)), "small");
    g[scatter((x.lt(1), x.lt(2)))] = 1.expr();
    g[scatter((1.5, 2.5))] = gather((x.lt(1), x.lt(2)));
    let odd = RDom::named("odd", [(0, 3)]);
    odd.where_(gather((odd.x, odd.x + 1)).lt(2));
    g[odd.x] = 1.expr();
    check_at(
        s,
        &[&f, &g],
        expect![[r#"
            mistakes_of_functions.rs:+3:6: `scatter` or `gather` stands in the first definition of `f`, or in the predicate of a domain
              help: let them stand in an update: on its left side and in its value
            mistakes_of_functions.rs:+5:6: an update of `g` has 2 sites at one place and 3 at another
              help: repeat the last value where there are too few
            mistakes_of_functions.rs:+6:30: `gather` has no values
              help: give a value for each site
            mistakes_of_functions.rs:+7:6: an update of `g` of several sites requires or prints something
              help: require or print it in another Func that this one reads
            mistakes_of_functions.rs:+8:6: coordinate 0 of `g` is bool, not an integer
              help: cast it to i32
            mistakes_of_functions.rs:+9:6: coordinate 0 of `g` is f64, not an integer
              help: cast it to i32
            mistakes_of_functions.rs:+9:6: an update of `g` stores bool where element 0 is i32
              help: cast the value to i32
            mistakes_of_functions.rs:+12:6: `scatter` or `gather` stands in the first definition of `g`, or in the predicate of a domain
              help: let them stand in an update: on its left side and in its value
        "#]],
    );
}
