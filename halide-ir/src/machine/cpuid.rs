//! Caches as processors of x86-64 tell them: leaf 4 of Intel's `cpuid`, leaf 0x8000001D of AMD's.

use super::caches::Report;
use raw_cpuid::{CacheParameter, CacheType, CpuId, CpuIdReader, CpuIdReaderNative, CpuIdResult};

/// The leaves that have a row for each cache.
const ROWS: [u32; 2] = [4, 0x8000_001D];
/// The most rows of one leaf; a processor has about four, and an answer without end must end.
const MOST_ROWS: u32 = 16;

/// Returns the reports of this processor.
pub(super) fn reports() -> Vec<Report> {
    read(CpuIdReaderNative)
}

/// Returns the reports of a processor that answers as `reader` does, whatever that is.
fn read(reader: impl CpuIdReader) -> Vec<Report> {
    let bounded = move |leaf: u32, row: u32| {
        let mut answer = reader.cpuid2(leaf, row);
        if ROWS.contains(&leaf) {
            // The number of sets is one more, in 32 bits.
            answer.ecx = answer.ecx.min(u32::MAX - 1);
            if row >= MOST_ROWS {
                answer = CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };
            }
        }
        answer
    };
    let rows = CpuId::with_cpuid_reader(bounded).get_cache_parameters();
    rows.into_iter().flatten().filter_map(|row| report(&row)).collect()
}

/// The report of a row; `None` for a cache of code.
fn report(row: &CacheParameter) -> Option<Report> {
    let unified = match row.cache_type() {
        CacheType::Data => false,
        CacheType::Unified => true,
        CacheType::Null | CacheType::Instruction | CacheType::Reserved => return None,
    };
    let line = row.coherency_line_size() as u64;
    let parts = [row.associativity(), row.physical_line_partitions(), row.sets()];
    let lines = parts.into_iter().fold(1u64, |all, part| all.saturating_mul(part as u64));
    let ways = if row.is_fully_associative() { lines } else { row.associativity() as u64 };
    let (level, shared_by) = (u32::from(row.level()), row.max_cores_for_cache() as u64);
    Some(Report { level, unified, bytes: lines.saturating_mul(line), line, ways, shared_by })
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: CpuIdResult = CpuIdResult { eax: 0, ebx: 0, ecx: 0, edx: 0 };

    /// The registers of a name of twelve letters.
    fn vendor(name: &[u8; 12], most: u32) -> CpuIdResult {
        let word = |at: usize| u32::from_le_bytes([name[at], name[at + 1], name[at + 2], name[at + 3]]);
        CpuIdResult { eax: most, ebx: word(0), edx: word(4), ecx: word(8) }
    }

    /// A row: kind (1 data, 2 code, 3 both), level, sharing, ways, line, sets.
    fn row(kind: u32, level: u32, sharing: u32, [ways, line, sets]: [u32; 3]) -> CpuIdResult {
        let eax = kind | level << 5 | (sharing - 1) << 14;
        CpuIdResult { eax, ebx: (ways - 1) << 22 | (line - 1), ecx: sets.wrapping_sub(1), edx: 0 }
    }

    const ROWS_OF_ALL: [[u32; 6]; 4] =
        [[1, 1, 2, 12, 64, 64], [2, 1, 2, 8, 64, 64], [3, 2, 2, 16, 64, 2048], [3, 3, 64, 15, 64, 65536]];

    fn answer(leaf: u32, index: u32, name: &[u8; 12], own: u32) -> CpuIdResult {
        match leaf {
            0 => vendor(name, 0x20),
            0x8000_0000 => CpuIdResult { eax: 0x8000_0021, ..NOTHING },
            leaf if leaf == own => match ROWS_OF_ALL.get(index as usize) {
                Some(&[kind, level, sharing, ways, line, sets]) => row(kind, level, sharing, [ways, line, sets]),
                None => NOTHING,
            },
            _ => NOTHING,
        }
    }

    #[test]
    fn both_vendors_are_read() {
        let intel = read(|leaf, index| answer(leaf, index, b"GenuineIntel", 4));
        let amd = read(|leaf, index| answer(leaf, index, b"AuthenticAMD", 0x8000_001D));
        assert_eq!(intel, amd);
        let near = Report { level: 1, unified: false, bytes: 48 << 10, line: 64, ways: 12, shared_by: 2 };
        let last = Report { level: 3, unified: true, bytes: 60 << 20, line: 64, ways: 15, shared_by: 64 };
        assert_eq!((intel.len(), intel[0], intel[2]), (3, near, last), "without the cache of code");
        assert_eq!(read(|leaf, index| answer(leaf, index, b"GenuineIntel", 0x8000_001D)), []);
    }

    #[test]
    fn any_answer_ends() {
        let words = [0, 1, 0x21, 0x43, 0x3_FFFF, 0x7FFF_FFFF, u32::MAX - 1, u32::MAX];
        for name in [b"GenuineIntel", b"AuthenticAMD", b"\0\0\0\0\0\0\0\0\0\0\0\0"] {
            for (eax, ebx, ecx) in words.iter().flat_map(|a| words.iter().flat_map(move |b| words.map(|c| (*a, *b, c))))
            {
                let all = read(|leaf, _| match leaf {
                    0 => vendor(name, u32::MAX),
                    0x8000_0000 => CpuIdResult { eax: u32::MAX, ..NOTHING },
                    _ => CpuIdResult { eax, ebx, ecx, edx: u32::MAX },
                });
                assert!(all.len() <= MOST_ROWS as usize);
            }
        }
        assert_eq!(read(|_, _| NOTHING), []);
    }

    #[test]
    fn this_processor_answers() {
        assert!(reports().len() <= MOST_ROWS as usize);
    }
}
