//! What a definition allows its loops to do: which iterations can never touch the same element, and whether the order
//! of a reduction matters.

use super::error::OrderReason;
use crate::plan::VarOrigin;
use halide_core::ids::{ExprId, FuncId, RDomId, VarId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{Kind, Pipeline, PipelineData, StageDef};
use std::collections::{BTreeMap, BTreeSet};

/// The facts of one definition.
#[derive(Clone, Debug)]
pub(super) struct Facts {
    /// Whether it is an update.
    pub(super) is_update: bool,
    /// Its variables: pure dimensions in order, then reduction variables in order.
    pub(super) roots: Vec<Root>,
    /// Whether its iterations may run in any order, were its floats exact; why not, if not.
    pub(super) order: Result<(), OrderReason>,
}

/// A variable of a definition.
#[derive(Clone, Debug)]
pub(super) struct Root {
    pub(super) name: String,
    pub(super) origin: VarOrigin,
    /// Two iterations with different values of it never touch the same element of the Func.
    pub(super) independent: bool,
    /// The number of its values, if the algorithm makes that a constant.
    pub(super) extent: Option<i64>,
}

/// The facts of definition `stage` of `func`.
pub(super) fn facts(pipeline: &Pipeline, func: FuncId, stage: usize) -> Facts {
    let def = &pipeline.funcs[func];
    let s = &def.stages[stage];
    let mut roots = Vec::new();
    for (dim, &var) in def.args.iter().enumerate() {
        if stage == 0 || pipeline.exprs[s.args[dim]].kind == Kind::Var(var) {
            roots.push((pipeline.vars[var].clone(), VarOrigin::Pure { dim }, Kind::Var(var), None));
        }
    }
    if let Some(rdom) = s.rdom {
        for (dim, rvar) in pipeline.rdoms[rdom].dims.iter().enumerate() {
            let kind = Kind::RVar { rdom, dim: dim as u8 };
            let extent = constant(pipeline, rvar.extent);
            roots.push((
                unused_name(&said_name(pipeline, rdom, &rvar.name), &roots),
                VarOrigin::Reduction { rdom, dim },
                kind,
                extent,
            ));
        }
    }
    let told_apart = if stage == 0 { BTreeSet::new() } else { determined(pipeline, s, &self_reads(pipeline, func, s)) };
    let roots = roots
        .into_iter()
        .map(|(name, origin, kind, extent)| {
            let independent = stage == 0 || told_apart.contains(&RootKey::of(&kind));
            Root { name, origin, independent, extent }
        })
        .collect();
    let order = if stage == 0 { Ok(()) } else { order(pipeline, func, s) };
    Facts { is_update: stage > 0, roots, order }
}

/// The name that users say for a variable of a domain: freezing numbers domains of one name (`r$1.x`), which a stage,
/// having one domain, need not be told apart by.
fn said_name(pipeline: &Pipeline, rdom: RDomId, name: &str) -> String {
    let domain = &pipeline.rdoms[rdom].name;
    let base = unnumbered(domain);
    name.strip_prefix(domain.as_str()).map_or_else(|| name.to_string(), |rest| format!("{base}{rest}"))
}

/// A name without the number (`$1`) that made it unique.
pub(super) fn unnumbered(name: &str) -> &str {
    match name.rsplit_once('$') {
        Some((base, number)) if !base.is_empty() && number.parse::<u32>().is_ok() => base,
        _ => name,
    }
}

/// `name`, or something like it where another variable of the stage has it.
fn unused_name<A, B, C>(name: &str, taken: &[(String, A, B, C)]) -> String {
    let mut unused = name.to_string();
    while taken.iter().any(|(n, ..)| *n == unused) {
        unused.push_str("$r");
    }
    unused
}

/// The expressions that a definition evaluates.
pub(super) fn expressions(pipeline: &PipelineData, stage: &StageDef) -> Vec<ExprId> {
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    stage.args.iter().chain(&stage.values).copied().chain(predicate).collect()
}

/// Every expression reachable from `from`, each once, children first.
pub(super) fn reachable(pipeline: &PipelineData, from: &[ExprId]) -> BTreeSet<ExprId> {
    let mut found = BTreeSet::new();
    let mut todo = from.to_vec();
    while let Some(e) = todo.pop() {
        if found.insert(e) {
            todo.extend(children(&pipeline.exprs[e].kind));
        }
    }
    found
}

/// The operands of a node.
pub(super) fn children(kind: &Kind) -> Vec<ExprId> {
    match kind {
        Kind::Const(_) | Kind::Var(_) | Kind::RVar { .. } | Kind::Param(_) | Kind::ImageDim { .. } => Vec::new(),
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::SaturatingCast(a) | Kind::Reinterpret(a) | Kind::Likely(a) => {
            vec![*a]
        }
        Kind::Binary(_, a, b) => vec![*a, *b],
        Kind::Select(c, a, b) => vec![*c, *a, *b],
        Kind::Math(_, args) | Kind::Call { args, .. } | Kind::Image { args, .. } => args.clone(),
    }
}

/// The coordinates of every read of the Func in its own definition.
fn self_reads<'p>(pipeline: &'p Pipeline, func: FuncId, stage: &StageDef) -> Vec<&'p [ExprId]> {
    let all = reachable(pipeline, &expressions(pipeline, stage));
    let read = |e: ExprId| match &pipeline.exprs[e].kind {
        Kind::Call { func: f, args, .. } if *f == func => Some(args.as_slice()),
        _ => None,
    };
    all.into_iter().filter_map(read).collect()
}

/// The constant value of an index expression, if it has one.
pub(super) fn constant(pipeline: &Pipeline, e: ExprId) -> Option<i64> {
    let form = affine(pipeline, e)?;
    if form.is_number() { i64::try_from(form.offset).ok() } else { None }
}

/// A variable of a definition as a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum RootKey {
    Var(VarId),
    RVar(RDomId, u8),
}

impl RootKey {
    fn of(kind: &Kind) -> RootKey {
        match kind {
            Kind::RVar { rdom, dim } => RootKey::RVar(*rdom, *dim),
            Kind::Var(v) => RootKey::Var(*v),
            _ => unreachable!("roots are variables"),
        }
    }
}

/// The variables that the coordinates of an access determine: if two iterations access the same element, then they have
/// the same values of all of these.
///
/// A coordinate that the store and every read of the Func have in common, and that is a multiple of one variable plus
/// something made of determined ones, determines that variable.
fn determined(pipeline: &Pipeline, stage: &StageDef, reads: &[&[ExprId]]) -> BTreeSet<RootKey> {
    let common = stage.args.iter().enumerate().filter(|&(i, arg)| reads.iter().all(|r| r[i] == *arg));
    let mut forms: Vec<Affine> = common.filter_map(|(_, &arg)| affine(pipeline, arg)).collect();
    let mut known = BTreeSet::new();
    loop {
        let before = known.len();
        forms.retain(|form| {
            let unknown: Vec<RootKey> = form.terms.keys().filter(|r| !known.contains(*r)).copied().collect();
            if let [one] = unknown[..] {
                known.insert(one);
            }
            unknown.len() > 1
        });
        if known.len() == before {
            return known;
        }
    }
}

/// `sum of coefficient * variable + offset + rest`, where `rest` is constant for the whole run; no coefficient is 0.
#[derive(Clone)]
struct Affine {
    terms: BTreeMap<RootKey, i128>,
    offset: i128,
    rest: bool,
}

/// The affine form of an index expression; `None` if it has none.
fn affine(pipeline: &Pipeline, e: ExprId) -> Option<Affine> {
    let mut forms: BTreeMap<ExprId, Option<Affine>> = BTreeMap::new();
    for node in reachable(pipeline, &[e]) {
        let form = affine_node(&pipeline.exprs[node].kind, |child| forms[&child].clone());
        forms.insert(node, form);
    }
    forms.remove(&e).flatten()
}

fn affine_node(kind: &Kind, of: impl Fn(ExprId) -> Option<Affine>) -> Option<Affine> {
    let number = |offset| Some(Affine { terms: BTreeMap::new(), offset, rest: false });
    let uniform = Some(Affine { terms: BTreeMap::new(), offset: 0, rest: true });
    match kind {
        Kind::Const(c) if !c.ty().is_float() => number(c.as_i128()),
        Kind::Var(_) | Kind::RVar { .. } => {
            Some(Affine { terms: BTreeMap::from([(RootKey::of(kind), 1)]), offset: 0, rest: false })
        }
        Kind::Param(_) | Kind::ImageDim { .. } => uniform,
        Kind::Likely(a) => of(*a),
        Kind::Unary(UnOp::Neg, a) => of(*a)?.scaled(-1),
        Kind::Binary(BinOp::Add, a, b) => of(*a)?.plus(of(*b)?),
        Kind::Binary(BinOp::Sub, a, b) => of(*a)?.plus(of(*b)?.scaled(-1)?),
        Kind::Binary(op, a, b) => {
            let (a, b) = (of(*a)?, of(*b)?);
            let numbers = a.is_number() && b.is_number();
            match op {
                BinOp::Mul if a.is_number() => b.scaled(a.offset),
                BinOp::Mul if b.is_number() => a.scaled(b.offset),
                BinOp::Div | BinOp::Mod if numbers && b.offset == 0 => number(0),
                BinOp::Div if numbers => number(a.offset.checked_div_euclid(b.offset)?),
                BinOp::Mod if numbers => number(a.offset.checked_rem_euclid(b.offset)?),
                BinOp::Min if numbers => number(a.offset.min(b.offset)),
                BinOp::Max if numbers => number(a.offset.max(b.offset)),
                BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Min | BinOp::Max => {
                    (a.terms.is_empty() && b.terms.is_empty()).then_some(uniform).flatten()
                }
                _ => None,
            }
        }
        _ => None,
    }
}

impl Affine {
    fn is_number(&self) -> bool {
        self.terms.is_empty() && !self.rest
    }

    fn scaled(mut self, by: i128) -> Option<Affine> {
        self.offset = self.offset.checked_mul(by)?;
        for c in self.terms.values_mut() {
            *c = c.checked_mul(by)?;
        }
        self.terms.retain(|_, c| *c != 0);
        Some(self)
    }

    fn plus(mut self, other: Affine) -> Option<Affine> {
        self.offset = self.offset.checked_add(other.offset)?;
        for (root, c) in other.terms {
            let sum = self.terms.entry(root).or_insert(0);
            *sum = sum.checked_add(c)?;
        }
        self.terms.retain(|_, c| *c != 0);
        self.rest |= other.rest;
        Some(self)
    }
}

/// Whether an update gives the same result in whatever order its iterations run, were its floats exact.
///
/// That is so if it stores where it does whatever the Func holds, and each value is either the same in all iterations
/// or the old value combined, by one associative and commutative operation, with something that does not depend on the
/// Func.
fn order(pipeline: &Pipeline, func: FuncId, stage: &StageDef) -> Result<(), OrderReason> {
    let old = Readers::of(pipeline, func, stage);
    let predicate = stage.rdom.and_then(|r| pipeline.rdoms[r].predicate);
    if stage.args.iter().copied().chain(predicate).any(|e| old.reads(e)) {
        return Err(OrderReason::NotCommutative);
    }
    let mut floats = false;
    for (element, &value) in stage.values.iter().enumerate() {
        if !old.reads(value) && !has_rvar(pipeline, value) {
            continue;
        }
        let Some(op) = old.combined(element, value) else { return Err(OrderReason::NotCommutative) };
        let exact = matches!(op, BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor);
        floats |= pipeline.exprs[value].ty.is_float() && !exact;
    }
    if floats { Err(OrderReason::Floats) } else { Ok(()) }
}

fn has_rvar(pipeline: &Pipeline, value: ExprId) -> bool {
    let varies = |e: ExprId| matches!(&pipeline.exprs[e].kind, Kind::RVar { .. });
    reachable(pipeline, &[value]).into_iter().any(varies)
}

/// Which expressions of a definition read the Func that it defines.
struct Readers<'p> {
    pipeline: &'p Pipeline,
    func: FuncId,
    stage: &'p StageDef,
    readers: BTreeSet<ExprId>,
}

impl<'p> Readers<'p> {
    fn of(pipeline: &'p Pipeline, func: FuncId, stage: &'p StageDef) -> Readers<'p> {
        let mut readers = BTreeSet::new();
        for e in reachable(pipeline, &expressions(pipeline, stage)) {
            let kind = &pipeline.exprs[e].kind;
            let is_read = matches!(kind, Kind::Call { func: f, .. } if *f == func);
            if is_read || children(kind).iter().any(|c| readers.contains(c)) {
                readers.insert(e);
            }
        }
        Readers { pipeline, func, stage, readers }
    }

    fn reads(&self, e: ExprId) -> bool {
        self.readers.contains(&e)
    }

    /// The operation that combines the old value of `element` with something that does not depend on the Func: down
    /// the spine of one family of operations to the old value, with nothing beside it that reads the Func.
    fn combined(&self, element: usize, value: ExprId) -> Option<BinOp> {
        let Kind::Binary(op, ..) = self.pipeline.exprs[value].kind else { return None };
        let family = family(op)?;
        let mut at = value;
        loop {
            match &self.pipeline.exprs[at].kind {
                Kind::Call { func, element: e, args } if *func == self.func => {
                    return (usize::from(*e) == element && *args == self.stage.args).then_some(family);
                }
                Kind::Binary(op, a, b) if self::family(*op) == Some(family) => {
                    at = match (self.reads(*a), self.reads(*b)) {
                        (true, false) => *a,
                        (false, true) if *op != BinOp::Sub => *b,
                        _ => return None,
                    };
                }
                _ => return None,
            }
        }
    }
}

/// The associative and commutative operation that chains of `op` amount to.
fn family(op: BinOp) -> Option<BinOp> {
    match op {
        BinOp::Add | BinOp::Sub => Some(BinOp::Add),
        BinOp::Mul | BinOp::Min | BinOp::Max | BinOp::BitAnd | BinOp::BitOr | BinOp::BitXor => Some(op),
        _ => None,
    }
}
