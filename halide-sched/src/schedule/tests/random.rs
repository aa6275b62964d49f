//! Random schedules, sensible or not, survive being printed and read.

use super::super::*;
use halide_core::pipeline::DimField;

/// A splitmix64 generator.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    fn pick<T: Clone>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())].clone()
    }
    fn list<T>(&mut self, most: usize, item: impl Fn(&mut Rng) -> T) -> Vec<T> {
        (0..self.below(most + 1)).map(|_| item(self)).collect()
    }

    fn name(&mut self) -> String {
        const NAMES: [&str; 16] = [
            "x",
            "yo",
            "r.x",
            "x$v",
            "split",
            "in",
            "natural",
            "update",
            "a.in",
            "",
            "my var",
            "7",
            "q\"uote\\d\n",
            "é",
            "compute_root",
            "a..b",
        ];
        self.pick(&NAMES).to_string()
    }
    fn term(&mut self, depth: usize) -> Term {
        match self.below(if depth == 0 { 3 } else { 5 }) {
            0 => Term::Const(self.integer()),
            1 => Term::Param(self.name()),
            2 => Term::Dim(self.func(), self.pick(&[DimField::Min, DimField::Extent, DimField::Stride]), self.below(4)),
            _ => {
                let op = self.pick(&['+', '-', '*', '/', '%']);
                Term::Binary(op, Box::new(self.term(depth - 1)), Box::new(self.term(depth - 1)))
            }
        }
    }
    fn any_condition(&mut self, depth: usize) -> Condition {
        use CompareOp::*;
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => Condition::Compare(self.pick(&[Eq, Ne, Lt, Le, Gt, Ge]), self.term(2), self.term(2)),
            1 => Condition::Param(self.name()),
            2 => Condition::Invalid(self.name()),
            3 => Condition::Not(Box::new(self.any_condition(depth - 1))),
            4 => Condition::And(Box::new(self.any_condition(depth - 1)), Box::new(self.any_condition(depth - 1))),
            _ => Condition::Or(Box::new(self.any_condition(depth - 1)), Box::new(self.any_condition(depth - 1))),
        }
    }
    /// A condition of many operators in a row, on either side.
    fn chain(&mut self, operators: usize) -> Condition {
        (0..self.below(operators)).fold(self.any_condition(1), |c, _| {
            let (c, other) = (Box::new(c), Box::new(self.any_condition(0)));
            match self.below(5) {
                0 => Condition::And(c, other),
                1 => Condition::And(other, c),
                2 => Condition::Or(c, other),
                3 => Condition::Or(other, c),
                _ => Condition::Not(c),
            }
        })
    }

    /// A word's directives, or one that no word says.
    fn verbs(&mut self) -> Vec<Verb> {
        if self.below(12) == 0 {
            use LoopKind::*;
            let kind = self.pick(&[Serial, Parallel, Vectorized, Unrolled, GpuBlocks, GpuThreads, GpuLanes]);
            let factor = if self.below(4) == 0 { None } else { Some(self.amount()) };
            return vec![Verb::Mark { kind, var: self.name(), factor, tail: self.pick(&Tail::ALL) }];
        }
        let rows: Vec<&Row> = rows().collect();
        self.pick(&rows).draw(self)
    }

    /// A subject that is often the one before, or one that the directive before made.
    fn subject(&mut self, before: Option<&Directive>) -> Subject {
        match (self.below(4), before) {
            (0, _) | (_, None) => {
                let (updates, stage) = (self.below(4) == 0, self.below(3));
                let stage = if updates { 0 } else { stage };
                Subject { func: self.func(), stage, updates, specializations: self.list(2, |r| r.below(2)) }
            }
            (1, Some(Directive { subject, verb: Verb::In { consumers }, .. })) => {
                Subject::func(wrapper_name(&subject.func, consumers))
            }
            (1, Some(Directive { subject, verb: Verb::CloneIn { consumers }, .. })) => {
                Subject::func(clone_name(&subject.func, consumers))
            }
            (1, Some(d)) => {
                let mut subject = d.subject.clone();
                subject.specializations.push(self.below(2));
                subject
            }
            (_, Some(d)) => d.subject.clone(),
        }
    }

    fn schedule(&mut self) -> Schedule {
        let mut schedule = Schedule::new();
        for _ in 0..self.below(12) {
            let subject = self.subject(schedule.directives().last());
            for verb in self.verbs() {
                schedule.push(Directive { subject: subject.clone(), verb, at: None });
            }
        }
        schedule
    }
}

impl Draws for Rng {
    fn below(&mut self, n: usize) -> usize {
        Rng::below(self, n)
    }
    fn loop_name(&mut self) -> String {
        self.name()
    }
    fn new_name(&mut self) -> String {
        self.name()
    }
    fn dim(&mut self) -> String {
        self.name()
    }
    fn func(&mut self) -> String {
        match self.below(8) {
            0 => wrapper_name(&self.func(), &self.list(2, Rng::func)),
            1 => clone_name(&self.func(), &self.list(2, Rng::func)),
            _ if self.below(40) == 0 => (0..self.below(100)).fold(self.name(), |func, _| wrapper_name(&func, &[])),
            2 => "f.in(".to_string(),
            3 => self.name(),
            _ => self.pick(&["f", "g", "blur_y"]).to_string(),
        }
    }
    fn func_or_image(&mut self) -> String {
        self.func()
    }
    fn integer(&mut self) -> i64 {
        let random = self.next() as i64;
        self.pick(&[0, 1, -1, 8, 32, i64::MIN, i64::MAX, random])
    }
    fn amount(&mut self) -> Amount {
        match self.below(3) {
            0 => Amount::Const(self.integer()),
            1 => Amount::Natural,
            _ => Amount::Param(self.name()),
        }
    }
    fn site(&mut self) -> Site {
        Site { func: self.func(), stage: self.below(3), var: self.name() }
    }
    fn condition(&mut self) -> Condition {
        let deep = if self.below(10) == 0 { 40 } else { 2 };
        let rare = if deep == 2 { self.any_condition(2) } else { self.chain(deep) };
        let p = Condition::Param("p".to_string());
        self.pick(&[p.clone(), Condition::Not(Box::new(p)), rare])
    }
}

#[test]
fn what_is_printed_reads_back() {
    for seed in 0..6000 {
        let schedule = Rng(seed).schedule();
        let text = schedule.to_string();
        match text.parse::<Schedule>() {
            Ok(read) => assert_eq!(read, schedule, "seed {seed}:\n{text}"),
            Err(e) => panic!("seed {seed}: {e}\n{text}"),
        }
    }
}

#[test]
fn no_text_makes_the_parser_panic() {
    for seed in 0..4000 {
        let mut rng = Rng(seed);
        let mut text: Vec<char> = rng.schedule().to_string().chars().collect();
        for _ in 0..1 + rng.below(4) {
            if text.is_empty() {
                break;
            }
            let at = rng.below(text.len());
            match rng.below(3) {
                0 => drop(text.remove(at)),
                1 => text.insert(at, rng.pick(&['(', ')', '"', ':', '.', ',', '-', '#', '9', 'z', '\n', '!', '['])),
                _ => text.truncate(at),
            }
        }
        let text: String = text.into_iter().collect();
        if let Err(errors) = text.parse::<Schedule>() {
            assert!(!errors.0.is_empty(), "seed {seed}: {text}");
        }
    }
}
