//! Ways of choosing: the questions that a choice of instructions asks, and who answers them.

use crate::tune::random;
use std::collections::VecDeque;

/// A question with its possible answers.
#[derive(Clone, Debug)]
pub struct Choice<'q> {
    /// The matter that it is about.
    pub kind: ChoiceKind,
    /// The stage that it is about, as schedules name it.
    pub stage: &'q str,
    /// The answers: at least one.
    pub answers: &'q [Answer],
}

/// The matter of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceKind {
    /// The instruction, with the loops that are its axes.
    Mapping,
    /// The part of the result that stays in registers.
    Tile,
    /// The order of the loops around that, and the operands that are copied.
    Order,
}

/// A possible answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The answer in words.
    pub text: String,
    /// The cycles of the stage with the best that may follow.
    pub cycles: f64,
}

/// The one who answers. Equal questions in one order have equal answers, for equal states of it.
pub trait Approach {
    /// Returns the number of an answer; a number beyond them is the last one.
    fn choose(&mut self, choice: &Choice<'_>) -> usize;
}

/// The approach that takes the fewest predicted cycles, and of equal answers the first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Heuristic;

impl Approach for Heuristic {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        let all = choice.answers.iter().enumerate();
        all.min_by(|a, b| a.1.cycles.total_cmp(&b.1.cycles)).map_or(0, |(n, _)| n)
    }
}

/// The approach that takes any answer, by a sequence of numbers that a seed begins.
#[derive(Clone, Debug)]
pub struct Random(random::Random);

impl Random {
    /// Returns the sequence of a seed.
    pub fn new(seed: u64) -> Random {
        Random(random::Random::new(seed))
    }
}

impl Approach for Random {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        self.0.below(choice.answers.len())
    }
}

/// The approach that gives answers that were kept, and behind them those of [`Heuristic`].
#[derive(Clone, Debug, Default)]
pub struct Replay {
    decisions: VecDeque<usize>,
}

impl Replay {
    /// Returns the approach of these answers, the first question's first.
    pub fn new(decisions: impl IntoIterator<Item = usize>) -> Replay {
        Replay { decisions: decisions.into_iter().collect() }
    }
}

impl Approach for Replay {
    fn choose(&mut self, choice: &Choice<'_>) -> usize {
        self.decisions.pop_front().unwrap_or_else(|| Heuristic.choose(choice))
    }
}
