//! Freezing reduction domains.

use super::address::address;
use super::{DefinitionScope, Freezer};
use crate::arena::{self, Expr, Kind as Open, Ty};
use crate::error::AlgorithmErrorKind;
use crate::expr::as_type;
use crate::ids::{ExprId, RDomId, VarId};
use crate::pipeline::{NoteKind, RDomDef, RVarDef};
use crate::rdom::RDomBody;
use crate::types::ScalarType;
use crate::value::Scalar;
use std::rc::Rc;

impl Freezer {
    /// The frozen domain, as the definition in `scope` means it.
    pub(super) fn rdom(&mut self, body: &Rc<RDomBody>, scope: &DefinitionScope<'_>) -> RDomId {
        let vars = self.predicate_vars(body, scope);
        let key = (address(body), vars);
        if let Some(&id) = self.rdoms.get(&key) {
            return id;
        }
        let id = self.data.rdoms.push(RDomDef { name: body.name.clone(), dims: Vec::new(), predicate: None });
        self.rdom_bodies.push(body.clone());
        self.rdoms.insert(key, id);
        for (name, min, extent) in &body.dims {
            let (min, extent) = (self.rdom_bound(body, *min, scope), self.rdom_bound(body, *extent, scope));
            self.data.rdoms[id].dims.push(RVarDef { name: name.clone(), said: name.clone(), min, extent });
        }
        if let Some(predicate) = body.predicate.get() {
            let frozen = self.freeze(predicate, scope);
            self.data.rdoms[id].predicate = Some(frozen);
        }
        id
    }

    /// The ids in `scope` of the pure variables of a domain's predicate, in reading order.
    fn predicate_vars(&mut self, body: &RDomBody, scope: &DefinitionScope<'_>) -> Vec<VarId> {
        let Some(predicate) = body.predicate.get() else { return Vec::new() };
        let mut names = Vec::new();
        arena::walk(&[predicate], |_, kind, _| {
            if let Open::Var(name) = kind {
                names.push(*name);
            }
        });
        names.into_iter().map(|name| self.var(name, scope)).collect()
    }

    fn rdom_bound(&mut self, body: &RDomBody, e: Expr, scope: &DefinitionScope<'_>) -> ExprId {
        let what = match arena::ty(e) {
            Ty::One(ty) if ty.is_int() => too_late(e),
            Ty::None => None,
            _ => Some("is not an integer".to_string()),
        };
        match what {
            Some(what) => {
                let kind = AlgorithmErrorKind::DomainBound { rdom: body.name.clone(), what };
                self.mistake(body.at, kind);
                self.constant(Scalar::zero(ScalarType::I32))
            }
            None => self.freeze(as_type(e, ScalarType::I32, body.at), scope),
        }
    }
}

/// Describes the first part of `root` that is not known before the pipeline runs.
pub(super) fn too_late(root: Expr) -> Option<String> {
    let mut found = None;
    arena::walk(&[root], |_, kind, _| {
        let what = match kind {
            Open::Var(name) => format!("uses the variable `{}`", arena::name_of(*name)),
            Open::RVar(body, dim) => format!("uses the variable `{}`", body.dims[*dim as usize].0),
            Open::Call(callee, ..) => format!("reads `{}`", callee.name),
            Open::Image(image, _) => format!("reads `{}`", image.name),
            Open::Random(_) => "is random".to_string(),
            Open::Sites(_) => "is another one at each site of an update".to_string(),
            Open::Note(note, ..) if note.kind == NoteKind::Print => "prints".to_string(),
            _ => return,
        };
        found.get_or_insert(what);
    });
    found
}
