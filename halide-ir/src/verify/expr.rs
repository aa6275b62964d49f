//! The rules of expressions, symbols and uses of buffers.

use super::Verifier;
use crate::buffer_info::BufferRole;
use crate::expr::{Expr, ExprKind, Type};
use crate::program::Stage;
use crate::sym::{BufId, Scope, Sym};
use crate::typing::type_of;
use crate::visit::{deep, for_each_child};
use halide_core::ids::FuncId;

impl Verifier<'_> {
    /// Checks `e` and that it has the scalar type `ty`.
    pub(super) fn scalar(&mut self, e: &Expr, ty: Type, what: &str) {
        self.typed(e, ty, what);
    }

    /// Checks `e` and that it has type `ty`.
    pub(super) fn typed(&mut self, e: &Expr, ty: Type, what: &str) {
        self.expr(e);
        if e.ty() != ty {
            self.bad(format!("{what} is {} instead of {ty}", e.ty()), e);
        }
    }

    /// Checks `e` and what it holds; the result is the position of the innermost scope that it depends on.
    pub(super) fn expr(&mut self, e: &Expr) -> usize {
        if let Some((depth, serial)) = self.checked.get(&e.id())
            && self.scopes.get(*depth) == Some(serial)
        {
            return *depth;
        }
        let mut depth = 0;
        for_each_child(e, |c| depth = depth.max(deep(|| self.expr(c))));
        self.node_type(e);
        depth = depth.max(self.leaf(e));
        self.checked.insert(e.id(), (depth, self.scopes[depth]));
        depth
    }

    fn node_type(&mut self, e: &Expr) {
        match type_of(e.kind(), e.ty()) {
            Err(why) => self.bad(why, e),
            Ok(ty) if ty != e.ty() => self.bad(format!("{} where {ty} is right", e.ty()), e),
            Ok(_) => {}
        }
        if e.lanes() == 0 || (e.lanes() > 1 && self.stage() < Stage::Shaped) {
            self.bad(format!("{} lanes at {:?}", e.lanes(), self.stage()), e);
        }
    }

    /// Checks a node's symbol, parameter or buffer; the result is the position of the scope that it depends on.
    fn leaf(&mut self, e: &Expr) -> usize {
        match e.kind() {
            ExprKind::Sym(s) => self.use_of(*s, e),
            ExprKind::Param(id) => {
                let listed = self.program.params.get(*id).map(|(_, ty)| Type::data(*ty));
                if listed != Some(e.ty()) {
                    self.bad("a parameter that the table does not have", e);
                }
                0
            }
            ExprKind::Read { buf, args } => {
                self.until_flat("Read");
                if self.program.buffers.get(*buf).is_some_and(|info| info.dims != args.len()) {
                    self.bad(format!("{} coordinates", args.len()), e);
                }
                self.element(*buf, e)
            }
            ExprKind::Load { buf, .. } => {
                self.since_flat("Load");
                self.element(*buf, e)
            }
            _ => 0,
        }
    }

    fn element(&mut self, buf: BufId, e: &Expr) -> usize {
        if self.program.buffers.get(buf).is_some_and(|info| e.ty().scalar() != Some(info.elem)) {
            self.bad(format!("{} from a buffer of another type", e.ty()), e);
        }
        self.used(buf)
    }

    /// Checks that `buf` is there; the result is the position of the scope that has it.
    pub(super) fn used(&mut self, buf: BufId) -> usize {
        match self.program.buffers.get(buf).map(|info| info.role) {
            None => self.error(format!("{buf:?} is not in the table")),
            Some(BufferRole::Internal) => match self.available.get(&buf) {
                Some(depth) => return *depth,
                None => self.error(format!("{} is used outside its allocation", self.buf(buf))),
            },
            Some(_) => {}
        }
        0
    }

    fn use_of(&mut self, s: Sym, e: &Expr) -> usize {
        if let Some((depth, ty)) = self.bound.get(&s).and_then(|stack| stack.last()).copied() {
            if ty != e.ty() {
                self.bad(format!("{} that is bound to {ty}", e.ty()), e);
            }
            return depth;
        }
        self.known_sym(s);
        let free = match s {
            // A kernel knows nothing of the caller's but what is captured.
            _ if self.code != super::Code::Host => false,
            Sym::Loop(_) | Sym::Temp(_) => false,
            Sym::Bound { .. } | Sym::Stored { .. } => self.stage() == Stage::Nest,
            Sym::Buffer { buf, .. } => {
                self.stage() == Stage::Nest
                    || self.program.buffers.get(buf).is_none_or(|info| info.role != BufferRole::Internal)
            }
        };
        if !free {
            self.bad("an unbound symbol", e);
        }
        0
    }

    /// Checks that the ids of a symbol are in their tables.
    pub(super) fn known_sym(&mut self, s: Sym) {
        let known = match s {
            Sym::Loop(id) => self.program.loops.get(id).is_some(),
            Sym::Bound { func, at, .. } | Sym::Stored { func, at, .. } => {
                self.known_func(func);
                match at {
                    Scope::Root => true,
                    Scope::Body(id) => self.program.loops.get(id).is_some(),
                }
            }
            Sym::Buffer { buf, dim, .. } => {
                self.program.buffers.get(buf).is_some_and(|info| (dim as usize) < info.dims)
            }
            Sym::Temp(n) => n < self.program.next_temp,
        };
        if !known {
            self.error(format!("{} is not in the tables", self.sym(s)));
        }
    }

    pub(super) fn known_func(&mut self, func: FuncId) {
        if self.program.func_buffers.get(func).is_none() {
            self.error(format!("{func:?} is not in the table"));
        }
    }
}
