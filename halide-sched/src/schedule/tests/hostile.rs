//! Texts and values that nobody writes: deep, long, or of arguments that no word takes. None may hang or overflow the
//! stack.

use super::super::*;
use super::check;

/// Checks the one error of a text.
fn refused(text: &str, message: &str, help: &str) {
    let errors = Schedule::parse(text, "f.sched").expect_err("not a schedule").0;
    let found = (errors[0].message.as_str(), errors[0].help.as_deref());
    assert_eq!(found, (message, Some(help)));
}

/// Reading, building and printing a wrapper of wrappers takes time that grows with its name, not with two to the number
/// of wrappers.
#[test]
fn wrappers_of_wrappers_take_linear_time() {
    let text = format!("f{}: compute_root()", ".in()".repeat(40));
    let mut built = Schedule::new();
    let mut made = built.func("f");
    for _ in 0..40 {
        made = made.in_all();
    }
    made.compute_root();
    check(&built, &text, &text);
    let nested = format!("{}f{}: compute_root()", "g.in(".repeat(40), ")".repeat(40));
    let read: Schedule = nested.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.to_string(), nested);
}

#[test]
fn wrappers_beyond_the_limit_are_refused() {
    for text in [
        format!("{}: compute_root()", "f.in(".repeat(100_000)),
        format!("{}: compute_root()", "f.clone_in(g, ".repeat(100_000)),
        format!("{}: compute_root()", "f.rfactor(u).in(".repeat(100_000)),
        format!("f{}: compute_root()", ".in()".repeat(100_000)),
        format!("f.in({}): compute_root()", vec!["f.in()"; 100].join(", ")),
        format!("f: compute_at({}f, x)", "f.in(".repeat(100_000)),
        format!("f: specialize({}f.in(g).extent(0) > 1)", "f.in(".repeat(100_000)),
    ] {
        let message = "the name of this Func has more than 64 wrappers in it";
        refused(&text, message, "make fewer wrappers of wrappers");
    }
}

#[test]
fn specialisations_beyond_the_limit_are_refused() {
    let text = format!("f{}: parallel(y)", ".specialize(p)".repeat(100_000));
    let message = "`f` has more than 64 specialisations in each other";
    refused(&text, message, "join their conditions by `&&`");
}

/// Names that the builder makes beyond the limit of the text are printed in quotes.
#[test]
fn names_beyond_the_limit_survive() {
    let mut built = Schedule::new();
    let mut made = built.func("my f");
    for _ in 0..200 {
        made = made.in_all();
    }
    made.compute_root();
    assert_eq!(built.to_string().parse().as_ref(), Ok(&built));
    let mut name = "f".to_string();
    for _ in 0..200 {
        name = wrapper_name("g", &[name]);
    }
    let mut built = Schedule::new();
    built.func("f").in_(name.as_str()).compute_root().update(0).parallel("y");
    built.func(name).compute_root();
    assert_eq!(built.to_string().parse().as_ref(), Ok(&built));
}

#[test]
fn conditions_of_too_many_operators_are_refused() {
    for (before, between, after) in
        [("", "p && ", "p"), ("", "p || ", "p"), ("", "1 + ", "1 > 0"), ("1 > ", "2 * ", "p")]
    {
        let text = |count: usize| format!("f: specialize({before}{}{after})", between.repeat(count));
        let message = "the condition before this has more than 256 operators";
        refused(&text(300_000), message, "give its value as a `bool` parameter");
        let most: Schedule = text(200).parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(most.to_string().parse().as_ref(), Ok(&most));
    }
}

/// The printer takes no more parentheses than the reader was given.
#[test]
fn conditions_are_printed_without_superfluous_parentheses() {
    for text in [
        "!!p",
        "a && b || c",
        "!!(a == 1)",
        "a || b && !c || d > 1 && e",
        "!(a && b)",
        "(a || b) && c",
        "!invalid(\"m\")",
    ] {
        let condition: Condition = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
        assert_eq!(condition.to_string(), text);
    }
    for text in [format!("{}p", "!".repeat(200)), format!("{}p{}", "p && (q || ".repeat(120), ")".repeat(120))] {
        let condition: Condition = text.parse().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(condition.to_string(), text);
        assert_eq!(condition.to_string().parse(), Ok(condition));
    }
}

/// A mark of blocks, threads or lanes with a factor, which no word says, is the split and the mark that it stands for.
#[test]
fn gpu_marks_of_parts_survive() {
    for kind in [LoopKind::GpuBlocks, LoopKind::GpuThreads, LoopKind::GpuLanes] {
        let mut schedule = Schedule::new();
        let verb = Verb::Mark { kind, var: "x".to_string(), factor: Some(Amount::Const(8)), tail: Tail::RoundUp };
        schedule.push(Directive { subject: Subject::func("f"), verb, at: None });
        assert_eq!(schedule.to_string().parse().as_ref(), Ok(&schedule), "{schedule}");
    }
}

/// Long lists are read and printed in about linear time.
#[test]
fn long_lists_are_read_and_printed() {
    let lines: Vec<String> = (0..20_000).map(|i| format!("f{i}.in(g): compute_root()")).collect();
    let text = lines.join("\n");
    let read: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.to_string(), text);
    let lines: Vec<String> = (0..20_000).map(|i| format!("f.specialize(p == {i}): parallel(y)")).collect();
    let text = lines.join("\n");
    let read: Schedule = text.parse().unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(read.to_string(), text);
}
