//! Random loops of a stage: directives one after another, as they come.

use super::aim::Aim;
use super::random::Draw;
use halide_sched::plan::Level;
use halide_sched::schedule::{Amount, LoopKind, Partition, Subject, Tail, Verb};

/// The most nodes of expressions that a stage becomes by its constant factors and those of the loops around it, so that
/// cases stay small.
pub(super) const MOST_CODE: i64 = 8_000;

impl Draw<'_> {
    /// Keeps a directive if it is legal, and if the stage with the constant factors of all its loops, and of those that
    /// it is computed in, is no more code than `most`.
    pub(super) fn say_within(&mut self, subject: &Subject, verb: Verb, most: i64) -> bool {
        let mut product = factor_of(&verb).saturating_mul(self.pipeline.exprs.len() as i64);
        let mut name = subject.func.clone();
        // A Func is in loops of at most as many others as there are.
        for _ in 0..self.plan.funcs.len() {
            let factors = self.schedule().directives().iter().filter(|d| d.subject.func == name);
            product = factors.map(|d| factor_of(&d.verb)).fold(product, i64::saturating_mul);
            let level = self.func(&name).map(|f| &self.plan.funcs[f].compute);
            let Some(Level::At { func, .. }) = level else { break };
            name = self.plan.pipeline.funcs[*func].name.clone();
        }
        product <= most && self.say(subject, verb)
    }

    pub(super) fn loops(&mut self, subject: &Subject) {
        let most = if self.options.long { 9 } else { 5 };
        for _ in 0..self.below(most) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let verb = self.loop_verb(var, &loops);
            self.say_within(subject, verb, MOST_CODE);
        }
    }

    pub(super) fn loop_verb(&mut self, var: String, loops: &[String]) -> Verb {
        let mark = |kind, factor| (kind, factor);
        let (kind, factor) = match self.below(17) {
            0..=3 => {
                let outer = if self.one_in(3) { var.clone() } else { self.new_name() };
                let inner = self.new_name();
                let constant = Amount::Const(self.one_of([1, 2, 3, 4, 5, 7, 8, 16]));
                let given = if self.options.any_shape && self.one_in(6) { self.parameter() } else { None };
                let factor = given.map_or(constant, Amount::Param);
                return Verb::Split { var, outer, inner, factor, tail: self.tail() };
            }
            4 | 5 => return self.reorder(loops),
            6 => {
                let outer = self.pick(loops).unwrap_or_else(|| var.clone());
                return Verb::Fuse { inner: var, outer, fused: self.new_name() };
            }
            7 if self.one_in(2) => return Verb::Rename { from: var, to: self.new_name() },
            7 => {
                let along = self.pick(loops).unwrap_or_else(|| var.clone());
                let skewed = if self.one_in(3) { var.clone() } else { self.new_name() };
                return Verb::Skew { var, by: self.one_of([1, 1, 2, 3, -1, -2]), along, skewed };
            }
            8 => {
                // Where there is nothing to cut off, `Always` is an error.
                let most = if self.one_in(3) { Partition::Always } else { Partition::Never };
                let how = self.one_of([Partition::Never, most, Partition::Auto]);
                return Verb::Partition { var, how };
            }
            9 | 10 => mark(LoopKind::Vectorized, Some(self.one_of([2, 3, 4, 8, 16]))),
            11 => mark(LoopKind::Vectorized, None),
            12 => mark(LoopKind::Unrolled, Some(self.one_of([2, 3, 4]))),
            13 => mark(LoopKind::Unrolled, None),
            14 => mark(LoopKind::Parallel, None),
            15 => mark(LoopKind::Serial, None),
            _ => mark(LoopKind::Parallel, Some(self.one_of([1, 2, 5]))),
        };
        let natural = kind == LoopKind::Vectorized && self.one_in(4);
        let factor = factor.map(|n| if natural { Amount::Natural } else { Amount::Const(n) });
        let tail = if factor.is_some() { self.tail() } else { Tail::Auto };
        Verb::Mark { kind, var, factor, tail }
    }

    /// Some of the loops, or all, in another order.
    pub(super) fn reorder(&mut self, loops: &[String]) -> Verb {
        let mut some = loops.to_vec();
        for i in (1..some.len()).rev() {
            let other = self.below(i + 1);
            some.swap(i, other);
        }
        some.truncate(2 + self.below(some.len()));
        Verb::Reorder(some)
    }

    pub(super) fn tail(&mut self) -> Tail {
        use Tail::*;
        if self.options.any_shape {
            match self.options.aim {
                // Another one for each directive of the row, and of each lap of the row.
                Aim::Loops(_) => Tail::ALL[(self.at + 2 * (self.at / self.row.len())) % Tail::ALL.len()],
                _ => self.one_of(Tail::ALL),
            }
        } else {
            self.one_of([Auto, Auto, Auto, GuardWithIf, Predicate, Balanced])
        }
    }
}

/// The constant factor of a directive, or 1.
fn factor_of(verb: &Verb) -> i64 {
    match verb {
        Verb::Split { factor: Amount::Const(n), .. } | Verb::Mark { factor: Some(Amount::Const(n)), .. } => (*n).max(1),
        Verb::Mark { factor: Some(Amount::Natural), .. } => 16,
        _ => 1,
    }
}
