//! Schemes, as inferred and as printed.

use halide_seq::Proc;

fn schemes(text: &str) -> Vec<String> {
    let proc = Proc::parse(text).unwrap();
    proc.schemes().into_iter().map(|(name, scheme)| format!("{name}: {scheme}")).collect()
}

#[test]
fn schemes_of_a_sparse_product() {
    let text = "
    def spmv_csr(vals, cols, x):
        def spvv(Ai, j):
            z = gather(x, j)
            return sum(map(lambda Aij, xj: Aij * xj, Ai, z))
        return map(spvv, vals, cols)";
    // `x` belongs to the def around, so its elements are of one type for all uses of `spvv`.
    assert_eq!(schemes(text), ["spvv: ([a], [Int]) -> a", "spmv_csr: ([[a]], [[Int]], [a]) -> [a]"]);
    let alone = "
    def spvv(Ai, j, x):
        return sum(map(lambda Aij, xj: Aij * xj, Ai, gather(x, j)))";
    assert_eq!(schemes(alone), ["spvv: ([a], [Int], [a]) -> a"]);
}

#[test]
fn defs_have_a_type_for_each_use() {
    let text = "
def twice(f, x): return f(f(x))
def both(a, b): return twice(lambda x: x + 1, a), twice(lambda x: x * 0.5, b)";
    assert_eq!(schemes(text), ["twice: ((a) -> a, a) -> a", "both: (a, b) -> (a, b)"]);
}

#[test]
fn types_of_primitives_and_prelude() {
    for (text, scheme) in [
        ("def f(x): return x", "(a) -> a"),
        ("def f(x, y): return x + y", "(a, a) -> a"),
        ("def f(x): return x < 2", "(a) -> Bool"),
        ("def f(x): return sum(x)", "([a]) -> a"),
        ("def f(x): return argmin(x)", "([a]) -> Int"),
        ("def f(x): return scan(op_add, x)", "([a]) -> [a]"),
        ("def f(x, y): return zip(x, y, x)", "([a], [b]) -> [(a, b, a)]"),
        ("def f(x): return unzip(x)", "([(a, b)]) -> ([a], [b])"),
        ("def f(x): return map(lambda (a, b, c): a, x)", "([(a, b, c)]) -> [a]"),
        ("def f(x): return filter(lambda a: a < 3, x)", "([a]) -> [a]"),
        ("def f(n): return [i * 0.5 for i in map(float32, range(n))]", "(Int) -> [Float]"),
        ("def f(x): return [[a + 1 for a in row] for row in x]", "([[a]]) -> [[a]]"),
        ("def f(n): return f(n - 1) if n > 0 else n", "(a) -> a"),
        ("def f(x): return permute(x, map(int32, x))", "([a]) -> [a]"),
        ("def f(x, i): return x[i] if 0 <= i < length(x) else 0", "([a], Int) -> a"),
        ("def f(x): return 5000000000", "(a) -> Long"),
    ] {
        assert_eq!(Proc::parse(text).unwrap().scheme().to_string(), scheme, "{text}");
    }
}
