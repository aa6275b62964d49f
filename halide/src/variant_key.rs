//! The key of a variant: the calls that it serves, the way to lower it, and the variant to try after a fault.

use crate::error::Error;
use crate::fault::{CallFault, Defect};
use halide_core::buffer::{AnyBuffer, Dim};
use halide_core::ids::Id;
use halide_core::interp::Bound;
use halide_ir::{Fault, FaultId, Program};
use halide_sched::lower::{Accesses, LowerOptions, Pixels};

/// The calls that a variant serves. The default is the main variant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct VariantKey {
    /// Outputs smaller than a factor, and inputs that hold no more than what the algorithm reads.
    pub exact_tails: bool,
    /// Any stride of inputs and outputs.
    pub generic_strides: bool,
    /// Calls with interleaved inputs and outputs: those in which the values of a pixel lie beside each other.
    pub pixels: Pixels,
    /// Calls in which an input or an output has no elements.
    pub may_be_empty: bool,
    /// Values that the algorithm's requirements do not hold for, at points that are computed and that nobody needs.
    pub unchecked: bool,
    /// Calls with outputs in the memory of inputs, whose first definitions would copy it to itself: outputs by
    /// position, as bits.
    pub in_memory: u64,
    /// Calls for which checks of accesses before loops ask for more than the accesses need: each access that is not
    /// proved to be in bounds is checked where it stands.
    pub checks_in_place: bool,
    /// Calls that are profiled: the code says which definition it is at.
    pub marks: bool,
}

impl VariantKey {
    /// The variant that a call begins with, as far as its buffers say.
    pub(crate) fn of_call<'d>(bound: &'d Bound, outputs: impl Iterator<Item = &'d [Dim]>) -> VariantKey {
        let mut buffers = bound.images.iter().map(AnyBuffer::dims).chain(outputs);
        let may_be_empty = buffers.any(|dims| dims.iter().any(|dim| dim.extent == 0));
        VariantKey { may_be_empty, ..VariantKey::default() }
    }

    /// The way to lower this variant.
    pub(crate) fn options(self) -> LowerOptions {
        // Marks are the code generator's.
        let VariantKey { exact_tails, generic_strides, pixels, may_be_empty, unchecked, in_memory, .. } = self;
        let in_memory = (0..64).filter(|position| in_memory >> position & 1 == 1).collect();
        let accesses = if self.checks_in_place { Accesses::InPlace } else { Accesses::BeforeLoops };
        let others = LowerOptions::default();
        LowerOptions { exact_tails, generic_strides, pixels, may_be_empty, unchecked, in_memory, accesses, ..others }
    }

    /// The calls that it serves, in words.
    pub(crate) fn describe(self) -> String {
        if self == VariantKey::default() {
            return "main".to_string();
        }
        let serves = [
            (self.in_memory != 0, "outputs in the memory of inputs, of which only updates run"),
            (self.exact_tails, "small outputs or tight inputs"),
            (self.generic_strides, "rows with gaps"),
            (!self.pixels.is_empty(), "interleaved inputs or outputs"),
            (self.may_be_empty, "empty inputs or outputs"),
            (self.unchecked, "values at points that nobody needs"),
            (self.checks_in_place, "accesses that are checked where they stand"),
            (self.marks, "profiles"),
        ];
        let serves: Vec<&str> = serves.into_iter().filter(|(serves, _)| *serves).map(|(_, text)| text).collect();
        format!("for {}, made when a call needed it", serves.join(", and "))
    }
}

/// The variant to try after one ended with a fault; `None` if the call is wrong for every variant. `pixels` says which
/// buffers of the call are interleaved, if they are all dense or that.
pub(crate) fn next(key: VariantKey, fault: &Fault, pixels: impl FnOnce() -> Option<Pixels>) -> Option<VariantKey> {
    match fault {
        Fault::NotThisVariant | Fault::InputTooSmall { .. } if !key.exact_tails => {
            Some(VariantKey { exact_tails: true, ..key })
        }
        Fault::Stride { .. } if !key.generic_strides => match pixels().filter(|_| key.pixels.is_empty()) {
            Some(pixels) if !pixels.is_empty() => Some(VariantKey { pixels, ..key }),
            _ => Some(VariantKey { generic_strides: true, pixels: Pixels::default(), ..key }),
        },
        Fault::Unproved if !key.checks_in_place => Some(VariantKey { checks_in_place: true, ..key }),
        _ => None,
    }
}

/// Returns true if a run may end for the sake of another variant when it has computed something.
pub(crate) fn may_end_midway(program: &Program) -> bool {
    program.faults.iter().any(|fault| *fault == Fault::Unproved)
}

/// Returns true if a second run differs from the first: it prints again, or updates what the first has updated.
pub(crate) fn cannot_run_twice(program: &Program) -> bool {
    !program.prints.is_empty() || program.buffers.iter().any(|info| info.keeps)
}

/// The variant to run in place of that of `key`, whose program may end midway and cannot run twice; `None` if it does
/// for a start.
#[cfg(feature = "cpu")]
pub(crate) fn run_first(key: VariantKey, program: &Program) -> Option<VariantKey> {
    let is_other = !key.checks_in_place && may_end_midway(program) && cannot_run_twice(program);
    is_other.then_some(VariantKey { checks_in_place: true, ..key })
}

/// The error of a fault that no other variant is without.
pub(crate) fn fault_error(program: &Program, fault: FaultId, args: &[i64]) -> Error {
    match program.faults.get(fault) {
        Some(found @ Fault::Access { .. }) => Error::Internal(Defect::Access { message: found.message(program, args) }),
        Some(found) => Error::Fault(CallFault::of_program(found, program, args)),
        None => Error::Internal(Defect::UnknownFault { fault: fault.index(), args: args.to_vec() }),
    }
}

#[cfg(test)]
mod tests {
    use crate::variant_key::*;
    use halide_core::{Func, Pipeline, Var};
    use halide_ir::BufId;
    use halide_ir::target::Target;
    use halide_sched::lower::lower;
    use halide_sched::plan::resolve;
    use halide_sched::schedule::Schedule;

    fn program() -> Program {
        let (mut f, x) = (Func::new("f"), Var::new("x"));
        f[x] = x + 1;
        let plan = resolve(&Pipeline::new([&f]).unwrap(), &Schedule::new(), &Target::host()).unwrap();
        lower(&plan, &VariantKey::default().options()).unwrap().program
    }

    #[test]
    fn accesses_outside_of_a_buffer_are_a_defect_of_halide() {
        let mut program = program();
        let buf = program.buffers.ids().next().unwrap();
        let access = program.faults.push(Fault::Access { buf, at: "f.x".into() });
        let error = fault_error(&program, access, &[16, 23, 0, 15]);
        let Error::Internal(Defect::Access { message: text }) = &error else { panic!("{error:?}") };
        assert!(["`f`", "loop `f.x`", "16 to 23", "0 to 15"].iter().all(|part| text.contains(part)), "{text}");
        let early = program.faults.push(Fault::Unproved);
        assert!(matches!(fault_error(&program, early, &[]), Error::Fault(_)));
    }

    #[test]
    fn checks_that_ask_too_much_have_a_variant_once() {
        let (main, unproved) = (VariantKey::default(), Fault::Unproved);
        let checked = VariantKey { checks_in_place: true, ..main };
        assert_eq!(next(main, &unproved, || None), Some(checked));
        assert_eq!(next(checked, &unproved, || None), None);
        let both = next(checked, &Fault::NotThisVariant, || None).unwrap();
        assert!(both.checks_in_place && both.exact_tails);
    }

    /// Calls with interleaved buffers have a variant for these; what it does not serve has any stride.
    #[test]
    fn interleaved_buffers_have_a_variant_before_any_stride_has() {
        let (main, stride) = (VariantKey::default(), Fault::Stride { buf: BufId(0), dim: 0 });
        let colours = Pixels::default().with(0, 3);
        let interleaved = next(main, &stride, || Some(colours)).unwrap();
        assert_eq!(interleaved, VariantKey { pixels: colours, ..main });
        let generic = VariantKey { generic_strides: true, ..main };
        assert_eq!(next(interleaved, &stride, || Some(colours)), Some(generic));
        assert_eq!(next(main, &stride, || Some(Pixels::default())), Some(generic));
        assert_eq!(next(main, &stride, || None), Some(generic));
        assert_eq!(next(generic, &stride, || Some(colours)), None);
    }
}
