//! Aims that schedules are drawn for, and a row of directives of loops in which every three come one after another.

/// The structure that a schedule is drawn for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Aim {
    /// Nothing in particular.
    #[default]
    Anything,
    /// Loops by directives that act on each other's loops, from a place in the row of all triples that belongs to the
    /// number, with Funcs computed and stored at every level of them.
    Loops(u32),
    /// As `Loops`, with storage outside of the loops that fill it, and pieces that are vectors or unrolled.
    Folds(u32),
    /// Groups of stages that are computed together, whose members have members.
    Groups,
    /// Wrappers and copies of wrappers and copies.
    Wrappers,
    /// Specialisations by what the algorithm chooses by.
    Arms,
    /// Promises about regions of Funcs that are computed in loops of others.
    Promises,
    /// Factors far above the extents.
    Far,
    /// Any directives of the table. What they vouch for may be wrong, so values may differ from the interpreter's.
    Rows,
}

/// A kind of directive of loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LoopWord {
    /// `split(x, xo, xi, 4)`
    Split,
    /// `split(x, xo, xi, 1)`
    SplitByOne,
    /// `fuse(x, y, t)`
    Fuse,
    /// `reorder(xi, y, xo)`
    Reorder,
    /// `vectorize(x)`, `vectorize(x, 4)`
    Vectorize,
    /// `unroll(x)`, `unroll(x, 3)`
    Unroll,
    /// `parallel(x)`, `parallel(x, 2)`
    Parallel,
}

impl LoopWord {
    /// All of them.
    pub const ALL: [LoopWord; 7] = {
        use LoopWord::*;
        [Split, SplitByOne, Fuse, Reorder, Vectorize, Unroll, Parallel]
    };
}

/// A row, read in a circle, in which every triple of words occurs once: the sequence of de Bruijn.
pub(super) fn row() -> Vec<LoopWord> {
    const ORDER: usize = 3;
    let mut row = Vec::new();
    // The Lyndon words whose lengths divide the order, in lexicographic order.
    let mut word = vec![0usize];
    loop {
        if ORDER.is_multiple_of(word.len()) {
            row.extend(word.iter().map(|&k| LoopWord::ALL[k]));
        }
        let length = word.len();
        word = (0..ORDER).map(|i| word[i % length]).collect();
        while word.last() == Some(&(LoopWord::ALL.len() - 1)) {
            word.pop();
        }
        match word.last_mut() {
            Some(last) => *last += 1,
            None => return row,
        }
    }
}
