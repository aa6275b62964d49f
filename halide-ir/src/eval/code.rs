//! Expressions as straight-line code on numbered registers. A register is one lane; a vector is a run of them. A lane
//! holds an i64 (Index) or the zero-extended bits of a scalar.

use super::error::{Check, EvalError};
use super::machine::{Machine, Stop};
use super::storage::Hole;
use crate::expr::{Elem, Intrinsic};
use crate::intrinsic;
use crate::sym::BufId;
use halide_core::ops::{BinOp, MathFn, UnOp};
use halide_core::types::ScalarType;
use halide_core::value::{self, Scalar};

/// The first lane of a value.
pub(super) type Reg = u32;

/// One operation on every lane.
pub(super) struct Instr {
    pub(super) op: Op,
    pub(super) dst: Reg,
    pub(super) lanes: u16,
}

/// A box of a buffer that a closure is handed: registers of what [`CallArg`](crate::CallArg) has.
pub(super) struct Handed {
    pub(super) buf: BufId,
    pub(super) bounds: Vec<(Reg, Reg)>,
    pub(super) memory: Vec<[Reg; 3]>,
}

/// The operation of an instruction, with its operands.
pub(super) enum Op {
    /// The operand.
    Copy(Reg),
    /// An operation on Index lanes.
    Index(BinOp, Reg, Reg),
    /// The negative of Index lanes.
    IndexNeg(Reg),
    /// One operand of a type.
    Unary(UnOp, ScalarType, Reg),
    /// Two operands; the second type differs from the first for shifts only.
    Binary(BinOp, (ScalarType, Reg), (ScalarType, Reg)),
    /// Condition and arms.
    Select(Reg, Reg, Reg),
    /// A conversion between kinds of lanes.
    Convert(Conversion, Elem, Elem, Reg),
    /// A transcendental function.
    Math(MathFn, ScalarType, Vec<Reg>),
    /// An integer idiom.
    Intrinsic(Intrinsic, ScalarType, Reg, Reg),
    /// An element by its coordinates.
    Read(BufId, Vec<Reg>),
    /// An element by its linear index, where the mask is true.
    Load(BufId, Reg, Option<Reg>),
    /// Base and stride.
    Ramp(Reg, Reg),
    /// A scalar.
    Broadcast(Reg),
    /// One register per lane.
    Gather(Vec<Reg>),
}

/// The kinds of type conversion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Conversion {
    Cast,
    Saturating,
    Reinterpret,
}

/// The bits that code computes with in place of a hole: unlikely to be harmless.
const GARBAGE: u64 = 0xa5a5_a5a5_a5a5_a5a5;

impl Machine<'_> {
    /// Runs `code`. Without `TRACK` it stops at the first hole it loads; with it, every lane carries the hole that it
    /// depends on.
    pub(super) fn exec<const TRACK: bool>(&mut self, code: &[Instr]) -> Result<(), Stop> {
        for instr in code {
            let dst = instr.dst as usize;
            for lane in 0..instr.lanes as usize {
                let bits = self.lane::<TRACK>(&instr.op, dst, lane)?;
                self.regs[dst + lane] = bits;
            }
        }
        Ok(())
    }

    /// One lane of one operation; marks the lane's hole if it tracks them.
    #[inline]
    fn lane<const TRACK: bool>(&mut self, op: &Op, dst: usize, lane: usize) -> Result<u64, Stop> {
        let at = |r: Reg| r as usize + lane;
        let get = |r: Reg| self.regs[at(r)];
        let (bits, operands): (u64, [Reg; 2]) = match op {
            Op::Copy(a) => (get(*a), [*a; 2]),
            Op::Index(op, a, b) => match index_binary(*op, get(*a) as i64, get(*b) as i64) {
                Some(v) => (v as u64, [*a, *b]),
                None if TRACK && self.hole_of(at(*a)) | self.hole_of(at(*b)) != 0 => (GARBAGE, [*a, *b]),
                None => return Err(overflow(*op, get(*a) as i64, get(*b) as i64)),
            },
            Op::IndexNeg(a) => match (get(*a) as i64).checked_neg() {
                Some(v) => (v as u64, [*a; 2]),
                None => return Err(overflow(BinOp::Sub, 0, i64::MIN)),
            },
            Op::Unary(op, ty, a) => (value::unary(*op, Scalar::from_bits(*ty, get(*a))).bits(), [*a; 2]),
            Op::Binary(op, (t, a), (u, b)) => {
                let (x, y) = (Scalar::from_bits(*t, get(*a)), Scalar::from_bits(*u, get(*b)));
                (value::binary(*op, x, y).bits(), [*a, *b])
            }
            Op::Select(c, a, b) => {
                let arm = if get(*c) != 0 { *a } else { *b };
                (get(arm), [*c, arm])
            }
            Op::Convert(how, from, to, a) => match convert(*how, *from, *to, get(*a)) {
                Some(v) => (v, [*a; 2]),
                None if TRACK && self.hole_of(at(*a)) != 0 => (GARBAGE, [*a; 2]),
                None => {
                    let message = format!("{} is no 64-bit index", get(*a));
                    return Err(EvalError::failed(Check::IndexOverflow, message).into());
                }
            },
            Op::Math(f, ty, args) => {
                let values: Vec<Scalar> = args.iter().map(|&a| Scalar::from_bits(*ty, get(a))).collect();
                let hole = args.iter().copied().find(|a| TRACK && self.hole_of(at(*a)) != 0);
                (value::math(*f, &values).bits(), [args[0], hole.unwrap_or(args[0])])
            }
            Op::Intrinsic(op, ty, a, b) => {
                let (x, y) = (Scalar::from_bits(*ty, get(*a)), Scalar::from_bits(*ty, get(*b)));
                (intrinsic::apply(*op, x, y).bits(), [*a, *b])
            }
            Op::Read(buf, args) => return self.read::<TRACK>(*buf, args, dst, lane),
            Op::Load(buf, index, mask) => return self.load::<TRACK>(*buf, *index, *mask, dst, lane),
            Op::Ramp(base, stride) => return self.ramp::<TRACK>(*base, *stride, dst, lane),
            Op::Broadcast(a) => return Ok(self.copied::<TRACK>(*a as usize, dst + lane)),
            Op::Gather(sources) => return Ok(self.copied::<TRACK>(sources[lane] as usize, dst + lane)),
        };
        if TRACK {
            self.holes[dst + lane] = self.hole_of_result(op, at(operands[0]), at(operands[1]));
        }
        Ok(bits)
    }

    fn hole_of(&self, reg: usize) -> u32 {
        self.holes[reg]
    }

    /// The hole of a result: of either operand, but that `false && hole` and `true || hole` are known.
    fn hole_of_result(&self, op: &Op, a: usize, b: usize) -> u32 {
        let (x, y) = (self.holes[a], self.holes[b]);
        let absorbing = match op {
            Op::Binary(BinOp::BitAnd, (ScalarType::Bool, _), _) => Some(0),
            Op::Binary(BinOp::BitOr, (ScalarType::Bool, _), _) => Some(1),
            _ => None,
        };
        let decided = |hole: u32, reg: usize| hole == 0 && Some(self.regs[reg]) == absorbing;
        if decided(x, a) || decided(y, b) {
            return 0;
        }
        if x != 0 { x } else { y }
    }

    fn copied<const TRACK: bool>(&mut self, from: usize, to: usize) -> u64 {
        if TRACK {
            self.holes[to] = self.holes[from];
        }
        self.regs[from]
    }

    fn ramp<const TRACK: bool>(&mut self, base: Reg, stride: Reg, dst: usize, lane: usize) -> Result<u64, Stop> {
        let (b, s) = (self.regs[base as usize] as i64, self.regs[stride as usize] as i64);
        if TRACK {
            self.holes[dst + lane] = self.holes[base as usize].max(self.holes[stride as usize]);
        }
        match s.checked_mul(lane as i64).and_then(|step| b.checked_add(step)) {
            Some(v) => Ok(v as u64),
            None if TRACK && self.holes[dst + lane] != 0 => Ok(GARBAGE),
            None => Err(overflow(BinOp::Add, b, s)),
        }
    }

    /// An element by its coordinates.
    fn read<const TRACK: bool>(&mut self, buf: BufId, args: &[Reg], dst: usize, lane: usize) -> Result<u64, Stop> {
        let regs = &self.regs;
        let coordinate = |d: usize| regs[args[d] as usize + lane] as i64;
        let Some(storage) = &self.memory[buf] else {
            return Err(self.no_storage(buf).into());
        };
        let at = match storage.locate(coordinate) {
            Ok(at) => at,
            Err(dim) => {
                let coords = (0..args.len()).map(coordinate).collect();
                return Err(self.outside(Check::ReadOutside, buf, coords, dim).into());
            }
        };
        let found = storage.fetch(at, coordinate);
        let coordinates = |m: &Self| args.iter().map(|&a| m.regs[a as usize + lane] as i64).collect();
        self.loaded(buf, coordinates, found.ok());
        self.note_read(buf, at)?;
        let address = if TRACK { args.iter().map(|&a| self.holes[a as usize + lane]).max().unwrap_or(0) } else { 0 };
        match found {
            Ok(bits) => Ok(self.marked::<TRACK>(bits, address, dst + lane)),
            Err(_) if !TRACK => Err(Stop::Retry),
            Err(hole) => {
                let coords: Vec<String> =
                    args.iter().map(|&a| (self.regs[a as usize + lane] as i64).to_string()).collect();
                Ok(self.fill_hole(buf, at, hole, format!("({})", coords.join(", ")), dst + lane))
            }
        }
    }

    /// An element by its linear index; 0 where the mask is false.
    fn load<const TRACK: bool>(
        &mut self,
        buf: BufId,
        index: Reg,
        mask: Option<Reg>,
        dst: usize,
        lane: usize,
    ) -> Result<u64, Stop> {
        let mask_hole = mask.map_or(0, |m| if TRACK { self.holes[m as usize + lane] } else { 0 });
        if mask.is_some_and(|m| self.regs[m as usize + lane] == 0) {
            return Ok(self.marked::<TRACK>(0, mask_hole, dst + lane));
        }
        let i = self.regs[index as usize + lane] as i64;
        let Some(storage) = &self.memory[buf] else {
            return Err(self.no_storage(buf).into());
        };
        let Some(at) = storage.linear_at(i) else {
            return Err(self.outside_linear(Check::ReadOutside, buf, i).into());
        };
        let found = storage.fetch(at, |_| 0).and_then(|bits| match self.is_own(buf, at) {
            true => Ok(bits),
            false => Err(Hole::Overwritten),
        });
        self.note_read(buf, at)?;
        let address = if TRACK { self.holes[index as usize + lane].max(mask_hole) } else { 0 };
        match found {
            Ok(bits) => Ok(self.marked::<TRACK>(bits, address, dst + lane)),
            Err(_) if !TRACK => Err(Stop::Retry),
            Err(hole) => Ok(self.fill_hole(buf, at, hole, format!("[{i}]"), dst + lane)),
        }
    }

    /// Garbage for a register, which depends on a hole from here on.
    fn fill_hole(&mut self, buf: BufId, at: usize, hole: Hole, place: String, reg: usize) -> u64 {
        let info = &self.program.buffers[buf];
        self.holes[reg] = match hole {
            Hole::Garbage(earlier) => earlier,
            Hole::Empty => self.new_hole(|| format!("`{}`{place}, which was never written", info.name)),
            Hole::Overwritten => {
                self.new_hole(|| format!("`{}`{place}, whose shared memory was overwritten", info.name))
            }
            Hole::Stale => {
                let held = self.memory[buf].as_ref().map_or(Vec::new(), |s| s.tags_at(at).to_vec());
                self.new_hole(|| format!("`{}`{place}, whose place in the fold holds {held:?}", info.name))
            }
        };
        Scalar::from_bits(info.elem, GARBAGE).bits()
    }

    fn marked<const TRACK: bool>(&mut self, bits: u64, hole: u32, reg: usize) -> u64 {
        if TRACK {
            self.holes[reg] = hole;
        }
        bits
    }
}

/// Exact 64-bit arithmetic; `None` where it overflows.
fn index_binary(op: BinOp, a: i64, b: i64) -> Option<i64> {
    Some(match op {
        BinOp::Add => a.checked_add(b)?,
        BinOp::Sub => a.checked_sub(b)?,
        BinOp::Mul => a.checked_mul(b)?,
        BinOp::Div | BinOp::Mod if b == 0 => 0,
        BinOp::Div => a.checked_div_euclid(b)?,
        BinOp::Mod => a.wrapping_rem_euclid(b),
        BinOp::Min => a.min(b),
        BinOp::Max => a.max(b),
        BinOp::Eq => (a == b) as i64,
        BinOp::Ne => (a != b) as i64,
        BinOp::Lt => (a < b) as i64,
        BinOp::Le => (a <= b) as i64,
        BinOp::Gt => (a > b) as i64,
        BinOp::Ge => (a >= b) as i64,
        _ => return None,
    })
}

fn overflow(op: BinOp, a: i64, b: i64) -> Stop {
    EvalError::failed(Check::IndexOverflow, format!("{op:?} of {a} and {b} leaves 64 bits")).into()
}

/// A lane in another type; `None` where an index would not be exact.
fn convert(how: Conversion, from: Elem, to: Elem, bits: u64) -> Option<u64> {
    let wide = |b| Scalar::from_bits(ScalarType::I64, b);
    Some(match (from, to) {
        (Elem::Index, Elem::Index) => bits,
        (Elem::Index, Elem::Data(t)) => value::cast(t, wide(bits)).bits(),
        (Elem::Data(t), Elem::Index) => i64::try_from(Scalar::from_bits(t, bits).as_i128()).ok()? as u64,
        (Elem::Data(t), Elem::Data(u)) => {
            let v = Scalar::from_bits(t, bits);
            match how {
                Conversion::Cast => value::cast(u, v),
                Conversion::Saturating => value::saturating_cast(u, v),
                Conversion::Reinterpret => value::reinterpret(u, v),
            }
            .bits()
        }
    })
}
