//! The errors of texts that are no schedules.

use super::super::{Condition, Schedule};
use expect_test::{Expect, expect};

fn check(text: &str, expected: Expect) {
    let errors = Schedule::parse(text, "f.sched").expect_err("not a schedule");
    expected.assert_eq(&errors.to_string());
}

#[test]
fn one_mistake() {
    check("f: slpit(x, xo, xi, 8)", expect!["f.sched:1:4: expected a directive, found `slpit`; did you mean `split`?"]);
    check("f: parallel y", expect!["f.sched:1:13: expected `(` after `parallel`, found `y`"]);
    check("parallel(y)", expect!["f.sched:1:1: expected the name of a Func and `:` before `parallel`"]);
    check("f", expect!["f.sched:1:2: expected `:` after `f`, found the end"]);
    check(
        "vectorise",
        expect![
            "f.sched:1:1: expected a directive or `vectorise:`, found the end after it; did you mean `vectorize(...)`?"
        ],
    );
    check("f: split(x, xo, xi)", expect!["f.sched:1:19: expected `,`, found `)`"]);
    check(
        "f: split(x, xo, xi, 8, Roundup)",
        expect!["f.sched:1:24: expected a tail strategy, found `Roundup`; did you mean `RoundUp`?"],
    );
    check(
        "f: split(x, xo, xi, 99999999999999999999)",
        expect!["f.sched:1:21: 99999999999999999999 does not fit 64 bits"],
    );
    check("f: compute_at(g, x", expect!["f.sched:1:19: expected `)`, found the end"]);
    check(
        "f: store_in(stack)",
        expect![
            "f.sched:1:13: expected Auto, Heap, Stack, Register, Shared or Global, found `stack`; did you mean `Stack`?"
        ],
    );
    check("f: fold_storage(y, 4, forward)", expect!["f.sched:1:23: expected `backward`, found `forward`"]);
    check("f: rename(\"x, y)", expect!["f.sched:1:11: this quote is not closed"]);
    check("f.update(-1): parallel(y)", expect!["f.sched:1:10: expected the number of an update, found `-`"]);
    check("f: float(fast)", expect!["f.sched:1:10: expected strict, contract or relaxed, found `fast`"]);
    check("f: tile([x, y], [xo, yo], [xi, yi] [8, 8])", expect!["f.sched:1:36: expected `,`, found `[`"]);
    check("f: reorder(x y)", expect!["f.sched:1:14: expected `,` or `)`, found `y`"]);
    check("f: specialize_fail(no)", expect!["f.sched:1:20: expected the message in quotes, found `no`"]);
    check(
        "f: atomic(anyorder)",
        expect!["f.sched:1:11: expected `any_order` or `)`, found `anyorder`; did you mean `any_order`?"],
    );
    check("f: rfactor(r.x)", expect!["f.sched:1:15: expected `,`, found `)`"]);
    check("f: rfactr(r.x, u)", expect!["f.sched:1:4: expected a directive, found `rfactr`; did you mean `rfactor`?"]);
    check("f: 8", expect!["f.sched:1:4: expected a directive or the name of a Func, found `8`"]);
}

#[test]
fn conditions() {
    check(
        "f: specialize(p >)",
        expect!["f.sched:1:18: expected a parameter, a number or a dimension such as `in.extent(0)`, found `)`"],
    );
    check("f: specialize(p + 1)", expect!["f.sched:1:20: expected a comparison, found `)`"]);
    check(
        "f: specialize((p > 1) + 1 > 2)",
        expect!["f.sched:1:27: expected a number, and not a condition, before this, found `>`"],
    );
    check(
        "f.specialize(p > 3 && ): parallel(y)",
        expect!["f.sched:1:23: expected a parameter, a number or a dimension such as `in.extent(0)`, found `)`"],
    );
    check("f: specialize(p = 3)", expect!["f.sched:1:17: expected `)`, found `=`"]);
    check(
        &format!("f: specialize({}p)", "(".repeat(100_000)),
        expect!["f.sched:1:271: expected a condition with less parentheses, found `(`"],
    );
}

#[test]
fn all_mistakes_at_once() {
    let text = "f: split(x, xo) parallel(yo)
  vectorize(x, 8
  # a comment
  unrol(x, 2)
g h: compute_rot() compute_root()
k: compute_at(f, )";
    check(
        text,
        expect![[r#"
        f.sched:1:15: expected `,`, found `)`
        f.sched:4:3: expected `)`, found `unrol`
        f.sched:5:3: expected `:` after `g`, found `h`
        f.sched:5:6: expected a directive, found `compute_rot`; did you mean `compute_root`?
        f.sched:6:18: expected the name of a loop, found `)`"#]],
    );
}

/// After a mistake inside of parentheses within parentheses, reading goes on behind the outermost of them.
#[test]
fn one_mistake_is_one_error() {
    let text = "f: specialize((p >) && (q > 3)) vectorise(x)
  # a comment (with ) parentheses
  compute_with(g, x, (\")\")) unrol(x, 2)
g: specialize(in.extent(x) == 8 # not closed )
  splt(x)
g.specialize((p >) || q): compute_rot()";
    check(
        text,
        expect![[r#"
            f.sched:1:19: expected a parameter, a number or a dimension such as `in.extent(0)`, found `)`
            f.sched:1:33: expected a directive, found `vectorise`; did you mean `vectorize`?
            f.sched:3:22: expected NoAlign, AlignStart or AlignEnd, found `(`
            f.sched:3:29: expected a directive, found `unrol`; did you mean `unroll`?
            f.sched:4:25: expected the number of a dimension, found `x`
            f.sched:5:3: expected a directive, found `splt`; did you mean `split`?
            f.sched:6:18: expected a parameter, a number or a dimension such as `in.extent(0)`, found `)`
            f.sched:6:27: expected a directive, found `compute_rot`; did you mean `compute_root`?"#]],
    );
}

/// Errors of arguments name the values that each may have.
#[test]
fn arguments() {
    for (text, expected) in [
        ("f: partition(x, Sometimes)", expect!["f.sched:1:17: expected Auto, Never or Always, found `Sometimes`"]),
        (
            "f: compute_with(g, x, AlignMiddle)",
            expect!["f.sched:1:23: expected NoAlign, AlignStart or AlignEnd, found `AlignMiddle`"],
        ),
        ("f: split(x, xo, xi, -)", expect!["f.sched:1:22: expected a number, found `)`"]),
        ("f: prefetch(8, x, y)", expect!["f.sched:1:13: expected the name of a Func or an image, found `8`"]),
        (
            "f: prefetch(in, x, y, 2, Guard)",
            expect!["f.sched:1:26: expected GuardWithIf, Clamp or NonFaulting, found `Guard`"],
        ),
        ("f: monoid(least)", expect!["f.sched:1:11: expected a number, `lowest` or `highest`, found `least`"]),
        ("f: specialize(in.extent(x) == 8)", expect!["f.sched:1:25: expected the number of a dimension, found `x`"]),
        ("f: specialize(invalid(p))", expect!["f.sched:1:23: expected a message in quotes, found `p`"]),
        ("f: specialize(f.in(g) > 8)", expect!["f.sched:1:23: expected `.min(`, `.extent(` or `.stride(`, found `>`"]),
    ] {
        check(text, expected);
    }
    let error = "p > 3 q".parse::<Condition>().unwrap_err();
    expect!["condition:1:7: expected the end of the condition, found `q`"].assert_eq(&error.to_string());
}
