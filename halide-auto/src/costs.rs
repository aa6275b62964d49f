//! The costs of instructions: measured cycles, as text.

use halide_ir::machine::Machine;
use halide_ir::spelling::closest;
use halide_sched::schedule::InstructionSet;
use std::collections::BTreeMap;
use std::fmt;

/// Cycles between two instructions of a name, each on a vector as wide as the target's.
///
/// The text form has a line for each: its name, and the cycles. What has no line costs what a fused product and sum
/// does. Costs are measured, since the operations of an instruction tell little: some do twice as many in four times
/// the time.
///
/// ```
/// use halide_auto::isa::Costs;
/// let costs: Costs = "fma_f32 0.5\ndot_u8i8_4 1 # on one port\n".parse().unwrap();
/// assert_eq!(costs.get("dot_u8i8_4"), Some(1.0));
/// assert_eq!(costs.to_string(), "dot_u8i8_4 1\nfma_f32 0.5\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs(BTreeMap<String, f64>);

/// A line that is no cost.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub enum CostError {
    /// A line of another form.
    Line {
        /// Its number, from 1.
        line: usize,
        /// The line.
        text: String,
    },
    /// An instruction that the set does not have.
    Unknown {
        /// Its name.
        name: String,
        /// One of a similar name.
        near: Option<String>,
    },
}

impl Costs {
    /// Returns costs without any lines.
    pub fn new() -> Costs {
        Costs::default()
    }
    /// Sets the cycles of an instruction, which are above 0.
    pub fn set(mut self, name: &str, cycles: f64) -> Costs {
        self.0.insert(name.to_string(), cycles);
        self
    }
    /// Returns the cycles that are said of an instruction.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }
    /// The cycles of an instruction on a machine.
    pub(crate) fn of(&self, name: &str, machine: &Machine) -> f64 {
        self.get(name).unwrap_or(1.0 / machine.vector.fmas.max(0.1))
    }
    /// Checks that a set has all instructions of which costs are said.
    ///
    /// # Errors
    /// The first that it does not have.
    pub fn check(&self, set: &InstructionSet) -> Result<(), CostError> {
        match self.0.keys().find(|name| set.find(name).is_none()) {
            None => Ok(()),
            Some(name) => {
                let near = closest(name, set.names()).map(str::to_string);
                Err(CostError::Unknown { name: name.clone(), near })
            }
        }
    }
}

impl std::str::FromStr for Costs {
    type Err = CostError;

    fn from_str(text: &str) -> Result<Costs, CostError> {
        let mut costs = Costs::new();
        for (n, line) in text.lines().enumerate() {
            let said = line.split('#').next().unwrap_or_default();
            let mut words = said.split_whitespace();
            let Some(name) = words.next() else { continue };
            let cycles = words.next().and_then(|word| word.parse::<f64>().ok());
            let wrong = || CostError::Line { line: n + 1, text: line.trim().to_string() };
            let cycles = cycles.filter(|cycles| cycles.is_finite() && *cycles > 0.0).ok_or_else(wrong)?;
            if words.next().is_some() {
                return Err(wrong());
            }
            costs = costs.set(name, cycles);
        }
        Ok(costs)
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|(name, cycles)| writeln!(f, "{name} {cycles}"))
    }
}

impl fmt::Display for CostError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CostError::Line { line, text } => {
                write!(f, "line {line}: `{text}` is no cost; write an instruction and its cycles, as in `fma_f32 0.5`")
            }
            CostError::Unknown { name, near } => {
                write!(f, "there is no instruction `{name}`, of which a cost is said")?;
                near.iter().try_for_each(|near| write!(f, "; did you mean `{near}`?"))
            }
        }
    }
}

halide_core::debug_is_display!(CostError);

impl std::error::Error for CostError {}
