//! The accuracy of predicted times: schedules with what was predicted and what was measured.

use std::collections::BTreeSet;

/// A schedule whose time was predicted and measured.
#[derive(Clone, Debug)]
pub struct Point {
    /// The name of the pipeline.
    pub pipeline: String,
    /// The name of the schedule.
    pub schedule: String,
    /// The predicted time in milliseconds.
    pub predicted_ms: f64,
    /// The least measured time in milliseconds.
    pub measured_ms: f64,
}

/// The accuracy of predicted times.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Accuracy {
    /// The geometric mean of predicted over measured times.
    pub mean: f64,
    /// The middle one of the factors by which a prediction is wrong, either way, after it is divided by the geometric
    /// mean over all other pipelines: each pipeline is left out once.
    pub median_error: f64,
    /// The largest of these factors.
    pub worst_error: f64,
    /// The pairs of schedules of one pipeline whose measured times differ by more than a tenth, and those of them
    /// that are predicted in that order.
    pub pairs: (usize, usize),
}

impl Point {
    fn ratio(&self) -> f64 {
        self.predicted_ms / self.measured_ms
    }
}

/// The accuracy of predictions; `None` with less than two pipelines.
pub fn accuracy(points: &[Point]) -> Option<Accuracy> {
    let names: BTreeSet<&str> = points.iter().map(|p| p.pipeline.as_str()).collect();
    let mut errors = Vec::new();
    for name in &names {
        let (own, others): (Vec<&Point>, Vec<&Point>) = points.iter().partition(|p| p.pipeline == *name);
        let scale = mean(others.iter().map(|p| p.ratio()))?;
        errors.extend(own.iter().map(|p| (p.ratio() / scale).max(scale / p.ratio())));
    }
    errors.sort_by(f64::total_cmp);
    let mut pairs = (0, 0);
    for (n, a) in points.iter().enumerate() {
        for b in points[n + 1..].iter().filter(|b| b.pipeline == a.pipeline) {
            let (measured, predicted) = (a.measured_ms / b.measured_ms, a.predicted_ms / b.predicted_ms);
            if measured.max(1.0 / measured) > 1.1 {
                pairs.0 += 1;
                pairs.1 += usize::from(measured > 1.0 && predicted > 1.0 || measured < 1.0 && predicted < 1.0);
            }
        }
    }
    let (median_error, worst_error) = (*errors.get(errors.len() / 2)?, *errors.last()?);
    Some(Accuracy { mean: mean(points.iter().map(Point::ratio))?, median_error, worst_error, pairs })
}

/// The geometric mean.
fn mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (count, sum) = ratios.fold((0usize, 0.0), |(count, sum), ratio| (count + 1, sum + ratio.ln()));
    (count > 0).then(|| (sum / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::{Point, accuracy};

    fn point(pipeline: &str, predicted_ms: f64, measured_ms: f64) -> Point {
        Point { pipeline: pipeline.to_string(), schedule: String::new(), predicted_ms, measured_ms }
    }

    #[test]
    fn a_scale_that_all_share_is_no_error() {
        let points = [point("a", 1.0, 2.0), point("a", 3.0, 6.0), point("b", 5.0, 10.0)];
        let all = accuracy(&points).unwrap();
        assert!((all.mean - 0.5).abs() < 1e-12 && (all.worst_error - 1.0).abs() < 1e-12, "{all:?}");
        assert_eq!(all.pairs, (1, 1));
    }

    #[test]
    fn a_pipeline_is_judged_by_the_others() {
        let points = [point("a", 1.0, 1.0), point("b", 1.0, 1.0), point("b", 2.0, 1.0), point("b", 1.0, 2.0)];
        let all = accuracy(&points).unwrap();
        // The mean of the three of `b` is 1, that of `a` is 1.
        assert!((all.worst_error - 2.0).abs() < 1e-12 && (all.median_error - 2.0).abs() < 1e-12, "{all:?}");
        // Of its pairs, measured times differ in two: equal predictions, and the wrong order.
        assert_eq!(all.pairs, (2, 0));
    }

    #[test]
    fn one_pipeline_cannot_be_left_out() {
        assert_eq!(accuracy(&[point("a", 1.0, 1.0)]), None);
    }
}
