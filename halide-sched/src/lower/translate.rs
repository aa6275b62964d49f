//! From the algorithm's expressions to loop IR: the only place that translates, used by `build_nests`.
//!
//! Calls of inlined Funcs are replaced by their definitions here. Results are shared (a DAG): an expression is
//! translated once per environment, an inlined call once per distinct arguments, which are compared in normal form: in a
//! chain of stencils the same point is reached over many paths.

use super::notes::Told;
use crate::ir::hash::Map;
use crate::ir::visit::deep;
use crate::ir::{BufId, DimField, Expr, Sym, build};
use crate::plan::{Level, Plan};
use crate::simplify::{Facts, simplify};
use halide_core::ids::{ExprId, FuncId, IdVec, ImageId, RDomId, VarId};
use halide_core::ops::{BinOp, UnOp};
use halide_core::pipeline::{IndexTable, Kind};
use halide_core::types::ScalarType;
use std::collections::BTreeMap;
use std::rc::Rc;

/// What variables stand for.
pub(crate) struct Env {
    /// Scalar Index per pure variable.
    vars: BTreeMap<VarId, Expr>,
    /// Scalar Index per dimension of the reduction domain in scope.
    rdom: Option<(RDomId, Vec<Expr>)>,
    memo: Map<(ExprId, bool), Expr>,
}

impl Env {
    pub(crate) fn new(vars: BTreeMap<VarId, Expr>, rdom: Option<(RDomId, Vec<Expr>)>) -> Env {
        Env { vars, rdom, memo: Map::default() }
    }
}

/// Translates expressions of one plan.
pub(crate) struct Translator<'a> {
    pub(super) plan: &'a Plan,
    funcs: &'a IdVec<FuncId, Vec<BufId>>,
    images: &'a IdVec<ImageId, BufId>,
    index: IndexTable,
    inlined: Map<(FuncId, u8, Vec<Expr>), Expr>,
    /// What inlined calls say.
    pub(super) noted: Map<(FuncId, Vec<Expr>), Rc<Vec<Told>>>,
    /// The calls inlined since they were last taken. Those of a definition are all new: their coordinates are of its
    /// placeholders, or constant and the same for every definition.
    calls: Vec<(FuncId, Vec<Expr>)>,
    /// Nothing is known where a definition is translated; it remembers what coordinates are.
    facts: Facts,
}

impl<'a> Translator<'a> {
    pub(crate) fn new(
        plan: &'a Plan,
        funcs: &'a IdVec<FuncId, Vec<BufId>>,
        images: &'a IdVec<ImageId, BufId>,
    ) -> Translator<'a> {
        Translator {
            plan,
            funcs,
            images,
            index: plan.pipeline.index_table(),
            inlined: Map::default(),
            noted: Map::default(),
            calls: Vec::new(),
            facts: Facts::new(),
        }
    }

    /// The calls inlined since this was last asked.
    pub(crate) fn take_calls(&mut self) -> Vec<(FuncId, Vec<Expr>)> {
        std::mem::take(&mut self.calls)
    }

    /// `e` as data of its type.
    pub(crate) fn data(&mut self, e: ExprId, env: &mut Env) -> Expr {
        if let Some(known) = env.memo.get(&(e, false)) {
            return known.clone();
        }
        let made = deep(|| self.data_node(e, env));
        env.memo.insert((e, false), made.clone());
        made
    }

    /// `e` as an exact coordinate.
    pub(crate) fn index(&mut self, e: ExprId, env: &mut Env) -> Expr {
        if let Some(known) = env.memo.get(&(e, true)) {
            return known.clone();
        }
        let made = deep(|| self.index_node(e, env));
        env.memo.insert((e, true), made.clone());
        made
    }

    fn index_node(&mut self, e: ExprId, env: &mut Env) -> Expr {
        let node = &self.plan.pipeline.exprs[e];
        if node.ty != ScalarType::I32 {
            return build::to_index(self.data(e, env));
        }
        match &node.kind {
            Kind::Const(c) => build::int(c.as_i128() as i64),
            Kind::Var(v) => env.vars[v].clone(),
            Kind::RVar { dim, .. } => rvar(*dim, env),
            Kind::ImageDim { image, dim, field } => self.image_dim(*image, *dim, *field),
            Kind::Unary(UnOp::Neg, a) => build::sub(build::int(0), self.index(*a, env)),
            Kind::Likely(a) => build::likely(self.index(*a, env)),
            Kind::Note { value, .. } => self.index(*value, env),
            Kind::Binary(
                op @ (BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div | BinOp::Mod | BinOp::Min | BinOp::Max),
                a,
                b,
            ) => {
                let (a, b) = (self.index(*a, env), self.index(*b, env));
                build::binary(*op, a, b)
            }
            Kind::Select(c, a, b) => {
                let c = self.data(*c, env);
                let (a, b) = (self.index(*a, env), self.index(*b, env));
                build::select(c, a, b)
            }
            _ => build::to_index(self.data(e, env)),
        }
    }

    fn data_node(&mut self, e: ExprId, env: &mut Env) -> Expr {
        let pipeline = &self.plan.pipeline;
        let node = &pipeline.exprs[e];
        match &node.kind {
            Kind::Const(c) => build::constant(*c),
            Kind::Var(v) => build::cast_data(ScalarType::I32, env.vars[v].clone()),
            Kind::RVar { dim, .. } => build::cast_data(ScalarType::I32, rvar(*dim, env)),
            Kind::ImageDim { image, dim, field } => {
                build::cast_data(ScalarType::I32, self.image_dim(*image, *dim, *field))
            }
            Kind::Param(p) => build::param(*p, node.ty),
            Kind::Unary(op, a) => build::unary(*op, self.data(*a, env)),
            Kind::Binary(op, a, b) if op.is_comparison() && self.index.is_comparison(*a, *b) => {
                let (a, b) = (self.index(*a, env), self.index(*b, env));
                build::binary(*op, a, b)
            }
            Kind::Binary(op, a, b) => {
                let (a, b) = (self.data(*a, env), self.data(*b, env));
                build::binary(*op, a, b)
            }
            Kind::Select(c, a, b) => {
                let (c, a, b) = (self.data(*c, env), self.data(*a, env), self.data(*b, env));
                build::select(c, a, b)
            }
            Kind::Cast(a) => build::cast_data(node.ty, self.data(*a, env)),
            Kind::SaturatingCast(a) => build::saturating_cast(node.ty, self.data(*a, env)),
            Kind::Reinterpret(a) => build::reinterpret(node.ty, self.data(*a, env)),
            Kind::Likely(a) => build::likely(self.data(*a, env)),
            Kind::Note { value, .. } => self.data(*value, env),
            Kind::Math(f, args) => build::math(*f, args.iter().map(|a| self.data(*a, env)).collect()),
            Kind::Image { image, args } => {
                let args = args.iter().map(|a| self.index(*a, env)).collect();
                build::read(self.images[*image], node.ty, args)
            }
            Kind::Call { func, element, args } => {
                let args: Vec<Expr> = args.iter().map(|a| self.index(*a, env)).collect();
                match self.plan.funcs[*func].compute {
                    Level::Inline => {
                        let args = self.simple_args(&args);
                        self.inline(*func, *element, args)
                    }
                    _ => build::read(self.funcs[*func][*element as usize], node.ty, args),
                }
            }
        }
    }

    /// Coordinates in the form by which calls of inlined Funcs are told apart.
    pub(super) fn simple_args(&self, args: &[Expr]) -> Vec<Expr> {
        args.iter().map(|a| simplify(a, &self.facts)).collect()
    }

    fn inline(&mut self, func: FuncId, element: u8, args: Vec<Expr>) -> Expr {
        let key = (func, element, args);
        if let Some(known) = self.inlined.get(&key) {
            return known.clone();
        }
        let def = &self.plan.pipeline.funcs[func];
        let vars = def.args.iter().copied().zip(key.2.iter().cloned()).collect();
        let made = self.data(def.stages[0].values[element as usize], &mut Env::new(vars, None));
        self.calls.push((func, key.2.clone()));
        self.inlined.insert(key, made.clone());
        made
    }

    fn image_dim(&self, image: ImageId, dim: u8, field: DimField) -> Expr {
        build::sym(Sym::Buffer { buf: self.images[image], dim: dim.into(), field })
    }
}

fn rvar(dim: u8, env: &Env) -> Expr {
    let (_, values) = env.rdom.as_ref().expect("a reduction variable stands only where its domain is in scope");
    values[dim as usize].clone()
}
