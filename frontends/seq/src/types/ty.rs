//! Types.

use halide_core::types::ScalarType::{self, *};
use std::fmt;
use std::sync::Arc;

/// A type variable of one inference.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Variable(pub(crate) u32);

/// The type of a value.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// A number or a truth value.
    Scalar(ScalarType),
    /// A sequence.
    Seq(Arc<Type>),
    /// A tuple.
    Tuple(Arc<[Type]>),
    /// A function of parameters.
    Function(Arc<[Type]>, Arc<Type>),
    /// Any type.
    Variable(Variable),
}

/// Names of scalar types; those that are not here have no name in texts.
pub(crate) const SCALAR_NAMES: [(&str, ScalarType); 12] = [
    ("Bool", Bool),
    ("Int", I32),
    ("Long", I64),
    ("Float", F32),
    ("Double", F64),
    ("Int8", I8),
    ("Int16", I16),
    ("UInt8", U8),
    ("UInt16", U16),
    ("UInt", U32),
    ("ULong", U64),
    ("Half", F16),
];

impl Type {
    /// Truth values.
    pub const BOOL: Type = Type::Scalar(Bool);
    /// 32-bit integers, which lengths and ranges are made of.
    pub const INT: Type = Type::Scalar(I32);

    /// The type of a sequence of `element`.
    pub fn seq(element: Type) -> Type {
        Type::Seq(Arc::new(element))
    }

    pub(crate) fn function(params: Vec<Type>, result: Type) -> Type {
        Type::Function(params.into(), Arc::new(result))
    }

    /// Returns true if a function is a part of it.
    pub(crate) fn has_function(&self) -> bool {
        match self {
            Type::Function(..) => true,
            Type::Seq(element) => element.has_function(),
            Type::Tuple(parts) => parts.iter().any(Type::has_function),
            Type::Scalar(_) | Type::Variable(_) => false,
        }
    }

    /// Calls `visit` with every variable, from left to right.
    pub(crate) fn variables(&self, visit: &mut impl FnMut(Variable)) {
        match self {
            Type::Scalar(_) => {}
            Type::Seq(element) => element.variables(visit),
            Type::Tuple(parts) => parts.iter().for_each(|part| part.variables(visit)),
            Type::Function(params, result) => {
                params.iter().for_each(|param| param.variables(visit));
                result.variables(visit);
            }
            Type::Variable(variable) => visit(*variable),
        }
    }

    /// The type with each variable replaced.
    pub(crate) fn replace(&self, with: &mut impl FnMut(Variable) -> Type) -> Type {
        match self {
            Type::Scalar(_) => self.clone(),
            Type::Seq(element) => Type::seq(element.replace(with)),
            Type::Tuple(parts) => Type::Tuple(parts.iter().map(|part| part.replace(with)).collect()),
            Type::Function(params, result) => {
                let params = params.iter().map(|param| param.replace(with)).collect();
                Type::function(params, result.replace(with))
            }
            Type::Variable(variable) => with(*variable),
        }
    }

    /// Texts of several types in which one variable has one letter.
    pub(crate) fn display_together(types: &[&Type]) -> Vec<String> {
        let mut names = Vec::new();
        for ty in types {
            ty.variables(&mut |variable| {
                if !names.contains(&variable) {
                    names.push(variable);
                }
            });
        }
        types.iter().map(|ty| Display { ty, names: &names }.to_string()).collect()
    }
}

/// A type with letters for its variables, in the order of `names`.
struct Display<'a> {
    ty: &'a Type,
    names: &'a [Variable],
}

impl Display<'_> {
    fn list(&self, f: &mut fmt::Formatter<'_>, types: &[Type]) -> fmt::Result {
        f.write_str("(")?;
        for (i, ty) in types.iter().enumerate() {
            f.write_str(if i == 0 { "" } else { ", " })?;
            fmt::Display::fmt(&Display { ty, names: self.names }, f)?;
        }
        f.write_str(")")
    }
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ty {
            Type::Scalar(ty) => {
                let name = SCALAR_NAMES.iter().find(|(_, scalar)| scalar == ty);
                f.write_str(name.map_or(ty.name(), |(name, _)| name))
            }
            Type::Seq(element) => write!(f, "[{}]", Display { ty: element, names: self.names }),
            Type::Tuple(parts) => self.list(f, parts),
            Type::Function(params, result) => {
                self.list(f, params)?;
                write!(f, " -> {}", Display { ty: result, names: self.names })
            }
            Type::Variable(variable) => {
                let place = self.names.iter().position(|name| name == variable).unwrap_or(self.names.len());
                write!(f, "{}", char::from(b'a' + (place % 26) as u8))?;
                if place >= 26 { write!(f, "{}", place / 26) } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&Type::display_together(&[self])[0])
    }
}
