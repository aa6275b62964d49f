//! Results of versions: held against the interpreter, and then against the first version that agrees with it.

use super::super::failure::Failure;
use crate::job::{Difference, Job};
use halide::prelude::*;

/// The bytes of outputs before a run, which no result is likely to have: what a run does not write differs.
const POISON: u8 = 0xA5;

/// The verdict on a result.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Equal in every value.
    Same,
    /// Within what the schedule allows.
    Agrees(f64),
    /// Further off than the schedule allows.
    Differs(f64),
    /// Not known: why.
    Unchecked(String),
}

impl Verdict {
    fn new(difference: Difference, is_loose: bool) -> Verdict {
        match (difference.is_allowed(is_loose), difference.largest) {
            (true, 0.0) => Verdict::Same,
            (true, largest) => Verdict::Agrees(largest),
            (false, largest) => Verdict::Differs(largest),
        }
    }

    /// Returns true if the result may be taken.
    pub(super) fn is_right(&self) -> bool {
        matches!(self, Verdict::Same | Verdict::Agrees(_))
    }

    /// Returns true if the result is known not to be right.
    pub(super) fn is_wrong(&self) -> bool {
        matches!(self, Verdict::Differs(_))
    }

    pub(super) fn text(&self) -> String {
        match self {
            Verdict::Same => "same bits".to_string(),
            Verdict::Agrees(largest) => format!("agrees to {largest:.1e}"),
            Verdict::Differs(largest) => format!("DIFFERS by {largest}"),
            Verdict::Unchecked(why) => format!("not checked: {why}"),
        }
    }
}

/// The expected results.
pub(super) struct Judge {
    interpreter: Compiled,
    /// The outputs of the first version that is exactly right.
    expected: Option<Vec<AnyBuffer>>,
}

impl Judge {
    /// A judge with `interpreter`, the job compiled for it.
    pub(super) fn new(interpreter: Compiled) -> Judge {
        Judge { interpreter, expected: None }
    }

    /// Returns true if a verdict takes no longer than to read the outputs.
    pub(super) fn is_quick(&self) -> bool {
        self.expected.is_some()
    }

    /// Makes outputs ready for a run whose result is judged.
    pub(super) fn prepare(outputs: &mut [AnyBuffer]) -> Result<(), Failure> {
        for output in outputs {
            let ty = output.ty();
            let mut view = output.view_mut()?;
            match view.bytes_mut() {
                Some(bytes) => bytes.fill(POISON),
                None => view.fill(Scalar::int(ty, 0))?,
            }
        }
        Ok(())
    }

    /// Judges the outputs of a run. Outputs that are exactly right become the expected ones, with others in their
    /// place. `cancel` ends the interpreter early.
    pub(super) fn judge(
        &mut self,
        job: &Job,
        outputs: &mut Vec<AnyBuffer>,
        is_loose: bool,
        cancel: &Cancel,
    ) -> Verdict {
        let verdict = match &mut self.expected {
            Some(expected) => Ok(Verdict::new(difference(expected, outputs), is_loose)),
            None => {
                let difference = job.check_with(&self.interpreter, Some(cancel), outputs);
                difference.map(|difference| Verdict::new(difference, is_loose))
            }
        };
        let verdict = verdict.unwrap_or_else(|error| Verdict::Unchecked(error.to_string()));
        if let (None, Verdict::Same) = (&self.expected, &verdict)
            && let Ok(others) = job.outputs()
        {
            self.expected = Some(std::mem::replace(outputs, others));
        }
        verdict
    }
}

/// The difference of results from those expected, which costs a look at the bytes where there is none.
fn difference(expected: &mut [AnyBuffer], outputs: &mut [AnyBuffer]) -> Difference {
    let mut all = Difference::default();
    for (expected, output) in expected.iter_mut().zip(outputs) {
        if have_same_bytes(expected, output) {
            all.compared += expected.len();
        } else {
            all.add(expected, output);
        }
    }
    all
}

fn have_same_bytes(a: &mut AnyBuffer, b: &mut AnyBuffer) -> bool {
    if a.ty() != b.ty() || a.dims() != b.dims() {
        return false;
    }
    let (Ok(mut a), Ok(mut b)) = (a.view_mut(), b.view_mut()) else { return false };
    a.bytes_mut().is_some_and(|a| b.bytes_mut().is_some_and(|b| a == b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::App;
    use crate::job::Source;

    const HALVES: App = App::new("halves", "", |_| {
        let input = ImageParam::new("input", F32, 2);
        let (x, y) = vars!(x, y);
        let mut halves = Func::new("halves");
        halves[(x, y)] = input[(x, y)] * 0.5 + 1.0;
        Pipeline::new([&halves])
    });

    #[test]
    fn results_are_held_against_the_interpreter_and_then_the_first() -> Result<(), Box<dyn std::error::Error>> {
        let job = Job::new(&HALVES, Source::Random { seed: 0, width: 40, height: 30 }, &[])?;
        let interpreter = Compiler::new(&job.pipeline).engine(Engine::Interp).compile()?;
        let compiled = job.pipeline.compile(&Schedule::new(), &Target::host())?;
        let (mut judge, go_on, stop) = (Judge::new(interpreter), Cancel::new(), Cancel::new());
        let mut outputs = job.outputs()?;
        // What no run wrote differs.
        Judge::prepare(&mut outputs).map_err(|Failure(text)| text)?;
        assert!(!judge.judge(&job, &mut outputs, true, &go_on).is_right() && !judge.is_quick());
        job.run(&compiled, None, &mut outputs)?;
        stop.cancel();
        assert!(matches!(judge.judge(&job, &mut outputs, false, &stop), Verdict::Unchecked(_)));
        assert_eq!(judge.judge(&job, &mut outputs, false, &go_on), Verdict::Same);
        assert!(judge.is_quick());
        Judge::prepare(&mut outputs).map_err(|Failure(text)| text)?;
        job.run(&compiled, None, &mut outputs)?;
        assert_eq!(judge.judge(&job, &mut outputs, false, &go_on).text(), "same bits");
        // A place that the interpreter's parts do not reach.
        let at = [20, 3];
        let value = outputs[0].get(at).ok_or("it is inside")?.as_f64();
        outputs[0].set(at, Scalar::from(value as f32 + 1e-5))?;
        let (strict, loose) =
            (judge.judge(&job, &mut outputs, false, &go_on), judge.judge(&job, &mut outputs, true, &go_on));
        assert!(matches!(strict, Verdict::Differs(by) if by < 1e-4) && matches!(loose, Verdict::Agrees(_)));
        outputs[0].set(at, Scalar::from(f32::NAN))?;
        assert_eq!(judge.judge(&job, &mut outputs, true, &go_on).text(), "DIFFERS by inf");
        Ok(())
    }
}
