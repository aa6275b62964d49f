//! The buffers that statements access.

use halide_ir::visit::{self, deep};
use halide_ir::{BufId, ExprKind, Program, Stmt};
use std::collections::BTreeSet;

/// The buffers that statements access in memory which lies outside of them.
#[derive(Default)]
pub(super) struct Accesses {
    /// Buffers that they write.
    pub(super) written: BTreeSet<BufId>,
    /// Buffers that they read or write.
    pub(super) all: BTreeSet<BufId>,
}

impl Accesses {
    pub(super) fn of(program: &Program, s: &Stmt) -> Accesses {
        let mut found = Accesses::default();
        match s {
            Stmt::Provide { values, .. } => values.iter().for_each(|(buf, _)| found.write(*buf)),
            // A closure may do either with what it is handed.
            Stmt::Call { args, .. } => args.iter().for_each(|arg| found.write(arg.buf)),
            _ => {}
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Read { buf, .. } = n.kind() {
                    found.all.insert(*buf);
                }
            })
        });
        for inner in visit::nested(s) {
            let Accesses { written, all } = deep(|| Accesses::of(program, inner));
            found.written.extend(written);
            found.all.extend(all);
        }
        if let Stmt::Realize { func, .. } = s {
            let own = &program.func_buffers[*func];
            found.written.retain(|buf| !own.contains(buf));
            found.all.retain(|buf| !own.contains(buf));
        }
        found
    }
    /// A buffer that one of them accesses and the other one writes, but for those of `but`.
    pub(super) fn shared(&self, other: &Accesses, but: &BTreeSet<BufId>) -> Option<BufId> {
        let mut both = self.written.intersection(&other.all).chain(other.written.intersection(&self.all));
        both.find(|buf| !but.contains(buf)).copied()
    }
    fn write(&mut self, buf: BufId) {
        self.written.insert(buf);
        self.all.insert(buf);
    }
}
