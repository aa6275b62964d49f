//! Threads that are lanes of a subgroup, and what they hold for each other.
//!
//! Drivers do not say how threads of a block become lanes of subgroups. So threads of a kernel of lanes take their
//! positions from the numbers of their subgroup and of their lane in it: these count the threads of a block if each
//! subgroup is full, as in a block of whole subgroups. Elements that lanes hold are variables of each thread; a load
//! shuffles the holder's, one for each element that a lane holds, and takes the one that it needs.

use super::builder::{Builder, V};
use super::memo::Lanes;
use super::places::Place;
use super::state::{Emitted, Gen, Stop};
use super::types::Reg;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::lanes::Held;
use halide_ir::{BufId, Expr, Kernel};
use naga::BinaryOperator::{Add, And, Divide, Equal, InclusiveOr, Less, Modulo, Multiply, Subtract};
use naga::{Expression, GatherMode, Handle, LocalVariable, Statement};

/// The size of the subgroups that a kernel runs in, if it speaks of lanes.
pub(super) fn subgroup_size(kernel: &Kernel, has: Option<u32>) -> Emitted<Option<u32>> {
    let row = kernel.threads[0];
    match (&kernel.lanes, has) {
        (None, _) => Ok(None),
        (Some(_), Some(size)) if row > 0 && size.is_multiple_of(row) => Ok(Some(size)),
        (Some(_), has) => Err(Stop::Subgroups(row, has)),
    }
}

/// The threads of a block as the device starts them: whole subgroups, if they are lanes.
pub(super) fn workgroup(kernel: &Kernel, subgroup: Option<u32>) -> [u32; 3] {
    let all: u32 = kernel.threads.iter().product();
    subgroup.map_or(kernel.threads, |size| [all.div_ceil(size) * size, 1, 1])
}

/// The position of a thread in its block, as I32s, from the numbers of its subgroup and of its lane in it; and whether
/// it has one, where a block has fewer threads than its subgroups have lanes.
pub(super) fn position(code: &mut Builder<'_>, kernel: &Kernel, size: u32, number: V, lane: V) -> ([V; 3], Option<V>) {
    let all: u32 = kernel.threads.iter().product();
    let constant = code.u32(size);
    let first = code.op(Multiply, number, constant);
    let at = code.op(Add, first, lane);
    let [x, y, _] = kernel.threads;
    let (x, y) = (code.u32(x), code.u32(y));
    let (column, row) = (code.op(Modulo, at, x), code.op(Divide, at, x));
    let (line, plane) = (code.op(Modulo, row, y), code.op(Divide, row, y));
    let position = [column, line, plane].map(|v| code.bits_as(Reg::I32, v));
    let runs = (!all.is_multiple_of(size)).then(|| {
        let all = code.u32(all);
        code.op(Less, at, all)
    });
    (position, runs)
}

impl Gen<'_> {
    /// The variables of what a lane holds of a buffer.
    pub(super) fn bind_held(&mut self, held: &Held) -> Emitted<()> {
        let ty = self.elem(held.buf)?;
        self.allowed(ty)?;
        let name = self.program.buffers[held.buf].name.clone();
        let reg = self.code.shader.reg(Reg::of_type(ty));
        let variables = (0..held.each).map(|i| self.code.variable(&format!("{name}_{i}"), reg)).collect();
        self.places.insert(held.buf, Place::Lanes { held: *held, variables });
        Ok(())
    }

    /// The lane of its row that holds an element, and at which of its places, both U32.
    fn holder(&mut self, held: &Held, element: V) -> (V, V) {
        let row = self.kernel.threads[0];
        let code = &mut self.code;
        let lane = code.shift_right(element, held.run.trailing_zeros());
        let last = code.u32(row - 1);
        let lane = code.op(And, lane, last);
        if held.each == 1 {
            return (lane, code.u32(0));
        }
        let turn = code.shift_right(element, (held.run * row).trailing_zeros());
        let turn = code.shift_left(turn, held.run.trailing_zeros());
        let place = match held.run {
            1 => turn,
            run => {
                let last = code.u32(run - 1);
                let rest = code.op(And, element, last);
                code.op(Add, turn, rest)
            }
        };
        let each = code.u32(held.each);
        (lane, code.op(Modulo, place, each))
    }

    /// Stores values that the thread holds.
    pub(super) fn store_held(
        &mut self,
        place: (&Held, &[Handle<LocalVariable>]),
        elements: &[V],
        values: &Lanes,
        mask: Option<&Lanes>,
    ) {
        let (held, variables) = place;
        for (i, (&element, &v)) in elements.iter().zip(values.iter()).enumerate() {
            let (_, slot) = self.holder(held, element);
            for (k, &variable) in (0..).zip(variables) {
                let to = self.code.place_of(variable);
                let here = self.is_place(held, slot, k);
                self.guarded(mask.map(|m| m[i]), |g| g.guarded(here, |g| g.code.store(to, v)));
            }
        }
    }
    /// Emits a test that the place `slot` of a lane is number `k`; `None` if a lane has only one place.
    fn is_place(&mut self, held: &Held, slot: V, k: u32) -> Option<V> {
        (held.each > 1).then(|| {
            let k = self.code.u32(k);
            self.code.op(Equal, slot, k)
        })
    }

    /// The elements at `index`, from whoever holds them; 0 where the mask is false. All lanes of the row are here.
    pub(super) fn load_held(
        &mut self,
        place: (&Held, &[Handle<LocalVariable>]),
        ty: ScalarType,
        index: &Expr,
        mask: Option<&Lanes>,
    ) -> Emitted<Lanes> {
        let (held, variables) = place;
        let at = self.elements(None, index)?;
        let elements = self.each_element(at, index.lanes());
        let mut made = Vec::new();
        for (i, element) in elements.into_iter().enumerate() {
            let (lane, slot) = self.holder(held, element);
            let from = self.lane_of_row(held.buf, lane)?;
            let mut found = None;
            for (k, &variable) in (0..).zip(variables) {
                let at = self.code.place_of(variable);
                let own = self.code.load(at);
                let v = self.shuffled(ty, own, from);
                found = Some(match (found, self.is_place(held, slot, k)) {
                    (Some(other), Some(here)) => self.code.select(Reg::of_type(ty), here, v, other),
                    _ => v,
                });
            }
            let v = found.ok_or_else(|| Stop::Malformed(format!("lanes hold nothing of {:?}", held.buf)))?;
            let zero = self.code.constant(Scalar::zero(ty));
            made.push(match mask {
                Some(mask) => self.code.select(Reg::of_type(ty), mask[i], v, zero),
                None => v,
            });
        }
        Ok(made.into())
    }
    /// The number in its subgroup of a lane of the thread's row.
    fn lane_of_row(&mut self, buf: BufId, lane: V) -> Emitted<V> {
        let Some(subgroup) = self.subgroup else {
            return Err(Stop::Malformed(format!("{buf:?} is held by lanes of no subgroup")));
        };
        let row = self.kernel.threads[0];
        if row == subgroup.size {
            return Ok(lane);
        }
        let code = &mut self.code;
        let last = code.u32(row - 1);
        let own = code.op(And, subgroup.lane, last);
        let first = code.op(Subtract, subgroup.lane, own);
        Ok(code.op(InclusiveOr, first, lane))
    }
    /// Emits a shuffle: the value that the lane `from` of the subgroup has for `own`.
    fn shuffled(&mut self, ty: ScalarType, own: V, from: V) -> V {
        if ty.bits() < 64 {
            let word = self.code.word_of_register(Reg::of_type(ty), own);
            let word = self.code.shuffle(word, from);
            return self.code.register_of_word(Reg::of_type(ty), word);
        }
        let [low, high] = self.code.words_of_value(ty, own).map(|word| self.code.shuffle(word, from));
        self.code.value_of_words(ty, low, high)
    }
}

impl Builder<'_> {
    /// The word that another lane of the subgroup has.
    fn shuffle(&mut self, word: V, from: V) -> V {
        let ty = self.shader.reg(Reg::U32);
        let result = self.unevaluated(Expression::SubgroupOperationResult { ty });
        self.push_stmt(Statement::SubgroupGather { mode: GatherMode::Shuffle(from), argument: word, result });
        result
    }
}
