//! Outcomes of checks.

use crate::error::Error;
use halide_core::value::Scalar;
use std::fmt;

/// The extent of a check in which everything agreed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Agreed {
    /// The number of schedules.
    pub schedules: usize,
    /// The number of cases.
    pub cases: usize,
    /// The number of runs that were held against the interpreter.
    pub runs: u64,
    /// The number of values that were compared.
    pub values: u64,
}

impl fmt::Display for Agreed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Agreed { schedules, cases, runs, values } = self;
        write!(f, "{schedules} schedules at {cases} sizes agree with the interpreter: {runs} runs, {values} values")
    }
}

/// A schedule at a size that differs from the interpreter, on the first engine that does.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// The schedule's name; empty if no schedule is to blame.
    pub schedule: String,
    /// The sizes; empty if the schedule is refused.
    pub case: String,
    /// The engine; empty if none ran.
    pub engine: String,
    /// The defect.
    pub cause: Cause,
}

/// The defect of a schedule or a case.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Cause {
    /// A value differs.
    Value {
        /// The output Func.
        output: String,
        /// The point.
        at: Vec<i32>,
        /// The interpreter's value.
        expected: Scalar,
        /// The other one.
        found: Scalar,
    },
    /// The run ends with an error, and not in the interpreter.
    Error(Error),
    /// The run ends without the interpreter's error.
    NoError(Error),
    /// The run ends with another error than the interpreter's, which is a requirement of the algorithm.
    OtherError(Error),
    /// The schedule does not suit the pipeline.
    Refused(Error),
    /// The case does not suit the pipeline.
    Case(Error),
    /// There is no schedule, or no case: nothing was compared.
    Nothing,
}

impl Disagreement {
    pub(super) fn of(cause: Cause) -> Disagreement {
        Disagreement { schedule: String::new(), case: String::new(), engine: String::new(), cause }
    }

    pub(super) fn at(case: String, cause: Cause) -> Disagreement {
        Disagreement { case, ..Disagreement::of(cause) }
    }
}

impl fmt::Display for Disagreement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [("", &self.schedule), ("at ", &self.case), ("on ", &self.engine)];
        let known: Vec<String> =
            parts.iter().filter(|(_, text)| !text.is_empty()).map(|(word, text)| format!("{word}{text}")).collect();
        if !known.is_empty() {
            write!(f, "{}: ", known.join(" "))?;
        }
        match &self.cause {
            Cause::Value { output, at, expected, found } => {
                write!(f, "`{output}` at {at:?} is {found} and should be {expected}")
            }
            Cause::Error(error) => write!(f, "the run ends with an error, and not in the interpreter: {error}"),
            Cause::NoError(error) => write!(f, "the run succeeds, and the interpreter ends with an error: {error}"),
            Cause::OtherError(error) => write!(f, "the run ends with another error than the interpreter: {error}"),
            Cause::Refused(error) | Cause::Case(error) => write!(f, "{error}"),
            Cause::Nothing => f.write_str("nothing was compared; give at least one schedule and one case"),
        }
    }
}

/// All disagreements of a check: of each schedule and case the first.
#[derive(Clone)]
pub struct Disagreements(pub Vec<Disagreement>);

impl fmt::Display for Disagreements {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, found) in self.0.iter().enumerate() {
            write!(f, "{}{found}", if n == 0 { "" } else { "\n" })?;
        }
        Ok(())
    }
}

crate::debug_is_display!(Disagreements);

impl std::error::Error for Disagreements {}
