//! Random promises of bounds, and how Funcs are stored.

use super::aim::Aim;
use super::random::Draw;
use halide_sched::plan::Level;
use halide_sched::schedule::{Amount, Memory, Subject, Verb};

impl Draw<'_> {
    fn dims(&self, func: &str) -> Vec<String> {
        let Some(id) = self.func(func) else { return Vec::new() };
        let p = &self.plan.pipeline;
        p.funcs[id].args.iter().map(|&v| p.vars[v].clone()).collect()
    }

    /// The names of the dimensions of a Func's storage.
    fn stored(&self, func: &str) -> Vec<String> {
        let storage = self.func(func).map_or(&[][..], |id| &self.plan.funcs[id].storage);
        storage.iter().map(|s| s.name.clone()).collect()
    }

    /// The number of dimensions to be stored in blocks: none in most draws.
    fn blocks(&mut self) -> usize {
        if self.one_in(5) { 1 + usize::from(self.one_in(4)) } else { 0 }
    }

    /// Promises about the region of a Func.
    pub(super) fn bounds(&mut self, func: &str) {
        let dims = self.dims(func);
        let Some(var) = self.pick(&dims) else { return };
        // In loops of another a region is as large as a piece of that, and what is read beside it.
        let inside = self.func(func).is_some_and(|f| matches!(self.plan.funcs[f].compute, Level::At { .. }));
        let extent = if inside { self.one_of([1, 2, 3, 4, 5, 6, 8]) } else { self.one_of([1, 3, 4, 8, 16]) };
        let verb = match self.below(if inside { 7 } else { 4 }) {
            0 => Verb::Bound { var, min: Amount::Const(0), extent: Amount::Const(extent) },
            1 | 4.. => Verb::BoundExtent { var, extent: Amount::Const(extent) },
            2 => Verb::AlignBounds { var, modulus: self.one_of([2, 3, 8]), remainder: self.one_of([0, 1, -1]) },
            _ => Verb::AlignExtent { var, modulus: self.one_of([2, 5]) },
        };
        self.say(&Subject::func(func), verb);
    }

    pub(super) fn storage(&mut self, func: &str) {
        let subject = Subject::func(func);
        let Some(var) = self.pick(&self.dims(func)) else { return };
        let ours = self.func(func).is_some_and(|f| !self.plan.is_output(f));
        let blocks = if ours { self.blocks() } else { 0 };
        for _ in 0..blocks {
            let (dims, factor) = (self.dims(func), self.one_of([1, 2, 3, 4, 8, 16]));
            let (dim, outer, inner) = (self.pick(&dims).unwrap_or_default(), self.new_name(), self.new_name());
            self.say(&subject, Verb::SplitStorage { dim, outer, inner, factor });
        }
        let mut stored = self.stored(func);
        // An output's order asks for a caller who keeps it so.
        if (ours || self.options.any_shape) && self.one_in(if blocks > 0 { 2 } else { 4 }) {
            for i in (1..stored.len()).rev() {
                let other = self.below(i + 1);
                stored.swap(i, other);
            }
            self.say(&subject, Verb::ReorderStorage(stored.clone()));
        }
        if self.one_in(4) {
            let (multiple, var) = (self.one_of([2, 5, 16]), self.pick(&stored).unwrap_or_default());
            self.say(&subject, Verb::AlignStorage { var, multiple });
        }
        if self.gpu && self.one_in(4) {
            let memory = self.one_of([
                Memory::Shared,
                Memory::Shared,
                Memory::Global,
                Memory::Stack,
                Memory::Register,
                Memory::Register,
            ]);
            self.say(&subject, Verb::StoreIn(memory));
        }
        if self.gpu && self.one_in(8) {
            let to_device = self.one_in(2);
            self.say(&subject, Verb::Copy { to_device });
        }
        if self.one_in(6) {
            let memory = match self.options.any_shape {
                true => self.one_of([Memory::Heap, Memory::Stack, Memory::Register, Memory::Auto]),
                false => self.one_of([Memory::Heap, Memory::Auto]),
            };
            self.say(&subject, Verb::StoreIn(memory));
        }
        if self.options.any_shape && self.one_in(if let Aim::Folds(_) = self.options.aim { 4 } else { 6 }) {
            let (factor, forward) = (self.one_of([1, 2, 4, 8]), !self.one_in(4));
            self.say(&subject, Verb::FoldStorage { var, factor, forward });
        }
    }
}
