//! Times for tests.

use super::baseline::{Baseline, Circumstances, Measured};

/// Times of two schedules.
pub(super) fn example() -> Baseline {
    let circumstances = Circumstances {
        app: "blur".to_string(),
        size: (640, 480),
        params: vec!["sigma=2".to_string()],
        threads: 2,
        processor: "AMD EPYC 9B45".to_string(),
        target: "x86_64, 512 bits".to_string(),
    };
    let measured = |schedule: &str, min_ms: f64| Measured {
        schedule: schedule.to_string(),
        backend: "cpu".to_string(),
        min_ms,
        median_ms: min_ms * 2.0,
        deviation: 0.01,
        noise: 0.02,
        compile_ms: 5.0,
        text: "0123456789abcdef".to_string(),
    };
    Baseline {
        halide: "0.1.0".to_string(),
        circumstances,
        input: "random values from seed 0".to_string(),
        rounds: 15,
        algorithm: "fedcba9876543210".to_string(),
        schedules: vec![measured("strips", 1.71), measured("root", 3.5)],
    }
}
