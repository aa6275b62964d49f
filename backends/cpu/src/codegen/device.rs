//! Host code of kernels that an accelerator runs: dispatches, and the memory that both sides use.

use super::abi::RuntimeFn;
use super::func::{Callee, Func};
use cranelift_codegen::ir::{InstBuilder, Value, types};
use halide_core::ids::Id;
use halide_ir::{BufId, Expr, Kernel, KernelId, Residency, Side, Stmt, Writes, build};

impl Func<'_> {
    /// Hands the extents of the grid and what the kernel captures to the runtime, one word each.
    pub(super) fn dispatch(&mut self, id: KernelId, grid: &[Expr]) {
        let program = self.env.program;
        if id.index() >= program.kernels.len() {
            return self.wrong(format!("{id:?} is not a kernel"));
        }
        let kernel = &program.kernels[id];
        let mut words: Vec<Value> = grid.iter().map(|extent| self.scalar(extent)).collect();
        for (symbol, ty) in &kernel.captures {
            let value = self.scalar(&build::typed_sym(*symbol, *ty));
            words.push(self.word(value));
        }
        for &param in &kernel.params {
            let Some(at) = self.env.layout.param(param) else {
                return self.wrong(format!("{param:?} is not a parameter"));
            };
            words.push(self.argument(at, types::I64));
        }
        let slot = self.new_slot((8 * words.len().max(1)) as u32);
        let list = self.ins().stack_addr(types::I64, slot, 0);
        for (i, word) in words.iter().enumerate() {
            self.store_scratch(*word, list, 8 * i);
        }
        let (worker, id) = (self.worker, self.index(i64::from(id.0)));
        let code = self.call_value(Callee::Runtime(RuntimeFn::Dispatch), &[worker, id, list]);
        self.check_code(code);
        for buf in written(kernel) {
            self.memo.stored(buf);
        }
    }

    /// Makes the two copies of a buffer agree.
    pub(super) fn reside(&mut self, buf: BufId, what: Residency) {
        let what = match what {
            Residency::OnHost => 0,
            Residency::ChangedOnHost => 1,
            Residency::OnDevice => 2,
        };
        let (worker, id, what) = (self.worker, self.index(i64::from(buf.0)), self.index(what));
        let code = self.call_value(Callee::Runtime(RuntimeFn::Reside), &[worker, id, what]);
        self.check_code(code);
        self.memo.stored(buf);
    }

    /// Memory for the time of `body` that the device has a copy of, or has alone.
    pub(super) fn device_alloc(&mut self, buf: BufId, count: &Expr, size: i64, body: &Stmt) {
        let shared = self.env.program.buffers[buf].side == Side::Both;
        let count_value = self.scalar(count);
        let (worker, id, size_value) = (self.worker, self.index(i64::from(buf.0)), self.index(size));
        if shared {
            self.heap_memory(buf, count, size, |f, base| f.on_device(worker, id, base, count_value, size_value, body));
        } else {
            let none = self.index(0);
            self.on_device(worker, id, none, count_value, size_value, body);
        }
    }

    fn on_device(&mut self, worker: Value, id: Value, base: Value, count: Value, size: Value, body: &Stmt) {
        let args = [worker, id, base, count, size];
        let code = self.call_value(Callee::Runtime(RuntimeFn::DeviceBegin), &args);
        self.check_code(code);
        self.stmt(body);
        self.device_end(id);
    }

    /// Says that nobody uses a buffer any more.
    pub(super) fn device_end(&mut self, id: Value) {
        let worker = self.worker;
        self.call(Callee::Runtime(RuntimeFn::DeviceEnd), &[worker, id]);
    }

    /// The bits of a scalar in 64 bits, upper ones zero.
    fn word(&mut self, value: Value) -> Value {
        let ty = self.ty(value);
        let bits = if ty.is_float() {
            let int = ty.as_int();
            self.bitcast(int, value)
        } else {
            value
        };
        if ty.bits() < 64 { self.ins().uextend(types::I64, bits) } else { bits }
    }
}

/// Buffers that a kernel stores to.
pub(super) fn written(kernel: &Kernel) -> impl Iterator<Item = BufId> {
    kernel.buffers.iter().filter(|b| b.writes != Writes::None).map(|b| b.buf)
}
