//! A loop's rows rewritten to addresses relative to the pointers that they share.

use super::super::definitions::Definitions;
use super::super::inst::{Arg, Base, BlockId, Body, End, Inst, Mem, View};
use super::super::preheader::Preheader;
use super::super::simple_loop::SimpleLoop;
use super::super::value::Sum;
use super::plan::{Group, Origin, Reach};
use super::row::{Row, as_memory};
use regalloc2::VReg;

/// Rewrites the rows of groups; false if no group can be.
pub(super) fn rewrite(
    body: &mut Body,
    l: &SimpleLoop,
    definitions: &Definitions,
    rows: &[Row],
    groups: &[Group],
) -> bool {
    let planned = groups.iter().filter_map(|g| Some((g, starts(body, l, definitions, rows, g)?)));
    let planned: Vec<(&Group, Vec<Option<Start>>)> = planned.collect();
    let changed = !planned.is_empty();
    let mut rewriting = Rewriting { preheader: Preheader::new(body, l.preheader), l, rows, inserted: Vec::new() };
    planned.into_iter().for_each(|(group, starts)| rewriting.apply(group, starts));
    rewriting.insert();
    changed
}

/// A place in a loop: the block in its order, and the instruction in front of which it is, or the end.
type Place = (usize, usize);

/// The first value of a pointer.
enum Start {
    /// A sum that the preheader computes: of a register, if there is one, and a sum. What the row's addresses are
    /// relative to has this constant.
    Outside { base: Option<VReg>, rest: Sum, constant: i64 },
    /// The address `mem`, computed in the loop.
    Inside { mem: Mem, constant: i64 },
}

/// Returns the start of each pointer that is the address of a row; None if one cannot be computed where it is needed.
fn starts(
    body: &Body,
    l: &SimpleLoop,
    definitions: &Definitions,
    rows: &[Row],
    group: &Group,
) -> Option<Vec<Option<Start>>> {
    let places = places(l, rows, group);
    let all = group.cover.pointers.iter().zip(places).map(|(pointer, (block, at))| {
        let Origin::Row(row) = pointer.origin else { return Some(None) };
        let row = &rows[group.rows[row].0];
        let ((of, by, arg), constant) = row.sites[0];
        let constant = constant.wrapping_add(row.opened.start.constant);
        let mem = *as_memory(&body.blocks[of.0].insts[by].args[arg])?;
        if row.value.varying == Sum::default() {
            return Some(Some(outside(definitions, l, row, (&mem, constant))));
        }
        let place = (l.blocks[block].0, Some(at).filter(|at| *at != usize::MAX));
        let Base::Reg(base) = mem.base else { return None };
        let mut registers = std::iter::once(base).chain(mem.index.map(|(v, ..)| v));
        let known = registers.all(|v| definitions.is_known(l, v, place));
        let start = Start::Inside {
            mem: Mem { offset: 0, broadcast: false, ..mem },
            constant: constant.wrapping_sub(i64::from(mem.offset)),
        };
        known.then_some(Some(start))
    });
    all.collect()
}

/// The start of a pointer in the preheader: from the register that is the base of an address today, where the loop does
/// not change it.
fn outside(definitions: &Definitions, l: &SimpleLoop, row: &Row, (mem, constant): (&Mem, i64)) -> Start {
    match definitions.scaled_index(l, mem) {
        Some((base, index)) => Start::Outside {
            base: Some(base),
            constant: constant.wrapping_sub(i64::from(mem.offset)).wrapping_sub(index.start.constant),
            rest: Sum { constant: 0, ..index.start },
        },
        None => Start::Outside { base: None, rest: row.value.start.clone(), constant: row.opened.start.constant },
    }
}

/// Returns the place in front of all that uses each pointer: of its rows and of the pointers computed from it.
fn places(l: &SimpleLoop, rows: &[Row], group: &Group) -> Vec<Place> {
    let mut places = vec![(l.blocks.len() - 1, usize::MAX); group.cover.pointers.len()];
    for ((row, _), (pointer, _)) in group.rows.iter().zip(&group.cover.reached) {
        for ((block, at, _), _) in &rows[*row].sites {
            places[*pointer] = places[*pointer].min(place(l, *block, *at));
        }
    }
    for (i, pointer) in group.cover.pointers.iter().enumerate().rev() {
        if let Origin::Pointer(from, _) = pointer.origin {
            places[from] = places[from].min(places[i]);
        }
    }
    places
}

/// Returns the last place from which an instruction and all that comes later is reached on one way only.
fn place(l: &SimpleLoop, block: BlockId, at: usize) -> Place {
    let order = l.blocks.iter().position(|(b, _)| *b == block).unwrap_or(0);
    match l.blocks[..=order].iter().rposition(|(_, dominates)| *dominates) {
        Some(spine) if spine == order => (order, at),
        Some(spine) => (spine, usize::MAX),
        None => (0, 0),
    }
}

/// A loop under change.
struct Rewriting<'a> {
    preheader: Preheader<'a>,
    l: &'a SimpleLoop,
    rows: &'a [Row],
    /// Instructions that the loop gets, each before all others that use it.
    inserted: Vec<(Place, Inst)>,
}

impl Rewriting<'_> {
    fn apply(&mut self, group: &Group, starts: Vec<Option<Start>>) {
        let step = &self.rows[group.rows[0].0].value.step;
        let places = places(self.l, self.rows, group);
        // Each with its constant.
        let mut pointers: Vec<(VReg, i64)> = Vec::new();
        for ((pointer, start), place) in group.cover.pointers.iter().zip(starts).zip(places) {
            let made = match (pointer.origin, start) {
                (Origin::Pointer(from, reach), _) => {
                    let (base, constant) = pointers[from];
                    let index = self.index(group, reach);
                    (self.lea(place, Mem { index, ..Mem::at(base, 0) }), constant)
                }
                (_, Some(Start::Outside { base, rest, constant })) => {
                    let first = self.preheader.sum(&rest, base);
                    (self.carried(first, step), constant)
                }
                (_, Some(Start::Inside { mem, constant })) => (self.lea(place, mem), constant),
                (Origin::Row(_), None) => return,
            };
            pointers.push(made);
        }
        for ((row, _), (pointer, reach)) in group.rows.iter().zip(&group.cover.reached) {
            let (register, base) = pointers[*pointer];
            let index = self.index(group, *reach);
            for ((block, at, arg), constant) in &self.rows[*row].sites {
                // Rows are multiples of the stride from each other in terms of values around the function.
                let constant = constant.wrapping_add(self.rows[*row].opened.start.constant);
                let Arg::Mem(mem) = &mut self.preheader.body.blocks[block.0].insts[*at].args[*arg] else { continue };
                let Ok(offset) = i32::try_from(constant.wrapping_sub(base)) else { continue };
                *mem = Mem { base: Base::Reg(register), index, offset, ..*mem };
            }
        }
    }
    /// The index of an address so far from a pointer.
    fn index(&mut self, group: &Group, reach: Reach) -> Option<(VReg, View, u8)> {
        match reach {
            Reach::Here => None,
            Reach::Further { multiple, scale } => {
                Some((self.preheader.multiple(&group.stride, multiple), View::G64, scale))
            }
        }
    }
    /// A register that is `first` in the first iteration, and grows by `step`.
    fn carried(&mut self, first: VReg, step: &Sum) -> VReg {
        if *step == Sum::default() {
            return first;
        }
        let pointer = self.preheader.body.register(View::G64);
        let end = (self.l.blocks.iter().position(|(b, _)| *b == self.l.latch).unwrap_or(0), usize::MAX);
        let next = match i32::try_from(step.constant) {
            Ok(offset) if step.terms.is_empty() => Mem::at(pointer, offset),
            _ => {
                let step = self.preheader.sum(step, None);
                Mem { index: Some((step, View::G64, 1)), ..Mem::at(pointer, 0) }
            }
        };
        let next = self.lea(end, next);
        let body = &mut self.preheader.body;
        body.blocks[self.l.head().0].params.push(pointer);
        for (block, value) in [(self.l.preheader, first), (self.l.latch, next)] {
            if let Some(End::Jump(_, values)) = &mut body.blocks[block.0].end {
                values.push(value);
            }
        }
        pointer
    }
    fn lea(&mut self, place: Place, mem: Mem) -> VReg {
        let (to, inst) = self.preheader.body.lea(mem);
        self.inserted.push((place, inst));
        to
    }
    /// Puts the instructions of the loop where they belong.
    fn insert(mut self) {
        // The sort is stable, and so each stays behind what it uses.
        self.inserted.sort_by_key(|(place, _)| *place);
        let blocks = &mut self.preheader.body.blocks;
        let lengths: Vec<usize> = self.l.blocks.iter().map(|(b, _)| blocks[b.0].insts.len()).collect();
        for ((block, at), inst) in self.inserted.into_iter().rev() {
            blocks[self.l.blocks[block].0.0].insts.insert(at.min(lengths[block]), inst);
        }
    }
}
