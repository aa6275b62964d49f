//! The reasons that instructions do not compute stages.

use halide_sched::plan::MapError;
use std::fmt;

/// An instruction that does not compute a stage.
#[derive(Clone)]
pub struct Attempt {
    /// The stage, as schedules name it.
    pub stage: String,
    /// The instruction.
    pub instruction: String,
    /// The reason.
    pub why: WhyNot,
}

/// A reason that an instruction does not compute a stage.
#[derive(Clone)]
#[non_exhaustive]
pub enum WhyNot {
    /// The stage is not what it means.
    Differs(MapError),
    /// The stage is, and nothing is gained so.
    Unsuited(Unsuited),
    /// The compiler refuses the schedule.
    Refused(String),
    /// The stage is no sum: it has no reduction, reads a buffer at several places, or is not where it adds to.
    NoSum,
}

/// The reason that a mapping is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Unsuited {
    /// A closure computes it, which has no cost.
    Called,
    /// Several loops are one axis.
    Joined,
    /// No axis runs in vectors, or several do.
    Vectors,
    /// A loop is shorter than the axis that it would be.
    Short,
    /// The floats of the result may not be treated so.
    Floats,
    /// An operand does not lie as it must, and a copy of it would not either.
    Layout,
    /// Vectors of the result are not together in memory.
    Scattered,
    /// No part of the result that registers hold has a whole vector.
    Registers,
    /// The compiler refuses the schedule.
    Refused,
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Unsuited::Called => "a closure computes it, and nobody knows its cost; name it with `use`",
            Unsuited::Joined => "it joins several loops; fuse them, and name it with `use`",
            Unsuited::Vectors => "not one of its axes alone runs in vectors",
            Unsuited::Short => "a loop is shorter than its axis",
            Unsuited::Floats => "it rounds floats in another way than these options allow",
            Unsuited::Layout => "no copy of an operand lies as it reads it",
            Unsuited::Scattered => "its vectors are not along what lies together of the result",
            Unsuited::Registers => "no tile of it fits in registers",
            Unsuited::Refused => "the compiler refuses the schedule",
        })
    }
}

impl fmt::Display for Attempt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Attempt { stage, instruction, why } = self;
        match why {
            WhyNot::Differs(error) => write!(f, "{stage}: {error}"),
            WhyNot::Unsuited(why) => write!(f, "{stage}: instruction `{instruction}`: {why}"),
            WhyNot::Refused(error) => write!(f, "{stage}: instruction `{instruction}`: {error}"),
            WhyNot::NoSum => write!(
                f,
                "{stage}: it is no sum over a reduction domain of buffers that it reads at one place each, which is \
                 what instructions are repeated for"
            ),
        }
    }
}

halide_core::debug_is_display!(Attempt);
