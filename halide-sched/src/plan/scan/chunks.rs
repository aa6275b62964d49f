//! Scans in chunks, as definitions.

use super::form::Scan;
use crate::plan::affine::constant;
use crate::plan::graph::Graph;
use crate::plan::monoid::Parts;
use crate::plan::rdomain::Chunks;
use crate::plan::recurrence::Recurrence;
use crate::schedule::{carry_name, total_name};
use halide_core::error::Location;
use halide_core::ids::{ExprId, FuncId, RDomId, VarId};
use halide_core::ops::BinOp;
use halide_core::pipeline::{FuncDef, Kind, RVarDef, StageDef};
use halide_core::types::ScalarType;
use std::collections::BTreeMap;

/// Puts the scan in chunks into the graph; `names` are those of the Func of the chunks and of its new dimension.
pub(crate) fn in_chunks(
    scan: &Scan,
    graph: &mut Graph,
    parts: &Parts,
    chunks: &Chunks,
    names: (&str, &str),
    at: Location,
) {
    let def = graph.data().funcs[scan.func].clone();
    let var = graph.var(names.1);
    let u = graph.node(Kind::Var(var), ScalarType::I32);
    let mut cx = Rewrite { scan, parts, chunks, def, u, at, graph };
    let part = cx.part(names.0.to_string(), var);
    let total = cx.total(total_name(&cx.def.name, names.1), var);
    let carry = cx.carry(carry_name(&cx.def.name, names.1), var, total);
    let whole = cx.whole(part, carry);
    graph.define(scan.func, whole);
}

struct Rewrite<'r> {
    scan: &'r Scan,
    parts: &'r Parts,
    chunks: &'r Chunks,
    /// The Func as it was.
    def: FuncDef,
    /// The number of a chunk.
    u: ExprId,
    /// The place of the directive.
    at: Location,
    graph: &'r mut Graph,
}

impl Rewrite<'_> {
    fn dim(&self) -> usize {
        self.scan.recurrence.dim
    }

    fn factor(&mut self) -> ExprId {
        self.graph.int(self.chunks.factor)
    }

    /// The coordinates of the Func, which are its own variables.
    fn own(&mut self) -> Vec<ExprId> {
        let vars = self.def.args.clone();
        vars.into_iter().map(|v| self.graph.node(Kind::Var(v), ScalarType::I32)).collect()
    }

    /// The own coordinates but for that of the scan, and `u` behind them.
    fn by_chunk(&mut self, u: ExprId) -> Vec<ExprId> {
        let mut at = self.own();
        at.remove(self.dim());
        at.push(u);
        at
    }

    /// The number of values of a variable of the domain.
    fn extent(&self, rvar: usize) -> ExprId {
        self.graph.data().rdoms[self.scan.recurrence.rdom].dims[rvar].extent
    }

    /// `base + e`, or `base - e`.
    fn along(&mut self, falls: bool, base: ExprId, e: ExprId) -> ExprId {
        match (falls, constant(self.graph.data(), base)) {
            (false, Some(0)) => e,
            (false, Some(_)) => self.graph.index(BinOp::Add, e, base),
            (false, None) => self.graph.index(BinOp::Add, base, e),
            (true, _) => self.graph.index(BinOp::Sub, base, e),
        }
    }

    /// The place from which `along` leads to `e`.
    fn back(&mut self, falls: bool, base: ExprId, e: ExprId) -> ExprId {
        match (falls, constant(self.graph.data(), base)) {
            (false, Some(0)) => e,
            (false, _) => self.graph.index(BinOp::Sub, e, base),
            (true, _) => self.graph.index(BinOp::Sub, base, e),
        }
    }

    fn likely(&mut self, e: ExprId) -> ExprId {
        self.graph.node(Kind::Likely(e), ScalarType::I32)
    }

    /// New values that the scan brings in at element `t`, which is not in front of the first one.
    fn brought(&mut self, t: ExprId) -> Vec<ExprId> {
        let scan = self.scan;
        let (Recurrence { rdom, rvar, .. }, falls) = (&scan.recurrence, scan.recurrence.line.falls);
        let extent = self.extent(*rvar);
        let place = self.likely(t);
        let t = self.graph.index(BinOp::Min, place, extent);
        let x = self.along(falls, scan.base, t);
        let own = self.own();
        if self.is_as_first() {
            let mut made = BTreeMap::from([(own[self.dim()], x)]);
            return scan.begins.iter().map(|&e| self.graph.with(e, &mut made)).collect();
        }
        // The variables of the domain at this element.
        let one = self.graph.int(1);
        let from_one = self.graph.index(BinOp::Max, place, one);
        let from_one = self.likely(from_one);
        // A scan of nothing has no such element; the one in front is the nearest.
        let from_one = self.graph.index(BinOp::Min, from_one, extent);
        let r = self.along(false, scan.before_first, from_one);
        let mut made = BTreeMap::from([(self.graph.node(self.rvar_kind(*rdom, *rvar), ScalarType::I32), r)]);
        for (&dim, other) in &scan.others {
            let value = self.back(other.falls, other.start, own[dim]);
            made.insert(self.graph.node(self.rvar_kind(*rdom, other.rvar), ScalarType::I32), value);
        }
        let new: Vec<ExprId> = self.new_values().into_iter().map(|e| self.graph.with(e, &mut made)).collect();
        let zero = self.graph.int(0);
        let t = self.likely(t);
        let behind = self.graph.node(Kind::Binary(BinOp::Gt, t, zero), ScalarType::Bool);
        let first = scan.first(self.graph).expect("the scan begins with no old value of an output");
        let types = self.def.types.clone();
        let select = |((new, first), ty)| self.graph.node(Kind::Select(behind, new, first), ty);
        new.into_iter().zip(first).zip(types).map(select).collect()
    }

    fn rvar_kind(&self, rdom: RDomId, rvar: usize) -> Kind {
        Kind::RVar { rdom, dim: rvar as u8 }
    }

    /// New values of a step, in terms of the variables of the update.
    fn new_values(&mut self) -> Vec<ExprId> {
        let (func, before) = (self.scan.func, self.scan.recurrence.before.clone());
        let mut made = BTreeMap::new();
        for (element, (identity, &ty)) in self.parts.identity.iter().zip(&self.def.types).enumerate() {
            let old = Kind::Call { func, element: element as u8, args: before.clone() };
            made.insert(self.graph.node(old, ty), self.graph.node(Kind::Const(*identity), ty));
        }
        let said = self.parts.news.iter().zip(&self.scan.step.values).zip(&self.def.types);
        said.map(|((new, &value), &ty)| match new {
            Some(new) if self.graph.data().exprs[*new].ty == ty => *new,
            _ => self.graph.with(value, &mut made),
        })
        .collect()
    }

    /// Returns true if every step brings in what the first definition has at the element that it stores to.
    fn is_as_first(&mut self) -> bool {
        let update = self.def.stages.last().map_or(Vec::new(), |update| update.args.clone());
        let own = self.own();
        let mut made: BTreeMap<ExprId, ExprId> = own.into_iter().zip(update).collect();
        let begins: Vec<ExprId> = self.scan.begins.iter().map(|&e| self.graph.with(e, &mut made)).collect();
        begins == self.new_values()
    }

    fn read(&mut self, func: FuncId, at: &[ExprId]) -> Vec<(ExprId, ScalarType)> {
        let types = self.def.types.clone();
        let call = |(element, ty): (usize, ScalarType)| {
            let kind = Kind::Call { func, element: element as u8, args: at.to_vec() };
            (self.graph.node(kind, ty), ty)
        };
        types.into_iter().enumerate().map(call).collect()
    }

    fn merge(&mut self, olds: &[(ExprId, ScalarType)], news: &[(ExprId, ScalarType)]) -> Vec<ExprId> {
        let merge = &self.parts.merge;
        merge.iter().map(|t| t.build(olds, news, &mut |kind, ty| self.graph.node(kind, ty)).0).collect()
    }

    fn with_types(&self, values: Vec<ExprId>) -> Vec<(ExprId, ScalarType)> {
        values.into_iter().zip(self.def.types.iter().copied()).collect()
    }

    fn identity(&mut self) -> Vec<ExprId> {
        let identity = &self.parts.identity;
        identity.iter().map(|c| self.graph.node(Kind::Const(*c), c.ty())).collect()
    }

    /// A variable over `min .. min + extent` of a domain of its own.
    fn domain(&mut self, name: &str, min: i64, extent: ExprId) -> (RDomId, ExprId) {
        let min = self.graph.int(min);
        let dim = RVarDef { name: name.to_string(), said: name.to_string(), min, extent };
        let rdom = self.graph.add_rdom(self.scan.recurrence.rdom, vec![dim], None);
        (rdom, self.graph.node(Kind::RVar { rdom, dim: 0 }, ScalarType::I32))
    }

    /// Adds a Func in front of the scan; `stages` are given its number.
    fn add(
        &mut self,
        name: String,
        args: Vec<VarId>,
        stages: impl FnOnce(&mut Self, FuncId) -> Vec<StageDef>,
    ) -> FuncId {
        let func = self.graph.next_func();
        let stages = stages(self, func);
        let def = FuncDef { said: name.clone(), name, args, types: self.def.types.clone(), stages, at: self.def.at };
        self.graph.add_ahead(self.scan.func, def);
        func
    }

    fn stage(&self, args: Vec<ExprId>, values: Vec<ExprId>, rdom: Option<RDomId>) -> StageDef {
        StageDef { args, values, rdom, at: self.at }
    }

    /// Element `i` of chunk `u`, counted along the scan.
    fn element(&mut self, i: ExprId) -> ExprId {
        let factor = self.factor();
        let first = self.graph.index(BinOp::Mul, self.u, factor);
        self.graph.index(BinOp::Add, first, i)
    }

    /// The chunks, each scanned by itself.
    fn part(&mut self, name: String, u: VarId) -> FuncId {
        let args: Vec<VarId> = self.def.args.iter().copied().chain([u]).collect();
        self.add(name, args, |cx, func| {
            let mut own = cx.own();
            let t = cx.element(own[cx.dim()]);
            own.push(cx.u);
            let first = cx.brought(t);
            let first = cx.stage(own.clone(), first, None);
            let (one, extent) = (cx.graph.int(1), cx.graph.int(cx.chunks.factor - 1));
            let (rdom, i) = cx.domain(&cx.chunks.inner, 1, extent);
            let (mut here, mut before) = (own.clone(), own);
            here[cx.dim()] = i;
            before[cx.dim()] = cx.graph.index(BinOp::Sub, i, one);
            let (olds, news) = (cx.read(func, &before), cx.read(func, &here));
            let values = cx.merge(&olds, &news);
            vec![first, cx.stage(here, values, Some(rdom))]
        })
    }

    fn chunk_args(&self, u: VarId) -> Vec<VarId> {
        let mut args = self.def.args.clone();
        args.remove(self.dim());
        args.push(u);
        args
    }

    /// The reduction of each chunk.
    fn total(&mut self, name: String, u: VarId) -> FuncId {
        self.add(name, self.chunk_args(u), |cx, func| {
            let at = cx.by_chunk(cx.u);
            let identity = cx.identity();
            let first = cx.stage(at.clone(), identity, None);
            let factor = cx.factor();
            let (rdom, i) = cx.domain(&cx.chunks.inner, 0, factor);
            let t = cx.element(i);
            let new = cx.brought(t);
            let (olds, news) = (cx.read(func, &at), cx.with_types(new));
            let values = cx.merge(&olds, &news);
            vec![first, cx.stage(at, values, Some(rdom))]
        })
    }

    /// The reduction of all chunks before each.
    fn carry(&mut self, name: String, u: VarId, total: FuncId) -> FuncId {
        self.add(name, self.chunk_args(u), |cx, func| {
            let (zero, one) = (cx.graph.int(0), cx.graph.int(1));
            let likely = cx.likely(cx.u);
            let behind = cx.graph.node(Kind::Binary(BinOp::Gt, likely, zero), ScalarType::Bool);
            let before = cx.graph.index(BinOp::Sub, cx.u, one);
            let before = cx.likely(before);
            let before = cx.graph.index(BinOp::Max, before, zero);
            let at = cx.by_chunk(before);
            let totals = cx.read(total, &at);
            let identity = cx.identity();
            let select = |(total, none): ((ExprId, ScalarType), ExprId)| {
                cx.graph.node(Kind::Select(behind, total.0, none), total.1)
            };
            let values = totals.into_iter().zip(identity).map(select).collect();
            let at = cx.by_chunk(cx.u);
            let first = cx.stage(at, values, None);
            let extent = cx.extent(cx.scan.recurrence.rvar);
            let factor = cx.factor();
            let chunks = cx.graph.index(BinOp::Div, extent, factor);
            let (rdom, chunk) = cx.domain(&cx.chunks.outer, 1, chunks);
            let before = cx.graph.index(BinOp::Sub, chunk, one);
            let (at, before) = (cx.by_chunk(chunk), cx.by_chunk(before));
            let (olds, news) = (cx.read(func, &before), cx.read(func, &at));
            let values = cx.merge(&olds, &news);
            vec![first, cx.stage(at, values, Some(rdom))]
        })
    }

    /// The Func itself.
    fn whole(&mut self, part: FuncId, carry: FuncId) -> StageDef {
        let scan = self.scan;
        let mut at = self.own();
        let own = at.clone();
        let mut inside = None;
        for (&dim, other) in &scan.others {
            let value = self.back(other.falls, other.start, own[dim]);
            let from_zero = self.back(false, other.min, value);
            let one = self.graph.int(1);
            let last = self.graph.index(BinOp::Sub, self.extent(other.rvar), one);
            let from_zero = self.inside(from_zero, last, &mut inside);
            let value = self.along(false, other.min, from_zero);
            at[dim] = self.along(other.falls, other.start, value);
        }
        let t = self.back(scan.recurrence.line.falls, scan.base, own[self.dim()]);
        let last = self.extent(scan.recurrence.rvar);
        let t = self.inside(t, last, &mut inside);
        let factor = self.factor();
        let (u, i) = (self.graph.index(BinOp::Div, t, factor), self.graph.index(BinOp::Mod, t, factor));
        at.push(u);
        at[self.dim()] = i;
        let news = self.read(part, &at);
        at.remove(self.dim());
        let olds = self.read(carry, &at);
        let merged = self.merge(&olds, &news);
        let first = scan.begins.clone();
        let inside = inside.expect("the scan goes along a variable");
        let select = |((value, first), &ty)| self.graph.node(Kind::Select(inside, value, first), ty);
        let values = merged.into_iter().zip(first).zip(&self.def.types).map(select).collect();
        self.stage(own, values, None)
    }

    /// `e`, at least 0 and at most `last`; adds to `all` the condition that it is.
    fn inside(&mut self, e: ExprId, last: ExprId, all: &mut Option<ExprId>) -> ExprId {
        let (e, zero) = (self.likely(e), self.graph.int(0));
        for kind in [Kind::Binary(BinOp::Ge, e, zero), Kind::Binary(BinOp::Le, e, last)] {
            let one = self.graph.node(kind, ScalarType::Bool);
            *all = Some(match *all {
                Some(before) => self.graph.node(Kind::Binary(BinOp::BitAnd, before, one), ScalarType::Bool),
                None => one,
            });
        }
        let most = self.graph.index(BinOp::Min, e, last);
        self.graph.index(BinOp::Max, most, zero)
    }
}
