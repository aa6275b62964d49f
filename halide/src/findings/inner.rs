//! Rules about innermost loops: vectors that are missing, and loops that go across rows.

use super::edits::{Edits, marked_by, order_with, unmarked};
use super::finding::{Edit, Finding, Step};
use super::rule::{LINE_BYTES, Rule};
use super::scene::{Around, Definition, Scene};
use halide_ir::ForKind;
use halide_sched::schedule::Amount;
use std::collections::BTreeSet;

/// The points of a definition from which on it matters how they are computed.
const MANY_POINTS: f64 = 4096.0;

/// The vectors that are read at once by loops that are written out: steps between such are no jumps.
const NEAR_VECTORS: i64 = 4;

/// The least iterations of a loop that vectors are worth.
const FEW: f64 = 2.0;

/// Finds innermost loops that are slower than they need be.
pub(super) fn find(edits: &Edits<'_>) -> Vec<Finding> {
    let mut found = Vec::new();
    for definition in &edits.scene.definitions {
        if definition.points < MANY_POINTS || definition.is_in(ForKind::is_gpu) {
            continue;
        }
        let vector = definition.own().find(|around| around.kind == ForKind::Vectorized);
        match vector {
            Some(vector) => {
                let across = across_rows(edits, definition, vector);
                // A loop across rows inside of such vectors goes with them.
                let inner = across.is_none().then(|| inner_across(edits, definition)).flatten();
                found.extend(across.into_iter().chain(inner));
                found.extend(gathers(edits.scene, definition, vector));
            }
            None => {
                let none = no_vectors(edits, definition);
                let inner = none.as_ref().is_none_or(|none| none.edit.is_none());
                let inner = inner.then(|| inner_across(edits, definition)).flatten();
                found.extend(none.into_iter().chain(inner));
            }
        }
    }
    found
}

/// A finding about a definition.
fn finding(
    scene: &Scene<'_>,
    rule: Rule,
    definition: &Definition,
    at_loop: &Around,
    (value, text): (f64, String),
) -> Finding {
    Finding {
        rule,
        func: Some(definition.func.clone()),
        at_loop: Some(at_loop.name.clone()),
        value,
        threshold: rule.threshold(),
        work: scene.part([definition]),
        share: None,
        funcs: BTreeSet::from([definition.func.clone()]),
        text,
        edit: None,
    }
}

/// The accesses whose neighbouring iterations are further apart than so many bytes.
fn far(definition: &Definition, around: &Around, bytes: i64) -> usize {
    let is_far = |step: &Option<i64>| step.is_some_and(|step| step.abs() > bytes);
    definition.steps(around).iter().filter(|(_, step)| is_far(step)).count()
}

/// The step of stores along a loop.
fn store_step(definition: &Definition, around: &Around) -> Option<i64> {
    let all = definition.steps(around);
    all.iter().find(|(access, _)| access.is_store).and_then(|(_, step)| *step).map(i64::abs)
}

/// The loop along rows: the one whose iterations store neighbouring elements.
fn along(definition: &Definition) -> Option<&Around> {
    let element = definition.element();
    definition.own().find(|own| store_step(definition, own) == Some(element) && own.trip() >= FEW)
}

/// The ways to make the loop along rows vectors, after some steps: as the innermost loop, or where it is.
fn vectorized(edits: &Edits<'_>, definition: &Definition, around: &Around, before: &[Step]) -> Option<Edit> {
    let var = around.var.clone().filter(|_| definition.is_plain)?;
    // A loop that is written out or shared is another matter.
    if around.kind != ForKind::Serial {
        return None;
    }
    let subject = &definition.subject;
    let mark = marked_by(subject, ForKind::Vectorized, &var, Amount::Natural);
    let order = Step::Order(subject.clone(), order_with(definition, &var));
    let is_inner = definition.own().rfind(|own| own.kind != ForKind::Vectorized).is_some_and(|own| own.id == around.id);
    let plain = [before, std::slice::from_ref(&mark)].concat();
    let ordered = [before, &[order, mark]].concat();
    if is_inner { edits.first([plain, ordered]) } else { edits.first([ordered, plain]) }
}

/// No vectors, though neighbouring elements are stored by a loop.
fn no_vectors(edits: &Edits<'_>, definition: &Definition) -> Option<Finding> {
    let scene = edits.scene;
    let lanes = scene.lanes(definition.element());
    let around = along(definition)?;
    if lanes < 2 || definition.is_in(|kind| kind == ForKind::Vectorized) || around.kind == ForKind::Unrolled {
        return None;
    }
    let edit = vectorized(edits, definition, around, &[]);
    let var = around.var.clone().unwrap_or_default();
    let remedy = match &edit {
        Some(_) => format!("; vectorize `{var}`"),
        None if !definition.is_plain => {
            format!("; its loops are those of a specialisation or of a group: vectorize `{var}` there")
        }
        None => format!("; `{var}` cannot be vectors as the loops are: give them another order, or split them"),
    };
    let text =
        format!("`{}` is computed a point at a time, of {lanes} lanes that a vector has{remedy}", definition.name);
    let inner = definition.own().next_back()?;
    Some(Finding { edit, ..finding(scene, Rule::NoVectors, definition, inner, (1.0, text)) })
}

/// Vectors whose lanes are in different lines, where others would not be.
fn across_rows(edits: &Edits<'_>, definition: &Definition, vector: &Around) -> Option<Finding> {
    let line = LINE_BYTES as i64;
    let (own, along) = (far(definition, vector, line), along(definition)?);
    if own == 0 || along.id == vector.id || far(definition, along, line) >= own {
        return None;
    }
    let steps = definition.steps(vector);
    let (access, step) = steps.iter().max_by_key(|(_, step)| step.map_or(0, i64::abs))?;
    let bytes = step.map_or(0, i64::abs);
    let (vector_var, row) = (vector.var.clone()?, along.var.clone()?);
    let stage = edits.scene.stage(definition.of);
    let before = unmarked(definition, stage, ForKind::Vectorized, &vector_var);
    let edit = if definition.is_plain { vectorized(edits, definition, along, &before) } else { None };
    let text = format!(
        "`{}` has vectors over `{}`, whose lanes are {bytes} bytes apart in `{}`; vectorize `{row}`, which goes along \
         rows",
        definition.name, vector.name, access.name
    );
    let found = finding(edits.scene, Rule::VectorsAcrossRows, definition, vector, (bytes as f64, text));
    Some(Finding { edit, ..found })
}

/// An innermost loop that is no vectors and goes across rows, while another loop goes along them.
fn inner_across(edits: &Edits<'_>, definition: &Definition) -> Option<Finding> {
    let mut serial = definition.own().filter(|own| own.kind == ForKind::Serial && own.trip() >= FEW).rev();
    let inner = serial.next()?;
    // An iteration of what is written out for registers is many lines anyway.
    let mut inside = definition.own().skip_while(|own| own.id != inner.id);
    if inside.any(|own| own.kind == ForKind::Unrolled && own.trip() >= FEW) {
        return None;
    }
    let vectors = definition.own().any(|own| own.kind == ForKind::Vectorized);
    let lanes = if vectors { edits.scene.lanes(definition.element()) } else { 1 };
    let near = (LINE_BYTES as i64).max(lanes * definition.element() * NEAR_VECTORS);
    let own = far(definition, inner, near);
    let better = serial.filter(|other| far(definition, other, near) < own);
    let better =
        better.min_by_key(|other| (far(definition, other, near), store_step(definition, other).unwrap_or(0)))?;
    let steps = definition.steps(inner);
    let (access, step) = steps.iter().max_by_key(|(_, step)| step.map_or(0, i64::abs))?;
    let bytes = step.map_or(0, i64::abs);
    let var = better.var.clone().filter(|_| definition.is_plain);
    let order = |var: String| vec![Step::Order(definition.subject.clone(), order_with(definition, &var))];
    let edit = var.and_then(|var| edits.legal(order(var)));
    let text = format!(
        "the innermost loop of `{}`, `{}`, goes {bytes} bytes further in `{}` each time; make `{}` the innermost one",
        definition.name, inner.name, access.name, better.name
    );
    let found = finding(edits.scene, Rule::InnerAcrossRows, definition, inner, (bytes as f64, text));
    Some(Finding { edit, ..found })
}

/// Reads of vectors whose places data tell.
fn gathers(scene: &Scene<'_>, definition: &Definition, vector: &Around) -> Option<Finding> {
    let steps = definition.steps(vector);
    let gathered: Vec<&str> = steps
        .iter()
        .filter(|(access, step)| step.is_none() && !access.is_store)
        .map(|(a, _)| a.name.as_str())
        .collect();
    let first = gathered.first()?;
    let text = format!(
        "vectors of `{}` read {} of {} elements lane by lane, such as those of `{first}`, where data tell the place; \
         compute a table that is small, or read along a row",
        definition.name,
        gathered.len(),
        steps.len()
    );
    Some(finding(scene, Rule::Gathers, definition, vector, (gathered.len() as f64, text)))
}
