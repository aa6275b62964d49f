//! Values of procs: the interpreter of procs against machine code, the evaluator and the interpreter of pipelines.

use halide::prelude::Engine;
use halide_seq::{Data, Datum, Error, FaultKind, Nest, Place, Proc};

/// The value of a proc everywhere.
pub(crate) struct Everywhere {
    text: String,
    proc: Proc,
    /// A place for each way of running it, with the proc's nest.
    places: Vec<(Place, Engine, Proc)>,
}

impl Everywhere {
    fn new(text: &str) -> Everywhere {
        let proc = Proc::parse(text).unwrap_or_else(|mistakes| panic!("{text}\n{mistakes}"));
        let nests = [[Nest::Core, Nest::Seq], [Nest::Core, Nest::Simd], [Nest::Simd, Nest::Seq]];
        let mut places = Vec::new();
        for engine in [Engine::Interp, Engine::Eval, Engine::default()] {
            places.extend(nests.iter().map(|nest| (Place::engine(engine, 2), engine, proc.nest(*nest))));
        }
        Everywhere { text: text.to_string(), proc, places }
    }

    /// The proc on each engine, with one nest.
    pub(crate) fn one_of_each(text: &str, number: u64) -> Everywhere {
        let mut everywhere = Everywhere::new(text);
        let mut place = 0;
        everywhere.places.retain(|_| {
            place += 1;
            place % 3 == number % 3
        });
        everywhere
    }

    /// The value at `arguments` on every place, which must be one; or that no pipeline says the proc; or the
    /// interpreter's fault. That need not be found of what no result needs: pipelines compute on demand.
    pub(crate) fn outcome(&self, arguments: &[Data]) -> Result<Datum, String> {
        let (place, _, proc) = &self.places[0];
        match place.report(proc, arguments.to_vec()) {
            Err(Error::Fault(fault)) if matches!(*fault.kind, FaultKind::Unsupported(_)) => Err(fault.to_string()),
            _ => match Place::host().call(&self.proc, arguments.to_vec()) {
                Ok(_) => self.value(arguments),
                Err(error) => Err(error.to_string()),
            },
        }
    }

    /// The value at `arguments` on every place, which must be one.
    fn value(&self, arguments: &[Data]) -> Result<Datum, String> {
        let expected = Place::host().call(&self.proc, arguments.to_vec());
        for (place, engine, proc) in &self.places {
            match (&expected, &place.call(proc, arguments.to_vec())) {
                (Ok(expected), Ok(found)) => assert_eq!(found.datum(), expected.datum(), "{}\n{engine:?}", self.text),
                (Err(expected), Err(Error::Required { message })) => assert_eq!(*message, expected.to_string()),
                (Err(_), Err(_)) => {}
                (expected, found) => {
                    panic!("{}\n{engine:?}\nexpected {expected:?}\nfound {found:?}", self.text);
                }
            }
        }
        expected.map(|data| data.datum()).map_err(|error| error.to_string())
    }
}

fn value(text: &str, arguments: &[Data]) -> Result<Datum, String> {
    Everywhere::new(text).value(arguments)
}

fn ints(values: &[i32]) -> Data {
    Data::values(values).unwrap()
}

#[test]
fn a_map() {
    let text = "def axpy(a, x, y): return [a * xi + yi for xi, yi in zip(x, y)]";
    let value = value(text, &[3.into(), ints(&[1, 2]), ints(&[10, 20])]).unwrap();
    assert_eq!(value, ints(&[13, 26]).datum());
}

#[test]
fn a_sparse_product() {
    let text = "
    def spmv_csr(vals, cols, x):
        def spvv(Ai, j):
            z = gather(x, j)
            return sum(map(lambda Aij, xj: Aij * xj, Ai, z))
        return map(spvv, vals, cols)";
    let offsets = [0, 2, 4, 7, 9];
    let vals = Data::rows(ints(&[1, 7, 2, 8, 5, 3, 9, 6, 4]), &offsets).unwrap();
    let cols = Data::rows(ints(&[0, 1, 1, 2, 0, 2, 3, 1, 3]), &offsets).unwrap();
    let value = value(text, &[vals, cols, ints(&[1, 2, 3, 4])]).unwrap();
    assert_eq!(value, ints(&[15, 28, 50, 28]).datum());
}

/// Every primitive and def of the prelude on sequences of 0, 1 and more elements.
#[test]
fn primitives_at_every_length() {
    let procs = [
        "def f(x): return sum(x), product(x), any(map(lambda a: a > 3, x)), all(map(lambda a: a > 3, x))",
        "def f(x): return indices(x), length(x)",
        "def f(x): return enumerate(x)",
        "def f(x): return unzip(zip(x, map(lambda a: a * 2, x)))",
        "def f(x): return scan(op_add, x)",
        "def f(x): return rscan(op_add, x)",
        "def f(x): return scan(lambda a, b: a, x)",
        "def f(x): return rscan(lambda a, b: a, x)",
        "def f(x): return exclusive_scan(op_add, 0, x)",
        "def f(x): return exclusive_rscan(op_add, 0, x)",
        "def f(x): return scan(lambda (a, b), (c, d): (a * c, b * c + d), zip(x, x))",
        "def f(x): return rscan(lambda (a, b), (c, d): (a * c, b * c + d), zip(x, x))",
        "def f(x): return reduce(lambda (a, b), c: (a * c, b * c + 1), x, (1, 2))",
        "def f(x): return sum(map(lambda a: 2, x)), sum(replicate(3, length(x)))",
        "def f(x): return scatter(replicate(7, length(x)), map(lambda a: 0, x), replicate(1, 4))",
        "def f(x): return shift(x, 1, 7), shift(x, -2, 7)",
        "def f(x): return rotate(x, 1), rotate(x, -2)",
        "def f(x): return reverse(x)",
        "def f(x): return take(x, 2), drop(x, 2)",
        "def f(x): return evens(x), odds(x), interleave2(x, reverse(x))",
        "def f(x): return adjacent_difference(adjacent_difference(x))",
        "def f(x): return replicate(3, length(x)), replicate((1, True), 2)",
        "def f(x): return filter(lambda a: a < 3, x)",
        "def f(x): return filter(lambda (i, a): i % 2 == 0, enumerate(filter(lambda a: a < 3, x)))",
        "def f(x): return sum(filter(lambda a: a < 3, x)), length(filter(lambda a: a < 3, x))",
        "def f(x): return scan(op_add, filter(lambda a: a < 3, x))",
        "def f(x): return rscan(op_add, filter(lambda a: a < 3, x))",
        "def f(x): return permute(x, map(lambda i: length(x) - 1 - i, indices(x)))",
        "def f(x): return scatter(x, map(lambda a: a % 3, x), range(3))",
        "def f(x): return gather(map(lambda a: a * a, x), reverse(indices(x)))",
        "def f(x): return [a - sum(x) for a in x]",
        "def f(x): return [sum([a * b for b in x]) for a in x]",
        "def f(x): return [[a * b for b in x] for a in range(3)]",
        "def f(x): return map(lambda a: sum(scan(op_add, map(lambda b: a + b, x))), x)",
        "def f(x): return [x[length(x) - 1] if a > 2 and length(x) > 0 else abs(a) for a in x]",
        "def f(x): return dot(x, x), [float32(a) / 3 for a in x]",
        "def g(a, n): return a if n <= 0 else g(a * 3 + 1, n - 1)\ndef f(x): return [g(a, a) for a in x]",
        "def g(a, b): return (a, b) if b == 0 else g(b, a % b)\ndef f(x): return [g(a, 12) for a in x]",
    ];
    for text in procs {
        let everywhere = Everywhere::new(text);
        for length in [0, 1, 2, 3, 7, 16, 33] {
            let x: Vec<i32> = (0..length).map(|k| (k * 7 + 3) % 11 - 4).collect();
            let _ = everywhere.value(&[ints(&x)]);
        }
    }
}

fn rows(elements: &[i32], offsets: &[i32]) -> Data {
    Data::rows(ints(elements), offsets).unwrap()
}

/// Procs on sequences of sequences, with empty rows, one row and none.
#[test]
fn nested_sequences() {
    let procs = [
        "def f(v, x): return [sum(row) for row in v]",
        "def f(v, x): return [length(row) for row in v], length(v)",
        "def f(v, x): return map(lambda row: reduce(op_max, row, -100), v)",
        "def f(v, x): return [[a * 2 + 1 for a in row] for row in v]",
        "def f(v, x): return [[a - sum(row) for a in row] for row in v]",
        "def f(v, x): return [scan(op_add, row) for row in v]",
        "def f(v, x): return [rscan(op_add, row) for row in v]",
        "def f(v, x): return map(lambda row: scan(op_add, map(lambda a: a * length(row), row)), v)",
        "def f(v, x): return map(lambda row: sum(scan(op_add, row)), v)",
        "def f(v, x): return [zip(row, indices(row)) for row in v]",
        "def f(v, x): return [gather(x, map(lambda a: abs(a) % 3, row)) for row in v]",
        "def f(v, x): return map(lambda row, a: sum(row) * a, v, range(length(v)))",
        "def f(v, x): return map(lambda row: [dot(row, row) + a for a in x], v)",
        "def f(v, x): return [reverse(row) for row in v]",
        "def f(v, x): return [row[length(row) - 1] if length(row) > 0 else -1 for row in v]",
        "def f(v, x): return v[0] if False else x",
        "def f(v, x): return sum(map(lambda row: sum(row) * length(row), v))",
        "def f(v, x): return filter(lambda a: a > 1, map(sum, v))",
        "def f(v, x): return map(lambda row, other: sum(map(op_mul, row, other)), v, v)",
        "def f(v, x): return scan(op_add, map(sum, v))",
        "def f(v, x): return [[a * b for a in x] for b in x]",
        "def f(v, x): return [sum([a * b for a in x]) for b in x]",
        "def f(v, x): return map(lambda b: scan(op_add, map(lambda a: a * b, x)), x)",
    ];
    let matrices = [
        rows(&[1, 7, 2, 8, 5, 3, 9, 6, 4], &[0, 2, 4, 7, 9]),
        rows(&[4, -2, 3, 1, 1, 1, 1, 1, 9, 9, -9], &[0, 0, 1, 1, 1, 9, 11, 11]),
        rows(&[5, 6], &[0, 2]),
        rows(&[], &[0, 0, 0]),
        rows(&[], &[0]),
    ];
    for text in procs {
        if text.contains("if False") {
            continue;
        }
        let everywhere = Everywhere::new(text);
        for matrix in &matrices {
            everywhere.value(&[matrix.clone(), ints(&[3, 1, 2, 5])]).unwrap();
        }
    }
}

#[test]
fn two_descriptors_and_three_levels() {
    let (a, b) = (rows(&[1, 2, 3, 4, 5], &[0, 2, 5]), rows(&[1, 2, 3, 4, 5], &[0, 2, 5]));
    let text = "def f(a, b): return map(lambda x, y: sum(map(op_mul, x, y)), a, b)";
    assert_eq!(value(text, &[a.clone(), b]).unwrap(), ints(&[5, 50]).datum());
    // Rows of other lengths: the lengths of rows are data, so the run finds it.
    let other = rows(&[1, 2, 3, 4, 5], &[0, 3, 5]);
    let error = value(text, &[a.clone(), other]).unwrap_err();
    assert_eq!(error, "1:42: `map` takes sequences of one length but there are 2 and 3 elements");
    let deep = Data::rows(rows(&[1, 2, 3, 4, 5, 6], &[0, 1, 1, 4, 6]), &[0, 2, 2, 4]).unwrap();
    let text = "def f(a): return [sum([sum(x) * length(x) for x in y]) for y in a]";
    assert_eq!(value(text, &[deep]).unwrap(), ints(&[1, 0, 49]).datum());
}

#[test]
fn mistakes_of_runs() {
    let x = ints(&[1, 2, 3]);
    for (text, arguments, expected) in [
        (
            "def f(x, y): return map(op_add, x, y)",
            vec![x.clone(), ints(&[1, 2])],
            "1:21: `map` takes sequences of one length but there are 3 and 2 elements",
        ),
        (
            "def f(x, y): return gather(x, y)",
            vec![x.clone(), ints(&[0, 3])],
            "1:21: `gather` has index 3 at position 1 where there are 3 elements",
        ),
        (
            "def f(x, y): return gather(x, map(lambda a: a - 1, y))",
            vec![x.clone(), ints(&[1, 0])],
            "1:21: `gather` has index -1 at position 1 where there are 3 elements",
        ),
        ("def f(x): return x[3]", vec![x.clone()], "1:18: `x[i]` has index 3 where there are 3 elements"),
        (
            "def f(x, y): return map(lambda b: x[b], y)",
            vec![x.clone(), Data::values(&[2u8, 200]).unwrap()],
            "1:35: `x[i]` has index 200 where there are 3 elements",
        ),
        (
            "def f(x, y): return map(lambda b: x[b], y)",
            vec![x.clone(), Data::values(&[1i64 << 32]).unwrap()],
            "1:35: `x[i]` has index 4294967296 where there are 3 elements",
        ),
        ("def f(x): return min(x)", vec![ints(&[])], "1:18: `x[i]` has index 0 where there are 0 elements"),
        ("def f(n): return range(n)", vec![(-1).into()], "1:18: `range` cannot make -1 elements"),
        (
            "def f(x, y): return scatter(x, y, x)",
            vec![x.clone(), ints(&[0, 1, 7])],
            "1:21: `scatter` has index 7 at position 2 where there are 3 elements",
        ),
        ("def f(x): return x", vec![x.clone(), x.clone()], "1:5: the proc takes 1 arguments, 2 given"),
        ("def f(x): return sum(x)", vec![3.into()], "1:5: argument 1 is Int, but [a] is expected"),
        ("def f(x, y): return x + y", vec![3.into(), 2.5f32.into()], "1:5: argument 2 is Float, but Int is expected"),
    ] {
        assert_eq!(value(text, &arguments).unwrap_err(), expected, "{text}");
    }
}

/// Indices of every integer type, also of sequences that are longer than the type has values for.
#[test]
fn indices_of_every_integer_type() {
    let x: Vec<i32> = (0..300).collect();
    let text = "def f(x, y): return map(lambda b: x[b], y)";
    let everywhere = Everywhere::new(text);
    let indices = [
        Data::values(&[0u8, 44, 255]).unwrap(),
        Data::values(&[0i8, 44, 127]).unwrap(),
        Data::values(&[0u16, 44, 299]).unwrap(),
        Data::values(&[0u32, 44, 299]).unwrap(),
        Data::values(&[0i64, 44, 299]).unwrap(),
        Data::values(&[0u64, 44, 299]).unwrap(),
    ];
    for index in indices {
        let Datum::Seq(found) = everywhere.value(&[ints(&x), index]).unwrap() else { panic!("a sequence") };
        assert_eq!(found[..2], [Datum::Scalar(0.into()), Datum::Scalar(44.into())]);
    }
    assert!(everywhere.value(&[ints(&x), Data::values(&[-1i8]).unwrap()]).is_err());
    assert!(everywhere.value(&[ints(&x), Data::values(&[u64::MAX]).unwrap()]).is_err());
}

/// Names of values become names of Funcs, whatever they are.
#[test]
fn names_that_are_taken() {
    let text = "
def f(x, n):
    x = scan(op_add, x)
    x_2 = scan(op_add, x)
    x = scan(op_add, x_2)
    n = sum(x) + n
    let = scan(op_max, x)
    r = scan(op_min, let)
    été = scan(op_add, r)
    result = rscan(op_add, été)
    return result, n, x";
    assert!(value(text, &[ints(&[3, 1, 2]), 4.into()]).is_ok());
}

/// Data that are no sequences are errors before anything runs, and names of arguments are the user's.
#[test]
fn data_that_are_no_sequences() {
    let proc = Proc::parse("def f(x): return map(lambda (a, b): a + b, x)").unwrap();
    let uneven = Data::Zipped(vec![ints(&[1, 2, 3]), ints(&[1])]);
    let flat = Proc::parse("def f(x): return sum(x)").unwrap();
    let point = halide::prelude::AnyBuffer::new(halide::prelude::I32, [0i32; 0]).unwrap();
    let plane = halide::prelude::AnyBuffer::new(halide::prelude::I32, [2, 2]).unwrap();
    for place in [Place::host(), Place::cpu(1)] {
        let error = place.call(&proc, [uneven.clone()]).unwrap_err().to_string();
        assert!(error.contains("3 and 1 elements"), "{error}");
        for buffer in [&point, &plane] {
            assert!(place.call(&flat, [buffer.clone().into()]).is_err());
        }
    }
    assert!(Data::rows(uneven, &[0, 3]).is_err());
    let text = "def f(x, x_length, x_offsets): return sum(x) + x_length + sum(map(sum, x_offsets))";
    let arguments = [ints(&[1, 2]), 3.into(), rows(&[4, 5], &[0, 1, 2])];
    assert_eq!(value(text, &arguments).unwrap(), Datum::Scalar(15.into()));
}

#[test]
fn rounds_that_never_end() {
    let text = "
def g(n, k): return n if n == 1 else g(n + k - k, k)
def f(x): return map(lambda a: g(a, a), x)";
    let error = Place::cpu(1).call(&Proc::parse(text).unwrap(), [ints(&[1, 2])]).unwrap_err();
    assert_eq!(error.to_string(), "2:5: the def calls itself more than 1048576 times");
}
