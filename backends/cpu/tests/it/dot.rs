//! Sums of products of small integers, from every type and place that operands come from, at every width, with and
//! without the instructions for them.

use crate::harness::*;
use halide_core::ops::BinOp;
use halide_core::types::ScalarType::{self, *};
use halide_core::value::{self, Scalar};
use halide_cpu::{CpuOptions, Executable, Tier, compile};
use halide_ir::features::{CpuFeature, CpuFeatures};
use halide_ir::{BufId, Expr, Intrinsic, Program, build};

/// The number of vectors that each run computes.
const VECTORS: i64 = 3;
/// More elements than any operand reads.
const ELEMENTS: usize = 2048;

/// The source of lane `l` of vector `v`, in term `t` of `terms`.
#[derive(Clone, Copy, PartialEq, Debug)]
enum From {
    /// Rows of their own: `t * 200 + v * lanes + l`.
    Rows,
    /// Neighbours: `(v * lanes + l) * terms + t`.
    Turns,
    /// One element for all lanes: `v * terms + t`.
    Each,
    /// One element for all lanes, that of others elsewhere: `(v * terms + t) * 3`.
    EachApart,
    /// A constant.
    Constant,
}

const EDGES: [i64; 8] = [-128, 255, 127, -32768, 32767, -1, 1, 0];

impl From {
    fn constant(ty: ScalarType, t: i64) -> Scalar {
        Scalar::int(ty, i128::from(EDGES[(t + ty.bits() as i64) as usize % EDGES.len()]))
    }
    fn expr(self, buf: BufId, ty: ScalarType, v: &Expr, (t, terms): (i64, i64), lanes: u16) -> Expr {
        let n = |i: i64| build::int(i);
        let first = build::mul(v.clone(), n(i64::from(lanes)));
        let load = |index| build::load(buf, ty, index, None);
        let at = |scale: i64| build::mul(build::add(build::mul(v.clone(), n(terms)), n(t)), n(scale));
        match self {
            From::Rows => load(dense(build::add(first, n(200 * t)), lanes)),
            From::Turns => load(build::ramp(build::add(build::mul(first, n(terms)), n(t)), n(terms), lanes)),
            From::Each => build::broadcast(load(at(1)), lanes),
            From::EachApart => build::broadcast(load(at(3)), lanes),
            From::Constant => build::broadcast(build::constant(From::constant(ty, t)), lanes),
        }
    }
    fn value(self, all: &[Scalar], ty: ScalarType, v: i64, (t, terms): (i64, i64), (lane, lanes): (i64, i64)) -> i64 {
        let read = |i: i64| all[i as usize].as_i128() as i64;
        match self {
            From::Rows => read(200 * t + v * lanes + lane),
            From::Turns => read((v * lanes + lane) * terms + t),
            From::Each => read(v * terms + t),
            From::EachApart => read((v * terms + t) * 3),
            From::Constant => From::constant(ty, t).as_i128() as i64,
        }
    }
}

/// One sum: of products of what sides read, and of one more element where `plus` says so.
#[derive(Clone, Copy, Debug)]
struct Sum {
    types: [ScalarType; 2],
    from: [From; 2],
    terms: i64,
    plus: bool,
    to: ScalarType,
}

impl Sum {
    /// Buffers: the sides, what is added, the result.
    fn program(&self, lanes: u16) -> Program {
        let Sum { types: [a, b], from, terms, plus, to } = *self;
        let mut p = program(&[a, b, to], &[to]);
        p.body = serial(&mut p, build::int(VECTORS), |v| {
            let wide = |side: usize, t| {
                let e = from[side].expr(BufId(side as u32), [a, b][side], &v, (t, terms), lanes);
                // As a user writes it: of one element, before it is in every lane.
                build::cast_data(to, e)
            };
            let at = dense(build::mul(v.clone(), build::int(i64::from(lanes))), lanes);
            let first = plus.then(|| build::load(BufId(2), to, at.clone(), None));
            let product = |t: i64| {
                let (x, y) = if t % 3 == 2 { (1, 0) } else { (0, 1) };
                build::mul(wide(x, t), wide(y, t))
            };
            let sum = first.into_iter().chain((0..terms).map(product)).reduce(build::add);
            store(BufId(3), at, sum.unwrap_or_else(|| build::constant(Scalar::zero(to))))
        });
        p
    }
    fn check(&self, lanes: u16, codes: &[(String, Executable)], sides: &[Vec<Scalar>; 2], more: &[Scalar]) {
        let Sum { types, from, terms, plus, to } = *self;
        let inputs = [buffer(types[0], &sides[0]), buffer(types[1], &sides[1]), buffer(to, more)];
        let n = VECTORS as usize * usize::from(lanes);
        for (name, code) in codes {
            let (out, _) = run(code, &[], &inputs, &[(to, n)]).unwrap();
            for (i, got) in out[0].iter().enumerate() {
                let (v, lane) = (i as i64 / i64::from(lanes), i as i64 % i64::from(lanes));
                let side = |s: usize, t| from[s].value(&sides[s], types[s], v, (t, terms), (lane, i64::from(lanes)));
                let first = if plus { more[i].as_i128() as i64 } else { 0 };
                let sum = (0..terms).fold(first, |sum, t| sum.wrapping_add(side(0, t).wrapping_mul(side(1, t))));
                assert_eq!(*got, value::cast(to, Scalar::from(sum)), "{name}: {self:?} x{lanes}, element {i}");
            }
        }
    }
}

/// Code for every tier, and for each without the extensions for dot products.
fn everywhere(p: &Program) -> Vec<(String, Executable)> {
    let all = CpuFeatures::host();
    let dot = [CpuFeature::Avx512vnni, CpuFeature::Avxvnni];
    let made = tiers().flat_map(|tier| {
        let lists: &[Option<CpuFeatures>] = &[None, Some(without(all, &dot))];
        lists
            .iter()
            .map(|features| {
                let options = CpuOptions { keep_text: true, tier, features: *features, ..CpuOptions::default() };
                let code = compile(p, &options).unwrap_or_else(|e| panic!("{e}"));
                (format!("{tier:?} {features:?}"), well_formed(code))
            })
            .collect::<Vec<_>>()
    });
    made.collect()
}

/// Leaves out some extensions, but not what they imply.
fn without(all: CpuFeatures, some: &[CpuFeature]) -> CpuFeatures {
    all.iter().filter(|f| !some.contains(f)).fold(CpuFeatures::NONE, CpuFeatures::with)
}

/// Elements of a side: noise between stretches of the smallest and the largest numbers, whose products wrap around.
fn elements(ty: ScalarType, seed: u64) -> Vec<Scalar> {
    let mut noise = SplitMix(seed);
    let extreme = |i: usize| if (i / 64).is_multiple_of(2) { ty.int_min() } else { ty.int_max() };
    let one = |i: usize| match (i / 32) % 3 {
        0 => Scalar::int(ty, extreme(i).unwrap_or(0)),
        _ => Scalar::from_bits(ty, noise.next()),
    };
    (0..ELEMENTS).map(one).collect()
}

fn check_all(lanes: &[u16], sums: impl Iterator<Item = Sum>) {
    for (i, sum) in sums.enumerate() {
        let lanes = lanes[i % lanes.len()];
        let sides = [elements(sum.types[0], 1), elements(sum.types[1], 2)];
        let codes = everywhere(&sum.program(lanes));
        sum.check(lanes, &codes, &sides, &elements(sum.to, 3));
    }
}

const SMALL: [ScalarType; 4] = [U8, I8, I16, U16];
const PLACES: [From; 5] = [From::Rows, From::Turns, From::Each, From::EachApart, From::Constant];

#[test]
fn sums_of_products_of_every_type_and_place() {
    let mut sums = Vec::new();
    for a in SMALL {
        for b in SMALL {
            for first in PLACES {
                for second in PLACES {
                    let n = sums.len() as i64;
                    let (terms, plus) = (2 + n % 4, n % 3 != 0);
                    let to = if n % 5 == 0 { U32 } else { I32 };
                    sums.push(Sum { types: [a, b], from: [first, second], terms, plus, to });
                }
            }
        }
    }
    check_all(&[16, 4, 8, 32, 17, 5], sums.into_iter());
}

#[test]
fn sums_of_every_length_and_width() {
    for lanes in [3, 4, 7, 8, 16, 31, 32, 48, 64] {
        let types = [[U8, I8], [I8, I8], [U8, U8], [I16, I16]];
        let sums = (1..=9).flat_map(|terms| {
            types.map(|types| Sum { types, from: [From::Each, From::Turns], terms, plus: terms % 2 == 0, to: I32 })
        });
        check_all(&[lanes], sums.filter(|s| s.terms * i64::from(lanes) * VECTORS < ELEMENTS as i64));
    }
}

/// Dot products become single instructions if their operands lie next to each other.
#[test]
fn dot_products_are_single_instructions() {
    let count = |types, terms, wanted: &str| {
        let sum = Sum { types, from: [From::Each, From::Turns], terms, plus: true, to: I32 };
        let codes = everywhere(&sum.program(16));
        let find = |(name, code): &(String, Executable)| {
            let asm = code.asm().unwrap_or_default().to_string();
            (name.clone(), asm.matches(wanted).count(), asm.matches("vpmulld").count())
        };
        codes.iter().filter(|(name, _)| !name.starts_with("Base")).map(find).collect::<Vec<_>>()
    };
    for (name, found, products) in count([I16, I16], 2, "vpmaddwd") {
        let one = |tier: &str, feature| name.starts_with(tier) && CpuFeatures::host().has(feature);
        let plain = !one("Avx512 None", CpuFeature::Avx512vnni) && !one("Avx2 None", CpuFeature::Avxvnni);
        assert_eq!((found > 0, products), (plain, 0), "{name}");
    }
    if !has_all(Tier::Avx512.needs().with(CpuFeature::Avx512vnni)) {
        return;
    }
    let with = |found: Vec<(String, usize, usize)>| found.into_iter().find(|(name, ..)| name == "Avx512 None");
    for (types, terms, wanted, n) in [
        ([I16, I16], 2, "vpdpwssd", 1),
        ([U8, I16], 2, "vpdpwssd", 1),
        ([U8, I8], 4, "vpdpbusd", 1),
        ([I8, U8], 8, "vpdpbusd", 2),
        ([I8, I8], 4, "vpdpbusd", 2),
        ([U8, U8], 4, "vpdpbusd", 2),
    ] {
        let found = with(count(types, terms, wanted)).map(|(_, found, products)| (found, products));
        assert_eq!(found, Some((n, 0)), "{types:?} {terms} {wanted}");
    }
}

/// Products that were made in half the width first.
#[test]
fn sums_of_widening_products() {
    for ty in [I16, I8, U8] {
        let to = I32;
        let lanes = 16;
        let mut p = program(&[ty, ty], &[to]);
        p.body = serial(&mut p, build::int(VECTORS), |v| {
            let product = |t: i64| {
                let at = dense(build::add(build::mul(v.clone(), build::int(16)), build::int(t * 64)), lanes);
                let both = [0, 1].map(|b| build::load(BufId(b), ty, at.clone(), None));
                build::cast_data(to, build::intrinsic(Intrinsic::WideningMul, both.to_vec()))
            };
            let sum = (0..5).map(product).reduce(build::add).unwrap_or_else(|| product(0));
            store(BufId(2), dense(build::mul(v.clone(), build::int(16)), lanes), sum)
        });
        let (x, y) = (elements(ty, 5), elements(ty, 6));
        for (name, code) in everywhere(&p) {
            let n = VECTORS as usize * 16;
            let (out, _) = run(&code, &[], &[buffer(ty, &x), buffer(ty, &y)], &[(to, n)]).unwrap();
            for (i, got) in out[0].iter().enumerate() {
                let of = |s: &[Scalar], t: usize| value::cast(to, s[i + 64 * t]);
                let product = |t| value::binary(BinOp::Mul, of(&x, t), of(&y, t));
                let sum = (0..5).map(product).reduce(|a, b| value::binary(BinOp::Add, a, b));
                assert_eq!(Some(*got), sum, "{name} {ty} {i}");
            }
        }
    }
}

/// Sums that stand in the next one twice have more paths than anything could walk.
#[test]
fn sums_that_share_parts() {
    const DOUBLINGS: i64 = 40;
    let mut p = program(&[I16, I16], &[I32]);
    let lanes = 16;
    p.body = serial(&mut p, build::int(VECTORS), |v| {
        let at = |t: i64| dense(build::add(build::mul(v.clone(), build::int(16)), build::int(t * 16)), lanes);
        let side = |b: u32, t: i64| build::cast_data(I32, build::load(BufId(b), I16, at(t), None));
        let product = |t: i64| build::mul(side(0, t), side(1, t));
        let twice = |sum: Expr, t: i64| build::add(sum.clone(), build::add(sum, product(t)));
        store(BufId(2), at(0), (1..=DOUBLINGS).fold(product(0), twice))
    });
    let (x, y) = (elements(I16, 5), elements(I16, 6));
    for (name, code) in everywhere(&p) {
        let n = VECTORS as usize * 16;
        let (out, _) = run(&code, &[], &[buffer(I16, &x), buffer(I16, &y)], &[(I32, n)]).unwrap();
        for (i, got) in out[0].iter().enumerate() {
            let of = |s: &[Scalar], t: i64| s[i + 16 * t as usize].as_i128() as i32;
            let product = |t: i64| of(&x, t).wrapping_mul(of(&y, t));
            let sum = (1..=DOUBLINGS).fold(product(0), |s, t| s.wrapping_add(s.wrapping_add(product(t))));
            assert_eq!(got.as_i128(), i128::from(sum), "{name} {i}");
        }
    }
}
