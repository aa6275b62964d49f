//! Freezing the definitions of one Func, with the checks that need the whole definition.

use super::expression::place;
use super::{Freezer, Scope, address};
use crate::arena::{self, Expr, Kind as Open, Ty};
use crate::error::{AlgorithmErrorKind, Location};
use crate::func::{Def, FuncBody};
use crate::ids::{ExprId, Id, RDomId, VarId};
use crate::ops::BinOp;
use crate::pipeline::{FuncDef, Kind, StageDef};
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::{BTreeSet, HashMap};
use std::rc::Rc;

impl Freezer {
    /// All definitions of `body`.
    pub(super) fn define(&mut self, body: &Rc<FuncBody>) -> FuncDef {
        let defs = body.defs.borrow().clone();
        let mut func =
            FuncDef { name: body.name.clone(), args: Vec::new(), types: Vec::new(), stages: Vec::new(), at: body.at };
        let Some(first) = defs.first() else {
            self.mistake(body.at, AlgorithmErrorKind::UndefinedFunc { func: body.name.clone() });
            return func;
        };
        if first.args.len() > 8 {
            let kind = AlgorithmErrorKind::TooManyDims { name: body.name.clone(), dims: first.args.len() };
            self.mistake(first.at, kind);
        }
        let updates = match self.implicit_init(body, first, &mut func) {
            true => &defs[..],
            false => {
                self.pure_definition(body, first, &mut func);
                &defs[1..]
            }
        };
        for def in updates {
            self.update(body, def, &mut func);
        }
        func
    }

    /// `f[..] += e` on a Func without a definition starts from the operator's identity.
    fn implicit_init(&mut self, body: &Rc<FuncBody>, first: &Def, func: &mut FuncDef) -> bool {
        let node = arena::node(first.value);
        let (Open::Binary(op, old, _), Ty::One(ty)) = (&node.kind, &node.ty) else { return false };
        if !matches!(arena::node(*old).kind, Open::Undefined(ref b) if Rc::ptr_eq(b, body)) {
            return false;
        }
        let one = matches!(op, BinOp::Mul | BinOp::Div);
        let identity = match (ty.is_float(), one) {
            (true, _) => Scalar::float(*ty, one as u8 as f64),
            (false, true) => Scalar::int(*ty, 1),
            (false, false) => Scalar::zero(*ty),
        };
        let mut used = BTreeSet::new();
        for (d, &a) in first.args.iter().enumerate() {
            let var = match arena::node(a).kind {
                Open::Var(name) if used.insert(name) => self.own_var(name),
                _ => self.own_var(arena::intern(&format!("d{d}"))),
            };
            func.args.push(var);
        }
        let args = func.args.iter().map(|&v| self.intern(Kind::Var(v), ScalarType::I32)).collect::<Vec<_>>();
        let value = self.constant(identity);
        func.types = vec![*ty];
        func.stages.push(StageDef { args, values: vec![value], rdom: None, at: first.at });
        true
    }

    fn pure_definition(&mut self, body: &Rc<FuncBody>, def: &Def, func: &mut FuncDef) {
        let mut used = BTreeSet::new();
        for &a in &def.args {
            match arena::node(a).kind {
                Open::Var(name) if used.insert(name) => func.args.push(self.own_var(name)),
                _ => {
                    self.mistake(def.at, AlgorithmErrorKind::PureArgs { func: body.name.clone() });
                    func.args.push(self.own_var(arena::intern("_")));
                }
            }
        }
        let scope = Scope { body, rename: HashMap::new(), own_args: def.args.clone() };
        let values = self.values(def, &scope);
        func.types = values.iter().map(|&(_, ty)| ty).collect();
        let args: Vec<ExprId> = func.args.iter().map(|&v| self.intern(Kind::Var(v), ScalarType::I32)).collect();
        let roots: Vec<ExprId> = values.iter().map(|&(id, _)| id).collect();
        self.check_variables(&body.name, def.at, &func.args, &roots, None, true);
        if self.reads_own(&roots, self.funcs[&address(body)]) {
            let funcs = vec![body.name.clone(), body.name.clone()];
            self.mistake(def.at, AlgorithmErrorKind::Cycle { funcs });
        }
        func.stages.push(StageDef { args, values: roots, rdom: None, at: def.at });
    }

    /// The scalar values that a definition stores, with their types.
    fn values(&mut self, def: &Def, scope: &Scope<'_>) -> Vec<(ExprId, ScalarType)> {
        match arena::node(def.value).ty {
            Ty::One(ty) => vec![(self.freeze(def.value, scope), ty)],
            Ty::Many(types) => {
                types.iter().enumerate().map(|(i, &ty)| (self.freeze(def.value.at(i), scope), ty)).collect()
            }
            Ty::None => {
                if matches!(arena::node(def.value).kind, Open::Undefined(_)) {
                    let kind = AlgorithmErrorKind::Unassigned { func: scope.body.name.clone() };
                    self.mistake(def.at, kind);
                } else {
                    self.freeze(def.value, scope);
                }
                vec![(self.constant(Scalar::zero(ScalarType::I32)), ScalarType::I32)]
            }
        }
    }

    fn update(&mut self, body: &Rc<FuncBody>, def: &Def, func: &mut FuncDef) {
        let at = def.at;
        if def.args.len() != func.args.len() {
            let (callee, dims) = (body.name.clone(), func.args.len());
            self.mistake(at, AlgorithmErrorKind::WrongArity { callee, dims, given: def.args.len() });
            return;
        }
        // A variable that stands alone on the left is the Func's own of that position, whatever it is called here.
        let mut rename = HashMap::new();
        for (d, &a) in def.args.iter().enumerate() {
            if let Open::Var(name) = arena::node(a).kind {
                rename.entry(name).or_insert(func.args[d]);
            }
        }
        let scope = Scope { body, rename, own_args: def.args.clone() };
        let args = match crate::expr::check_coords(&body.name, func.args.len(), &def.args, at) {
            Ok(args) => args,
            Err(poison) => {
                self.freeze(poison, &scope);
                return;
            }
        };
        let args: Vec<ExprId> = args.into_iter().map(|a| self.freeze(a, &scope)).collect();
        let values = self.update_values(def, &scope, func);
        let roots: Vec<ExprId> = args.iter().chain(&values).copied().collect();
        let allowed: Vec<VarId> = scope.rename.values().copied().collect();
        let rdom = self.find_rdom(&body.name, at, &roots);
        let predicate = rdom.and_then(|r| self.data.rdoms[r].predicate);
        let all: Vec<ExprId> = roots.into_iter().chain(predicate).collect();
        self.check_variables(&body.name, at, &allowed, &all, rdom, false);
        self.check_self_reads(body, at, func, &args, &all);
        func.stages.push(StageDef { args, values, rdom, at });
    }

    /// The values of an update in the Func's types.
    fn update_values(&mut self, def: &Def, scope: &Scope<'_>, func: &FuncDef) -> Vec<ExprId> {
        let name = scope.body.name.clone();
        let node = arena::node(def.value);
        if let (Open::Literal(_), [ty]) = (&node.kind, &func.types[..]) {
            return vec![self.freeze(crate::expr::as_type(def.value, *ty, node.at), scope)];
        }
        if let Open::Binary(op, old, right) = &node.kind
            && let Open::Undefined(_) = arena::node(*old).kind
        {
            let call = crate::expr::binary(*op, self_call(scope, func), *right, node.at);
            let fixed = Def { args: def.args.clone(), value: call, at: def.at };
            return self.update_values(&fixed, scope, func);
        }
        let values = self.values(def, scope);
        if values.len() != func.types.len() {
            let kind = AlgorithmErrorKind::UpdateElements { func: name, wants: func.types.len(), given: values.len() };
            self.mistake(def.at, kind);
            return values.into_iter().map(|(id, _)| id).collect();
        }
        for (element, (&(_, given), &wants)) in values.iter().zip(&func.types).enumerate() {
            if given != wants && node.ty != Ty::None {
                let func = name.clone();
                self.mistake(def.at, AlgorithmErrorKind::UpdateType { func, element, wants, given });
            }
        }
        values.into_iter().map(|(id, _)| id).collect()
    }

    /// The one reduction domain that `roots` use.
    fn find_rdom(&mut self, func: &str, at: Location, roots: &[ExprId]) -> Option<RDomId> {
        let mut found: Option<RDomId> = None;
        for id in self.reachable(roots) {
            let Kind::RVar { rdom, .. } = self.data.exprs[id].kind else { continue };
            match found {
                Some(first) if first != rdom => {
                    let name = |r: RDomId| self.data.rdoms[r].name.clone();
                    let (first, second) = (name(first), name(rdom));
                    self.mistake(at, AlgorithmErrorKind::TwoRDoms { func: func.into(), first, second });
                    return found;
                }
                _ => found = Some(rdom),
            }
        }
        found
    }

    fn check_variables(
        &mut self,
        func: &str,
        at: Location,
        allowed: &[VarId],
        roots: &[ExprId],
        rdom: Option<RDomId>,
        pure: bool,
    ) {
        for id in self.reachable(roots) {
            match self.data.exprs[id].kind {
                Kind::Var(v) if !allowed.contains(&v) => {
                    let var = self.data.vars[v].clone();
                    self.mistake(at, AlgorithmErrorKind::FreeVar { func: func.into(), var });
                }
                Kind::RVar { rdom: r, dim } if pure => {
                    let rvar = self.data.rdoms[r].dims.get(dim as usize).map_or("?".into(), |d| d.name.clone());
                    self.mistake(at, AlgorithmErrorKind::RVarInPure { func: func.into(), rvar });
                }
                Kind::RVar { rdom: r, .. } if rdom.is_some_and(|own| own != r) => {
                    let name = |r: RDomId| self.data.rdoms[r].name.clone();
                    let (first, second) = (name(rdom.expect("checked")), name(r));
                    self.mistake(at, AlgorithmErrorKind::TwoRDoms { func: func.into(), first, second });
                }
                _ => {}
            }
        }
    }

    /// In a dimension that an update runs over whole, it may read its own Func only at the point it writes.
    fn check_self_reads(
        &mut self,
        body: &Rc<FuncBody>,
        at: Location,
        func: &FuncDef,
        lhs: &[ExprId],
        roots: &[ExprId],
    ) {
        let own = self.funcs[&address(body)];
        for id in self.reachable(roots) {
            let Kind::Call { func: callee, args, .. } = &self.data.exprs[id].kind else { continue };
            if *callee != own {
                continue;
            }
            let args = args.clone();
            for (d, &v) in func.args.iter().enumerate() {
                let is_own = |e: ExprId| self.data.exprs[e].kind == Kind::Var(v);
                if is_own(lhs[d]) && !args.get(d).is_some_and(|&a| is_own(a)) {
                    let var = self.data.vars[v].clone();
                    self.mistake(at, AlgorithmErrorKind::ImpureSelfRead { func: body.name.clone(), var });
                }
            }
        }
    }

    fn reads_own(&self, roots: &[ExprId], own: crate::ids::FuncId) -> bool {
        self.reachable(roots)
            .into_iter()
            .any(|id| matches!(self.data.exprs[id].kind, Kind::Call { func, .. } if func == own))
    }

    /// Every node below `roots`, each once, in order of ids.
    fn reachable(&self, roots: &[ExprId]) -> Vec<ExprId> {
        let mut wanted = BTreeSet::new();
        let mut todo = roots.to_vec();
        while let Some(id) = todo.pop() {
            if wanted.insert(id) {
                todo.extend(self.data.exprs[id].kind.children());
            }
        }
        debug_assert!(wanted.iter().all(|id| id.index() < self.data.exprs.len()));
        wanted.into_iter().collect()
    }
}

/// A call of the Func under definition at its own left side.
fn self_call(scope: &Scope<'_>, func: &FuncDef) -> Expr {
    let at = place(
        scope
            .own_args
            .first()
            .copied()
            .unwrap_or_else(|| arena::add(Open::Poison(None, Vec::new()), Ty::None, func.at)),
    );
    let args = scope.own_args.iter().map(|&a| crate::expr::as_type(a, ScalarType::I32, at)).collect();
    arena::add(Open::Call(scope.body.clone(), args), Ty::One(func.types[0]), at)
}
