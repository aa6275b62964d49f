//! Record of the decisions of lowering: for every pass what it did, what it did not do and why, and, if asked for, the
//! program after it. `explain`, the report and tests read it; nothing in lowering does.

use halide_ir::Program;
use std::fmt;
use std::time::Duration;

/// The record of one lowering, pass by pass.
#[derive(Clone, Debug, Default)]
pub struct LoweringTrace {
    /// The passes in the order in which they ran.
    pub passes: Vec<PassTrace>,
    /// Visits of expressions by the simplifier and by proofs of accesses, and looks of bound queries: how much work
    /// lowering was, whatever else the machine does.
    pub visits: u64,
    /// The passes after which [`LoweringTrace::finish`] keeps a copy of the program.
    snapshots: Snapshots,
    /// Reads the time that passes are measured with.
    clock: Option<Clock>,
    /// The begin of the current pass.
    begun: Duration,
}

/// The passes after which a copy of the program is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Snapshots {
    /// None.
    #[default]
    None,
    /// The passes of these names.
    After(&'static [&'static str]),
    /// All.
    All,
}

impl Snapshots {
    /// Returns true if a copy is kept after the pass `name`.
    fn keeps(self, name: &str) -> bool {
        match self {
            Snapshots::None => false,
            Snapshots::After(names) => names.contains(&name),
            Snapshots::All => true,
        }
    }
}

/// Reads a clock: the time since some moment. Lowering has none of its own.
#[derive(Clone, Copy, Debug)]
pub struct Clock(pub fn() -> Duration);

impl PartialEq for Clock {
    fn eq(&self, other: &Clock) -> bool {
        std::ptr::fn_addr_eq(self.0, other.0)
    }
}
impl Eq for Clock {}

impl std::hash::Hash for Clock {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.0 as usize).hash(state);
    }
}

/// The record of one pass.
#[derive(Clone, Debug)]
pub struct PassTrace {
    /// The name of its file and function.
    pub name: &'static str,
    /// Its decisions, in order.
    pub decisions: Vec<Decision>,
    /// The program after it, if snapshots were asked for.
    pub after: Option<Program>,
    /// Its duration, if the caller gave a clock.
    pub time: Option<Duration>,
}

/// One decision of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The Func, buffer or loop it is about, by name.
    pub subject: String,
    /// The outcome of the decision.
    pub outcome: Outcome,
}

/// The outcome of a decision: done, or not done and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The pass did this: "vectorized by 8".
    Did(String),
    /// The pass did not do this, and why.
    DidNot {
        /// The action that was not done: "vectorized".
        what: String,
        /// The reason: "its lanes store to one place".
        because: String,
    },
}

impl LoweringTrace {
    /// An empty record of decisions.
    pub fn new() -> LoweringTrace {
        LoweringTrace::default()
    }
    /// An empty record that may also keep the program after some passes, and measure passes by `clock`.
    pub fn recording(snapshots: Snapshots, clock: Option<Clock>) -> LoweringTrace {
        LoweringTrace { snapshots, clock, ..LoweringTrace::default() }
    }
    /// Opens the record of the pass `name`; decisions that follow are its.
    pub fn begin(&mut self, name: &'static str) {
        self.passes.push(PassTrace { name, decisions: Vec::new(), after: None, time: None });
        self.begun = self.clock.map_or(Duration::ZERO, |c| c.0());
    }
    /// Closes the record of the current pass. A pass that leaves no whole program behind gives none.
    pub fn finish(&mut self, program: Option<&Program>) {
        let time = self.clock.map(|clock| clock.0().saturating_sub(self.begun));
        let snapshots = self.snapshots;
        let pass = self.current();
        pass.after = program.filter(|_| snapshots.keeps(pass.name)).cloned();
        pass.time = time;
    }
    /// Records that the current pass did `what` to `subject`.
    pub fn did(&mut self, subject: impl Into<String>, what: impl Into<String>) {
        let decision = Decision { subject: subject.into(), outcome: Outcome::Did(what.into()) };
        self.current().decisions.push(decision);
    }
    /// Records that the current pass did not do `what` to `subject`, and why.
    pub fn did_not(&mut self, subject: impl Into<String>, what: impl Into<String>, because: impl Into<String>) {
        let outcome = Outcome::DidNot { what: what.into(), because: because.into() };
        self.current().decisions.push(Decision { subject: subject.into(), outcome });
    }

    /// The pass that decisions belong to; a pass that runs alone (in a test) gets a record without a name.
    fn current(&mut self) -> &mut PassTrace {
        if self.passes.is_empty() {
            self.begin("");
        }
        self.passes.last_mut().expect("a pass was begun")
    }
}

impl fmt::Display for Decision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.outcome {
            Outcome::Did(what) => write!(f, "{}: {what}", self.subject),
            Outcome::DidNot { what, because } => write!(f, "{}: not {what}, because {because}", self.subject),
        }
    }
}

impl fmt::Display for LoweringTrace {
    /// The decisions under the names of their passes; passes that decided nothing are left out.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for pass in self.passes.iter().filter(|p| !p.decisions.is_empty()) {
            writeln!(f, "{}:", pass.name)?;
            for decision in &pass.decisions {
                writeln!(f, "  {decision}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prints_decisions_under_their_pass() {
        let mut trace = LoweringTrace::new();
        trace.begin("unroll");
        trace.begin("vectorize");
        trace.did("blur.xi", "vectorized by 8");
        trace.did_not("hist.rx", "vectorized", "its lanes store to one place");
        let expected = "vectorize:\n  blur.xi: vectorized by 8\n  \
                        hist.rx: not vectorized, because its lanes store to one place\n";
        assert_eq!(trace.to_string(), expected);
    }
}
