//! Race detection: records the strands that touched each element, to find iterations of parallel loops that disturb
//! each other.

use crate::sym::BufId;
use halide_core::ids::{FuncId, IdVec};

/// One iteration of a parallel loop; strand 0 is the program itself.
struct Strand {
    parent: u32,
    depth: u32,
    /// The execution of a loop that it belongs to: iterations of one execution are concurrent.
    instance: u32,
}

/// The strands that did one thing to an element: two of which neither precedes the other stand for all. A later strand
/// may run at the same time as one of the two if it may run at the same time as any: strands are iterations of nested
/// loops, which run one after the other here, or threads of one block, which take turns and are all alike.
#[derive(Clone, Copy, Default)]
struct Pair([u32; 2]);

/// The strands that touched one element.
#[derive(Clone, Copy, Default)]
struct Touched {
    writers: Pair,
    /// The newest of all writers.
    last: u32,
    /// Some of `writers` have stored different values.
    differ: bool,
    readers: Pair,
    /// The strands that wrote, and that read, in an atomic step; steps do not race with each other.
    step_writers: Pair,
    step_readers: Pair,
}

/// A store, or a load, that may run at the same time as another access of the element.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Clash {
    /// The result depends on the order, whatever is stored.
    Always,
    /// It does unless the element held the same value before.
    IfDifferent,
}

/// The strands of a run and what they touched.
pub(super) struct Races {
    strands: Vec<Strand>,
    current: u32,
    instances: u32,
    /// The Func whose atomic step is running.
    step: Option<FuncId>,
    touched: IdVec<BufId, Vec<Touched>>,
    /// The same for the words that the threads of the current block share.
    words: Vec<Touched>,
}

impl Races {
    pub(super) fn new(buffers: usize) -> Races {
        let root = Strand { parent: 0, depth: 0, instance: 0 };
        let touched = (0..buffers).map(|_| Vec::new()).collect();
        Races { strands: vec![root], current: 0, instances: 0, step: None, touched, words: Vec::new() }
    }

    /// Forgets what happened to a buffer, which now has `len` elements.
    pub(super) fn fresh(&mut self, buf: BufId, len: usize) {
        self.touched[buf].clear();
        self.touched[buf].resize(len, Touched::default());
    }

    /// A new execution of a parallel loop.
    pub(super) fn begin_loop(&mut self) -> u32 {
        self.instances += 1;
        self.instances
    }

    /// A new iteration becomes current; the result is the strand to return to.
    pub(super) fn begin_iteration(&mut self, instance: u32) -> u32 {
        let parent = self.current;
        let depth = self.strands[parent as usize].depth + 1;
        self.current = self.strands.len() as u32;
        self.strands.push(Strand { parent, depth, instance });
        parent
    }

    pub(super) fn end_iteration(&mut self, outer: u32) {
        self.current = outer;
    }

    /// The strand that runs.
    pub(super) fn current(&self) -> u32 {
        self.current
    }
    /// A new block begins, whose threads share this many words.
    pub(super) fn fresh_words(&mut self, words: usize) {
        self.words.clear();
        self.words.resize(words, Touched::default());
    }

    /// Begins one step of `func`; the result is for [`Races::end_step`].
    pub(super) fn begin_step(&mut self, func: FuncId) -> Option<FuncId> {
        self.step.replace(func)
    }

    pub(super) fn end_step(&mut self, outer: Option<FuncId>) {
        self.step = outer;
    }

    /// The Func whose step is running.
    pub(super) fn step(&self) -> Option<FuncId> {
        self.step
    }

    /// Notes a load. Returns true if it races with a store.
    pub(super) fn read(&mut self, buf: BufId, at: usize, in_step: bool) -> bool {
        // What nobody stores to, such as an input, is not noted.
        let Some(mut t) = self.touched[buf].get(at).copied() else { return false };
        let clash = self.reads(&mut t, in_step);
        self.touched[buf][at] = t;
        clash
    }
    /// Notes a store, of the value that the element holds already if `same`. Returns how it races with other accesses.
    pub(super) fn write(&mut self, buf: BufId, at: usize, in_step: bool, same: bool) -> Option<Clash> {
        let touched = &mut self.touched[buf];
        if at >= touched.len() {
            touched.resize(at + 1, Touched::default());
        }
        let mut t = touched[at];
        let clash = self.writes(&mut t, in_step, same);
        self.touched[buf][at] = t;
        clash
    }
    /// As [`Races::read`] for a word that threads share.
    pub(super) fn read_word(&mut self, word: usize, in_step: bool) -> bool {
        let mut t = self.words[word];
        let clash = self.reads(&mut t, in_step);
        self.words[word] = t;
        clash
    }
    /// As [`Races::write`] for a word that threads share.
    pub(super) fn write_word(&mut self, word: usize, in_step: bool, same: bool) -> Option<Clash> {
        let mut t = self.words[word];
        let clash = self.writes(&mut t, in_step, same);
        self.words[word] = t;
        clash
    }
    /// Returns an element of the buffer that another strand may use at this time, if its memory were given back now.
    pub(super) fn used_elsewhere(&self, buf: BufId) -> Option<usize> {
        let used = |t: &Touched| {
            [t.writers, t.readers, t.step_writers, t.step_readers].into_iter().any(|pair| self.meets(pair))
        };
        self.touched[buf].iter().position(used)
    }

    fn reads(&self, t: &mut Touched, in_step: bool) -> bool {
        if in_step {
            let clash = self.meets(t.writers);
            self.add(&mut t.step_readers, self.current);
            return clash;
        }
        self.add(&mut t.readers, self.current);
        // Who stored the value itself sees no other one, if all store just that.
        let own = !t.differ && !self.concurrent(t.last);
        self.meets(t.step_writers) || (!own && self.meets(t.writers))
    }

    fn writes(&self, t: &mut Touched, in_step: bool, same: bool) -> Option<Clash> {
        let plain = self.meets(t.writers) || self.meets(t.readers);
        if in_step {
            self.add(&mut t.step_writers, self.current);
            return plain.then_some(Clash::IfDifferent);
        }
        // A step may make something else of a value than the one that it has made of another.
        let steps = self.meets(t.step_writers);
        let clash = (plain || self.meets(t.step_readers)).then_some(Clash::IfDifferent);
        let alone = !self.meets(t.writers);
        let newcomer = t.writers.0.iter().all(|s| *s != self.current);
        t.differ = !(alone && newcomer) && (t.differ || !same);
        self.add(&mut t.writers, self.current);
        t.last = self.current;
        if steps { Some(Clash::Always) } else { clash }
    }

    /// Returns true if the current strand may run at the same time as one of a pair.
    fn meets(&self, pair: Pair) -> bool {
        pair.0.into_iter().any(|s| self.concurrent(s))
    }

    /// Adds a strand, which is the current one, and leaves out those that precede it.
    fn add(&self, pair: &mut Pair, current: u32) {
        let [a, b] = pair.0;
        if a == current || b == current {
            return;
        }
        pair.0 = match (self.concurrent(a), self.concurrent(b)) {
            (true, true) => [a, b],
            (true, false) => [a, current],
            (false, true) => [b, current],
            (false, false) => [current, 0],
        };
    }

    /// Returns true if the current strand and `other` may run at one time: they come from different iterations of one
    /// execution of a loop.
    fn concurrent(&self, other: u32) -> bool {
        if other == self.current || other == 0 || self.current == 0 {
            return false;
        }
        let strand = |s: u32| &self.strands[s as usize];
        let (mut a, mut b) = (other, self.current);
        while strand(a).depth > strand(b).depth {
            a = strand(a).parent;
        }
        while strand(b).depth > strand(a).depth {
            b = strand(b).parent;
        }
        if a == b {
            return false;
        }
        while strand(a).parent != strand(b).parent {
            (a, b) = (strand(a).parent, strand(b).parent);
        }
        strand(a).instance == strand(b).instance
    }
}
