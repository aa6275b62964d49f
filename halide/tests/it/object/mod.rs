//! Objects for linking: a C program without a compiler in it computes what the interpreter does, and refuses the calls
//! that it should.

mod program;

use crate::engines_agree::noise;
use halide::VariantKey;
use halide::buffer::{AnyBuffer, Region};
use halide::error::ObjectProblem;
use halide::externs::Extern;
use halide::prelude::*;
use program::{Answer, CCall, Given, Scratch, linked, output_of, run, runtime, type_number, with_gaps};
use std::fs;
use std::process::Command;
use std::sync::{Arc, Mutex};

/// Two images, two parameters, two outputs in one tuple, and a stage in between.
fn scaled() -> Pipeline {
    let (a, b) = (ImageParam::new("a", U8, 2), ImageParam::new("b", F32, 2));
    let gain = Param::<f32>::new("gain").with_range(0.0, 100.0);
    let shift = Param::<i32>::new("shift").with_default(3);
    let (x, y) = vars!(x, y);
    let (mut rows, mut out) = (Func::new("rows"), Func::new("out"));
    rows[(x, y)] = cast::<f32>(a[(x, y)]) + cast::<f32>(a[(x + 2, y)]) * b[(x, y)];
    let sum = rows[(x, y)] + rows[(x, y + 1)];
    out[(x, y)] = tuple([sin(sum) * gain, cast::<f32>(a[(x + 1, y + 1)] / 2) + exp(b[(x, y)]) + shift]);
    Pipeline::new([&out]).unwrap()
}

const TILED: &str = "rows: store_at(out, yo) compute_at(out, yi) vectorize(x, 8)
    out: split(y, yo, yi, 8) parallel(yo) vectorize(x, 16)";

fn compiled(engine: Engine) -> Compiled {
    let schedule = TILED.parse().unwrap();
    let compiler = Compiler::new(&scaled()).schedule(&schedule).engine(engine);
    compiler.compile().unwrap_or_else(|error| panic!("{error}"))
}

/// The arguments of a call in order: parameters, images, outputs over a region, whose rows have gaps.
fn arguments(min: [i64; 2], size: [i64; 2], gap: i64) -> ([AnyBuffer; 2], [AnyBuffer; 2]) {
    let region = |more: [i64; 2]| Region::of_spans([(min[0], size[0] + more[0]), (min[1], size[1] + more[1])]);
    let image = |ty, more| {
        let dense = noise(ty, &region(more), 5);
        let mut image = with_gaps(ty, &region(more), gap);
        image.view_mut().unwrap().copy_from(&dense).unwrap();
        image
    };
    let output = || with_gaps(F32, &region([0, 0]), gap);
    ([image(U8, [2, 1]), image(F32, [0, 1])], [output(), output()])
}

fn call(images: &[AnyBuffer; 2], outputs: &[AnyBuffer; 2]) -> CCall {
    let arguments = vec![
        Given::param("gain", 1.5f32),
        Given::param("shift", -4i32),
        Given::buffer("a", 1, &images[0]),
        Given::buffer("b", 1, &images[1]),
        Given::buffer("", 2, &outputs[0]),
        Given::buffer("", 2, &outputs[1]),
    ];
    CCall { arguments, typed: false, message_size: 999, memory_cap: 0 }
}

fn ordinary() -> CCall {
    let (images, outputs) = arguments([0, 0], [40, 20], 0);
    call(&images, &outputs)
}

#[test]
fn a_c_program_computes_what_the_interpreter_does() {
    let Some(runtime) = runtime() else { return };
    let scratch = Scratch::new("values");
    let object = compiled(crate::CPU).object("scaled").unwrap();
    let reference = compiled(Engine::Interp);
    let (mut calls, mut expected) = (Vec::new(), Vec::new());
    let sizes = [[1, 1], [7, 1], [1, 13], [16, 8], [31, 17], [101, 23], [257, 64], [0, 5]];
    for (i, size) in sizes.into_iter().enumerate() {
        for (min, gap) in [([0, 0], 0), ([-11, -3], 0), ([5, -70], 3)] {
            let (images, mut outputs) = arguments(min, size, gap);
            let mut call = call(&images, &outputs);
            // By position, by name in another order, and by the function of the header.
            match i % 3 {
                0 => call.arguments.iter_mut().for_each(|a| a.name = ""),
                1 => call.arguments.swap(0, 3),
                _ => call.typed = true,
            }
            calls.push(call);
            let [one, two] = &mut outputs;
            let mut views = [one.view_mut().unwrap(), two.view_mut().unwrap()];
            let given = reference.inputs().param_named("gain", 1.5f32).param_named("shift", -4i32);
            let given = given.image_named("a", images[0].clone()).image_named("b", images[1].clone());
            given.realize_all_into(&mut views).unwrap();
            let bytes = |out: &AnyBuffer| out.memory().bytes[out.memory().used].to_vec();
            expected.push(Answer { code: 0, message: String::new(), outputs: outputs.iter().map(bytes).collect() });
        }
    }
    for flags in [&["-DTYPED", "-pie", "-Wl,-z,text"][..], &["-DTYPED", "-no-pie", "-Wl,--gc-sections"]] {
        let program = linked(&object, &scratch, &runtime, flags);
        let (found, printed) = run(&program, &calls);
        assert_eq!(printed, "");
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert_eq!(found.message, "", "call {i}");
            assert!(found == expected, "call {i} differs");
        }
        assert_eq!(found.len(), calls.len());
        let symbols = Command::new("nm").arg(&program).output();
        if let Ok(symbols) = symbols {
            let symbols = String::from_utf8_lossy(&symbols.stdout).into_owned();
            assert!(symbols.contains("scaled$0") && symbols.contains("halide_rt_allocate"), "{symbols}");
            let compilers = symbols.lines().filter(|l| l.contains("cranelift") || l.contains("regalloc2")).count();
            assert_eq!(compilers, 0, "the program has a compiler");
        }
    }
}

/// Changes a call that is right.
type Change = fn(&mut CCall);

/// Calls that are wrong, with the number and the message that each gets.
const WRONG: [(Change, i64, &str); 18] = [
    (|c| drop(c.arguments.remove(2)), 1, "input image `a` was not given; bind a buffer to it"),
    (|c| c.arguments[2].name = "c", 1, "`c`"),
    (|c| c.arguments[1].name = "gain", 1, "argument 1 gives `gain` a second time"),
    (|c| c.arguments[0] = Given::param("gain", 200.0f32), 1, "gain"),
    (|c| c.arguments[0] = Given::param("gain", f32::NAN), 1, "gain"),
    (|c| c.arguments[0] = Given::param("gain", 2i32), 1, "f32"),
    (|c| c.arguments[2].ty = type_number(I8), 1, "u8"),
    (|c| c.arguments[2].ty = 13, 1, "argument 2 has type 13"),
    (|c| c.arguments[2].kind = 7, 1, "argument 2 has kind 7"),
    (|c| c.arguments[3].dims().truncate(1), 1, "`b`"),
    (|c| c.arguments[2].dims()[0][1] = -1, 1, "-1"),
    (|c| c.arguments[2].dims()[1][2] = 0, 1, "0"),
    (|c| c.arguments[2].dims()[0][1] = 41, 2, "`a`"),
    (|c| drop(c.arguments.pop()), 1, "2"),
    (|c| c.arguments[5].dims()[0][1] = 39, 1, "`out`"),
    (|c| c.arguments.push(c.arguments[1].clone()), 1, "a second time"),
    (|c| c.memory_cap = 8, 3, "`rows`"),
    (
        |c| c.arguments[3].bytes().extend([0; 2]),
        1,
        "argument 3 has elements of 4 bytes at an address that is no multiple",
    ),
];

#[test]
fn wrong_arguments_get_messages() {
    let Some(runtime) = runtime() else { return };
    let scratch = Scratch::new("wrong");
    let object = compiled(crate::CPU).object("scaled").unwrap();
    let program = linked(&object, &scratch, &runtime, &[]);
    let mut calls: Vec<CCall> = Vec::new();
    for (change, ..) in WRONG {
        let mut call = ordinary();
        change(&mut call);
        calls.push(call);
    }
    calls.push(CCall { message_size: 12, ..calls[0].clone() });
    calls.push(ordinary());
    let (answers, _) = run(&program, &calls);
    for (i, ((_, code, words), answer)) in WRONG.iter().zip(&answers).enumerate() {
        assert_eq!(answer.code, *code, "{i}: {}", answer.message);
        assert!(answer.message.contains(words), "{i}: {}", answer.message);
        assert!(answer.outputs.iter().flatten().all(|byte| *byte == 0), "{i}: something was written");
    }
    let [cut, right] = &answers[WRONG.len()..] else { panic!("two more answers") };
    assert_eq!((cut.code, cut.message.as_str()), (1, "input image"));
    assert_eq!((right.code, right.message.as_str()), (0, ""), "the program goes on after errors");
}

/// An image of coordinates below ten at an address that is a multiple of 32, whose rows are whole words; a line for
/// each nine.
fn ruled() -> Pipeline {
    let input = ImageParam::new("input", U8, 2);
    input.promise_values(0, 9);
    input.set_host_alignment(32);
    input.dim(0).set_min(0).set_extent_multiple_of(4);
    let table = ImageParam::new("table", U16, 1);
    let (x, y) = vars!(x, y);
    let mut out = Func::new("out");
    let value = table[cast::<i32>(input[(x, y)])];
    out[(x, y)] = print_when(input[(x, y)].eq(9), value, (x, "has", cast::<f32>(input[(x, y)])));
    Pipeline::new([&out]).unwrap()
}

#[test]
fn rules_and_promises_are_checked_and_lines_are_printed() {
    let Some(runtime) = runtime() else { return };
    let scratch = Scratch::new("rules");
    let schedule = "out: vectorize(x, 8) parallel(y)".parse().unwrap();
    let compiler = Compiler::new(&ruled()).schedule(&schedule);
    let object = compiler.clone().engine(crate::CPU).compile().unwrap().object("scaled").unwrap();
    let program = linked(&object, &scratch, &runtime, &[]);
    let input =
        Buffer::from_fn(&Region::of_extents([32, 4]), |at| ((at[0] + at[1] * 32) % 10) as u8).unwrap().into_any();
    let table = noise(U16, &Region::of_extents([10]), 3);
    let mut out = AnyBuffer::new(U16, [32, 4]).unwrap();
    let arguments =
        vec![Given::buffer("input", 1, &input), Given::buffer("table", 1, &table), Given::buffer("", 2, &out)];
    let right = CCall { arguments, typed: false, message_size: 999, memory_cap: 0 };
    let changed = |change: Change| {
        let mut call = right.clone();
        change(&mut call);
        call
    };
    let calls = [
        right.clone(),
        changed(|c| c.arguments[0].bytes()[7] = 10),
        changed(|c| c.arguments[0].dims()[0] = [0, 30, 1]),
        changed(|c| c.arguments[0].dims()[0][0] = 4),
        // The driver puts buffers at the end of a page, so the first element is 8 bytes below a multiple.
        changed(|c| c.arguments[0].bytes().extend([0; 8])),
        changed(|c| c.arguments[1].dims()[0][1] = 9),
    ];
    let (answers, printed) = run(&program, &calls);
    let reference = compiler.engine(Engine::Interp).compile().unwrap();
    let given = reference.inputs().image_named("input", input).image_named("table", table);
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = lines.clone();
    let given = given.print_to(move |line| kept.lock().unwrap().push(line.to_string()));
    given.realize_all_into(&mut [out.view_mut().unwrap()]).unwrap();
    assert_eq!((answers[0].code, answers[0].message.as_str()), (0, ""));
    assert!(answers[0].outputs[0] == out.memory().bytes[..256], "values differ");
    let mut printed: Vec<&str> = printed.lines().collect();
    let mut lines = lines.lock().unwrap().clone();
    printed.sort_unstable();
    lines.sort_unstable();
    assert_eq!(printed, lines);
    assert_eq!(lines.len(), 12);
    let expected = ["`input`", "an extent that is a multiple of 4", "needs min 0", "multiple of 32", "`table`"];
    for (answer, words) in answers[1..].iter().zip(expected) {
        assert!(answer.code > 0 && answer.message.contains(words), "{}: {}", answer.code, answer.message);
    }
}

/// A program in Rust that runs an object: links it, and prints what the pipeline computes.
const RUST_PROGRAM: &str = r#"
use halide_runtime::buffer::{AnyBuffer, Region};
use halide_runtime::{Inputs, RunOptions, types};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let image = |ty, width, height| AnyBuffer::with_region(ty, &Region::of_extents([width, height]));
    let inputs = Inputs::new().param("gain", 1.0f32).image("a", image(types::U8, 6, 3)?);
    let inputs = inputs.image("b", image(types::F32, 4, 3)?);
    let (mut one, mut two) = (image(types::F32, 4, 2)?, image(types::F32, 4, 2)?);
    scaled_pipeline.run(&inputs, &mut [one.view_mut()?, two.view_mut()?], &RunOptions::default())?;
    println!("{:?} {:?}", one.typed::<f32>()?.to_vec(), two.typed::<f32>()?.to_vec());
    let refused = scaled_pipeline.run(&inputs.without_images(), &mut [], &RunOptions::default()).unwrap_err();
    println!("{:?}", refused.code());
    Ok(())
}
"#;

#[test]
fn a_rust_program_runs_an_object() {
    let Some(runtime) = runtime() else { return };
    let scratch = Scratch::new("rust");
    let object = compiled(crate::CPU).object("scaled").unwrap();
    let source = RUST_PROGRAM.to_string() + &object.binding();
    fs::write(scratch.path("main.rs"), source).unwrap();
    fs::write(scratch.path("scaled.o"), object.bytes()).unwrap();
    let (program, folder) = (scratch.path("main"), runtime.parent().unwrap());
    let mut rustc = Command::new(std::path::Path::new(env!("CARGO")).with_file_name("rustc"));
    rustc.args(["--edition", "2024", "-o"]).arg(&program).arg(scratch.path("main.rs"));
    rustc.arg("--extern").arg(format!("halide_runtime={}", folder.join("libhalide_runtime.rlib").display()));
    rustc.arg("-L").arg(format!("dependency={}", folder.join("deps").display()));
    rustc.arg("-C").arg(format!("link-arg={}", scratch.path("scaled.o").display()));
    output_of(&mut rustc);
    let zeros = ["0.0"; 8].join(", ");
    let fours = ["4.0"; 8].join(", ");
    assert_eq!(output_of(&mut Command::new(program)), format!("[{zeros}] [{fours}]\nArgument\n"));
}

#[test]
fn objects_are_the_same_bytes_each_time() {
    if runtime_is_elsewhere() {
        return;
    }
    let [one, two] = [(); 2].map(|()| compiled(crate::CPU).object("scaled").unwrap());
    assert_eq!(one, two);
    assert_eq!(&one.bytes()[..4], b"\x7fELF");
    assert!(one.variants().len() >= 4 && one.variants()[0] == VariantKey::default(), "{:?}", one.variants());
    assert!(one.binding().contains("scaled_pipeline: halide_runtime::Pipeline;"));
}

/// Tells the ledger where there are no objects.
fn runtime_is_elsewhere() -> bool {
    let elsewhere = !cfg!(all(target_os = "linux", target_arch = "x86_64"));
    if elsewhere {
        halide_skips::skip(halide_skips::Need::System("linux"), "objects for linking");
    }
    elsewhere
}

#[test]
fn headers_are_those_of_c_plus_plus_as_well() {
    if runtime().is_none() {
        return;
    }
    if Command::new("c++").arg("--version").output().is_err() {
        return halide_skips::skip(halide_skips::Need::Program("c++"), "headers of objects");
    }
    let scratch = Scratch::new("header");
    let object = compiled(crate::CPU).object("scaled").unwrap();
    let file = scratch.path("scaled.h");
    fs::write(&file, object.header()).unwrap();
    output_of(Command::new("c++").args(["-std=c++17", "-Wall", "-Werror", "-fsyntax-only", "-x", "c++"]).arg(&file));
}

#[test]
fn what_needs_this_process_is_no_object() {
    let problem = |compiled: &Compiled, name: &str| match compiled.object(name) {
        Err(Error::Object(problem)) => problem,
        other => panic!("{other:?}"),
    };
    for name in ["", "2d", "a-b", "int", "ä"] {
        assert_eq!(problem(&compiled(crate::CPU), name), ObjectProblem::Name { name: name.to_string() });
    }
    let evaluated = compiled(Engine::Eval);
    assert_eq!(problem(&evaluated, "scaled"), ObjectProblem::Engine { engine: "Eval".into() });
    // Called once before a run, or per iteration of a loop.
    for schedule in ["", "stage: compute_at(out, x)"] {
        let input = ImageParam::new("input", U8, 1);
        let stage = Extern::new("stage", [U8], 1).image(&input).compute(|_| Ok(()));
        let (mut out, x) = (Func::new("out"), Var::new("x"));
        out[x] = stage[x] + 1;
        let pipeline = Pipeline::new([&out]).unwrap();
        let compiler = Compiler::new(&pipeline).engine(crate::CPU).schedule(&schedule.parse().unwrap());
        assert_eq!(problem(&compiler.compile().unwrap(), "out"), ObjectProblem::Stages, "{schedule}");
    }
    let (mut f, x) = (Func::new("f"), Var::new("x"));
    f[x] = require(x.expr().lt(9), x.expr(), "few");
    let required = Pipeline::new([&f]).unwrap();
    let required = Compiler::new(&required).engine(crate::CPU).compile().unwrap();
    let problem = problem(&required, "f");
    assert_eq!(problem, ObjectProblem::Requirements);
    let expected = "an object cannot have requirements: if one fails at a point that somebody needs, only the interpreter can \
                    tell\n  help: give parameters a range, and check the rest before the call";
    assert_eq!(problem.to_string(), expected);
}
