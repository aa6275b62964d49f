//! The smallest operations, on scalars and 128-bit parts alike: constants, bit casts and choices.

use cranelift_codegen::ir::condcodes::{FloatCC, IntCC};
use cranelift_codegen::ir::immediates::{Ieee32, Ieee64};
use cranelift_codegen::ir::{ConstantData, Endianness, InstBuilder, MemFlagsData, Opcode, Type, Value, types};
use cranelift_frontend::{FuncInstBuilder, FunctionBuilder};

/// A function's builder.
pub(super) struct Ops<'a> {
    pub(super) b: FunctionBuilder<'a>,
    /// True if the x86-only operations of the code generator are available.
    pub(super) x64: bool,
}

impl<'a> Ops<'a> {
    /// Adds an instruction.
    pub(super) fn ins(&mut self) -> FuncInstBuilder<'_, 'a> {
        self.b.ins()
    }
    /// The type of a value.
    pub(super) fn ty(&self, v: Value) -> Type {
        self.b.func.dfg.value_type(v)
    }

    // Constants.

    /// An i64.
    pub(super) fn index(&mut self, v: i64) -> Value {
        self.ins().iconst(types::I64, v)
    }
    /// `bits` in every lane of a scalar or vector type.
    pub(super) fn constant(&mut self, ty: Type, bits: u64) -> Value {
        if ty.is_vector() {
            let lane = bits.to_le_bytes();
            let bytes = ty.lane_bits() as usize / 8;
            let all: Vec<u8> = (0..16).map(|i| lane[i % bytes]).collect();
            return self.bytes(ty, &all);
        }
        match ty {
            types::F32 => self.ins().f32const(Ieee32::with_bits(bits as u32)),
            types::F64 => self.ins().f64const(Ieee64::with_bits(bits)),
            // Cranelift wants sign-extended immediates cut to the type.
            _ => {
                let unused = 64 - ty.bits();
                let masked = (bits << unused) >> unused;
                self.ins().iconst(ty, masked as i64)
            }
        }
    }
    /// A vector of these 16 bytes.
    pub(super) fn bytes(&mut self, ty: Type, bytes: &[u8]) -> Value {
        let handle = self.b.func.dfg.constants.insert(ConstantData::from(bytes));
        self.ins().vconst(ty, handle)
    }
    /// A float constant in every lane of an f32 or f64 type.
    pub(super) fn float(&mut self, ty: Type, v: f64) -> Value {
        let bits = if ty.lane_type() == types::F32 { (v as f32).to_bits() as u64 } else { v.to_bits() };
        self.constant(ty, bits)
    }
    /// The same bits as another type of the same size.
    pub(super) fn bitcast(&mut self, ty: Type, v: Value) -> Value {
        let from = self.ty(v);
        if from == ty {
            return v;
        }
        let flags = MemFlagsData::new();
        let flags = if ty.is_vector() { flags.with_endianness(Endianness::Little) } else { flags };
        self.ins().bitcast(ty, flags, v)
    }
    /// A scalar in every lane of a vector type.
    pub(super) fn splat(&mut self, ty: Type, v: Value) -> Value {
        self.ins().splat(ty, v)
    }

    // Truth: an i8 of 0 or 1 for scalars, a mask for vectors.

    /// Compares integers; `b` is `bits` in every lane.
    pub(super) fn icmp_const(&mut self, cc: IntCC, a: Value, bits: u64) -> Value {
        let ty = self.ty(a);
        let b = self.constant(ty, bits);
        self.ins().icmp(cc, a, b)
    }
    /// Compares floats.
    pub(super) fn fcmp(&mut self, cc: FloatCC, a: Value, b: Value) -> Value {
        self.ins().fcmp(cc, a, b)
    }
    /// `a` where `truth` holds, else `b`. The truth is of comparisons of lanes as wide as `a`'s.
    pub(super) fn choose(&mut self, truth: Value, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        if a == b {
            return a;
        }
        if !ty.is_vector() {
            return self.ins().select(truth, a, b);
        }
        let comparison = self.b.func.dfg.value_def(truth).inst().map(|i| self.b.func.dfg.insts[i].opcode());
        let float_arms = ty.lane_type().is_float();
        match comparison {
            // Cranelift makes minimum, maximum or a blend of these.
            Some(Opcode::Fcmp) if float_arms => {
                let mask = self.bitcast(ty, truth);
                self.ins().bitselect(mask, a, b)
            }
            Some(Opcode::Fcmp | Opcode::Icmp) => {
                let mask_ty = self.ty(truth);
                let (a, b) = (self.bitcast(mask_ty, a), self.bitcast(mask_ty, b));
                let chosen = self.ins().bitselect(truth, a, b);
                self.bitcast(ty, chosen)
            }
            // Of other masks it does not know that a blend will do.
            _ => {
                let [mask, a, b] = [truth, a, b].map(|v| self.bitcast(types::I8X16, v));
                let chosen = if self.x64 { self.ins().blendv(mask, a, b) } else { self.ins().bitselect(mask, a, b) };
                self.bitcast(ty, chosen)
            }
        }
    }
}
