//! Stores.
//!
//! Small elements of a buffer share words. Where the kernel writes whole words, the elements of one are put together
//! (see [`super::run`]). Where it writes pieces, it clears the bits of its elements by an atomic operation and sets
//! them by another, which leaves the bits of others alone. Two threads may store the same value to one element (where
//! the last tile is moved inwards): whichever clears last, its own value is set after that. Nobody loads the element
//! meanwhile, for that would be a race.

use super::builder::V;
use super::load::constant_lanes;
use super::memo::Lanes;
use super::places::{At, Place};
use super::run::{Run, for_all};
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_ir::{BufId, Expr, Writes};
use naga::BinaryOperator::{And, Equal, ExclusiveOr, ShiftLeft};
use naga::{AtomicFunction, Block, Statement};

impl Gen<'_> {
    /// Stores lanes, but those whose mask is false.
    pub(super) fn store(&mut self, buf: BufId, index: &Expr, value: &Expr, mask: Option<&Expr>) -> Emitted<()> {
        if !self.in_phase {
            return Err(Stop::Malformed(format!("{buf:?} is stored to outside of loops over threads")));
        }
        let (place, ty) = (self.place(buf)?, self.elem(buf)?);
        let values = self.eval(value)?;
        let values = match place.is_read() {
            true => self.code.each(&values, |c, v| c.settled(Reg::of_type(ty), v)),
            false => values,
        };
        let mask = mask.map(|m| self.eval(m)).transpose()?;
        match &place {
            Place::Registers(variables) => {
                let wrong = || Stop::Malformed(format!("{buf:?} is stored to where it has no element"));
                for (lane, at) in constant_lanes(index).ok_or_else(wrong)?.into_iter().enumerate() {
                    let variable = *variables.get(&at).ok_or_else(wrong)?;
                    let to = self.code.place_of(variable);
                    self.guarded(mask.as_ref().map(|m| m[lane]), |g| g.code.store(to, values[lane]));
                }
            }
            Place::Lanes { held, variables } => {
                let at = self.elements(None, index)?;
                let elements = self.each_element(at, index.lanes());
                self.store_held((held, variables), &elements, &values, mask.as_ref());
            }
            _ => {
                let origin = if let Place::Buffer { offset, .. } = place { Some(offset) } else { None };
                let at = self.elements(origin, index)?;
                let small = matches!(place, Place::Buffer { .. }) && ty.bytes() < 4;
                match at {
                    At::Dense(first) if small => {
                        let run = Run { ty, first, rest: self.rest(index, 4 / ty.bytes() as u32), values: &values };
                        self.store_run(buf, &place, &run, mask.as_ref())?;
                    }
                    _ => self.store_elements(buf, &place, ty, at, &values, mask.as_ref())?,
                }
            }
        }
        self.memo.stored(buf);
        Ok(())
    }
    fn store_elements(
        &mut self,
        buf: BufId,
        place: &Place,
        ty: ScalarType,
        at: At,
        values: &Lanes,
        mask: Option<&Lanes>,
    ) -> Emitted<()> {
        if let Place::Buffer { writes: Writes::Words, .. } = place
            && ty.bytes() < 4
        {
            return Err(Stop::Malformed(format!("a store to {buf:?} does not write whole words")));
        }
        let elements = self.each_element(at, values.len() as u16);
        if let Some(all) = for_all(mask) {
            self.guarded(Some(all), |g| {
                elements.iter().zip(values.iter()).for_each(|(&e, &v)| g.store_element(place, ty, e, v));
            });
            return Ok(());
        }
        for (lane, (&element, &v)) in elements.iter().zip(values.iter()).enumerate() {
            self.guarded(mask.map(|m| m[lane]), |g| g.store_element(place, ty, element, v));
        }
        Ok(())
    }
    /// Runs `body` where the condition is true.
    pub(super) fn guarded(&mut self, condition: Option<V>, body: impl FnOnce(&mut Self)) {
        let Some(condition) = condition else {
            return body(self);
        };
        let condition = self.code.plain_truth(condition);
        self.open();
        body(self);
        let accept = self.close();
        self.code.push_stmt(Statement::If { condition, accept, reject: Block::new() });
    }

    fn store_element(&mut self, place: &Place, ty: ScalarType, element: V, v: V) {
        let reg = Reg::of_type(ty);
        match place {
            Place::Buffer { .. } if ty.bytes() < 4 => self.store_piece(place, ty, element, v),
            Place::Buffer { .. } if ty.bytes() == 4 => {
                let word = self.code.word_of_value(ty, v);
                self.store_word(place, element, word);
            }
            Place::Shared { first_word, .. } if ty.bytes() < 8 => {
                let (at, word) = (self.code.plus(element, i64::from(*first_word)), self.code.word_of_register(reg, v));
                self.store_word(place, at, word);
            }
            Place::Buffer { .. } | Place::Shared { .. } => {
                let first = if let Place::Shared { first_word, .. } = place { *first_word } else { 0 };
                let [low, high] = self.code.words_of_value(ty, v);
                let at = self.code.shift_left(element, 1);
                let at = self.code.plus(at, first.into());
                let next = self.code.plus(at, 1);
                self.store_word(place, at, low);
                self.store_word(place, next, high);
            }
            Place::Array(variable) => {
                let v = if reg == Reg::Bool { self.code.word_of_register(reg, v) } else { v };
                let array = self.code.place_of(*variable);
                let at = self.code.element(array, element);
                self.code.store(at, v);
            }
            // Stores to these know their variables.
            Place::Registers(_) | Place::Lanes { .. } => {}
        }
    }
    pub(super) fn store_word(&mut self, place: &Place, word: V, value: V) {
        if let Place::Buffer { array, .. } | Place::Shared { array, .. } = place {
            let array = self.code.place_of_global(*array);
            let at = self.code.element(array, word);
            self.code.store(at, value);
        }
    }

    /// A small element, among others of its word.
    fn store_piece(&mut self, place: &Place, ty: ScalarType, element: V, v: V) {
        let (word, shift) = self.code.word_and_shift(ty.bytes() as u32, element);
        let (value, mask) = (self.code.word_of_value(ty, v), self.code.u32((1 << (8 * ty.bytes())) - 1));
        let (value, mask) = (self.code.op(ShiftLeft, value, shift), self.code.op(ShiftLeft, mask, shift));
        self.clear_and_set(place, word, value, mask);
    }
    /// Makes those bits of a word that are set in `mask` those of `value`.
    pub(super) fn change_bits(&mut self, place: &Place, word: V, value: V, mask: V) {
        // Nearly all words are stored whole: those that are not are at the ends of rows.
        let all = self.code.u32(u32::MAX);
        let condition = self.code.op(Equal, mask, all);
        self.open();
        self.store_word(place, word, value);
        let accept = self.close();
        self.open();
        self.clear_and_set(place, word, value, mask);
        let reject = self.close();
        self.code.push_stmt(Statement::If { condition, accept, reject });
    }
    fn clear_and_set(&mut self, place: &Place, word: V, value: V, mask: V) {
        let Place::Buffer { array, .. } = place else {
            return;
        };
        let all = self.code.u32(u32::MAX);
        let others = self.code.op(ExclusiveOr, mask, all);
        let own = self.code.op(And, value, mask);
        let array = self.code.place_of_global(*array);
        let pointer = self.code.element(array, word);
        for (fun, value) in [(AtomicFunction::And, others), (AtomicFunction::InclusiveOr, own)] {
            self.code.push_stmt(Statement::Atomic { pointer, fun, value, result: None });
        }
    }
}
