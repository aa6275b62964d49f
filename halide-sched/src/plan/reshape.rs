//! Directives that change the loops of a stage: other variables, other names, another order.

use super::dependence::Conflict;
use super::diagnostics::{OrderReason, Problem};
use super::stage::{Applied, LoopDraft, Source, StageDraft, wrong};
use crate::plan::types::{StageVar, Transform};
use crate::schedule::{LoopKind, Partition, Tail};
use crate::tuning::MOST_SKEW;
use halide_ir::Expr;

impl StageDraft {
    /// Replaces loop `var` by `outer` and `inner`; gives the position of the outer one.
    pub(super) fn split(&mut self, names: [&str; 3], factor: Expr, tail: Tail, source: &Source<'_>) -> Applied<usize> {
        let [var, outer, inner] = names;
        let position = self.find(var)?;
        let old = self.loops[position];
        self.check_new(outer, &[old.var])?;
        self.check_new(inner, &[old.var])?;
        if outer == inner {
            return wrong(Problem::NameTaken { of: self.subject.clone(), name: inner.to_string() });
        }
        let plan_tail = self.tail(old.var, &factor, tail).map_err(Some)?;
        let reduction = self.vars[old.var].reduction;
        self.replaced.insert(var.to_string(), format!("`{}`", source.text));
        let (outer, inner) = (self.new_var(outer, reduction), self.new_var(inner, reduction));
        let (outer_kind, inner_kind) = kinds_of_parts(old.kind);
        self.loops[position] = LoopDraft { var: outer, kind: outer_kind, ..old };
        // What is wanted of a loop whatever it takes is wanted of one of its parts.
        let partition = if old.partition == Partition::Always { Partition::Auto } else { old.partition };
        self.loops.insert(position + 1, LoopDraft { var: inner, kind: inner_kind, partition, ..old });
        if let Some(at) = self.natural.iter().position(|&v| v == old.var) {
            self.natural.splice(at..=at, [outer, inner]);
        }
        self.split_by.insert(old.var, source.number);
        let (var, at) = (old.var, source.at);
        self.transforms.push(match plan_tail {
            Some(tail) => Transform::Split { var, outer, inner, factor, tail, at },
            None => Transform::Balance { var, outer, inner, count: factor, at },
        });
        Ok(position)
    }

    /// Replaces two loops by one at the place of the inner one.
    pub(super) fn fuse(&mut self, inner: &str, outer: &str, fused: &str, source: &Source<'_>) -> Applied {
        if inner == outer {
            return wrong(Problem::FuseWithItself { name: inner.to_string() });
        }
        let (inner_at, outer_at) = (self.find(inner)?, self.find(outer)?);
        let (inner_loop, outer_loop) = (self.loops[inner_at], self.loops[outer_at]);
        self.check_new(fused, &[inner_loop.var, outer_loop.var])?;
        let place = |v: StageVar| self.natural.iter().position(|&n| n == v);
        let (inner_place, outer_place) = (place(inner_loop.var), place(outer_loop.var));
        if let (Some(i), Some(o)) = (inner_place, outer_place)
            && i != o + 1
        {
            self.check_order_free(vec![inner_loop.var, outer_loop.var])?;
        }
        for name in [inner, outer] {
            self.replaced.insert(name.to_string(), format!("`{}`", source.text));
        }
        let reduction = self.vars[inner_loop.var].reduction || self.vars[outer_loop.var].reduction;
        let fused = self.new_var(fused, reduction);
        self.loops[inner_at].var = fused;
        self.loops.remove(outer_at);
        if let Some(at) = inner_place.or(outer_place) {
            self.natural[at] = fused;
        }
        if let (Some(_), Some(o)) = (inner_place, outer_place) {
            self.natural.remove(o);
        }
        self.transforms.push(Transform::Fuse { inner: inner_loop.var, outer: outer_loop.var, fused });
        self.keep_order()
    }

    /// Replaces loop `var` by its sums with `by` times loop `along`.
    pub(super) fn skew(&mut self, var: &str, by: i64, along: &str, skewed: &str, source: &Source<'_>) -> Applied {
        if var == along {
            return wrong(Problem::SkewByItself { name: var.to_string() });
        }
        if by == 0 {
            return wrong(Problem::SkewByNothing { var: var.to_string(), along: along.to_string() });
        }
        if by.unsigned_abs() > MOST_SKEW.unsigned_abs() {
            return wrong(Problem::TooLarge { what: "factor of a skew", value: by.saturating_abs(), most: MOST_SKEW });
        }
        let (position, along_at) = (self.find(var)?, self.find(along)?);
        let (old, along) = (self.loops[position].var, self.loops[along_at].var);
        self.check_new(skewed, &[old])?;
        self.replaced.insert(var.to_string(), format!("`{}`", source.text));
        let reduction = self.vars[old].reduction || self.vars[along].reduction;
        let skewed = self.new_var(skewed, reduction);
        self.loops[position].var = skewed;
        self.transforms.push(Transform::Skew { var: old, by, along, skewed });
        // For one value of `var`, the skewed loop orders those of `along`, too.
        let matters = |v: &StageVar| self.natural.contains(v);
        if matters(&old) || matters(&along) {
            let loops = self.loops.iter().map(|l| l.var);
            self.natural = loops.filter(|v| *v == skewed || matters(v)).collect();
            if along_at > position {
                return self.check_order(vec![skewed]);
            }
        }
        Ok(())
    }

    /// Gives a loop another name.
    pub(super) fn rename(&mut self, from: &str, to: &str, source: &Source<'_>) -> Applied {
        let position = self.find(from)?;
        let var = self.loops[position].var;
        self.check_new(to, &[var])?;
        self.replaced.insert(from.to_string(), format!("`{}`", source.text));
        self.replaced.remove(to);
        self.vars[var].name = to.to_string();
        Ok(())
    }

    /// Puts the named loops, innermost first, in the places that they have.
    pub(super) fn reorder(&mut self, names: &[String]) -> Applied {
        let mut places = Vec::new();
        for name in names {
            let place = self.find(name)?;
            if places.contains(&place) {
                return wrong(Problem::Repeated { name: name.clone() });
            }
            places.push(place);
        }
        let listed: Vec<LoopDraft> = places.iter().rev().map(|&p| self.loops[p]).collect();
        places.sort_unstable();
        places.into_iter().zip(listed).for_each(|(p, l)| self.loops[p] = l);
        self.keep_order()
    }

    /// Checks that the loops whose order matters still have theirs, or that it does not matter after all.
    fn keep_order(&mut self) -> Applied {
        let now: Vec<StageVar> = self.loops.iter().map(|l| l.var).filter(|v| self.natural.contains(v)).collect();
        if now == self.natural {
            return Ok(());
        }
        let moved = now.iter().zip(&self.natural).filter(|(a, b)| a != b).map(|(a, _)| *a).collect();
        self.natural = now;
        self.check_order(moved)
    }

    /// Checks that iterations come in an order that the result allows, after a change of these loops.
    fn check_order(&self, moved: Vec<StageVar>) -> Applied {
        match self.order_matters().map(|why| (why, self.nest().out_of_order())) {
            // Whatever depends on an iteration still comes after it.
            None | Some((_, Ok(None))) => Ok(()),
            Some((why, found)) => self.refuse_order(moved, why, found.ok().flatten()),
        }
    }

    fn check_order_free(&self, vars: Vec<StageVar>) -> Applied {
        self.order_matters().map_or(Ok(()), |why| self.refuse_order(vars, why, None))
    }

    fn refuse_order(&self, vars: Vec<StageVar>, why: OrderReason, conflict: Option<Conflict>) -> Applied {
        let vars = vars.into_iter().map(|v| self.name(v).to_string()).collect();
        let conflict = conflict.map(Box::new);
        wrong(Problem::OrderMatters { of: self.subject.clone(), vars, why, conflict })
    }
}

/// Returns the kinds of the outer and the inner part of a split loop: threads stay outside, lanes inside.
fn kinds_of_parts(kind: LoopKind) -> (LoopKind, LoopKind) {
    match kind {
        LoopKind::Serial | LoopKind::Unrolled => (kind, kind),
        LoopKind::Parallel | LoopKind::GpuBlocks => (kind, LoopKind::Serial),
        LoopKind::Vectorized | LoopKind::GpuThreads | LoopKind::GpuLanes => (LoopKind::Serial, kind),
    }
}
