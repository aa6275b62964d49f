//! Loops of a stage while lines of its schedule are drawn.

use halide::schedule::Tail;
use halide_testing::pipelines::Random;
use halide_testing::schedules::aim::LoopWord;

/// A loop, as the directives before leave it.
#[derive(Clone, Debug)]
struct Loop {
    name: String,
    /// True if it goes over a part of a reduction.
    is_reduction: bool,
    /// True if its extent is constant.
    is_constant: bool,
    /// True if the last directive made it or left it a part.
    is_new: bool,
    is_parallel: bool,
}

/// The loops of a stage, innermost first, and the lines that made them so.
pub(super) struct Nest {
    stage: String,
    loops: Vec<Loop>,
    names: usize,
    pub(super) lines: Vec<String>,
}

impl Nest {
    /// The loops of a stage before any directive.
    pub(super) fn new(stage: &str, vars: &[String], rvars: &[String]) -> Nest {
        let new = |name: &String, is_reduction| Loop {
            name: name.clone(),
            is_reduction,
            is_constant: is_reduction,
            is_new: false,
            is_parallel: false,
        };
        let loops = rvars.iter().map(|v| new(v, true)).chain(vars.iter().map(|v| new(v, false))).collect();
        Nest { stage: stage.to_string(), loops, names: 0, lines: Vec::new() }
    }

    /// The number of loops.
    pub(super) fn depth(&self) -> usize {
        self.loops.len()
    }

    /// The name of a loop, counted from the innermost one.
    pub(super) fn name(&self, at: usize) -> &str {
        &self.loops[at].name
    }

    /// A place in the loops of this stage.
    pub(super) fn site(&self, at: usize) -> String {
        format!("{}, {}", self.stage, self.loops[at].name)
    }

    /// Says a directive that leaves the loops as they are.
    pub(super) fn say(&mut self, directive: &str) {
        self.lines.push(format!("{}: {directive}", self.stage));
    }

    /// Adds a directive of a word; with a tail where it splits.
    pub(super) fn word(&mut self, random: &mut Random, word: LoopWord, tail: Option<Tail>) {
        match word {
            LoopWord::Split => {
                let factor = random.pick(&[2, 3, 4, 4, 5, 8]);
                self.split(random, factor, tail.unwrap_or(Tail::Auto));
            }
            LoopWord::SplitByOne => self.split(random, 1, tail.unwrap_or(Tail::Auto)),
            LoopWord::Fuse => self.fuse(random),
            LoopWord::Reorder => self.reorder(random),
            LoopWord::Vectorize => self.mark(random, "vectorize", &[2, 4, 4, 8, 3], tail),
            LoopWord::Unroll => self.mark(random, "unroll", &[2, 3, 4], tail),
            LoopWord::Parallel => self.mark(random, "parallel", &[1, 2, 3, 5], tail),
        }
    }

    /// Picks a loop for a tail: one that the last directive made more often than others, and not of a reduction where
    /// the tail computes points twice.
    fn choose(&self, random: &mut Random, tail: Option<Tail>, only: impl Fn(&Loop) -> bool) -> Option<usize> {
        let exact = matches!(tail, None | Some(Tail::Auto | Tail::GuardWithIf | Tail::Predicate));
        let (new, pure) = (random.one_in(2), !exact || !random.one_in(3));
        let fits = |l: &Loop| only(l) && (!pure || !l.is_reduction) && (!new || l.is_new);
        let picks = [self.places(fits), self.places(|l| only(l) && (exact || !l.is_reduction)), self.places(&only)];
        let places = picks.into_iter().find(|places| !places.is_empty())?;
        Some(random.pick(&places))
    }

    fn places(&self, fits: impl Fn(&Loop) -> bool) -> Vec<usize> {
        self.loops.iter().enumerate().filter(|(_, l)| fits(l)).map(|(at, _)| at).collect()
    }

    fn new_name(&mut self) -> String {
        self.names += 1;
        format!("t{}", self.names)
    }

    /// Puts two parts in the place of a loop.
    fn parts(&mut self, at: usize, inner: String, outer: String) {
        self.loops.iter_mut().for_each(|l| l.is_new = false);
        let old = self.loops[at].clone();
        self.loops[at] = Loop { name: outer, is_constant: false, is_new: true, ..old };
        self.loops.insert(at, Loop { name: inner, is_constant: true, is_new: true, is_parallel: false, ..old });
    }

    fn split(&mut self, random: &mut Random, factor: i64, tail: Tail) {
        let Some(at) = self.choose(random, Some(tail), |_| true) else { return };
        let var = self.loops[at].name.clone();
        let outer = if random.one_in(3) { var.clone() } else { self.new_name() };
        let inner = self.new_name();
        self.say(&format!("split({var}, {outer}, {inner}, {factor}, {})", tail.word()));
        self.parts(at, inner, outer);
    }

    fn fuse(&mut self, random: &mut Random) {
        let alike = |at: &usize| self.loops[*at].is_reduction == self.loops[at + 1].is_reduction;
        let mut pairs: Vec<usize> = (0..self.loops.len() - 1).collect();
        if pairs.iter().any(alike) {
            pairs.retain(alike);
        }
        let new: Vec<usize> = pairs.iter().copied().filter(|at| self.loops[*at].is_new).collect();
        let at = if new.is_empty() || random.one_in(2) { random.pick(&pairs) } else { random.pick(&new) };
        self.fuse_with(at, at + 1);
    }

    /// Fuses two loops, of which the inner one says how the iterations of both run.
    fn fuse_with(&mut self, inner_at: usize, outer_at: usize) {
        let fused = self.new_name();
        let (inner, outer) = (self.loops[inner_at].clone(), self.loops[outer_at].clone());
        self.say(&format!("fuse({}, {}, {fused})", inner.name, outer.name));
        self.loops.iter_mut().for_each(|l| l.is_new = false);
        let is_constant = inner.is_constant && outer.is_constant;
        self.loops[inner_at] = Loop { name: fused, is_constant, is_new: true, ..inner };
        self.loops.remove(outer_at);
    }

    /// Fuses parallel loops with others, as long as there are some, so that none runs in parallel.
    pub(super) fn run_in_order(&mut self) {
        while let Some(outer) = self.loops.iter().position(|l| l.is_parallel) {
            let serial = self.places(|l| !l.is_parallel);
            let inside = serial.iter().rev().find(|at| **at < outer);
            let Some(inner) = inside.or(serial.first()) else { return };
            self.fuse_with(*inner, outer);
        }
    }

    fn reorder(&mut self, random: &mut Random) {
        let mut order: Vec<usize> = (0..self.loops.len()).collect();
        random.shuffle(&mut order);
        order.truncate(2 + random.below(self.loops.len() - 1));
        let mut places = order.clone();
        places.sort_unstable();
        let moved: Vec<Loop> = order.iter().map(|at| self.loops[*at].clone()).collect();
        let names: Vec<&str> = moved.iter().map(|l| l.name.as_str()).collect();
        self.say(&format!("reorder({})", names.join(", ")));
        for (at, l) in places.into_iter().zip(moved) {
            self.loops[at] = l;
        }
    }

    fn mark(&mut self, random: &mut Random, kind: &str, factors: &[i64], tail: Option<Tail>) {
        let whole = tail.is_none();
        // All iterations of a loop are copied or lanes where there is a known number of them.
        let fits = |l: &Loop| !whole || kind == "parallel" || l.is_constant;
        let Some(at) = self.choose(random, tail, fits) else {
            return self.mark(random, kind, factors, Some(Tail::Auto));
        };
        let var = self.loops[at].name.clone();
        self.loops[at].is_parallel |= kind == "parallel";
        let Some(tail) = tail else { return self.say(&format!("{kind}({var})")) };
        self.say(&format!("{kind}({var}, {}, {})", random.pick(factors), tail.word()));
        self.parts(at, format!("{var}${}", &kind[..1]), var);
    }
}
