//! Outputs of runs: made ready so that what a run leaves out shows, and held against those expected.

use super::failure::Failure;
use crate::job::Difference;
use halide::prelude::*;

/// The bytes of outputs before a run, which no result is likely to have: what a run does not write differs.
const POISON: u8 = 0xA5;

/// Makes outputs ready for a run whose result is compared.
pub(crate) fn poison(outputs: &mut [AnyBuffer]) -> Result<(), Failure> {
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

/// The difference of results from those expected, which costs a look at the bytes where there is none.
pub(crate) fn difference(expected: &mut [AnyBuffer], outputs: &mut [AnyBuffer]) -> Difference {
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
