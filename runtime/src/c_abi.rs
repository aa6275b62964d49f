//! The functions and structures of C, as `halide_runtime.h` declares them.
//!
//! Nothing unwinds into the caller: a panic is an error like others. Pointers are read as the header says; what can be
//! checked of them is checked: that they are there, that types and dimensions are some, that elements lie at addresses
//! that are multiples of their sizes, that outputs have memory of their own.

#![allow(unsafe_code)]

use crate::arguments::{Argument, sort, views};
use crate::error::{CallError, Code};
use crate::loaded::RunOptions;
use crate::pipeline::Pipeline;
use halide_core::buffer::{AnyBuffer, Dim};
use halide_core::types::ScalarType;
use halide_core::value::Scalar;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The most dimensions of a buffer.
const MOST_DIMS: i32 = 64;

/// `halide_dim`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CDim {
    /// The first coordinate.
    pub min: i64,
    /// The number of coordinates.
    pub extent: i64,
    /// The distance of neighbours in elements.
    pub stride: i64,
}

/// `halide_buffer`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CBuffer {
    /// The element at the first coordinates.
    pub data: *mut c_void,
    /// The position of the element type in [`ScalarType::ALL`].
    pub ty: i32,
    /// The number of dimensions.
    pub dims: i32,
    /// The dimensions.
    pub dim: *const CDim,
}

/// `halide_argument`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct CArgument {
    /// A text that ends with a zero, or null.
    pub name: *const c_char,
    /// 0 for a parameter, 1 for an image, 2 for an output.
    pub kind: i32,
    /// The type of a parameter, as of [`CBuffer::ty`].
    pub ty: i32,
    /// The value of a parameter in the lowest bits.
    pub bits: u64,
    /// The buffer of an image or an output.
    pub buffer: *const CBuffer,
}

/// `halide_options`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct COptions {
    /// The most threads, or 0.
    pub threads: u32,
    /// Nothing yet: 0.
    pub reserved: u32,
    /// The most bytes, or 0.
    pub memory_cap: u64,
}

/// Runs a pipeline; returns 0, or a [`Code`] after writing a message.
///
/// # Safety
/// `pipeline` is null or a symbol `NAME_pipeline` of an object. `arguments` has `count` structures, whose pointers are
/// null or lead to what the header says, with the memory of all elements; nobody writes to that of images meanwhile, or
/// uses that of outputs. `message` is null or has `message_size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halide_run(
    pipeline: *const Pipeline,
    arguments: *const CArgument,
    count: usize,
    message: *mut c_char,
    message_size: usize,
) -> c_int {
    // SAFETY: as the caller says.
    unsafe { halide_run_with(pipeline, arguments, count, std::ptr::null(), message, message_size) }
}

/// [`halide_run`] with options, which may be null.
///
/// # Safety
/// As of [`halide_run`]; `options` is null or leads to options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halide_run_with(
    pipeline: *const Pipeline,
    arguments: *const CArgument,
    count: usize,
    options: *const COptions,
    message: *mut c_char,
    message_size: usize,
) -> c_int {
    // SAFETY: as the caller says.
    let run = || unsafe { run(pipeline, arguments, count, options) };
    let panicked = |_| Err(CallError::Internal { text: "the runtime panicked".into() });
    let error = match catch_unwind(AssertUnwindSafe(run)).unwrap_or_else(panicked) {
        Ok(()) => return 0,
        Err(error) => error,
    };
    let told = catch_unwind(AssertUnwindSafe(|| (error.code(), error.to_string())));
    let (code, text) = told.unwrap_or((Code::Internal, "the runtime panicked".into()));
    // SAFETY: as the caller says.
    unsafe { tell(&text, message, message_size) };
    code as c_int
}

/// Frees the memory that a pipeline keeps from its runs for the next one.
///
/// # Safety
/// `pipeline` is null or a symbol `NAME_pipeline` of an object.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn halide_free_memory(pipeline: *const Pipeline) {
    // SAFETY: as the caller says.
    if let Some(pipeline) = unsafe { pipeline.as_ref() } {
        let _ = catch_unwind(AssertUnwindSafe(|| pipeline.free_memory()));
    }
}

/// # Safety
/// As of [`halide_run_with`].
unsafe fn run(
    pipeline: *const Pipeline,
    arguments: *const CArgument,
    count: usize,
    options: *const COptions,
) -> Result<(), CallError> {
    // SAFETY: as the caller says.
    let (pipeline, options) = unsafe { (pipeline.as_ref(), options.as_ref()) };
    let pipeline = pipeline.ok_or_else(|| wrong("the pipeline", "is null; give NAME_pipeline"))?;
    let options = options.map_or_else(RunOptions::default, |options| RunOptions {
        threads: NonZeroUsize::new(options.threads as usize),
        memory_cap: Some(options.memory_cap).filter(|cap| *cap > 0),
    });
    if count > 0 && arguments.is_null() {
        return Err(wrong("the list of arguments", "is null; give as many as you count"));
    }
    // SAFETY: as the caller says.
    let given = if count == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(arguments, count) } };
    // SAFETY: as the caller says.
    let read = given.iter().enumerate().map(|(i, argument)| unsafe { read(&format!("argument {i}"), argument) });
    let read = read.collect::<Result<Vec<Argument>, CallError>>()?;
    let loaded = pipeline.loaded()?;
    let (inputs, mut outputs) = sort(&loaded.interface, read)?;
    loaded.run(&inputs, &mut views(&mut outputs)?, &options)
}

/// Reads an argument.
///
/// # Safety
/// As of [`halide_run`].
unsafe fn read(what: &str, argument: &CArgument) -> Result<Argument, CallError> {
    let name = match argument.name.is_null() {
        true => None,
        // SAFETY: as the caller says.
        false => match unsafe { CStr::from_ptr(argument.name) }.to_str() {
            Ok(name) => Some(name.to_string()),
            Err(_) => return Err(wrong(what, "has a name that is not UTF-8; give it as the header does")),
        },
    };
    match argument.kind {
        0 => Ok(Argument::Param(name, Scalar::from_bits(type_of(what, argument.ty)?, argument.bits))),
        // SAFETY: as the caller says.
        1 => Ok(Argument::Image(name, unsafe { buffer(what, argument.buffer) }?)),
        2 if name.is_some() => Err(wrong(what, "is an output with a name; give outputs in their order, without names")),
        // SAFETY: as the caller says.
        2 => Ok(Argument::Output(unsafe { buffer(what, argument.buffer) }?)),
        kind => {
            Err(wrong(what, &format!("has kind {kind}; kinds are HALIDE_PARAM 0, HALIDE_IMAGE 1, HALIDE_OUTPUT 2")))
        }
    }
}

/// Reads a buffer.
///
/// # Safety
/// As of [`halide_run`].
unsafe fn buffer(what: &str, buffer: *const CBuffer) -> Result<AnyBuffer, CallError> {
    // SAFETY: as the caller says.
    let Some(buffer) = (unsafe { buffer.as_ref() }) else { return Err(wrong(what, "has no buffer; set `buffer`")) };
    let ty = type_of(what, buffer.ty)?;
    if !(0..=MOST_DIMS).contains(&buffer.dims) {
        return Err(wrong(what, &format!("has {} dimensions; buffers have 0 to {MOST_DIMS}", buffer.dims)));
    }
    let count = buffer.dims as usize;
    if count > 0 && buffer.dim.is_null() {
        return Err(wrong(what, "has dimensions, and `dim` is null; set it"));
    }
    // SAFETY: as the caller says.
    let dims = if count == 0 { &[][..] } else { unsafe { std::slice::from_raw_parts(buffer.dim, count) } };
    let dims: Vec<Dim> = dims.iter().map(|d| Dim { min: d.min, extent: d.extent, stride: d.stride }).collect();
    let is_empty = dims.iter().any(|d| d.extent <= 0);
    if !is_empty && buffer.data.is_null() {
        return Err(wrong(what, "has elements, and `data` is null; set it"));
    }
    if !is_empty && !(buffer.data as usize).is_multiple_of(ty.bytes()) {
        let problem =
            format!("has elements of {} bytes at an address that is no multiple of it; align `data`", ty.bytes());
        return Err(wrong(what, &problem));
    }
    // SAFETY: the caller says that the memory is there for as long as the call takes, which all buffers are gone by,
    // and that it is left alone; `sort` checks that no other buffer has memory of an output before a view of that is
    // made.
    let made = unsafe { AnyBuffer::borrowed(ty, &dims, buffer.data.cast()) };
    made.map_err(|error| CallError::Buffer { argument: what.to_string(), error })
}

fn type_of(what: &str, ty: i32) -> Result<ScalarType, CallError> {
    let found = usize::try_from(ty).ok().and_then(|ty| ScalarType::ALL.get(ty)).copied();
    found.ok_or_else(|| wrong(what, &format!("has type {ty}; types are HALIDE_BOOL 0 to HALIDE_F64 12")))
}

fn wrong(argument: &str, problem: &str) -> CallError {
    CallError::Argument { argument: argument.to_string(), problem: problem.to_string() }
}

/// Writes a text with a zero behind it, as much as there is room for: whole characters.
///
/// # Safety
/// `message` is null or has `size` bytes.
unsafe fn tell(text: &str, message: *mut c_char, size: usize) {
    if message.is_null() || size == 0 {
        return;
    }
    let end = text.floor_char_boundary(text.len().min(size - 1));
    // SAFETY: as the caller says; `end` is less than `size`, and the text is no part of the caller's memory.
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), message.cast::<u8>(), end);
        message.add(end).write(0);
    }
}

#[cfg(test)]
mod tests {
    use crate::c_abi::*;

    /// Reads an argument with a buffer that is changed.
    fn refused(change: impl Fn(&mut CArgument, &mut CBuffer)) -> String {
        let (mut elements, dim) = ([0u32; 4], CDim { min: 0, extent: 4, stride: 1 });
        let mut buffer = CBuffer { data: (&raw mut elements).cast(), ty: 7, dims: 1, dim: &raw const dim };
        let mut argument = CArgument { name: std::ptr::null(), kind: 1, ty: 0, bits: 0, buffer: std::ptr::null() };
        change(&mut argument, &mut buffer);
        if argument.kind < 3 {
            argument.buffer = &raw const buffer;
        }
        // SAFETY: all pointers lead to what stands above, or are null.
        let read = unsafe { read("it", &argument) };
        read.err().map_or(String::new(), |error| error.to_string())
    }

    #[test]
    fn wrong_structures_get_messages() {
        assert_eq!(refused(|_, _| ()), "");
        let kinds = "kinds are HALIDE_PARAM 0, HALIDE_IMAGE 1, HALIDE_OUTPUT 2";
        assert_eq!(refused(|a, _| a.kind = 3), format!("it has kind 3; {kinds}"));
        assert_eq!(refused(|_, b| b.ty = -1), "it has type -1; types are HALIDE_BOOL 0 to HALIDE_F64 12");
        assert_eq!(refused(|_, b| b.dims = -1), "it has -1 dimensions; buffers have 0 to 64");
        assert_eq!(refused(|_, b| b.dim = std::ptr::null()), "it has dimensions, and `dim` is null; set it");
        assert_eq!(refused(|_, b| b.data = std::ptr::null_mut()), "it has elements, and `data` is null; set it");
        let odd = |_: &mut CArgument, b: &mut CBuffer| b.data = b.data.wrapping_byte_add(1);
        assert!(refused(odd).contains("at an address that is no multiple of it"));
        let name = b"\xff\0";
        assert!(refused(|a, _| a.name = name.as_ptr().cast()).contains("not UTF-8"));
        assert!(refused(|a, _| (a.kind, a.name) = (2, c"out".as_ptr())).contains("output with a name"));
    }

    #[test]
    fn messages_are_cut_between_characters() {
        let told = |text: &str, size: usize| {
            let mut room = [b'x'; 8];
            // SAFETY: there are as many bytes.
            unsafe { tell(text, room.as_mut_ptr().cast(), size) };
            room
        };
        assert_eq!(told("abc", 8), *b"abc\0xxxx");
        assert_eq!(told("abc", 3), *b"ab\0xxxxx");
        assert_eq!(told("aä", 3), *b"a\0xxxxxx");
        assert_eq!(told("abc", 0), *b"xxxxxxxx");
        let mut room = [b'x'; 40];
        // SAFETY: null is no pipeline, and there are as many bytes.
        let code = unsafe { halide_run(std::ptr::null(), std::ptr::null(), 0, room.as_mut_ptr().cast(), room.len()) };
        assert_eq!((code, &room[..40]), (1, &b"the pipeline is null; give NAME_pipelin\0"[..]));
    }
}
