//! Primitives that the language defines in itself.

use crate::module::Module;
use std::sync::OnceLock;

/// The prelude as text; each def may use those before it.
pub(crate) const TEXT: &str = "
def sum(x): return reduce(op_add, x, 0)
def product(x): return reduce(op_mul, x, 1)
def any(x): return reduce(op_or, x, False)
def all(x): return reduce(op_and, x, True)
def min(x): return reduce(op_min, x, x[0])
def max(x): return reduce(op_max, x, x[0])
def extrema(x): return min(x), max(x)
def indices(x): return range(length(x))
def enumerate(x): return zip(range(length(x)), x)
def argmin(x):
    def smaller((i, a), (j, b)): return (j, b) if b < a else (i, a)
    i, smallest = reduce(smaller, enumerate(x), (0, x[0]))
    return i
def argmax(x):
    def larger((i, a), (j, b)): return (j, b) if b > a else (i, a)
    i, largest = reduce(larger, enumerate(x), (0, x[0]))
    return i
def dot(x, y): return sum(map(op_mul, x, y))
def permute(x, index): return scatter(x, index, x)
def exclusive_scan(f, prefix, x):
    s = scan(f, x)
    return map(lambda i: prefix if i == 0 else f(prefix, s[i - 1]), indices(x))
def exclusive_rscan(f, prefix, x):
    s = rscan(f, x)
    return map(lambda i: prefix if i == length(x) - 1 else f(prefix, s[i + 1]), indices(x))
def shift(x, n, default):
    return map(lambda i: x[i + n] if 0 <= i + n < length(x) else default, indices(x))
def rotate(x, n): return map(lambda i: x[(i + n) % length(x)], indices(x))
def reverse(x): return map(lambda i: x[length(x) - 1 - i], indices(x))
def take(x, n): return map(lambda i: x[i], range(op_max(0, op_min(n, length(x)))))
def drop(x, n):
    first = op_max(0, op_min(n, length(x)))
    return map(lambda i: x[i + first], range(length(x) - first))
def evens(x): return map(lambda i: x[2 * i], range((length(x) + 1) / 2))
def odds(x): return map(lambda i: x[2 * i + 1], range(length(x) / 2))
def interleave2(x, y):
    n = op_min(length(x), length(y))
    return map(lambda i: x[i / 2] if i % 2 == 0 else y[i / 2], range(2 * n))
def adjacent_difference(x): return map(lambda i: x[i] if i == 0 else x[i] - x[i - 1], indices(x))
";

/// The module of the prelude.
pub(crate) fn module() -> &'static Module {
    static MODULE: OnceLock<Module> = OnceLock::new();
    // The text is a constant, and a test reads it: there is no mistake in it.
    MODULE.get_or_init(|| Module::parse(TEXT, None).unwrap_or_else(|mistakes| panic!("the prelude: {mistakes}")))
}
