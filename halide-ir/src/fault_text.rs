//! Messages of faults for users: one sentence with the buffer, the dimension, what is needed and what is there, and
//! a hint.

use super::buffer_info::{BufferInfo, BufferRole};
use super::fault::Fault;
use super::program::Program;
use halide_core::shape::describe_rule;
use std::fmt;

impl Fault {
    /// Returns the number of arguments that an `Assert` gives it; `None` if any number is right.
    pub fn arity(&self) -> Option<usize> {
        match self {
            Fault::InputTooSmall { .. } | Fault::OutputRegion { .. } | Fault::Access { .. } => Some(4),
            Fault::Stride { .. } | Fault::Rule { .. } | Fault::IndexOverflow { .. } => Some(2),
            Fault::OutOfMemory { .. } => Some(1),
            Fault::Promise { .. } => None,
            Fault::NotThisVariant | Fault::Unproved | Fault::Require { .. } => Some(0),
        }
    }

    /// Says why a variant of the code did not serve a call that another one serves.
    pub fn reason(&self, program: &Program, args: &[i64]) -> String {
        match self {
            Fault::InputTooSmall { buf, dim } => {
                let ([need, have], info) = (intervals(args), program.buffers.get(*buf));
                let name = info.map_or("?", |b| b.name.as_str());
                format!("the variant before it reads {need} of `{name}` in dimension {dim}, which has {have}")
            }
            Fault::Stride { buf, dim } => {
                let ([want, have], info) = (numbers(args), program.buffers.get(*buf));
                let name = info.map_or("?", |b| b.name.as_str());
                format!("`{name}` has stride {have} in dimension {dim}, and the variant before it needs {want}")
            }
            Fault::NotThisVariant => "an output was smaller than the factor of a split".to_string(),
            Fault::Unproved => "a check before a loop asked for more than its accesses need".to_string(),
            Fault::Require { what } => format!("`{what}` did not hold at a point that nobody needs"),
            other => other.message(program, args),
        }
    }

    /// The sentence for a user; `args` are those that the failed `Assert` gave.
    pub fn message(&self, program: &Program, args: &[i64]) -> String {
        let name = |buf| program.buffers.get(buf).map_or("?", |b: &BufferInfo| b.name.as_str());
        match self {
            Fault::InputTooSmall { buf, dim } => input_too_small(name(*buf), *dim, args),
            Fault::OutputRegion { buf, dim, reason } => {
                let [need, have] = intervals(args);
                format!(
                    "output `{}` does not suit the schedule in dimension {dim}: {need} is needed, but it has {have}, \
                     and {reason}; choose another output size or another schedule",
                    name(*buf)
                )
            }
            Fault::Stride { buf, dim } => {
                let [want, have] = numbers(args);
                format!(
                    "buffer `{}` has stride {have} in dimension {dim}, but stride {want} is needed; copy it to a dense \
                     buffer, or allow this stride in the schedule",
                    name(*buf)
                )
            }
            Fault::Rule { buf, dim, field, multiple, at } => {
                let [needed, found] = numbers(args);
                let role = program.buffers.get(*buf).map(|b| b.role);
                let kind = if matches!(role, Some(BufferRole::Output(_))) { "output" } else { "input" };
                format!(
                    "{kind} `{}` needs {} in dimension {dim}, by the rule at {at}, but it has {}; give another buffer or \
                     drop the rule",
                    name(*buf),
                    describe_rule(*field, *multiple, needed),
                    describe_rule(*field, false, found)
                )
            }
            Fault::IndexOverflow { name, dim } => {
                let [min, max] = numbers(args);
                if [min, max].iter().all(|v| i32::try_from(*v).is_ok()) {
                    // Their own check would not have failed: this is one of their arithmetic.
                    return format!(
                        "coordinates of `{name}` in dimension {dim} have arithmetic that may leave 64 bits: one of its \
                         operands is {min} to {max}; compute a smaller output or check the parameters"
                    );
                }
                format!(
                    "coordinates of `{name}` in dimension {dim}, or operands of their arithmetic, leave the range of i32: \
                     {min} to {max}; compute a smaller output or check the parameters"
                )
            }
            Fault::OutOfMemory { buf } => {
                let [bytes] = numbers(args);
                format!(
                    "cannot allocate {bytes} bytes for `{}`; compute a smaller output, or store it at an inner loop",
                    name(*buf)
                )
            }
            Fault::Promise { what } if args.is_empty() => {
                format!("the schedule promises what does not hold: {what}; drop the promise or change the call")
            }
            Fault::Promise { what } => {
                let values: Vec<String> = args.iter().map(i64::to_string).collect();
                format!(
                    "the schedule promises what does not hold: {what} (here {}); drop the promise or change the call",
                    values.join(", ")
                )
            }
            Fault::Require { what } => format!("requirement failed: {what}"),
            Fault::Unproved => "an access is not proved to be in bounds; compile the schedule with checks".to_string(),
            Fault::Access { buf, at } => {
                let [index, have] = intervals(args);
                let place = if at.is_empty() { "outside of loops".to_string() } else { format!("in loop `{at}`") };
                format!(
                    "`{}` is accessed {place} at elements {index}, but has elements {have}; the run ended before the access. \
                     This is a defect of lowering: report the pipeline and the schedule",
                    name(*buf)
                )
            }
            Fault::NotThisVariant => {
                "this variant of the code does not serve the given sizes; compile the schedule for them".to_string()
            }
        }
    }
}

/// The sentence about an input that lacks elements. An interval that is longer than any that coordinates of images make
/// is that of a type of data.
fn input_too_small(name: &str, dim: impl fmt::Display, args: &[i64]) -> String {
    let ([min, max, ..], [need, have]) = (numbers::<4>(args), intervals(args));
    if max.saturating_sub(min) >= i64::from(i32::MAX) {
        return format!(
            "input `{name}` is read at data in dimension {dim}, which may be any number, but it has {have}; bound the \
             index in the algorithm: `clamp(index, lo, hi)`, or read through a boundary condition"
        );
    }
    format!(
        "input `{name}` is too small in dimension {dim}: {need} is read, but it has {have}; give a larger image, a \
         smaller output, or a boundary condition"
    )
}

/// The first arguments; 0 where one is missing, so that a malformed program still gives a message.
fn numbers<const N: usize>(args: &[i64]) -> [i64; N] {
    std::array::from_fn(|i| args.get(i).copied().unwrap_or(0))
}

/// `needed min, needed max, actual min, actual max` as two intervals.
fn intervals(args: &[i64]) -> [String; 2] {
    let [a, b, c, d] = numbers(args);
    [interval(a, b), interval(c, d)]
}

fn interval(min: i64, max: i64) -> String {
    if max < min { "nothing".to_string() } else { format!("{min} to {max}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::blur_bounded;
    use crate::sym::BufId;
    use expect_test::expect;

    #[test]
    fn every_fault_names_what_is_wrong() {
        let program = blur_bounded(false);
        let (buf, dim) = (BufId(0), 1);
        let field = crate::DimField::Extent;
        let cases = [
            (Fault::InputTooSmall { buf, dim }, vec![0, 9, 0, 7]),
            (Fault::InputTooSmall { buf, dim }, vec![0, 9, 0, -1]),
            (Fault::InputTooSmall { buf, dim }, vec![i64::from(i32::MIN), i64::from(i32::MAX), 0, 3]),
            (Fault::OutputRegion { buf, dim, reason: "R".into() }, vec![0, 7, 0, 6]),
            (Fault::Stride { buf, dim }, vec![1, 3]),
            (Fault::Rule { buf, dim, field, multiple: true, at: "a.rs:1:2".into() }, vec![16, 40]),
            (Fault::IndexOverflow { name: "f".into(), dim }, vec![-1, 1 << 31]),
            (Fault::IndexOverflow { name: "f".into(), dim }, vec![5, 7]),
            (Fault::OutOfMemory { buf }, vec![123]),
            (Fault::Promise { what: "bound(x, 0, 8)".into() }, vec![4]),
            (Fault::Promise { what: "P".into() }, vec![]),
            (Fault::NotThisVariant, vec![]),
            (Fault::Unproved, vec![]),
            (Fault::Access { buf, at: "f.x".into() }, vec![9, 16, 0, 15]),
            (Fault::Access { buf, at: String::new() }, vec![-1, -1, 0, -1]),
            (Fault::Require { what: "W".into() }, vec![]),
            (Fault::Stride { buf: BufId(99), dim }, vec![]),
        ];
        let mut text = String::new();
        for (fault, args) in cases {
            assert!(fault.arity().is_none_or(|n| n == args.len() || args.is_empty()));
            text += &format!("{}\n", fault.message(&program, &args));
        }
        expect![[r#"
            input `input` is too small in dimension 1: 0 to 9 is read, but it has 0 to 7; give a larger image, a smaller output, or a boundary condition
            input `input` is too small in dimension 1: 0 to 9 is read, but it has nothing; give a larger image, a smaller output, or a boundary condition
            input `input` is read at data in dimension 1, which may be any number, but it has 0 to 3; bound the index in the algorithm: `clamp(index, lo, hi)`, or read through a boundary condition
            output `input` does not suit the schedule in dimension 1: 0 to 7 is needed, but it has 0 to 6, and R; choose another output size or another schedule
            buffer `input` has stride 3 in dimension 1, but stride 1 is needed; copy it to a dense buffer, or allow this stride in the schedule
            input `input` needs an extent that is a multiple of 16 in dimension 1, by the rule at a.rs:1:2, but it has extent 40; give another buffer or drop the rule
            coordinates of `f` in dimension 1, or operands of their arithmetic, leave the range of i32: -1 to 2147483648; compute a smaller output or check the parameters
            coordinates of `f` in dimension 1 have arithmetic that may leave 64 bits: one of its operands is 5 to 7; compute a smaller output or check the parameters
            cannot allocate 123 bytes for `input`; compute a smaller output, or store it at an inner loop
            the schedule promises what does not hold: bound(x, 0, 8) (here 4); drop the promise or change the call
            the schedule promises what does not hold: P; drop the promise or change the call
            this variant of the code does not serve the given sizes; compile the schedule for them
            an access is not proved to be in bounds; compile the schedule with checks
            `input` is accessed in loop `f.x` at elements 9 to 16, but has elements 0 to 15; the run ended before the access. This is a defect of lowering: report the pipeline and the schedule
            `input` is accessed outside of loops at elements -1 to -1, but has elements nothing; the run ended before the access. This is a defect of lowering: report the pipeline and the schedule
            requirement failed: W
            buffer `?` has stride 0 in dimension 1, but stride 0 is needed; copy it to a dense buffer, or allow this stride in the schedule
        "#]].assert_eq(&text);
    }
}
