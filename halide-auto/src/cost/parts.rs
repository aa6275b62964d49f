//! The parts of a predicted time.

use crate::tuning::NOT_HIDDEN;
use std::fmt;

/// The parts of a predicted time, in nanoseconds. What comes from memory overlaps with the others for the most part, so
/// the time is less than their sum.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parts {
    /// The time of instructions.
    pub instructions_ns: f64,
    /// The time that each cache beyond the first one takes to give lines, as far as nothing hides it.
    pub caches_ns: Vec<f64>,
    /// The time of memory.
    pub memory_ns: f64,
    /// The time to start tasks and to wait for them.
    pub tasks_ns: f64,
}

impl Parts {
    /// The time that they take together.
    pub fn ns(&self) -> f64 {
        let busy = self.instructions_ns + self.caches_ns.iter().sum::<f64>();
        busy.max(self.memory_ns) + NOT_HIDDEN * busy.min(self.memory_ns) + self.tasks_ns
    }

    pub(crate) fn add(&mut self, other: &Parts) {
        self.instructions_ns += other.instructions_ns;
        self.caches_ns.resize(self.caches_ns.len().max(other.caches_ns.len()), 0.0);
        self.caches_ns.iter_mut().zip(&other.caches_ns).for_each(|(own, ns)| *own += ns);
        self.memory_ns += other.memory_ns;
        self.tasks_ns += other.tasks_ns;
    }
}

impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |ns: f64| ns / 1e6;
        write!(f, "instructions {:.3}", ms(self.instructions_ns))?;
        for (level, ns) in (2..).zip(&self.caches_ns) {
            write!(f, ", cache {level} {:.3}", ms(*ns))?;
        }
        write!(f, ", memory {:.3}, tasks {:.3} ms", ms(self.memory_ns), ms(self.tasks_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::Parts;

    #[test]
    fn memory_overlaps_with_the_rest() {
        let parts = Parts { instructions_ns: 60.0, caches_ns: vec![30.0, 10.0], memory_ns: 50.0, tasks_ns: 5.0 };
        assert_eq!(parts.ns(), 100.0 + 0.3 * 50.0 + 5.0);
        let mut twice = parts.clone();
        twice.add(&parts);
        assert_eq!(twice.ns(), 2.0 * parts.ns());
        let text = Parts { instructions_ns: 1e6, caches_ns: vec![2e6], memory_ns: 3e6, tasks_ns: 0.0 }.to_string();
        assert_eq!(text, "instructions 1.000, cache 2 2.000, memory 3.000, tasks 0.000 ms");
    }
}
