//! Results of versions: held against the interpreter, and then against the first version that agrees with it.

use super::super::outputs::difference;
use crate::job::{Difference, Job};
use halide::prelude::*;

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

#[cfg(test)]
mod tests {
    use super::super::super::failure::Failure;
    use super::super::super::outputs::poison;
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
        poison(&mut outputs).map_err(|Failure(text)| text)?;
        assert!(!judge.judge(&job, &mut outputs, true, &go_on).is_right() && !judge.is_quick());
        job.run(&compiled, None, &mut outputs)?;
        stop.cancel();
        assert!(matches!(judge.judge(&job, &mut outputs, false, &stop), Verdict::Unchecked(_)));
        assert_eq!(judge.judge(&job, &mut outputs, false, &go_on), Verdict::Same);
        assert!(judge.is_quick());
        poison(&mut outputs).map_err(|Failure(text)| text)?;
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
