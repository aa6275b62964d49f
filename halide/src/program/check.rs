//! Checks of a description before anything is compiled: names, types, order and regions.

use super::bind::BoundStep;
use super::describe::{Item, Once, Program, Repeat, Step, Times, When};
use super::error::{ProgramError, ProgramErrorKind, ProgramErrors};
use super::flow;
use super::node::{Checked, Count, Node};
use super::sizes;
use super::slots::{Slot, SlotId, find};
use halide_core::error::Location;
use halide_core::types::ScalarType;

/// Checks a description.
///
/// # Errors
/// Every mistake, sorted by place.
pub(super) fn check(program: &Program) -> Result<Checked, ProgramErrors> {
    let (slots, mistakes) = (&program.slots, program.mistakes.clone());
    let mut checker = Checker { slots, steps: Vec::new(), loops: Vec::new(), mistakes };
    let body = checker.items(&program.body);
    checker.params();
    let Checker { steps, mut mistakes, .. } = checker;
    let mut sizers = Vec::new();
    // Slots that are not there would make later checks speak of what is no mistake.
    if mistakes.is_empty() {
        sizers = sizes::sizers(slots, &steps);
        mistakes.extend(flow::read_before_written(slots, &steps, &sizers, &body));
        mistakes.extend(sizes::impossible(slots, &steps));
        mistakes.extend(sizes::kept(slots, &steps, &sizers));
    }
    mistakes.sort_by_key(|mistake| mistake.at);
    if mistakes.is_empty() { Ok(Checked { steps, body, sizers }) } else { Err(ProgramErrors(mistakes)) }
}

struct Checker<'p> {
    slots: &'p [Slot],
    steps: Vec<BoundStep>,
    /// For each loop around, the outermost first, true if it counts its iterations.
    loops: Vec<bool>,
    mistakes: Vec<ProgramError>,
}

impl Checker<'_> {
    fn items(&mut self, items: &[Item]) -> Vec<Node> {
        items
            .iter()
            .map(|item| match item {
                Item::Step(step) => self.step(step),
                Item::Repeat(repeat) => self.repeat(repeat),
                Item::Once(once) => self.once(once),
            })
            .collect()
    }
    fn step(&mut self, step: &Step) -> Node {
        self.steps.push(BoundStep::new(step, self.slots, &mut self.mistakes));
        Node::Step(self.steps.len() - 1)
    }
    fn repeat(&mut self, repeat: &Repeat) -> Node {
        let times = match &repeat.times {
            Times::Constant(times) => Count::Constant(*times),
            Times::Param(param) => Count::Param(param.clone()),
            Times::While { slot, every, most } => match self.condition(slot, repeat.at) {
                Some(slot) => Count::While { slot, every: *every, most: *most },
                None => Count::Constant(0),
            },
        };
        self.loops.push(!matches!(repeat.times, Times::While { .. }));
        let body = self.items(&repeat.body);
        self.loops.pop();
        Node::Repeat { times, body, at: repeat.at }
    }
    fn once(&mut self, once: &Once) -> Node {
        let word = once.when.word();
        let kind = match (self.loops.last(), once.when) {
            (None, _) => Some(ProgramErrorKind::NoLoop { word }),
            (Some(false), When::Last) => Some(ProgramErrorKind::LastOfWhile),
            _ => None,
        };
        self.mistakes.extend(kind.map(|kind| ProgramError { at: once.at, step: None, kind }));
        Node::Once { when: once.when, body: self.items(&once.body) }
    }
    fn condition(&mut self, name: &str, at: Location) -> Option<SlotId> {
        let slot = name.to_string();
        let Some(id) = find(self.slots, name) else {
            let known = self.slots.iter().map(|slot| slot.name.clone()).collect();
            self.mistakes.push(ProgramError { at, step: None, kind: ProgramErrorKind::UnknownSlot { slot, known } });
            return None;
        };
        let Slot { ty, dims, .. } = self.slots[id.0];
        if (ty, dims) != (ScalarType::Bool, 0) {
            let kind = ProgramErrorKind::Condition { slot, ty, dims };
            self.mistakes.push(ProgramError { at, step: None, kind });
        }
        Some(id)
    }
    /// Parameters of one name have one type, since the call gives them once.
    fn params(&mut self) {
        let mut known: Vec<(&str, ScalarType)> = Vec::new();
        for bound in &self.steps {
            for param in bound.step.pipeline.params.iter() {
                let Some((_, first)) = known.iter().find(|(name, _)| *name == param.name) else {
                    known.push((&param.name, param.ty));
                    continue;
                };
                if *first != param.ty {
                    let (param, first, second) = (param.name.clone(), *first, param.ty);
                    let kind = ProgramErrorKind::ParamTypes { param, first, second };
                    let step = Some(bound.step.name());
                    self.mistakes.push(ProgramError { at: bound.step.at, step, kind });
                }
            }
        }
    }
}
