//! Explanations of what demanded each edge of a region, as text.

use halide::prelude::*;

/// The text with the places in this file replaced by the number of the line from `first` on.
fn explained(compiled: &Compiled, func: &str, first: u32) -> String {
    let text = compiled.explain_bounds(func).unwrap();
    let mut parts = text.split("halide/tests/it/explain_bounds.rs:");
    let mut all = parts.next().unwrap_or_default().to_string();
    for part in parts {
        let (line, rest) = part.split_once(':').unwrap();
        let (column, rest) = rest.split_once(' ').unwrap();
        assert!(column.parse::<u32>().is_ok());
        all += &format!("L{} {rest}", line.parse::<u32>().unwrap() - first);
    }
    all
}

#[test]
fn each_edge_names_its_consumer() {
    let input = ImageParam::new("input", U16, 2);
    let (x, y) = vars!(x, y);
    let (mut a, mut b, mut c) = (Func::new("a"), Func::new("b"), Func::new("c"));
    let first = line!();
    a[(x, y)] = input[(x, y)];
    b[(x, y)] = a[(x - 2, y)] + a[(x + 1, y)];
    c[(x, y)] = a[(x, y + 3)] + b[(x, y)] + b[(x + 1, y)];
    let r = RDom::named("r", [(0, 5)]);
    c[(r.x, 0)] += a[(r.x * 2, 7)];
    let pipeline = Pipeline::new([&c]).unwrap();
    let compile = |text: &str| pipeline.compile(&text.parse().unwrap(), &Target::host()).unwrap();
    let compiled = compile("a: compute_root()\n b: compute_at(c, y)");
    let whole = "`a` over the whole run
  x from c.x.min - 2: the definition of `b` at L2 reads a(x - 2, y)
  x to b.x.max + 1: the definition of `b` at L2 reads a(x + 1, y)
    or 8: update 0 of `c` at L5 reads a(r.x * 2, 7)
  y from b.y.min: the definition of `b` at L2 reads a(x - 2, y)
  y to c.y.max + 3: the definition of `c` at L3 reads a(x, y + 3)
    or 7: update 0 of `c` at L5 reads a(r.x * 2, 7)
";
    assert_eq!(explained(&compiled, "a", first), whole);
    let b = explained(&compiled, "b", first);
    let (run, row) = b.split_once("`b` per iteration of c.y\n").unwrap();
    assert!(
        run.starts_with("`b` over the whole run\n  x from c.x.min: the definition of `c` at L3 reads b(x, y)\n"),
        "{b}"
    );
    assert!(row.contains("x to c.x.max + 1: the definition of `c` at L3 reads b(x + 1, y)\n"), "{b}");
    assert!(row.contains("y from c.y: the definition of `c` at L3 reads b(x, y)\n"), "{b}");
    let c = explained(&compiled, "c", first);
    assert!(
        c.starts_with("`c` over the whole run\n  x from c.dim0.min: the caller asks for it: `c` is an output\n"),
        "{c}"
    );
    assert!(c.contains("\n    or 4: update 0 of `c` at L5 reads c(r.x, 0)\n"), "{c}");
    assert_eq!(
        compiled.explain_bounds("d").unwrap_err().to_string(),
        "the pipeline has no Func `d`; its Funcs are a, b, c"
    );
    assert_eq!(
        compile("a: compute_root()").explain_bounds("b").unwrap_err().to_string(),
        "`b` has no region: the schedule leaves it inline, so it is substituted where it is used; ask for a Func that is computed"
    );
}
