//! Values that are known from elsewhere, as machine code computes them.

use halide_seq::primitive::ROWS;
use halide_seq::{Data, Place, Proc};

fn call(text: &str, arguments: &[Data]) -> Data {
    Place::cpu(2).call(&Proc::parse(text).unwrap(), arguments.to_vec()).unwrap()
}

fn ints(text: &str, arguments: &[&[i32]]) -> Vec<i32> {
    let arguments: Vec<Data> = arguments.iter().map(|values| Data::values(values).unwrap()).collect();
    call(text, &arguments).to_vec().unwrap()
}

#[test]
fn every_row_of_the_table_has_a_type_and_a_name_of_its_own() {
    for (i, row) in ROWS.iter().enumerate() {
        assert!(ROWS[..i].iter().all(|other| other.name != row.name && other.primitive != row.primitive));
        let uses = ["a", "a, b", "a, b, c"].map(|names| format!("def f({names}): return {}({names})", row.name));
        assert!(uses.iter().any(|text| Proc::parse(text).is_ok()), "{}", row.name);
    }
}

#[test]
fn scans_permutations_and_filters() {
    let ones = &[1, 1, 1, 1, 1][..];
    assert_eq!(ints("def f(x): return scan(op_add, x)", &[ones]), [1, 2, 3, 4, 5]);
    assert_eq!(ints("def f(x): return rscan(op_add, x)", &[ones]), [5, 4, 3, 2, 1]);
    assert_eq!(ints("def f(x): return exclusive_scan(op_add, 0, x)", &[ones]), [0, 1, 2, 3, 4]);
    assert_eq!(ints("def f(x): return scan(lambda a, b: a, x)", &[&[7, 1, 2]]), [7, 7, 7]);
    assert_eq!(ints("def f(x, i): return permute(x, i)", &[&[1, 2, 3, 4], &[3, 0, 1, 2]]), [2, 3, 4, 1]);
    assert_eq!(ints("def f(x): return filter(lambda a: a < 3, x)", &[&[3, 1, 5, 0, 2, 4]]), [1, 0, 2]);
}

/// Types of a def are those of each use, also where the def around has types of its own.
#[test]
fn inner_defs_at_several_types() {
    let text = "
    def f(x, y):
        def square(a): return a * a
        return map(square, x), scan(lambda a, b: square(b) - a, y)";
    let (x, y) = (Data::values(&[1i64 << 31, 3]).unwrap(), Data::values(&[0.5f32, 3.0]).unwrap());
    let Data::Tuple(parts) = call(text, &[x, y]) else { panic!("a tuple") };
    assert_eq!(parts[0].to_vec::<i64>().unwrap(), [1 << 62, 9]);
    assert_eq!(parts[1].to_vec::<f32>().unwrap(), [0.5, 8.5]);
}

#[test]
fn fibonacci_by_a_scan_of_matrices() {
    let text = "
    def fibonacci(n):
        def multiply((a, b, c, d), (e, f, g, h)):
            return a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h
        one = int64(1)
        powers = scan(multiply, replicate((one, one, one, int64(0)), n))
        return map(lambda (a, b, c, d): b, powers)";
    let found: Vec<i64> = call(text, &[92.into()]).to_vec().unwrap();
    let mut expected = vec![1i64, 1];
    (2..92).for_each(|k| expected.push(expected[k - 1] + expected[k - 2]));
    assert_eq!(found, expected);
    assert_eq!(found[91], 7_540_113_804_746_346_429);
}

/// An operator that is associative and does not commute, at sizes around those of vectors and chunks.
#[test]
fn scans_that_do_not_commute() {
    let text = "def f(x): return scan(lambda (a, b), (c, d): (a * c, b * c + d), zip(x, reverse(x)))";
    let (proc, place) = (Proc::parse(text).unwrap(), Place::cpu(2));
    for n in (0..70).chain([127, 128, 129, 255, 256, 257, 599, 600]) {
        let x: Vec<i32> = (0..n).map(|k| k % 7 - 3).collect();
        let found = place.call(&proc, [Data::values(&x).unwrap()]).unwrap().datum();
        assert_eq!(found, Place::host().call(&proc, [Data::values(&x).unwrap()]).unwrap().datum(), "{n}");
    }
}

#[test]
fn each_element_has_rounds_of_its_own() {
    let text = "
def escape(zr, zi, cr, ci, k, most):
    if k >= most or zr * zr + zi * zi > 4:
        return k
    return escape(zr * zr - zi * zi + cr, 2 * zr * zi + ci, cr, ci, k + 1, most)
def mandelbrot(re, im, most):
    return [[escape(0.0, 0.0, x, y, 0, most) for x in re] for y in im]";
    let at = |k: i32| k as f32 / 8.0 - 1.5;
    let re: Vec<f32> = (0..24).map(at).collect();
    let im: Vec<f32> = (0..11).map(at).collect();
    let picture = call(text, &[Data::values(&re).unwrap(), Data::values(&im).unwrap(), 50.into()]);
    let mut expected = Vec::new();
    for y in &im {
        for x in &re {
            let (mut zr, mut zi, mut k) = (0f32, 0f32, 0);
            while k < 50 && zr * zr + zi * zi <= 4.0 {
                (zr, zi, k) = (zr * zr - zi * zi + x, 2.0 * zr * zi + y, k + 1);
            }
            expected.push(k);
        }
    }
    assert_eq!(picture.elements().unwrap().to_vec::<i32>().unwrap(), expected);
    assert_eq!(picture.offsets().unwrap()[..3], [0, 24, 48]);
}
