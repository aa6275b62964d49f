//! Budget of a program's size: every pass that multiplies code asks here before it does.
//!
//! Sizes are numbers of nodes: statements, and nodes of their expressions, those that are shared within one expression
//! once.
//!
//! Copies of unrolled and vectorized loops, of variants and of cut loops are counted before they are made; both CPU
//! code generators stop on the way. Errors name the directives that multiply code.

use crate::lower::cause::{Cause, Multiplies};
use crate::lower::error::LowerError;
use crate::lower::loops::partition_loops::Partitioned;
use crate::lower::nests::ctx::{Ctx, TemplateSite};
use crate::plan::{Level, LoopLabel, StagePlan};
use crate::tuning::MOST_CAUSES;
use halide_core::error::Location;
use halide_core::ids::FuncId;
use halide_ir::hash::Set;
use halide_ir::visit::{self, deep};
use halide_ir::{Expr, ExprKind, For, ForKind, LoopId, LoopInfo, Program, Stmt, Sym, build};
use std::collections::{BTreeMap, BTreeSet};

/// The error of a program that would become too large.
pub(crate) fn too_large(nodes: u64, most: u64, mut causes: Vec<Cause>) -> LowerError {
    causes.truncate(MOST_CAUSES);
    LowerError::TooLarge { nodes, most, causes }
}

/// The number of nodes of a statement; counting ends beyond `most`.
pub(crate) fn size_up_to(s: &Stmt, most: u64) -> u64 {
    deep(|| {
        let mut size = own_size(s);
        visit::for_each_stmt(s, |inner| {
            if size <= most {
                size += size_up_to(inner, most - size);
            }
        });
        size
    })
}

fn own_size(s: &Stmt) -> u64 {
    let mut size = 1;
    visit::for_each_expr(s, |e| size += nodes_of(e));
    size
}

fn nodes_of(e: &Expr) -> u64 {
    let mut nodes = 0;
    visit::for_each_node(e, &mut |_| nodes += 1);
    nodes
}

/// Checks that copies of unrolled loops, and of vectorized ones around others, do not make a program larger than
/// `most`. Returns the directives that ask for copies, those of most first.
///
/// # Errors
/// [`LowerError::TooLarge`] with the loops.
pub(crate) fn check_copies(program: &Program, most: u64) -> Result<Vec<Cause>, LowerError> {
    let mut copies = Copies { program, causes: BTreeMap::new(), lanes: 1, varying: Set::default() };
    let made = copies.size(&program.body);
    let mut causes: Vec<Cause> = copies.causes.into_values().collect();
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.how.times()));
    if made.nodes > most {
        return Err(too_large(made.nodes, most, causes));
    }
    causes.truncate(MOST_CAUSES);
    Ok(causes)
}

struct Copies<'p> {
    program: &'p Program,
    /// By loop and directive, which copies and variants have in common: the one of most copies.
    causes: BTreeMap<(String, Option<Location>), Cause>,
    /// The lanes of the innermost vectorized loop around.
    lanes: u64,
    /// Its variable and the names that depend on it.
    varying: Set<Sym>,
}

/// The size of the code that a statement becomes.
#[derive(Clone, Copy)]
struct Made {
    nodes: u64,
    /// True if there are vectorized loops in it.
    vectors: bool,
}

impl Copies<'_> {
    /// The size of what becomes of `s`.
    fn size(&mut self, s: &Stmt) -> Made {
        deep(|| {
            if let Stmt::For(l) = s {
                return self.loop_of(l, own_size(s));
            }
            if let Stmt::Let { bindings, .. } = s {
                for (name, value) in bindings {
                    if self.varies(value) {
                        self.varying.insert(*name);
                    }
                }
            }
            let mut made = Made { nodes: own_size(s), vectors: false };
            visit::for_each_stmt(s, |inner| made = made.and(self.size(inner)));
            if self.lanes != 1 && self.is_step(s) {
                made.nodes = made.nodes.saturating_mul(self.lanes);
            }
            made
        })
    }
    /// The size of the body of a loop.
    fn body_of(&mut self, l: &For) -> Made {
        let lanes = build::as_int(&l.extent).filter(|_| l.kind == ForKind::Vectorized);
        let Some(lanes) = lanes else { return self.size(&l.body) };
        let around = (std::mem::replace(&mut self.lanes, lanes.unsigned_abs()), std::mem::take(&mut self.varying));
        self.varying.insert(Sym::Loop(l.id));
        let made = self.size(&l.body);
        (self.lanes, self.varying) = around;
        made
    }
    /// Returns true if an expression may differ between lanes.
    fn varies(&self, e: &Expr) -> bool {
        !self.varying.is_empty()
            && visit::any_node(e, |n| matches!(n.kind(), ExprKind::Sym(s) if self.varying.contains(s)))
    }
    /// Returns true if a statement is taken lane by lane: it prints, or stores what it makes of an element that all
    /// lanes change.
    fn is_step(&self, s: &Stmt) -> bool {
        match s {
            Stmt::Atomic { .. } | Stmt::Print { .. } => true,
            Stmt::Store { buf, index, value, .. } if !self.varies(index) => visit::any_node(
                value,
                |n| matches!(n.kind(), ExprKind::Load { buf: from, index: at, .. } if from == buf && at == index),
            ),
            _ => false,
        }
    }
    fn loop_of(&mut self, l: &For, own: u64) -> Made {
        let body = self.body_of(l);
        let vectors = body.vectors || l.kind == ForKind::Vectorized;
        let Some(extent) = build::as_int(&l.extent).filter(|n| *n > 1) else {
            return Made { nodes: body.nodes.saturating_add(own), vectors };
        };
        let (how, copies) = match l.kind {
            ForKind::Unrolled => (Multiplies::Unrolled(extent), extent),
            ForKind::Vectorized => (Multiplies::Vectorized(extent), if body.vectors { extent } else { 1 }),
            _ => return Made { nodes: body.nodes.saturating_add(own), vectors },
        };
        self.note(l.id, how);
        Made { nodes: body.nodes.saturating_mul(copies.unsigned_abs()).saturating_add(own), vectors }
    }
    fn note(&mut self, l: LoopId, how: Multiplies) {
        let LoopInfo { name, at, .. } = self.program.loops[l].clone();
        let known = self.causes.entry((name.clone(), at)).or_insert(Cause { name, how, at });
        if known.how.times() < how.times() {
            known.how = how;
        }
    }
}

impl Made {
    fn and(self, other: Made) -> Made {
        Made { nodes: self.nodes.saturating_add(other.nodes), vectors: self.vectors || other.vectors }
    }
}

/// Checks the size of a program before loops are cut.
///
/// # Errors
/// [`LowerError::TooLarge`] with `causes`, if it is larger than `most`.
pub(crate) fn check_size(program: &Program, most: u64, causes: &[Cause]) -> Result<u64, LowerError> {
    let nodes = size_up_to(&program.body, most);
    if nodes > most { Err(too_large(nodes, most, causes.to_vec())) } else { Ok(nodes) }
}

/// Checks that specialisations, each of which has a copy of all that is computed inside of its loops, do not make the
/// program larger than the budget: before there is any of it.
pub(crate) fn check_variants(ctx: &Ctx<'_>) -> Result<(), LowerError> {
    let most = ctx.plan.target.budget.nodes;
    let mut sites = BTreeMap::new();
    let mut nodes = 0u64;
    for &func in &ctx.used {
        let row = &ctx.plan.funcs[func];
        if row.compute == Level::Inline {
            continue;
        }
        let places = places_of(ctx, func, &mut sites, &mut BTreeSet::new());
        for (stage, plan) in row.stages.iter().enumerate() {
            let size = ctx.templates.get(&(func, stage)).map_or(1, |t| {
                let stored = t.sites.iter().flat_map(TemplateSite::exprs);
                1 + stored.chain(&t.predicate).map(nodes_of).sum::<u64>()
            });
            nodes = nodes.saturating_add(places.saturating_mul(variants(plan)).saturating_mul(size));
        }
    }
    if nodes <= most {
        return Ok(());
    }
    let mut causes = Vec::new();
    for &func in &ctx.used {
        for (stage, plan) in
            ctx.plan.funcs[func].stages.iter().enumerate().filter(|(_, plan)| !plan.variants.is_empty())
        {
            let at = plan.variants.iter().find_map(|(_, v)| v.loops.iter().find_map(|l| l.at));
            causes.push(Cause { name: ctx.stage_name(func, stage), how: Multiplies::Specialised(variants(plan)), at });
        }
    }
    causes.sort_by_key(|cause| std::cmp::Reverse(cause.how.times()));
    Err(too_large(nodes, most, causes))
}

/// The number of a definition's variants, its own loops among them.
fn variants(plan: &StagePlan) -> u64 {
    plan.variants.iter().fold(1, |sum: u64, (_, v)| sum.saturating_add(variants(v)))
}

/// The number of loops of this label in the variants of a definition.
fn loops_labelled(plan: &StagePlan, label: LoopLabel) -> u64 {
    let own = plan.loops.iter().any(|l| plan.label(l) == label);
    plan.variants.iter().fold(u64::from(own), |sum, (_, v)| sum.saturating_add(loops_labelled(v, label)))
}

/// The number of places that a Func is computed at.
fn places_of(ctx: &Ctx<'_>, func: FuncId, known: &mut BTreeMap<FuncId, u64>, open: &mut BTreeSet<FuncId>) -> u64 {
    if let Some(&known) = known.get(&func) {
        return known;
    }
    let Level::At { func: consumer, stage, label } = &ctx.plan.funcs[func].compute else { return 1 };
    if !open.insert(func) {
        return 1;
    }
    let loops = loops_labelled(&ctx.plan.funcs[*consumer].stages[*stage], *label).max(1);
    let places = loops.saturating_mul(deep(|| places_of(ctx, *consumer, known, open)));
    known.insert(func, places);
    places
}

/// Checks that there was room for the cuts of all loops.
///
/// # Errors
/// [`LowerError::TooLarge`] with the loop and `causes`, if not.
pub(crate) fn check_cuts(made: &Partitioned, most: u64, causes: &[Cause]) -> Result<(), LowerError> {
    let Some((l, missing)) = made.refused else { return Ok(()) };
    let LoopInfo { name, at, .. } = made.program.loops[l].clone();
    let cut = Cause { name, how: Multiplies::Cut, at };
    Err(too_large(most.saturating_add(missing), most, std::iter::once(cut).chain(causes.iter().cloned()).collect()))
}

/// The nodes that are left for cuts of loops.
pub(crate) struct Room {
    left: u64,
    /// The first loop that there was no room for, and by how many nodes.
    pub(crate) refused: Option<(LoopId, u64)>,
}

impl Room {
    pub(crate) fn new(left: u64) -> Room {
        Room { left, refused: None }
    }
    /// Takes room for so many copies of a loop; false if there is not as much.
    pub(crate) fn take(&mut self, l: &For, copies: u64) -> bool {
        let needed = size_up_to(&l.body, self.left).saturating_mul(copies);
        if needed > self.left {
            self.refused.get_or_insert((l.id, needed - self.left));
            return false;
        }
        self.left -= needed;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::example::TABLES;
    use crate::lower::loops::unroll::unroll;
    use crate::lower::trace::LoweringTrace;

    fn program(stage: &str, body: &str) -> Program {
        let text = format!("program {stage}{TABLES}body {{\n{body}}}");
        text.parse().unwrap_or_else(|e| panic!("{e}\n{text}"))
    }

    #[test]
    fn copies_are_counted_before_they_are_made() {
        let body = "unrolled y#L1 from 0 extent 1000000 {\n unrolled x#L0 from 0 extent 1000000 {\n \
                    out#b2[x#L0 + y#L1] = 1u8\n}\n}\n";
        let error = check_copies(&program("flat", body), 1_000_000).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`x` is unrolled 1000000 times: the program would have 5000003000003 nodes, more than the 1000000 allowed\n  \
             `y` is unrolled 1000000 times\n  \
             help: unroll, vectorize or specialize by less, or allow more by the target's budget"
        );
        assert!(check_copies(&program("flat", body), 5_000_003_000_003).is_ok());
    }

    #[test]
    fn lanes_that_change_one_element_take_turns() {
        let body = |index: &str| {
            format!("vectorized x#L0 from 0 extent 200 {{\n out#b2[{index}] = out#b2[{index}] + in#b0[x#L0]\n}}\n")
        };
        let fits = |index: &str, most| check_copies(&program("flat", &body(index)), most).is_ok();
        assert!(fits("x#L0", 20) && !fits("3", 200) && fits("3", 2000));
    }

    #[test]
    fn sizes_are_those_of_what_unroll_makes_and_of_its_loops() {
        let body = "unrolled y#L1 from 0 extent 7 {\n unrolled x#L0 from 0 extent 5 {\n out#b2[3] = in#b0[4]\n}\n}\n";
        let before = program("flat", body);
        let after = unroll(before.clone(), &mut LoweringTrace::new());
        let size = size_up_to(&after.body, u64::MAX);
        assert!(check_copies(&before, size + 24).is_ok());
        assert!(check_copies(&before, size - 1).is_err());
    }
}
