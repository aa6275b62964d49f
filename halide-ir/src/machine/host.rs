//! The machine that this runs on, as far as it tells: cores, vectors, and sizes of caches.

use super::caches::{Report, caches};
use super::{Cache, Declared, Machine, Origin};
use crate::target::Target;

impl Declared {
    /// Returns the machine that this runs on, for code for `target`, of which it has the threads and the width of
    /// vectors.
    pub fn host(target: &Target) -> Declared {
        let mut machine = Machine::typical(target);
        let (all, origins) = told(&machine.caches).into_iter().unzip();
        machine.caches = all;
        Declared { machine, caches: origins }
    }
}

impl Machine {
    /// The machine that this runs on, as it declares itself: [`Declared::host`] without origins. Nothing is measured.
    ///
    /// ```
    /// use halide_ir::machine::Machine;
    /// use halide_ir::target::Target;
    /// let machine = Machine::host();
    /// assert_eq!(machine.cores, Target::host().threads);
    /// assert!(machine.caches[0].bytes >= 1024);
    /// ```
    pub fn host() -> Machine {
        Declared::host(&Target::host()).machine
    }
}

/// The caches of this machine: those of the processor if it tells of any, else those of the system.
fn told(typical: &[Cache]) -> Vec<(Cache, Origin)> {
    let of_processor = of_processor();
    if !of_processor.is_empty() {
        return caches(&of_processor, typical, Origin::Processor);
    }
    caches(&of_system(), typical, Origin::System)
}

fn of_processor() -> Vec<Report> {
    #[cfg(target_arch = "x86_64")]
    return super::cpuid::reports();
    #[cfg(not(target_arch = "x86_64"))]
    Vec::new()
}

fn of_system() -> Vec<Report> {
    #[cfg(target_os = "linux")]
    return super::sysfs::reports(std::path::Path::new("/"));
    #[cfg(not(target_os = "linux"))]
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_host_is_a_machine() {
        for vector_bits in [128, 256, 512] {
            let target = Target { vector_bits, ..Target::host() };
            let Declared { machine, caches } = Declared::host(&target);
            assert_eq!(machine.caches.len(), caches.len());
            assert!(!caches.is_empty());
            assert_eq!(machine.cores, target.threads);
            for cache in &machine.caches {
                assert!(cache.line.is_power_of_two() && cache.ways > 0 && cache.shared_by > 0, "{cache:?}");
                assert!(cache.bytes >= u64::from(cache.line) * u64::from(cache.ways), "{cache:?}");
            }
            assert_eq!(Declared::host(&target), Declared { machine, caches }, "the same each time");
        }
    }
}
