//! Storage of one thread: variables where every access is at constants, else an array.

use super::load::constant_lanes;
use super::places::Place;
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_ir::{BufId, Expr, ExprKind, Stmt, visit};
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

impl Gen<'_> {
    /// `body` with storage of `constant` elements at most. In block code that is a place in the memory of the block.
    pub(super) fn alloc(&mut self, buf: BufId, constant: Option<u64>, body: &Stmt) -> Emitted<()> {
        if !self.in_phase {
            return match self.places.contains_key(&buf) {
                true => self.stmt(body),
                false => Err(Stop::Malformed(format!("{buf:?} has no place in the memory of the block"))),
            };
        }
        let ty = self.elem(buf)?;
        self.allowed(ty)?;
        let Some(len) = constant.and_then(|n| u32::try_from(n).ok()) else {
            return Err(Stop::Malformed(format!("the size of {buf:?} is not constant")));
        };
        let name = self.program.buffers[buf].name.clone();
        let reg = Reg::of_type(ty);
        let place = match constant_elements(buf, body) {
            Some(elements) => {
                let ty = self.code.shader.reg(reg);
                let variable = |i: i64| (i, self.code.variable(&format!("{name}_{i}"), ty));
                Place::Registers(elements.into_iter().map(variable).collect::<BTreeMap<_, _>>())
            }
            None => {
                let reg = if reg == Reg::Bool { Reg::U32 } else { reg };
                let base = self.code.shader.reg(reg);
                let len = NonZeroU32::new(len).unwrap_or(NonZeroU32::MIN);
                let ty = self.code.shader.array(base, reg.bits() / 8, Some(len));
                Place::Array(self.code.variable(&name, ty))
            }
        };
        self.places.insert(buf, place);
        // What an earlier iteration of a loop around left there is not what this one finds.
        self.memo.stored(buf);
        self.stmt(body)
    }
}

/// The elements of `buf` that `body` accesses; `None` if it computes which.
fn constant_elements(buf: BufId, body: &Stmt) -> Option<BTreeSet<i64>> {
    let mut found = Some(BTreeSet::new());
    collect(buf, body, &mut found);
    found
}

fn collect(buf: BufId, s: &Stmt, found: &mut Option<BTreeSet<i64>>) {
    let note = |index: &Expr, found: &mut Option<BTreeSet<i64>>| match (constant_lanes(index), &mut *found) {
        (Some(lanes), Some(all)) => all.extend(lanes),
        _ => *found = None,
    };
    if let Stmt::Store { buf: to, index, .. } = s
        && *to == buf
    {
        note(index, found);
    }
    visit::for_each_expr(s, |e| {
        visit::for_each_node(e, &mut |n| {
            if let ExprKind::Load { buf: from, index, .. } = n.kind()
                && *from == buf
            {
                note(index, found);
            }
        })
    });
    visit::for_each_stmt(s, |inner| collect(buf, inner, found));
}
