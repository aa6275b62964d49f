//! The results of two schedules, value by value.

use halide::prelude::*;
use serde_json::{Value, json};

/// The results of two runs of a job beside each other.
#[derive(Debug, Default)]
pub(super) struct Apart {
    /// The values that were compared.
    compared: u64,
    /// The values that are not the same bits.
    differing: u64,
    first: Option<First>,
    /// The largest distance of two values; infinite where one is a NaN, or lacks.
    largest: f64,
}

/// The first point with different values, in the order of runs, and in each with the first dimension fastest.
#[derive(Debug)]
struct First {
    /// The number of the run: of apps that run once for each channel, the channel.
    run: usize,
    at: Vec<i32>,
    a: Option<Scalar>,
    b: Option<Scalar>,
}

impl Apart {
    /// Compares the outputs of the runs of one schedule with those of another.
    pub(super) fn of(a: &[AnyBuffer], b: &[AnyBuffer]) -> Apart {
        let mut apart = Apart::default();
        for (run, (a, b)) in a.iter().zip(b).enumerate() {
            apart.compared += a.len();
            if !is_same_memory(a, b) {
                apart.add(run, a, b);
            }
        }
        apart
    }

    fn add(&mut self, run: usize, of_a: &AnyBuffer, of_b: &AnyBuffer) {
        for at in of_a.coords() {
            let (a, b) = (of_a.get(&at), of_b.get(&at));
            let distance = match (a, b) {
                (Some(a), Some(b)) if a.same(b) => continue,
                (Some(a), Some(b)) => (a.as_f64() - b.as_f64()).abs(),
                _ => f64::INFINITY,
            };
            self.differing += 1;
            self.largest = self.largest.max(if distance.is_nan() { f64::INFINITY } else { distance });
            self.first.get_or_insert(First { run, at, a, b });
        }
    }

    /// The result as data. `loose` names the schedules that have a `float(...)` which lets them round otherwise.
    pub(super) fn data(&self, loose: &[&str]) -> Value {
        let text = |value: Option<Scalar>| value.map_or_else(|| "no value".to_string(), |value| value.to_string());
        let point = |First { run, at, a, b }: &First| json!({"run": run, "at": at, "a": text(*a), "b": text(*b)});
        let first = self.first.as_ref().map(point);
        json!({
            "compared": self.compared,
            "differing": self.differing,
            "first": first,
            "largest": self.largest.is_finite().then_some(self.largest),
            "allowed": self.differing == 0 || !loose.is_empty(),
            "text": self.text(loose),
        })
    }

    /// The result as a sentence.
    pub(super) fn text(&self, loose: &[&str]) -> String {
        let Some(First { run, at, a, b }) = &self.first else {
            return match self.compared {
                0 => "no values to compare".to_string(),
                compared => format!("same bits in all {compared} values"),
            };
        };
        let at: Vec<String> = at.iter().map(i32::to_string).collect();
        let of_run = if *run > 0 { format!(" of channel {run}") } else { String::new() };
        let shown = |value: &Option<Scalar>| value.map_or_else(|| "no value".to_string(), |value| value.to_string());
        let verdict = match loose {
            [] => "no float(...) allows it, so one of them is wrong".to_string(),
            [name] => format!("float(...) in {name} allows it"),
            _ => "float(...) in both allows it".to_string(),
        };
        format!(
            "{} of {} values differ, by {} at most; the first is at ({}){of_run}: A has {}, B has {}; {verdict}",
            self.differing,
            self.compared,
            self.largest,
            at.join(", "),
            shown(a),
            shown(b),
        )
    }
}

/// Returns true if two buffers have one layout and the same bytes. Others may agree, too.
fn is_same_memory(a: &AnyBuffer, b: &AnyBuffer) -> bool {
    let bytes = |of: &AnyBuffer| of.memory().used;
    a.ty() == b.ty() && a.dims() == b.dims() && a.memory().bytes.get(bytes(a)) == b.memory().bytes.get(bytes(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(change: impl Fn(i32, f32) -> f32) -> AnyBuffer {
        let value = |at: &[i32]| change(at[0], (at[0] + 10 * at[1]) as f32);
        Buffer::from_fn(&Region::of_extents([9, 4]), value).unwrap().into()
    }

    #[test]
    fn equal_results_have_the_same_bits() {
        let apart = Apart::of(&[ramp(|_, v| v)], &[ramp(|_, v| v)]);
        assert_eq!(apart.text(&[]), "same bits in all 36 values");
        let data = apart.data(&[]);
        assert_eq!((&data["first"], &data["allowed"], &data["differing"]), (&Value::Null, &json!(true), &json!(0)));
        assert_eq!(Apart::of(&[], &[]).text(&[]), "no values to compare");
        let nan = |bits: u32| ramp(move |x, v| if x == 2 { f32::from_bits(bits) } else { v });
        let apart = Apart::of(&[nan(0x7fc0_0000)], &[nan(0x7fc0_0001)]);
        assert_eq!(apart.text(&[]), "same bits in all 36 values", "any NaN is any NaN");
    }

    #[test]
    fn the_first_difference_is_told_with_its_verdict() {
        let other = ramp(|x, v| if x == 7 { v + 0.5 } else { v });
        let apart = Apart::of(&[ramp(|_, v| v), ramp(|_, v| v)], &[ramp(|_, v| v), other]);
        let begin = "4 of 72 values differ, by 0.5 at most; the first is at (7, 0) of channel 1: A has 7.0, B has 7.5";
        assert_eq!(apart.text(&[]), format!("{begin}; no float(...) allows it, so one of them is wrong"));
        assert_eq!(apart.text(&["fast"]), format!("{begin}; float(...) in fast allows it"));
        assert_eq!(apart.text(&["fast", "faster"]), format!("{begin}; float(...) in both allows it"));
        assert_eq!(apart.data(&[])["first"], json!({"run": 1, "at": [7, 0], "a": "7.0", "b": "7.5"}));
        assert_eq!((&apart.data(&[])["allowed"], &apart.data(&["a"])["allowed"]), (&json!(false), &json!(true)));
    }

    #[test]
    fn values_that_lack_and_zeros_of_two_signs_differ() {
        let small: AnyBuffer = Buffer::<f32>::new([9, 3]).unwrap().into();
        let apart = Apart::of(&[Buffer::<f32>::new([9, 4]).unwrap().into()], &[small]);
        assert!(apart.text(&[]).contains("9 of 36 values differ, by inf at most"), "{}", apart.text(&[]));
        assert_eq!(apart.data(&[])["largest"], Value::Null);
        let zero = |zero: f32| ramp(move |x, v| if x == 0 && v == 0.0 { zero } else { v });
        let apart = Apart::of(&[zero(0.0)], &[zero(-0.0)]);
        assert!(apart.text(&[]).contains("A has 0.0, B has -0.0"), "{}", apart.text(&[]));
    }
}
