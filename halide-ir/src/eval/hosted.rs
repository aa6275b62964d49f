//! Runs host code whose kernels a device runs, without ever waiting: where there is no machine code to be had, as in a
//! browser.
//!
//! Requests to the device are futures, so statements that hold one are walked by futures too; all others run as in
//! `machine`. Each buffer that both sides use has its elements here and its bytes on the device, which are
//! shown to each other when the program says so (`Reside`) or a kernel needs what changed here.

use super::code::Reg;
use super::compile::{Body, Code};
use super::error::{Check, EvalError};
use super::machine::{Machine, Outcome};
use super::storage::Storage;
use super::{EvalStats, Options, compile, external, write_outputs};
use crate::buffer_info::BufferRole;
use crate::buffer_info::{Residency, Side};
use crate::hash::Set;
use crate::kernel::Writes;
use crate::program::Program;
use crate::sym::{BufId, KernelId};
use crate::visit::deep;
use halide_core::buffer::AnyBuffer;
use halide_core::limits::Limits;
use halide_core::value::Scalar;
use std::future::{Future, poll_fn};
use std::pin::Pin;

/// A device, for a host that must not wait: what may take its time is a future. It is told the same as a
/// [`Device`](crate::device::Device).
pub trait AsyncDevice {
    /// The reason for which it ends a run.
    type Fault;
    /// An allocation of `bytes` begins.
    fn begin(&mut self, buf: BufId, bytes: u64) -> Result<(), Self::Fault>;
    /// An allocation ends.
    fn end(&mut self, buf: BufId);
    /// Runs a kernel.
    fn dispatch(
        &mut self,
        kernel: KernelId,
        grid: &[i64],
        scalars: &[u64],
        memory: &[&[u8]],
    ) -> impl Future<Output = Result<(), Self::Fault>>;
    /// Brings the two copies of a buffer in step.
    fn reside(
        &mut self,
        buf: BufId,
        what: Residency,
        memory: &mut [u8],
    ) -> impl Future<Output = Result<(), Self::Fault>>;
}

/// The ways in which a run on a device ends without a result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ended<F> {
    /// As any run may end.
    Host(EvalError),
    /// The device ended it.
    Device(F),
}

impl<F> From<EvalError> for Ended<F> {
    fn from(error: EvalError) -> Self {
        Ended::Host(error)
    }
}

/// Runs a program at stage `Final` as [`super::run`] does, but its kernels on `device`. Inputs and outputs have been
/// introduced to the device; `options` are as for any run.
///
/// # Errors
/// As there, or where the device ends the run; the outputs then are untouched.
pub async fn run_on<D: AsyncDevice>(
    program: &Program,
    params: &[Scalar],
    images: &[AnyBuffer],
    outputs: &mut [AnyBuffer],
    device: &mut D,
    options: &Options<'_>,
) -> Result<EvalStats, Ended<D::Fault>> {
    let unlimited = Limits::default();
    let limits = options.limits.unwrap_or(&unlimited);
    let external = external(program, params, images, outputs, limits)?;
    let compiled = compile::compile(program, params, &external).map_err(|e| *e)?;
    let mut machine = Machine::new(program, &compiled, external, (params, options), limits);
    let mut host = Host { params, device, changed: Set::default(), fault: None };
    let mut outcome = walk(&mut machine, &compiled.body, &mut host).await;
    for (buf, info) in program.buffers.enumerate() {
        if matches!(info.role, BufferRole::Output(_)) && info.side != Side::Host && outcome.is_ok() {
            outcome = host.on_host(&mut machine, buf).await;
        }
    }
    if let Some(fault) = host.fault {
        return Err(Ended::Device(fault));
    }
    outcome.map_err(|e| *e)?;
    let (stats, memory) = machine.finish().map_err(|e| *e)?;
    write_outputs(program, &memory, outputs)?;
    Ok(stats)
}

/// The other side.
struct Host<'d, D: AsyncDevice> {
    params: &'d [Scalar],
    device: &'d mut D,
    /// The buffers whose elements here are newer than the device's bytes.
    changed: Set<BufId>,
    /// The fault with which the device ended the run, if it did.
    fault: Option<D::Fault>,
}

type Walk<'w> = Pin<Box<dyn Future<Output = Outcome> + 'w>>;

/// Runs a statement. Statements nest as deep as pipelines are long, and so do their futures.
fn walk<'w, D: AsyncDevice>(m: &'w mut Machine<'_>, body: &'w Body, host: &'w mut Host<'_, D>) -> Walk<'w> {
    let mut steps = Box::pin(one(m, body, host));
    Box::pin(poll_fn(move |cx| deep(|| steps.as_mut().poll(cx))))
}

async fn one<D: AsyncDevice>(m: &mut Machine<'_>, body: &Body, host: &mut Host<'_, D>) -> Outcome {
    if !asks_device(body) {
        return m.run(body);
    }
    match body {
        Body::Block(list) => {
            for s in list {
                walk(m, s, host).await?;
            }
            Ok(())
        }
        Body::Let { code, bound, body } => {
            let holes = m.enter_let(code, bound)?;
            walk(m, body, host).await?;
            m.leave_let(bound, holes);
            Ok(())
        }
        Body::For(l) => {
            let (min, extent) = m.range(&l.code, l.min, l.extent)?;
            for value in min..min.saturating_add(extent.max(0)) {
                m.go_on()?;
                if !m.holds(l.condition.as_ref())? {
                    break;
                }
                m.regs[l.var as usize] = value as u64;
                walk(m, &l.body, host).await?;
            }
            Ok(())
        }
        Body::If { code, cond, then, otherwise } => {
            let taken = m.known(code, *cond, "a condition")? != 0;
            walk(m, if taken { then } else { otherwise }, host).await
        }
        Body::Produce { body, .. } | Body::Atomic { body, .. } => walk(m, body, host).await,
        Body::Alloc { buf, code, count, constant, body } => {
            let side = m.program.buffers[*buf].side;
            let count = m.count(*buf, code, *count, *constant)?;
            let elem = m.program.buffers[*buf].elem;
            // What kernels alone use has no elements here.
            let count_here = if side == Side::Device { 0 } else { count };
            let storage = Storage::linear(elem, count_here, &|bytes| m.room(bytes));
            m.allocate(*buf, storage)?;
            if side != Side::Host {
                host.changed.remove(buf);
                let begun = host.device.begin(*buf, count as u64 * elem.bytes() as u64);
                host.went(begun)?;
            }
            walk(m, body, host).await?;
            if side != Side::Host {
                host.device.end(*buf);
            }
            m.release(*buf);
            Ok(())
        }
        Body::Launch { task, code, min, extent, captures } => {
            let (min, extent) = m.range(code, *min, *extent)?;
            let holes = m.hand_over(captures);
            let task = &m.compiled.tasks[*task];
            for value in min..min.saturating_add(extent.max(0)) {
                m.go_on()?;
                m.regs[task.var as usize] = value as u64;
                walk(m, &task.body, host).await?;
            }
            m.live_holes -= holes;
            Ok(())
        }
        Body::Reside { buf, what } => host.reside(m, *buf, *what).await,
        Body::Dispatch { kernel, code, grid, captures } => host.dispatch(m, *kernel, code, grid, captures).await,
        other => m.run(other),
    }
}

/// Returns true if `body` may hold a statement for the device. An allocation with a copy on the device holds the
/// statements that use it.
fn asks_device(body: &Body) -> bool {
    deep(|| match body {
        Body::Dispatch { .. } | Body::Reside { .. } => true,
        Body::Block(list) => list.iter().any(asks_device),
        Body::For(l) => asks_device(&l.body),
        Body::If { then, otherwise, .. } => asks_device(then) || asks_device(otherwise),
        Body::Let { body, .. } | Body::Produce { body, .. } | Body::Atomic { body, .. } | Body::Alloc { body, .. } => {
            asks_device(body)
        }
        // A task may do so as well, and is not looked into for every launch.
        Body::Launch { .. } => true,
        _ => false,
    })
}

impl<D: AsyncDevice> Host<'_, D> {
    /// Keeps why the device ends the run.
    fn went(&mut self, result: Result<(), D::Fault>) -> Outcome {
        result.map_err(|fault| {
            self.fault = Some(fault);
            EvalError::failed(Check::Copies, "the device ended the run")
        })
    }
    async fn reside(&mut self, m: &mut Machine<'_>, buf: BufId, what: Residency) -> Outcome {
        match what {
            Residency::OnHost => return self.on_host(m, buf).await,
            Residency::ChangedOnHost => {
                self.changed.insert(buf);
                let done = self.device.reside(buf, what, &mut []).await;
                self.went(done)?;
            }
            Residency::OnDevice => {
                let mut bytes = self.shown(m, buf);
                let done = self.device.reside(buf, what, &mut bytes).await;
                self.went(done)?;
            }
        }
        m.reside(buf, what);
        Ok(())
    }
    /// The bytes of a buffer that changed here, for the device to copy; else none, as it needs none.
    fn shown(&mut self, m: &Machine<'_>, buf: BufId) -> Vec<u8> {
        let changed = self.changed.remove(&buf);
        m.memory[buf].as_ref().filter(|_| changed).map(Storage::to_bytes).unwrap_or_default()
    }
    /// Brings back what the device has made of a buffer.
    async fn on_host(&mut self, m: &mut Machine<'_>, buf: BufId) -> Outcome {
        let input = matches!(m.program.buffers[buf].role, BufferRole::Input(_));
        if m.is_newer_on_device(buf) && !input {
            let mut bytes = m.memory[buf].as_ref().map(Storage::to_bytes).unwrap_or_default();
            let done = self.device.reside(buf, Residency::OnHost, &mut bytes).await;
            self.went(done)?;
            if let Some(storage) = &mut m.memory[buf] {
                storage.set_bytes(&bytes);
            }
        }
        m.reside(buf, Residency::OnHost);
        Ok(())
    }
    async fn dispatch(
        &mut self,
        m: &mut Machine<'_>,
        kernel: KernelId,
        code: &Code,
        grid: &[Reg],
        captures: &[(Reg, Reg, u16)],
    ) -> Outcome {
        let tracked = m.eval(&code.instrs)?;
        let grid = grid.iter().map(|&n| m.certain(tracked, n, "an extent of a grid")).collect::<Result<Vec<_>, _>>()?;
        let mut scalars = Vec::with_capacity(captures.len());
        for &(from, ..) in captures {
            scalars.push(m.certain(true, from, "what a kernel is given")? as u64);
        }
        let row = &m.program.kernels[kernel];
        scalars.extend(row.params.iter().map(|p| self.params[p.0 as usize].bits()));
        let memory: Vec<Vec<u8>> = row.buffers.iter().map(|b| self.shown(m, b.buf)).collect();
        let shown: Vec<&[u8]> = memory.iter().map(Vec::as_slice).collect();
        let done = self.device.dispatch(kernel, &grid, &scalars, &shown).await;
        self.went(done)?;
        if grid.iter().all(|n| *n > 0) {
            row.buffers.iter().filter(|b| b.writes != Writes::None).for_each(|b| m.written_on_device(b.buf));
        }
        Ok(())
    }
}
