//! The rules of storage: where it is, what is stored to it, and with how many coordinates.

use super::Code;
use super::{Place, Verifier};
use crate::buffer_info::BufferRole;
use crate::build::as_int;
use crate::expr::{Elem, Expr, Type};
use crate::print;
use crate::program::Stage;
use crate::stmt::Stmt;
use crate::sym::BufId;
use halide_core::ids::FuncId;

impl Verifier<'_> {
    pub(super) fn realize(&mut self, func: FuncId, bounds: &[(Expr, Expr)], when: Option<&Expr>, body: &Stmt) {
        self.until_flat("Realize");
        for (min, extent) in bounds {
            self.scalar(min, Type::INDEX, "the min of a realization");
            self.scalar(extent, Type::INDEX, "the extent of a realization");
        }
        if let Some(when) = when {
            self.scalar(when, Type::BOOL, "the condition of a realization");
        }
        let bufs = self.program.func_buffers.get(func).cloned().unwrap_or_default();
        self.known_func(func);
        for &b in &bufs {
            if self.program.buffers.get(b).is_some_and(|info| info.dims != bounds.len()) {
                self.error(format!("{} is realized in {} dimensions", self.buf(b), bounds.len()));
            }
        }
        self.storage(&bufs, |v| v.inside(Place::Func(func), |v| v.stmt(body)));
    }

    /// Checks `body` in a scope where `bufs` are available.
    pub(super) fn storage(&mut self, bufs: &[BufId], body: impl FnOnce(&mut Self)) {
        self.open();
        let depth = self.depth();
        for &b in bufs {
            match self.program.buffers.get(b).map(|info| info.role) {
                None => self.error(format!("{b:?} is not in the table")),
                Some(BufferRole::Internal) => {}
                Some(_) => self.error(format!("{} is the caller's and is allocated", self.buf(b))),
            }
            if self.available.insert(b, depth).is_some() {
                self.error(format!("{} is allocated inside its own allocation", self.buf(b)));
            }
        }
        body(self);
        for b in bufs {
            self.available.remove(b);
        }
        self.scopes.pop();
    }

    pub(super) fn provide(&mut self, func: FuncId, args: &[Expr], values: &[(BufId, Expr)], mask: Option<&Expr>) {
        self.until_flat("Provide");
        self.known_func(func);
        let lanes = args.first().or(values.first().map(|(_, v)| v)).map_or(1, Expr::lanes);
        for a in args {
            self.typed(a, Type::INDEX.with_lanes(lanes), "a coordinate");
        }
        self.mask(mask, lanes);
        for (i, (buf, value)) in values.iter().enumerate() {
            self.written(*buf, value, lanes);
            let own = self.program.func_buffers.get(func).is_some_and(|bufs| bufs.contains(buf));
            if !own {
                self.error(format!("{} is not a buffer of {}", self.buf(*buf), print::func_in(func, self.program)));
            }
            if values[..i].iter().any(|(b, _)| b == buf) {
                self.error(format!("{} is stored twice at once", self.buf(*buf)));
            }
            if self.program.buffers.get(*buf).is_some_and(|info| info.dims != args.len()) {
                self.error(format!("{} is stored at {} coordinates", self.buf(*buf), args.len()));
            }
        }
    }

    pub(super) fn alloc(&mut self, buf: BufId, count: &Expr, constant: Option<u64>, body: &Stmt) {
        self.since_flat("Alloc");
        self.scalar(count, Type::INDEX, "the size of an allocation");
        if let Some(n) = as_int(count)
            && (n < 0 || constant.is_some_and(|c| n as u64 > c))
        {
            self.error(format!("{} has {n} elements, bounded by {constant:?}", self.buf(buf)));
        }
        if self.code != Code::Host {
            self.kernel_alloc(buf, constant);
        }
        self.allocated_in.insert(buf, self.nesting);
        self.storage(&[buf], |v| v.stmt(body));
    }

    pub(super) fn free(&mut self, buf: BufId) {
        if self.stage() < Stage::Shaped {
            self.error(format!("a Free at {:?}", self.stage()));
        }
        self.used(buf);
        if self.allocated_in.remove(&buf) != Some(self.nesting) {
            self.error(format!("{} is freed where it is not allocated", self.buf(buf)));
        }
        self.available.remove(&buf);
        // What was found right may use the buffer.
        self.checked.clear();
    }

    pub(super) fn store(&mut self, buf: BufId, index: &Expr, value: &Expr, mask: Option<&Expr>) {
        self.since_flat("Store");
        let lanes = index.lanes();
        self.typed(index, Type::INDEX.with_lanes(lanes), "the index of a store");
        self.mask(mask, lanes);
        self.written(buf, value, lanes);
    }

    pub(super) fn prefetch(&mut self, buf: BufId, at: &[Expr]) {
        at.iter().for_each(|e| self.scalar(e, Type::INDEX, "a place to prefetch"));
        let known = self.program.buffers.get(buf);
        let places = if self.stage() >= Stage::Flat { Some(1) } else { known.map(|b| b.dims) };
        if places.is_some_and(|n| n != at.len()) {
            self.error(format!("a prefetch of {} at {} places", self.buf(buf), at.len()));
        }
        self.used(buf);
    }

    /// A value of `lanes` lanes stored to `buf`.
    fn written(&mut self, buf: BufId, value: &Expr, lanes: u16) {
        match self.program.buffers.get(buf) {
            Some(info) => {
                let ty = Type { elem: Elem::Data(info.elem), lanes };
                self.typed(value, ty, "a stored value");
                if matches!(info.role, BufferRole::Input(_)) {
                    self.error(format!("{} is an input and is written", self.buf(buf)));
                }
            }
            None => {
                self.expr(value);
            }
        }
        self.used(buf);
    }

    fn mask(&mut self, mask: Option<&Expr>, lanes: u16) {
        if let Some(m) = mask {
            self.typed(m, Type::BOOL.with_lanes(lanes), "a mask");
        }
    }
}
