//! Evaluation of trees, by any machine that knows what data are.
//!
//! The interpreter and the lowering are two machines: this walks names, patterns, calls and tail recursion for both,
//! with the types of every node made concrete by the types of the arguments.

use crate::ast::{Expr, ExprKind, Function, Name, NodeId, Pattern, Statement};
use crate::module::Module;
use crate::primitive::Primitive;
use crate::span::Span;
use crate::types::{Type, Variable};
use halide_core::value::Scalar;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// A value: data, or a function.
pub(crate) enum Value<D> {
    Data(D),
    Function(Rc<Closure<D>>),
    Primitive(Primitive),
}

impl<D: Clone> Clone for Value<D> {
    fn clone(&self) -> Value<D> {
        match self {
            Value::Data(data) => Value::Data(data.clone()),
            Value::Function(closure) => Value::Function(closure.clone()),
            Value::Primitive(primitive) => Value::Primitive(*primitive),
        }
    }
}

/// The names in scope, innermost first.
type Scope<D> = Option<Rc<Bound<D>>>;

struct Bound<D> {
    name: Name,
    value: Value<D>,
    around: Scope<D>,
}

/// The types of the variables of the schemes around.
type Types = Rc<HashMap<Variable, Type>>;

/// A function with what it sees.
pub(crate) struct Closure<D> {
    pub(crate) function: Arc<Function>,
    module: Rc<Unit>,
    scope: Scope<D>,
    types: Types,
}

/// A module, of which a walk holds a reference.
enum Unit {
    Prelude(&'static Module),
    Own(Arc<Module>),
}

impl Unit {
    fn module(&self) -> &Module {
        match self {
            Unit::Prelude(module) => module,
            Unit::Own(module) => module,
        }
    }
}

/// The result of a function's body: data, or another round with other arguments.
pub(crate) enum Flow<D> {
    Done(D),
    Again(Vec<D>),
    /// Another round where the condition holds, which the code finds out.
    Either {
        again: D,
        arguments: Vec<D>,
        done: D,
    },
}

/// Knows data, and computes with them.
pub(crate) trait Machine: Sized {
    /// Scalars, tuples and sequences.
    type Data: Clone;
    /// A reason that there is no value.
    type Fault;

    fn constant(&mut self, value: Scalar) -> Self::Data;
    fn tuple(&mut self, parts: Vec<Self::Data>) -> Self::Data;
    /// The elements of a tuple.
    fn parts(&mut self, tuple: &Self::Data) -> Vec<Self::Data>;
    /// An arm of a condition.
    fn choose(
        &mut self,
        condition: Self::Data,
        then: impl FnOnce(&mut Self) -> Result<Flow<Self::Data>, Self::Fault>,
        otherwise: impl FnOnce(&mut Self) -> Result<Flow<Self::Data>, Self::Fault>,
        span: Span,
    ) -> Result<Flow<Self::Data>, Self::Fault>;
    fn index(&mut self, of: Self::Data, index: Self::Data, span: Span) -> Result<Self::Data, Self::Fault>;
    /// The value of a primitive, whose type is `result`.
    fn primitive(
        &mut self,
        primitive: Primitive,
        arguments: Vec<Value<Self::Data>>,
        result: &Type,
        span: Span,
    ) -> Result<Self::Data, Self::Fault>;
    /// The value of a function that calls itself: `round` is its body.
    fn repeat(
        &mut self,
        arguments: Vec<Self::Data>,
        round: Round<'_, Self>,
        span: Span,
    ) -> Result<Self::Data, Self::Fault>;
    /// A call begins.
    ///
    /// # Errors
    /// There are too many around it.
    fn enter(&mut self, span: Span) -> Result<(), Self::Fault>;
    /// The call that began last ended.
    fn leave(&mut self);
    /// Primitives that run next are those of a def of the prelude, which was called at `span`; `None` behind that.
    fn in_prelude(&mut self, span: Option<Span>);
    /// The value of `name` is computed next; `None` behind that.
    fn naming(&mut self, _name: Option<&Name>) {}
    /// The fault of what types exclude.
    fn confused(&mut self, span: Span) -> Self::Fault;
}

/// The body of a function, from the data among its arguments.
pub(crate) type Round<'r, M> = &'r mut dyn FnMut(&mut M, Vec<<M as Machine>::Data>) -> Rounded<M>;

/// The outcome of a round.
type Rounded<M> = Result<Flow<<M as Machine>::Data>, <M as Machine>::Fault>;

type Outcome<M, T> = Result<T, <M as Machine>::Fault>;

/// The surroundings of an expression.
struct Here<D> {
    module: Rc<Unit>,
    types: Types,
    /// The function around: a call of it is another round.
    own: Option<Rc<Closure<D>>>,
}

/// The value of the last def of `module` at `arguments`, whose types are `types`.
pub(crate) fn call<M: Machine>(
    machine: &mut M,
    module: &Arc<Module>,
    types: HashMap<Variable, Type>,
    arguments: Vec<M::Data>,
) -> Outcome<M, M::Data> {
    let mut scope = None;
    let prelude = Rc::new(Unit::Prelude(crate::prelude::module()));
    for def in &prelude.module().defs {
        scope = bind_def(scope, &prelude, def, &Types::default());
    }
    let unit = Rc::new(Unit::Own(module.clone()));
    let Some((main, before)) = module.defs.split_last() else {
        return Err(machine.confused(Span::new(1, 1)));
    };
    for def in before {
        scope = bind_def(scope, &unit, def, &Types::default());
    }
    let main = Rc::new(Closure { function: main.clone(), module: unit, scope, types: Rc::new(types) });
    apply(machine, &main, arguments.into_iter().map(Value::Data).collect())
}

fn bind<D>(scope: Scope<D>, name: &Name, value: Value<D>) -> Scope<D> {
    Some(Rc::new(Bound { name: name.clone(), value, around: scope }))
}

fn bind_def<D>(scope: Scope<D>, module: &Rc<Unit>, def: &Arc<Function>, types: &Types) -> Scope<D> {
    let closure = Closure { function: def.clone(), module: module.clone(), scope: scope.clone(), types: types.clone() };
    bind(scope, &def.name, Value::Function(Rc::new(closure)))
}

/// The value of any function at `arguments`; `result` is the type of the value of a primitive.
pub(crate) fn apply_value<M: Machine>(
    machine: &mut M,
    function: &Value<M::Data>,
    arguments: Vec<Value<M::Data>>,
    result: &Type,
    span: Span,
) -> Outcome<M, M::Data> {
    match function {
        Value::Function(closure) => apply(machine, closure, arguments),
        Value::Primitive(primitive) => machine.primitive(*primitive, arguments, result, span),
        Value::Data(_) => Err(machine.confused(span)),
    }
}

/// The value of a def or a lambda.
fn apply<M: Machine>(
    machine: &mut M,
    closure: &Rc<Closure<M::Data>>,
    arguments: Vec<Value<M::Data>>,
) -> Outcome<M, M::Data> {
    let span = closure.function.span;
    // Functions are arguments of defs that do not call themselves with others: those stay as they are.
    let fixed = arguments.clone();
    let data: Vec<M::Data> = arguments.into_iter().filter_map(data_of).collect();
    let mut round = |machine: &mut M, data: Vec<M::Data>| {
        let mut data = data.into_iter();
        let all = fixed.iter().map(|value| match value {
            Value::Data(_) => data.next().map(Value::Data),
            other => Some(other.clone()),
        });
        let all: Option<Vec<Value<M::Data>>> = all.collect();
        let all = all.ok_or_else(|| machine.confused(span))?;
        body(machine, closure, all)
    };
    machine.enter(span)?;
    let value = machine.repeat(data, &mut round, span);
    machine.leave();
    value
}

fn data_of<D>(value: Value<D>) -> Option<D> {
    match value {
        Value::Data(data) => Some(data),
        Value::Function(_) | Value::Primitive(_) => None,
    }
}

/// One round of a function.
fn body<M: Machine>(
    machine: &mut M,
    closure: &Rc<Closure<M::Data>>,
    arguments: Vec<Value<M::Data>>,
) -> Outcome<M, Flow<M::Data>> {
    let function = &closure.function;
    let mut scope = bind(closure.scope.clone(), &function.name, Value::Function(closure.clone()));
    for (pattern, argument) in function.params.iter().zip(arguments) {
        scope = destructure(machine, scope, pattern, argument)?;
    }
    let here = Here { module: closure.module.clone(), types: closure.types.clone(), own: Some(closure.clone()) };
    block(machine, &here, scope, &function.body, function.span)
}

fn destructure<M: Machine>(
    machine: &mut M,
    scope: Scope<M::Data>,
    pattern: &Pattern,
    value: Value<M::Data>,
) -> Outcome<M, Scope<M::Data>> {
    match (pattern, value) {
        (Pattern::Name(name, ..), value) => Ok(bind(scope, name, value)),
        (Pattern::Tuple(parts, _), Value::Data(data)) => {
            let values = machine.parts(&data);
            parts
                .iter()
                .zip(values)
                .try_fold(scope, |scope, (part, value)| destructure(machine, scope, part, Value::Data(value)))
        }
        (Pattern::Tuple(_, span), _) => Err(machine.confused(*span)),
    }
}

/// The value of statements whose last one returns.
fn block<M: Machine>(
    machine: &mut M,
    here: &Here<M::Data>,
    mut scope: Scope<M::Data>,
    statements: &[Statement],
    span: Span,
) -> Outcome<M, Flow<M::Data>> {
    for statement in statements {
        match statement {
            Statement::Def(def) => scope = bind_def(scope, &here.module, def, &here.types),
            Statement::Let(pattern, value) => {
                if let Pattern::Name(name, ..) = pattern {
                    machine.naming(Some(name));
                }
                let value = expr(machine, here, &scope, value)?;
                machine.naming(None);
                scope = destructure(machine, scope, pattern, value)?;
            }
            Statement::If { condition, then, otherwise } => {
                let at = condition.span;
                let condition = data(machine, here, &scope, condition)?;
                let (first, second) = (scope.clone(), scope);
                return machine.choose(
                    condition,
                    |machine| block(machine, here, first, then, at),
                    |machine| block(machine, here, second, otherwise, at),
                    at,
                );
            }
            Statement::Return(value) => return returned(machine, here, &scope, value),
        }
    }
    Err(machine.confused(span))
}

/// The value that a function returns, or its next round.
fn returned<M: Machine>(
    machine: &mut M,
    here: &Here<M::Data>,
    scope: &Scope<M::Data>,
    value: &Expr,
) -> Outcome<M, Flow<M::Data>> {
    match &value.kind {
        ExprKind::If { condition, then, otherwise } => {
            let at = condition.span;
            let condition = data(machine, here, scope, condition)?;
            machine.choose(
                condition,
                |machine| returned(machine, here, scope, then),
                |machine| returned(machine, here, scope, otherwise),
                at,
            )
        }
        ExprKind::Call(callee, arguments) if is_own(here, scope, callee) => {
            let mut next = Vec::new();
            for argument in arguments {
                next.extend(data_of(expr(machine, here, scope, argument)?));
            }
            Ok(Flow::Again(next))
        }
        _ => Ok(Flow::Done(data(machine, here, scope, value)?)),
    }
}

/// Returns true if `callee` is the function around.
fn is_own<D: Clone>(here: &Here<D>, scope: &Scope<D>, callee: &Expr) -> bool {
    let ExprKind::Name(name) = &callee.kind else { return false };
    match (find(scope, name), &here.own) {
        (Some(Value::Function(found)), Some(own)) => Rc::ptr_eq(&found, own),
        _ => false,
    }
}

fn find<D: Clone>(scope: &Scope<D>, name: &Name) -> Option<Value<D>> {
    let mut bound = scope.as_ref();
    while let Some(here) = bound {
        if here.name == *name {
            return Some(here.value.clone());
        }
        bound = here.around.as_ref();
    }
    None
}

/// The value of an expression that is no function.
fn data<M: Machine>(
    machine: &mut M,
    here: &Here<M::Data>,
    scope: &Scope<M::Data>,
    value: &Expr,
) -> Outcome<M, M::Data> {
    match expr(machine, here, scope, value)? {
        Value::Data(data) => Ok(data),
        Value::Function(_) | Value::Primitive(_) => Err(machine.confused(value.span)),
    }
}

impl<D> Here<D> {
    /// The type of a node, without variables.
    fn ty(&self, id: NodeId) -> Type {
        self.module.module().typed.of(id).replace(&mut |variable| self.concrete(variable))
    }

    /// The type of a variable of a scheme around. What nothing decides is computed by nothing.
    fn concrete(&self, variable: Variable) -> Type {
        self.types.get(&variable).cloned().unwrap_or(Type::INT)
    }
}

fn expr<M: Machine>(
    machine: &mut M,
    here: &Here<M::Data>,
    scope: &Scope<M::Data>,
    node: &Expr,
) -> Outcome<M, Value<M::Data>> {
    let value = match &node.kind {
        ExprKind::Name(name) => return name_value(machine, here, scope, node, name),
        ExprKind::Primitive(primitive) => return Ok(Value::Primitive(*primitive)),
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Bool(_) => {
            let value = literal(&node.kind, &here.ty(node.id)).ok_or_else(|| machine.confused(node.span))?;
            machine.constant(value)
        }
        ExprKind::Tuple(parts) => {
            let parts: Result<_, _> = parts.iter().map(|part| data(machine, here, scope, part)).collect();
            machine.tuple(parts?)
        }
        ExprKind::Lambda(function) => {
            let (module, types) = (here.module.clone(), here.types.clone());
            let closure = Closure { function: function.clone(), module, scope: scope.clone(), types };
            return Ok(Value::Function(Rc::new(closure)));
        }
        ExprKind::Call(callee, arguments) => {
            let callee = expr(machine, here, scope, callee)?;
            let arguments: Result<Vec<_>, _> = arguments.iter().map(|a| expr(machine, here, scope, a)).collect();
            let arguments = arguments?;
            let is_call_of_prelude = matches!((&*here.module, &callee), (Unit::Own(_), Value::Function(closure))
                if matches!(*closure.module, Unit::Prelude(_)));
            if is_call_of_prelude {
                machine.in_prelude(Some(node.span));
            }
            let value = apply_value(machine, &callee, arguments, &here.ty(node.id), node.span);
            if is_call_of_prelude {
                machine.in_prelude(None);
            }
            value?
        }
        ExprKind::Index(of, index) => {
            let of = data(machine, here, scope, of)?;
            let index = data(machine, here, scope, index)?;
            machine.index(of, index, node.span)?
        }
        ExprKind::Unary(op, operand) => {
            let operands = vec![expr(machine, here, scope, operand)?];
            machine.primitive(Primitive::Unary(*op), operands, &here.ty(node.id), node.span)?
        }
        ExprKind::Binary(op, a, b) => {
            let operands = vec![expr(machine, here, scope, a)?, expr(machine, here, scope, b)?];
            machine.primitive(Primitive::Binary(*op), operands, &here.ty(node.id), node.span)?
        }
        ExprKind::If { condition, then, otherwise } => {
            let condition = data(machine, here, scope, condition)?;
            let flow = machine.choose(
                condition,
                |machine| data(machine, here, scope, then).map(Flow::Done),
                |machine| data(machine, here, scope, otherwise).map(Flow::Done),
                node.span,
            )?;
            match flow {
                Flow::Done(data) => data,
                Flow::Again(_) | Flow::Either { .. } => return Err(machine.confused(node.span)),
            }
        }
    };
    Ok(Value::Data(value))
}

/// A variable, a primitive, or a def with the types that this use gives it.
fn name_value<M: Machine>(
    machine: &mut M,
    here: &Here<M::Data>,
    scope: &Scope<M::Data>,
    node: &Expr,
    name: &Name,
) -> Outcome<M, Value<M::Data>> {
    let instance = here.module.module().typed.instance(node.id);
    match find(scope, name) {
        Some(Value::Function(closure)) if !instance.is_empty() => {
            let mut types = (*closure.types).clone();
            for (variable, ty) in instance {
                types.insert(*variable, ty.replace(&mut |variable| here.concrete(variable)));
            }
            let Closure { function, module, scope, .. } = &*closure;
            let (function, module, scope) = (function.clone(), module.clone(), scope.clone());
            Ok(Value::Function(Rc::new(Closure { function, module, scope, types: Rc::new(types) })))
        }
        Some(value) => Ok(value),
        None => {
            let row = Primitive::by_name(name).ok_or_else(|| machine.confused(node.span))?;
            Ok(Value::Primitive(row.primitive))
        }
    }
}

/// A constant of the type that its use asks for.
fn literal(kind: &ExprKind, ty: &Type) -> Option<Scalar> {
    let Type::Scalar(ty) = ty else { return None };
    match kind {
        ExprKind::Int(value) if ty.is_float() => Some(Scalar::float(*ty, *value as f64)),
        ExprKind::Int(value) => Some(Scalar::int(*ty, i128::from(*value))),
        ExprKind::Float(value) => Some(Scalar::float(*ty, *value)),
        ExprKind::Bool(value) => Some(Scalar::bool(*value)),
        _ => None,
    }
}
