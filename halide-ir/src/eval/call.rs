//! Calls of closures: buffers for them are made, filled, and their results stored, element by element, with all checks.

use super::code::{Handed, Instr, Reg};
use super::compile::{Body, Code, Compiler, Failed, malformed};
use super::error::{Check, EvalError};
use super::machine::{Machine, Outcome};
use super::storage::{Hole, Storage};
use crate::callee::CallArg;
use crate::sym::{BufId, CalleeId};
use halide_core::buffer::{AnyBuffer, Region, Span};
use halide_core::externs::ExternFault;
use halide_core::value::Scalar;

/// A box of a buffer in numbers.
struct Part {
    buf: BufId,
    region: Region,
    /// The first coordinate and the stride of each dimension of linear memory; `None` where coordinates are known.
    linear: Option<Vec<(i64, i64)>>,
}

impl Part {
    /// The position of an element in the storage; the error is the dimension in which it is outside, or the index.
    fn locate(&self, storage: &Storage, at: &[i32]) -> Result<usize, Outside> {
        let Some(dims) = &self.linear else {
            return storage.locate(|d| i64::from(at[d])).map_err(Outside::Dim);
        };
        let terms = at.iter().zip(dims).map(|(c, (min, stride))| (i64::from(*c) - min).wrapping_mul(*stride));
        let index = terms.fold(0, i64::wrapping_add);
        storage.linear_at(index).ok_or(Outside::Index(index))
    }
}

/// A place that a buffer does not have.
enum Outside {
    Dim(usize),
    Index(i64),
}

impl Compiler<'_> {
    pub(super) fn call(&mut self, callee: CalleeId, args: &[CallArg]) -> Result<Body, Failed> {
        if self.program.callees.get(callee).is_none_or(|row| row.results > args.len()) {
            return malformed(format!("{callee:?} is not in the table, or is handed too few buffers"));
        }
        let mut code = Code::default();
        let mut handed = Vec::new();
        for arg in args {
            let mut bounds = Vec::new();
            for (min, extent) in &arg.bounds {
                bounds.push((self.expr(min, &mut code)?, self.expr(extent, &mut code)?));
            }
            let mut memory = Vec::new();
            for [min, extent, stride] in &arg.memory {
                let (min, extent) = (self.expr(min, &mut code)?, self.expr(extent, &mut code)?);
                memory.push([min, extent, self.expr(stride, &mut code)?]);
            }
            handed.push(Handed { buf: arg.buf, bounds, memory });
        }
        let scratch = self.fresh(1);
        Ok(Body::Call { callee, code, args: handed, scratch })
    }
}

impl Machine<'_> {
    pub(super) fn call(&mut self, callee: CalleeId, code: &Code, args: &[Handed], scratch: Reg) -> Outcome {
        self.go_on()?;
        let parts = self.parts(&code.instrs, args)?;
        let row = &self.program.callees[callee];
        let (results, inputs) = parts.split_at(row.results);
        let Some(first) = results.first().filter(|part| !part.region.is_empty()) else { return Ok(()) };
        let Some(closure) = self.callees.get(callee.0 as usize) else {
            return Err(Box::new(EvalError::Arguments(format!("no closure is given for `{}`", row.name))));
        };
        let failed = |fault| Box::new(EvalError::Extern { callee, fault: Box::new(fault) });
        self.check_room(&parts)?;
        let mut hole = 0;
        let mut handed = Vec::new();
        for part in inputs {
            handed.push(self.filled(part, &mut hole)?.map_err(failed)?);
        }
        let params: Vec<Scalar> = row.params.iter().filter_map(|p| self.params.get(p.0 as usize).copied()).collect();
        let mut outputs = Vec::new();
        for (part, ty) in results.iter().zip(&closure.types) {
            outputs.push(match row.updates {
                true => self.filled(part, &mut hole)?.map_err(failed)?,
                false => AnyBuffer::with_region(*ty, &part.region).map_err(ExternFault::Buffers).map_err(failed)?,
            });
        }
        closure.call(&first.region, &params, &handed, &mut outputs).map_err(failed)?;
        for (part, output) in results.iter().zip(&outputs) {
            self.keep(part, output, (scratch, hole))?;
        }
        Ok(())
    }

    /// The boxes of a call.
    fn parts(&mut self, code: &[Instr], args: &[Handed]) -> Result<Vec<Part>, Box<EvalError>> {
        let tracked = self.eval(code)?;
        let known = |reg: Reg| self.certain(tracked, reg, "an end of a box");
        let mut parts = Vec::new();
        for arg in args {
            let span = |(min, extent): &(Reg, Reg)| Ok(Span { min: known(*min)?, extent: known(*extent)?.max(0) });
            let region = arg.bounds.iter().map(span).collect::<Result<Region, Box<EvalError>>>()?;
            let place = |[min, _, stride]: &[Reg; 3]| Ok((known(*min)?, known(*stride)?));
            let linear = arg.memory.iter().map(place).collect::<Result<Vec<_>, Box<EvalError>>>()?;
            let linear = (!linear.is_empty() || region.dims() == 0).then_some(linear);
            parts.push(Part { buf: arg.buf, region, linear });
        }
        Ok(parts)
    }

    /// Checks that the run may have the memory of the buffers of a call.
    fn check_room(&self, parts: &[Part]) -> Outcome {
        for part in parts {
            let bytes = self.program.buffers[part.buf].elem.bytes() as u64;
            let bytes = part.region.points().unwrap_or(u64::MAX).saturating_mul(bytes);
            self.room(bytes).map_err(|over| Box::new(EvalError::OverCap { buf: part.buf, over }))?;
        }
        Ok(())
    }

    /// A buffer with the elements of a box. `hole` becomes the hole of one that was never written.
    fn filled(&mut self, part: &Part, hole: &mut u32) -> Result<Result<AnyBuffer, ExternFault>, Box<EvalError>> {
        let ty = self.program.buffers[part.buf].elem;
        let mut buffer = match AnyBuffer::with_region(ty, &part.region) {
            Ok(buffer) => buffer,
            Err(error) => return Ok(Err(ExternFault::Buffers(error))),
        };
        for at in part.region.coords() {
            let place = self.place_of(part, &at, Check::ReadOutside)?;
            let found = self.memory[part.buf].as_ref().map(|storage| storage.fetch(place, |d| i64::from(at[d])));
            self.note_read(part.buf, place)?;
            let bits = match found {
                Some(Ok(bits)) => bits,
                Some(Err(Hole::Garbage(earlier))) => {
                    *hole = earlier;
                    0
                }
                _ => {
                    let name = &self.program.buffers[part.buf].name;
                    let text = format!("`{name}`{at:?}, which was never written");
                    *hole = self.new_hole(|| text);
                    0
                }
            };
            let value = Scalar::from_bits(ty, bits);
            if let Err(error) = buffer.set(&at, value) {
                return Ok(Err(ExternFault::Buffers(error)));
            }
        }
        Ok(Ok(buffer))
    }

    /// Stores all elements of a result. Where an input had a hole, they all depend on it.
    fn keep(&mut self, part: &Part, output: &AnyBuffer, (scratch, hole): (Reg, u32)) -> Outcome {
        for at in part.region.coords() {
            let place = self.place_of(part, &at, Check::WriteOutside)?;
            let bits = output.get(&at).map_or(0, |value| value.bits());
            self.regs[scratch as usize] = bits;
            self.note_write(part.buf, place, scratch)?;
            if let Some(storage) = &mut self.memory[part.buf] {
                storage.put(place, bits, hole, |d| i64::from(at[d]));
            }
        }
        Ok(())
    }

    fn place_of(&self, part: &Part, at: &[i32], check: Check) -> Result<usize, Box<EvalError>> {
        let Some(storage) = &self.memory[part.buf] else { return Err(self.no_storage(part.buf)) };
        part.locate(storage, at).map_err(|outside| match outside {
            Outside::Dim(dim) => self.outside(check, part.buf, at.iter().map(|c| i64::from(*c)).collect(), dim),
            Outside::Index(index) => self.outside_linear(check, part.buf, index),
        })
    }
}
