//! Who touched each element, to find iterations of parallel loops that disturb each other.

use crate::ir::BufId;
use halide_core::ids::IdVec;

/// One iteration of a parallel loop; strand 0 is the program itself.
struct Strand {
    parent: u32,
    depth: u32,
    /// Which execution of which loop: iterations of one are concurrent.
    instance: u32,
}

/// The strands that touched one element last.
#[derive(Clone, Copy, Default)]
struct Touched {
    writer: u32,
    readers: [u32; 2],
    /// Who wrote and who read in an atomic step; steps do not race with each other.
    step_writer: u32,
    step_reader: u32,
}

impl Touched {
    /// Notes a reader; the result is who wrote last. Steps do not disturb each other.
    fn read(&mut self, current: u32, in_step: bool) -> [u32; 2] {
        if in_step {
            self.step_reader = current;
            return [self.writer, 0];
        }
        if self.readers[0] != current {
            self.readers = [current, self.readers[0]];
        }
        [self.writer, self.step_writer]
    }
    /// Notes a writer; the result is who touched it before.
    fn write(&mut self, current: u32, in_step: bool) -> Touched {
        let before = *self;
        if in_step {
            self.step_writer = current;
            return Touched { step_writer: 0, step_reader: 0, ..before };
        }
        self.writer = current;
        before
    }
}

/// The strands of a run and what they touched.
pub(super) struct Races {
    strands: Vec<Strand>,
    current: u32,
    instances: u32,
    /// Whether what happens is part of an atomic step.
    in_step: bool,
    touched: IdVec<BufId, Vec<Touched>>,
    /// The same for the words that the threads of the current block share.
    words: Vec<Touched>,
}

impl Races {
    pub(super) fn new(buffers: usize) -> Races {
        let root = Strand { parent: 0, depth: 0, instance: 0 };
        let touched = (0..buffers).map(|_| Vec::new()).collect();
        Races { strands: vec![root], current: 0, instances: 0, in_step: false, touched, words: Vec::new() }
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

    /// What happens from here on is one step; the result is for [`Races::end_step`].
    pub(super) fn begin_step(&mut self) -> bool {
        std::mem::replace(&mut self.in_step, true)
    }

    pub(super) fn end_step(&mut self, outer: bool) {
        self.in_step = outer;
    }

    /// Whether reading the element races with a write.
    pub(super) fn read(&mut self, buf: BufId, at: usize) -> bool {
        let (current, in_step) = (self.current, self.in_step);
        let writers = self.touched[buf][at].read(current, in_step);
        writers.into_iter().any(|s| self.concurrent(s))
    }
    /// Whether writing the element races with a read or another write.
    pub(super) fn write(&mut self, buf: BufId, at: usize) -> bool {
        let (current, in_step) = (self.current, self.in_step);
        let before = self.touched[buf][at].write(current, in_step);
        self.meets_any(before)
    }
    /// As [`Races::read`] for a word that threads share.
    pub(super) fn read_word(&mut self, word: usize) -> bool {
        let (current, in_step) = (self.current, self.in_step);
        let writers = self.words[word].read(current, in_step);
        writers.into_iter().any(|s| self.concurrent(s))
    }
    /// As [`Races::write`] for a word that threads share.
    pub(super) fn write_word(&mut self, word: usize) -> bool {
        let (current, in_step) = (self.current, self.in_step);
        let before = self.words[word].write(current, in_step);
        self.meets_any(before)
    }
    fn meets_any(&self, before: Touched) -> bool {
        let Touched { writer, readers: [first, second], step_writer, step_reader } = before;
        [writer, first, second, step_writer, step_reader].into_iter().any(|s| self.concurrent(s))
    }
    /// Whether the current strand and `other` may run at one time: they come from different iterations of one
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
