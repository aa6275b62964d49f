//! Places of instructions: the loop and the purpose of each, in code of both generators.

use crate::harness::*;
use halide_core::types::ScalarType::I32;
use halide_cpu::{CodeLine, CpuOptions, Executable, Tier, compile};
use halide_ir::code_place::{CodePart, CodePlace};
use halide_ir::{BufId, LoopId, Program, build};

/// Two loops one after the other, of which the second is in a loop of its own; all of `lanes` elements at a time.
fn two_loops(lanes: u16) -> Program {
    let mut p = program(&[I32], &[I32]);
    let step = build::int(i64::from(lanes));
    let at = |k: &halide_ir::Expr| dense(build::mul(k.clone(), step.clone()), lanes);
    let load = |k: &halide_ir::Expr| build::load(BufId(0), I32, at(k), None);
    let first = serial(&mut p, build::int(8), |k| store(BufId(1), at(&k), load(&k)));
    let second = serial(&mut p, build::int(8), |k| store(BufId(1), at(&k), build::add(load(&k), load(&k))));
    let second = serial(&mut p, build::int(3), |_| second);
    p.body = build::block([first, second]);
    p
}

fn lines(code: &Executable) -> Vec<CodeLine> {
    code.functions().iter().flat_map(|f| f.lines.clone()).collect()
}

#[test]
fn instructions_are_in_the_loops_of_their_statements() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    for lanes in [1, 16] {
        let p = two_loops(lanes);
        for code in compiled_everywhere(&p) {
            let lines = lines(&code);
            assert!(lines.iter().all(|line| line.place.is_some()), "{lines:#?}");
            let count = |within| lines.iter().filter(|l| l.place.and_then(|p: CodePlace| p.within) == within).count();
            // The loop inside of the last one has the sums.
            let loops: Vec<LoopId> = p.loops.ids().collect();
            assert_eq!(loops.len(), 3);
            assert!(loops[..2].iter().all(|id| count(Some(*id)) >= 3), "{lines:#?}");
            let adds = |line: &&CodeLine| line.text.starts_with("vpaddd") || line.text.starts_with("paddd");
            for add in lines.iter().filter(adds) {
                assert_eq!(add.place.unwrap().within, Some(loops[1]), "{lines:#?}");
            }
            let ends = lines.iter().filter(|line| line.text == "ret");
            assert!(ends.into_iter().all(|end| end.place.unwrap().part == CodePart::Frame), "{lines:#?}");
        }
    }
}

/// Text is for readers alone: there is as much code with it as without.
#[test]
fn text_adds_no_instruction() {
    for tier in [Tier::Baseline].into_iter().chain(wide_tiers()) {
        for p in [two_loops(1), two_loops(16), two_loops(64)] {
            let bytes = |keep_text| {
                let options = CpuOptions { keep_text, tier, ..CpuOptions::default() };
                let stats = compile(&p, &options).unwrap().stats();
                (stats.bytes, stats.instructions, stats.stack)
            };
            assert_eq!(bytes(true), bytes(false));
        }
    }
}
