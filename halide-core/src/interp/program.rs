//! A stage of a Func as a flat list of operations, operands first.
//!
//! An expression below a coordinate is compiled in *index* mode: its integers are exact 64-bit values. Everywhere else
//! it is *data*, and wraps in its type. One frozen node may be used in both ways and then becomes two operations.

use super::bound::Bound;
use super::error::{RunError, required};
use super::lanes;
use super::op::{Note, Op, Program, Reg, Site};
use super::settled::settled_parts;
use crate::ids::{ExprId, FuncId, RDomId, VarId};
use crate::ops::{BinOp, UnOp};
use crate::pipeline::{DimField, IndexTable, Kind, PipelineData};
use std::collections::{BTreeMap, BTreeSet};

/// Compiles stage `stage` of `func`; `index` is the pipeline's table.
pub(super) fn compile(
    p: &PipelineData,
    index: &IndexTable,
    bound: &Bound,
    func: FuncId,
    stage: usize,
) -> Result<Program, RunError> {
    let def = &p.funcs[func].stages[stage];
    let rdom = def.rdom.map(|r| &p.rdoms[r]);
    let guard = rdom.and_then(|r| r.predicate);
    let targets: &[ExprId] = if stage == 0 { &[] } else { &def.args };
    let mut roots: Vec<(ExprId, Mode)> = guard.iter().map(|e| (*e, Mode::Data)).collect();
    roots.extend(targets.iter().map(|e| (*e, Mode::Index)));
    roots.extend(def.values.iter().map(|e| (*e, Mode::Data)));

    let mut scope = StageScope { p, index, bound, func, stage, rdom: def.rdom, site: 0 };
    let (mut code, mut sites, mut guarded) = (Code::default(), Vec::new(), None);
    for site in 0..p.sites(def) {
        scope.site = site;
        code.regs.clear();
        code.compile(&scope, &roots)?;
        let reg = |e: &ExprId, mode| code.regs[&(*e, mode)];
        guarded = guard.map(|e| reg(&e, Mode::Data));
        let targets = targets.iter().map(|e| reg(e, Mode::Index)).collect();
        sites.push(Site { targets, values: def.values.iter().map(|e| reg(e, Mode::Data)).collect() });
    }
    let pure_dims = pure_dims(&scope, targets)?;
    let free = code.ops.iter().find_map(|op| match op {
        Op::Var { dim, .. } if stage > 0 && !pure_dims.contains(dim) => Some(*dim),
        _ => None,
    });
    if let Some(dim) = free {
        let name = &p.vars[p.funcs[func].args[dim]];
        return Err(scope.malformed(format!(
            "variable {name} is used, but is not the coordinate of its own dimension in every access to the Func"
        )));
    }
    let rdom = match rdom {
        Some(r) => r.dims.iter().map(|d| constant_range(&scope, d.min, d.extent)).collect::<Result<_, _>>()?,
        None => Vec::new(),
    };
    let settled = settled_parts(&code.ops, guarded);
    Ok(Program { guard: guarded, settled, sites, pure_dims, rdom, total: code.total, ops: code.ops })
}

/// The use of an expression. Data comes first, so that an index can be made of the same node's data.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Mode {
    Data,
    Index,
}

/// The meaning of names in a stage.
struct StageScope<'a> {
    p: &'a PipelineData,
    index: &'a IndexTable,
    bound: &'a Bound,
    func: FuncId,
    stage: usize,
    rdom: Option<RDomId>,
    /// The site for which it is compiled.
    site: usize,
}

impl StageScope<'_> {
    fn malformed(&self, reason: String) -> RunError {
        RunError::Malformed { func: self.p.funcs[self.func].name.clone(), stage: self.stage, reason }
    }
    fn dim_of(&self, var: VarId) -> Result<usize, RunError> {
        let position = self.p.funcs[self.func].args.iter().position(|v| *v == var);
        position.ok_or_else(|| self.malformed(format!("variable {} is not one of the Func's", self.p.vars[var])))
    }
    fn expect_dims(&self, dims: usize, args: &[ExprId]) -> Result<(), RunError> {
        if dims == args.len() {
            Ok(())
        } else {
            Err(self.malformed("a read has too few or too many coordinates".into()))
        }
    }
    /// A Func may read those before it in the order and, in updates, itself.
    fn expect_callable(&self, callee: FuncId, element: u8, args: &[ExprId]) -> Result<(), RunError> {
        let (p, def) = (self.p, &self.p.funcs[callee]);
        self.expect_dims(def.dims(), args)?;
        if element as usize >= def.types.len() {
            return Err(self.malformed(format!("{} has no element {element}", def.name)));
        }
        let own = callee == self.func && self.stage > 0;
        let earlier = p.order.iter().take_while(|f| **f != self.func).any(|f| *f == callee);
        if own || earlier {
            Ok(())
        } else {
            Err(self.malformed(format!("{} is not defined before it is read", def.name)))
        }
    }
    /// Returns true if a comparison is one of exact index values.
    fn is_exact(&self, op: BinOp, a: ExprId, b: ExprId) -> bool {
        op.is_comparison() && self.index.is_comparison(a, b)
    }
    /// The expressions that must be computed before an operation.
    fn operands(&self, (id, mode): (ExprId, Mode)) -> Vec<(ExprId, Mode)> {
        let kind = &self.p.exprs[id].kind;
        if mode == Mode::Index && !is_index_kind(kind) {
            return vec![(id, Mode::Data)];
        }
        let each = |args: &[ExprId], mode| args.iter().map(|e| (*e, mode)).collect::<Vec<_>>();
        match kind {
            Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => Vec::new(),
            Kind::Before { .. } => Vec::new(),
            Kind::Unary(_, a) | Kind::Likely(a) | Kind::LikelyIfInnermost(a) => vec![(*a, mode)],
            Kind::Strict(a) => vec![(*a, Mode::Data)],
            Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) => vec![(*a, Mode::Data)],
            Kind::Binary(op, a, b) if self.is_exact(*op, *a, *b) => vec![(*a, Mode::Index), (*b, Mode::Index)],
            Kind::Binary(_, a, b) => vec![(*a, mode), (*b, mode)],
            Kind::Select(c, a, b) => vec![(*c, Mode::Data), (*a, mode), (*b, mode)],
            Kind::Note { condition, value, parts, .. } => {
                let mut all = each(parts, Mode::Data);
                all.extend([(*condition, Mode::Data), (*value, mode)]);
                all
            }
            Kind::Math(_, args) => each(args, Mode::Data),
            Kind::Sites(values) => vec![(values[self.site], mode)],
            Kind::Call { args, .. } | Kind::Image { args, .. } => each(args, Mode::Index),
        }
    }
}

#[derive(Default)]
struct Code {
    ops: Vec<Op>,
    total: Vec<bool>,
    /// The number of bits that the magnitude of an index operation may need.
    bits: Vec<u32>,
    regs: BTreeMap<(ExprId, Mode), Reg>,
}

impl Code {
    /// Compiles everything that the roots need, in the order of the frozen nodes: operands first.
    fn compile(&mut self, scope: &StageScope, roots: &[(ExprId, Mode)]) -> Result<(), RunError> {
        let (mut needed, mut todo) = (BTreeSet::new(), roots.to_vec());
        while let Some(node) = todo.pop() {
            if needed.insert(node) {
                todo.extend(scope.operands(node));
            }
        }
        for node in needed {
            let op = self.op(scope, node)?;
            let bits = self.index_bits(&op);
            let total = !may_fail(&op, bits) && scope.operands(node).iter().all(|o| self.total[self.regs[o]]);
            self.regs.insert(node, self.ops.len());
            self.bits.push(bits);
            self.ops.push(op);
            self.total.push(total);
        }
        Ok(())
    }

    /// The number of bits that the magnitude of an index may need; a value that is not computed here is an i32.
    fn index_bits(&self, op: &Op) -> u32 {
        use BinOp::*;
        match op {
            Op::IndexNeg(a) | Op::Copy(a) | Op::Note(Note { value: a, .. }) => self.bits[*a],
            Op::Select(_, a, b) => self.bits[*a].max(self.bits[*b]),
            Op::IndexBinary(op, a, b) => {
                let (a, b) = (self.bits[*a], self.bits[*b]);
                match op {
                    Add | Sub => (a.max(b) + 1).min(i64::BITS),
                    Mul => (a + b).min(i64::BITS),
                    Mod => b,
                    Div => a,
                    _ => a.max(b),
                }
            }
            Op::Const(value) => i64::BITS - (*value as i64).unsigned_abs().leading_zeros(),
            _ => i32::BITS,
        }
    }

    fn op(&self, scope: &StageScope, (id, mode): (ExprId, Mode)) -> Result<Op, RunError> {
        let node = &scope.p.exprs[id];
        let ty = node.ty;
        let data = |e: &ExprId| self.regs[&(*e, Mode::Data)];
        let same = |e: &ExprId| self.regs[&(*e, mode)];
        let index = mode == Mode::Index;
        let coordinates = |args: &[ExprId]| args.iter().map(|e| self.regs[&(*e, Mode::Index)]).collect();
        let from = |e: &ExprId| scope.p.exprs[*e].ty;
        if index && !is_index_kind(&node.kind) {
            return Ok(Op::ToIndex(self.regs[&(id, Mode::Data)]));
        }
        let constant = |value: i64| Op::Const(if index { value as u64 } else { value as u32 as u64 });
        Ok(match &node.kind {
            Kind::Const(value) if index => constant(value.as_i64()),
            Kind::Const(value) => Op::Const(value.bits()),
            Kind::Param(param) if index => constant(scope.bound.params[*param].as_i64()),
            Kind::Param(param) => Op::Const(scope.bound.params[*param].bits()),
            Kind::ImageDim { image, dim, field } => {
                let (buffer, dim) = (&scope.bound.images[*image], *dim as usize);
                constant(match field {
                    DimField::Min => buffer.min(dim),
                    DimField::Extent => buffer.extent(dim),
                    DimField::Stride => buffer.stride(dim),
                })
            }
            Kind::Var(var) => Op::Var { dim: scope.dim_of(*var)?, index },
            Kind::RVar { rdom, dim } if Some(*rdom) == scope.rdom => Op::RVar { dim: *dim as usize, index },
            Kind::RVar { .. } => return Err(scope.malformed("a variable of another reduction domain is used".into())),
            Kind::Unary(_, a) if index => Op::IndexNeg(same(a)),
            Kind::Unary(op, a) => Op::Unary(*op, from(a), data(a)),
            Kind::Binary(op, a, b) if index => Op::IndexBinary(*op, same(a), same(b)),
            Kind::Binary(op, a, b) if scope.is_exact(*op, *a, *b) => {
                let exact = |e: &ExprId| self.regs[&(*e, Mode::Index)];
                Op::IndexCompare(*op, exact(a), exact(b))
            }
            Kind::Binary(op, a, b) => Op::Binary(*op, from(a), data(a), data(b)),
            Kind::Select(c, a, b) => Op::Select(data(c), same(a), same(b)),
            Kind::Likely(a) | Kind::LikelyIfInnermost(a) => Op::Copy(same(a)),
            Kind::Strict(a) => Op::Copy(data(a)),
            Kind::Sites(values) => Op::Copy(same(&values[scope.site])),
            Kind::Before { element } => Op::Before { element: *element as usize },
            Kind::Note { note, condition, value, parts } => Op::Note(Note {
                note: *note,
                kind: scope.p.notes[*note].kind,
                condition: data(condition),
                value: same(value),
                parts: parts.iter().map(|e| (data(e), from(e))).collect(),
            }),
            Kind::Reinterpret(a) => Op::Copy(data(a)),
            Kind::Cast(a) => Op::Cast { from: from(a), to: ty, a: data(a) },
            Kind::SaturatingCast(a) => Op::SaturatingCast { from: from(a), to: ty, a: data(a) },
            Kind::Math(function, args) => Op::Math(*function, ty, args.iter().map(data).collect()),
            Kind::Image { image, args } => {
                scope.expect_dims(scope.p.images[*image].dims, args)?;
                Op::Image { image: *image, args: coordinates(args) }
            }
            Kind::Call { func, element, args } => {
                scope.expect_callable(*func, *element, args)?;
                let (element, args) = (*element as usize, coordinates(args));
                if *func == scope.func {
                    Op::SelfCall { element, args }
                } else {
                    Op::Call { func: *func, element, args }
                }
            }
        })
    }
}

/// Returns true if an operation itself can fail or ask for a Func; `bits` is its [`Code::index_bits`].
fn may_fail(op: &Op, bits: u32) -> bool {
    use Op::*;
    match op {
        IndexNeg(_) | IndexBinary(..) => bits >= i64::BITS,
        Call { .. } | SelfCall { .. } | Image { .. } | Note(_) | Before { .. } => true,
        _ => false,
    }
}

/// Returns true if index mode goes on below a node; elsewhere an index is made of the node's data.
fn is_index_kind(kind: &Kind) -> bool {
    use BinOp::*;
    match kind {
        Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => true,
        Kind::Unary(op, _) => *op == UnOp::Neg,
        Kind::Binary(op, ..) => matches!(op, Add | Sub | Mul | Div | Mod | Min | Max),
        Kind::Select(..) | Kind::Sites(_) | Kind::Likely(_) | Kind::LikelyIfInnermost(_) | Kind::Note { .. } => true,
        _ => false,
    }
}

/// The dimensions whose coordinate is the Func's own variable in the store and in every read of the Func itself.
fn pure_dims(scope: &StageScope, targets: &[ExprId]) -> Result<Vec<usize>, RunError> {
    let (p, own) = (scope.p, &scope.p.funcs[scope.func].args);
    let is_own = |args: &[ExprId], dim: usize| {
        args.get(dim).is_some_and(|e| matches!(p.exprs[*e].kind, Kind::Var(v) if v == own[dim]))
    };
    if !targets.is_empty() && targets.len() != own.len() {
        return Err(scope.malformed("the number of coordinates is not the Func's".into()));
    }
    let (mut seen, mut todo) = (BTreeSet::new(), Vec::new());
    let stage = &p.funcs[scope.func].stages[scope.stage];
    todo.extend(stage.args.iter().chain(&stage.values).copied());
    todo.extend(stage.rdom.and_then(|r| p.rdoms[r].predicate));
    let mut pure: Vec<usize> = (0..own.len()).filter(|d| targets.is_empty() || is_own(targets, *d)).collect();
    while let Some(id) = todo.pop() {
        if !seen.insert(id) {
            continue;
        }
        if let Kind::Call { func, args, .. } = &p.exprs[id].kind
            && *func == scope.func
        {
            pure.retain(|d| is_own(args, *d));
        }
        todo.extend(p.exprs[id].kind.children());
    }
    Ok(pure)
}

/// The value of index arithmetic over parameters, image dimensions and constants; `None` if `e` is something else, or
/// overflows.
pub(super) fn uniform(p: &PipelineData, bound: &Bound, e: ExprId) -> Option<i64> {
    let func = *p.outputs.first()?;
    let scope = StageScope { p, index: &p.index_table(), bound, func, stage: 0, rdom: None, site: 0 };
    let mut code = Code::default();
    code.compile(&scope, &[(e, Mode::Index)]).ok()?;
    let mut values: Vec<u64> = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        values.push(lanes::constant(op, &values)??);
    }
    Some(values[code.regs[&(e, Mode::Index)]] as i64)
}

/// Min and extent of a dimension of a reduction domain: expressions of nothing that varies.
fn constant_range(scope: &StageScope, min: ExprId, extent: ExprId) -> Result<(i64, i64), RunError> {
    let mut code = Code::default();
    let outside = StageScope { rdom: None, ..*scope };
    code.compile(&outside, &[(min, Mode::Index), (extent, Mode::Index)])?;
    let overflow = || RunError::IndexOverflow { func: scope.p.funcs[scope.func].name.clone(), stage: scope.stage };
    let mut values: Vec<u64> = Vec::with_capacity(code.ops.len());
    for op in &code.ops {
        if let Op::Note(note) = op
            && values[note.condition] == 0
        {
            let message = note.text(scope.p, |r| values[r]);
            return Err(required(scope.p, (scope.func, scope.stage), note.note, Vec::new(), message));
        }
        let value = lanes::constant(op, &values)
            .ok_or_else(|| scope.malformed("the bounds of a reduction domain vary with a variable or a Func".into()))?;
        values.push(value.ok_or_else(overflow)?);
    }
    let value = |e| values[code.regs[&(e, Mode::Index)]] as i64;
    let (min, extent) = (value(min), value(extent));
    let last = min.checked_add(extent.max(1) - 1).ok_or_else(overflow)?;
    if extent > 0 && (i32::try_from(min).is_err() || i32::try_from(last).is_err()) {
        return Err(overflow());
    }
    Ok((min, extent))
}
