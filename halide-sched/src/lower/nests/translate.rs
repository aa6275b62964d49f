//! From the algorithm's expressions to loop IR: the only place that translates, used by `build_nests`.
//!
//! Calls of inlined Funcs are replaced by their definitions here. Results are shared (a DAG): an expression is
//! translated once per environment, an inlined call once per distinct arguments, which are compared in normal form: in
//! a chain of stencils the same point is reached over many paths.

use crate::lower::nests::effects::Told;
use crate::lower::regions::rules::ruled;
use crate::plan::{Level, Plan};
use crate::schedule::FloatMode;
use halide_core::ids::{ExprId, FuncId, IdVec, ImageId, RDomId, VarId};
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::pipeline::{IndexTable, Kind};
use halide_core::shape::BufferOf;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::hash::Map;
use halide_ir::visit::{self, deep};
use halide_ir::{BufId, DimField, Expr, ExprKind, Sym, build};
use halide_solve::simplify::{Facts, simplify};
use std::collections::BTreeMap;
use std::rc::Rc;

/// The environment in which expressions are translated: the values of variables, and the float mode.
pub(crate) struct Env {
    /// Scalar Index per pure variable.
    vars: BTreeMap<VarId, Expr>,
    /// Scalar Index per dimension of the reduction domain in scope.
    rdom: Option<(RDomId, Vec<Expr>)>,
    /// The Func whose definition it is, unless it is inlined.
    own: Option<FuncId>,
    /// The placeholders that change with the innermost loop.
    innermost: Vec<Sym>,
    /// The rewrites of floats that are allowed here.
    float: FloatMode,
    /// The site of an update of several.
    site: usize,
    memo: Map<(ExprId, bool, FloatMode), Expr>,
}

impl Env {
    /// Creates the environment of a stage.
    pub(crate) fn of_stage(
        vars: BTreeMap<VarId, Expr>,
        rdom: Option<(RDomId, Vec<Expr>)>,
        func: FuncId,
        innermost: Vec<Sym>,
        float: FloatMode,
    ) -> Env {
        Env { vars, rdom, own: Some(func), innermost, float, site: 0, memo: Map::default() }
    }

    /// Creates the environment of an inlined call.
    pub(crate) fn inlined(vars: BTreeMap<VarId, Expr>, innermost: Vec<Sym>, float: FloatMode) -> Env {
        Env { vars, rdom: None, own: None, innermost, float, site: 0, memo: Map::default() }
    }

    /// Goes on to site `site` of a definition of several.
    pub(crate) fn set_site(&mut self, site: usize) {
        if self.site != site {
            self.site = site;
            self.memo.clear();
        }
    }

    /// The placeholders that change with the innermost loop.
    pub(crate) fn innermost(&self) -> &[Sym] {
        &self.innermost
    }
}

/// Translates expressions of one plan.
pub(crate) struct Translator<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) funcs: &'a IdVec<FuncId, Vec<BufId>>,
    images: &'a IdVec<ImageId, BufId>,
    index: IndexTable,
    inlined: Map<(FuncId, u8, Vec<Expr>), Expr>,
    /// The effects of inlined calls.
    pub(crate) noted: Map<(FuncId, Vec<Expr>), Rc<Vec<Told>>>,
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
        if let Some(known) = env.memo.get(&(e, false, env.float)) {
            return known.clone();
        }
        let made = deep(|| self.data_node(e, env));
        env.memo.insert((e, false, env.float), made.clone());
        made
    }

    /// `e` as an exact coordinate.
    pub(crate) fn index(&mut self, e: ExprId, env: &mut Env) -> Expr {
        if let Some(known) = env.memo.get(&(e, true, env.float)) {
            return known.clone();
        }
        let made = deep(|| self.index_node(e, env));
        env.memo.insert((e, true, env.float), made.clone());
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
            Kind::LikelyIfInnermost(a) => likely_inside(self.index(*a, env), env),
            Kind::Note { value, .. } => self.index(*value, env),
            Kind::Sites(values) => self.index(values[env.site], env),
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
                let fused = if env.float == FloatMode::Strict { None } else { contracted(*op, &a, &b) };
                fused.unwrap_or_else(|| build::binary(*op, a, b))
            }
            Kind::Select(c, a, b) => {
                let (c, a, b) = (self.data(*c, env), self.data(*a, env), self.data(*b, env));
                build::select(c, a, b)
            }
            Kind::Cast(a) => build::cast_data(node.ty, self.data(*a, env)),
            Kind::SaturatingCast(a) => build::saturating_cast(node.ty, self.data(*a, env)),
            Kind::Reinterpret(a) => build::reinterpret(node.ty, self.data(*a, env)),
            Kind::Likely(a) => build::likely(self.data(*a, env)),
            Kind::LikelyIfInnermost(a) => likely_inside(self.data(*a, env), env),
            Kind::Strict(a) => {
                let around = std::mem::replace(&mut env.float, FloatMode::Strict);
                let made = self.data(*a, env);
                env.float = around;
                made
            }
            Kind::Before { element } => self.before(*element, node.ty, env),
            Kind::Note { value, .. } => self.data(*value, env),
            Kind::Sites(values) => self.data(values[env.site], env),
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
                        self.inline(*func, *element, args, env)
                    }
                    _ => build::read(self.funcs[*func][*element as usize], node.ty, args),
                }
            }
        }
    }

    /// Coordinates in the form by which calls of inlined Funcs are told apart.
    pub(crate) fn simple_args(&self, args: &[Expr]) -> Vec<Expr> {
        args.iter().map(|a| simplify(a, &self.facts)).collect()
    }

    fn inline(&mut self, func: FuncId, element: u8, args: Vec<Expr>, around: &Env) -> Expr {
        let key = (func, element, args);
        if let Some(known) = self.inlined.get(&key) {
            return known.clone();
        }
        let def = &self.plan.pipeline.funcs[func];
        let vars = def.args.iter().copied().zip(key.2.iter().cloned()).collect();
        let mut env = Env::inlined(vars, around.innermost.clone(), self.plan.funcs[func].stages[0].float);
        let made = self.data(def.stages[0].values[element as usize], &mut env);
        self.calls.push((func, key.2.clone()));
        self.inlined.insert(key, made.clone());
        made
    }

    fn image_dim(&self, image: ImageId, dim: u8, field: DimField) -> Expr {
        let found = build::sym(Sym::Buffer { buf: self.images[image], dim: dim.into(), field });
        ruled(&self.plan.pipeline, BufferOf::Image(image), dim.into(), field, found)
    }
}

impl Translator<'_> {
    /// Reads the value that the defined output holds before the run; zero if the Func is not an output.
    fn before(&self, element: u8, ty: ScalarType, env: &Env) -> Expr {
        let pipeline = &self.plan.pipeline;
        // Of a Func that a closure computes, it is what the closure leaves there.
        let is_called = |f: &FuncId| pipeline.callees.iter().any(|callee| callee.func == *f);
        match env.own.filter(|f| pipeline.outputs.contains(f) || is_called(f)) {
            Some(func) => {
                let args = pipeline.funcs[func].args.iter().map(|v| env.vars[v].clone()).collect();
                build::read(self.funcs[func][element as usize], ty, args)
            }
            None => build::constant(Scalar::zero(ty)),
        }
    }
}

/// `e`, likely if the innermost loop changes it.
fn likely_inside(e: Expr, env: &Env) -> Expr {
    let inside = env.innermost.iter().any(|s| visit::uses(&e, *s));
    if inside { build::likely(e) } else { e }
}

/// A product with a sum around it as one operation.
fn contracted(op: BinOp, a: &Expr, b: &Expr) -> Option<Expr> {
    let product = |e: &Expr| match e.kind() {
        ExprKind::Binary(BinOp::Mul, x, y) if e.ty().scalar().is_some_and(ScalarType::is_float) => {
            Some((x.clone(), y.clone()))
        }
        _ => None,
    };
    let minus = |e: Expr| build::unary(UnOp::Neg, e);
    let (x, y, z) = match (op, product(a), product(b)) {
        (BinOp::Add, Some((x, y)), _) => (x, y, b.clone()),
        (BinOp::Add, None, Some((x, y))) => (x, y, a.clone()),
        (BinOp::Sub, Some((x, y)), _) => (x, y, minus(b.clone())),
        (BinOp::Sub, None, Some((x, y))) => (minus(x), y, a.clone()),
        _ => return None,
    };
    Some(build::math(MathFn::MulAdd, vec![x, y, z]))
}

fn rvar(dim: u8, env: &Env) -> Expr {
    let (_, values) = env.rdom.as_ref().expect("a reduction variable stands only where its domain is in scope");
    values[dim as usize].clone()
}
