//! Closures that compiled code calls.
//!
//! A closure gets buffers of its own, into which the elements of its boxes are copied, and its results are copied back:
//! whatever it keeps, moves or replaces, memory of the run is touched here alone.

use super::call_shape::{ArgShape, CallShape, Callees, WORDS_OF_DIM};
use super::entry::guarded;
use super::run::{Run, Worker};
use crate::error::CpuFault;
use halide_core::buffer::{AnyBuffer, Region, Span};
use halide_core::externs::ExternFault;
use halide_core::ids::Id;
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use halide_ir::visit::deep;
use halide_ir::{BufId, CalleeId};

/// A box in memory of the run.
struct Part {
    buf: BufId,
    ty: ScalarType,
    region: Region,
    /// The address of the first element of the box, if it has one.
    first: *mut u8,
    /// The stride of each dimension in elements.
    strides: Vec<i64>,
}

impl Part {
    /// A box of `words`: the address of the memory's first element, then the words of each dimension. `None` if it is
    /// not inside of the memory.
    fn new(arg: &ArgShape, words: &[u64]) -> Option<Part> {
        let mut offset = 0i64;
        let (mut spans, mut strides) = (Vec::new(), Vec::new());
        for dim in words[1..].chunks_exact(WORDS_OF_DIM) {
            let [min, extent, memory_min, memory_extent, stride] = [0, 1, 2, 3, 4].map(|i| dim[i] as i64);
            let span = Span { min, extent: extent.max(0) };
            let skipped = min.checked_sub(memory_min)?;
            let inside = skipped >= 0 && skipped.checked_add(span.extent)? <= memory_extent;
            if span.extent > 0 && !inside {
                return None;
            }
            offset = offset.wrapping_add(skipped.wrapping_mul(stride));
            spans.push(span);
            strides.push(stride);
        }
        let base = words[0] as *mut u8;
        let first = base.wrapping_offset(offset.wrapping_mul(arg.ty.bytes() as i64) as isize);
        Some(Part { buf: arg.buf, ty: arg.ty, region: Region::new(spans), first, strides })
    }
    fn bytes(&self) -> usize {
        let points = self.region.points().unwrap_or(u64::MAX);
        usize::try_from(points.saturating_mul(self.ty.bytes() as u64)).unwrap_or(usize::MAX)
    }
    fn memory(&self) -> Strided<'_> {
        Strided { first: self.first, strides: &self.strides }
    }
    /// A buffer with the elements of the box.
    fn filled(&self) -> Result<AnyBuffer, ExternFault> {
        let mut buffer = AnyBuffer::with_region(self.ty, &self.region).map_err(ExternFault::Buffers)?;
        let mut view = buffer.view_mut().map_err(ExternFault::Buffers)?;
        let raw = view.raw_mut();
        let strides: Vec<i64> = raw.dims.iter().map(|dim| dim.stride).collect();
        let to = Strided { first: raw.data, strides: &strides };
        // SAFETY: the box is inside of memory that compiled code has allocated and that nobody writes during the call,
        // and the buffer is new and as large.
        unsafe { copy(self.ty, self.region.spans(), &self.memory(), &to) };
        Ok(buffer)
    }
    /// Copies the elements of a buffer over the same region into the box.
    fn keep(&self, buffer: &AnyBuffer) {
        let raw = buffer.raw();
        let strides: Vec<i64> = raw.dims.iter().map(|dim| dim.stride).collect();
        let from = Strided { first: raw.data, strides: &strides };
        // SAFETY: the buffer has the type and the region of the box, and the box is inside of memory that compiled code
        // has allocated and that nobody else uses during the call.
        unsafe { copy(self.ty, self.region.spans(), &from, &self.memory()) };
    }
}

/// Elements in memory: the address of the first one, and the stride of each dimension in elements.
struct Strided<'a> {
    first: *mut u8,
    strides: &'a [i64],
}

/// Copies elements. Truth values come out as 0 or 1, whatever the bytes are.
///
/// # Safety
/// All elements of the extents of `spans` are inside of memory that may be read, and written, and that do not overlap.
unsafe fn copy(ty: ScalarType, spans: &[Span], from: &Strided<'_>, to: &Strided<'_>) {
    if spans.iter().any(|span| span.extent <= 0) {
        return;
    }
    let size = ty.bytes();
    let (row, rows) = spans.split_first().map_or((1, spans), |(row, rows)| (row.extent as usize, rows));
    let step = |memory: &Strided<'_>, d: usize| memory.strides.get(d).copied().unwrap_or(0) as isize * size as isize;
    let (from_step, to_step) = (step(from, 0), step(to, 0));
    let is_dense = ty != ScalarType::Bool && from_step == size as isize && to_step == size as isize;
    let mut at = vec![0i64; rows.len()];
    loop {
        let offset = |memory: &Strided<'_>| {
            let terms = at.iter().enumerate().map(|(d, n)| *n as isize * step(memory, d + 1));
            memory.first.wrapping_offset(terms.sum())
        };
        let (source, target) = (offset(from), offset(to));
        if is_dense {
            // SAFETY: a row of elements side by side, as the caller says.
            unsafe { std::ptr::copy_nonoverlapping(source, target, row * size) };
        } else {
            for n in 0..row as isize {
                let (source, target) = (source.wrapping_offset(n * from_step), target.wrapping_offset(n * to_step));
                // SAFETY: an element of either, as the caller says.
                unsafe {
                    match ty {
                        ScalarType::Bool => *target = u8::from(*source != 0),
                        _ => std::ptr::copy_nonoverlapping(source, target, size),
                    }
                }
            }
        }
        if !advance(&mut at, rows) {
            return;
        }
    }
}

/// Goes on to the next row; false behind the last one.
fn advance(at: &mut [i64], rows: &[Span]) -> bool {
    for (n, span) in at.iter_mut().zip(rows) {
        *n += 1;
        if *n < span.extent {
            return true;
        }
        *n = 0;
    }
    false
}

impl Run<'_> {
    /// Calls a closure with the boxes that `words` say.
    fn call(&self, id: CalleeId, words: &[u64]) -> Result<(), CpuFault> {
        let given = self.callees().and_then(|all| Some((all, all.closures.get(id.index())?)));
        let Some((Callees { shapes, params, .. }, closure)) = given else {
            return Err(CpuFault::Arguments("the program calls a closure that is not given".into()));
        };
        let shape = &shapes[id];
        let mut rest = words;
        let mut next = |arg: &ArgShape| {
            let (own, others) = rest.split_at(1 + WORDS_OF_DIM * arg.dims);
            rest = others;
            Part::new(arg, own).ok_or_else(|| CpuFault::Panic("a box that a closure is handed is not in memory".into()))
        };
        let (results, inputs) = shape.args.split_at(shape.results);
        let results = results.iter().map(&mut next).collect::<Result<Vec<Part>, _>>()?;
        // Of nothing, inputs are not asked for: their boxes may be anywhere.
        let Some(region) = results.first().map(|part| &part.region).filter(|region| !region.is_empty()) else {
            return Ok(());
        };
        let inputs = inputs.iter().map(&mut next).collect::<Result<Vec<Part>, _>>()?;
        let failed = |fault| CpuFault::Extern { callee: id, fault: Box::new(fault) };
        let params: Vec<Scalar> = shape.params.iter().filter_map(|n| params.get(*n).copied()).collect();
        let mut held = Vec::new();
        for part in results.iter().chain(&inputs) {
            held.push(self.hold_for(part.buf, part.bytes())?);
        }
        let inputs = inputs.iter().map(Part::filled).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        let make = |part: &Part| match shape.updates {
            true => part.filled(),
            false => AnyBuffer::with_region(part.ty, region).map_err(ExternFault::Buffers),
        };
        let mut outputs = results.iter().map(make).collect::<Result<Vec<_>, _>>().map_err(failed)?;
        deep(|| closure.call(region, &params, &inputs, &mut outputs)).map_err(failed)?;
        results.iter().zip(&outputs).for_each(|(part, output)| part.keep(output));
        Ok(())
    }
}

/// Calls closure number `callee` over the boxes that `words` say; 0 if that went well.
#[cfg_attr(feature = "link", unsafe(export_name = "halide_rt_call"))]
pub(crate) extern "C" fn call(worker: *mut Worker<'_>, callee: i64, words: *const u64) -> i64 {
    // SAFETY: compiled code passes on the worker that it was given, which nobody else uses meanwhile.
    let worker = unsafe { &*worker };
    guarded(worker.run, 1, || {
        let run = worker.run;
        if run.ends() {
            return 1;
        }
        let id = CalleeId(callee as u32);
        let count = run.callees().and_then(|all| all.shapes.get(id)).map_or(0, CallShape::words);
        // SAFETY: compiled code put as many words as the closure takes into its frame.
        let words = unsafe { std::slice::from_raw_parts(words, count) };
        match run.call(id, words) {
            Ok(()) => 0,
            Err(fault) => {
                run.fail(fault);
                1
            }
        }
    })
}
