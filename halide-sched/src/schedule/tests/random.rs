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
    fn func(&mut self) -> String {
        match self.below(8) {
            0 => wrapper_name(&self.func(), &self.list(2, Rng::func)),
            1 => clone_name(&self.func(), &self.list(2, Rng::func)),
            2 => "f.in(".to_string(),
            3 => self.name(),
            _ => self.pick(&["f", "g", "blur_y"]).to_string(),
        }
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
    fn tail(&mut self) -> Tail {
        self.pick(&Tail::ALL)
    }
    fn align(&mut self) -> Align {
        self.pick(&[Align::NoAlign, Align::AlignStart, Align::AlignEnd])
    }
    fn site(&mut self) -> Site {
        Site { func: self.func(), stage: self.below(3), var: self.name() }
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
    fn condition(&mut self, depth: usize) -> Condition {
        use CompareOp::*;
        match self.below(if depth == 0 { 3 } else { 6 }) {
            0 => Condition::Compare(self.pick(&[Eq, Ne, Lt, Le, Gt, Ge]), self.term(2), self.term(2)),
            1 => Condition::Param(self.name()),
            2 => Condition::Invalid(self.name()),
            3 => Condition::Not(Box::new(self.condition(depth - 1))),
            4 => Condition::And(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
            _ => Condition::Or(Box::new(self.condition(depth - 1)), Box::new(self.condition(depth - 1))),
        }
    }
    fn small_condition(&mut self) -> Condition {
        let rare = self.condition(2);
        let p = Condition::Param("p".to_string());
        self.pick(&[p.clone(), Condition::Not(Box::new(p)), rare])
    }

    fn verb(&mut self) -> Verb {
        use LoopKind::*;
        match self.below(39) {
            0 => Verb::Split {
                var: self.name(),
                outer: self.name(),
                inner: self.name(),
                factor: self.amount(),
                tail: self.tail(),
            },
            1 => Verb::Fuse { inner: self.name(), outer: self.name(), fused: self.name() },
            2 => Verb::Rename { from: self.name(), to: self.name() },
            3 => Verb::Reorder(self.list(4, Rng::name)),
            4 | 5 => Verb::Mark {
                kind: self.pick(&[Serial, Parallel, Vectorized, Unrolled]),
                var: self.name(),
                factor: if self.below(2) == 0 { None } else { Some(self.amount()) },
                tail: self.tail(),
            },
            6 => Verb::Partition {
                var: self.name(),
                how: self.pick(&[Partition::Auto, Partition::Never, Partition::Always]),
            },
            7 => Verb::ComputeRoot,
            8 => Verb::ComputeAt(self.site()),
            9 => Verb::ComputeInline,
            10 => Verb::StoreRoot,
            11 => Verb::StoreAt(self.site()),
            12 => Verb::HoistStorageRoot,
            13 => Verb::HoistStorage(self.site()),
            14 => Verb::ReorderStorage(self.list(3, Rng::name)),
            15 => Verb::AlignStorage { var: self.name(), multiple: self.integer() },
            16 => Verb::FoldStorage { var: self.name(), factor: self.integer(), forward: self.below(2) == 0 },
            17 => Verb::StoreIn(self.pick(&[
                Memory::Auto,
                Memory::Heap,
                Memory::Stack,
                Memory::Register,
                Memory::Shared,
                Memory::Global,
            ])),
            18 => Verb::Bound { var: self.name(), min: self.amount(), extent: self.amount() },
            19 => Verb::BoundExtent { var: self.name(), extent: self.amount() },
            20 => Verb::AlignBounds { var: self.name(), modulus: self.integer(), remainder: self.integer() },
            21 => Verb::AlignExtent { var: self.name(), modulus: self.integer() },
            22 => Verb::In { consumers: self.list(2, Rng::func) },
            23 => Verb::CloneIn { consumers: self.list(2, Rng::func) },
            24 => Verb::Specialize(self.small_condition()),
            25 => Verb::SpecializeFail(self.name()),
            26 => Verb::Copy { to_device: self.below(2) == 0 },
            27 => Verb::GpuSingleThread,
            28 => Verb::Mark { kind: LoopKind::GpuLanes, var: self.name(), factor: None, tail: Tail::Auto },
            29 => Verb::AllowRaceConditions,
            30 => Verb::Atomic { any_order: self.below(2) == 0 },
            33 => Verb::BoundStorage { var: self.name(), extent: self.integer() },
            34 => match self.below(2) {
                0 => Verb::SetEstimate { var: self.name(), min: self.integer(), extent: self.integer() },
                _ => Verb::SetEstimates(self.list(3, |r| (r.integer(), r.integer()))),
            },
            35 => Verb::Prefetch {
                what: self.func(),
                at: self.name(),
                from: self.name(),
                offset: self.integer(),
                bound: self.pick(&[PrefetchBound::Clamp, PrefetchBound::GuardWithIf, PrefetchBound::NonFaulting]),
            },
            36 => Verb::StreamStores,
            37 => {
                let identity =
                    self.list(3, |r| [Identity::Const(r.integer()), Identity::Lowest, Identity::Highest][r.below(3)]);
                Verb::Monoid { identity, commutes: self.below(2) == 0 }
            }
            32 => Verb::ComputeWith {
                site: self.site(),
                align: self.align(),
                each: self.list(2, |r| (r.name(), r.align())),
            },
            31 => Verb::Rfactor { rvars: self.list(2, Rng::name), vars: self.list(2, Rng::name) },
            _ => Verb::Float(self.pick(&[FloatMode::Strict, FloatMode::Contract, FloatMode::Relaxed])),
        }
    }

    /// A subject that is often the one before, or one that the directive before made.
    fn subject(&mut self, before: Option<&Directive>) -> Subject {
        match (self.below(4), before) {
            (0, _) | (_, None) => {
                Subject { func: self.func(), stage: self.below(3), specializations: self.list(2, |r| r.below(2)) }
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
            let verb = self.verb();
            schedule.push(Directive { subject, verb, at: None });
        }
        schedule
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
