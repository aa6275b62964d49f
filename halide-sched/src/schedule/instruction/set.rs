//! Sets of instructions.

use super::built_in::built_in;
use super::error::InstructionError;
use super::form::Form;
use super::value::Instruction;
use std::fmt;
use std::sync::Arc;

/// The instructions that a schedule may name: cheap to clone.
#[derive(Clone, Default)]
pub struct InstructionSet(Vec<Arc<Known>>);

struct Known {
    instruction: Instruction,
    forms: Vec<Form>,
}

impl InstructionSet {
    /// Returns a set without any.
    pub fn new() -> InstructionSet {
        InstructionSet::default()
    }
    /// Returns the instructions that the code generators find, which schedules may name unless another set is given.
    pub fn built_in() -> InstructionSet {
        let all = built_in().unwrap_or_default();
        all.into_iter().fold(InstructionSet::new(), |set, instruction| set.clone().with(instruction).unwrap_or(set))
    }
    /// Returns the set with one more.
    ///
    /// # Errors
    /// The name is taken; the meaning is more than one definition of one value; its variables are not the axes; an
    /// operand is not there.
    pub fn with(mut self, instruction: Instruction) -> Result<InstructionSet, InstructionError> {
        if self.find(&instruction.name).is_some() {
            return Err(InstructionError::Taken { name: instruction.name });
        }
        let forms = Form::all(&instruction)?;
        self.0.push(Arc::new(Known { instruction, forms }));
        Ok(self)
    }
    /// Returns the instruction of a name.
    pub fn find(&self, name: &str) -> Option<&Instruction> {
        self.known(name).map(|(instruction, _)| instruction)
    }
    /// Returns the names in the order in which they were added.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|known| known.instruction.name.as_str())
    }
    /// The instruction of a name, with the forms of its meaning.
    pub(crate) fn known(&self, name: &str) -> Option<(&Instruction, &[Form])> {
        let known = self.0.iter().find(|known| known.instruction.name == name)?;
        Some((&known.instruction, &known.forms))
    }
}

impl fmt::Debug for InstructionSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.names()).finish()
    }
}

#[cfg(test)]
mod tests {
    use crate::idioms::{IDIOMS, PRODUCTS};
    use crate::schedule::InstructionSet;

    /// None is left out for a mistake in the table.
    #[test]
    fn every_built_in_instruction_is_one() {
        let set = InstructionSet::built_in();
        let names: Vec<&str> = set.names().collect();
        let products = ["dot_u8i8_4", "dot_i16_2", "fma_f32", "fma_pair_f32", "fma_f64", "fma_pair_f64"];
        assert_eq!(names[..6], products);
        let idioms = IDIOMS.iter().chain(PRODUCTS).flat_map(|row| row.machine.iter().map(move |on| (row.name, on)));
        let idioms: Vec<String> = idioms.map(|(name, on)| format!("{name}_{}", on.narrow)).collect();
        assert_eq!(names[6..], idioms);
    }
}
