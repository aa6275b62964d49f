//! Coordinates of calls of inlined Funcs.
//!
//! An inlined Func has no region of its own, so `check_coordinates` asks what it is called with.

use crate::lower::nests::ctx::Template;
use crate::lower::regions::infer_bounds::Finder;
use crate::lower::regions::region_table::{InlinedCall, Reached, shifted};
use halide_core::ids::FuncId;
use halide_ir::visit::any_node;
use halide_ir::{ExprKind, Scope, Sym};
use halide_solve::bounds::{Interval, interval_of};
use std::collections::BTreeMap;

impl Finder<'_> {
    /// Finds the coordinates at which definitions call inlined Funcs, but for their own coordinates and data.
    pub(crate) fn inlined(&mut self) {
        let ctx = self.ctx;
        let used = |((consumer, _), _): &(&(FuncId, usize), &Template)| ctx.used.contains(consumer);
        for (&(consumer, stage), template) in ctx.templates.iter().filter(used) {
            let mut ranges: Option<BTreeMap<Sym, Interval>> = None;
            for (callee, args) in &template.calls {
                for (dim, arg) in args.iter().enumerate() {
                    let reach = match shifted(template, arg) {
                        Some((of, by)) => Reached::Shifted { of, by },
                        None if any_node(arg, |n| matches!(n.kind(), ExprKind::Read { .. })) => continue,
                        None => {
                            if ranges.is_none() {
                                ranges = Some(self.own_ranges(consumer, stage, Scope::Root));
                            }
                            let env = |s: Sym| ranges.as_ref().and_then(|r| r.get(&s).cloned());
                            match interval_of(arg, &env, self.facts) {
                                Interval { min: Some(min), max: Some(max) } => Reached::Between(min, max),
                                _ => continue,
                            }
                        }
                    };
                    self.found.inlined.push(InlinedCall { consumer, stage, callee: *callee, dim, reach });
                }
            }
        }
    }
}
