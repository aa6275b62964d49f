//! Machine files that are whole, torn, or lie.

use super::*;
use halide_ir::target::{Arch, Target};

fn machines() -> Vec<Machine> {
    let kinds =
        [(Arch::X86_64, 128), (Arch::X86_64, 256), (Arch::X86_64, 512), (Arch::Aarch64, 128), (Arch::Other, 64)];
    let targets = kinds.map(|(arch, vector_bits)| Target { arch, vector_bits, threads: 8, ..Target::host() });
    targets.iter().map(Machine::typical).chain([Machine::host()]).collect()
}

fn random(state: &mut u64) -> u64 {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    *state
}

#[test]
fn machines_are_read_as_they_were_written() {
    let mut state = 7;
    for machine in machines() {
        assert_eq!(read(write(&machine).unwrap().as_bytes()), Ok(machine.clone()));
        for _ in 0..200 {
            // Floats with all their digits.
            let mut machine = machine.clone();
            let mut share = || random(&mut state) as f64 / u64::MAX as f64 + 0.01;
            machine.ghz = share();
            machine.caches.iter_mut().for_each(|cache| cache.latency *= share());
            machine.memory.bytes_per_ns.iter_mut().for_each(|(_, rate)| *rate *= share());
            machine.vector.fmas = share() * 1e-2 + 0.001;
            assert_eq!(read(write(&machine).unwrap().as_bytes()), Ok(machine));
        }
    }
}

/// The text of a machine with one part replaced by another.
fn changed(from: &str, to: &str) -> String {
    let target = Target { arch: Arch::X86_64, vector_bits: 512, threads: 2, ..Target::host() };
    let text = write(&Machine::typical(&target)).unwrap();
    assert_eq!(text.matches(from).count(), 1, "{from} in\n{text}");
    text.replace(from, to)
}

#[test]
fn files_of_a_form() {
    let target = Target { arch: Arch::X86_64, vector_bits: 512, threads: 2, ..Target::host() };
    let text = write(&Machine::typical(&target)).unwrap();
    expect_test::expect![[r#"
        {
          "halide_machine": 2,
          "cores": 2,
          "ghz": 3.0,
          "caches": [
            {"bytes": 32768, "line": 64, "ways": 8, "unified": false, "shared_by": 1, "bytes_per_cycle": 64.0, "latency": 5.0},
            {"bytes": 1048576, "line": 64, "ways": 8, "unified": true, "shared_by": 1, "bytes_per_cycle": 32.0, "latency": 14.0},
            {"bytes": 33554432, "line": 64, "ways": 16, "unified": true, "shared_by": 8, "bytes_per_cycle": 16.0, "latency": 50.0}
          ],
          "memory": {
            "bytes_per_ns": [[1, 12.0], [2, 22.0]],
            "streamed_bytes_per_ns": [[1, 10.0], [2, 18.0]],
            "mixed_bytes_per_ns": [[1, 12.0], [2, 22.0]],
            "latency_ns": 110.0
          },
          "vector": {"bits": 512, "registers": 32, "loads": 1.0, "stores": 0.5, "issue": 6.0, "fmas": 1.0}
        }
    "#]]
    .assert_eq(&text);
}

#[test]
fn wrong_fields_are_named_with_their_lines() {
    let cases = [
        ("\"halide_machine\": 2", "\"halide_machine\": 1"),
        ("\"halide_machine\": 2", "\"halide_machine\": \"one\""),
        ("  \"halide_machine\": 2,\n", ""),
        ("  \"cores\": 2,\n", ""),
        ("\"cores\": 2", "\"cores\": 0"),
        ("\"cores\": 2", "\"cores\": -2"),
        ("\"cores\": 2", "\"cores\": 2.5"),
        ("\"cores\": 2", "\"cores\": 99999999999999999999999"),
        ("\"cores\": 2", "\"cores\": 2, \"cores\": 2"),
        ("\"ghz\": 3.0", "\"ghz\": -3.0"),
        ("\"ghz\": 3.0", "\"ghz\": 0"),
        ("\"ghz\": 3.0", "\"ghz\": 3e9"),
        ("\"ghz\": 3.0", "\"ghz\": 1e999"),
        ("\"ghz\": 3.0", "\"ghz\": null"),
        ("\"ghz\": 3.0", "\"ghz\": NaN"),
        ("\"ghz\": 3.0", "\"ghz\": \"fast, as all that is written in long texts\""),
        ("\"ways\": 16", "\"way\": 16"),
        ("\"ways\": 16", "\"ways\": 0"),
        ("\"ways\": 16", "\"ways\": 16777216"),
        ("\"bytes\": 32768, \"line\": 64", "\"bytes\": 32768, \"line\": 48"),
        ("\"unified\": false", "\"unified\": 0"),
        (" \"bytes_per_ns\": [[1, 12.0], [2, 22.0]]", " \"bytes_per_ns\": []"),
        (" \"bytes_per_ns\": [[1, 12.0], [2, 22.0]]", " \"bytes_per_ns\": [[1, 12.0], [1, 22.0]]"),
        (" \"bytes_per_ns\": [[1, 12.0], [2, 22.0]]", " \"bytes_per_ns\": [[1, 12.0, 3.0]]"),
        (" \"bytes_per_ns\": [[1, 12.0], [2, 22.0]]", " \"bytes_per_ns\": 12.0"),
        ("\"fmas\": 1.0", "\"fmas\": 1.0, \"überall\": 1"),
        ("\"latency_ns\": 110.0\n  }", "\"latency_ns\": 110.0\n  "),
    ];
    let errors = cases.map(|(from, to)| read(changed(from, to).as_bytes()).unwrap_err().to_string());
    expect_test::expect![[r#"
        line 2, column 21: `halide_machine` is 1, but this halide reads version 2; write a new one by `halide machine -o FILE`
        line 2, column 21: `halide_machine` is "one", but this halide reads version 2; write a new one by `halide machine -o FILE`
        line 1, column 1: `halide_machine` is missing; add it, or write a new one by `halide machine -o FILE`
        line 1, column 1: `cores` is missing; add it, or write a new one by `halide machine -o FILE`
        line 3, column 12: `cores` is 0, which no machine has; give a number from 1 to 65536
        line 3, column 12: `cores` is -2, which no machine has; give a number from 1 to 65536
        line 3, column 12: `cores` is 2.5, not an integer; give an integer
        line 3, column 12: `cores` is 99999999999999999999999, which no machine has; give a number from 1 to 65536
        line 3, column 24: `cores` is there twice; take one out
        line 4, column 10: `ghz` is -3.0, which no machine has; give a number from 0.001 to 100
        line 4, column 10: `ghz` is 0, which no machine has; give a number from 0.001 to 100
        line 4, column 10: `ghz` is 3e9, which no machine has; give a number from 0.001 to 100
        line 4, column 10: `ghz` is 1e999, which no machine has; give a number from 0.001 to 100
        line 4, column 10: `ghz` is null, not a number; give a number
        line 4, column 10: the machine file is no JSON here; mend it, or write a new one by `halide machine -o FILE`
        line 4, column 10: `ghz` is "fast, as all that is written in long te..., not a number; give a number
        line 8, column 44: `caches[2].way` is no field of a machine; did you mean `ways`?
        line 8, column 45: `caches[2].ways` is 0, which no machine has; give a number from 1 to 524288
        line 8, column 45: `caches[2].ways` is 16777216, which no machine has; give a number from 1 to 524288
        line 6, column 30: `caches[0].line` is 48, not a power of two; give one
        line 6, column 56: `caches[0].unified` is 0, not true or false; give true or false
        line 11, column 21: `memory.bytes_per_ns` has 0 elements; give from 1 to 64
        line 11, column 34: `memory.bytes_per_ns[1][0]` is 1, which no machine has; give a number from 2 to 65536
        line 11, column 22: `memory.bytes_per_ns[0]` is [1, 12.0, 3.0], not a list of a number of threads and a rate; give a list of a number of threads and a rate
        line 11, column 21: `memory.bytes_per_ns` is 12.0, not a list; give a list
        line 16, column 111: `vector.überall` is no field of a machine; take it out
        line 18, column 1: the machine file ends within a value; write a new one by `halide machine -o FILE`"#]].assert_eq(&errors.join("\n"));
    let text = |text: &[u8]| read(text).unwrap_err().to_string();
    expect_test::expect![[r#"
        line 1, column 1: the machine file ends within a value; write a new one by `halide machine -o FILE`
        line 2, column 1: the machine file is no text in UTF-8; write a new one by `halide machine -o FILE`
        line 1, column 1: the machine file is [1], not an object; give an object
        line 1, column 4: the machine file is no JSON here; mend it, or write a new one by `halide machine -o FILE`"#]]
    .assert_eq(&[text(b""), text(b"{\n\xff"), text(b"[1]"), text(b"{} {}")].join("\n"));
}

#[test]
fn machines_that_cannot_be_are_not_written() {
    let with = |change: fn(&mut Machine)| {
        let mut machine = Machine::typical(&Target::host());
        change(&mut machine);
        match write(&machine) {
            Err(MachineFileError::Field { field, .. }) => field,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(with(|m| m.ghz = f64::NAN), "ghz");
    assert_eq!(with(|m| m.vector.issue = f64::INFINITY), "vector.issue");
    assert_eq!(with(|m| m.caches[1].latency = -1.0), "caches[1].latency");
    assert_eq!(with(|m| m.caches.clear()), "caches");
    assert_eq!(with(|m| m.memory.bytes_per_ns[0].0 = 0), "memory.bytes_per_ns[0][0]");
}

/// No bytes panic: beginnings of files, files with one byte changed, and noise.
#[test]
fn any_bytes_are_a_machine_or_an_error() {
    let whole = write(&Machine::typical(&Target::host())).unwrap().into_bytes();
    let last = whole.len() - 1;
    for end in 0..last {
        assert!(read(&whole[..end]).is_err(), "{end}");
    }
    assert!(read(&whole[..last]).is_ok(), "the last byte ends a line");
    let (mut state, mut fine) = (99, 0);
    for _ in 0..20_000 {
        let mut bytes = whole.clone();
        for _ in 0..=random(&mut state) % 3 {
            let at = random(&mut state) as usize % bytes.len();
            let letters = b"\0\n\"{}[],:0129.-+eE\\u\xc3\xa9tn";
            bytes[at] = letters[random(&mut state) as usize % letters.len()];
        }
        match read(&bytes) {
            // It can be written, too.
            Ok(machine) => drop((fine += 1, write(&machine).unwrap())),
            Err(error) => assert!(error.to_string().starts_with("line "), "{error}"),
        }
    }
    assert!(fine > 100, "{fine} changes made another machine");
    for _ in 0..2_000 {
        let noise: Vec<u8> = (0..random(&mut state) % 40).map(|_| random(&mut state) as u8).collect();
        let _ = read(&noise);
    }
    let deep = "[".repeat(100_000);
    assert!(read(deep.as_bytes()).is_err());
    assert!(read(format!("{{\"halide_machine\": {deep}{}}}", "]".repeat(100_000)).as_bytes()).is_err());
}
