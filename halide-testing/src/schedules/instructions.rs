//! Random instructions for the innermost loops of stages.

use super::random::Draw;
use halide_core::ops::BinOp;
use halide_core::pipeline::Kind;
use halide_sched::plan::reachable;
use halide_sched::schedule::{Amount, Directive, Extents, FloatMode, Instruction, InstructionSet, Subject, Tail, Verb};

/// Proposals before the stage is left to others.
const TRIES: usize = 6;

impl Draw<'_> {
    /// Proposes instructions for loops split by extents that they may have. Returns true if one fits.
    pub(super) fn instruction(&mut self, subject: &Subject) -> bool {
        let set = InstructionSet::built_in();
        let all = set.names().filter_map(|name| set.find(name));
        // A first definition is none that adds to old values.
        let known: Vec<Instruction> = all.filter(|i| is_update(i) == (subject.stage > 0)).cloned().collect();
        if !self.computes_some(subject) {
            return false;
        }
        (0..TRIES).any(|_| match self.pick(&known) {
            Some(instruction) => self.use_of(subject, &instruction),
            None => false,
        })
    }

    fn use_of(&mut self, subject: &Subject, instruction: &Instruction) -> bool {
        let mut verbs = Vec::new();
        if instruction.float_mode() > FloatMode::Strict {
            if !self.options.floats {
                return false;
            }
            verbs.push(Verb::Float(instruction.float_mode()));
        }
        let mut loops = self.current_loops(subject);
        let (mut inside, mut axes) = (Vec::new(), Vec::new());
        for axis in instruction.axes() {
            let Some(var) = self.pick(&loops) else { return false };
            let factor = match axis.extents {
                Extents::Exactly(n) => n,
                Extents::UpTo(n) => 1 + self.below(n as usize) as i64,
                Extents::Multiple(n) => n * self.one_of([1, 1, 2, 3]),
                Extents::Any => self.one_of([1, 2, 4, 8]),
            };
            let (outer, inner) = (self.new_name(), self.new_name());
            let tail = self.one_of([Tail::Auto, Tail::Auto, Tail::Auto, Tail::GuardWithIf, Tail::Predicate]);
            loops.iter_mut().filter(|name| **name == var).for_each(|name| *name = outer.clone());
            axes.push((axis.name.clone(), inner.clone()));
            inside.push(inner.clone());
            verbs.push(Verb::Split { var, outer, inner, factor: Amount::Const(factor), tail });
        }
        if self.one_in(2) {
            inside.reverse();
        }
        inside.extend(loops.into_iter().rev());
        verbs.push(Verb::Reorder(inside));
        verbs.push(Verb::Use { instruction: instruction.name().to_string(), axes });
        self.propose(verbs.into_iter().map(|verb| Directive { subject: subject.clone(), verb, at: None }).collect())
    }

    /// Returns true if a definition has an operation in it that instructions have: a product, or in a first definition
    /// what narrows or halves.
    fn computes_some(&self, subject: &Subject) -> bool {
        let Some(func) = self.func(&subject.func) else { return false };
        let pipeline = &self.plan.pipeline;
        let values = &pipeline.funcs[func].stages[subject.stage].values;
        let is_one = |kind: &Kind| match kind {
            Kind::Binary(BinOp::Mul, ..) => true,
            Kind::Binary(BinOp::Shr | BinOp::Div, ..) | Kind::SaturatingCast(_) => subject.stage == 0,
            _ => false,
        };
        reachable(pipeline, values).iter().any(|e| is_one(&pipeline.exprs[*e].kind))
    }
}

/// Returns true if what an instruction means adds to old values.
fn is_update(instruction: &Instruction) -> bool {
    instruction.meanings().iter().any(|meaning| meaning.funcs.iter().any(|func| func.stages.len() > 1))
}
