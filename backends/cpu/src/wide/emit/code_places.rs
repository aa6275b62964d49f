//! Places of instructions, for whoever reads the code: the definition and the purpose at hand, and the loop that the
//! instruction is placed in.

use super::super::interface::Emitted;
use super::kernel::Emit;
use super::levels::Kind;
use halide_ir::Stmt;
use halide_ir::code_place::{CodePart, CodePlace, NOWHERE, definition_begun};

impl Emit<'_> {
    /// The number of the place of an instruction that is added at the cursor.
    pub(super) fn place_number(&mut self) -> u32 {
        let Some(table) = &mut self.code_places else { return NOWHERE };
        let loops = self.levels[..=self.cursor].iter().rev();
        let within = loops.into_iter().find_map(|level| match level.kind {
            Kind::Loop(id, _) => Some(id),
            _ => None,
        });
        table.number(CodePlace { within: within.or(self.around.code_place().within), ..table.current })
    }
    /// Goes on in the definition that a statement begins; gives the place around it.
    pub(super) fn begin_place(&mut self, s: &Stmt) -> CodePlace {
        let Some(table) = &mut self.code_places else { return CodePlace::default() };
        let around = table.current;
        if let Some(begun) = definition_begun(self.program, s) {
            table.current.definition = Some(begun);
        }
        around
    }
    /// Goes back to the place around a statement.
    pub(super) fn end_place(&mut self, around: CodePlace) {
        if let Some(table) = &mut self.code_places {
            table.current = around;
        }
    }
    /// Goes on in code that ends a run; gives the place around it.
    pub(super) fn begin_check(&mut self) -> CodePlace {
        let Some(table) = &mut self.code_places else { return CodePlace::default() };
        let around = table.current;
        table.current.part = CodePart::Check;
        around
    }
    /// Emits what `f` does as instructions of one purpose.
    pub(super) fn for_purpose<T>(&mut self, part: CodePart, f: impl FnOnce(&mut Self) -> Emitted<T>) -> Emitted<T> {
        let around = self.code_places.as_mut().map(|table| std::mem::replace(&mut table.current.part, part));
        let made = f(self);
        if let (Some(table), Some(around)) = (&mut self.code_places, around) {
            table.current.part = around;
        }
        made
    }
}
