//! Mistakes of procs as text: each with its line and column, and all of a text at once.

use halide_seq::{Place, Proc};

fn mistakes(text: &str) -> String {
    Proc::parse(text).unwrap_err().to_string()
}

#[test]
fn every_mistake_of_a_text_is_told_at_once() {
    let text = "
def f(x):
    y = x +
    z = (x
def g(a, a):
    return a ?
def h(x):
    y = 1
";
    assert_eq!(
        mistakes(text),
        "3:12: expected an expression, found the end of the line\n\
         4:9: the bracket is never closed\n\
         5:10: `a` is bound twice here\n\
         6:14: `?` begins nothing that a proc may contain\n\
         9:1: `h` ends without `return`\n  help: end it with `return value`, in both arms of an `if`"
    );
}

#[test]
fn mistakes_of_types() {
    for (text, expected) in [
        (
            "def f(x): return 12 if -100 else 24",
            "1:24: expected Bool, found a number\n  help: compare it with something",
        ),
        ("def f(x): return sum(3)", "1:22: expected [a], found a number"),
        ("def f(x): return sum(x) + x", "1:27: expected a number, found [a]"),
        (
            "def f(x): return x(x)",
            "1:18: the type would contain itself: (a) -> b\n  help: a function that takes itself, or a sequence in itself, has no type",
        ),
        ("def f(x): return map(lambda a, b: a, x)", "1:22: expected (a) -> b, found (c, d) -> c"),
        ("def f(x, y): return x[y] + x[0.5]", "1:30: expected an integer, found a real number"),
        ("def f(x): return gather(x)", "1:18: `gather` takes 2 arguments, 1 given"),
        ("def f(x):\n  if x > 0: return 1\n  return True", "3:10: expected a number, found Bool"),
        (
            "def f(x): return f(x) + 1",
            "1:18: `f` calls itself, and uses the result\n  help: return the call itself, and pass what is still to be done with it",
        ),
        (
            "def f(x): return lambda a: a + x",
            "1:5: functions are no data: (a) -> a\n  help: call the function here, or pass it to a primitive",
        ),
        ("def f(x): return 3(x)", "1:18: expected (a) -> b, found a number"),
        ("def f(x): return y", "1:18: `y` is not defined"),
        ("def f(vals): return sum(valz)", "1:25: `valz` is not defined\n  help: did you mean `vals`?"),
    ] {
        assert_eq!(mistakes(text), expected, "{text}");
    }
}

/// Texts that nobody writes by hand end with a mistake, not with the stack.
#[test]
fn long_and_deep_texts() {
    let chain = format!("def f(x): return x{}", " + x".repeat(100_000));
    assert!(mistakes(&chain).contains("too many operators"), "{}", mistakes(&chain));
    let deep = format!("def f(x): return {}x{}", "(".repeat(5000), ")".repeat(5000));
    assert!(mistakes(&deep).contains("at most 64 nested brackets"));
    let signs = format!("def f(x): return {}x", "-".repeat(5000));
    assert!(mistakes(&signs).contains("at most 64 nested brackets"));
    let calls = format!("def f(x): return x{}", "[0]".repeat(100_000));
    assert!(mistakes(&calls).contains("too many operators"));
    let doubled = (1..60).map(|k| format!("    a{k} = (a{}, a{})\n", k - 1, k - 1)).collect::<String>();
    assert!(mistakes(&format!("def f(a0):\n{doubled}    return a59\n")).contains("more than 4096 parts"));
    let pairs = format!("def pair(a): return a, a\ndef f(x): return {}x{}", "pair(".repeat(20), ")".repeat(20));
    assert!(mistakes(&pairs).contains("more than 4096 parts"));
    let mut defs = "def f0(x): return x + 1\n".to_string();
    (1..2000).for_each(|k| defs += &format!("def f{k}(x): return f{}(x) * 2\n", k - 1));
    let proc = Proc::parse(&defs).unwrap();
    for place in [Place::host(), Place::cpu(1)] {
        let error = place.call(&proc, [3.into()]).unwrap_err().to_string();
        assert!(error.contains("more than 64 calls"), "{error}");
    }
}
