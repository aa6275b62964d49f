//! Numbers with names, and arithmetic of numbers.

use super::super::*;
use expect_test::{Expect, expect};

fn reads(text: &str, canonical: &str) {
    let schedule = Schedule::parse(text, "f.sched").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(schedule.to_string(), canonical);
}

fn refused(text: &str, expected: Expect) {
    let errors = Schedule::parse(text, "f.sched").expect_err("not a schedule");
    expected.assert_eq(&errors.to_string());
}

#[test]
fn names_stand_for_numbers() {
    reads(
        "let tile = 32  let rows = tile * 2 + 8 / 3\n\
         f: split(x, xo, xi, tile) unroll(y, rows)\n\
         let rows2 = -(rows - 70) % 5\n\
         g: align_storage(x, tile) set_estimates([-tile, 2 * tile], [rows2, 1])",
        "f: split(x, xo, xi, 32) unroll(y, 66)\ng: align_storage(x, 32) set_estimates([-32, 64], [4, 1])",
    );
}

#[test]
fn arithmetic_stands_wherever_a_number_may() {
    reads(
        "let n = 4 f: vectorize(x, n * 2) tile(x, y, xo, yo, xi, yi, (n + 4), n) fold_storage(y, n - 1)\n\
         g: tile([x, y], [xo, yo], [xi, yi], [n * n, n / 2]) monoid([-n, n]) prefetch(f, y, y, n)",
        "f: vectorize(x, 8) split(x, xo, xi, 8) split(y, yo, yi, 4) reorder(xi, yi, xo, yo) fold_storage(y, 3)\n\
         g: split(x, xo, xi, 16) split(y, yo, yi, 2) reorder(xi, yi, xo, yo) monoid([-4, 4]) prefetch(f, y, y, 4)",
    );
}

#[test]
fn a_name_may_stand_for_a_parameter_or_natural_lanes() {
    reads(
        "let lanes = natural let n = rows f: vectorize(x, lanes) split(y, yo, yi, n) specialize(n > 8) serial(x)",
        "f: vectorize(x, natural) split(y, yo, yi, rows) specialize(rows > 8) serial(x)",
    );
}

#[test]
fn conditions_know_names_of_numbers() {
    reads(
        "let least = 16\nf.specialize(in.extent(0) >= least && \"least\" > 2 * least): serial(x)",
        "f.specialize(in.extent(0) >= 16 && least > 2 * 16): serial(x)",
    );
}

#[test]
fn a_func_may_be_called_let() {
    reads("let: compute_root()\nlet.update(0): serial(x)", "let: compute_root()\nlet.update(0): serial(x)");
    reads("let let = 3 let: unroll(x, let)", "let: unroll(x, 3)");
}

#[test]
fn quotes_keep_a_parameter() {
    reads("let n = 4 f: split(x, xo, xi, \"n\")", "f: split(x, xo, xi, n)");
}

#[test]
fn numbers_can_be_set_from_outside() {
    let text = "let tile = 32 let rows = tile / 4\nf: split(x, xo, xi, tile) unroll(y, rows)";
    let set = Schedule::parse_with(text, "f.sched", [("tile", 64)]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(set.to_string(), "f: split(x, xo, xi, 64) unroll(y, 16)");
    let natural = Schedule::parse_with("let v = 8 f: vectorize(x, v)", "f.sched", [("v", Amount::Natural)]);
    assert_eq!(natural.map(|s| s.to_string()).as_deref(), Ok("f: vectorize(x, natural)"));
    let refused = |text: &str, expected: Expect| {
        let errors = Schedule::parse_with(text, "f.sched", [("tiel", 64)]).expect_err("there is no such number");
        expected.assert_eq(&errors.to_string());
    };
    refused(text, expect!["f.sched:1:1: the schedule defines no number `tiel`; did you mean `tile`?"]);
    refused("let n = 3", expect!["f.sched:1:1: the schedule defines no number `tiel`; it defines n"]);
    refused("", expect!["f.sched:1:1: the schedule defines no number `tiel`; add `let tiel = NUMBER` to its text"]);
}

#[test]
fn mistakes_in_numbers() {
    refused(
        "let n = 4\nlet n = 5",
        expect!["f.sched:2:5: the number `n` is defined twice, first at f.sched:1:5; give the second one another name"],
    );
    refused("let n =\nf: serial(x)", expect!["f.sched:2:1: expected a number, found `f`"]);
    refused("let n = 8 / (4 - 4)", expect!["f.sched:1:11: `8 / 0` is no number; divide by another number"]);
    refused(
        "let n = 9223372036854775807 + 1",
        expect!["f.sched:1:29: the result does not fit 64 bits; use smaller numbers"],
    );
    refused("let n = 4\nf: unroll(x, n n)", expect!["f.sched:2:16: expected `)`, found `n`"]);
    refused("f: align_storage(x, n) let n = 4", expect!["f.sched:1:21: expected a number, found `n`"]);
    refused(
        "let v = natural f: align_storage(x, v)",
        expect!["f.sched:1:37: expected a number, found `v`, which stands for `natural`; define it as a number"],
    );
    refused("let n = 4 f: unroll(x, n * p)", expect!["f.sched:1:28: expected a number, found `p`"]);
    refused("let n = 4 f: unroll(x, (n", expect!["f.sched:1:26: expected `)`, found the end"]);
    refused("let 4 = n", expect!["f.sched:1:5: expected `:` after `let`, found `4`"]);
    refused("let n = 4 f.update(n): serial(x)", expect!["f.sched:1:20: expected the number of an update, found `n`"]);
}

/// Parentheses and signs are read as deep as the stack allows, and no deeper.
#[test]
fn deep_numbers_are_refused() {
    for text in [format!("let n = {}4", "-(".repeat(100_000)), format!("f: unroll(x, {}4", "(".repeat(100_000))] {
        let errors = Schedule::parse(&text, "f.sched").expect_err("not a schedule").0;
        assert!(errors[0].message.starts_with("expected a number with fewer parentheses and signs"), "{}", errors[0]);
    }
}
