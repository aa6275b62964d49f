//! SPIR-V's own validator over every shader that tests make.

use halide_gpu::codegen::KernelCode;
use halide_skips::{Need, skip};
use std::io::Write;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Fails where `spirv-val` finds a mistake. Where it is not installed, the test skips that.
#[track_caller]
pub(crate) fn check(code: &KernelCode) {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    if !*INSTALLED.get_or_init(|| Command::new("spirv-val").arg("--version").output().is_ok()) {
        return skip(Need::Program("spirv-val"), "the validation of SPIR-V");
    }
    let words = code.spirv().unwrap_or_else(|e| panic!("{e}"));
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let mut child = Command::new("spirv-val")
        .args(["--target-env", "vulkan1.1", "-"])
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("spirv-val starts");
    child.stdin.take().expect("it has an input").write_all(&bytes).expect("it reads");
    let output = child.wait_with_output().expect("it ends");
    assert!(output.status.success(), "{}: {}", code.name, String::from_utf8_lossy(&output.stderr));
}
