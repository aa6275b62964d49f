//! The buffers whose memory statements load and store.

use crate::expr::ExprKind;
use crate::hash::Set;
use crate::program::Program;
use crate::stmt::Stmt;
use crate::sym::BufId;
use crate::visit;

/// The buffers whose memory statements load and store, those of kernels left out.
#[derive(Clone, Debug, Default)]
pub struct MemoryUses {
    /// Buffers that are loaded from.
    pub loads: Set<BufId>,
    /// Buffers that are stored to.
    pub stores: Set<BufId>,
}

impl MemoryUses {
    /// The uses of the host code of a program: its body and its tasks.
    pub fn of_host(program: &Program) -> MemoryUses {
        let mut uses = MemoryUses::default();
        uses.collect(&program.body);
        program.tasks.iter().for_each(|task| uses.collect(&task.body));
        uses
    }
    /// Adds the uses of `s` and of the statements in it.
    pub fn collect(&mut self, s: &Stmt) {
        self.note(s);
        visit::for_each_stmt(s, |inner| self.collect(inner));
    }
    /// Adds the uses of `s` itself.
    pub fn note(&mut self, s: &Stmt) {
        match s {
            Stmt::Store { buf, .. } => _ = self.stores.insert(*buf),
            // A closure may do either with what it is handed.
            Stmt::Call { args, .. } => args.iter().for_each(|arg| {
                self.loads.insert(arg.buf);
                self.stores.insert(arg.buf);
            }),
            _ => {}
        }
        visit::for_each_expr(s, |e| {
            visit::for_each_node(e, &mut |n| {
                if let ExprKind::Load { buf, .. } = n.kind() {
                    self.loads.insert(*buf);
                }
            });
        });
    }
    /// Returns true if the memory of a buffer is loaded or stored.
    pub fn has(&self, buf: BufId) -> bool {
        self.loads.contains(&buf) || self.stores.contains(&buf)
    }
}
