//! Loop versioning for non-temporal stores: an output is far larger than the caches or it is not, for the whole kernel.
//! A loop that stores to outputs exists twice, for small ones without any test of addresses, and the run chooses before
//! the loop.

use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::{Arg, Condition, Right, View};
use super::kernel::Emit;
use super::stmt::stored;
use crate::shared::lane::Lane;
use crate::tuning::STREAM_VERSION_NODES;
use halide_ir::visit::{for_each_expr, for_each_node, for_each_stmt};
use halide_ir::{BufId, Expr, For, Stmt, Stream};
use iced_x86::Code;
use regalloc2::VReg;
use std::collections::BTreeSet;

impl Emit<'_> {
    /// Emits a loop in a version for small outputs and one for others. Returns false, and emits nothing, if its stores
    /// leave nothing to decide, or if two of it are too much code.
    pub(super) fn stream_versions(&mut self, l: &For) -> Emitted<bool> {
        let mut undecided = BTreeSet::new();
        self.undecided(&l.body, &mut undecided);
        if undecided.is_empty() || !is_short(&l.body) {
            return Ok(false);
        }
        let small = self.all_small(&undecided)?;
        let bufs = stored(&[&l.body]);
        self.branches(Condition::NotEqual, small, Right::Const(0), &bufs, |e, is_small| {
            let stream = match (is_small, undecided.len()) {
                (true, _) => Stream::Never,
                (false, 1) => Stream::Always,
                // Some of them may be small.
                (false, _) => Stream::IfLarge,
            };
            e.decided.extend(undecided.iter().map(|buf| (*buf, stream)));
            e.for_loop(l)?;
            e.decided.retain(|buf, _| !undecided.contains(buf));
            Ok(())
        })?;
        Ok(true)
    }
    /// Returns the non-temporal stores to a buffer at the place at hand.
    pub(super) fn stream_of(&self, buf: BufId) -> Stream {
        match self.program.buffers[buf].stream {
            // How large an allocation of the nest is, is not asked: what is used up inside of it stays near.
            Stream::IfLarge if self.heap.inner.contains(&buf) => Stream::Never,
            Stream::IfLarge => self.decided.get(&buf).copied().unwrap_or(Stream::IfLarge),
            stream => stream,
        }
    }
    /// Adds the buffers whose stores in a statement would look at addresses and sizes.
    fn undecided(&self, s: &Stmt, into: &mut BTreeSet<BufId>) {
        if let Stmt::Store { buf, value, mask: None, .. } = s
            && self.stream_of(*buf) == Stream::IfLarge
            && !self.decided.contains_key(buf)
            && self.fills_registers(value)
        {
            into.insert(*buf);
        }
        for_each_stmt(s, |inner| self.undecided(inner, into));
    }
    fn fills_registers(&self, value: &Expr) -> bool {
        let bytes = value.ty().scalar().map_or(0, |elem| Lane::of_data(elem).bytes() * value.lanes() as usize);
        bytes > 0 && bytes.is_multiple_of(self.body.widest.bytes())
    }
    /// Returns a register that is 0 if some of these outputs are large.
    fn all_small(&mut self, bufs: &BTreeSet<BufId>) -> Emitted<VReg> {
        let mut all: Option<VReg> = None;
        for buf in bufs {
            let word = self.capture(Capture::Small(*buf), 1);
            let mem = self.word(word);
            all = Some(match all {
                None => self.result_of(Code::Mov_r64_rm64, View::G64, &[Arg::Mem(mem)]),
                Some(others) => self.general(Code::And_r64_rm64, others, Arg::Mem(mem)),
            });
        }
        all.map_or_else(|| refuse("no output to ask about"), Ok)
    }
}

/// Returns true if code for a statement is short enough to exist twice.
fn is_short(s: &Stmt) -> bool {
    let mut nodes = 0;
    count_nodes(s, &mut nodes);
    nodes <= STREAM_VERSION_NODES
}

fn count_nodes(s: &Stmt, nodes: &mut usize) {
    if *nodes <= STREAM_VERSION_NODES {
        for_each_expr(s, |e| for_each_node(e, &mut |_| *nodes += 1));
        for_each_stmt(s, |inner| count_nodes(inner, nodes));
    }
}
