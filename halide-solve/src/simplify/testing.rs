//! A small evaluator and a generator of random expressions, for property tests of this crate's algebra.

use halide_core::ids::ParamId;
use halide_core::ops::{BinOp, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};
use halide_ir::build::{self, int, sym};
use halide_ir::{BufId, DimField, Elem, Expr, ExprKind, LoopId, Sym};
use std::collections::HashMap;

/// Random numbers from a seed.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub(crate) fn between(&mut self, min: i64, max: i64) -> i64 {
        min + (self.next() % (max - min + 1) as u64) as i64
    }
    pub(crate) fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }
}

/// One lane.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Lane {
    Index(i128),
    Data(Scalar),
}

impl Lane {
    pub(crate) fn index(self) -> i128 {
        match self {
            Lane::Index(v) => v,
            Lane::Data(v) => v.as_i128(),
        }
    }
    fn data(self) -> Scalar {
        match self {
            Lane::Index(v) => panic!("index {v} where data is expected"),
            Lane::Data(v) => v,
        }
    }
    pub(crate) fn same(self, other: Lane) -> bool {
        match (self, other) {
            (Lane::Data(a), Lane::Data(b)) => a.same(b),
            (a, b) => a == b,
        }
    }
}

/// The values of symbols.
pub(crate) type Env = HashMap<Sym, i64>;

/// The lanes of `e`. Parameters and reads have values that depend on their ids and coordinates alone.
pub(crate) fn eval(e: &Expr, env: &Env) -> Vec<Lane> {
    let lanes = e.lanes() as usize;
    let all = |x: &Expr| eval(x, env);
    let data = |bits: u64| Lane::Data(Scalar::from_bits(e.ty().scalar().expect("data"), bits));
    match e.kind() {
        ExprKind::Const(v) => vec![Lane::Data(*v)],
        ExprKind::Int(v) => vec![Lane::Index(*v as i128)],
        ExprKind::Sym(s) => {
            let v = env.get(s).copied().unwrap_or(0);
            match e.ty().elem {
                Elem::Index => vec![Lane::Index(v as i128)],
                Elem::Data(ty) => vec![Lane::Data(edge_value(ty, v as u64))],
            }
        }
        ExprKind::Param(p) => {
            let v = env.get(&Sym::Temp(1000 + p.0)).copied().unwrap_or(0);
            vec![Lane::Data(edge_value(e.ty().scalar().expect("data"), v as u64))]
        }
        ExprKind::Unary(op, a) => all(a).into_iter().map(|a| unary(*op, a)).collect(),
        ExprKind::Binary(op, a, b) => all(a).into_iter().zip(all(b)).map(|(a, b)| binary(*op, a, b)).collect(),
        ExprKind::Select(c, a, b) => {
            let arms = all(a).into_iter().zip(all(b));
            all(c).into_iter().zip(arms).map(|(c, (a, b))| if c.data().as_bool() { a } else { b }).collect()
        }
        ExprKind::Cast(a) => all(a).into_iter().map(|a| cast(e.ty().elem, a)).collect(),
        ExprKind::SaturatingCast(a) => all(a)
            .into_iter()
            .map(|a| Lane::Data(value::saturating_cast(e.ty().scalar().expect("data"), a.data())))
            .collect(),
        ExprKind::Likely(a) => all(a),
        ExprKind::Ramp { base, stride } => {
            let (b, s) = (all(base)[0].index(), all(stride)[0].index());
            (0..lanes).map(|i| Lane::Index(b + s * i as i128)).collect()
        }
        ExprKind::Broadcast(a) => vec![all(a)[0]; lanes],
        ExprKind::Read { buf, args } => {
            let args: Vec<Vec<Lane>> = args.iter().map(all).collect();
            (0..lanes)
                .map(|i| {
                    let at = args.iter().fold(buf.0 as u64, |h, a| Random(h ^ a[i].index() as u64).next());
                    data(edge_value(e.ty().scalar().expect("data"), at).bits())
                })
                .collect()
        }
        ExprKind::Shuffle(vectors, picks) => {
            let all: Vec<Lane> = vectors.iter().flat_map(all).collect();
            picks.iter().map(|&i| all[i as usize]).collect()
        }
        other => panic!("not generated: {other:?}"),
    }
}

pub(crate) fn unary(op: UnOp, a: Lane) -> Lane {
    match a {
        Lane::Index(v) => Lane::Index(-v),
        Lane::Data(v) => Lane::Data(value::unary(op, v)),
    }
}

pub(crate) fn binary(op: BinOp, a: Lane, b: Lane) -> Lane {
    let (Lane::Index(x), Lane::Index(y)) = (a, b) else { return Lane::Data(value::binary(op, a.data(), b.data())) };
    let truth = |b: bool| Lane::Data(Scalar::from_bits(ScalarType::Bool, b as u64));
    match op {
        BinOp::Add => Lane::Index(x + y),
        BinOp::Sub => Lane::Index(x - y),
        BinOp::Mul => Lane::Index(x * y),
        BinOp::Div => Lane::Index(if y == 0 { 0 } else { x.div_euclid(y) }),
        BinOp::Mod => Lane::Index(if y == 0 { 0 } else { x.rem_euclid(y) }),
        BinOp::Min => Lane::Index(x.min(y)),
        BinOp::Max => Lane::Index(x.max(y)),
        BinOp::Eq => truth(x == y),
        BinOp::Ne => truth(x != y),
        BinOp::Lt => truth(x < y),
        BinOp::Le => truth(x <= y),
        BinOp::Gt => truth(x > y),
        BinOp::Ge => truth(x >= y),
        other => panic!("{other:?} of Index"),
    }
}

fn cast(to: Elem, a: Lane) -> Lane {
    match (to, a) {
        (Elem::Index, a) => Lane::Index(a.index()),
        (Elem::Data(ty), Lane::Index(v)) => Lane::Data(value::cast(ty, Scalar::from_bits(ScalarType::I64, v as u64))),
        (Elem::Data(ty), Lane::Data(v)) => Lane::Data(value::cast(ty, v)),
    }
}

/// A value of `ty` chosen by `choice`, among which the edges are frequent.
pub(crate) fn edge_value(ty: ScalarType, choice: u64) -> Scalar {
    let mut random = Random(choice);
    let bits = if ty.is_float() {
        let values = [0.0, -0.0, 1.0, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 3.25, 1e30];
        return value::cast(ty, Scalar::from_bits(ScalarType::F64, random.pick(&values).to_bits()));
    } else {
        let edges = [ty.int_min(), ty.int_max(), ty.int_max().map(|v| v - 1), Some(0), Some(1), Some(-1), Some(7)];
        match random.below(3) {
            0 => random.next(),
            _ => random.pick(&edges).expect("an integer") as u64,
        }
    };
    Scalar::from_bits(ty, bits)
}

/// The symbols that random expressions use.
pub(crate) fn symbols() -> Vec<Sym> {
    vec![
        Sym::Loop(LoopId(0)),
        Sym::Loop(LoopId(1)),
        Sym::Temp(0),
        Sym::Buffer { buf: BufId(0), dim: 0, field: DimField::Extent },
    ]
}

/// Random values of the symbols; a buffer's extent is not negative.
pub(crate) fn random_env(r: &mut Random) -> Env {
    let wide = [3, 20, 1000];
    let limit = *r.pick(&wide);
    let mut env: Env = symbols().into_iter().map(|s| (s, r.between(-limit, limit))).collect();
    for (s, v) in &mut env {
        if matches!(s, Sym::Buffer { .. }) {
            *v = v.abs();
        }
    }
    for p in 0..3 {
        env.insert(Sym::Temp(1000 + p), r.next() as i64);
    }
    env
}

/// A random Index expression of `lanes` lanes.
pub(crate) fn random_index(r: &mut Random, depth: u32, lanes: u16) -> Expr {
    if depth == 0 || r.below(8) == 0 {
        let symbols = symbols();
        return match r.below(3) {
            0 => build::broadcast(int(r.between(-9, 9)), lanes),
            1 if lanes > 1 => {
                let (base, stride) = (sym(*r.pick(&symbols)), int(r.between(-3, 3)));
                build::ramp(base, stride, lanes)
            }
            _ => build::broadcast(sym(*r.pick(&symbols)), lanes),
        };
    }
    let below = |r: &mut Random| random_index(r, depth - 1, lanes);
    match r.below(14) {
        0 | 1 => build::add(below(r), below(r)),
        2 | 3 => build::sub(below(r), below(r)),
        4 => build::mul(below(r), build::broadcast(int(r.between(-5, 5)), lanes)),
        5 | 6 => build::div(below(r), build::broadcast(int(*r.pick(&[1, 2, 2, 3, 4, 8, -2, -3, 0])), lanes)),
        7 => build::rem(below(r), build::broadcast(int(*r.pick(&[1, 2, 2, 3, 4, 8, -2, -3, 0])), lanes)),
        8 => build::min(below(r), below(r)),
        9 => build::max(below(r), below(r)),
        10 => build::select(random_condition(r, depth - 1, lanes), below(r), below(r)),
        11 => match r.below(3) {
            0 => build::mul(below(r), below(r)),
            1 => build::div(below(r), below(r)),
            _ => build::rem(below(r), below(r)),
        },
        12 => build::likely(below(r)),
        _ => build::to_index(random_data(r, ScalarType::I32, depth - 1, lanes)),
    }
}

/// A random condition.
pub(crate) fn random_condition(r: &mut Random, depth: u32, lanes: u16) -> Expr {
    let ops = [BinOp::Eq, BinOp::Ne, BinOp::Lt, BinOp::Le, BinOp::Gt, BinOp::Ge];
    if depth == 0 {
        let symbols = symbols();
        let (a, b) = (sym(*r.pick(&symbols)), int(r.between(-4, 4)));
        return build::broadcast(build::binary(*r.pick(&ops), a, b), lanes);
    }
    let below = |r: &mut Random| random_condition(r, depth - 1, lanes);
    match r.below(8) {
        0 => build::and(below(r), below(r)),
        1 => build::or(below(r), below(r)),
        2 => build::not(below(r)),
        3 => {
            let ty = *r.pick(&DATA_TYPES);
            let (a, b) = (random_data(r, ty, depth - 1, lanes), random_data(r, ty, depth - 1, lanes));
            build::binary(*r.pick(&ops), a, b)
        }
        _ => {
            let (a, b) = (random_index(r, depth - 1, lanes), random_index(r, depth - 1, lanes));
            build::binary(*r.pick(&ops), a, b)
        }
    }
}

const DATA_TYPES: [ScalarType; 8] = [
    ScalarType::U8,
    ScalarType::I8,
    ScalarType::U16,
    ScalarType::I32,
    ScalarType::U32,
    ScalarType::I64,
    ScalarType::F32,
    ScalarType::U64,
];

/// A random data expression.
pub(crate) fn random_data(r: &mut Random, ty: ScalarType, depth: u32, lanes: u16) -> Expr {
    if ty == ScalarType::Bool {
        return random_condition(r, depth, lanes);
    }
    if depth == 0 || r.below(8) == 0 {
        return match r.below(4) {
            0 | 1 => build::broadcast(build::constant(edge_value(ty, r.next())), lanes),
            2 => build::broadcast(build::param(ParamId(r.below(3) as u32), ty), lanes),
            _ => build::read(BufId(1), ty, vec![random_index(r, depth.saturating_sub(2), lanes)]),
        };
    }
    let below = |r: &mut Random| random_data(r, ty, depth - 1, lanes);
    let (a, b) = (below(r), below(r));
    match r.below(20) {
        0 | 1 => build::add(a, b),
        2 | 3 => build::sub(a, b),
        4 => build::mul(a, b),
        5 => build::div(a, b),
        6 => build::rem(a, b),
        7 | 8 => build::min(a, b),
        9 | 10 => build::max(a, b),
        11 | 12 => build::select(random_condition(r, depth - 1, lanes), a, b),
        13 => build::unary(UnOp::Neg, a),
        14 if ty.is_int() => {
            let amount = build::constant(Scalar::int(ScalarType::signed(ty.bits()), r.between(-2, 9) as i128));
            build::binary(*r.pick(&[BinOp::Shl, BinOp::Shr]), a, build::broadcast(amount, lanes))
        }
        15 if ty.is_int() => build::binary(*r.pick(&[BinOp::BitAnd, BinOp::BitOr, BinOp::BitXor]), a, b),
        16 if ty.is_int() => build::binary(*r.pick(&[BinOp::DivToZero, BinOp::ModToZero]), a, b),
        17 => build::cast_data(ty, build::cast_data(*r.pick(&DATA_TYPES), a)),
        18 => build::cast_data(ty, random_index(r, depth - 1, lanes)),
        19 => build::likely(a),
        _ => {
            let from = *r.pick(&DATA_TYPES);
            let inner = random_data(r, from, depth - 1, lanes);
            if r.below(2) == 0 { build::cast_data(ty, inner) } else { build::saturating_cast(ty, inner) }
        }
    }
}
