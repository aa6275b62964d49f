//! Times of runs, and how far they can be trusted.

/// The relative difference of two times that no measurement here tells apart.
const LEAST_NOISE: f64 = 0.01;

/// Times in ms, in the order in which they were taken.
#[derive(Clone, Debug, Default)]
pub(crate) struct Samples(Vec<f64>);

impl Samples {
    /// Adds a time.
    pub(crate) fn push(&mut self, ms: f64) {
        self.0.push(ms);
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The least time; infinite where there is none.
    pub(crate) fn min(&self) -> f64 {
        least(self.0.iter().copied())
    }

    pub(crate) fn median(&self) -> f64 {
        median(self.0.clone())
    }

    /// The median distance from the median, as a part of the median.
    pub(crate) fn deviation(&self) -> f64 {
        let median = self.median();
        let distances = self.0.iter().map(|ms| (ms - median).abs()).collect();
        if median > 0.0 { self::median(distances) / median } else { 0.0 }
    }

    /// The noise of the least time: how far the least times of two halves of the samples are apart, as a part of the
    /// lesser; of the first and the second half, or of every other one, whichever is more. Never less than 1 %; `None`
    /// for fewer than two samples.
    pub(crate) fn noise(&self) -> Option<f64> {
        let half = self.0.len() / 2;
        if half == 0 {
            return None;
        }
        let every_other = |from: usize| least(self.0.iter().skip(from).step_by(2).copied());
        let (first, second) = self.0.split_at(half);
        let drift = apart(least(first.iter().copied()), least(second.iter().copied()));
        Some(drift.max(apart(every_other(0), every_other(1))).max(LEAST_NOISE))
    }
}

fn least(times: impl Iterator<Item = f64>) -> f64 {
    times.fold(f64::INFINITY, f64::min)
}

/// The relative difference of two times.
fn apart(a: f64, b: f64) -> f64 {
    let (less, more) = (a.min(b), a.max(b));
    if less > 0.0 { more / less - 1.0 } else { 0.0 }
}

/// The value in the middle; 0 where there is none.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => (values[(n - 1) / 2] + values[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples(times: &[f64]) -> Samples {
        Samples(times.to_vec())
    }

    #[test]
    fn samples_have_a_least_time_a_median_and_a_deviation() {
        let times = samples(&[4.0, 2.0, 3.0, 2.0]);
        assert_eq!((times.len(), times.min(), times.median()), (4, 2.0, 2.5));
        assert_eq!(times.deviation(), 0.2);
        let none = samples(&[]);
        assert_eq!((none.min(), none.median(), none.deviation(), none.noise()), (f64::INFINITY, 0.0, 0.0, None));
    }

    #[test]
    fn noise_is_the_difference_of_halves() {
        assert_eq!(samples(&[1.0]).noise(), None);
        let close = |times: &[f64], expected: f64| {
            let noise = samples(times).noise().expect("two samples");
            assert!((noise - expected).abs() < 1e-9, "{times:?}: {noise}");
        };
        close(&[1.0, 1.0, 1.0, 1.0], LEAST_NOISE);
        // The machine became slower.
        close(&[1.0, 1.0, 1.2, 1.2], 0.2);
        // Every other run is slow.
        close(&[1.0, 1.5, 1.0, 1.5], 0.5);
        close(&[1.0, 9.0, 9.0, 1.05], 0.05);
        close(&[0.0, 0.0], LEAST_NOISE);
    }
}
