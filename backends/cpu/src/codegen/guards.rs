//! Guards that keep loads behind the conditions that make them right.
//!
//! To Cranelift a load of an input is a value like a sum: it is computed where it is first used, or further out, in
//! front of every loop in which its address does not change. The place in front of a loop is behind all conditions that
//! are asked outside of that loop, but not behind those that are asked inside. With
//! ```text
//! for y from 0 extent h { for x from 0 extent w { out[x] = in[7] } }
//! ```
//! `in[7]` goes in front of both loops, where nothing says that `w` is not 0 and `in` not empty. So does a load behind
//! an `if` or a check in an outer loop.
//!
//! A condition that is asked in `n` loops thus holds for loads that do not leave the `n`th loop. Unless the variable of
//! that loop, or of one further in, is in their addresses for certain, these get a term that is zero but, as far as
//! Cranelift can know, different in each iteration of that loop: its *tie*. Loads may then still move out of the loops
//! further in. In the loop of the condition itself a tie costs more than it brings; loads there stay where they are.

use cranelift_codegen::ir::Value;
use halide_ir::hash::Map;

/// The loops and conditions around the code at hand.
#[derive(Default)]
pub(super) struct Guards {
    /// The loops around, outermost first.
    loops: Vec<Around>,
    /// The number of loops around the innermost condition. Conditions without loops around count as none: nothing moves
    /// in front of them.
    asked: usize,
    /// The number of checks so far, each of which ends the function if it fails.
    checks: usize,
    /// Values that are others times a factor.
    multiples: Map<Value, (Value, i64)>,
}

/// A loop around the code at hand.
#[derive(Clone, Copy)]
pub(super) struct Around {
    pub(super) variable: Value,
    /// An i64 that is always 0 and computed from the variable.
    pub(super) tie: Value,
}

/// Code that conditions in it decide.
#[derive(Clone, Copy)]
pub(super) struct GuardScope {
    asked: usize,
    checks: usize,
}

/// The freedom of a load to move out of loops, if nobody writes the memory that it reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Motion {
    /// Not at all.
    Stays,
    /// In front of all loops in which its address does not change.
    Free,
    /// As far, if its address changes in a loop that is in at least this many, itself included; `tie` makes it so.
    Tied { loops: u32, tie: Value },
}

impl Guards {
    /// Returns the number of loops around the code at hand.
    pub(super) fn loop_depth(&self) -> u32 {
        self.loops.len() as u32
    }
    /// From here to the end of a [`GuardScope`] code runs if a condition holds that is asked here.
    pub(super) fn ask(&mut self) {
        self.asked = self.loops.len();
    }
    /// From here on all code runs if a condition holds that is asked here: otherwise the function ends.
    pub(super) fn check(&mut self) {
        self.ask();
        self.checks += 1;
    }
    /// The start of what conditions asked from here on decide.
    pub(super) fn begin(&self) -> GuardScope {
        GuardScope { asked: self.asked, checks: self.checks }
    }
    /// The end of it. Checks in it go on to hold.
    pub(super) fn end(&mut self, scope: GuardScope) {
        self.asked = if self.checks > scope.checks { self.loops.len() } else { scope.asked };
    }
    /// Into a loop.
    pub(super) fn enter_loop(&mut self, inner: Around) {
        self.loops.push(inner);
    }
    /// Out of the innermost loop.
    pub(super) fn leave_loop(&mut self) {
        self.loops.pop();
    }
    /// `value` is a variable times a factor.
    pub(super) fn note_multiple(&mut self, value: Value, variable: Value, factor: i64) {
        self.multiples.insert(value, (variable, factor));
    }
    /// Returns the factor if `value` is a multiple of the variable of the loop at depth `depth` (1 is the outermost
    /// loop), and 0 if it may be none.
    pub(super) fn multiple(&self, value: Value, depth: u32) -> i64 {
        let (variable, factor) = self.multiples.get(&value).copied().unwrap_or((value, 1));
        let at = (depth as usize).checked_sub(1);
        let same = at.and_then(|at| self.loops.get(at)).is_some_and(|l| l.variable == variable);
        if same { factor } else { 0 }
    }
    /// Returns the freedom of a load that is executed whenever control gets here.
    pub(super) fn motion(&self) -> Motion {
        match self.asked {
            0 => Motion::Free,
            n if n < self.loops.len() => Motion::Tied { loops: n as u32, tie: self.loops[n - 1].tie },
            _ => Motion::Stays,
        }
    }
}
