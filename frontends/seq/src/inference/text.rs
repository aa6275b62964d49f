//! Texts of the types of primitives.

use crate::types::{Class, SCALAR_NAMES, Scheme, Type, Variable};

struct Reader<'a> {
    rest: &'a str,
    names: Vec<&'a str>,
}

/// The scheme that a row of the table of primitives says; `None` where it is no type. The first letter of a variable is
/// its class.
pub(super) fn scheme(text: &str) -> Option<Scheme> {
    let mut reader = Reader { rest: text, names: Vec::new() };
    let ty = reader.ty()?;
    if !reader.rest.is_empty() {
        return None;
    }
    let class = |name: &str| match name.as_bytes().first() {
        Some(b'n') => Class::NUMBER,
        Some(b'i') => Class::INTEGER,
        Some(b'r') => Class::REAL,
        Some(b's') => Class::SCALAR,
        Some(b't') => Class::BITS,
        _ => Class::ANY,
    };
    let variables = (0..).zip(&reader.names).map(|(i, name)| (Variable(i), class(name))).collect();
    Some(Scheme { variables, ty })
}

impl<'a> Reader<'a> {
    fn skip(&mut self, mark: &str) -> bool {
        let after = self.rest.strip_prefix(mark);
        self.rest = after.unwrap_or(self.rest).trim_start();
        after.is_some()
    }

    fn ty(&mut self) -> Option<Type> {
        if self.skip("[") {
            let element = self.ty()?;
            return self.skip("]").then(|| Type::seq(element));
        }
        if self.skip("(") {
            let mut parts = Vec::new();
            while !self.skip(")") {
                parts.push(self.ty()?);
                self.skip(",");
            }
            if self.skip("->") {
                return Some(Type::function(parts, self.ty()?));
            }
            return Some(Type::Tuple(parts.into()));
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        if let Some((_, ty)) = SCALAR_NAMES.iter().find(|(scalar, _)| *scalar == name) {
            return Some(Type::Scalar(*ty));
        }
        let place = self.names.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.names.push(name);
            self.names.len() - 1
        });
        (!name.is_empty()).then_some(Type::Variable(Variable(place as u32)))
    }
}
