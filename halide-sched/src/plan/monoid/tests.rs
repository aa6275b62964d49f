//! Tries to refute what the table claims: folding in parts, and in another order, changes nothing.

use super::pattern::{self, Law, Pattern};
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::Scalar;

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Often one of few values, so that there are ties, and often an extreme one.
    fn value(&mut self, ty: ScalarType) -> Scalar {
        let bits = self.next();
        match bits % 8 {
            0 => Scalar::lowest(ty),
            1 => Scalar::highest(ty),
            2 if ty.is_float() => Scalar::float(ty, f64::NAN),
            3 if ty.is_float() => Scalar::float(ty, -0.0),
            4 if ty == Bool => Scalar::zero(ty),
            4 | 5 => Scalar::int(ty, i128::from((bits >> 8) % 3)),
            _ if ty.is_float() => Scalar::float(ty, (bits as i32) as f64 / 65536.0),
            _ => Scalar::from_bits(ty, bits),
        }
    }

    fn values(&mut self, types: &[ScalarType]) -> Vec<Scalar> {
        types.iter().map(|&ty| self.value(ty)).collect()
    }
}

fn step(p: &Pattern, old: Vec<Scalar>, new: &[Scalar]) -> Vec<Scalar> {
    p.step.iter().map(|t| t.value(&old, new)).collect()
}

fn merge(p: &Pattern, old: Vec<Scalar>, part: &[Scalar]) -> Vec<Scalar> {
    p.merge.iter().map(|t| t.value(&old, part)).collect()
}

fn same(a: &[Scalar], b: &[Scalar]) -> bool {
    a.iter().zip(b).all(|(a, b)| a.same(*b))
}

/// A counterexample to an exact claim.
fn refute(types: &[ScalarType], p: &Pattern, seed: u64) -> Option<String> {
    let mut random = Random(seed);
    for _ in 0..400 {
        let start = random.values(types);
        let mut news: Vec<Vec<Scalar>> = (0..random.next() % 7).map(|_| random.values(types)).collect();
        let serial = |news: &[Vec<Scalar>]| news.iter().fold(start.clone(), |old, new| step(p, old, new));
        let expected = serial(&news);
        let parts = |news: &[Vec<Scalar>], size: usize| {
            news.chunks(size).fold(start.clone(), |old, chunk| {
                let part = chunk.iter().fold(p.identity.clone(), |old, new| step(p, old, new));
                // A part of no iterations changes nothing.
                merge(p, merge(p, old, &p.identity), &part)
            })
        };
        let size = 1 + (random.next() % 3) as usize;
        if p.associative == Law::Exactly && !same(&parts(&news, size), &expected) {
            return Some(format!(
                "{start:?} with {news:?} in parts of {size}: {:?}, not {expected:?}",
                parts(&news, size)
            ));
        }
        for i in (1..news.len()).rev() {
            news.swap(i, (random.next() % (i as u64 + 1)) as usize);
        }
        if p.commutative == Law::Exactly && !same(&serial(&news), &expected) {
            return Some(format!("{start:?} with {news:?}: {:?}, not {expected:?}", serial(&news)));
        }
    }
    None
}

const TYPES: [ScalarType; 12] = [Bool, I8, I16, I32, I64, U8, U16, U32, U64, F16, F32, F64];

fn hold(types: &[ScalarType], patterns: Vec<Pattern>) {
    for (i, p) in patterns.iter().enumerate() {
        assert_eq!((p.step.len(), p.merge.len(), p.identity.len()), (types.len(), types.len(), types.len()));
        if let Some(counterexample) = refute(types, p, i as u64) {
            panic!("{types:?} {p:?}\n{counterexample}");
        }
    }
}

#[test]
fn operators() {
    for ty in TYPES {
        let ops = [BinOp::Add, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor];
        let all: Vec<Pattern> = ops.iter().filter_map(|&op| pattern::operator(op, ty)).collect();
        assert_eq!(all.len(), ops.len());
        hold(&[ty], all);
        hold(&[ty], vec![pattern::unchanged(ty)]);
    }
    assert!(pattern::operator(BinOp::Sub, I32).is_none());
}

#[test]
fn patterns_of_single_elements_and_of_tuples() {
    for ty in TYPES {
        hold(&[ty], pattern::patterns(&[ty]));
        for other in [I32, F32, Bool] {
            hold(&[ty, other], pattern::patterns(&[ty, other]));
            hold(&[I32, ty, Bool], pattern::patterns(&[I32, ty, Bool]));
            hold(&[I32, other, ty], pattern::patterns(&[I32, other, ty]));
        }
    }
}

/// The test can refute: what is not so is found out.
#[test]
fn false_claims_are_refuted() {
    let claim = |mut p: Pattern| {
        (p.associative, p.commutative) = (Law::Exactly, Law::Exactly);
        p
    };
    let located = pattern::patterns(&[I32, U8]).pop().expect("a pattern");
    assert!(refute(&[I32, U8], &claim(located), 1).is_some());
    let sum = claim(pattern::operator(BinOp::Add, F32).expect("a pattern"));
    assert!(refute(&[F32], &sum, 1).is_some());
    let mut signed = pattern::patterns(&[U8]).remove(0);
    signed.identity = vec![Scalar::zero(I8)];
    let wide = |t| pattern::Term::Cast(I16, Box::new(t));
    let total =
        pattern::Term::Binary(BinOp::Add, Box::new(wide(pattern::Term::Old(0))), Box::new(wide(pattern::Term::New(0))));
    signed.step = vec![pattern::Term::SaturatingCast(I8, Box::new(total))];
    signed.merge = signed.step.clone();
    assert!(refute(&[I8], &claim(signed), 1).is_some());
}
