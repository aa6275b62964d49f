//! Stores: by coordinates and by linear index.

use super::code::Reg;
use super::compile::Code;
use super::error::{Check, EvalError};
use super::machine::{Machine, Outcome};
use super::watch::Event;
use crate::hash::Map;
use crate::sym::BufId;
use halide_core::value::Scalar;

impl Machine<'_> {
    pub(super) fn provide(
        &mut self,
        code: &Code,
        args: &[Reg],
        values: &[(BufId, Reg)],
        mask: Option<Reg>,
        lanes: u16,
    ) -> Outcome {
        let tracked = self.eval(&code.instrs)?;
        let at_once = lanes > 1 && !self.ascend(args, lanes);
        for &(buf, value) in values {
            let mut stored = Map::default();
            for lane in 0..lanes as u32 {
                if !self.enabled(tracked, mask, lane)? {
                    continue;
                }
                if tracked {
                    args.iter()
                        .try_for_each(|&a| self.certain(true, a + lane, "a coordinate stored to").map(|_| ()))?;
                }
                let regs = &self.regs;
                let coordinate = |d: usize| regs[(args[d] + lane) as usize] as i64;
                let Some(storage) = &self.memory[buf] else {
                    return Err(self.no_storage(buf));
                };
                let at = match storage.locate(coordinate) {
                    Ok(at) => at,
                    Err(dim) => {
                        let coords = (0..args.len()).map(coordinate).collect();
                        return Err(self.outside(Check::WriteOutside, buf, coords, dim));
                    }
                };
                self.note_write(buf, at, value + lane)?;
                if at_once {
                    self.lanes_agree(buf, at, value + lane, &mut stored)?;
                }
                let hole = if tracked { self.holes[(value + lane) as usize] } else { 0 };
                let (regs, memory) = (&self.regs, &mut self.memory);
                let (bits, coordinate) =
                    (regs[(value + lane) as usize], |d: usize| regs[(args[d] + lane) as usize] as i64);
                if let Some(storage) = &mut memory[buf] {
                    storage.put(at, bits, hole, coordinate);
                }
                if let Some(watch) = &mut self.watch {
                    let ty = self.program.buffers[buf].elem;
                    let value = (hole == 0).then(|| Scalar::from_bits(ty, bits));
                    (watch.tell)(Event::Store { buf, at: (0..args.len()).map(coordinate).collect(), value });
                }
            }
        }
        Ok(())
    }

    pub(super) fn store(
        &mut self,
        code: &Code,
        buf: BufId,
        index: Reg,
        value: Reg,
        mask: Option<Reg>,
        lanes: u16,
    ) -> Outcome {
        let tracked = self.eval(&code.instrs)?;
        if self.block.is_some() && self.inside[buf].is_none() && mask.is_none() {
            let indices: Vec<i64> = (index..index + u32::from(lanes)).map(|r| self.regs[r as usize] as i64).collect();
            self.whole_words(buf, &indices)?;
        }
        let at_once = lanes > 1 && !self.ascend(&[index], lanes);
        let mut stored = Map::default();
        for lane in 0..lanes as u32 {
            if !self.enabled(tracked, mask, lane)? {
                continue;
            }
            let i = self.certain(tracked, index + lane, "an index stored to")?;
            let Some(storage) = &self.memory[buf] else {
                return Err(self.no_storage(buf));
            };
            let Some(at) = storage.linear_at(i) else {
                return Err(self.outside_linear(Check::WriteOutside, buf, i));
            };
            self.note_write(buf, at, value + lane)?;
            if at_once {
                self.lanes_agree(buf, at, value + lane, &mut stored)?;
            }
            let hole = if tracked { self.holes[(value + lane) as usize] } else { 0 };
            let bits = self.regs[(value + lane) as usize];
            if let Some(storage) = &mut self.memory[buf] {
                storage.put(at, bits, hole, |_| 0);
            }
        }
        Ok(())
    }

    /// Returns true if lanes are obviously at places of their own: some coordinate rises from each to the next.
    fn ascend(&self, args: &[Reg], lanes: u16) -> bool {
        let value = |r: Reg| self.regs[r as usize] as i64;
        args.iter().any(|&a| (a + 1..a + u32::from(lanes)).all(|r| value(r - 1) < value(r)))
    }

    /// Checks that no two lanes of one store leave different values at one place: which of them stays is not said.
    fn lanes_agree(&self, buf: BufId, at: usize, value: Reg, stored: &mut Map<usize, u64>) -> Outcome {
        let bits = self.regs[value as usize];
        match stored.insert(at, bits) {
            Some(other) if other != bits => {
                let place = self.memory[buf].as_ref().map_or(String::new(), |s| s.place(at));
                let message = format!("two lanes of one store write `{}`{place}", self.program.buffers[buf].name);
                Err(EvalError::failed(Check::Race, message))
            }
            _ => Ok(()),
        }
    }

    fn enabled(&self, tracked: bool, mask: Option<Reg>, lane: u32) -> Result<bool, Box<EvalError>> {
        match mask {
            None => Ok(true),
            Some(m) => Ok(self.certain(tracked, m + lane, "a mask of a store")? != 0),
        }
    }
}
