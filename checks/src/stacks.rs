//! Machine code on threads with little stack: frames that are too large for a thread run on a stack of their own, and
//! none steps over a guard page.

use crate::case::Case;
use crate::class::refused_by_lowering;
use crate::engines::{self, Settled};
use crate::failure::{Failure, Outcome, compare, failure};
use crate::sizes::Sizes;
use crate::theme;
use crate::tiers::tiers;
use halide::ir::Stage;
use halide::plan;
use halide_cpu::{CpuError, CpuOptions, Executable};

/// Bytes of the thread's stack: what the runtime takes, and little more.
const STACK: usize = 112 << 10;

/// The case of a number among those whose factors are far above their extents.
pub fn case(number: u64) -> Case {
    Case::random(theme::with_code(number))
}

/// Runs the program with exact tails as machine code of each tier on a small stack.
pub fn check(case: &Case) -> Result<Outcome, Failure> {
    let mut case = case.main_part();
    let Ok(plan) = plan::resolve(&case.pipeline, &case.schedule, &case.target) else {
        return Ok(Outcome::Refused("illegal schedule".into()));
    };
    let programs = match engines::lower_to(&plan, true, &[Stage::Final]) {
        Ok(made) => made.into_iter().map(|program| (true, program)).collect::<Vec<_>>(),
        Err(errors) => return refused_by_lowering(&errors),
    };
    let rounds = case.schedule.reassociates() && case.pipeline.exprs.iter().any(|node| node.ty.is_float());
    let mut inputs = Sizes::new(&case);
    let expected = match engines::settled(&mut case, &plan, &programs, &mut inputs)? {
        Settled::Refused(why) => return Ok(Outcome::Refused(why)),
        Settled::Values(outputs, expected) if rounds => {
            outputs.into_iter().next().map_or(expected, |(_, ran)| ran.outputs)
        }
        Settled::Values(_, expected) => expected,
    };
    let program = &programs[0].1;
    for tier in tiers() {
        let code = match halide_cpu::compile(program, &CpuOptions { tier, ..CpuOptions::default() }) {
            Ok(code) => code,
            Err(CpuError::TooLarge { .. } | CpuError::Stack { .. }) => {
                return Ok(Outcome::Refused("too much code".into()));
            }
            Err(e) => return Err(failure("cpu refuses", format!("{e}\n{program}"))),
        };
        let run = |code: &Executable| engines::execute(&case, program, code, &inputs, 1, None);
        let ran = on_small_thread(|| run(&code).map_err(|e| failure("buffers", e)))??;
        let ran =
            ran.map_err(|fault| failure("cpu fault on a small stack", format!("{tier:?}: {fault}\n{program}")))?;
        compare(&format!("cpu {tier:?} on a small stack"), &ran.outputs, &expected)?;
    }
    Ok(Outcome::Compared)
}

/// Calls `f` on a thread with little stack.
fn on_small_thread<T: Send>(f: impl FnOnce() -> T + Send) -> Result<T, Failure> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, f);
        let thread = thread.map_err(|e| failure("no thread", e.to_string()))?;
        thread.join().map_err(|_| failure("panic on a small stack", "the thread panicked"))
    })
}
