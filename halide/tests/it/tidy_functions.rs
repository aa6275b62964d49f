//! Rule for the length of functions.

use crate::tidy::sources;
use crate::tidy_lexer::bare;

/// The most lines of code in a function, from its name to its end. Comments and what is quoted do not count.
const MOST_LINES: usize = 80;

/// Functions that are longer, one each by its file, name and number of lines, with the reason: matches that say one
/// thing of each case of a type.
const EXCEPTIONS: [(&str, &str, usize, &str); 2] = [
    ("halide-core/src/interp/error.rs", "fmt", 94, "a sentence for each end of a run"),
    ("halide-sched/src/lower/gpu/offload/error.rs", "texts", 114, "a sentence for each reason that there is no kernel"),
];

/// A function with a body; a name that a macro gives is its parameter, `$name`.
struct Function<'t> {
    name: &'t str,
    /// The line of its name, from 1.
    line: usize,
    /// Lines of code.
    lines: usize,
}

/// The functions of a file without comments and quoted text.
fn functions(bare: &str) -> Vec<Function<'_>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut all = Vec::new();
    for (at, _) in bare.match_indices("fn ").filter(|(at, _)| !bare[..*at].ends_with(is_part)) {
        let rest = bare[at + 3..].trim_start();
        let in_name = |c: char| is_part(c) || c == '$';
        let name = &rest[..rest.find(|c| !in_name(c)).unwrap_or(rest.len())];
        if let Some(end) = body_end(rest).filter(|_| !name.is_empty()) {
            let line = bare[..at].matches('\n').count() + 1;
            let lines = 1 + rest[..end].lines().skip(1).filter(|l| !l.trim().is_empty()).count();
            all.push(Function { name, line, lines });
        }
    }
    all
}

/// The end of the body of a function that begins at its name; `None` if it has none.
fn body_end(text: &str) -> Option<usize> {
    let (mut round, mut curly) = (0, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' => round += 1,
            ')' | ']' => round -= 1,
            ';' if round == 0 && curly == 0 => return None,
            '{' => curly += 1,
            '}' => {
                curly -= 1;
                if curly == 0 && round == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }
    None
}

#[test]
fn functions_are_short() {
    let (mut found, mut used, mut count) = (Vec::new(), Vec::new(), 0);
    for (path, text) in sources() {
        let bare = bare(&text);
        for Function { name, line, lines } in functions(&bare) {
            count += 1;
            if lines <= MOST_LINES {
                continue;
            }
            let is_it = |e: &&(&str, &str, usize, &str)| path == e.0 && name == e.1 && lines == e.2;
            match EXCEPTIONS.iter().find(is_it) {
                Some(exception) if !used.contains(exception) => used.push(*exception),
                _ => found.push(format!("{path}:{line}: {name} has {lines} lines")),
            }
        }
    }
    assert!(count > 5000, "only {count} functions were found");
    assert!(found.is_empty(), "longer than {MOST_LINES} lines; split them by what they do:\n{}", found.join("\n"));
    let idle: Vec<_> = EXCEPTIONS.iter().filter(|e| !used.contains(e)).collect();
    assert!(idle.is_empty(), "of another length by now; mend the list: {idle:?}");
}

#[test]
fn lines_of_code_are_counted() {
    let text = "fn $f() {}\nfn a();\nimpl B {\n    /// Doc.\n    fn c(x: [u8; 2]) -> fn(u8) {\n        // No.\n\n        \"{\n        \";\n        d()\n    }\n}\nfn e() {}\n";
    let bare = bare(text);
    let all: Vec<(&str, usize, usize)> = functions(&bare).iter().map(|f| (f.name, f.line, f.lines)).collect();
    assert_eq!(all, [("$f", 1, 1), ("c", 5, 5), ("e", 13, 1)]);
}
