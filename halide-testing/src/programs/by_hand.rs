//! Programs around a statement that a test writes.

use halide_core::types::ScalarType::{I32, U16};
use halide_ir::{BufId, BufferInfo, BufferRole, Fault, Memory, Program, Side, Stage, Stmt, Stream};

/// Returns a program of `body`: an output of u16 (b0 of f0) and an internal buffer (b1 of f1) of one dimension each,
/// loops that are named `l0` to `l9`, temps below 20, and the parameter p0, an i32.
pub fn around(stage: Stage, body: Stmt) -> Program {
    let buffer = |name: &str, role| BufferInfo {
        name: name.to_string(),
        elem: U16,
        dims: 1,
        role,
        order: vec![0],
        align: vec![1],
        fold: vec![None],
        unit_stride: None,
        memory: Memory::Auto,
        keeps: false,
        stream: Stream::Never,
        side: Side::Host,
    };
    Program {
        body,
        buffers: [buffer("out", BufferRole::Output(0)), buffer("tmp", BufferRole::Internal)].into_iter().collect(),
        func_buffers: [vec![BufId(0)], vec![BufId(1)]].into_iter().collect(),
        loops: (0..10).map(|number| format!("l{number}").into()).collect(),
        faults: [Fault::Promise { what: "a promise".to_string() }, Fault::NotThisVariant].into_iter().collect(),
        params: [("limit".to_string(), I32)].into_iter().collect(),
        counters: vec!["a counter".to_string()],
        next_temp: 20,
        ..Program::empty(stage)
    }
}
