//! Random loops by directives that act on each other's loops.

use super::aim::LoopWord;
use super::loops::MOST_CODE;
use super::random::Draw;
use halide_sched::plan::Level;
use halide_sched::schedule::{Amount, LoopKind, Subject, Tail, Verb};

/// Proposals of a directive before the next one has its turn.
const TRIES: usize = 5;

/// The factors of loops that become far longer than what they run over.
const FAR: [i64; 8] = [24, 33, 64, 100, 255, 1000, 4096, 65536];

impl Draw<'_> {
    /// The next directives of the row, each mostly on a loop that one before it made.
    pub(super) fn chain(&mut self, subject: &Subject, words: usize) {
        let from = self.at;
        let words: Vec<LoopWord> = (from..from + words).map(|at| self.row[at % self.row.len()]).collect();
        self.say_words(subject, &words);
        // The next row begins with the last two words of this one, so that no triple is left out.
        self.at = from + words.len() - words.len().min(2);
    }

    /// Directives of loops one after another, each mostly on a loop that one before it made.
    fn say_words(&mut self, subject: &Subject, words: &[LoopWord]) {
        let mut made: Vec<String> = Vec::new();
        for &word in words {
            self.at += 1;
            for _ in 0..TRIES {
                let loops = self.current_loops(subject);
                let fresh: Vec<String> = loops.iter().filter(|l| made.contains(l)).cloned().collect();
                let fresh = if fresh.is_empty() || self.one_in(4) { loops.clone() } else { fresh };
                let Some(var) = self.pick(&fresh) else { return };
                let verb = self.word_verb(word, var, &loops);
                if self.say_within(subject, verb, MOST_CODE) {
                    made.extend(self.current_loops(subject).into_iter().filter(|l| !loops.contains(l)));
                    break;
                }
            }
        }
    }

    /// Loops that something slides along, and pieces of what slides: of what is in loops of others and of updates
    /// mostly vectors and unrolled loops, of others splits, fused loops with splits at every level, and orders.
    pub(super) fn fold_loops(&mut self, subject: &Subject) {
        use LoopWord::*;
        let inside = self.func(&subject.func).is_some_and(|f| matches!(self.plan.funcs[f].compute, Level::At { .. }));
        let mut words = match (inside || subject.stage > 0, self.below(8)) {
            (true, 0..=2) => vec![Unroll],
            (true, 3 | 4) => vec![Vectorize],
            (true, 5) => vec![Split],
            (true, 6) => vec![Reorder, Vectorize],
            (false, 0..=2) => vec![Split, Reorder],
            (false, 3..=6) => vec![Fuse],
            _ => return self.chain(subject, 4),
        };
        if words == [Fuse] {
            // Parts of parts, with points and guards between them.
            for _ in 0..2 {
                words.push(self.one_of([Split, SplitByOne]));
            }
            if self.one_in(3) {
                words.push(self.one_of([Split, SplitByOne, Unroll, Reorder]));
            }
        }
        self.say_words(subject, &words);
    }

    fn word_verb(&mut self, word: LoopWord, var: String, loops: &[String]) -> Verb {
        let kind = match word {
            LoopWord::Split => return self.split(var, &[2, 3, 4, 5, 8]),
            LoopWord::SplitByOne => return self.split(var, &[1]),
            LoopWord::Fuse => {
                let outer = self.pick(loops).unwrap_or_else(|| var.clone());
                return Verb::Fuse { inner: var, outer, fused: self.new_name() };
            }
            LoopWord::Reorder => return self.reorder(loops),
            LoopWord::Vectorize => LoopKind::Vectorized,
            LoopWord::Unroll => LoopKind::Unrolled,
            LoopWord::Parallel => LoopKind::Parallel,
        };
        let factor = if self.one_in(4) { None } else { Some(Amount::Const(self.one_of([2, 3, 4, 8]))) };
        let tail = if factor.is_some() { self.tail() } else { Tail::Auto };
        Verb::Mark { kind, var, factor, tail }
    }

    fn split(&mut self, var: String, factors: &[i64]) -> Verb {
        let outer = if self.one_in(4) { var.clone() } else { self.new_name() };
        let factor = self.pick(factors).unwrap_or(1);
        Verb::Split { var, outer, inner: self.new_name(), factor: Amount::Const(factor), tail: self.tail() }
    }

    /// Loops whose constant factors are far above what they run over.
    pub(super) fn far(&mut self, subject: &Subject) {
        // Code that is too much for any machine is refused; mostly it is just long.
        let most = if self.one_in(12) { 100 * MOST_CODE } else { 10 * MOST_CODE };
        for _ in 0..1 + self.below(3) {
            let loops = self.current_loops(subject);
            let Some(var) = self.pick(&loops) else { return };
            let factor = self.one_of(FAR);
            let mark = |kind, var, tail| Verb::Mark { kind, var, factor: Some(Amount::Const(factor)), tail };
            let tail = self.tail();
            let verb = match self.below(6) {
                0 | 1 => mark(LoopKind::Unrolled, var, tail),
                2 => mark(LoopKind::Vectorized, var, tail),
                3 => mark(LoopKind::Parallel, var, tail),
                4 => self.split(var, &[factor]),
                _ => self.loop_verb(var, &loops),
            };
            self.say_within(subject, verb, most);
        }
    }
}
