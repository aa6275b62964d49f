//! Calls of closures: what they are handed, what they may leave, and what makes no program.

use super::*;
use halide_core::externs::{Extern, ExternCall, ExternFault, ExternResult};
use halide_core::{ImageParam, Pipeline};

/// Tables of a program that copies `in`, calls a closure, and copies what that gives to `out`.
const TABLES: &str = "param n#p0: i32
buffer in#b0: u16 dims 1 input i0
buffer copy#b1: u16 dims 1 internal
buffer made#b2: u16 dims 1 internal
buffer out#b3: u16 dims 1 output 0
image i0 = b0
func f0 = (b1)
func f1 = (b2)
func f2 = (b3)
loop x#L0
loop y#L1
";

/// The program at a stage, in which the closure is called by `call`.
fn program(stage: &str, call: &str) -> Result<Program, String> {
    let flat = stage == "flat";
    let body = match flat {
        false => format!(
            "realize f0 [-1 extent 6] {{
               for L0 from -1 extent 6 {{ provide f0(L0): b1 = b0(L0) }}
               realize f1 [0 extent 4] {{
                 {call}
                 for L1 from 0 extent 4 {{ provide f2(L1): b3 = b2(L1) }}
               }}
             }}"
        ),
        true => format!(
            "alloc b1[6] {{
               for L0 from 0 extent 6 {{ b1[L0] = b0:u16[L0] }}
               alloc b2[4] {{
                 {call}
                 for L1 from 0 extent 4 {{ b3[L1] = b2:u16[L1] }}
               }}
             }}"
        ),
    };
    let row = "callee callee0 = \"twice\" (b2, b1) results 1 params (p0)";
    let text = format!("program {stage}\n{TABLES}{row}\ntemps 0\nbody {{\n{body}\n}}\n");
    let program: Program = text.parse().map_err(|e| format!("{e}\n{text}"))?;
    assert_eq!(program.to_string().parse::<Program>().as_ref(), Ok(&program), "text keeps it");
    verify::verify(&program).map_err(|errors| errors[0].to_string())?;
    Ok(program)
}

const BOUNDED: &str = "call callee0 b2 [0 extent 4] b1 [-1 extent 6]";
const FLAT: &str = "call callee0 b2 [0 extent 4 in 0 extent 4 stride 1] b1 [-1 extent 6 in -1 extent 6 stride 1]";

/// Runs a program with a closure, and parameter 3.
fn ran(
    program: &Program,
    compute: impl Fn(&mut ExternCall<'_>) -> ExternResult<()> + Send + Sync + 'static,
) -> Result<Vec<i64>, EvalError> {
    let stage = Extern::new("twice", [U16], 1).image(&ImageParam::new("in", U16, 1)).compute(compute);
    let stage = Pipeline::new([&stage]).unwrap().externs[0].clone();
    let mut outputs = [buffer(&[(0, 4)], |_, _| 9)];
    let input = buffer(&[(if program.stage == Stage::Flat { 0 } else { -1 }, 6)], |x, _| 10 * (x + 2));
    let options = Options { callees: &[stage], ..Options::default() };
    run_with(program, &[Scalar::from(3i32)], &[input], &mut outputs, &options)?;
    Ok((0..4).map(|x| outputs[0].get([x]).unwrap().as_i64()).collect())
}

/// The first input of each point and the parameter.
fn neighbours(call: &mut ExternCall<'_>) -> ExternResult<()> {
    let added = call.param(0).ok_or("no parameter")?.as_i64();
    assert_eq!(call.input(0).region(), Region::of_spans([(-1, 6)]));
    for at in call.region().clone().coords() {
        let sum = [-1, 1].map(|d| call.input(0).get([at[0] + d]).map_or(-1000, |v| v.as_i64())).iter().sum::<i64>();
        call.output(0).set(&at, Scalar::int(U16, (sum + added).into()))?;
    }
    Ok(())
}

#[test]
fn closures_are_handed_boxes() {
    let bounded = ran(&program("bounded", BOUNDED).unwrap(), neighbours);
    assert_eq!(bounded.unwrap(), [43, 63, 83, 103]);
    let flat = ran(&program("flat", FLAT).unwrap(), neighbours);
    assert_eq!(flat.unwrap(), [63, 83, 103, 123]);
    // Of an empty box it is not called, and nobody has what it would leave.
    let empty = program("bounded", "call callee0 b2 [0 extent 0] b1 [-1 extent 6]").unwrap();
    let error = ran(&empty, |_| panic!("it is called")).unwrap_err();
    assert_eq!(error.check(), Some(Check::Uninitialised));
}

#[test]
fn failures_of_closures_end_the_run() {
    let program = program("bounded", BOUNDED).unwrap();
    let fault = |error: EvalError| match error {
        EvalError::Extern { callee: CalleeId(0), fault } => *fault,
        other => panic!("{other}"),
    };
    let failed = fault(ran(&program, |_| Err("no".into())).unwrap_err());
    assert_eq!(failed, ExternFault::Compute("no".into()));
    assert_eq!(fault(ran(&program, |_| panic!("oh")).unwrap_err()), ExternFault::Panic("oh".into()));
    let images = [buffer(&[(-1, 6)], |_, _| 0)];
    let alone = run(&program, &[Scalar::from(3i32)], &images, &mut [buffer(&[(0, 4)], |_, _| 9)]).unwrap_err();
    assert_eq!(alone.to_string(), "no closure is given for `twice`");
}

/// Boxes are inside of memory, and what is read of them is there; what depends on what is not is not there either.
#[test]
fn boxes_are_checked() {
    let check = |stage: &str, call: &str| ran(&program(stage, call).unwrap(), |_| Ok(())).unwrap_err().check();
    assert_eq!(check("bounded", "call callee0 b2 [0 extent 4] b1 [-1 extent 7]"), Some(Check::ReadOutside));
    assert_eq!(check("bounded", "call callee0 b2 [1 extent 4] b1 [-1 extent 6]"), Some(Check::WriteOutside));
    let far = FLAT.replace("b2 [0 extent 4", "b2 [1 extent 4");
    assert_eq!(check("flat", &far), Some(Check::WriteOutside));
    let text = program("bounded", BOUNDED).unwrap().to_string();
    let short = text.replace("from -1 extent 6", "from -1 extent 5");
    assert_ne!(short, text);
    let error = ran(&short.parse().unwrap(), |_| Ok(())).unwrap_err();
    assert_eq!(error.check(), Some(Check::Uninitialised), "{error}");
}

#[test]
fn calls_that_make_no_program() {
    let refused = |stage: &str, call: &str| program(stage, call).unwrap_err();
    let swapped = refused("bounded", "call callee0 b1 [-1 extent 6] b2 [0 extent 4]");
    assert!(swapped.contains("callee0 is handed other buffers than those of its row"), "{swapped}");
    assert!(refused("bounded", "call callee1 b2 [0 extent 4]").contains("callee1 is not in the table"));
    let plain = refused("bounded", FLAT);
    assert!(plain.contains("has 1 dimensions, and 1 in memory"), "{plain}");
    let flat = refused("flat", BOUNDED);
    assert!(flat.contains("has 1 dimensions, and 0 in memory"), "{flat}");
    let dims = refused("bounded", "call callee0 b2 [0 extent 4] [0 extent 1] b1 [-1 extent 6]");
    assert!(dims.contains("has 2 dimensions, and 0 in memory"), "{dims}");
}
