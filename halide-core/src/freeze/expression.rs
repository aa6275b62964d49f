//! Freezing one expression: handles to ids, hash-consed, children first.

use super::{Freezer, Scope, address};
use crate::arena::{self, Expr, Kind as Open, Literal, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::ids::{ExprId, ParamId, RDomId, VarId};
use crate::param::ParamData;
use crate::pipeline::{ImageDef, Kind, Node, ParamDef, RDomDef, RVarDef};
use crate::rdom::RDomBody;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::HashMap;
use std::rc::Rc;

impl Freezer {
    /// The id of an equal node, made if there is none.
    pub(super) fn intern(&mut self, kind: Kind, ty: ScalarType) -> ExprId {
        let node = Node { kind, ty };
        if let Some(&id) = self.nodes.get(&node) {
            return id;
        }
        let id = self.data.exprs.push(node.clone());
        self.nodes.insert(node, id);
        id
    }

    /// A constant.
    pub(super) fn constant(&mut self, value: Scalar) -> ExprId {
        self.intern(Kind::Const(value), value.ty())
    }

    /// Freezes `root`; mistakes below it are recorded and give zeros. Uses a stack of its own: expressions may be deep.
    pub(super) fn freeze(&mut self, root: Expr, scope: &Scope<'_>) -> ExprId {
        let mut done: HashMap<(u32, u32), ExprId> = HashMap::new();
        let mut stack = vec![(root, false)];
        while let Some((e, ready)) = stack.pop() {
            if done.contains_key(&e.key()) {
                continue;
            }
            let node = arena::node(e);
            if !ready {
                stack.push((e, true));
                let mut below = Vec::new();
                frozen_children(&node.kind, scope, &mut below);
                stack.extend(below.into_iter().rev().map(|c| (c, false)));
                continue;
            }
            let id = self.freeze_node(&node, scope, &|c: &Expr| done[&c.key()]);
            done.insert(e.key(), id);
        }
        done[&root.key()]
    }

    fn freeze_node(&mut self, node: &arena::Node, scope: &Scope<'_>, id: &dyn Fn(&Expr) -> ExprId) -> ExprId {
        let Ty::One(ty) = node.ty else { return self.freeze_untyped(node) };
        let kind = match &node.kind {
            Open::Const(value) => Kind::Const(*value),
            Open::Literal(Literal::Int(v)) => Kind::Const(Scalar::int(ty, *v)),
            Open::Literal(Literal::Float(v)) => Kind::Const(Scalar::float(ty, *v)),
            Open::Var(name) => Kind::Var(self.var(*name, scope)),
            Open::RVar(body, dim) => Kind::RVar { rdom: self.rdom(body, scope), dim: *dim },
            Open::Param(data) => Kind::Param(self.param(data)),
            Open::ImageDim(body, dim, field) => Kind::ImageDim { image: self.image(body), dim: *dim, field: *field },
            Open::Unary(op, a) => Kind::Unary(*op, id(a)),
            Open::Binary(op, a, b) => Kind::Binary(*op, id(a), id(b)),
            Open::Select(c, a, b) => Kind::Select(id(c), id(a), id(b)),
            Open::Cast(a) => Kind::Cast(id(a)),
            Open::SaturatingCast(a) => Kind::SaturatingCast(id(a)),
            Open::Reinterpret(a) => Kind::Reinterpret(id(a)),
            Open::Math(f, args) => Kind::Math(*f, args.iter().map(id).collect()),
            Open::Call(body, args) => {
                Kind::Call { func: self.funcs[&address(body)], element: 0, args: args.iter().map(id).collect() }
            }
            Open::Element(call, element) => match arena::node(*call).kind {
                Open::Call(body, args) => Kind::Call {
                    func: self.funcs[&address(&body)],
                    element: *element as u8,
                    args: args.iter().map(id).collect(),
                },
                _ => unreachable!("elements of tuples are taken when they are made"),
            },
            Open::Image(body, args) => Kind::Image { image: self.image(body), args: args.iter().map(id).collect() },
            Open::Likely(a) => Kind::Likely(id(a)),
            Open::Tuple(_) | Open::Undefined(_) | Open::Poison(..) => return self.freeze_untyped(node),
        };
        self.intern(kind, ty)
    }

    /// A mistake, or a value that is no scalar: recorded, and a zero.
    fn freeze_untyped(&mut self, node: &arena::Node) -> ExprId {
        match &node.kind {
            Open::Poison(Some(error), _) => {
                self.errors.insert((**error).clone());
            }
            Open::Call(_, _) | Open::Tuple(_) => {
                let elements = if let Ty::Many(types) = &node.ty { types.len() } else { 0 };
                self.mistake(node.at, AlgorithmErrorKind::NotAScalar { operator: "=".into(), elements });
            }
            Open::Undefined(body) => {
                self.mistake(node.at, AlgorithmErrorKind::UndefinedFunc { func: body.name.clone() });
            }
            _ => {}
        }
        self.constant(Scalar::zero(ScalarType::I32))
    }

    pub(super) fn var(&mut self, name: u32, scope: &Scope<'_>) -> VarId {
        match scope.rename.get(&name) {
            Some(id) => *id,
            None => self.own_var(name),
        }
    }

    /// The id of a user's variable.
    pub(super) fn own_var(&mut self, name: u32) -> VarId {
        let vars = &mut self.data.vars;
        *self.vars.entry(name).or_insert_with(|| vars.push(arena::name_of(name).to_string()))
    }

    fn image(&mut self, body: &Rc<crate::param::ImageBody>) -> crate::ids::ImageId {
        let images = &mut self.data.images;
        *self.images.entry(address(body)).or_insert_with(|| {
            images.push(ImageDef { name: body.name.clone(), ty: body.ty, dims: body.dims, at: body.at })
        })
    }

    fn param(&mut self, data: &ParamData) -> ParamId {
        let def = ParamDef {
            name: data.name.to_string(),
            ty: data.ty,
            default: data.default,
            min: data.min,
            max: data.max,
            at: data.at,
        };
        let found = self.data.params.enumerate().find(|(_, p)| p.name == def.name).map(|(id, p)| (id, p.clone()));
        if let Some((id, p)) = found {
            if (p.ty, p.default, p.min, p.max) != (def.ty, def.default, def.min, def.max) {
                self.mistake(def.at, AlgorithmErrorKind::ParamConflict { param: def.name });
            }
            return id;
        }
        self.check_param(&def);
        self.data.params.push(def)
    }

    fn check_param(&mut self, def: &ParamDef) {
        let less = |a: Scalar, b: Scalar| crate::value::binary(crate::ops::BinOp::Lt, a, b).as_bool();
        let mut wrong = |what: String| {
            self.mistake(def.at, AlgorithmErrorKind::ParamRange { param: def.name.clone(), what });
        };
        if let (Some(low), Some(high)) = (def.min, def.max)
            && less(high, low)
        {
            wrong(format!("its range {low} to {high} is empty"));
        }
        if let Some(value) = def.default
            && (def.min.is_some_and(|low| less(value, low)) || def.max.is_some_and(|high| less(high, value)))
        {
            wrong(format!("its default {value} is outside its range"));
        }
    }

    pub(super) fn rdom(&mut self, body: &Rc<RDomBody>, scope: &Scope<'_>) -> RDomId {
        if let Some(&id) = self.rdoms.get(&address(body)) {
            return id;
        }
        let placeholder = RDomDef { name: body.name.clone(), dims: Vec::new(), predicate: None };
        let id = self.data.rdoms.push(placeholder);
        self.rdoms.insert(address(body), id);
        for mistake in body.mistakes.borrow().iter() {
            self.freeze(*mistake, scope);
        }
        for (name, min, extent) in &body.dims {
            let (min, extent) = (self.rdom_bound(body, *min, scope), self.rdom_bound(body, *extent, scope));
            self.data.rdoms[id].dims.push(RVarDef { name: name.clone(), min, extent });
        }
        if let Some(p) = body.predicate.get() {
            let frozen = self.freeze(p, scope);
            let node = arena::node(p);
            if node.ty != Ty::None && node.ty != Ty::One(ScalarType::Bool) {
                let what = "`where_` needs a bool".to_string();
                self.mistake(node.at, AlgorithmErrorKind::RDomBound { rdom: body.name.clone(), what });
            }
            self.data.rdoms[id].predicate = Some(frozen);
        }
        id
    }

    fn rdom_bound(&mut self, body: &RDomBody, e: Expr, scope: &Scope<'_>) -> ExprId {
        let node = arena::node(e);
        let wrong = |what: &str| AlgorithmErrorKind::RDomBound { rdom: body.name.clone(), what: what.into() };
        let e = match node.ty {
            Ty::One(ty) if ty.is_int() => crate::expr::as_type(e, ScalarType::I32, node.at),
            Ty::None => e,
            _ => {
                self.mistake(body.at, wrong("is not an integer"));
                e
            }
        };
        if uses_variables(e) {
            self.mistake(body.at, wrong("uses a variable"));
            return self.constant(Scalar::zero(ScalarType::I32));
        }
        self.freeze(e, scope)
    }
}

/// The operands that `freeze` needs before a node: those of a tuple call are reached through its elements.
fn frozen_children(kind: &Open, scope: &Scope<'_>, out: &mut Vec<Expr>) {
    match kind {
        Open::Element(call, _) => match arena::node(*call).kind {
            Open::Call(_, args) => out.extend(args),
            _ => out.push(*call),
        },
        Open::Undefined(_) => out.extend(&scope.own_args),
        other => arena::operands(other, out),
    }
}

/// Whether a variable of any kind occurs in `root`.
fn uses_variables(root: Expr) -> bool {
    let (mut todo, mut seen) = (vec![root], std::collections::HashSet::new());
    while let Some(e) = todo.pop() {
        if !seen.insert(e.key()) {
            continue;
        }
        let node = arena::node(e);
        if matches!(node.kind, Open::Var(_) | Open::RVar(..)) {
            return true;
        }
        arena::operands(&node.kind, &mut todo);
    }
    false
}

/// Where something was written, for messages.
pub(super) fn place(e: Expr) -> Location {
    arena::node(e).at
}
