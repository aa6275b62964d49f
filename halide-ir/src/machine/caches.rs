//! Caches from what processors and systems report, which may be torn, zero or a lie.

use super::{Cache, Origin};

/// The largest cache of data of today's sockets is 1.1 GiB. Unit: bytes.
const MOST_BYTES: u64 = 4 << 30;
/// The smallest cache of data that is worth a tile. Unit: bytes.
const LEAST_BYTES: u64 = 1 << 10;
/// Lengths of lines. Unit: bytes.
const LINES: std::ops::RangeInclusive<u64> = 16..=4096;
/// The most cores of a socket that share a cache, with space for years. Unit: cores.
const MOST_SHARING: u64 = 4096;
/// The number of levels of caches that machines have.
const MOST_LEVELS: u32 = 4;

/// A report of a cache that holds data. A figure that was not told is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Report {
    pub(super) level: u32,
    pub(super) unified: bool,
    pub(super) bytes: u64,
    pub(super) line: u64,
    pub(super) ways: u64,
    pub(super) shared_by: u64,
}

impl Report {
    /// Returns true if a cache can be like this.
    fn is_a_cache(&self) -> bool {
        let fits = |range: std::ops::RangeInclusive<u64>, value: u64| range.contains(&value);
        fits(LEAST_BYTES..=MOST_BYTES, self.bytes)
            && fits(LINES, self.line)
            && self.line.is_power_of_two()
            && fits(1..=self.bytes / self.line, self.ways)
            && fits(1..=MOST_SHARING, self.shared_by)
    }
    /// The cache, with the speed of a typical one.
    fn cache(&self, typical: &Cache) -> Cache {
        // Ranges were checked, and all fit 32 bits.
        let (line, ways, shared_by) = (self.line as u32, self.ways as u32, self.shared_by as u32);
        Cache { bytes: self.bytes, line, ways, unified: self.unified, shared_by, ..*typical }
    }
}

/// Returns the caches that are reported, level by level, each with its origin. Speeds are typical ones. A level whose
/// report no cache can be like is typical as a whole; without any report that can be, all are.
pub(super) fn caches(reports: &[Report], typical: &[Cache], told_by: Origin) -> Vec<(Cache, Origin)> {
    let whole = |level: u32| reports.iter().find(|r| r.level == level && r.is_a_cache());
    let Some(last) = (1..=MOST_LEVELS).rev().find(|level| reports.iter().any(|r| r.level == *level)) else {
        return typical.iter().map(|cache| (*cache, Origin::Typical)).collect();
    };
    let mut all: Vec<(Cache, Origin)> = Vec::new();
    for level in 1..=last {
        let of_kind = typical.get(level as usize - 1);
        // A level that holds less than the one before is none.
        let nearer = all.last().map_or(0, |(cache, _)| cache.bytes);
        match whole(level).filter(|report| report.bytes >= nearer) {
            Some(report) => all.extend(of_kind.or(typical.last()).map(|like| (report.cache(like), told_by))),
            None => all.extend(of_kind.map(|cache| (*cache, Origin::Typical))),
        }
    }
    if all.iter().all(|(_, origin)| *origin == Origin::Typical) {
        return typical.iter().map(|cache| (*cache, Origin::Typical)).collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::target::{Arch, Target};

    fn typical() -> Vec<Cache> {
        Machine::typical(&Target { arch: Arch::X86_64, vector_bits: 512, ..Target::host() }).caches
    }

    const NEAR: Report = Report { level: 1, unified: false, bytes: 48 << 10, line: 64, ways: 12, shared_by: 2 };
    const NEXT: Report = Report { level: 2, unified: true, bytes: 2 << 20, line: 64, ways: 16, shared_by: 2 };
    const LAST: Report = Report { level: 3, unified: true, bytes: 260 << 20, line: 64, ways: 20, shared_by: 2 };

    fn origins(reports: &[Report]) -> Vec<Origin> {
        caches(reports, &typical(), Origin::Processor).into_iter().map(|(_, origin)| origin).collect()
    }

    #[test]
    fn reports_become_caches() {
        // In any order; code is never reported.
        let all = caches(&[LAST, NEAR, NEXT], &typical(), Origin::System);
        let sizes: Vec<u64> = all.iter().map(|(cache, _)| cache.bytes).collect();
        assert_eq!(sizes, [48 << 10, 2 << 20, 260 << 20]);
        assert!(all.iter().all(|(_, origin)| *origin == Origin::System));
        let (near, last) = (all[0].0, all[2].0);
        assert_eq!((near.ways, near.line, near.unified, near.shared_by), (12, 64, false, 2));
        assert_eq!((near.latency, near.bytes_per_cycle), (typical()[0].latency, typical()[0].bytes_per_cycle));
        // A socket's, as virtual machines say.
        assert_eq!([1, 2, 4, 64].map(|threads| last.usable(threads) >> 20), [12, 6, 3, 3]);
        // Two levels are all that some machines have; a fourth is as fast as the last typical one.
        assert_eq!(origins(&[NEAR, NEXT]).len(), 2);
        let fourth = Report { level: 4, ..LAST };
        let all = caches(&[NEAR, NEXT, LAST, fourth], &typical(), Origin::Processor);
        assert_eq!(all[3].0.latency, typical()[2].latency);
    }

    #[test]
    fn reports_of_no_cache_are_replaced() {
        let (told, none) = (Origin::Processor, Origin::Typical);
        let wrong = [
            Report { bytes: 0, ..NEXT },
            Report { bytes: u64::MAX, ..NEXT },
            Report { bytes: 16 << 10, ..NEXT },
            Report { line: 0, ..NEXT },
            Report { line: 48, ..NEXT },
            Report { line: 1 << 40, ..NEXT },
            Report { ways: 0, ..NEXT },
            Report { ways: u64::MAX, ..NEXT },
            Report { shared_by: 0, ..NEXT },
            Report { shared_by: u64::MAX, ..NEXT },
        ];
        for report in wrong {
            assert_eq!(origins(&[NEAR, report, LAST]), [told, none, told], "{report:?}");
            assert_eq!(caches(&[NEAR, report, LAST], &typical(), told)[1].0, typical()[1]);
        }
        // A level that nobody speaks of, although there is one behind it.
        assert_eq!(origins(&[NEAR, LAST]), [told, none, told]);
        let nothing: [&[Report]; 4] = [&[], &wrong, &[Report { level: 0, ..NEAR }], &[Report { level: 7, ..NEAR }]];
        for reports in nothing {
            assert_eq!(caches(reports, &typical(), told), typical().into_iter().map(|c| (c, none)).collect::<Vec<_>>());
        }
    }
}
