//! A C program that runs an object: its build, and calls of it.

use halide::ObjectCode;
use halide::buffer::{AnyBuffer, Region};
use halide::prelude::*;
use halide_skips::{Need, skip};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

/// A folder of a test, which goes with it.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub(super) fn new(name: &str) -> Scratch {
        let folder = env::temp_dir().join(format!("halide-object-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Scratch(folder)
    }
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Runs a command to its end; its output.
pub(super) fn output_of(command: &mut Command) -> String {
    let made = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let text = String::from_utf8_lossy(&[made.stdout, made.stderr].concat()).into_owned();
    assert!(made.status.success(), "{command:?}: {text}");
    text
}

/// The library of the runtime, if this machine can link it into programs; otherwise the ledger is told.
pub(super) fn runtime() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        skip(Need::System("linux"), "objects for linking");
        return None;
    }
    if !cfg!(target_arch = "x86_64") {
        skip(Need::Architecture("x86_64"), "objects for linking");
        return None;
    }
    if Command::new("cc").arg("--version").output().is_err() {
        skip(Need::Program("cc"), "programs that link objects");
        return None;
    }
    // target/debug/deps/it-...
    let exe = env::current_exe().unwrap();
    let profile = exe.parent().and_then(Path::parent).unwrap();
    let target = profile.parent().unwrap();
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--offline", "-p", "halide-runtime", "--target-dir"]).arg(target);
    if profile.ends_with("release") {
        build.arg("--release");
    }
    // Variables of this package are none of its.
    for (name, _) in env::vars().filter(|(name, _)| name.starts_with("CARGO_PKG_")) {
        build.env_remove(name);
    }
    output_of(build.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/..")));
    Some(profile.join("libhalide_runtime.a"))
}

/// Links the driver with an object.
pub(super) fn linked(object: &ObjectCode, scratch: &Scratch, runtime: &Path, flags: &[&str]) -> PathBuf {
    fs::write(scratch.path("scaled.o"), object.bytes()).unwrap();
    fs::write(scratch.path("scaled.h"), object.header()).unwrap();
    fs::write(scratch.path("driver.c"), include_str!("driver.c")).unwrap();
    let program = scratch.path("driver");
    let warnings = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE", "-O1"];
    let files = ["driver.c", "scaled.o"].map(|name| scratch.path(name));
    let mut cc = Command::new("cc");
    cc.args(warnings).args(files).arg(runtime).args(["-lpthread", "-lm", "-ldl"]).args(flags).arg("-o").arg(&program);
    output_of(&mut cc);
    program
}

/// An argument of a call.
#[derive(Clone)]
pub(super) struct Given {
    pub(super) name: &'static str,
    pub(super) kind: i64,
    pub(super) ty: i64,
    pub(super) value: Value,
}

#[derive(Clone)]
pub(super) enum Value {
    Bits(u64),
    Elements { dims: Vec<[i64; 3]>, bytes: Vec<u8> },
}

pub(super) fn type_number(ty: ScalarType) -> i64 {
    ScalarType::ALL.iter().position(|t| *t == ty).unwrap() as i64
}

impl Given {
    pub(super) fn param(name: &'static str, value: impl Into<Scalar>) -> Given {
        let value = value.into();
        Given { name, kind: 0, ty: type_number(value.ty()), value: Value::Bits(value.bits()) }
    }
    pub(super) fn buffer(name: &'static str, kind: i64, buffer: &AnyBuffer) -> Given {
        let memory = buffer.memory();
        let dims = buffer.dims().iter().map(|d| [d.min, d.extent, d.stride]).collect();
        let value = Value::Elements { dims, bytes: memory.bytes[memory.used].to_vec() };
        Given { name, kind, ty: type_number(buffer.ty()), value }
    }
    /// The elements, to be changed.
    pub(super) fn bytes(&mut self) -> &mut Vec<u8> {
        let Value::Elements { bytes, .. } = &mut self.value else { panic!("a parameter") };
        bytes
    }
    /// The dimensions, to be changed.
    pub(super) fn dims(&mut self) -> &mut Vec<[i64; 3]> {
        let Value::Elements { dims, .. } = &mut self.value else { panic!("a parameter") };
        dims
    }
}

/// One call of the program.
#[derive(Clone)]
pub(super) struct CCall {
    pub(super) arguments: Vec<Given>,
    /// True for the typed function of the header.
    pub(super) typed: bool,
    pub(super) message_size: i64,
    pub(super) memory_cap: i64,
}

/// The end of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) code: i64,
    pub(super) message: String,
    /// The bytes of each output.
    pub(super) outputs: Vec<Vec<u8>>,
}

impl CCall {
    fn write(&self, out: &mut Vec<u8>) {
        let word = |value: i64, out: &mut Vec<u8>| out.extend(value.to_le_bytes());
        let count = if self.typed { -1 } else { self.arguments.len() as i64 };
        [count, self.message_size, self.memory_cap].into_iter().for_each(|value| word(value, out));
        for argument in &self.arguments {
            word(argument.name.len() as i64, out);
            out.extend(argument.name.as_bytes());
            word(argument.kind, out);
            word(argument.ty, out);
            match &argument.value {
                Value::Bits(bits) => word(*bits as i64, out),
                Value::Elements { dims, bytes } => {
                    word(dims.len() as i64, out);
                    dims.iter().flatten().for_each(|value| word(*value, out));
                    word(bytes.len() as i64, out);
                    out.extend(bytes);
                }
            }
        }
    }
}

/// Runs calls in one process of the program; also returns what it prints.
pub(super) fn run(program: &Path, calls: &[CCall]) -> (Vec<Answer>, String) {
    let mut input = Vec::new();
    calls.iter().for_each(|call| call.write(&mut input));
    let mut command = Command::new(program);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || stdin.write_all(&input));
    let mut all = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut all).unwrap();
    let mut printed = String::new();
    child.stderr.take().unwrap().read_to_string(&mut printed).unwrap();
    let status = child.wait().unwrap();
    assert!(status.success(), "the program ended with {status} after {} bytes", all.len());
    writer.join().unwrap().unwrap();
    let mut rest = &all[..];
    let mut take = |count: usize| {
        let (taken, behind) = rest.split_at(count);
        rest = behind;
        taken.to_vec()
    };
    let read = |call: &CCall| {
        let word = |bytes: Vec<u8>| i64::from_le_bytes(bytes.try_into().unwrap());
        let code = word(take(8));
        let length = word(take(8)) as usize;
        let message = String::from_utf8(take(length)).unwrap();
        let sizes = call.arguments.iter().filter(|a| a.kind == 2).filter_map(|a| match &a.value {
            Value::Elements { bytes, .. } => Some(bytes.len()),
            Value::Bits(_) => None,
        });
        Answer { code, message, outputs: sizes.map(&mut take).collect() }
    };
    (calls.iter().map(read).collect(), printed)
}

/// A buffer over a region whose rows have gaps of so many elements.
pub(super) fn with_gaps(ty: ScalarType, region: &Region, gap: i64) -> AnyBuffer {
    let (mut strides, mut next) = (Vec::new(), 1);
    for span in region.spans() {
        strides.push(next);
        next *= span.extent.max(1) + gap;
    }
    AnyBuffer::with_strides(ty, region, &strides).unwrap()
}
