//! Mistakes of users with parameters, images, promises and rules for these, domains and outputs.

use crate::mistakes::check_at;
use expect_test::expect;
use halide_core::boundary::*;
use halide_core::expr::*;
use halide_core::reduce::*;
use halide_core::types::*;
use halide_core::{Func, ImageParam, Param, Pipeline, RDom, vars};

#[test]
fn outputs_are_defined() {
    let s = line!();
    let (nothing, mut f) = (Func::new("nothing"), Func::new("f"));
    let (x, y) = vars!(x, y);
    f[0] = x + 0;
    let mut g = Func::new("g");
    let none: [i32; 0] = [];
    g[none] = x * y;
    check_at(
        s,
        &[&nothing, &f, &g],
        expect![[r#"
            mistakes_of_inputs.rs:+1:29: the output `nothing` has no definition
              help: define it first: `nothing[(x, y)] = ...`
            mistakes_of_inputs.rs:+3:6: coordinate 0 of the first definition of `f` is not a variable
              help: define it for all coordinates first, then update it
            mistakes_of_inputs.rs:+6:6: a definition of `g` uses `x`, `y`, which are not on its left side
              help: put each variable alone on the left side, in a dimension of its own
        "#]],
    );
}

#[test]
fn a_domain_of_several_variables_is_no_value() {
    let s = line!();
    let x = vars!(x);
    let r = RDom::named("r", [(0, 3), (0, 4)]);
    let mut f = Func::new("f");
    f[x] = 0.expr();
    f[x] += cast::<i32>(&r) + 1;
    f[&r] += 2;
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+5:13: the domain `r` is used as one variable but has 2 dimensions
              help: name one: `r.x`
            mistakes_of_inputs.rs:+6:6: the domain `r` is used as one variable but has 2 dimensions
              help: name one: `r.x`
        "#]],
    );
}

#[test]
fn domains_that_need_what_nobody_knows_yet() {
    let s = line!();
    let (x, input) = (vars!(x), ImageParam::new("input", I32, 1));
    let mut f = Func::new("f");
    f[x] = 0.expr();
    let other = RDom::named("other", [(0, 3)]);
    f[x] += RDom::named("a", [(0.expr(), random_i32(1))]).x;
    f[x] += RDom::named("b", [(0.expr(), print(3, ()))]).x;
    f[x] += RDom::named("c", [(0.expr(), input[0])]).x;
    f[x] += RDom::named("d", [(0.expr(), other.x + 1)]).x;
    f[x] += RDom::named("e", [(0.expr(), x.lt(3))]).x;
    f[x] += RDom::named("g", [(0.expr(), tuple([1, 2]))]).x;
    f[x] += RDom::named("h", [(0i64, 1i64 << 40)]).x;
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+5:13: a bound of the domain `a` is random
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+6:13: a bound of the domain `b` prints
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+7:13: a bound of the domain `c` reads `input`
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+8:13: a bound of the domain `d` uses the variable `other.x`
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+9:13: a bound of the domain `e` is not an integer
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+10:13: a bound of the domain `g` is not an integer
              help: use integers made of constants, parameters and image dimensions; or `where_`, which takes any bool
            mistakes_of_inputs.rs:+11:13: the literal 1099511627776 meets i32, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
        "#]],
    );
}

#[test]
fn reductions_over_one_domain() {
    let s = line!();
    let x = vars!(x);
    let (r, q) = (RDom::named("r", [(0, 3)]), RDom::named("q", [(0, 4)]));
    let mut f = Func::new("f");
    f[x] = sum(x + 1);
    f[x] += product(r.x + q.x);
    f[x] += argmin(x + 1).at(0);
    f[x] += argmax(r.x * q.x).at(1);
    f[x] += minimum(tuple([r.x, r.x]));
    f[x] += cast::<i32>(saturating_sum(cast::<f32>(r.x)));
    f[x] += cast::<i32>(maximum(r.x.lt(2)));
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+4:12: the expression of `sum` has no reduction variable
              help: use a variable of an RDom in it
            mistakes_of_inputs.rs:+5:13: the expression of `product` has variables of two domains, `r` and `q`
              help: name the domain: `product_over(&r, ...)`
            mistakes_of_inputs.rs:+6:13: the expression of `argmin` has no reduction variable
              help: use a variable of an RDom in it
            mistakes_of_inputs.rs:+7:13: the expression of `argmax` has variables of two domains, `r` and `q`
              help: name the domain: `argmax_over(&r, ...)`
            mistakes_of_inputs.rs:+8:13: `minimum` takes a scalar, not a tuple of 2 elements
              help: take one element with `.at(i)`
            mistakes_of_inputs.rs:+9:25: `saturating_sum` takes integers, not f32
              help: cast the operand to a type that it takes
        "#]],
    );
}

#[test]
fn parameters_within_their_ranges() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let low = Param::<i32>::new("low").with_range(3, 9).with_default(2);
    let high = Param::<u8>::new("high").with_default(200).with_range(0, 100);
    let nan = Param::<f32>::new("nan").with_range(0.0, 1.0).with_default(f32::NAN);
    let order = Param::<f32>::new("order").with_range(1.0, f32::NAN);
    f[x] = low + high.cast(I32) + nan.cast(I32) + order.cast(I32);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+3:15: the parameter `low` has a default outside its range, 2
              help: change the range or the default
            mistakes_of_inputs.rs:+4:16: the parameter `high` has a default outside its range, 200
              help: change the range or the default
            mistakes_of_inputs.rs:+5:15: the parameter `nan` has a default outside its range, NaN
              help: change the range or the default
            mistakes_of_inputs.rs:+6:17: the parameter `order` has an empty range, 1.0 to NaN
              help: change the range or the default
        "#]],
    );
}

#[test]
fn promises_of_images() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    let floats = ImageParam::new("floats", F32, 1);
    floats.promise_values(0, 1);
    let rows = ImageParam::new("rows", I32, 1);
    rows.promise_growing(1);
    let empty = ImageParam::new("empty", U8, 1);
    empty.promise_values(9, 3);
    let fine = ImageParam::new("fine", I16, 1);
    fine.promise_values(-4, 3);
    fine.promise_growing(0);
    fine.promise_coordinates(&rows, 0);
    let index = ImageParam::new("index", I32, 1);
    index.promise_coordinates(&rows, 2);
    floats.promise_coordinates(&rows, 0);
    floats.promise_coordinates(&ImageParam::new("unread", U8, 1), 7);
    f[x] = floats[x].cast(I32) + rows[x] + empty[x].cast(I32) + fine[x].cast(I32) + index[x];
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+3:18: a promise about the elements of `floats` cannot hold: its elements are f32, and promises are of integers
              help: change the promise, or drop it
            mistakes_of_inputs.rs:+5:16: a promise about the elements of `rows` cannot hold: it has no dimension 1
              help: change the promise, or drop it
            mistakes_of_inputs.rs:+7:17: a promise about the elements of `empty` cannot hold: no element is in 9 to 3
              help: change the promise, or drop it
            mistakes_of_inputs.rs:+13:17: a promise about the elements of `index` cannot hold: `rows` has no dimension 2
              help: change the promise, or drop it
        "#]],
    );
}

#[test]
fn rules_of_buffers() {
    let s = line!();
    let x = vars!(x);
    let (input, p) = (ImageParam::new("input", U8, 2), Param::<f32>::new("p"));
    let mut f = Func::new("f");
    f[x] = input[(x, 0)];
    input.dim(2).set_min(0);
    input.dim(0).set_extent(x + 1);
    input.dim(0).set_stride(p + 1.0);
    input.dim(1).set_extent_multiple_of(0).set_stride_multiple_of(-4);
    input.dim(1).set_min(f[0]);
    input.set_host_alignment(24);
    input.set_host_alignment(0);
    input.set_host_alignment(1 << 21);
    f.output().dim(0).set_extent(10).set_extent_multiple_of(4);
    f.output().dim(0).set_min(1).set_min(2);
    f.output().dim(1).set_estimate(0, 100);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+5:18: a rule is for dimension 2 of the buffer of `input`, which has 2 dimensions
              help: use a smaller number: dimensions are counted from 0
            mistakes_of_inputs.rs:+6:18: a rule for the buffer of `input` uses the variable `x`
              help: use integers made of constants, parameters and image dimensions
            mistakes_of_inputs.rs:+7:18: a rule for the buffer of `input` is not an integer
              help: use integers made of constants, parameters and image dimensions
            mistakes_of_inputs.rs:+8:18: a rule for the buffer of `input` asks for multiples of 0; 1 to 2147483647 are possible
              help: use another multiple, or drop the rule
            mistakes_of_inputs.rs:+8:44: a rule for the buffer of `input` asks for multiples of -4; 1 to 2147483647 are possible
              help: use another multiple, or drop the rule
            mistakes_of_inputs.rs:+9:18: a rule for the buffer of `input` reads `f`
              help: use integers made of constants, parameters and image dimensions
            mistakes_of_inputs.rs:+10:11: the host alignment of `input` is 24 bytes; powers of two up to 1048576 are possible
              help: use another alignment, or drop the rule
            mistakes_of_inputs.rs:+11:11: the host alignment of `input` is 0 bytes; powers of two up to 1048576 are possible
              help: use another alignment, or drop the rule
            mistakes_of_inputs.rs:+12:11: the host alignment of `input` is 2097152 bytes; powers of two up to 1048576 are possible
              help: use another alignment, or drop the rule
            mistakes_of_inputs.rs:+13:38: two rules for the extent of dimension 0 of the buffer of `f` can never both hold
              help: change one of them, or drop it
            mistakes_of_inputs.rs:+15:23: a rule is for dimension 1 of the buffer of `f`, which has 1 dimension
              help: use a smaller number: dimensions are counted from 0
        "#]],
    );
}

#[test]
fn boundary_conditions() {
    let s = line!();
    let (input, x) = (ImageParam::new("input", U8, 1), vars!(x));
    let mut f = Func::new("f");
    let a = constant_exterior(&input, 300);
    let b = repeat_edge_in(&input, &[bounds(0, 4), bounds(0, 4)]);
    let c = mirror_image_in(&input, &[bounds(0.5, 4)]);
    let d = repeat_image_in(&Func::new("nothing"), &[bounds(0, 4)]);
    f[x] = a[x] + b[x] + c[x] + d[x];
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+3:13: the literal 300 meets u8, which cannot hold it
              help: cast what it meets to a type that holds it: a literal takes that type
            mistakes_of_inputs.rs:+4:13: `input` has 1 dimension but bounds for 2 are given
              help: give bounds for no more dimensions than there are
            mistakes_of_inputs.rs:+5:13: the literal 0.5 is a float but meets i32
              help: cast what it meets to a float type: a literal takes that type
            mistakes_of_inputs.rs:+6:13: `nothing` is read before it has a definition
              help: define it first: `nothing[(x, y)] = ...`
            mistakes_of_inputs.rs:+7:34: `repeat_image_nothing` has 0 dimensions but 1 coordinate is given
              help: give one coordinate for each dimension
        "#]],
    );
}

#[test]
fn values_that_are_not_stored() {
    let s = line!();
    let x = vars!(x);
    let mut f = Func::new("f");
    f[x] = undef::<i32>() + 1;
    f[x] += select(x.lt(2), undef::<i32>(), 3);
    f[undef::<i32>()] = 4.expr();
    f[x] = select(undef::<bool>(), 1, f[x]);
    check_at(
        s,
        &[&f],
        expect![[r#"
            mistakes_of_inputs.rs:+3:12: `undef` is used as an operand, and has no value
              help: let it be the whole value of a definition, or what a `select` there gives
            mistakes_of_inputs.rs:+4:29: `undef` is used as an operand, and has no value
              help: let it be the whole value of a definition, or what a `select` there gives
            mistakes_of_inputs.rs:+5:7: `undef` is used as an operand, and has no value
              help: let it be the whole value of a definition, or what a `select` there gives
            mistakes_of_inputs.rs:+6:19: `undef` is used as an operand, and has no value
              help: let it be the whole value of a definition, or what a `select` there gives
        "#]],
    );
}

/// Two Funcs may have one name: each is known by a name of its own, and a schedule's can be told.
#[test]
fn names_that_are_empty_or_the_same() {
    let s = line!();
    let x = vars!(x);
    let (mut a, mut b, mut c) = (Func::new("f"), Func::new("f"), Func::new(""));
    a[x] = x + 1;
    c[x] = a[x];
    b[x] = a[x] + c[x];
    check_at(
        s,
        &[&b],
        expect![[r#"
        no mistake
        func f(x): i32
          f(x) = x + 1
        func (x): i32
          (x) = f(x)
        func f$1(x): i32
          f$1(x) = f(x) + (x)
        output f$1
    "#]],
    );
    let pipeline = Pipeline::new([&b]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(pipeline.outputs.len(), 1);
}

/// A part of a pipeline numbers its images anew, also those that only a rule brings there, with their promises.
#[test]
fn promises_in_parts() {
    let (early, sized, index) =
        (ImageParam::new("early", I32, 1), ImageParam::new("sized", I32, 1), ImageParam::new("index", I32, 1));
    let (x, mut f, mut g) = (vars!(x), Func::new("f"), Func::new("g"));
    f[x] = early[x] + early[x + 1];
    g[x] = f[x] + sized[x];
    index.promise_coordinates(&sized, 0);
    index.promise_coordinates(&early, 0);
    sized.dim(0).set_extent(index.dim(0).extent());
    let whole = Pipeline::new([&g]).unwrap();
    let text = whole.to_string();
    assert!(text.contains("image index(1): i32 coordinates of sized.0 coordinates of early.0"), "{text}");
    let cut: Vec<_> = whole.funcs.enumerate().filter(|(_, def)| def.name == "f").map(|(id, _)| id).collect();
    let text = whole.part_without(None, &cut).to_string();
    assert!(!text.contains("early") && text.contains("image index(1): i32 coordinates of sized.0\n"), "{text}");
}
