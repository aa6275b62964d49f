//! Freezing one expression: handles to ids, hash-consed, children first.

use super::address::address;
use super::{DefinitionScope, Freezer};
use crate::arena::{self, Expr, Kind as Open, Literal, Ty};
use crate::error::AlgorithmErrorKind;
use crate::ids::{ExprId, VarId};
use crate::names::Name;
use crate::pipeline::{Kind, Node};
use crate::types::ScalarType;
use crate::value::Scalar;
use crate::var::Var;
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
    pub(super) fn freeze(&mut self, root: Expr, scope: &DefinitionScope<'_>) -> ExprId {
        if arena::is_stale(root) {
            self.mistake(scope.written.at, AlgorithmErrorKind::Stale);
        }
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
            let id = match node.kind {
                Open::Random(seed) => {
                    let coordinates: Vec<ExprId> = scope.coordinates.iter().map(|c| done[&c.key()]).collect();
                    self.random_bits(done[&seed.key()], &coordinates, e, scope)
                }
                _ => self.freeze_node(&node, scope, &|c: &Expr| done[&c.key()]),
            };
            done.insert(e.key(), id);
        }
        done[&root.key()]
    }

    fn freeze_node(&mut self, node: &arena::Node, scope: &DefinitionScope<'_>, id: &dyn Fn(&Expr) -> ExprId) -> ExprId {
        let Ty::One(ty) = node.ty else { return self.freeze_untyped(node, scope) };
        let ids = |args: &[Expr]| args.iter().map(id).collect::<Vec<_>>();
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
            Open::Math(f, args) => Kind::Math(*f, ids(args)),
            Open::Sites(values) => Kind::Sites(ids(values)),
            Open::Call(body, args, _) => Kind::Call { func: self.funcs[&address(body)], element: 0, args: ids(args) },
            Open::Element(call, element) => match arena::node(*call).kind {
                Open::Call(body, args, _) => {
                    Kind::Call { func: self.funcs[&address(&body)], element: *element as u8, args: ids(&args) }
                }
                _ => unreachable!("elements of tuples are taken when they are made"),
            },
            Open::Image(body, args) => Kind::Image { image: self.image(body), args: ids(args) },
            Open::Likely(a) => Kind::Likely(id(a)),
            Open::LikelyIfInnermost(a) => Kind::LikelyIfInnermost(id(a)),
            Open::Strict(a) => Kind::Strict(id(a)),
            Open::Before(element) => Kind::Before { element: *element },
            Open::Undef => {
                self.mistake(node.at, AlgorithmErrorKind::UndefInside);
                Kind::Const(Scalar::zero(ty))
            }
            Open::Note(note, condition, value, parts) => self.note(note, id(condition), id(value), ids(parts)),
            Open::Random(_) | Open::Tuple(_) | Open::Undefined(_) | Open::Poison(..) => {
                return self.freeze_untyped(node, scope);
            }
        };
        self.intern(kind, ty)
    }

    /// Freezes a node without a scalar value: records the mistake, if it is one, and returns a zero.
    fn freeze_untyped(&mut self, node: &arena::Node, scope: &DefinitionScope<'_>) -> ExprId {
        match &node.kind {
            Open::Poison(Some(error), _) => drop(self.errors.insert((**error).clone())),
            Open::Undefined(body) if Rc::ptr_eq(body, scope.body) => self.reads_itself(scope),
            Open::Undefined(body) => {
                self.mistake(node.at, AlgorithmErrorKind::UndefinedFunc { func: body.name.clone() });
            }
            _ => {}
        }
        self.constant(Scalar::zero(ScalarType::I32))
    }

    /// Records that a first definition reads its own Func, once for each definition.
    fn reads_itself(&mut self, scope: &DefinitionScope<'_>) {
        let var = |(dim, &e): (usize, &Expr)| Var::from_expr(e).map_or_else(|| format!("x{dim}"), Var::name);
        let args = scope.args.iter().enumerate().map(var).collect();
        self.mistake(scope.written.at, AlgorithmErrorKind::ReadsItself { func: scope.body.name.clone(), args });
    }

    /// The id of a user's variable in `scope`.
    pub(super) fn var(&mut self, name: Name, scope: &DefinitionScope<'_>) -> VarId {
        match scope.rename.get(&name) {
            Some(id) => *id,
            None => self.own_var(name),
        }
    }

    /// The id of a user's variable.
    pub(super) fn own_var(&mut self, name: Name) -> VarId {
        let vars = &mut self.data.vars;
        *self.vars.entry(name).or_insert_with(|| vars.push(arena::name_of(name).to_string()))
    }
}

/// The operands that `freeze` needs before a node: those of a tuple call are reached through its elements.
fn frozen_children(kind: &Open, scope: &DefinitionScope<'_>, out: &mut Vec<Expr>) {
    match kind {
        Open::Element(call, _) => match arena::node(*call).kind {
            Open::Call(_, args, _) => out.extend(args),
            _ => out.push(*call),
        },
        Open::Undefined(_) => out.extend(scope.args),
        Open::Random(seed) => out.extend(scope.coordinates.iter().chain([seed])),
        other => arena::operands(other, out),
    }
}
