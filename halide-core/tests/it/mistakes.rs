//! Mistakes of users, and the exact text that tells them: all at once, sorted by place.

use expect_test::{Expect, expect};
use halide_core::expr::*;
use halide_core::reduce::sum;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};

/// The mistakes of the pipeline of `outputs`, with lines relative to `start` in place of files.
pub(crate) fn check_at(start: u32, outputs: &[&Func], expected: Expect) {
    let text = match Pipeline::new(outputs.iter().copied()) {
        Ok(pipeline) => format!("no mistake\n{pipeline}"),
        Err(errors) => errors.0.iter().fold(String::new(), |mut text, e| {
            let file = e.at.file.rsplit('/').next().unwrap();
            let line = e.at.line.checked_sub(start).map_or("?".into(), |l| l.to_string());
            text += &format!("{file}:+{line}:{}: {}\n", e.at.column, e.kind.reason());
            text + &format!("  help: {}\n", e.kind.help())
        }),
    };
    expected.assert_eq(&text);
}

macro_rules! check {
    ($start:ident, $outputs:expr, $expected:expr) => {
        check_at($start, &$outputs, $expected)
    };
}

#[test]
fn literals_must_fit_the_type_they_meet() {
    let s = line!();
    let (x, input) = (vars!(x), ImageParam::new("input", U8, 1));
    let mut f = Func::new("f");
    f[x] = tuple([
        input[x] + 255,
        input[x] + 256,
        input[x] - -1,
        input[x] * 0.5,
        input[x].cast(F16) * 1e9,
        input[x].lt(300).cast(U8),
        clamp(input[x], 0, 300),
        input[x].cast(I64) + u64::MAX,
    ]);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+5:9: the literal 256 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+6:9: the literal -1 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+7:9: the literal 0.5 is a float but meets u8
              help: cast what it meets to a float type: a literal takes that type
            mistakes.rs:+8:9: the literal 1000000000.0 meets f16, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+9:18: the literal 300 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+10:9: the literal 300 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+11:9: the literal 18446744073709551615 meets i64, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
        "#]]
    );
}

#[test]
fn bools_are_not_numbers() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let b = x.lt(3);
    f[x] = tuple([
        b + b,
        (b & true).cast(I32),
        b & x,
        b.eq(1),
        select(x, 1, 2),
        select(b, x, b),
        abs(b),
        -b,
        (!b).cast(I32),
    ]);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+5:9: `+` takes numbers, not bool
              help: cast the operand to a type that it takes
            mistakes.rs:+7:9: the operands of `&` are a bool and a number of type i32
              help: cast the bool, or compare the number
            mistakes.rs:+8:11: the operands of `==` are a bool and a number of type i32
              help: cast the bool, or compare the number
            mistakes.rs:+9:9: `select` takes a bool condition, not i32
              help: cast the operand to a type that it takes
            mistakes.rs:+10:9: the operands of `select` are a bool and a number of type i32
              help: cast the bool, or compare the number
            mistakes.rs:+11:9: `abs` takes numbers, not bool
              help: cast the operand to a type that it takes
            mistakes.rs:+12:9: `-` takes numbers, not bool
              help: cast the operand to a type that it takes
        "#]]
    );
}

#[test]
fn operators_refuse_types_without_meaning() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let (u, i, r) = (x.cast(U8), x.cast(I8), x.cast(F32));
    f[x] = tuple([u & i, r & r, r << 1, u << r, popcount(r), floor(u), is_nan(i), r.reinterpret(U16)]);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+4:19: the operands of `&` are u8 and i8: one is signed, the other is not
              help: cast one of them
            mistakes.rs:+4:26: `&` takes integers or bools, not f32
              help: cast the operand to a type that it takes
            mistakes.rs:+4:33: `<<` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes.rs:+4:41: `<<` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes.rs:+4:49: `popcount` takes integers, not f32
              help: cast the operand to a type that it takes
            mistakes.rs:+4:62: `floor` takes floats, not u8
              help: cast the operand to a type that it takes
            mistakes.rs:+4:72: `is_nan` takes floats, not i8
              help: cast the operand to a type that it takes
            mistakes.rs:+4:85: f32 cannot be reinterpreted as u16, which is of another width
              help: cast it, or reinterpret it as a type of 32 bits
        "#]]
    );
}

#[test]
fn a_func_is_defined_before_it_is_read() {
    let s = line!();
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    g[x] = f[x] + 1;
    f[x] = x + 0;
    check!(
        s,
        [&g, &f],
        expect![[r#"
            mistakes.rs:+3:13: `f` is read before it has a definition
              help: define it first: `f[(x, y)] = ...`
        "#]]
    );
}

/// A recurrence has a start, and its order is that of an RDom.
#[test]
fn a_first_definition_that_reads_its_own_func_is_told_both_lines() {
    let s = line!();
    let (x, y) = vars!(x, y);
    let (mut g, mut both, mut empty) = (Func::new("g"), Func::new("both"), Func::new("empty"));
    g[x] = g[x - 1] + 1;
    both[(x, y)] = both[(x - 1, y)] + both[(x, y - 1)];
    empty[()] = empty[()] * 2 + 1;
    check!(
        s,
        [&g, &both, &empty],
        expect![[r#"
        mistakes.rs:+3:6: the first definition of `g` reads `g` itself, which has no values yet
          help: write a pure definition first, then an update over `let r = RDom::new([(1, n)])`, which runs in order:
            g[x] = ...;
            g[r.x] = ... g[r.x - 1] ...;
        mistakes.rs:+4:9: the first definition of `both` reads `both` itself, which has no values yet
          help: write a pure definition first, then an update over `let r = RDom::new([(1, n)])`, which runs in order:
            both[(x, y)] = ...;
            both[(r.x, y)] = ... both[(r.x - 1, y)] ...;
        mistakes.rs:+5:10: the first definition of `empty` reads `empty` itself, which has no values yet
          help: define it first, then update it: `empty[()] = ...`
    "#]]
    );
}

#[test]
fn a_func_that_another_has_read_takes_no_further_definition() {
    let s = line!();
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x + 0;
    g[x] = f[x];
    f[x] += 1;
    let mut h = Func::new("h");
    h[x] = f[x] + g[x];
    check!(
        s,
        [&h],
        expect![[r#"
            mistakes.rs:+5:6: `f` gets another definition after `g` has read it
              help: write all definitions of `f` before others read it
        "#]]
    );
}

#[test]
fn funcs_that_need_each_other_are_a_cycle() {
    let s = line!();
    let x = vars!(x);
    let (mut f, mut g) = (Func::new("f"), Func::new("g"));
    f[x] = x + 0;
    g[x] = f[x];
    f[x] += g[x];
    check!(
        s,
        [&g, &f],
        expect![[r#"
            mistakes.rs:+2:43: Funcs depend on each other: `g` reads `f` reads `g`
              help: make it one Func with an update over an RDom
        "#]]
    );
}

#[test]
fn coordinates_are_as_many_as_dimensions_and_integers() {
    let s = line!();
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 2);
    let mut f = Func::new("f");
    f[(x, y)] = input[x] + input[(x, y, 0)] + input[(x.cast(F32), y)] + input[(x.lt(y), y)] + input[(x, 1i64 << 40)];
    let mut g = Func::new("g");
    g[x] = f[x] + input.channels().cast(U8);
    check!(
        s,
        [&g],
        expect![[r#"
            mistakes.rs:+4:22: `input` has 2 dimensions but 1 coordinate is given
              help: give one coordinate for each dimension
            mistakes.rs:+4:33: `input` has 2 dimensions but 3 coordinates are given
              help: give one coordinate for each dimension
            mistakes.rs:+4:52: coordinate 0 of `input` is f32, not an integer
              help: cast it to i32
            mistakes.rs:+4:78: coordinate 0 of `input` is bool, not an integer
              help: cast it to i32
            mistakes.rs:+4:100: the literal 1099511627776 meets i32, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+6:13: `f` has 2 dimensions but 1 coordinate is given
              help: give one coordinate for each dimension
            mistakes.rs:+6:25: `input` has no dimension 2: it has 2 dimensions
              help: use a smaller number: dimensions are counted from 0
        "#]]
    );
}

#[test]
fn first_definitions_have_distinct_variables_on_the_left() {
    let s = line!();
    let (x, y) = vars!(x, y);
    let r = RDom::new([(0, 10)]);
    let (mut f, mut g, mut h, mut i) = (Func::new("f"), Func::new("g"), Func::new("h"), Func::new("i"));
    f[(x, x)] = x + 0;
    g[(x, y + 1)] = x + 0;
    h[r.x] = x + 0;
    i[x] = x + y + r.x;
    check!(
        s,
        [&f, &g, &h, &i],
        expect![[r#"
            mistakes.rs:+4:6: `x` stands twice on the left side of the first definition of `f`
              help: define it for all coordinates first, then update it
            mistakes.rs:+5:6: coordinate 1 of the first definition of `g` is not a variable
              help: define it for all coordinates first, then update it
            mistakes.rs:+6:6: the first definition of `h` uses the reduction variable `r.x`
              help: define it without, then add an update; or use `sum` and its like
            mistakes.rs:+7:6: a definition of `i` uses `y`, which is not on its left side
              help: use the variables of its left side: x
            mistakes.rs:+7:6: the first definition of `i` uses the reduction variable `r.x`
              help: define it without, then add an update; or use `sum` and its like
        "#]]
    );
}

#[test]
fn nine_dimensions_are_too_many() {
    let s = line!();
    let v: Vec<_> = (0..9).map(|i| halide_core::Var::new(format!("v{i}"))).collect();
    let mut f = Func::new("f");
    f[&v] = 0.expr();
    let input = ImageParam::new("input", U8, 9);
    let mut g = Func::new("g");
    g[v[0]] = input[&v];
    let mut h = Func::new("h");
    h[v[0]] = 0.expr();
    h[v[0]] += RDom::new([(0, 1); 9]).x;
    let none: [(i32, i32); 0] = [];
    h[v[0]] += RDom::new(none).x;
    check!(
        s,
        [&f, &g, &h],
        expect![[r#"
            mistakes.rs:+3:6: `f` has 9 dimensions; at most 8 are possible
              help: use fewer dimensions, or several Funcs or images
            mistakes.rs:+4:17: `input` has 9 dimensions; at most 8 are possible
              help: use fewer dimensions, or several Funcs or images
            mistakes.rs:+6:6: a definition of `g` uses `v1`, `v2`, `v3`, `v4`, `v5`, `v6`, `v7`, `v8`, which are not on its left side
              help: use the variables of its left side: v0
            mistakes.rs:+9:16: the domain `r` has 9 dimensions; 1 to 8 are possible
              help: use another number of dimensions
            mistakes.rs:+11:16: the domain `r` has 0 dimensions; 1 to 8 are possible
              help: use another number of dimensions
        "#]]
    );
}

#[test]
fn updates_keep_the_type_arity_and_order_of_the_func() {
    let s = line!();
    let (x, y) = vars!(x, y);
    let mut f = Func::new("f");
    f[(x, y)] = x.cast(U8);
    f[(x, y)] += y;
    f[(x, y)] = 7.expr();
    f[(x, y)] = 700.expr();
    f[x] = x.cast(U8);
    f[(x, y)] = tuple([x, y]);
    f[(x, y)] = f[(x - 1, y)] + 1;
    f[(y, x)] = f[(x, y)];
    f[(x, 0)] = y.cast(U8);
    let (r, q) = (RDom::new([(0, 5)]), RDom::named("q", [(0, 5)]));
    f[(x, r.x)] = q.x.cast(U8);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+4:6: an update of `f` stores i32 where element 0 is u8
              help: cast the value to u8
            mistakes.rs:+6:21: the literal 700 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes.rs:+7:6: `f` has 2 dimensions but 1 coordinate is given
              help: give one coordinate for each dimension
            mistakes.rs:+8:6: an update of `f` stores 2 elements where it has 1
              help: store one value for each element
            mistakes.rs:+9:6: an update of `f` reads `f` at another `x` than it writes, so the order of `x` would matter
              help: use an RDom for that dimension: it runs in order
            mistakes.rs:+10:6: an update of `f` reads `f` at another `x` than it writes, so the order of `x` would matter
              help: use an RDom for that dimension: it runs in order
            mistakes.rs:+10:6: an update of `f` reads `f` at another `y` than it writes, so the order of `y` would matter
              help: use an RDom for that dimension: it runs in order
            mistakes.rs:+11:6: a definition of `f` uses `y`, which is not on its left side
              help: use the variables of its left side: x
            mistakes.rs:+13:6: an update of `f` uses variables of two domains, `r` and `q`
              help: make one RDom with all the dimensions
        "#]]
    );
}

#[test]
fn a_left_side_needs_a_value() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let _ = &mut f[x];
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+3:19: a left side of `f` has no value
              help: assign a value to it
        "#]]
    );
}

#[test]
fn tuples_are_read_by_element() {
    let s = line!();
    let x = vars!(x);
    let (mut t, mut f) = (Func::new("t"), Func::new("f"));
    t[x] = tuple([x + 1, x + 2]);
    f[x] = t[x] + t[x].at(2) + t[x].at(0).at(1);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+4:12: `+` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes.rs:+4:24: a value of 2 elements has no element 2
              help: use a smaller index: elements are counted from 0
            mistakes.rs:+4:43: a value of 1 element has no element 1
              help: use a smaller index: elements are counted from 0
        "#]]
    );
}

#[test]
fn domains_have_integer_bounds_that_are_known_early() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = x + 0;
    let mut g = Func::new("g");
    g[x] = 0.expr();
    g[x] += RDom::named("a", [(0.5, 3.0)]).x;
    g[x] += RDom::named("b", [(x + 0, x + 1)]).x;
    g[x] += RDom::named("c", [(f[0], f[1])]).x;
    let d = RDom::named("d", [(0, 3)]);
    g[x] += d.y + d.dim(9);
    d.where_(d.x + 1);
    g[x] += d.x;
    check!(
        s,
        [&g],
        expect![[r#"
            mistakes.rs:+6:13: a bound of the domain `a` is not an integer
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes.rs:+7:13: a bound of the domain `b` uses the variable `x`
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes.rs:+8:13: a bound of the domain `c` reads `f`
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes.rs:+9:13: the domain `d` has no dimension 1: it has 1 dimension
              help: use a smaller number, counted from 0, or give the domain another dimension
            mistakes.rs:+10:21: the domain `d` has no dimension 9: it has 1 dimension
              help: use a smaller number, counted from 0, or give the domain another dimension
            mistakes.rs:+11:7: `where_` takes a bool, not i32
              help: cast the operand to a type that it takes
        "#]]
    );
}

#[test]
fn a_domain_is_restricted_before_it_is_used() {
    let s = line!();
    let x = vars!(x);
    let r = RDom::new([(0, 9)]);
    let mut f = Func::new("f");
    f[x] = sum(r.x);
    r.where_(r.x.gt(3));
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+5:7: the domain `r` is restricted after `sum` has used it
              help: call `r.where_(...)` right after `RDom::new`
        "#]]
    );
}

#[test]
fn parameters_agree_with_themselves() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let one = Param::<i32>::new("one").with_default(5).with_range(6, 9);
    let two = Param::<i32>::new("two").with_range(3, 2);
    f[x] = Param::<u8>::new("one") + one + two;
    let (a, b) = (ImageParam::new("in", U8, 1), ImageParam::new("in", U16, 1));
    let c = ImageParam::new("in", U8, 1);
    f[x] += (a[x] + b[x] + c[x]).cast(I32);
    check!(
        s,
        [&f],
        expect![[r#"
            mistakes.rs:+3:15: two parameters are called `one` and differ
              help: use one handle, or another name: inputs are given by name
            mistakes.rs:+4:15: the parameter `two` has an empty range, 3 to 2
              help: change the range or the default
            mistakes.rs:+6:49: two input images are called `in` and differ
              help: use one handle, or another name: inputs are given by name
        "#]]
    );
}

#[test]
fn a_mistake_is_reported_once_however_often_it_is_used() {
    let s = line!();
    let (x, y) = vars!(x, y);
    let input = ImageParam::new("input", U8, 1);
    let mut f = Func::new("f");
    f[x] = input[x] + 300;
    f[x] += 1.5;
    f[x] += x;
    let mut g = Func::new("g");
    g[(x, y)] = select(f[x].lt(f[x + 1]), sqrt(f[y]), -f[x]) << 3;
    let mut h = Func::new("h");
    h[g[(x, y)]] += g[(y, x)];
    let place = h[x];
    h[place] = clamp(h[x], 0, 1e30);
    check!(
        s,
        [&h],
        expect![[r#"
            mistakes.rs:+4:12: the literal 300 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
        "#]]
    );
}

#[test]
fn no_outputs_is_a_mistake() {
    let s = line!();
    check!(
        s,
        [],
        expect![[r#"
            mistakes.rs:+?:22: the pipeline has no outputs
              help: give at least one Func
        "#]]
    );
}
