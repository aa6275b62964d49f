//! Functions are no data: neither elements of sequences and tuples, nor values of calls.

use crate::ast::{Expr, ExprKind, Function, NodeId, Statement};
use crate::mistake::{Mistake, MistakeKind};
use crate::types::Type;
use std::sync::Arc;

/// The sequences and tuples of functions in `defs`, and the calls that return one; `of` has the types of nodes.
pub(super) fn functions_as_data(defs: &[Arc<Function>], of: &dyn Fn(NodeId) -> Option<Type>) -> Vec<Mistake> {
    let mut mistakes = Vec::new();
    let mut todo: Vec<&Statement> = defs.iter().flat_map(|def| &def.body).collect();
    let mut exprs: Vec<&Expr> = Vec::new();
    while let Some(statement) = todo.pop() {
        match statement {
            Statement::Def(def) => todo.extend(&def.body),
            Statement::Let(_, value) | Statement::Return(value) => exprs.push(value),
            Statement::If { condition, then, otherwise } => {
                exprs.push(condition);
                todo.extend(then.iter().chain(otherwise));
            }
        }
        while let Some(expr) = exprs.pop() {
            let ty = of(expr.id);
            let is_call = matches!(expr.kind, ExprKind::Call(..));
            if let Some(ty) = ty.filter(|ty| ty.has_function() && (is_call || !matches!(ty, Type::Function(..)))) {
                mistakes.push(Mistake::new(expr.span, MistakeKind::FunctionAsData(ty)));
                continue;
            }
            match &expr.kind {
                ExprKind::Tuple(parts) => exprs.extend(parts),
                ExprKind::Lambda(function) => todo.extend(&function.body),
                ExprKind::Call(callee, arguments) => {
                    exprs.push(callee);
                    exprs.extend(arguments);
                }
                ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => exprs.extend([&**a, &**b]),
                ExprKind::Unary(_, a) => exprs.push(a),
                ExprKind::If { condition, then, otherwise } => {
                    exprs.extend([&**condition, &**then, &**otherwise]);
                }
                ExprKind::Name(_)
                | ExprKind::Primitive(_)
                | ExprKind::Int(_)
                | ExprKind::Float(_)
                | ExprKind::Bool(_) => {}
            }
        }
    }
    mistakes
}
