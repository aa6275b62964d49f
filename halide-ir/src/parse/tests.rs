use super::*;
use crate::samples::*;
use crate::{BufId, Sym, print};

#[track_caller]
fn expr_round_trip(text: &str) {
    let e: Expr = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(e.to_string(), text);
}

#[track_caller]
fn expr_fails(text: &str, part: &str) {
    let e = text.parse::<Expr>().map(|e| e.to_string()).unwrap_err();
    assert!(e.to_string().contains(part), "{text}: {e}");
}

#[track_caller]
fn stmt_fails(text: &str, part: &str) {
    let e = text.parse::<Stmt>().map(|s| s.to_string()).unwrap_err();
    assert!(e.to_string().contains(part), "{text}: {e}");
}

#[test]
fn expressions_round_trip() {
    for text in [
        "L0 + L1 * (L2 - 3)",
        "L0 - (L1 - L2)",
        "-9223372036854775808",
        "-(L0 + 1)",
        "--L0",
        "!(t0:bool && t1:bool)",
        "t0:u8 << t1:i8 | 3u8",
        "L0 < L1 || L2 == 3 && t0:bool",
        "(L0 < 1) == (L1 < 2)",
        "select(L0 < 3, 1.5f32, -0.0f32)",
        "bits(f32, 0x7fc00000)",
        "1e300f64",
        "min(max(L0, 0), b2.extent1)",
        "f1.s0.d2.min@L3 + f1.d2.max@root",
        "p0:f32 * sqrt(fast_exp(p1:f32))",
        "int(b4:u8[L0]) + int(b4:u8(L0, -1))",
        "b4:u8()",
        "u16x8(ramp(L0, 2, 8)) + x8(1u16)",
        "b4:u8[ramp(L0, 1, 4) where ramp(L0, 1, 4) < x4(L1)]",
        "saturating(i8, t3:f32)",
        "reinterpret(u32, t3:f32)",
        "shuffle([t0:f32x4, x4(0.0f32)], [0, 5, 2, 7])",
        "rounding_halving_add(t0:u8, likely(t1:u8))",
        "div_to_zero(t0:u8, mod_to_zero(t1:u8, absd(t2:i8, t3:i8)))",
    ] {
        expr_round_trip(text);
    }
}

#[test]
fn text_may_be_written_by_hand() {
    let same = |a: &str, b: &str| assert_eq!(a.parse::<Expr>().unwrap(), b.parse::<Expr>().unwrap(), "{a}");
    same("ramp(L0,1,8)+3 // a comment\n", "ramp(L0, 1, 8) + x8(3)");
    same("blur.y#L0+blur#b2.min0", "L0 + b2.min0");
    same("\"a b\"#L0 * f#f1.d0.min@\"c d\"#L2", "L0 * f1.d0.min@L2");
    same("1+2*3", "7");
    same("select(t0:boolx4, 1u8, t1:u8)", "select(t0:boolx4, x4(1u8), x4(t1:u8))");
}

#[test]
fn mistakes_have_a_place_and_a_reason() {
    expr_fails("L0 +", "1:5: an expression is expected, not the end");
    expr_fails("L0\n + foo", "2:7: `foo` is neither a symbol nor a function");
    expr_fails("L0 + 3u16", "Add of int and u16");
    expr_fails("mod_to_zero(t1:i8, absd(t2:i8, t3:i8))", "ModToZero of i8 and u8");
    expr_fails("256u8", "256 does not fit its type");
    expr_fails("-1u8", "-1 does not fit");
    expr_fails("1.5u8", "1.5 does not fit");
    expr_fails("1bool", "`bool` is no type of a number");
    expr_fails("3foo", "`foo` is no type");
    expr_fails("9223372036854775808", "does not fit");
    expr_fails("1e999f64", "does not fit");
    expr_fails("foo(1)", "there is no function `foo`");
    expr_fails("min(1)", "`min` takes 2 operands and gets 1");
    expr_fails("pow(t0:f32)", "1 operands instead of 2");
    expr_fails("L0 < L1 < L2", "the end is expected, not `<`");
    expr_fails("b0[3]", "the type of b0 is not known");
    expr_fails("p0", "the type of p0 is not known");
    expr_fails("$0", "`$0` is not defined before");
    expr_fails("with($1 = L0, $1)", "`$0` is expected");
    expr_fails("x0(L0)", "a vector of no lanes");
    expr_fails("x70000(L0)", "a vector of no lanes");
    expr_fails("x4(ramp(L0, 1, 4))", "a broadcast of intx4");
    expr_fails("ramp(L0, 1, 1)", "a ramp of int by int in 1 lanes");
    expr_fails("shuffle([], [])", "a shuffle of nothing");
    expr_fails("bits(u8, 0x100)", "the bits of a u8");
    expr_fails("\"abc", "a string without an end");
    expr_fails("L0 @ 3", "unexpected character '@'");
    expr_fails("f#", "`#` without an id");
    expr_fails("", "an expression is expected");
    stmt_fails("b0[1] 3u8", "`=` is expected");
    stmt_fails("for L0 from 1 { }", "`extent` is expected, not `{`");
    stmt_fails("produce f0 { b0[1] = 3u8", "`}` is expected, not the end");
    stmt_fails("frobnicate", "a statement is expected");
    stmt_fails("}", "the end is expected");
    let program = |text: &str, part: &str| {
        let e = text.parse::<Program>().unwrap_err();
        assert!(e.to_string().contains(part), "{text}: {e}");
    };
    program("program lost", "a stage is expected");
    program("program flat loop x#L1", "`L0`, the next row");
    program("program flat loop L0", "a name with an id is expected");
    program("program flat fault fault0 = oops", "there is no fault `oops`");
    program("program flat", "a row of a table or `body`");
    program("program flat body { } more", "the end is expected");
    program("program flat buffer b#b0: u8 dims -1 internal", "a number that fits");
}

/// A row of signs is read as deep as it is long, and prints no deeper. (Found by libFuzzer on `ir_text`.)
#[test]
fn rows_of_signs_read_again() {
    for text in
        [format!("{}L0", "-".repeat(299)), format!("min(1, {}(L0 + 1))", "-".repeat(296)), "-(5) - -(-5)".into()]
    {
        let e: Expr = text.parse().unwrap();
        assert_eq!(e.to_string().parse::<Expr>().unwrap(), e, "{text}");
    }
}

#[test]
fn deep_text_is_refused_and_not_a_crash() {
    let deep = |open: &str, close: &str, n| format!("{}L0{}", open.repeat(n), close.repeat(n));
    expr_fails(&deep("(", ")", 100_000), "nested too deeply");
    expr_fails(&deep("!", "", 100_000), "nested too deeply");
    expr_fails(&deep("min(1, ", ")", 100_000), "nested too deeply");
    assert!(deep("min(1, -", ")", 140).parse::<Expr>().is_ok());
    let stmt = |n: usize| format!("{} count c0 += 1 {}", "produce f0 { ".repeat(n), "}".repeat(n));
    stmt_fails(&stmt(100_000), "nested too deeply");
    assert!(stmt(790).parse::<Stmt>().is_ok());
    let both = stmt(790).replace("+= 1", &format!("+= {}", deep("min(1, -", ")", 140)));
    assert!(both.parse::<Stmt>().is_ok());
    stmt_fails(&"let t0 = 1 scope { ".repeat(100_000), "nested too deeply");
    stmt_fails(&"{".repeat(100_000), "nested too deeply");
}

/// A row of operators is a tree as deep as it is long, which neither reading nor printing follows by recursion.
#[test]
fn long_rows_of_operators_read_again() {
    for row in ["L0 + ", "L0 * 2 - ", "L0 < 1 && "] {
        let e: Expr = format!("{}L0 < 1", row.repeat(100_000)).parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(e.to_string().parse::<Expr>().as_ref(), Ok(&e));
    }
    let mixed = format!("{}L0{}", "(3 * ".repeat(140), " + L0 - 1) % 7".repeat(140));
    let e: Expr = mixed.parse().unwrap();
    assert_eq!(e.to_string(), mixed);
}

#[test]
fn statements_keep_their_exact_structure() {
    let store = || "b0[0] = 1u8".parse::<Stmt>().unwrap();
    let lets = |body| Stmt::Let { bindings: vec![(Sym::Temp(0), "1".parse().unwrap())], body: Box::new(body) };
    for s in [
        Stmt::Block(vec![]),
        Stmt::Block(vec![store()]),
        Stmt::Block(vec![store(), store()]),
        Stmt::Block(vec![Stmt::Block(vec![store(), store()]), Stmt::Block(vec![]), store()]),
        Stmt::Block(vec![lets(store()), store()]),
        Stmt::Block(vec![store(), lets(store())]),
        Stmt::Block(vec![Stmt::Free { buf: BufId(3) }, store()]),
        lets(lets(Stmt::Block(vec![]))),
        lets(Stmt::Block(vec![store()])),
        lets(Stmt::Block(vec![lets(store()), lets(store())])),
        crate::build::loop_of(crate::For {
            id: crate::LoopId(0),
            kind: crate::ForKind::Serial,
            min: crate::build::int(0),
            extent: crate::build::int(9),
            condition: Some(crate::any_lane::any_lane(&"ramp(0, 1, 4) < x4(2)".parse().unwrap())),
            body: store(),
        }),
        Stmt::Produce { func: halide_core::ids::FuncId(0), body: Box::new(Stmt::Block(vec![store()])) },
    ] {
        let text = s.to_string();
        assert_eq!(text.parse::<Stmt>().as_ref(), Ok(&s), "{text}");
    }
}

#[test]
fn samples_round_trip() {
    for p in [blur_bounded(true), blur_shaped(true), blur_final()] {
        let text = p.to_string();
        let back: Program = text.parse().unwrap_or_else(|e| panic!("{text}\n{e}"));
        assert_eq!(back, p);
        let body = print::stmt_in(&p.body, &p);
        assert_eq!(stmt_in(&body, &p).unwrap(), p.body);
    }
    let p = blur_shaped(false);
    let e: Expr = "b0:u16[L0 + 1]".parse().unwrap();
    assert_eq!(expr_in(&print::expr_in(&e, &p), &p).unwrap(), e);
    assert_eq!(expr_in("input#b0[L0 + 1]", &p).unwrap(), e);
}

#[test]
fn shared_parts_stay_shared() {
    let mut e: Expr = "L0 + L1".parse().unwrap();
    for _ in 0..60 {
        e = crate::build::min(crate::build::add(e.clone(), "L2".parse().unwrap()), e);
    }
    let text = e.to_string();
    let back: Expr = text.parse().unwrap();
    assert_eq!((back.to_string(), back.structural_hash()), (text, e.structural_hash()));
}
