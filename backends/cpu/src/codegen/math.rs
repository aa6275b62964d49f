//! Transcendental functions: f32 ones are the operations of `halide_core::math` as vector code, so that they have the
//! same bits as everywhere; f64 ones are called lane by lane.

use super::abi::{self, RuntimeFn};
use super::func::{Callee, EmittedFunction, Env, Func};
use super::ops::Ops;
use super::value::{Parts, Val};
use crate::host::Effort;
use crate::shared::lane::{Lane, data};
use cranelift_codegen::ir::condcodes::FloatCC;
use cranelift_codegen::ir::{Function, InstBuilder, SourceLoc, UserFuncName, Value, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use halide_core::math::{FloatOps, emit};
use halide_core::ops::MathFn;
use halide_core::types::ScalarType::{self, Bool, F32, F64};
use halide_ir::Expr;
use halide_ir::code_place::{CodePlace, PlaceTable};
use std::collections::BTreeSet;

/// The function that computes one part.
pub(super) fn make(env: &Env<'_>, function: MathFn) -> EmittedFunction {
    let id = env.symbols.math[function as usize];
    let mut clif = Function::with_name_signature(UserFuncName::user(0, id.as_u32()), abi::math_signature(function));
    let mut context = FunctionBuilderContext::new();
    let mut ops = Ops { b: FunctionBuilder::new(&mut clif, &mut context), x64: env.x64 };
    let block = ops.b.create_block();
    ops.b.append_block_params_for_function_params(block);
    ops.b.switch_to_block(block);
    ops.b.seal_block(block);
    let args = ops.b.block_params(block).to_vec();
    let mut code_places = env.has_places.then(|| PlaceTable::new(CodePlace::default()));
    if let Some(table) = &mut code_places {
        // Constants lie behind the last location.
        ops.b.set_srcloc(SourceLoc::new(table.number(CodePlace::default())));
    }
    let result = emit(&mut ops, function, &args);
    ops.ins().return_(&[result]);
    ops.b.finalize(env.isa.frontend_config());
    let name = format!("{function:?}").to_lowercase();
    EmittedFunction { id, name, clif, math_used: BTreeSet::new(), calls: Vec::new(), effort: Effort::Full, code_places }
}

/// Returns true if a function is short enough to be inlined where it is used.
fn is_short(f: MathFn) -> bool {
    use MathFn::*;
    matches!(f, MulAdd | Exp | Log | FastExp | FastLog | FastSin | FastCos | FastInverse | FastInverseSqrt)
}

impl Func<'_> {
    /// `ExprKind::Math`.
    pub(super) fn math(&mut self, function: MathFn, args: &[Expr]) -> Val {
        let Some(first) = args.first().filter(|_| args.len() == function.arity()) else {
            self.wrong(format!("{function:?} of {} operands", args.len()));
            return Val::Data(Func::single(self.worker));
        };
        let (ty, lanes) = (data(first.ty().elem), first.lanes());
        let operands: Vec<Parts> = args.iter().map(|a| self.data(a)).collect();
        let parts = match ty {
            F32 => self.math_f32(function, lanes, &operands),
            F64 => self.math_f64(function, lanes, &operands),
            _ if ty.is_float() => {
                let wide: Vec<Parts> = operands.iter().map(|x| self.half_to_f32(ty, lanes, x)).collect();
                let result = self.math_f32(function, lanes, &wide);
                self.f32_to_half(ty, lanes, &result)
            }
            _ => return self.math_int(function, ty, lanes, &operands),
        };
        Val::Data(parts)
    }
    /// `a * b + c`, rounded once: by an instruction if the machine has one, else lane by lane.
    fn fused(&mut self, lane: Lane, lanes: u16, operands: &[Parts]) -> Parts {
        if self.env.fma {
            let (a, b, c) = (&operands[0], &operands[1], &operands[2]);
            return (0..a.len()).map(|i| self.ins().fma(a[i], b[i], c[i])).collect();
        }
        let inputs: Vec<(Lane, &Parts)> = operands.iter().map(|x| (lane, x)).collect();
        self.per_lane(lanes, &inputs, lane, |f, v| {
            let narrow = f.index(i64::from(lane == Lane::F32));
            let wide: Vec<Value> =
                v.iter().map(|&x| if lane == Lane::F32 { f.ins().fpromote(types::F64, x) } else { x }).collect();
            let made = f.call_value(Callee::Runtime(RuntimeFn::Fma), &[narrow, wide[0], wide[1], wide[2]]);
            if lane == Lane::F32 { f.ins().fdemote(types::F32, made) } else { made }
        })
    }
    fn math_f32(&mut self, function: MathFn, lanes: u16, operands: &[Parts]) -> Parts {
        if function == MathFn::Fma || (function == MathFn::MulAdd && self.env.fma) {
            return self.fused(Lane::F32, lanes, operands);
        }
        (0..operands[0].len())
            .map(|i| {
                let args: Vec<Value> = operands
                    .iter()
                    .map(|x| if lanes == 1 { self.ins().scalar_to_vector(types::F32X4, x[0]) } else { x[i] })
                    .collect();
                let result = match is_short(function) {
                    true => emit(&mut self.ops, function, &args),
                    false => self.call_value(Callee::Math(function), &args),
                };
                if lanes == 1 { self.ins().extractlane(result, 0) } else { result }
            })
            .collect()
    }
    fn math_f64(&mut self, function: MathFn, lanes: u16, operands: &[Parts]) -> Parts {
        if matches!(function, MathFn::Fma | MathFn::MulAdd) {
            return self.fused(Lane::F64, lanes, operands);
        }
        let inputs: Vec<(Lane, &Parts)> = operands.iter().map(|x| (Lane::F64, x)).collect();
        self.per_lane(lanes, &inputs, Lane::F64, |f, v| {
            let second = v.get(1).copied().unwrap_or_else(|| f.float(types::F64, 0.0));
            let number = f.index(function as i64);
            f.call_value(Callee::Runtime(RuntimeFn::MathF64), &[number, v[0], second])
        })
    }
    /// Integers compute in f64; a checked pipeline has none.
    fn math_int(&mut self, function: MathFn, ty: ScalarType, lanes: u16, operands: &[Parts]) -> Val {
        // Truth is 0 or 1 as bytes here.
        let int = if ty == Bool { ScalarType::U8 } else { ty };
        let wide: Vec<Parts> = operands.iter().map(|x| self.ints_to(x, lanes, int, F64)).collect();
        let result = self.math_f64(function, lanes, &wide);
        if ty != Bool {
            return Val::Data(self.floats_to_ints(&result, lanes, F64, ty, None));
        }
        let zero = self.float(Lane::F64.part(lanes), 0.0);
        let truth = self.map(&result, |f, v| f.fcmp(FloatCC::NotEqual, v, zero));
        self.truth_val(Lane::F64, truth, lanes)
    }
}

impl FloatOps for Ops<'_> {
    type F = Value;
    type I = Value;
    type M = Value;

    fn float(&mut self, value: f32) -> Value {
        self.constant(types::F32X4, u64::from(value.to_bits()))
    }
    fn int(&mut self, value: i32) -> Value {
        self.constant(types::I32X4, value as u64)
    }
    fn add(&mut self, a: Value, b: Value) -> Value {
        self.ins().fadd(a, b)
    }
    fn sub(&mut self, a: Value, b: Value) -> Value {
        self.ins().fsub(a, b)
    }
    fn mul(&mut self, a: Value, b: Value) -> Value {
        self.ins().fmul(a, b)
    }
    fn div(&mut self, a: Value, b: Value) -> Value {
        self.ins().fdiv(a, b)
    }
    fn sqrt(&mut self, a: Value) -> Value {
        self.ins().sqrt(a)
    }
    fn floor(&mut self, a: Value) -> Value {
        self.ins().floor(a)
    }
    fn round(&mut self, a: Value) -> Value {
        self.ins().nearest(a)
    }
    fn lt(&mut self, a: Value, b: Value) -> Value {
        self.fcmp(FloatCC::LessThan, a, b)
    }
    fn eq(&mut self, a: Value, b: Value) -> Value {
        self.fcmp(FloatCC::Equal, a, b)
    }
    fn and(&mut self, a: Value, b: Value) -> Value {
        self.ins().band(a, b)
    }
    fn or(&mut self, a: Value, b: Value) -> Value {
        self.ins().bor(a, b)
    }
    fn not(&mut self, a: Value) -> Value {
        self.ins().bnot(a)
    }
    fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.choose(mask, a, b)
    }
    fn iadd(&mut self, a: Value, b: Value) -> Value {
        self.ins().iadd(a, b)
    }
    fn isub(&mut self, a: Value, b: Value) -> Value {
        self.ins().isub(a, b)
    }
    fn iand(&mut self, a: Value, b: Value) -> Value {
        self.ins().band(a, b)
    }
    fn ior(&mut self, a: Value, b: Value) -> Value {
        self.ins().bor(a, b)
    }
    fn ixor(&mut self, a: Value, b: Value) -> Value {
        self.ins().bxor(a, b)
    }
    fn shl(&mut self, a: Value, bits: u32) -> Value {
        self.ins().ishl_imm_u(a, i64::from(bits))
    }
    fn shr(&mut self, a: Value, bits: u32) -> Value {
        self.ins().sshr_imm_u(a, i64::from(bits))
    }
    fn to_int(&mut self, a: Value) -> Value {
        match self.x64 {
            true => self.ins().x86_cvtt2dq(types::I32X4, a),
            false => self.ins().fcvt_to_sint_sat(types::I32X4, a),
        }
    }
    fn to_float(&mut self, a: Value) -> Value {
        self.ins().fcvt_from_sint(types::F32X4, a)
    }
    fn bits(&mut self, a: Value) -> Value {
        self.bitcast(types::I32X4, a)
    }
    fn float_of_bits(&mut self, a: Value) -> Value {
        self.bitcast(types::F32X4, a)
    }
}
