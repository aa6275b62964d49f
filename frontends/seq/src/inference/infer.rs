//! The types of all nodes of a module.

use super::data::functions_as_data;
use super::text;
use super::unify::Table;
use crate::ast::{Expr, ExprKind, Function, Name, NodeId, Pattern, Statement};
use crate::mistake::{Mistake, MistakeKind, Mistakes, Wanted};
use crate::primitive::{Primitive, ROWS};
use crate::span::Span;
use crate::types::{Class, Scheme, Type, Variable};
use halide::spelling::closest;
use halide_core::types::ScalarType;
use std::collections::HashMap;
use std::sync::Arc;

/// Defs that a module may use, with their schemes.
pub(crate) type Globals = Vec<(Name, Scheme)>;

/// The types of a module's nodes, with the variables of the defs around them.
#[derive(Debug)]
pub(crate) struct Typed {
    types: Vec<Type>,
    instances: HashMap<NodeId, Vec<(Variable, Type)>>,
    schemes: HashMap<NodeId, Scheme>,
}

impl Typed {
    /// The type of a node.
    pub(crate) fn of(&self, id: NodeId) -> &Type {
        &self.types[id.0 as usize]
    }

    /// The types that a use of a def gives to the variables of its scheme.
    pub(crate) fn instance(&self, id: NodeId) -> &[(Variable, Type)] {
        self.instances.get(&id).map_or(&[], Vec::as_slice)
    }

    /// The scheme of a def; `None` for lambdas.
    pub(crate) fn scheme(&self, def: NodeId) -> Option<&Scheme> {
        self.schemes.get(&def)
    }
}

/// The meaning of a name.
#[derive(Clone)]
enum Binding {
    /// A parameter or an assignment: of one type.
    One(Type),
    /// A def, of a type of its own in each use.
    Def(Scheme),
    /// The def whose body this is.
    Own(Type, NodeId),
}

struct Infer {
    table: Table,
    bindings: Vec<(Name, Binding)>,
    types: Vec<Option<Type>>,
    instances: HashMap<NodeId, Vec<(Variable, Type)>>,
    schemes: HashMap<NodeId, Scheme>,
    mistakes: Vec<Mistake>,
    /// The functions around, innermost last.
    around: Vec<NodeId>,
}

/// Infers the types of `defs`, each of which sees those before it and `globals`.
///
/// # Errors
/// Every mistake, in the order of their places.
pub(crate) fn infer(defs: &[Arc<Function>], nodes: usize, globals: &Globals) -> Result<Typed, Mistakes> {
    let bindings = globals.iter().map(|(name, scheme)| (name.clone(), Binding::Def(scheme.clone()))).collect();
    let mut infer = Infer {
        table: Table::default(),
        bindings,
        types: vec![None; nodes],
        instances: HashMap::new(),
        schemes: HashMap::new(),
        mistakes: Vec::new(),
        around: Vec::new(),
    };
    for def in defs {
        infer.def(def);
    }
    let types = &infer.types;
    let of = |id: NodeId| types[id.0 as usize].as_ref().map(|ty| infer.table.resolve(ty));
    infer.mistakes.extend(functions_as_data(defs, &of));
    if !infer.mistakes.is_empty() {
        infer.mistakes.sort_by_key(|mistake| mistake.span);
        infer.mistakes.dedup();
        return Err(Mistakes(infer.mistakes));
    }
    let Infer { table, types, mut instances, schemes, .. } = infer;
    // What nothing decides is computed by nothing.
    let resolved = |ty: Option<Type>| table.resolve(&ty.unwrap_or(Type::INT));
    instances.values_mut().flatten().for_each(|(_, ty)| *ty = table.resolve(ty));
    Ok(Typed { types: types.into_iter().map(resolved).collect(), instances, schemes })
}

impl Infer {
    fn mistake(&mut self, span: Span, kind: impl Into<Box<MistakeKind>>) {
        self.mistakes.push(Mistake::new(span, kind));
    }

    /// Asks that a value of type `found` at `span` has type `expected`.
    fn expect(&mut self, span: Span, expected: &Type, found: &Type) {
        if let Err(kind) = self.table.unify(expected, found) {
            self.mistake(span, kind);
        }
    }

    fn fresh(&mut self) -> Type {
        self.table.fresh(Class::ANY)
    }

    fn note(&mut self, id: NodeId, ty: &Type) {
        self.types[id.0 as usize] = Some(ty.clone());
    }

    /// A def: its type is generalised behind it.
    fn def(&mut self, def: &Arc<Function>) {
        let from = self.table.count();
        self.table.level += 1;
        let own = self.fresh();
        let bound = self.bindings.len();
        self.bindings.push((def.name.clone(), Binding::Own(own.clone(), def.id)));
        let ty = self.function(def);
        self.expect(def.span, &own, &ty);
        self.bindings.truncate(bound);
        self.table.level -= 1;
        if let Type::Function(_, result) = self.table.resolve(&ty)
            && result.has_function()
        {
            self.mistake(def.span, MistakeKind::FunctionAsData((*result).clone()));
        }
        let mut kept = Vec::new();
        self.table.resolve(&ty).variables(&mut |variable| kept.push(variable));
        for variable in self.table.free_since(from) {
            if !kept.contains(&variable) {
                self.table.give_default(variable);
            }
        }
        let scheme = self.table.generalise(&ty);
        self.schemes.insert(def.id, scheme.clone());
        self.bindings.push((def.name.clone(), Binding::Def(scheme)));
    }

    /// The type of a def or lambda.
    fn function(&mut self, function: &Function) -> Type {
        let bound = self.bindings.len();
        self.around.push(function.id);
        let params: Vec<Type> = function.params.iter().map(|param| self.pattern(param)).collect();
        let result = self.fresh();
        self.block(&function.body, &result);
        self.around.pop();
        self.bindings.truncate(bound);
        let ty = Type::function(params, result);
        self.note(function.id, &ty);
        ty
    }

    fn pattern(&mut self, pattern: &Pattern) -> Type {
        match pattern {
            Pattern::Name(name, id, _) => {
                let ty = self.fresh();
                self.note(*id, &ty);
                self.bindings.push((name.clone(), Binding::One(ty.clone())));
                ty
            }
            Pattern::Tuple(parts, _) => Type::Tuple(parts.iter().map(|part| self.pattern(part)).collect()),
        }
    }

    /// Statements whose last one returns a value of type `result`.
    fn block(&mut self, statements: &[Statement], result: &Type) {
        let bound = self.bindings.len();
        for statement in statements {
            match statement {
                Statement::Def(def) => self.def(def),
                Statement::Let(pattern, value) => {
                    let ty = self.expr(value, false);
                    let found = self.pattern(pattern);
                    self.expect(value.span, &found, &ty);
                }
                Statement::If { condition, then, otherwise } => {
                    self.condition(condition);
                    self.block(then, result);
                    self.block(otherwise, result);
                }
                Statement::Return(value) => {
                    let ty = self.expr(value, true);
                    self.expect(value.span, result, &ty);
                }
            }
        }
        self.bindings.truncate(bound);
    }

    fn condition(&mut self, condition: &Expr) {
        let ty = self.expr(condition, false);
        if self.table.unify(&Type::BOOL, &ty).is_err() {
            let (expected, found) = (Wanted::Class(Class::BOOL), self.table.wanted(&ty));
            self.mistake(condition.span, MistakeKind::Class { expected, found });
        }
    }

    /// The type of an expression; `is_returned` where its value is that of the function around it.
    fn expr(&mut self, expr: &Expr, is_returned: bool) -> Type {
        let ty = match &expr.kind {
            ExprKind::Name(name) => self.name(expr, name, false),
            ExprKind::Primitive(primitive) => self.primitive(*primitive, None),
            ExprKind::Int(value) if i32::try_from(*value).is_err() => Type::Scalar(ScalarType::I64),
            ExprKind::Int(_) => self.table.fresh(Class::NUMBER),
            ExprKind::Float(_) => self.table.fresh(Class::REAL),
            ExprKind::Bool(_) => Type::BOOL,
            ExprKind::Tuple(parts) => Type::Tuple(parts.iter().map(|part| self.expr(part, false)).collect()),
            ExprKind::Lambda(function) => self.function(function),
            ExprKind::Call(callee, arguments) => self.call(callee, arguments, is_returned),
            ExprKind::Index(of, index) => {
                let element = self.fresh();
                let found = self.expr(of, false);
                self.expect(of.span, &Type::seq(element.clone()), &found);
                let found = self.expr(index, false);
                self.restrict(index.span, &found, Class::INTEGER);
                element
            }
            ExprKind::Unary(op, operand) => self.operator(Primitive::Unary(*op), [operand]),
            ExprKind::Binary(op, a, b) => self.operator(Primitive::Binary(*op), [a, b]),
            ExprKind::If { condition, then, otherwise } => {
                self.condition(condition);
                let ty = self.expr(then, is_returned);
                let found = self.expr(otherwise, is_returned);
                self.expect(otherwise.span, &ty, &found);
                ty
            }
        };
        if self.table.is_large(&ty) {
            self.mistake(expr.span, MistakeKind::LargeType);
            return self.fresh();
        }
        self.note(expr.id, &ty);
        ty
    }

    fn restrict(&mut self, span: Span, ty: &Type, class: Class) {
        if let Err(kind) = self.table.restrict(ty, class) {
            self.mistake(span, kind);
        }
    }

    fn name(&mut self, expr: &Expr, name: &Name, is_tail_call: bool) -> Type {
        let found = self.bindings.iter().rev().find(|(known, _)| known == name).map(|(_, binding)| binding.clone());
        match found {
            Some(Binding::One(ty)) => ty,
            Some(Binding::Def(scheme)) => {
                let (ty, types) = self.table.instantiate(&scheme);
                self.instances.insert(expr.id, types);
                ty
            }
            Some(Binding::Own(ty, def)) => {
                if !is_tail_call || self.around.last() != Some(&def) {
                    self.mistake(expr.span, MistakeKind::NotATailCall(name.to_string()));
                }
                ty
            }
            None => match Primitive::by_name(name) {
                Some(row) => self.primitive(row.primitive, None),
                None => {
                    let nearest = self.nearest(name);
                    self.mistake(expr.span, MistakeKind::UnknownName { name: name.to_string(), nearest });
                    self.fresh()
                }
            },
        }
    }

    /// The name in scope that is most similar to `name`.
    fn nearest(&self, name: &str) -> Option<String> {
        let bound = self.bindings.iter().map(|(known, _)| &**known);
        let all = bound.chain(ROWS.iter().map(|row| row.name));
        closest(name, all).map(str::to_string)
    }

    /// The type of one use of a primitive, of `arguments` where it takes any number.
    fn primitive(&mut self, primitive: Primitive, arguments: Option<usize>) -> Type {
        match primitive {
            Primitive::Map => {
                let elements: Vec<Type> = (1..arguments.unwrap_or(2).max(2)).map(|_| self.fresh()).collect();
                let result = self.fresh();
                let mut params = vec![Type::function(elements.clone(), result.clone())];
                params.extend(elements.into_iter().map(Type::seq));
                Type::function(params, Type::seq(result))
            }
            Primitive::Zip => {
                let elements: Vec<Type> = (0..arguments.unwrap_or(2).max(1)).map(|_| self.fresh()).collect();
                let params = elements.iter().cloned().map(Type::seq).collect();
                Type::function(params, Type::seq(Type::Tuple(elements.into())))
            }
            _ => {
                let scheme = text::scheme(primitive.row().scheme);
                match scheme {
                    Some(scheme) => self.table.instantiate(&scheme).0,
                    None => self.fresh(),
                }
            }
        }
    }

    /// An operator, whose operands have one type: that of the first is expected of the second.
    fn operator<const N: usize>(&mut self, primitive: Primitive, operands: [&Expr; N]) -> Type {
        let Type::Function(params, result) = self.primitive(primitive, None) else { return self.fresh() };
        for (operand, param) in operands.into_iter().zip(params.iter()) {
            let found = self.expr(operand, false);
            self.expect(operand.span, param, &found);
        }
        (*result).clone()
    }

    fn call(&mut self, callee: &Expr, arguments: &[Expr], is_returned: bool) -> Type {
        let ty = match &callee.kind {
            ExprKind::Name(name) if self.bindings.iter().all(|(known, _)| known != name) => {
                match Primitive::by_name(name) {
                    Some(row) if row.primitive == Primitive::Unzip => return self.unzip(callee, arguments),
                    Some(row) => self.primitive(row.primitive, Some(arguments.len())),
                    None => self.name(callee, name, false),
                }
            }
            ExprKind::Name(name) => self.name(callee, name, is_returned),
            ExprKind::Primitive(primitive) => self.primitive(*primitive, Some(arguments.len())),
            _ => self.expr(callee, false),
        };
        self.note(callee.id, &ty);
        let ty = self.table.resolve(&ty);
        let found: Vec<Type> = arguments.iter().map(|argument| self.expr(argument, false)).collect();
        match &ty {
            Type::Function(params, result) if params.len() == found.len() => {
                for ((param, found), argument) in params.iter().zip(&found).zip(arguments) {
                    self.expect(argument.span, param, found);
                }
                (**result).clone()
            }
            Type::Function(params, result) => {
                let (callee_name, expected, found) = (name_of(callee), params.len(), found.len());
                self.mistake(callee.span, MistakeKind::Arity { callee: callee_name, expected, found });
                (**result).clone()
            }
            Type::Variable(_) => {
                let result = self.fresh();
                self.expect(callee.span, &Type::function(found, result.clone()), &ty);
                result
            }
            _ => {
                self.mistake(callee.span, MistakeKind::NotAFunction(ty));
                self.fresh()
            }
        }
    }

    /// `unzip(x)`, whose result has as many parts as the tuples of `x`.
    fn unzip(&mut self, callee: &Expr, arguments: &[Expr]) -> Type {
        let found: Vec<Type> = arguments.iter().map(|argument| self.expr(argument, false)).collect();
        let element = match found.first().map(|ty| self.table.resolve(ty)) {
            Some(Type::Seq(element)) => Some(element),
            _ => None,
        };
        let width = match element.as_deref() {
            Some(Type::Tuple(parts)) => parts.len(),
            _ => 2,
        };
        let parts: Vec<Type> = (0..width).map(|_| self.fresh()).collect();
        let ty = Type::function(
            vec![Type::seq(Type::Tuple(parts.clone().into()))],
            Type::Tuple(parts.into_iter().map(Type::seq).collect()),
        );
        self.note(callee.id, &ty);
        let Type::Function(params, result) = &ty else { return ty };
        if found.len() == 1 {
            self.expect(arguments[0].span, &params[0], &found[0]);
        } else {
            let (callee_name, found) = (name_of(callee), found.len());
            self.mistake(callee.span, MistakeKind::Arity { callee: callee_name, expected: 1, found });
        }
        (**result).clone()
    }
}

/// The name of what is called, for a message.
fn name_of(callee: &Expr) -> String {
    match &callee.kind {
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Primitive(primitive) => primitive.name().to_string(),
        _ => "the function".to_string(),
    }
}
