//! Defs with their types: what a text, or Rust closures, become.

use crate::ast::{Function, Name, Statement};
use crate::inference::{Typed, infer};
use crate::mistake::Mistakes;
use crate::text;
use crate::types::Scheme;
use std::sync::Arc;

/// Defs whose types are inferred.
#[derive(Debug)]
pub(crate) struct Module {
    pub(crate) defs: Vec<Arc<Function>>,
    pub(crate) typed: Typed,
}

impl Module {
    /// The module of a text that may use the defs of another one.
    ///
    /// # Errors
    /// Every mistake of the text; those of its types once it can be read.
    pub(crate) fn parse(text: &str, before: Option<&Module>) -> Result<Module, Mistakes> {
        let parsed = text::parse(text)?;
        let globals = before.map_or(Vec::new(), Module::globals);
        let typed = infer(&parsed.defs, parsed.nodes, &globals)?;
        Ok(Module { defs: parsed.defs, typed })
    }

    /// Its defs by name, with their schemes.
    fn globals(&self) -> Vec<(Name, Scheme)> {
        let scheme = |def: &Arc<Function>| Some((def.name.clone(), self.typed.scheme(def.id)?.clone()));
        self.defs.iter().filter_map(scheme).collect()
    }

    /// Every def, with the defs inside of it before it, and their schemes.
    pub(crate) fn schemes(&self) -> Vec<(Name, Scheme)> {
        let mut all = Vec::new();
        self.defs.iter().for_each(|def| self.schemes_of(def, &mut all));
        all
    }

    fn schemes_of(&self, def: &Function, all: &mut Vec<(Name, Scheme)>) {
        def.body.iter().for_each(|statement| self.schemes_in(statement, all));
        if let Some(scheme) = self.typed.scheme(def.id) {
            all.push((def.name.clone(), scheme.clone()));
        }
    }

    fn schemes_in(&self, statement: &Statement, all: &mut Vec<(Name, Scheme)>) {
        match statement {
            Statement::Def(def) => self.schemes_of(def, all),
            Statement::If { then, otherwise, .. } => {
                then.iter().chain(otherwise).for_each(|inner| self.schemes_in(inner, all));
            }
            Statement::Let(..) | Statement::Return(_) => {}
        }
    }
}
