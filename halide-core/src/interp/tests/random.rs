//! Random Funcs with updates, demanded piece by piece, against an eager replay of every stage over a whole grid.
//!
//! All coordinates are taken modulo the grid's size, so that the replay needs no bounds: a pure dimension runs over the
//! grid, and nothing outside can matter inside.

use super::Build;
use crate::buffer::Region;
use crate::ids::{ExprId, FuncId, RDomId, VarId};
use crate::interp::{Inputs, run};
use crate::ops::BinOp;
use crate::pipeline::{Kind, PipelineData};
use crate::types::ScalarType::I32;
use crate::value::{Scalar, binary, select};
use std::collections::BTreeMap;

const N: i32 = 5;
const OPS: [BinOp; 6] = [BinOp::Add, BinOp::Sub, BinOp::Mul, BinOp::Min, BinOp::Max, BinOp::BitXor];

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % n
    }
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }
}

/// The leaves and Funcs that a random expression may use.
struct Scope<'a> {
    leaves: Vec<ExprId>,
    /// Funcs to read, and for each dimension the coordinate that it must have, if any.
    funcs: &'a [(FuncId, Vec<Option<ExprId>>)],
}

fn value(b: &mut Build, random: &mut Random, scope: &Scope, depth: u32) -> ExprId {
    match random.below(if depth == 0 { 2 } else { 7 }) {
        0 => b.lit(random.below(7) as i32 - 3),
        1 => random.pick(&scope.leaves),
        2 if !scope.funcs.is_empty() => {
            let (func, fixed) = &scope.funcs[random.below(scope.funcs.len() as u64) as usize];
            let args: Vec<ExprId> =
                fixed.iter().map(|f| f.unwrap_or_else(|| coordinate(b, random, scope, depth - 1))).collect();
            b.call(*func, &args)
        }
        3 => {
            let (x, y) = (value(b, random, scope, depth - 1), value(b, random, scope, depth - 1));
            let condition = b.bin(BinOp::Lt, x, y);
            let (x, y) = (value(b, random, scope, depth - 1), value(b, random, scope, depth - 1));
            b.select(condition, x, y)
        }
        _ => {
            let (x, y) = (value(b, random, scope, depth - 1), value(b, random, scope, depth - 1));
            b.bin(random.pick(&OPS), x, y)
        }
    }
}

/// A coordinate within the grid; a cast keeps index arithmetic apart, where products could overflow.
fn coordinate(b: &mut Build, random: &mut Random, scope: &Scope, depth: u32) -> ExprId {
    let (v, n) = (value(b, random, scope, depth), b.lit(N));
    let data = b.node(Kind::Cast(v), I32);
    b.bin(BinOp::Mod, data, n)
}

/// A Func with updates that may read those before it.
fn func(b: &mut Build, random: &mut Random, earlier: &[FuncId]) -> FuncId {
    let dims = 1 + random.below(3) as usize;
    let vars: Vec<VarId> = (0..dims).map(|d| b.p.vars.push(format!("x{d}"))).collect();
    let own: Vec<ExprId> = vars.iter().map(|v| b.var(*v)).collect();
    let mut funcs: Vec<(FuncId, Vec<Option<ExprId>>)> =
        earlier.iter().map(|f| (*f, vec![None; b.p.funcs[*f].dims()])).collect();
    let start = value(b, random, &Scope { leaves: own.clone(), funcs: &funcs }, 3);
    let f = b.func(&format!("f{}", earlier.len()), &vars, &[start]);
    for _ in 0..random.below(4) {
        let pure: Vec<bool> = (0..dims).map(|_| random.below(2) == 0).collect();
        let mut leaves: Vec<ExprId> = own.iter().zip(&pure).filter(|(_, p)| **p).map(|(e, _)| *e).collect();
        let extents: Vec<(i32, i32)> =
            (0..random.below(3)).map(|_| (random.below(5) as i32 - 2, random.below(5) as i32)).collect();
        let rdom = (!extents.is_empty()).then(|| b.rdom(&extents));
        leaves.extend((0..extents.len()).map(|d| b.rvar(RDomId(b.p.rdoms.len() as u32 - 1), d as u8)));
        leaves.push(b.lit(1));
        funcs.push((f, own.iter().zip(&pure).map(|(e, p)| p.then_some(*e)).collect()));
        let scope = Scope { leaves, funcs: &funcs };
        let args: Vec<ExprId> =
            (0..dims).map(|d| if pure[d] { own[d] } else { coordinate(b, random, &scope, 1) }).collect();
        let stored = value(b, random, &scope, 3);
        if let (Some(r), 0) = (rdom, random.below(2)) {
            let (x, y) = (value(b, random, &scope, 2), value(b, random, &scope, 1));
            b.p.rdoms[r].predicate = Some(b.bin(BinOp::Le, x, y));
        }
        b.update(f, rdom, &args, &[stored]);
        funcs.pop();
    }
    f
}

/// Every value of every Func on the grid, computed stage after stage.
type Grids = BTreeMap<(FuncId, Vec<i32>), i32>;

fn replay(p: &PipelineData) -> Grids {
    let mut grids = Grids::new();
    for &func in &p.order {
        let def = &p.funcs[func];
        for (s, stage) in def.stages.iter().enumerate() {
            let own = |d: usize| matches!(p.exprs[stage.args[d]].kind, Kind::Var(v) if v == def.args[d]);
            let free: Vec<usize> = (0..def.dims()).filter(|d| own(*d)).collect();
            let rdom = stage.rdom.map(|r| &p.rdoms[r]);
            let literal = |e| match p.exprs[e].kind {
                Kind::Const(c) => c.as_i64(),
                _ => 0,
            };
            let domain: Vec<(i64, i64)> =
                rdom.iter().flat_map(|r| &r.dims).map(|d| (literal(d.min), literal(d.extent))).collect();
            for key in Region::of_extents(vec![N; free.len()]).coords() {
                for r in Region::of_spans(&domain).coords() {
                    let at = |v: VarId| key[free.iter().position(|d| def.args[*d] == v).unwrap()];
                    let mut values: BTreeMap<ExprId, i32> = BTreeMap::new();
                    if let Some(guard) = rdom.and_then(|r| r.predicate)
                        && eval(p, &grids, guard, &at, &r, &mut values) == 0
                    {
                        continue;
                    }
                    let point: Vec<i32> =
                        stage.args.iter().map(|a| eval(p, &grids, *a, &at, &r, &mut values)).collect();
                    let value = eval(p, &grids, stage.values[0], &at, &r, &mut values);
                    let old = grids.insert((func, point), value);
                    assert!(s == 0 || old.is_some(), "an update stays on the grid");
                }
            }
        }
    }
    grids
}

/// Plain recursion.
fn eval(
    p: &PipelineData,
    grids: &Grids,
    e: ExprId,
    var: &dyn Fn(VarId) -> i32,
    r: &[i32],
    seen: &mut BTreeMap<ExprId, i32>,
) -> i32 {
    if let Some(value) = seen.get(&e) {
        return *value;
    }
    let mut get = |e: ExprId| eval(p, grids, e, var, r, seen);
    let value = match &p.exprs[e].kind {
        Kind::Const(c) => c.as_i64() as i32,
        Kind::Var(v) => var(*v),
        Kind::RVar { dim, .. } => r[*dim as usize],
        Kind::Cast(a) => get(*a),
        Kind::Binary(op, a, b) => binary(*op, Scalar::from(get(*a)), Scalar::from(get(*b))).as_i64() as i32,
        Kind::Select(c, a, b) => {
            let c = Scalar::bool(get(*c) != 0);
            select(c, Scalar::from(get(*a)), Scalar::from(get(*b))).as_i64() as i32
        }
        Kind::Call { func, args, .. } => {
            let at: Vec<i32> = args.iter().map(|a| get(*a)).collect();
            // The variables of a pure definition range beyond the grid only through reads, which do not.
            grids[&(*func, at)]
        }
        other => unreachable!("{other:?} is not made by this test"),
    };
    seen.insert(e, value);
    value
}

#[test]
fn updates_agree_with_an_eager_replay() {
    for seed in 0..600 {
        let mut random = Random(seed);
        let mut b = Build::default();
        let mut funcs = Vec::new();
        for _ in 0..1 + random.below(4) {
            let f = func(&mut b, &mut random, &funcs);
            funcs.push(f);
        }
        let grids = replay(&b.p);
        b.p.outputs = (0..1 + random.below(3)).map(|_| random.pick(&funcs)).collect();
        b.p.outputs.dedup();
        let mut regions = Vec::new();
        for f in &b.p.outputs {
            let span = |random: &mut Random| {
                let min = random.below(N as u64) as i32;
                (min, 1 + random.below((N - min) as u64) as i32)
            };
            let spans: Vec<(i32, i32)> = (0..b.p.funcs[*f].dims()).map(|_| span(&mut random)).collect();
            regions.push(Region::of_spans(&spans));
        }
        let out = run(&b.p, &Inputs::new(), &regions).unwrap_or_else(|e| panic!("seed {seed}: {e}"));
        for (buffer, func) in out.iter().zip(&b.p.outputs) {
            for at in buffer.coords() {
                let expected = grids[&(*func, at.clone())];
                assert_eq!(buffer.get(&at), Some(expected.into()), "seed {seed}: {func:?} at {at:?}");
            }
        }
    }
}
