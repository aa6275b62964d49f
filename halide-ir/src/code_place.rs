//! Places of code: the definition, the loop and the purpose that each instruction or line belongs to.
//!
//! Code generators number the places that they come to, and give what they make the number of its place. Numbers are
//! for whoever reads the code, and change nothing of it.

use super::hash::Map;
use super::program::Program;
use super::stmt::Stmt;
use super::sym::LoopId;
use halide_core::ids::FuncId;

/// A definition: the Func, and 0 or the number of its update counted from 1.
pub type Definition = (FuncId, usize);

/// Returns the definition that a statement begins: a Func is produced, or a loop of an update begins.
pub fn definition_begun(program: &Program, s: &Stmt) -> Option<Definition> {
    match s {
        Stmt::Produce { func, .. } => Some((*func, 0)),
        Stmt::For(l) => program.loops.get(l.id)?.definition,
        Stmt::Launch { task, .. } => program.loops.get(program.tasks.get(*task)?.id)?.definition,
        _ => None,
    }
}

/// The purpose of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum CodePart {
    /// Computes values, or moves them between registers and memory as the program says.
    #[default]
    Body,
    /// Computes an address.
    Address,
    /// Checks a condition without which the run ends.
    Check,
    /// Begins or ends a function: registers of the caller, the stack.
    Frame,
    /// Moves a value for which there was no register, or from one register to another.
    Move,
}

/// The place of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct CodePlace {
    /// The definition whose work it does: the Func, and 0 or the number of its update counted from 1. `None` outside of
    /// all definitions.
    pub definition: Option<Definition>,
    /// The innermost loop around it; `None` outside of all loops.
    pub within: Option<LoopId>,
    /// Its purpose.
    pub part: CodePart,
}

/// The number of no place.
pub const NOWHERE: u32 = 0;

/// The places of a function, by number.
#[derive(Debug)]
pub struct PlaceTable {
    places: Vec<CodePlace>,
    numbers: Map<CodePlace, u32>,
    /// The place of the statement at hand.
    pub current: CodePlace,
}

impl PlaceTable {
    /// A table whose code begins at a place.
    pub fn new(current: CodePlace) -> PlaceTable {
        PlaceTable { places: Vec::new(), numbers: Map::default(), current }
    }
    /// The number of a place.
    pub fn number(&mut self, place: CodePlace) -> u32 {
        let next = self.places.len() as u32 + NOWHERE + 1;
        let number = *self.numbers.entry(place).or_insert(next);
        if number == next {
            self.places.push(place);
        }
        number
    }
    /// The place of a number.
    pub fn place(&self, number: u32) -> Option<CodePlace> {
        self.places.get(number.checked_sub(NOWHERE + 1)? as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_have_one_number_each_and_none_is_nowhere() {
        let mut table = PlaceTable::new(CodePlace::default());
        let other = CodePlace { part: CodePart::Check, ..CodePlace::default() };
        let numbers = [CodePlace::default(), other, CodePlace::default()].map(|p| table.number(p));
        assert_eq!(numbers, [1, 2, 1]);
        assert_eq!([NOWHERE, 2, 3].map(|n| table.place(n)), [None, Some(other), None]);
    }
}
