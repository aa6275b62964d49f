//! `HALIDE_PERF`: the file that `perf` reads, read back, and a session of gdb.
#![cfg(target_os = "linux")]

use crate::Workplace;
use halide_skips::{Need, skip};
use std::collections::BTreeMap;
use std::path::Path;

/// A function of a dump: its code's address and size, and the lines by the address from which on they count.
#[derive(Debug, Default)]
struct Dumped {
    name: String,
    address: u64,
    size: u64,
    lines: BTreeMap<u64, (String, u32)>,
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn number<const N: usize>(&mut self) -> [u8; N] {
        let (head, rest) = self.0.split_at(N);
        self.0 = rest;
        head.try_into().unwrap()
    }
    fn word(&mut self) -> u32 {
        u32::from_ne_bytes(self.number())
    }
    fn long(&mut self) -> u64 {
        u64::from_ne_bytes(self.number())
    }
    fn text(&mut self) -> String {
        let end = self.0.iter().position(|byte| *byte == 0).unwrap();
        let text = String::from_utf8(self.0[..end].to_vec()).unwrap();
        self.0 = &self.0[end + 1..];
        text
    }
}

/// The functions of a dump, as the format is described in the sources of Linux.
fn read(bytes: &[u8]) -> Vec<Dumped> {
    let mut header = Reader(bytes);
    let [magic, version, size, machine] = [(); 4].map(|()| header.word());
    assert_eq!((magic, version, size), (0x4a69_5444, 1, 40));
    assert_eq!(machine, if cfg!(target_arch = "aarch64") { 183 } else { 62 });
    let (mut rest, mut all, mut lines) = (&bytes[40..], Vec::new(), BTreeMap::new());
    while !rest.is_empty() {
        let mut record = Reader(rest);
        let (kind, size, _time) = (record.word(), record.word() as usize, record.long());
        record.0 = &record.0[..size - 16];
        match kind {
            0 => {
                let (_pid, _tid, address, again) = (record.word(), record.word(), record.long(), record.long());
                let (size, number) = (record.long(), record.long());
                assert_eq!((address, number), (again, all.len() as u64));
                let name = record.text();
                assert_eq!(record.0.len() as u64, size);
                all.push(Dumped { name, address, size, lines: std::mem::take(&mut lines) });
            }
            2 => {
                let (_code, count) = (record.long(), record.long());
                for _ in 0..count {
                    let (address, line, _discriminator) = (record.long(), record.word(), record.word());
                    lines.insert(address, (record.text(), line));
                }
                assert!(record.0.is_empty());
            }
            other => panic!("a record of kind {other}"),
        }
        rest = &rest[size..];
    }
    all
}

/// The functions of each dump below a folder.
fn dumps(folder: &Path) -> Vec<Vec<Dumped>> {
    let all = std::fs::read_dir(folder).unwrap().flat_map(|entry| {
        let folder = entry.unwrap().path();
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path())
    });
    let read_one = |path: std::path::PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        assert!(name.starts_with("jit-") && name.ends_with(".dump"), "{name}");
        read(&std::fs::read(&path).unwrap())
    };
    all.map(read_one).collect()
}

/// Code that was freed leaves its dump behind, whatever lies at its place afterwards.
#[test]
fn each_program_has_a_dump_of_its_own() {
    let place = Workplace::new();
    let ran =
        place.run_with("run blur --size 64x48 --bench 1", &[("HALIDE_PERF", "jitdump"), ("HALIDE_PERF_DIR", "dumps")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let all = dumps(&place.path("dumps"));
    assert!(all.len() >= 3, "it is compiled twice more: {}", all.len());
    assert!(all.iter().all(|functions| functions.iter().any(|f| f.name == "pipeline")), "{all:?}");
}

#[test]
fn profilers_find_the_lines_of_definitions() {
    let place = Workplace::new();
    let args = "run blur --size 1024x256 --threads 1 --schedule strips";
    let ran = place.run_with(args, &[("HALIDE_PERF", "jitdump"), ("HALIDE_PERF_DIR", "dumps")]);
    assert_eq!(ran.status, 0, "{}", ran.stderr);
    let mut all = dumps(&place.path("dumps"));
    assert_eq!(all.len(), 1, "one program is compiled");
    let functions = all.remove(0);
    assert!(functions.iter().any(|f| f.name == "pipeline"), "{functions:?}");
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let loops: Vec<&Dumped> = functions.iter().filter(|f| f.name != "pipeline").collect();
    assert!(!loops.is_empty());
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/filters/blur.rs")).unwrap();
    for (func, at) in [("blur_x", "blur_x[(x, y)]"), ("blur_y", "blur_y[(x, y)]")] {
        let line = 1 + source.lines().position(|line| line.trim_start().starts_with(at)).unwrap() as u32;
        let of_it = |(file, number): &(String, u32)| file.ends_with("blur.rs") && *number == line;
        assert!(loops.iter().any(|f| f.lines.values().any(of_it)), "{func} at {line}: {loops:?}");
    }
    for function in &functions {
        let within = |at: &u64| (function.address..function.address + function.size).contains(at);
        assert!(function.lines.keys().all(within), "{function:?}");
    }
}

/// A breakpoint at the line of a definition stops in the loop that computes it.
#[test]
fn debuggers_stop_at_the_lines_of_definitions() {
    if !cfg!(target_arch = "x86_64") {
        return skip(Need::Architecture("x86_64"), "instructions have lines there alone");
    }
    let source = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/src/filters/blur.rs")).unwrap();
    let line = 1 + source.lines().position(|line| line.trim_start().starts_with("blur_y[(x, y)]")).unwrap();
    let place = Workplace::new();
    // The line is also one of the program that builds the pipeline, so the breakpoint is set once there is code.
    let at = format!("break blur.rs:{line}");
    let mut gdb = std::process::Command::new("gdb");
    gdb.args(["-batch", "-nx", "-ex", "set disable-randomization off"]);
    gdb.args(["-ex", "tbreak __jit_debug_register_code", "-ex", "run", "-ex", "finish", "-ex", &at]);
    gdb.args(["-ex", "continue", "-ex", "info symbol $pc", "-ex", "delete", "-ex", "continue"]);
    gdb.args(["--args", env!("CARGO_BIN_EXE_halide"), "run", "blur", "--size", "64x48", "--threads", "1"]);
    gdb.args(["--schedule", "strips"]).env("HALIDE_PERF", "gdb").current_dir(place.path("."));
    let Ok(output) = gdb.output() else {
        return skip(Need::Program("gdb"), "");
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let said = format!("{text}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains(&format!("in pipeline () at apps/src/filters/blur.rs:{line}")), "{said}");
    assert!(text.contains("pipeline + ") && text.contains("in section .text of <in-memory"), "{said}");
    assert!(text.contains("exited normally"), "{said}");
}

#[test]
fn unknown_forms_of_dumps_are_refused() {
    let place = Workplace::new();
    std::fs::write(place.path("mine.txt"), "").unwrap();
    let cases = [("elf", "dumps", "there are jitdump and gdb"), ("jitdump", "mine.txt/dumps", "HALIDE_PERF_DIR")];
    for (form, folder, said) in cases {
        let ran = place.run_with("run blur --size 64x48", &[("HALIDE_PERF", form), ("HALIDE_PERF_DIR", folder)]);
        assert!(ran.status != 0 && ran.stderr.contains(said), "{}", ran.stderr);
    }
}
