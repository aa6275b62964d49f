//! Addresses: what stays the same in a loop is added outside of it, what changes most is the index register.

use super::super::interface::{Capture, Emitted, refuse};
use super::super::machine::{Arg, Base, Mem, View};
use super::kernel::Emit;
use super::places::Place;
use super::value::Val;
use crate::shared::linear::Linear;
use halide_core::types::ScalarType;
use halide_ir::code_place::CodePart;
use halide_ir::{BufId, BufferRole, Cache, Expr, Sym, Type, build};
use iced_x86::Code;
use regalloc2::VReg;

impl Emit<'_> {
    /// The place of a buffer that is visible here, and its element type.
    pub(super) fn place_of(&mut self, buf: BufId) -> Emitted<(Place, ScalarType)> {
        let info = &self.program.buffers[buf];
        let elem = info.elem;
        if let Some(known) = self.slots.places.get(&buf) {
            return Ok((*known, elem));
        }
        if info.role == BufferRole::Internal && !self.around.in_memory(buf) {
            return refuse(format!("{} is in registers", info.name));
        }
        let symbol = self.pointer_symbol(buf);
        let word = self.capture(Capture::Buffer(buf), 1);
        let pointer = self.at_start(|e| {
            let mem = e.word(word);
            e.unpack(mem, Type::INDEX)
        })?;
        self.symbols.insert(symbol, (pointer, 0));
        self.slots.places.insert(buf, Place::Pointer(symbol));
        Ok((Place::Pointer(symbol), elem))
    }

    /// `Stmt::Prefetch`. What is in registers or in the frame is near already.
    pub(super) fn prefetch(&mut self, buf: BufId, at: &[Expr], cache: Cache) -> Emitted<()> {
        let outside = self.program.buffers[buf].role == BufferRole::Internal && !self.slots.places.contains_key(&buf);
        let [index] = at else { return refuse("a prefetch of storage that is not linear") };
        if outside && !self.around.in_memory(buf) {
            return Ok(());
        }
        let (place, elem) = self.place_of(buf)?;
        if let Place::Pointer(_) = place {
            let linear = self.linear(index);
            let mem = self.address(place, elem.bytes(), &linear)?;
            let code = match cache {
                Cache::First => Code::Prefetcht0_m8,
                Cache::Second => Code::Prefetcht1_m8,
            };
            self.push(code, vec![Arg::Mem(mem)]);
        }
        Ok(())
    }

    /// The symbol that stands for the address of a buffer: one that no program has.
    pub(super) fn pointer_symbol(&self, buf: BufId) -> Sym {
        Sym::Temp(self.program.next_temp + buf.0)
    }

    /// The address of lane 0 of an index, but for the parts of it that are vectors. `size` is that of an element.
    pub(super) fn address(&mut self, place: Place, size: usize, index: &Linear) -> Emitted<Mem> {
        self.for_purpose(CodePart::Address, |e| e.address_at(place, size, index))
    }
    fn address_at(&mut self, place: Place, size: usize, index: &Linear) -> Emitted<Mem> {
        let mut terms: Vec<(usize, &Expr, i64)> =
            index.terms.iter().map(|(e, factor)| (self.home(e), e, factor.wrapping_mul(size as i64))).collect();
        terms.sort_by_key(|(level, ..)| *level);
        let mut offset = index.constant.wrapping_mul(size as i64);
        let far = offset.unsigned_abs() >= 1 << 30;
        let extra = if far { std::mem::take(&mut offset) } else { 0 };
        let offset = offset as i32;
        match place {
            Place::Registers => refuse("the address of registers"),
            Place::Frame(start) if far => refuse(format!("an offset of {extra} from {start} in the frame")),
            Place::Frame(start) => {
                let mut mem = self.frame(start).plus(offset);
                mem.index = self.index_register(&terms)?;
                Ok(mem)
            }
            Place::Pointer(symbol) => {
                let changing = terms.last().map_or(0, |(level, ..)| self.loops(*level));
                let split = terms.partition_point(|(level, ..)| self.loops(*level) < changing);
                let (outer, inner) = if changing == 0 { (&terms[..], &terms[..0]) } else { terms.split_at(split) };
                let mut base = build::typed_sym(symbol, Type::INDEX);
                for (_, e, factor) in outer {
                    base = build::add(base, build::mul((*e).clone(), build::int(*factor)));
                }
                if far {
                    base = build::add(base, build::int(extra));
                }
                let base = self.scalar(&base)?;
                let index = self.index_register(inner)?;
                Ok(Mem { base: Base::Reg(base), index, offset, broadcast: false })
            }
        }
    }
    /// The sum of terms, in bytes, as an index register and its scale.
    fn index_register(&mut self, terms: &[(usize, &Expr, i64)]) -> Emitted<Option<(VReg, View, u8)>> {
        match terms {
            [] => Ok(None),
            [(_, e, factor @ (1 | 2 | 4 | 8))] => Ok(Some((self.scalar(e)?, View::G64, *factor as u8))),
            _ => {
                let products = terms.iter().map(|(_, e, factor)| build::mul((*e).clone(), build::int(*factor)));
                let sum = products.reduce(build::add).unwrap_or_else(|| build::int(0));
                Ok(Some((self.scalar(&sum)?, View::G64, 1)))
            }
        }
    }
    /// The same address in one register.
    pub(super) fn flat(&mut self, mem: Mem) -> Mem {
        if mem.index.is_none() && matches!(mem.base, Base::Reg(_)) {
            return mem;
        }
        let to = self.register(View::G64);
        let source = Mem { offset: mem.offset, ..mem };
        self.push(Code::Lea_r64_m, vec![Arg::Def(to, View::G64), Arg::Mem(source)]);
        Mem::at(to, 0)
    }
    /// The address of each lane.
    pub(super) fn lane_addresses(
        &mut self,
        first: Mem,
        size: usize,
        index: &Linear,
        lanes: usize,
    ) -> Emitted<Vec<Mem>> {
        let offsets = match index.vectors.is_empty() {
            true => None,
            false => Some(self.vector_offsets(index, size)?),
        };
        let row = match index.steps.is_empty() {
            true => (0..lanes as i64)
                .map(|i| match i32::try_from(index.step.wrapping_mul(i).wrapping_mul(size as i64)) {
                    Ok(d) if d.unsigned_abs() < 1 << 29 => Ok(first.plus(d)),
                    _ => refuse("lanes far from each other"),
                })
                .collect::<Emitted<Vec<_>>>()?,
            false => self.row_of_lanes(first, size, index, lanes)?,
        };
        let Some(offsets) = offsets else { return Ok(row) };
        let mut all = Vec::with_capacity(lanes);
        for (i, mem) in row.into_iter().enumerate() {
            let offset = self.lane_of(&offsets, i)?;
            all.push(Mem { index: Some((offset, View::G64, 1)), ..self.flat(mem) });
        }
        Ok(all)
    }
    /// The addresses of lanes that are a number of elements apart which is known when the code runs. Each fourth
    /// one is in a register; those between are one, two and three steps further.
    fn row_of_lanes(&mut self, first: Mem, size: usize, index: &Linear, lanes: usize) -> Emitted<Vec<Mem>> {
        let factors = index.steps.iter().map(|(e, factor)| build::mul(e.clone(), build::int(*factor)));
        let step = build::mul(factors.fold(build::int(index.step), build::add), build::int(size as i64));
        let step = self.scalar(&step)?;
        let three = (lanes > 3).then(|| self.address_of(step, Some((step, 2)), 0));
        let mut fourth = self.flat(first);
        let mut all = Vec::with_capacity(lanes);
        for i in 0..lanes {
            if i > 0 && i % 4 == 0 {
                let Base::Reg(base) = fourth.base else { return refuse("lanes of constants") };
                fourth = Mem::at(self.address_of(base, Some((step, 4)), fourth.offset), 0);
            }
            let further = match i % 4 {
                0 => None,
                3 => three.map(|three| (three, View::G64, 1)),
                n => Some((step, View::G64, n as u8)),
            };
            all.push(Mem { index: further, ..fourth });
        }
        Ok(all)
    }
    /// The parts of an index that are vectors, in bytes, as 64-bit lanes.
    fn vector_offsets(&mut self, index: &Linear, size: usize) -> Emitted<super::value::Parts> {
        let sum = self.vector_sum(index, size as i64)?;
        self.lanes(&sum)
    }
    /// The parts of an index that are vectors, times `size`.
    pub(super) fn vector_sum(&mut self, index: &Linear, size: i64) -> Emitted<Expr> {
        let products = index.vectors.iter().map(|(e, factor)| match factor.wrapping_mul(size) {
            1 => e.clone(),
            f => build::mul(e.clone(), build::broadcast(build::int(f), e.lanes())),
        });
        match products.reduce(build::add) {
            Some(sum) => Ok(sum),
            None => refuse("an index without vectors"),
        }
    }
    fn loops(&self, level: usize) -> usize {
        self.levels[level].loops
    }
    /// Gives a symbol its value, which is of this level.
    pub(super) fn define(&mut self, symbol: Sym, value: Val, level: usize) {
        if !self.memo.bind(symbol) {
            self.sums.clear();
        }
        self.symbols.insert(symbol, (value, level));
    }
}
