//! Schemes at the types of arguments.

use crate::fault::FaultKind;
use crate::types::{Class, Scheme, Type, Variable};
use std::collections::HashMap;

/// The types of the variables of `scheme` where its parameters are `arguments`.
///
/// # Errors
/// The first argument that has another type.
pub(crate) fn at(scheme: &Scheme, arguments: &[Type]) -> Result<HashMap<Variable, Type>, FaultKind> {
    let Type::Function(params, _) = &scheme.ty else { return Err(FaultKind::Confused) };
    if params.len() != arguments.len() {
        return Err(FaultKind::Arguments { expected: params.len(), found: arguments.len() });
    }
    let mut types = HashMap::new();
    for (parameter, (expected, found)) in params.iter().zip(arguments).enumerate() {
        if !fit(scheme, expected, found, &mut types) {
            let expected = expected.replace(&mut |v| types.get(&v).cloned().unwrap_or(Type::Variable(v)));
            return Err(FaultKind::Argument { parameter, expected, found: found.clone() });
        }
    }
    Ok(types)
}

/// Finds the types of variables by which `pattern` is `ty`; returns false if there are none.
fn fit(scheme: &Scheme, pattern: &Type, ty: &Type, types: &mut HashMap<Variable, Type>) -> bool {
    match (pattern, ty) {
        (Type::Variable(variable), ty) => {
            let class = scheme.variables.iter().find(|(known, _)| known == variable).map(|(_, class)| *class);
            class.is_none_or(|class| class.contains(Class::of(ty)))
                && types.entry(*variable).or_insert_with(|| ty.clone()) == ty
        }
        (Type::Scalar(a), Type::Scalar(b)) => a == b,
        (Type::Seq(a), Type::Seq(b)) => fit(scheme, a, b, types),
        (Type::Tuple(a), Type::Tuple(b)) => {
            a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| fit(scheme, a, b, types))
        }
        _ => false,
    }
}
