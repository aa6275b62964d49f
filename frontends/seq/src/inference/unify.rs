//! The table of type variables, and the equations between types.

use crate::mistake::{MistakeKind, Wanted};
use crate::tuning::MOST_PARTS;
use crate::types::{Class, Scheme, Type, Variable};
use std::collections::HashMap;

/// A variable: what it may be, what it is, and how deep the defs are that it belongs to.
struct Slot {
    class: Class,
    bound: Option<Type>,
    /// Variables of a deeper level than an enclosing def's are generalised behind it.
    level: u32,
    /// True if a scheme has it: each use of the def replaces it.
    is_generic: bool,
}

/// All variables of one inference.
#[derive(Default)]
pub(super) struct Table {
    slots: Vec<Slot>,
    pub(super) level: u32,
}

/// Two parts of types that cannot be equal.
enum Clash {
    Parts(Type, Type),
    Infinite(Type),
    /// The expected side and the one that was found; a variable stands for its class.
    Class(Type, Type),
}

impl Table {
    pub(super) fn fresh(&mut self, class: Class) -> Type {
        self.slots.push(Slot { class, bound: None, level: self.level, is_generic: false });
        Type::Variable(Variable(self.slots.len() as u32 - 1))
    }

    fn slot(&self, variable: Variable) -> &Slot {
        &self.slots[variable.0 as usize]
    }

    /// The type with all that is known of its variables.
    pub(super) fn resolve(&self, ty: &Type) -> Type {
        ty.replace(&mut |variable| match &self.slot(variable).bound {
            Some(bound) => self.resolve(bound),
            None => Type::Variable(variable),
        })
    }

    /// `ty`, or what it is bound to if it is a variable.
    fn shallow(&self, ty: &Type) -> Type {
        let mut ty = ty.clone();
        while let Type::Variable(variable) = ty {
            let Some(bound) = &self.slot(variable).bound else { break };
            ty = bound.clone();
        }
        ty
    }

    /// Makes `found` and `expected` equal.
    ///
    /// # Errors
    /// The mistake of the value whose type is `found`, in the place that asks for `expected`.
    pub(super) fn unify(&mut self, expected: &Type, found: &Type) -> Result<(), Box<MistakeKind>> {
        self.equate(expected, found).map_err(|clash| {
            Box::new(match clash {
                Clash::Infinite(ty) => MistakeKind::Infinite(self.resolve(&ty)),
                Clash::Class(a, b) => {
                    let [expected, found] = [a, b].map(|side| self.wanted(&side));
                    MistakeKind::Class { expected, found }
                }
                Clash::Parts(a, b) => {
                    let [expected, found, a, b] = [expected, found, &a, &b].map(|ty| self.resolve(ty));
                    let is_whole = a == expected && b == found;
                    MistakeKind::Type { expected, found, parts: (!is_whole).then_some((a, b)) }
                }
            })
        })
    }

    fn equate(&mut self, a: &Type, b: &Type) -> Result<(), Clash> {
        let (a, b) = (self.shallow(a), self.shallow(b));
        match (&a, &b) {
            (Type::Variable(x), Type::Variable(y)) if x == y => Ok(()),
            (Type::Variable(variable), other) => {
                self.bind(*variable, other).map_err(|clash| clash.unwrap_or_else(|| Clash::Class(a.clone(), b.clone())))
            }
            (other, Type::Variable(variable)) => {
                self.bind(*variable, other).map_err(|clash| clash.unwrap_or_else(|| Clash::Class(a.clone(), b.clone())))
            }
            (Type::Scalar(x), Type::Scalar(y)) if x == y => Ok(()),
            (Type::Seq(x), Type::Seq(y)) => self.equate(x, y),
            (Type::Tuple(x), Type::Tuple(y)) if x.len() == y.len() => {
                x.iter().zip(y.iter()).try_for_each(|(x, y)| self.equate(x, y))
            }
            (Type::Function(x, p), Type::Function(y, q)) if x.len() == y.len() => {
                x.iter().zip(y.iter()).try_for_each(|(x, y)| self.equate(x, y))?;
                self.equate(p, q)
            }
            _ => Err(Clash::Parts(a, b)),
        }
    }

    /// A type, or the class of a variable.
    pub(super) fn wanted(&self, ty: &Type) -> Wanted {
        match self.resolve(ty) {
            Type::Variable(variable) => Wanted::Class(self.slot(variable).class),
            ty => Wanted::Type(ty),
        }
    }

    /// Binds a variable.
    ///
    /// # Errors
    /// A type that would contain itself, or `None` for one that the variable may not be.
    fn bind(&mut self, variable: Variable, ty: &Type) -> Result<(), Option<Clash>> {
        let (class, level) = (self.slot(variable).class, self.slot(variable).level);
        if let Type::Variable(other) = ty {
            let slot = &mut self.slots[other.0 as usize];
            slot.class = class.meet(slot.class).ok_or(None)?;
            slot.level = slot.level.min(level);
        } else {
            if !class.contains(Class::of(ty)) {
                return Err(None);
            }
            let mut inside = Vec::new();
            self.resolve(ty).variables(&mut |inner| inside.push(inner));
            if inside.contains(&variable) {
                return Err(Some(Clash::Infinite(ty.clone())));
            }
            for inner in inside {
                let slot = &mut self.slots[inner.0 as usize];
                slot.level = slot.level.min(level);
            }
        }
        self.slots[variable.0 as usize].bound = Some(ty.clone());
        Ok(())
    }

    /// Asks that `ty` is in `class`.
    pub(super) fn restrict(&mut self, ty: &Type, class: Class) -> Result<(), Box<MistakeKind>> {
        let wanted = self.fresh(class);
        self.unify(&wanted, ty)
    }

    /// Returns true if a type has more parts than [`MOST_PARTS`], each use of a part counted.
    pub(super) fn is_large(&self, ty: &Type) -> bool {
        let mut todo = vec![ty.clone()];
        for _ in 0..MOST_PARTS {
            let Some(ty) = todo.pop() else { return false };
            match self.shallow(&ty) {
                Type::Scalar(_) | Type::Variable(_) => {}
                Type::Seq(element) => todo.push((*element).clone()),
                Type::Tuple(parts) => todo.extend(parts.iter().cloned()),
                Type::Function(params, result) => {
                    todo.extend(params.iter().cloned());
                    todo.push((*result).clone());
                }
            }
        }
        true
    }

    /// The scheme of `ty` behind a def: variables of deeper levels are its own.
    pub(super) fn generalise(&mut self, ty: &Type) -> Scheme {
        let (ty, mut variables) = (self.resolve(ty), Vec::new());
        ty.variables(&mut |variable| {
            let slot = &mut self.slots[variable.0 as usize];
            slot.is_generic |= slot.level > self.level;
            if slot.level > self.level && !variables.iter().any(|(known, _)| *known == variable) {
                variables.push((variable, slot.class));
            }
        });
        Scheme { variables, ty }
    }

    /// The type of one use of `scheme`, and the types that its variables have in it.
    pub(super) fn instantiate(&mut self, scheme: &Scheme) -> (Type, Vec<(Variable, Type)>) {
        let types: Vec<(Variable, Type)> = scheme.variables.iter().map(|(v, class)| (*v, self.fresh(*class))).collect();
        let by_variable: HashMap<Variable, Type> = types.iter().cloned().collect();
        let ty = scheme.ty.replace(&mut |v| by_variable.get(&v).cloned().unwrap_or(Type::Variable(v)));
        (ty, types)
    }

    /// Gives a variable that no value decides the first type of its class.
    pub(super) fn give_default(&mut self, variable: Variable) {
        let slot = &mut self.slots[variable.0 as usize];
        if slot.bound.is_none() {
            slot.bound = slot.class.default_type();
        }
    }

    /// The variables made since there were `from` that are not bound and belong to a def deeper than this level.
    pub(super) fn free_since(&self, from: usize) -> Vec<Variable> {
        let all = from..self.slots.len();
        let free = all.filter(|&i| self.is_free(i));
        free.map(|i| Variable(i as u32)).collect()
    }

    fn is_free(&self, i: usize) -> bool {
        let Slot { bound, level, is_generic, .. } = &self.slots[i];
        bound.is_none() && *level > self.level && !is_generic
    }

    pub(super) fn count(&self) -> usize {
        self.slots.len()
    }
}
