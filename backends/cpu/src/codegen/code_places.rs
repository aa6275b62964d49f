//! Places of instructions, for whoever reads the code: source locations of Cranelift's IR.

use super::func::Func;
use cranelift_codegen::ir::SourceLoc;
use halide_ir::code_place::{CodePart, CodePlace, definition_begun};
use halide_ir::{LoopId, Stmt};

impl Func<'_> {
    /// Goes on in the definition that a statement begins; gives the place around it.
    pub(super) fn begin_place(&mut self, s: &Stmt) -> CodePlace {
        let around = self.code_place();
        if self.code_places.is_none() {
            return around;
        }
        let begun = definition_begun(self.env.program, s).or(around.definition);
        let part = if matches!(s, Stmt::Assert { .. }) { CodePart::Check } else { around.part };
        self.set_place(CodePlace { definition: begun, part, ..around });
        around
    }
    /// Goes on inside of a loop; gives the place around it.
    pub(super) fn enter_place(&mut self, within: LoopId) -> CodePlace {
        let around = self.code_place();
        self.set_place(CodePlace { within: Some(within), ..around });
        around
    }
    /// Emits what `f` does as instructions of one purpose.
    pub(super) fn for_purpose<T>(&mut self, part: CodePart, f: impl FnOnce(&mut Self) -> T) -> T {
        let around = self.code_place();
        self.set_place(CodePlace { part, ..around });
        let made = f(self);
        self.set_place(around);
        made
    }
    /// The place at hand.
    pub(super) fn code_place(&self) -> CodePlace {
        self.code_places.as_ref().map_or_else(CodePlace::default, |table| table.current)
    }
    /// Goes on at a place.
    pub(super) fn set_place(&mut self, place: CodePlace) {
        let Some(table) = &mut self.code_places else { return };
        table.current = place;
        let number = table.number(place);
        self.ops.b.set_srcloc(SourceLoc::new(number));
    }
}
