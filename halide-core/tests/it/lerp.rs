//! Interpolation against exact arithmetic.

use halide_core::buffer::{AnyBuffer, Region};
use halide_core::expr::*;
use halide_core::interp::{Inputs, run};
use halide_core::types::*;
use halide_core::value::{Scalar, cast};
use halide_core::{Func, ImageParam, Pipeline, vars};

/// A small generator: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e3779b97f4a7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58476d1ce4e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d049bb133111eb);
        z ^ (z >> 31)
    }
    fn integer(&mut self, ty: ScalarType) -> Scalar {
        let (low, high) = (ty.int_min().unwrap(), ty.int_max().unwrap());
        let edges = [low, low + 1, high, high - 1, 0, 1, high / 2, high / 2 + 1];
        match self.next() % 4 {
            0 => Scalar::int(ty, edges[self.next() as usize % edges.len()]),
            _ => Scalar::int(ty, self.next() as i128),
        }
    }
    /// A weight of a float type: mostly in 0..=1, of any magnitude.
    fn weight(&mut self, ty: ScalarType) -> Scalar {
        let unit = self.next() as f64 / u64::MAX as f64;
        let edges = [0.0, 1.0, 0.5, 1.5, -1.0, -0.0, f64::NAN, f64::INFINITY, 1e-40, 0.49999997, 0.25];
        match self.next() % 8 {
            0 => Scalar::float(ty, edges[self.next() as usize % edges.len()]),
            1 => Scalar::float(ty, unit * 2f64.powi(-((self.next() % 45) as i32))),
            2 => Scalar::float(ty, (self.next() % 513) as f64 / 512.0),
            _ => Scalar::float(ty, unit),
        }
    }
}

fn column(values: &[Scalar]) -> AnyBuffer {
    let mut buffer = AnyBuffer::new(values[0].ty(), [values.len()]).unwrap();
    for (i, &v) in values.iter().enumerate() {
        buffer.set([i], v).unwrap();
    }
    buffer
}

/// Runs `lerp` on columns of operands.
fn run_lerp(a: &[Scalar], b: &[Scalar], w: &[Scalar]) -> Vec<Scalar> {
    let i = vars!(i);
    let image = |name: &str, column: &[Scalar]| ImageParam::new(name, column[0].ty(), 1);
    let mut f = Func::new("f");
    f[i] = lerp(image("a", a)[i], image("b", b)[i], image("w", w)[i]);
    let pipeline = Pipeline::new([&f]).unwrap_or_else(|e| panic!("{e}"));
    let inputs = Inputs::new().image("a", column(a)).image("b", column(b)).image("w", column(w));
    let out = run(&pipeline, &inputs, &[Region::of_spans([(0, a.len() as i32)])]).unwrap().remove(0);
    (0..a.len()).map(|i| out.get([i]).unwrap()).collect()
}

/// `a + (b - a) * w` to the nearest integer, ties up.
fn exact(a: Scalar, b: Scalar, w: Scalar) -> Scalar {
    let (from, distance) = (a.as_i128(), b.as_i128() - a.as_i128());
    let step = match w.ty().int_max() {
        Some(whole) => (2 * distance * w.as_i128() + whole).div_euclid(2 * whole),
        None => {
            let w = w.as_f64();
            let bits = if w > 0.0 { w.min(1.0).to_bits() } else { 0 };
            let (exponent, mantissa) = ((bits >> 52) as i32, (bits & ((1 << 52) - 1) | 1 << 52) as i128);
            // w = mantissa * 2^(exponent - 1075)
            let shift = 1075 - exponent;
            if bits == 0 || shift > 120 { 0 } else { (distance * mantissa + (1i128 << (shift - 1))) >> shift }
        }
    };
    Scalar::int(a.ty(), from + step)
}

fn check(ty: ScalarType, wty: ScalarType, seed: u64) {
    let mut random = Random(seed);
    let mut columns = [vec![], vec![], vec![]];
    for _ in 0..3000 {
        columns[0].push(random.integer(ty));
        columns[1].push(random.integer(ty));
        columns[2].push(if wty.is_float() { random.weight(wty) } else { random.integer(wty) });
    }
    let [a, b, w] = &columns;
    for (i, got) in run_lerp(a, b, w).into_iter().enumerate() {
        let expected = exact(a[i], b[i], w[i]);
        assert_eq!(got, expected, "lerp({:?}, {:?}, {:?}), seed {seed}", a[i], b[i], w[i]);
    }
}

#[test]
fn integers_are_rounded_exactly_for_every_weight_type() {
    for ty in [I8, U8, I16, U16, I32, U32] {
        for wty in [U8, U16, U32, F16, BF16, F32] {
            check(ty, wty, 7);
        }
    }
}

#[test]
fn every_byte_with_every_byte_weight() {
    let byte = |v: usize| Scalar::int(U8, v as i128);
    for a in [0usize, 1, 100, 254, 255] {
        let all: Vec<usize> = (0..1 << 16).collect();
        let b: Vec<Scalar> = all.iter().map(|i| byte(i >> 8)).collect();
        let w: Vec<Scalar> = all.iter().map(|i| byte(i & 255)).collect();
        let a = vec![byte(a); b.len()];
        for (i, got) in run_lerp(&a, &b, &w).into_iter().enumerate() {
            assert_eq!(got, exact(a[i], b[i], w[i]), "{:?} {:?} {:?}", a[i], b[i], w[i]);
        }
    }
}

#[test]
fn floats_are_the_sum_of_two_products() {
    let mut random = Random(3);
    let a: Vec<Scalar> = (0..500).map(|_| cast(F32, random.integer(I32))).collect();
    let b: Vec<Scalar> = (0..500).map(|_| cast(F32, random.integer(I32))).collect();
    let w: Vec<Scalar> = (0..500).map(|_| random.integer(U8)).collect();
    for (i, got) in run_lerp(&a, &b, &w).into_iter().enumerate() {
        let [x, y, z] = [a[i], b[i], w[i]].map(|v| v.as_f64() as f32);
        let z = z / 255.0;
        assert_eq!(got, Scalar::from(x * (1.0 - z) + y * z));
    }
}
