//! Decisions of passes and of code generators: what slid, folded, vectorized and so on, and what did not and why.

use super::code::Generated;
use super::lowering::Lowering;
use super::rows::DecisionRow;
#[cfg(feature = "cpu")]
use crate::code_cache::CodeOrigin;
use crate::compiled::{Compiled, MemoUse};
#[cfg(feature = "cpu")]
use crate::used;
use crate::variant_key::VariantKey;
use crate::variants::Variants;
#[cfg(feature = "cpu")]
use halide_core::ids::FuncId;
use halide_ir::visit::{deep, nested};
use halide_ir::{Program, Stmt};
use halide_sched::lower::Outcome;
use halide_sched::lower::checks::trust::trust;
#[cfg(feature = "cpu")]
use halide_sched::plan::{StagePlan, Used};

/// The decisions in the order of passes, then those of the code, then the uses of memoized Funcs and the variants that
/// were made.
pub(super) fn rows(compiled: &Compiled, lowering: &Lowering, code: &Generated) -> Vec<DecisionRow> {
    let mut all = Vec::new();
    for pass in &lowering.lowered.trace.passes {
        let row = |decision: &halide_sched::lower::Decision| {
            (matches!(decision.outcome, Outcome::Did(_)), decision.to_string())
        };
        add(&mut all, pass.name, pass.decisions.iter().map(row));
    }
    let placed = lowering.placed();
    #[cfg(feature = "cpu")]
    add(&mut all, "use", uses(compiled).into_iter());
    add(&mut all, "order", trust(placed).lines(placed, early_frees(lowering.program())).into_iter());
    // Of a program with kernels, the code around them is not what takes time.
    if lowering.program().kernels.is_empty() {
        for (subject, lines) in code.decisions() {
            add(&mut all, &subject, lines.into_iter());
        }
    }
    let kept = |used: MemoUse| {
        let MemoUse { func, computed, reused } = used;
        (true, format!("{func}: computed before the rest in {computed} runs, found from an earlier one in {reused}"))
    };
    add(&mut all, "memoize", compiled.memoized().into_iter().map(kept));
    let variants = compiled.parts.variants.as_ref().map_or_else(Vec::new, Variants::made_because);
    let line = |(key, because): (VariantKey, Option<String>)| {
        (true, key.describe() + &because.map_or_else(String::new, |because| format!(": {because}")))
    };
    add(&mut all, "variants", variants.into_iter().map(line));
    #[cfg(feature = "cpu")]
    add(&mut all, "code_cache", cached(compiled).into_iter());
    all
}

/// The instructions that stages use.
#[cfg(feature = "cpu")]
fn uses(compiled: &Compiled) -> Vec<(bool, String)> {
    let plan = compiled.plan();
    let row = |(func, number, stage, used): (FuncId, usize, &StagePlan, &Used)| {
        let loops: Vec<&str> = used.vars.iter().map(|var| stage.vars[*var].name.as_str()).collect();
        let emits = match (&used.call, &used.emits) {
            (Some(_), _) => ", which are a call of its closure".to_string(),
            (None, Some(name)) => format!(", which is `{name}`"),
            (None, None) => String::new(),
        };
        let name = used::stage_name(plan, func, number);
        (true, format!("{name}: `{}` in loops {}{emits}", used.instruction, loops.join(", ")))
    };
    used::used(plan).map(row).collect()
}

/// The origin of the code of each variant, where a cache was asked for it.
#[cfg(feature = "cpu")]
fn cached(compiled: &Compiled) -> Vec<(bool, String)> {
    let row = |(key, origin): (VariantKey, CodeOrigin)| {
        let done = match origin {
            CodeOrigin::Compiled => return None,
            CodeOrigin::Read { .. } | CodeOrigin::Written { .. } => true,
            CodeOrigin::NotWritten { .. } => false,
        };
        Some((done, format!("{}: {origin}", key.describe())))
    };
    compiled.code_origins().into_iter().filter_map(row).collect()
}

/// The rows as one text: the name of each pass, and its decisions behind it.
pub(super) fn text(rows: &[DecisionRow]) -> String {
    let (mut text, mut pass) = (String::new(), None);
    for row in rows {
        if pass != Some(&row.pass) {
            pass = Some(&row.pass);
            text += &format!("{}\n", row.pass);
        }
        let mark = if row.did { "+" } else { "-" };
        let copies = if row.copies > 1 { format!(" ({} copies)", row.copies) } else { String::new() };
        text += &format!("  {mark} {}{copies}\n", row.text);
    }
    text
}

/// Adds the decisions of a pass, each once in the order of first appearance. Code that is copied, as by `unroll`,
/// decides the same at each copy, which is one row with the number of copies.
fn add(all: &mut Vec<DecisionRow>, pass: &str, decisions: impl Iterator<Item = (bool, String)>) {
    let first = all.len();
    for (did, text) in decisions {
        match all[first..].iter_mut().find(|row| row.did == did && row.text == text) {
            Some(row) => row.copies += 1,
            None => all.push(DecisionRow { pass: pass.to_string(), did, text, copies: 1 }),
        }
    }
}

/// The number of places where memory is given back before its allocation ends.
fn early_frees(program: &Program) -> usize {
    fn of(s: &Stmt) -> usize {
        let own = usize::from(matches!(s, Stmt::Free { .. }));
        own + nested(s).map(|inner| deep(|| of(inner))).sum::<usize>()
    }
    of(&program.body) + program.tasks.iter().map(|task| of(&task.body)).sum::<usize>()
}
