//! Freezing the definitions of one Func.

use super::{DefinitionScope, Freezer, random, undef};
use crate::arena::{self, Expr, Kind as Open, Ty};
use crate::error::AlgorithmErrorKind;
use crate::expr::{as_type, binary, check_coords, element, is_literal};
use crate::func::{Def, FuncBody};
use crate::ids::{ExprId, VarId};
use crate::names::Name;
use crate::ops::BinOp;
use crate::pipeline::{FuncDef, Kind, StageDef};
use crate::tuning::MAX_DIMS;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::collections::HashMap;
use std::rc::Rc;

impl Freezer {
    /// All definitions of `body`.
    pub(super) fn define(&mut self, body: &Rc<FuncBody>) -> FuncDef {
        let defs = body.defs.borrow().clone();
        let (args, types, stages) = (Vec::new(), Vec::new(), Vec::new());
        let mut func = FuncDef { name: body.name.clone(), said: body.name.clone(), args, types, stages, at: body.at };
        let Some(first) = defs.first() else {
            self.mistake(body.at, AlgorithmErrorKind::UndefinedOutput { func: body.name.clone() });
            return func;
        };
        if first.args.len() > MAX_DIMS {
            let kind = AlgorithmErrorKind::TooManyDims { name: body.name.clone(), dims: first.args.len() };
            self.mistake(first.written.at, kind);
        }
        if arena::ty(first.value) == Ty::None {
            // Nothing is known of a Func whose first value is a mistake: only what is wrong in itself is said.
            defs.iter().for_each(|def| self.report(body, def));
            return func;
        }
        let updates = match first_operator(first) {
            Some(op) => {
                self.implicit_init(first, op, &mut func);
                &defs[..]
            }
            None => {
                self.pure_definition(body, first, &mut func);
                &defs[1..]
            }
        };
        for def in updates {
            self.update(body, def, &mut func);
        }
        func
    }

    /// The mistakes within a definition.
    fn report(&mut self, body: &Rc<FuncBody>, def: &Def) {
        let (rename, coordinates) = (HashMap::new(), Vec::new());
        let scope = DefinitionScope { body, written: def.written, rename, args: &def.args, coordinates };
        for &a in &def.args {
            self.freeze(a, &scope);
        }
        match (arena::node(def.value).kind, arena::ty(def.value)) {
            (Open::Undefined(_), _) => {
                self.mistake(def.written.at, AlgorithmErrorKind::Unassigned { func: body.name.clone() });
            }
            (_, Ty::Many(types)) => {
                for i in 0..types.len() {
                    self.freeze(element(def.value, i, def.written.at), &scope);
                }
            }
            _ => drop(self.freeze(def.value, &scope)),
        }
    }

    /// `f[..] += e` on a Func without a definition starts from the operator's identity.
    fn implicit_init(&mut self, first: &Def, op: BinOp, func: &mut FuncDef) {
        let Ty::One(ty) = arena::ty(first.value) else { return };
        let mut names: Vec<Option<Name>> = Vec::new();
        for &a in &first.args {
            let name = if let Open::Var(name) = arena::node(a).kind { Some(name) } else { None };
            names.push(name.filter(|_| !names.contains(&name)));
        }
        for d in 0..names.len() {
            let mut made = format!("d{d}");
            while names[d].is_none() {
                let name = arena::intern(&made);
                if !names.contains(&Some(name)) {
                    names[d] = Some(name);
                }
                made.push('\'');
            }
        }
        func.args = names.into_iter().flatten().map(|name| self.own_var(name)).collect();
        func.types = vec![ty];
        let one = matches!(op, BinOp::Mul | BinOp::Div);
        let values = vec![self.constant(Scalar::int(ty, one as i128))];
        let args = self.own_coordinates(func);
        func.stages.push(StageDef { args, values, rdom: None, at: first.written.at });
    }

    fn own_coordinates(&mut self, func: &FuncDef) -> Vec<ExprId> {
        func.args.iter().map(|&v| self.intern(Kind::Var(v), ScalarType::I32)).collect()
    }

    fn pure_definition(&mut self, body: &Rc<FuncBody>, def: &Def, func: &mut FuncDef) {
        let coordinates = random::coordinates(def);
        let scope =
            DefinitionScope { body, written: def.written, rename: HashMap::new(), args: &def.args, coordinates };
        let distinct = self.pure_args(def, &scope, func);
        let values = self.first_values(body, elements(def));
        func.types = values.iter().filter_map(|e| e.ty()).collect();
        let values: Vec<ExprId> = values.into_iter().map(|e| self.freeze(e, &scope)).collect();
        if distinct {
            self.check_variables(&scope, &func.args, &values, None);
        }
        self.check_no_sites(&scope, &values);
        let args = self.own_coordinates(func);
        func.stages.push(StageDef { args, values, rdom: None, at: def.written.at });
    }

    /// The Func's variables; whether its left side is nothing but distinct ones.
    fn pure_args(&mut self, def: &Def, scope: &DefinitionScope<'_>, func: &mut FuncDef) -> bool {
        let mut distinct = true;
        for (dim, &a) in def.args.iter().enumerate() {
            let name = func.name.clone();
            let mistake = match arena::node(a).kind {
                Open::Var(var) => {
                    let id = self.own_var(var);
                    let repeated = func.args.contains(&id);
                    func.args.push(id);
                    let var = self.data.vars[id].clone();
                    repeated.then_some(AlgorithmErrorKind::RepeatedVar { func: name, var })
                }
                Open::RVar(body, d) => {
                    Some(AlgorithmErrorKind::RVarInPure { func: name, rvar: body.dims[d as usize].0.clone() })
                }
                _ if arena::ty(a) == Ty::None => {
                    self.freeze(a, scope);
                    distinct = false;
                    None
                }
                _ => Some(AlgorithmErrorKind::NotAVar { func: name, dim }),
            };
            if let Some(kind) = mistake {
                self.mistake(def.written.at, kind);
                distinct = false;
            }
            if func.args.len() <= dim {
                let stand_in = self.own_var(arena::intern("_"));
                func.args.push(stand_in);
            }
        }
        distinct
    }

    fn update(&mut self, body: &Rc<FuncBody>, def: &Def, func: &mut FuncDef) {
        // A variable that stands alone on the left is the Func's own of that position, whatever it is called here.
        let mut rename = HashMap::new();
        for (&a, &own) in def.args.iter().zip(&func.args) {
            if let Open::Var(name) = arena::node(a).kind {
                rename.entry(name).or_insert(own);
            }
        }
        let coordinates = random::coordinates(def);
        let scope = DefinitionScope { body, written: def.written, rename, args: &def.args, coordinates };
        let args: Option<Vec<ExprId>> = match check_coords(&body.name, func.args.len(), &def.args, def.written.at) {
            Ok(args) => Some(args.into_iter().map(|a| self.freeze(a, &scope)).collect()),
            Err(poison) => {
                self.freeze(poison, &scope);
                None
            }
        };
        let values = self.update_values(def, &scope, func);
        let (Some(args), Some(values)) = (args, values) else { return };
        let mut roots: Vec<ExprId> = args.iter().chain(&values).copied().collect();
        let rdom = self.find_rdom(&scope, &roots);
        self.check_sites(&scope, &roots);
        let predicate = rdom.and_then(|r| self.data.rdoms[r].predicate);
        self.check_no_sites(&scope, predicate.as_slice());
        roots.extend(predicate);
        let allowed: Vec<VarId> = func.args.iter().copied().filter(|v| scope.rename.values().any(|r| r == v)).collect();
        self.check_variables(&scope, &allowed, &roots, rdom);
        self.check_self_reads(&scope, func, &args, &roots);
        func.stages.push(StageDef { args, values, rdom, at: def.written.at });
    }

    /// The values of an update in the Func's types; `None` if there was a mistake in them.
    fn update_values(&mut self, def: &Def, scope: &DefinitionScope<'_>, func: &FuncDef) -> Option<Vec<ExprId>> {
        if arena::ty(def.value) == Ty::None {
            self.report(scope.body, def);
            return None;
        }
        let (at, name) = (def.written.at, &func.name);
        let values = match (first_operator(def), arena::node(def.value).kind) {
            (Some(op), Open::Binary(_, _, right)) => vec![binary(op, self_call(scope, func), right, at)],
            _ => elements(def),
        };
        let mut right = values.len() == func.types.len();
        if !right {
            let (wants, given) = (func.types.len(), values.len());
            self.mistake(at, AlgorithmErrorKind::UpdateElements { func: name.clone(), wants, given });
        }
        let mut frozen = Vec::new();
        for (element, (&e, &wants)) in values.iter().zip(&func.types).enumerate() {
            let fixed = if is_literal(e) { as_type(e, wants, arena::node(e).at) } else { e };
            match fixed.ty() {
                Some(given) if given != wants && values.len() == func.types.len() => {
                    let func = name.clone();
                    self.mistake(at, AlgorithmErrorKind::UpdateType { func, element, wants, given });
                    right = false;
                }
                given => right &= given.is_some(),
            }
            let stored = undef::replaced(fixed, &|_| own_value(scope, func, element));
            frozen.push(self.freeze(stored, scope));
        }
        right.then_some(frozen)
    }
}

/// The operator with which a Func without a definition was updated.
fn first_operator(def: &Def) -> Option<BinOp> {
    match arena::node(def.value).kind {
        Open::Binary(op, old, _) if matches!(arena::node(old).kind, Open::Undefined(_)) => Some(op),
        _ => None,
    }
}

/// The scalar values that a definition stores.
fn elements(def: &Def) -> Vec<Expr> {
    match arena::ty(def.value) {
        Ty::Many(types) => (0..types.len()).map(|i| element(def.value, i, def.written.at)).collect(),
        _ => vec![def.value],
    }
}

/// Returns a tuple element of the Func under definition at its own left side.
fn own_value(scope: &DefinitionScope<'_>, func: &FuncDef, element: usize) -> Expr {
    let at = scope.written.at;
    let args = scope.args.iter().map(|&a| as_type(a, ScalarType::I32, at)).collect();
    let ty = match func.types[..] {
        [one] => Ty::One(one),
        _ => Ty::Many(func.types.clone().into()),
    };
    crate::expr::element(arena::add(Open::Call(scope.body.clone(), args, 1), ty, at), element, at)
}

/// A call of the Func under definition at its own left side.
fn self_call(scope: &DefinitionScope<'_>, func: &FuncDef) -> Expr {
    let at = scope.written.at;
    let args = scope.args.iter().map(|&a| as_type(a, ScalarType::I32, at)).collect();
    arena::add(Open::Call(scope.body.clone(), args, 1), Ty::One(func.types[0]), at)
}
