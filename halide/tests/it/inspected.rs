//! Inspections: rows that refer to each other, and views that say the same.

use halide::inspect::{Language, NestKind, Purpose};
use halide::prelude::*;

/// Two Funcs, one of which has an update and is computed in a loop of the other.
fn pipeline() -> Pipeline {
    let input = ImageParam::new("input", I32, 2);
    let (x, y) = vars!(x, y);
    let (mut rows, mut out) = (Func::new("rows"), Func::new("out"));
    let mut twice = Func::new("twice");
    twice[(x, y)] = input[(x, y)] * 2;
    rows[(x, y)] = twice[(x, y)] + twice[(x, y + 1)];
    let r = RDom::new([(0, 3)]);
    rows[(x, y)] += input[(x + r.x, y)];
    out[(x, y)] = rows[(x, y)] + rows[(x + 1, y)];
    Pipeline::new([&out]).unwrap()
}

const SCHEDULE: &str =
    "out: split(y, yo, yi, 8) parallel(yo) vectorize(x, 8)\nrows: compute_at(out, yo) vectorize(x, 8)";

fn compiled() -> Compiled {
    let schedule = Schedule::parse(SCHEDULE, "mine.sched").unwrap();
    pipeline().compile(&schedule, &Target::host()).unwrap()
}

#[test]
fn rows_refer_to_each_other() {
    let inspection = compiled().inspect().unwrap();
    let names: Vec<(&str, usize)> = inspection.definitions.iter().map(|d| (d.func.as_str(), d.update)).collect();
    assert_eq!(names, [("twice", 0), ("rows", 0), ("rows", 1), ("out", 0)]);
    let [twice, rows, update, out] = [0, 1, 2, 3].map(|n| &inspection.definitions[n]);
    assert_eq!((twice.compute.as_str(), &twice.inlined_into[..]), ("inline", &[halide::inspect::DefinitionId(1)][..]));
    assert_eq!((rows.compute.as_str(), rows.store.as_str()), ("at out.yo", "at out.yo"));
    assert_eq!((out.compute.as_str(), out.is_output, &out.types[..]), ("at the root", true, &[I32][..]));
    assert_eq!(rows.reads.iter().map(|r| r.text.as_str()).collect::<Vec<_>>(), ["twice(x, y)", "twice(x, y + 1)"]);
    assert!(update.reads.iter().any(|read| read.is_image && read.of == "input"));
    assert!(update.at.line > rows.at.line && rows.at.file.ends_with("inspected.rs"));
    let parallel = inspection.loops.iter().position(|l| l.name == "out.yo").unwrap();
    let of = &inspection.loops[parallel];
    assert_eq!((of.definition.unwrap().0, of.parent, of.extent), (3, None, None));
    assert_eq!(of.directive.map(|at| (at.file, at.line)), Some(("mine.sched", 1)));
    // What is computed inside of a loop lies inside of its line.
    let line = inspection.nest.iter().position(|row| row.text == "parallel out.yo:").unwrap();
    assert_eq!(inspection.nest[line].within.unwrap().0, parallel);
    let compute =
        inspection.nest.iter().find(|row| row.kind == NestKind::Compute && row.text == "compute rows:").unwrap();
    assert_eq!((compute.within.unwrap().0, compute.definition.unwrap().0), (parallel, 1));
    assert!(compute.depth > inspection.nest[line].depth);
    // The loops of the update are the update's.
    let defines = inspection.nest.iter().filter(|row| row.kind == NestKind::Define);
    let defined: Vec<usize> = defines.map(|row| row.definition.unwrap().0).collect();
    assert_eq!(defined, [1, 2, 3]);
}

#[test]
fn views_say_what_the_inspection_does() {
    let compiled = compiled();
    let inspection = compiled.inspect().unwrap();
    assert_eq!(inspection.nest_text(), compiled.loops().unwrap());
    assert_eq!(inspection.decisions_text(), compiled.explain().unwrap());
    assert_eq!(inspection.ir, compiled.ir().unwrap());
    assert_eq!(inspection.storage, compiled.storage().unwrap());
    let code: String = inspection.code.iter().map(|unit| inspection.listing(unit)).collect();
    assert_eq!(code, compiled.asm().unwrap());
}

/// Instructions in loops belong to definitions, of all that have loops.
#[cfg(target_arch = "x86_64")]
#[test]
fn machine_code_is_of_definitions_and_loops() {
    for schedule in [SCHEDULE, "rows: compute_root()", "out: unroll(x, 4) rows: store_root() compute_at(out, y)"] {
        let compiled = pipeline().compile(&schedule.parse().unwrap(), &Target::host()).unwrap();
        let inspection = compiled.inspect().unwrap();
        let lines: Vec<_> = inspection.code.iter().flat_map(|unit| &unit.lines).collect();
        assert!(inspection.code.iter().all(|unit| unit.language == Language::Machine));
        let in_loops: Vec<_> = lines.iter().filter(|line| line.within.is_some()).collect();
        let nobodys = in_loops.iter().filter(|line| line.definition.is_none()).count();
        assert!(50 * nobodys <= in_loops.len(), "{nobodys} of {}: {}", in_loops.len(), compiled.asm().unwrap());
        for n in 1..4 {
            let own = |line: &&&&halide::inspect::CodeRow| line.definition.map(|id| id.0) == Some(n);
            assert!(in_loops.iter().filter(own).count() > 2, "definition {n} under {schedule}");
        }
        assert!(lines.iter().any(|line| line.purpose == Some(Purpose::Address)));
    }
}

#[test]
fn evaluators_have_no_code() {
    let pipeline = pipeline();
    for engine in [Engine::Eval, Engine::Interp] {
        let inspection = Compiler::new(&pipeline).engine(engine).compile().unwrap().inspect().unwrap();
        assert_eq!(inspection.code, []);
        assert_eq!(inspection.definitions.len(), 4);
    }
}
